"""Whether a policy compacts now is one decision in a plan, the gauge, a replay and `judge_reply`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inspector import compact, make_plan, replay
from inspector.planning.summary_jobs import Checkpoint
from inspector.policies.events import AuditEvent
from inspector.policies.policy import Policy
from inspector.policies.registry import find_policy, list_policies
from inspector.policies.trigger import Condition
from inspector.replays.timeline import find_life
from inspector.replays.versus_recorded import find_moments
from inspector.session.entries import Entry, Usage
from inspector.session.session import Session
from inspector.summaries.recovery import judge_reply
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import Ledger, count_tokens
from inspector.workbench.payloads.gauge import word_gauge
from tests.replays.test_engine import kinds, say, talk
from tests.telling import use
from tests.test_laws import LENGTH

POLICIES = [policy for policy in list_policies() if policy.name != "recorded"]
REFUSED = "prompt is too long: 250000 tokens > 200000 maximum"


def report(session: Session, ledger: Ledger, beyond: int, but: int) -> Session:
    """Every reply but one reports its request: as counted, and so much beyond it."""
    tokens = ledger.entry_tokens.tolist()
    entries = list(session.entries)
    replies = [at for at, entry in enumerate(entries) if entry.role == "assistant"]
    for number, at in enumerate(replies):
        if number != but:
            usage = Usage(input=sum(tokens[:at]) + beyond, output=tokens[at])
            entries[at] = entries[at].model_copy(update={"usage": usage})
    return session.with_entries(entries, session.leaf)


@st.composite
def chats(draw: st.DrawFn) -> tuple[Session, Ledger]:
    """Turns of unequal length, with tools and without, whose replies report usage or do not."""
    entries = [say("user", 1), say("assistant", 1)]
    for number in range(draw(st.integers(1, 5))):
        entries.append(say("user", draw(st.integers(1, 60))))
        for step in range(draw(st.integers(0, 2))):
            output = "x" * draw(st.sampled_from((5, 90, 700)))
            entries += use(10 * number + step, "bash", output, command="ls")
        entries.append(say("assistant", draw(st.integers(1, 60))))
    session = talk(*entries)
    if draw(st.booleans()):
        session = report(
            session, count_tokens(session, LENGTH), draw(st.sampled_from((0, 40))), draw(st.integers(0, 20))
        )
    return session, count_tokens(session, LENGTH)


@st.composite
def triggered(draw: st.DrawFn) -> Policy:
    """A registered policy whose thresholds a short chat reaches; sometimes with a second condition, with a
    budget for outputs, or switched off."""
    policy = draw(st.sampled_from(POLICIES))
    size = st.integers(0, 2_500)
    settings: dict[str, Any] = {"trigger.reserve_tokens": draw(size)}
    if policy.trigger.tokens is not None:
        counts = policy.trigger.measure in ("messages", "candidates", "invocations")
        settings["trigger.tokens"] = draw(st.integers(0, 12) if counts else size)
    if policy.trigger.unknown_window is not None:
        settings["trigger.unknown_window"] = draw(size)
    if draw(st.booleans()):
        measure = draw(st.sampled_from(("messages", "invocations", "chars4_utf16", "assembled", "usage")))
        tokens = draw(st.integers(0, 12) if measure in ("messages", "invocations") else size)
        settings["trigger.also"] = (Condition(measure=measure, tokens=tokens, at_least=draw(st.booleans())),)
        settings["trigger.join"] = draw(st.sampled_from(("any", "all")))
    if policy.name == "claude-code-analysis" or draw(st.sampled_from((False, False, True))):
        settings |= {"spill-outputs.enabled": True, "spill-outputs.budget": 100, "spill-outputs.preview": 10}
    off = {} if policy.contract else {"harness.engine": "none"}
    settings |= draw(st.sampled_from(({}, {}, {}, {"trigger.enabled": False}, off)))
    return policy.configured(settings)


def looks(session: Session, ledger: Ledger, policy: Policy) -> list[str]:
    """The entries after which the policy looks: before a request, that is the last one it holds."""
    life = find_life(session, ledger, trace_history(session, ledger))
    check = policy.trigger.check
    at = (
        np.flatnonzero(life.requests) - 1 if check == "request" else np.flatnonzero(find_moments(life, check))
    )
    return [life.entry(int(number)).id for number in at]


@given(chats(), triggered(), st.sampled_from((0, 60, 400, 1_500, 3_000)))
def test_a_plan_the_gauge_a_replay_and_a_judgement_decide_alike(
    chat: tuple[Session, Ledger], policy: Policy, window: int
) -> None:
    session, ledger = chat
    run = replay(session, policy, {"provider": "accepts"}, ledger=ledger, window=window)
    # A reply that ran over the window is an overflow, whatever the trigger says.
    assume("overran" not in kinds(run))
    hit = next((event.entry for event in run.events if event.kind == "threshold_hit"), None)
    for entry in looks(session, ledger, policy):
        if entry == "e0" and session["e1"].usage is not None:
            # What a request holds beyond the file only its reply tells, and a replay knows it before.
            assume(hit != entry)
            continue
        moment = session.at(entry)
        plan = make_plan(moment, ledger, policy, window=window)
        verdict, words = plan.verdict, word_gauge(plan).words
        assert (verdict.reached is True) == (entry == hit), (entry, hit, verdict.sentence)
        assert ("would compact here" in words) == bool(verdict.fires), words
        if moment[entry].role == "assistant":
            follows = judge_reply(moment, policy, window=window, ledger=ledger).follows
            assert follows in ("recover", "compact" if verdict.fires else "nothing")
        if verdict.reached:
            break
        assert not verdict.fires
    else:
        assert hit is None
    assert policy.trigger.enabled or hit is None
    assert policy.harness.engine != "none" or not run.compactions


# -- one condition of several ----------------------------------------------------------------------------


def joined(join: str, **more: Any) -> Policy:
    """A policy that fires at 1,000,000 tokens, or also by another condition."""
    settings = {"trigger.tokens": 1_000_000, "trigger.join": join, "trigger.also": (Condition(**more),)}
    return find_policy("keep-recent-turns").configured({"trigger.check": "reply", **settings})


@pytest.mark.parametrize(("join", "fires"), [("any", True), ("all", False)])
@pytest.mark.parametrize(
    "more", [{"measure": "invocations", "tokens": 4}, {"measure": "usage", "ratio": 0.5}]
)
def test_a_joined_trigger_decides_by_all_of_its_conditions(
    join: str, fires: bool, more: dict[str, Any]
) -> None:
    session = talk(
        *(entry for number in range(9) for entry in (say("user", 5 + 3 * number), say("assistant", 7)))
    )
    policy, ledger = joined(join, **more), count_tokens(session)
    plan = make_plan(session, ledger, policy, window=150)
    run = replay(session, policy, {"provider": "accepts"}, ledger=ledger, window=150)
    assert plan.verdict.fires is fires is ("threshold_hit" in kinds(run))
    assert judge_reply(session, policy, window=150).follows == ("compact" if fires else "nothing")
    assert compact(session, policy, Checkpoint(text="So far."), reason="auto", window=150).done is fires
    # What is told is the condition that decided: the one that is met, or the one that is missing.
    (decided,) = plan.verdict.decided
    assert decided.condition.measure == (more["measure"] if fires else "assembled")
    assert (plan.verdict.tokens, plan.verdict.threshold) == (decided.tokens, decided.threshold)
    assert "1,000,000" not in plan.verdict.sentence or not fires


def test_a_condition_that_is_switched_off_takes_no_part_and_a_trigger_that_is_off_never_fires() -> None:
    session = talk(*(entry for _ in range(4) for entry in (say("user", 9), say("assistant", 9))))
    met: dict[str, Any] = {"measure": "messages", "tokens": 1}
    assert make_plan(session, joined("any", **met)).verdict.fires is True
    assert make_plan(session, joined("any", **met, enabled=False)).verdict.fires is False
    off = joined("any", **met).configured({"trigger.enabled": False})
    assert make_plan(session, off).verdict.fires is False and not replay(session, off).compactions


# -- what would be sent ------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["assembled", "chars4_utf16", "usage"])
@pytest.mark.parametrize("check", ["request", "outputs"])
def test_S2_48_outputs_that_go_to_files_count_as_they_are_sent(measure: str, check: str) -> None:
    settings: dict[str, Any] = {"trigger.tokens": 5_000, "trigger.measure": measure, "trigger.check": check}
    policy = find_policy("keep-recent-turns").configured({**settings, "spill-outputs.enabled": True})
    session = talk(
        say("user", 9),
        *use(1, "bash", "x" * 60_000, command="ls"),
        *use(2, "bash", "x" * 70_000, command="ls"),
        say("assistant", 3),
    )
    ledger = count_tokens(session)
    run = replay(session, policy, ledger=ledger, window=50_000)
    plan = make_plan(session.at("e4"), ledger, policy, window=50_000)
    assert plan.before > 5_000 > plan.verdict.tokens
    assert plan.verdict.fires is False and "threshold_hit" not in kinds(run)
    assert "would not compact yet" in word_gauge(plan).words
    whole = policy.configured({"spill-outputs.enabled": False})
    assert make_plan(session.at("e4"), ledger, whole, window=50_000).verdict.fires is True


# -- off -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [{"trigger.enabled": False}, {"harness.engine": "none"}, {"harness.mode": "manual"}, {"window": 0}],
)
@pytest.mark.parametrize("name", ["keep-recent-turns", "pi", "cline"])
def test_automatic_compaction_that_is_off_is_off_at_every_door(name: str, settings: dict[str, Any]) -> None:
    """The trigger switched off, nothing that compacts, only the user's /compact, and no known window."""
    settings = {"trigger.reserve_tokens": 0, **settings}
    window = settings.pop("window", 100)
    if name == "cline":
        settings["trigger.unknown_window"] = None
    policy = find_policy(name).configured(settings)
    entries = [entry for number in range(9) for entry in (say("user", 5 + 9 * number), say("assistant", 7))]
    replied = talk(*entries, *use(9, "bash", "x" * 5, command="ls"), say("assistant", 7))
    judged = judge_reply(replied, policy, window=window)
    verdict = make_plan(replied, policy, {}, window=window).verdict
    assert (judged.follows, judged.sentence) == ("nothing", verdict.sentence)
    session = talk(*entries, *use(9, "bash", "x" * 5, command="ls"))
    plan = make_plan(session, policy, {}, window=window)
    assert not plan.verdict.fires and "would compact here" not in word_gauge(plan).words
    done = compact(session, policy, Checkpoint(text="So far."), reason="auto", window=window)
    assert not done.done and done.why == plan.verdict.sentence and done.after == session
    run = replay(session, policy, {"provider": "accepts"}, window=window)
    assert not [item for item in run.compactions if item.reason == "auto"]
    on = find_policy(name).configured({"trigger.reserve_tokens": 0})
    assert make_plan(session, on, {}, window=100).verdict.fires is True


@pytest.mark.parametrize("name", ["mini-claude-code", "mini-claude-code-compat", "pi"])
def test_a_policy_that_looks_after_outputs_fires_at_every_door_only_where_it_looks(name: str) -> None:
    talked = [entry for number in range(9) for entry in (say("user", 90 + number), say("assistant", 70))]
    policy = find_policy(name).configured({"trigger.reserve_tokens": 0} if name == "pi" else {})
    policy = policy.configured({"trigger.budget": 100} if "mini" in name else {})
    first, second = (use(number, "bash", "x" * 5, command="ls") for number in (9, 10))
    parallel = [
        first[0].model_copy(update={"blocks": first[0].blocks + second[0].blocks}),
        first[1],
        second[1],
    ]
    chats: list[tuple[list[Entry], bool]] = [
        (talked, False),
        ([*talked, *first], True),
        ([*talked, *first, say("assistant", 70)], False),
        ([*talked, *first, say("assistant", 70), say("user", 90)], False),
        ([*talked, *parallel[:-1]], False),
        ([*talked, *parallel], True),
    ]
    for entries, works in chats:
        session = talk(*entries)
        plan = make_plan(session, policy, {}, window=100)
        assert (plan.verdict.reached, plan.verdict.fires) == (True, works)
        assert (plan.verdict.sentence in plan.notes) is not works
        assert ("would compact here" in word_gauge(plan).words) is works
        done = compact(session, policy, Checkpoint(text="So far."), reason="auto", window=100)
        assert done.done or (done.why == plan.verdict.sentence) is not works
        # A replay has what follows: the other output, and the next request.
        more = talk(*entries, *parallel[2:][: entries[-2:] == parallel[:2]], say("assistant", 1))
        run = replay(more, policy, {"provider": "accepts"}, window=100)
        hit = next((event.entry for event in run.events if event.kind == "threshold_hit"), None)
        assert (hit == session.leaf) is works, (hit, session.leaf)


@pytest.mark.parametrize("name", ["stud-merged", "stud-wiki-1.1", "keep-recent-turns"])
def test_where_the_user_is_asked_first_nothing_is_compacted_without_consent(name: str) -> None:
    """In a replay, and by `compact`, whose caller asks the user; the verdict says so."""
    session = talk(
        *(entry for number in range(9) for entry in (say("user", 5 + number), say("assistant", 7)))
    )
    policy = find_policy(name)
    size = make_plan(session, policy).before
    for mode, asks in (("ask", True), ("auto", False)):
        asking = policy.configured({"harness.mode": mode})
        for share in (0.85, 0.97):
            window = int(size / share)
            verdict = make_plan(session, asking, {}, window=window).verdict
            assert (verdict.fires, verdict.asks) == (True, asks)
            assert ("asked" in verdict.sentence) is asks
            told: list[AuditEvent] = []
            done = compact(
                *(session, asking, Checkpoint(text="So far.")),
                reason="auto",
                window=window,
                on_event=told.append,
            )
            assert done.done is not asks and bool(told) is not asks
            assert not asks or (done.why == verdict.sentence and done.after == session)
            agreed = compact(session, asking, Checkpoint(text="So far."), window=window)
            assert agreed.done
            scenario = {"provider": "accepts", "consents": not asks, "user": "waits"}
            run = replay(session, asking, scenario, window=window)
            assert ("asked" in kinds(run)) is asks and bool(run.compactions) is not asks


@pytest.mark.parametrize("name", ["flue", "claude-code", "stud-wiki-1.1", "stud-merged"])
@pytest.mark.parametrize("share", [0.5, 0.97])
def test_a_plan_and_the_gauge_name_what_is_left_with_either_switch_off(name: str, share: float) -> None:
    """The user's /compact, and a recovery from a refusal where a replay makes one."""
    session = talk(
        *(entry for number in range(9) for entry in (say("user", 5 + number), say("assistant", 7)))
    )
    acts = {"provider": "accepts", "acts": [{"at": "e16", "do": "token_overflow"}], "user": "waits"}
    shown = set()
    for off in ({"harness.mode": "manual"}, {"trigger.enabled": False}):
        policy = find_policy(name).configured(
            {**off, "keep-recent-tokens.tokens": 20} if name == "flue" else off
        )
        window = int(make_plan(session, policy).before / share)
        plan = make_plan(session, policy, {}, window=window, reason="auto")
        words, run = word_gauge(plan).words, replay(session, policy, acts, window=window)
        recovers = "overflow" in [item.reason for item in run.compactions]
        assert not plan.verdict.fires and plan.verdict.sentence.startswith("Waits for the user's /compact")
        assert "/compact" in words and word_gauge(plan).at is None
        assert ("refusal" in plan.verdict.sentence) == ("refusal" in words) == recovers
        shown.add((plan.verdict.sentence, words, recovers))
    assert len(shown) == len({recovers for _, _, recovers in shown})


# -- after a refusal ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "times"),
    [
        ({}, 1),
        ({"harness.recoveries": 2}, 2),
        ({"harness.recoveries": 0}, 0),
        ({"harness.recover": False}, 0),
        ({"harness.engine": "none"}, 0),
        ({"harness.mode": "manual"}, 0),
        ({"harness.mode": "ask", "harness.recover": False}, 1),
    ],
)
def test_S4_59_a_refusal_is_recovered_from_as_often_at_every_door(
    settings: dict[str, Any], times: int
) -> None:
    policy = find_policy("keep-recent-turns").configured(settings)
    session = talk(
        *(entry for number in range(9) for entry in (say("user", 5 + number), say("assistant", 7)))
    )
    assert make_plan(session, policy, reason="overflow").verdict.fires is (times > 0)
    here, recovered = session, 0
    for number in range(3):
        refused = Entry(
            id=f"no-{number}", role="assistant", stop_reason="error", error=REFUSED, parent=here.leaf
        )
        here = here.with_entries((*here.entries, refused), refused.id)
        follows = judge_reply(here, policy, window=100_000).follows
        # The second time there is more to compact: fewer turns are kept.
        edits = {"settings": {"keep-recent-turns.turns": 4 - 2 * number}}
        told = Checkpoint(text=f"So far: {number}.")
        done = compact(here, policy, told, edits=edits, reason="overflow", window=100_000)
        assert follows == ("recover" if recovered < times else "surface")
        assert done.done is (recovered < times), done.why
        if not done.done:
            assert done.after == here and done.why
            break
        here, recovered = done.after, recovered + 1
    acts = {"acts": [{"at": "e17", "do": "token_overflow"}] * 3, "user": "waits"}
    run = replay(session, policy, acts, window=100_000)
    # A replay keeps the same turns the second time, and finds nothing more to compact.
    assert len([item for item in run.compactions if item.reason == "overflow"]) == min(times, 1)
