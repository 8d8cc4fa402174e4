"""Requests in a replay: looked at before each is sent, refused, asked about, and never compacted unasked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.policies.harness import Harness
from inspector.policies.policy import Policy
from inspector.policies.trigger import Trigger
from inspector.replays.run import Run
from inspector.session.blocks import Text
from inspector.session.session import Session
from tests.replays.test_engine import (
    MANUAL,
    OFF,
    WARNING,
    at,
    event,
    found,
    kinds,
    live,
    make_policy,
    say,
    talk,
    tools,
    turn,
    turns,
)

# -- when it is looked at -----------------------------------------------------------------------------


def test_S1_6_the_fill_is_looked_at_once_for_each_request_before_it_is_sent() -> None:
    # The answer to the first question fills the window to 85 %: nobody looks before the next request.
    session = talk(*turn(4, 81), say("user", 1), say("assistant", 1), say("user", 1), say("assistant", 1))
    (told,) = live(session, WARNING).events
    assert (told.kind, told.entry, told.step) == ("warned", "e2", 3)
    assert told.data["ratio"] == 0.86, "the question that waits to be sent is part of it"
    # Without a request nobody looks at all, neither at a reply nor at the question after it.
    assert live(talk(*turn(4, 81)), WARNING).events == ()
    assert live(talk(*turn(4, 81), say("user", 1)), WARNING).events == ()
    # What is refused is looked at once: two requests above 95 %, two refusals.
    run = live(turns(12), WARNING, {"user": "overrides", "provider": "accepts"})
    looked = [(one.step, one.data["ratio"]) for one in run.events if one.kind == "refused"]
    sent = [(step, size / 100) for step, size in enumerate(run.sent.tolist()) if size >= 95]
    assert looked == [(21, 1.04), (23, 1.14)][-len(looked) :] == sent


# -- /reset asks --------------------------------------------------------------------------------------


def test_S1_25_a_reset_without_its_flag_asks_and_changes_nothing() -> None:
    plain = live(turns(4), WARNING)
    for act in ({}, {"confirmed": False}):
        run = live(turns(4), WARNING, at("e7", "reset", **act))
        assert kinds(run) == ["reset_asked"] and run.events[0].before == 34
        assert run.context.tolist() == plain.context.tolist() and run.sent.tolist() == plain.sent.tolist()
        assert found(run, "idle_acts") == "", "the question was asked"
    done = live(turns(4), WARNING, at("e7", "reset", confirmed=True))
    assert kinds(done) == ["reset"] and done.context[-1] == 10


# -- nothing without consent --------------------------------------------------------------------------

HARNESSES = st.builds(
    Harness,
    mode=st.sampled_from(("auto", "ask", "manual")),
    machine=st.sampled_from(("none", "defer", "force")),
    recover=st.booleans(),
    recoveries=st.integers(0, 2),
    warn=st.sampled_from((None, 0.5)),
    require=st.sampled_from((None, 0.9)),
)
SCENARIOS = st.fixed_dictionaries(
    {
        "user": st.sampled_from(("compacts", "waits", "overrides", "resets")),
        "consents": st.booleans(),
        "provider": st.sampled_from(("accepts", "refuses")),
        "acts": st.lists(
            st.fixed_dictionaries(
                {
                    "at": st.sampled_from([f"e{n}" for n in range(24)]),
                    "do": st.sampled_from(("force", "token_overflow", "byte_overflow", "defer", "release")),
                }
            ),
            max_size=3,
        ),
    }
)


def started_by(run: Run) -> list[tuple[str, bool]]:
    """The reason of each compaction that was begun, and whether the user was asked right before it."""
    out = []
    for number, one in enumerate(run.events):
        if one.kind == "started":
            before = [e.kind for e in run.events[:number] if e.entry == one.entry and e.step == one.step]
            out.append((str(one.data["reason"]), "asked" in before))
    return out


@given(HARNESSES, SCENARIOS, st.booleans())
def test_S1_30_S0_15_nothing_is_compacted_without_consent_unless_the_mode_is_auto(
    harness: Harness, scenario: dict[str, Any], fires: bool
) -> None:
    trigger = Trigger(ratio=0.8, measure="assembled", check="request", enabled=fires)
    run = live(turns(12), make_policy(trigger, harness), scenario)
    for reason, asked in started_by(run):
        if harness.mode == "manual":
            assert reason == "manual", "a machine's word and a refusal are not the user's"
        elif harness.mode == "ask":
            assert reason == "manual" or (asked and scenario["consents"])


# -- the requirement ----------------------------------------------------------------------------------


def filled(words: int) -> Session:
    """A session whose second request has so many tokens of a hundred."""
    return talk(say("user", 4), say("assistant", words - 8), say("user", 4), say("assistant", 1))


def policy_of(**harness: Any) -> Policy:
    return make_policy(OFF, MANUAL.model_copy(update=harness))


@pytest.mark.parametrize(("words", "sent"), [(94, True), (95, False), (96, False)])
def test_S1_19_at_the_requirement_nothing_is_sent_until_compacted_or_overridden(
    words: int, sent: bool
) -> None:
    run = live(filled(words), WARNING, {"user": "waits"})
    assert (run.sent[3] == words, run.status) == (sent, "finished" if sent else "paused")
    assert ("refused" in kinds(run)) != sent
    compacted = live(filled(words), WARNING, {"user": "compacts"})
    # Summary of five, and the question of four.
    assert (compacted.sent[3], len(compacted.adopted)) == ((words, 0) if sent else (9, 1))
    insisted = live(filled(words), WARNING, {"user": "overrides"})
    assert insisted.sent[3] == words and kinds(insisted, "overridden") == ["overridden"] * (not sent)


def test_S1_27_S1_42_at_the_requirement_it_is_refused_every_time_and_goes_on_when_the_fill_falls() -> None:
    session = talk(*filled(96).entries[:3], say("assistant", 1), *turn(1, 1))
    again = live(session, WARNING, {"user": "overrides"})
    assert [one.step for one in again.events if one.kind == "refused"] == [3, 5], "one for each request"
    # Paused, not ended: a larger window lets the same request out without anything else.
    larger = live(filled(96), WARNING, at("e3", "switch", window=200) | {"user": "waits"})
    assert larger.status == "finished" and larger.sent[3] == 96
    assert "paused, not ended" in live(filled(96), WARNING, {"user": "waits"}).why


def test_S1_20_S1_28_S1_29_S1_45_an_override_lets_one_turn_out_and_is_recorded() -> None:
    session = talk(*filled(96).entries[:3], say("assistant", 1), *turn(1, 1))
    run = live(session, WARNING, at("e3", "override") | {"user": "waits"})
    assert (run.sent[3], run.sent[5], run.status) == (96, 0, "paused")
    assert kinds(run) == ["warned", "required", "overridden", "refused"]
    told = event(run, "overridden")
    assert (told.turn, told.correlation, told.channel) == (1, "turn-2", "audit")
    assert told.name_in("stud-warning") == "CompactionOverridden"
    twice = live(session, WARNING, {"user": "overrides"})
    assert [one.turn for one in twice.events if one.kind == "overridden"] == [1, 2]
    # A turn of three requests, each above the requirement: one override, and one record of it.
    loop = [say("user", 20), say("assistant", 76), say("user", 1)]
    for number in range(3):
        loop += tools(number, 1)
    long = talk(*loop, say("assistant", 1), *turn(1, 1))
    for insists in (at("e3", "override") | {"user": "waits"}, {"user": "overrides"}):
        run = live(long, WARNING, insists | {"provider": "accepts"})
        told = [one.turn for one in run.events if one.kind == "overridden"]
        assert told == ([1] if run.scenario.user == "waits" else [1, 2])
        assert sum(size > 95 for size in run.sent.tolist()) == (4 if told == [1] else 5)
    unneeded = live(filled(50), WARNING, at("e3", "override"))
    assert found(unneeded, "idle_acts") == "1 act never took place: override at e3."


def test_S1_41_without_tool_and_reset_every_request_is_refused_until_the_user_acts() -> None:
    none = policy_of(reset=False)
    for user in ("waits", "compacts", "resets"):
        run = live(filled(96), none, {"tool": False, "user": user})
        assert (run.status, run.sent[3]) == ("paused", 0)
        assert "run /" not in run.why, "no way is promised"
    insisted = live(filled(96), none, {"tool": False, "user": "overrides"})
    assert insisted.status == "finished" and insisted.sent[3] == 96


def test_S1_24_a_reset_leaves_the_current_input_to_the_byte_and_nothing_else() -> None:
    texts = [
        "first question",
        "first answer",
        "second question",
        "second answer",
        "third one?",
        "third answer",
    ]
    entries = [
        say("user" if n % 2 == 0 else "assistant", 0).model_copy(update={"blocks": (Text(text=text),)})
        for n, text in enumerate(texts)
    ]
    session = talk(*entries, system=(Text(text="be kind"),))
    acts = {"acts": [{"at": "e5", "do": "reset", "confirmed": True}, {"at": "e5", "do": "compact"}]}
    # /compact right after it shows the context that the reset left.
    run = live(session, make_policy(OFF, MANUAL.model_copy(update={"engine": "core"}), keep=0), acts)
    (item,) = run.adopted
    planned = item.plan.session
    left = [planned.entries[i] for i in planned.live.entries.tolist()]
    assert [(entry.id, entry.role, entry.text) for entry in left] == [("e4", "user", "third one?")]
    assert left[0].blocks == session.entries[4].blocks
    assert planned.system is session.system and planned.tools is session.tools
    told = event(run, "reset")
    assert (told.before, told.after) == (12, 4)
