"""The states of a harness on the screen: their conditions and thresholds, and the banners."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import count_tokens, make_plan, read_session, replay
from inspector.session.session import Session
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.scene import draw_plan


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


def test_S3_the_budget_tells_its_line_and_its_target_with_their_shares() -> None:
    plan = picture(talk(60), "mini-claude-code")
    target, line = plan["thresholds"]
    assert target == {"label": "target", "tokens": 12_000, "share": "50 % of 24k"}
    assert line == {"label": "compacts above", "tokens": 18_000}
    assert "18k (75 % of 24k)" in plan["gauge"]["words"]
    other = picture(talk(60), "mini-claude-code", **{"trigger.budget": 10_000, "target.ratio": 0.3})
    assert other["thresholds"][0] == {"label": "target", "tokens": 3_000, "share": "30 % of 10k"}
    assert "7.5k (75 % of 10k)" in other["gauge"]["words"]


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


def test_S2_24_in_a_window_that_is_not_known_the_state_is_unknown_and_says_why() -> None:
    plan = picture(talk(3), "claude-code-analysis")
    assert (plan["state"]["id"], plan["state"]["condition"], plan["state"]["banner"]) == (
        "unknown",
        "window unknown",
        None,
    )
    assert plan["states"][-1]["id"] == "unknown"
    known = picture(talk(3), "claude-code-analysis", window=100_000)
    assert known["state"]["id"] == "normal" and "unknown" not in [state["id"] for state in known["states"]]


def test_S2_41_the_banner_names_the_request_that_it_measures_where_the_history_is_longer() -> None:
    session = talk(14)
    whole = make_plan(session, count_tokens(session), "claude-code-analysis", window=90_000)
    sent = int(whole.size_sent("assembled").tokens)
    assert sent < whole.before
    window = int(sent / 0.9)
    banner = picture(session, "claude-code-analysis", window=window)["state"]["banner"]
    assert banner.startswith(("90 % of", "89.9 % of"))
    assert f"the history fills {100 * whole.before / window:.0f} %" in banner and "after snip" in banner
    # Without Snip both are one figure, which is said once.
    settings = {"drop-oldest-turns.enabled": False}
    alone = picture(session, "claude-code-analysis", window=int(whole.before / 0.9), **settings)
    assert "history fills" not in alone["state"]["banner"]


def test_S2_34_either_switch_of_auto_draws_the_line_from_which_calls_are_blocked() -> None:
    for off in ({"trigger.enabled": False}, {"harness.mode": "manual"}):
        plan = picture(talk(14), "claude-code-analysis", window=10_000, **off)
        assert plan["state"]["id"] == "blocking"
        assert "blocks" in [line["label"] for line in plan["thresholds"]]
    assert picture(talk(14), "claude-code-analysis", window=10_000)["state"]["id"] == "critical"


@pytest.mark.parametrize(
    ("room", "words"), [(3, "in about 3 turns"), (100, "about 100"), (5_000, "more than 100")]
)
def test_the_gauge_counts_turns_as_far_as_their_pace_says_anything(room: int, words: str) -> None:
    session = talk(14)
    size = count_tokens(session).total
    settings = {"trigger.tokens": size + round(size / 14 * (room + 0.5)), "trigger.measure": "assembled"}
    assert words in picture(session, "flue", window=10**9, **settings)["gauge"]["words"]


@pytest.mark.parametrize("share", [0.3, 0.7, 0.85, 0.96, 0.99, None])
def test_S2_34_either_switch_of_auto_means_the_same_at_every_level(share: float | None) -> None:
    session, policy = talk(14), "claude-code-analysis"
    ledger = count_tokens(session)
    sent = make_plan(session, ledger, policy, window=10**6).size_sent("assembled").tokens
    window = 0 if share is None else int(sent / share)
    told, plans, runs = [], [], []
    for off in ({"trigger.enabled": False}, {"harness.mode": "manual"}):
        drawn = picture(session, policy, window=window, **off)
        told.append((drawn["state"], drawn["gauge"], drawn["thresholds"], drawn["stages"]))
        plans.append(make_plan(session, ledger, policy, {"settings": off}, window=window))
        runs.append(replay(session, policy, ledger=ledger, window=window, settings=off))
        assert drawn["gauge"]["words"].endswith("compacts by /compact only") and drawn["gauge"]["at"] is None
        assert not plans[-1].verdict.fires and "it fires" not in drawn["trigger"]
        assert "compacts above" not in [line["label"] for line in drawn["thresholds"]]
    assert told[0] == told[1]
    one, other = plans
    assert one.reason == other.reason == "manual"
    assert (one.fate == other.fate).all() and one.after == other.after
    for run in runs:
        assert [(e.kind, e.step, e.data) for e in run.events] == [
            (e.kind, e.step, e.data) for e in runs[0].events
        ]
        assert (run.status, run.threshold) == (runs[0].status, 0)


@pytest.mark.parametrize("mode", ["auto", "manual", "ask"])
@pytest.mark.parametrize("snip", [True, False])
@pytest.mark.parametrize("collapse", [True, False])
def test_S2_41_the_banner_is_true_of_the_stages_that_act(mode: str, snip: bool, collapse: bool) -> None:
    session, policy = talk(14), "claude-code-analysis"
    ledger = count_tokens(session)
    settings: dict[str, Any] = {"drop-oldest-turns.enabled": snip, "collapse.enabled": collapse}
    sent = make_plan(session, ledger, policy, {"settings": settings}, window=10**6).size_sent("assembled")
    settings["harness.mode"] = mode
    for share in (0.9, 0.97):
        window = int(sent.tokens / share)
        plan = make_plan(session, ledger, policy, {"settings": settings}, window=window)
        banner = picture(session, policy, window=window, **settings)["state"]["banner"]
        left = make_plan(
            session,
            ledger,
            policy,
            {"settings": settings | {"trigger.enabled": False}},
            window=window,
            reason="auto",
        )
        assert banner.startswith(f"{100 * share:g} % of")
        assert ("after snip;" in banner) == snip
        # Collapse alone is behind the figure; of a /compact or a summary it says nothing.
        views = collapse and not plan.summarises
        assert (f"After collapse the request fills {100 * left.after / window:.1f} %" in banner) == views
        assert ("collapse" in banner) == views
        assert ("compacts by itself" in banner) == (mode == "auto" and share > 0.95)
        assert ("Run /compact" in banner) != ("compacts by itself" in banner)


@pytest.mark.parametrize("mode", ["auto", "manual"])
def test_S2_41_a_replayed_banner_asks_for_no_command_if_the_harness_compacts(mode: str) -> None:
    run = replay(talk(14), "claude-code-analysis", window=6_000, settings={"harness.mode": mode})
    assert {done.reason for done in run.adopted} == {mode}
    compacts = ["compacts by itself" in banner.sentence for banner in run.banners]
    assert any(compacts) == (mode == "auto")
    assert ["Run /compact" in banner.sentence for banner in run.banners] == [not one for one in compacts]
