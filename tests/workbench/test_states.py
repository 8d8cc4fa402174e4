"""The states of a harness on the screen: their conditions and thresholds, and the banners."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import count_tokens, find_policy, make_plan, read_session, replay
from inspector.policies.harness import STATES, Harness, say_condition, write_banner
from inspector.policies.policy import Policy
from inspector.policies.trigger import Trigger
from inspector.session.session import Session
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.replay import draw_run
from inspector.workbench.payloads.scene import draw_plan, list_thresholds


def talk(turns: int, words: int = 300) -> Session:
    """Turns that grow, without any usage."""
    return read_session(
        [
            {"role": role, "content": f"{role} {turn}: {'tide ' * (words + 40 * turn)}"}
            for turn in range(turns)
            for role in ("user", "assistant")
        ]
    )


def picture(session: Session, policy: str, window: Any = None, **settings: Any) -> dict[str, Any]:
    edits = {"settings": settings} if settings else None
    return to_json(draw_plan(make_plan(session, count_tokens(session), policy, edits, window=window)).payload)


def test_S2_40_the_plan_of_the_seed_names_seven_states_with_their_conditions() -> None:
    states = picture(talk(6), "claude-code")["states"]
    assert [(state["id"], state["condition"]) for state in states] == [
        ("normal", "up to 80 %"),
        ("warning", "above 80 %"),
        ("critical", "above 95 %"),
        ("blocking", "above 98 %, auto off"),
        ("auto", "by itself"),
        ("manual", "/compact"),
        ("reactive", "after a refusal"),
    ]
    assert len({state["mark"] for state in states}) == 7
    off = picture(talk(6), "claude-code", **{"harness.mode": "manual"})["states"]
    assert {state["id"]: state.get("condition") for state in off}["blocking"] == "above 98 %"
    assert {state["id"] for state in off if "condition" not in state} == {"auto", "reactive"}


@pytest.mark.parametrize("policy", ["flue", "mini-claude-code", "openhands"])
def test_a_harness_without_thresholds_has_no_legend(policy: str) -> None:
    assert "states" not in picture(talk(6), policy)


def test_the_conditions_are_those_by_which_the_harness_acts() -> None:
    """Only a state with a condition is ever entered, on a session that passes all thresholds."""
    entered: set[str] = set()
    for mode in ("auto", "ask", "manual"):
        harness = Harness(mode=mode, warn=0.5, require=0.8, block=0.9)
        trigger = Trigger(ratio=0.8, measure="assembled", check="request")
        rules = find_policy("keep-recent-turns").rules
        policy = Policy(name="mine", trigger=trigger, harness=harness, rules=rules)
        acts = [{"at": "m14", "do": "compact"}], [{"at": "m18", "do": "token_overflow"}]
        runs = [
            replay(talk(12), policy, {"acts": one, "provider": "refuses"}, window=window)
            for one in acts
            for window in (3_000, 30_000)
        ]
        told = {event.data["to"] for run in runs for event in run.events if "to" in event.data}
        named = {state for state in STATES if say_condition(harness, state)}
        assert told <= named, mode
        entered |= told
    assert {"warning", "critical", "manual", "auto", "reactive"} <= entered


def test_thresholds_carry_the_marks_of_the_states_that_begin_there() -> None:
    lines = picture(talk(6), "claude-code", window=100_000)["thresholds"]
    assert [(line["label"], line["tokens"], line.get("mark")) for line in lines] == [
        ("target, warns", 80_000, "△"),
        ("compacts above, requires", 95_000, "▲"),
        # Nothing blocks while auto is on: no state begins there.
        ("blocks if auto is off", 98_000, None),
    ]
    off = picture(talk(6), "claude-code", window=100_000, **{"harness.mode": "manual"})["thresholds"]
    assert off[-1] == {"label": "blocks", "tokens": 98_000, "mark": "■"}


def test_S3_the_budget_tells_its_line_and_its_target_with_their_shares() -> None:
    plan = picture(talk(60), "mini-claude-code")
    target, line = plan["thresholds"]
    assert target == {"label": "target", "tokens": 12_000, "share": "50 % of 24k"}
    assert line == {"label": "compacts above", "tokens": 18_000}
    assert "18k (75 % of 24k)" in plan["gauge"]["words"]
    other = picture(talk(60), "mini-claude-code", **{"trigger.budget": 10_000, "target.ratio": 0.3})
    assert other["thresholds"][0] == {"label": "target", "tokens": 3_000, "share": "30 % of 10k"}
    assert "7.5k (75 % of 10k)" in other["gauge"]["words"]


def test_without_a_window_only_what_needs_none_is_a_line() -> None:
    assert list_thresholds(find_policy("claude-code"), 0, 0) == []
    assert [line.label for line in list_thresholds(find_policy("mini-claude-code"), 0, 18_000)] == [
        "target",
        "compacts above",
    ]


@pytest.mark.parametrize("usage", [True, False])
def test_S1_9_a_banner_ends_with_the_record_that_clears_it(usage: bool) -> None:
    session = talk(14)
    if usage:
        rows: list[dict[str, Any]] = []
        for turn in range(14):
            reply = {"type": "text", "text": "high water " * (150 + 20 * turn)}
            rows.append({"role": "user", "content": f"Month {turn}?"})
            rows.append(
                {
                    "role": "assistant",
                    "content": [reply],
                    "usage": {"input_tokens": 250 * (turn + 1), "output_tokens": 300},
                }
            )
        session = read_session(rows)
    run = replay(session, "stud-warning", window=4_000)
    payload = draw_run(run).payload
    assert payload.banners
    for banner in payload.banners:
        entered = payload.events[banner.event].entered
        assert isinstance(entered, int) and STATES[entered] in ("warning", "critical")
        if banner.last is not None:
            assert payload.events[banner.last].step == banner.until
            assert isinstance(payload.events[banner.last].entered, int)


def test_a_banner_never_rounds_up_to_a_threshold_that_is_not_reached() -> None:
    harness = Harness(mode="manual", warn=0.8, require=0.95)
    assert str(write_banner(harness, 0.94999)).startswith("94.9 % ")
    assert str(write_banner(harness, 0.95)).startswith("95 % ")


def test_P16_a_fallback_that_breaks_the_recent_window_is_in_the_sentence() -> None:
    session = talk(30, 700)
    for budget, broken in ((3_000, True), (600_000, False)):
        plan = picture(session, "mini-claude-code", **{"trigger.budget": budget})
        words = "".join(part["text"] for part in plan["sentence"]["parts"])
        assert ("of the last 6 messages are not verbatim" in words) is broken, words


def test_P24_two_calls_are_drawn_where_two_jobs_are_planned() -> None:
    """Behind `split_from` a cut that splits a turn asks for its beginning apart, and only there."""
    session = talk(8)
    ledger = count_tokens(session)
    seen = set()
    for policy in ("flue", "keep-recent-turns", "mini-claude-code"):
        base = make_plan(session, ledger, policy)
        for cut in base.cuts.ids[1:]:
            plan = make_plan(session, ledger, policy, {"cut": cut})
            told = draw_plan(plan).payload.split_from
            start = plan.splits
            drawn = isinstance(told, int) and told < start
            assert drawn == (len(plan.jobs) == 2), (policy, cut)
            seen.add((policy, drawn))
    assert {("flue", True), ("flue", False), ("keep-recent-turns", False)} <= seen
