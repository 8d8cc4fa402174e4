"""What a run hands out of the warning flow: the banners that were shown, and what the user is offered."""

from __future__ import annotations

from itertools import pairwise

import pytest

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


@pytest.mark.parametrize("count", [3, 50, 51, 130])
def test_progress_goes_up_and_is_told_a_hundred_times_at_most(count: int) -> None:
    """Two entries a turn: of up to a hundred each one tells, of more so many that they are told together."""
    heard: list[float] = []
    live(turns(count), make_policy(OFF), window=10_000, tell=heard.append)
    assert heard == sorted(set(heard)) and heard[0] == 0 and heard[-1] <= 1
    told = [part for part in heard if part < 1]
    assert max(b - a for a, b in pairwise([*heard, 1])) <= max(1 / len(told), 0.02) + 1e-9, "evenly"
    assert (100 >= len(told) > 50) if count > 3 else len(told) == 2 * count
