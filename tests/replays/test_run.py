"""What a run hands out of the warning flow: the banners that were shown, and what the user is offered."""

from __future__ import annotations

from itertools import pairwise

import pytest

from inspector.policies.harness import LEVELS, STATES
from inspector.session.blocks import Text
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.replay import draw_run
from tests.replays.test_engine import OFF, WARNING, at, kinds, live, make_policy, say, talk, turn, turns


def test_S1_1_S1_43_a_warning_is_told_once_and_rewrites_nothing() -> None:
    # 84 of a hundred before the ninth answer, 94 before the tenth.
    run, plain = live(turns(10), WARNING), live(turns(10), make_policy(OFF))
    assert [(one.kind, one.data["ratio"]) for one in run.events] == [("warned", 0.84)]
    assert run.events[0].name_in("stud-warning") == "CompactionWarning"
    assert run.compactions == () and run.status == "finished"
    assert run.context.tolist() == run.recorded.tolist() == plain.context.tolist()
    assert run.sent.tolist() == plain.sent.tolist()
    assert live(turns(8), WARNING).events == ()


def test_S1_9_S1_18_the_record_comes_before_the_banner_and_the_session_goes_on() -> None:
    run = live(turns(10), WARNING)
    (banner,) = run.banners
    record = run.events[banner.event]
    assert (record.kind, record.channel) == ("warned", "audit")
    assert (banner.step, banner.until) == (record.step, None)
    assert banner.sentence.startswith("84 % of the context window is used.")
    assert run.sent[banner.step] == 84 and run.sent[banner.step + 2] == 94, "the session goes on"
    # No record, no banner: below the threshold, and where nothing warns.
    assert live(turns(8), WARNING).banners == () == live(turns(10)).banners


def test_S1_10_S1_17_S1_26_the_banner_stands_until_the_fill_falls_below_its_threshold() -> None:
    run = live(turns(10), WARNING, at("e18", "compact"))
    (banner,) = run.banners
    assert "84 %" in banner.sentence and (banner.step, banner.until) == (17, 18)
    assert kinds(run, "warned", "recovered") == ["warned", "recovered"]
    # A compaction that leaves more than the threshold: another banner, with what is used then.
    big = make_policy(OFF, WARNING.harness, budget=79)
    stays = live(turns(10), big, at("e18", "compact"))
    assert [one.sentence[:4] for one in stays.banners] == ["84 %", "89 %"]
    assert stays.banners[-1].until is None


@pytest.mark.parametrize(
    ("words", "state", "offered"),
    [
        (40, "normal", ()),
        (82, "warning", ("/compact", "/reset", "continue", "stop")),
        (96, "critical", ("/compact", "/reset", "override", "stop")),
    ],
)
def test_S1_2_S1_11_the_user_is_offered_to_compact_to_stop_or_to_go_on(
    words: int, state: str, offered: tuple[str, ...]
) -> None:
    run = live(talk(*turn(4, words - 8), say("user", 4), say("assistant", 1)), WARNING, {"user": "waits"})
    assert STATES[run.state[-1]] == state and run.actions == offered
    # Nothing is done for the user, however long they wait.
    assert run.adopted == () and "reset" not in kinds(run)
    drawn = {told["id"]: told["actions"] for told in to_json(draw_run(run).payload)["states"]}
    assert drawn[state] == list(offered)
    assert drawn["auto"] == drawn["manual"] == drawn["reactive"] == ["stop"]


def test_S1_2_S1_38_S1_39_without_a_tool_no_compact_is_offered() -> None:
    session = talk(*turn(4, 74), say("user", 4), say("assistant", 1))
    run = live(session, WARNING, {"tool": False})
    assert kinds(run) == ["suggested", "warned", "suggested"]
    assert run.actions == ("/reset", "continue", "stop")
    (banner,) = run.banners
    assert "/reset" in banner.sentence and "/compact" not in banner.sentence


def test_S1_11_compact_can_be_issued_while_warned_and_takes_the_offer_away() -> None:
    session = talk(*turn(4, 74), say("user", 4), *turn(1, 1)[1:], *turn(1, 1))
    warned = live(session, WARNING)
    assert "/compact" in warned.actions
    run = live(session, WARNING, at("e4", "compact"))
    assert [item.reason for item in run.adopted] == ["manual"] and run.actions == ()
    assert to_json(draw_run(run).payload)["banners"] == [banner._asdict() for banner in run.banners] != []


def test_a_run_in_words_says_how_much_of_what_was_sent_was_sent_before() -> None:
    """Requests of 4, 14, 24, 34 and 44 words, each with the one before it in front: 76 of 120."""
    told = "sent 120 tokens in 5 requests, 63 % of them an unchanged prefix"
    assert told in repr(live(turns(5)))


def test_a_run_in_words_counts_the_turns_of_its_compactions_from_one() -> None:
    session = turns(40)
    run = live(session)
    assert len(run.compactions) > 2
    at_turn = {entry.id: 1 + n // 2 for n, entry in enumerate(session.entries)}
    assert [line.strip() for line in repr(run).splitlines() if ": auto" in line] == [
        f"turn {at_turn[one.entry]}, step {one.step}: auto {one.before} -> {one.after}"
        for one in run.compactions[:8]
    ]


@pytest.mark.parametrize("count", [3, 50, 51, 130])
def test_progress_goes_up_and_is_told_a_hundred_times_at_most(count: int) -> None:
    """Two entries a turn: of up to a hundred each one tells, of more so many that they are told together."""
    heard: list[float] = []
    live(turns(count), make_policy(OFF), window=10_000, tell=heard.append)
    assert heard == sorted(set(heard)) and heard[0] == 0 and heard[-1] <= 1
    told = [part for part in heard if part < 1]
    assert max(b - a for a, b in pairwise([*heard, 1])) <= max(1 / len(told), 0.02) + 1e-9, "evenly"
    assert (100 >= len(told) > 50) if count > 3 else len(told) == 2 * count


def test_each_banner_stands_until_the_next_one_or_until_the_fill_falls() -> None:
    big = make_policy(OFF, WARNING.harness, budget=79)
    run = live(turns(12), big, {"acts": [*at("e18", "compact")["acts"], *at("e20", "compact")["acts"]]})
    shown = run.banners
    assert len(shown) >= 3
    # By hand: whatever moves the state ends the one before, and only that.
    moved = [event for event in run.events if event.data.get("to") in LEVELS or event.kind == "reset"]
    steps = {number: event.step or 0 for number, event in enumerate(run.events) if event in moved}
    for banner in shown:
        later = [step for number, step in steps.items() if number > banner.event]
        assert banner.until == (later[0] if later else None)


def test_a_run_in_words_counts_its_events() -> None:
    run = live(turns(10), WARNING)
    assert "  events: 1 warned" in repr(run).splitlines()
    assert "events:" not in repr(live(turns(8), WARNING))


def test_the_turns_that_are_left_are_told_by_what_the_last_turns_grew() -> None:
    """Recounted: ten turns of about ten tokens each, none of them compacted."""
    run = live(turns(7), make_policy())
    room = run.headroom
    assert room is not None and room.turns is not None
    assert room.tokens == run.threshold - int(run.measured[-1])
    grown = int(run.measured[-1])
    assert room.turns == pytest.approx(room.tokens * 7 / grown)


def test_after_a_compaction_the_turns_that_are_left_are_told_by_those_since_it() -> None:
    run = live(turns(12), make_policy())
    since = run.adopted[-1].step
    room = run.headroom
    assert room is not None and room.turns is not None and int(run.turn[since]) > 0
    lately = len({int(turn) for turn in run.turn[since:]})
    grown = int(run.measured[-1]) - int(run.measured[since])
    assert room.turns == pytest.approx(room.tokens * lately / grown)


@pytest.mark.parametrize(("system", "told"), [(10, False), (79, False), (84, True)])
def test_a_head_that_fills_the_window_by_itself_is_told_where_a_threshold_is_crossed(
    system: int, told: bool
) -> None:
    session = talk(
        *turn(1, 97 - system), say("user", 1), say("assistant", 1), system=(Text(text="word " * system),)
    )
    run = live(session, WARNING)
    assert [event.kind for event in run.events][:1] == ["warned"]
    said = [finding.sentence for finding in run.findings if "before the messages" in finding.sentence]
    assert bool(said) == told
    if told:
        assert f"fills {system}% of the window" in said[0]
