"""A plan, a replay, `judge_reply` and `compact()` agree whether a policy fires, why, and what follows."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import compact, count_tokens, make_plan, open_demo, read_session, replay
from inspector.errors import ArgumentError
from inspector.planning.summary_jobs import Checkpoint, Reply, SummaryJob
from inspector.policies.events import AuditEvent
from inspector.policies.registry import find_policy
from inspector.session.blocks import Reasoning, Text, ToolCall, ToolOutput
from inspector.session.entries import Entry, Usage
from inspector.session.session import Session
from inspector.summaries.recovery import judge_reply
from tests.replays.test_engine import at, event, kinds, say, talk


def unequal(count: int, usage: bool = False, thought: bool = False) -> Session:
    """Turns of forty to four hundred words, by what the provider reports or without a word of it."""
    entries: list[Entry] = []
    size = 0
    for number in range(count):
        words = 40 * (1 + number * 7 % 10)
        size += words + 40
        more = (Reasoning(text="why " * 30),) if thought and number % 2 else ()
        events = Usage(input=size // 2, cache_read=size - size // 2, output=40) if usage else None
        entries += [say("user", words), say("assistant", 40, *more, usage=events)]
    return talk(*entries)


def by(name: str, **settings: Any) -> Any:
    return find_policy(name).configured({key.replace("__", "."): value for key, value in settings.items()})


# -- a compaction that fails -----------------------------------------------------------------------


@pytest.mark.parametrize("usage", [True, False])
@pytest.mark.parametrize("provider", ["accepts", "refuses"])
def test_S0_102_after_the_retries_the_turn_ends_and_the_run_says_so(usage: bool, provider: str) -> None:
    session = unequal(20, usage)
    run = replay(session, "stud-wiki-1.1", {"writer": {"fails": 99}, "provider": provider}, window=2_500)
    assert (run.status, kinds(run)[-1]) == ("failed", "surfaced")
    assert dict(event(run, "surfaced").data) == {"error": "ContextOverflow", "cause": "SummarizeFailed"}
    assert event(run, "surfaced").name_in("stud-wiki") == "ContextOverflow"
    assert len(run.compactions) == 1 and "ContextOverflow" in run.why
    (found,) = [item for item in run.findings if item.kind == "failed"]
    assert "1 compaction failed" in found.sentence and "failed 3 times" in found.sentence
    assert (run.sent > 0).sum() < len(session.turns), "nothing is sent after it"


def test_S2_36_where_the_source_goes_on_the_run_does_and_tells_the_failures() -> None:
    run = replay(
        unequal(30), "claude-code-analysis", {"writer": {"fails": 99}, "provider": "accepts"}, window=2_500
    )
    assert run.status == "finished" and "surfaced" not in kinds(run)
    (found,) = [item for item in run.findings if item.kind == "failed"]
    assert found.sentence.startswith(f"{kinds(run).count('failed')} compactions failed, first in turn ")
    assert not [
        item for item in replay(unequal(30), "claude-code-analysis").findings if item.kind == "failed"
    ]


def with_outputs(count: int, sizes: dict[int, int], usage: float = 0) -> Session:
    """Turns with an output each, of sixty words or as many as `sizes` says for a turn; a provider reports so
    many tokens a word."""
    entries: list[Entry] = []
    words = 0
    for number in range(count):
        words += 30 + (size := sizes.get(number, 60))
        call = ToolCall(id=f"c{number}", name="bash", input={})
        parts = (Text(text="printed " * size),)
        output = Entry(id="", role="tool", blocks=(ToolOutput(call_id=call.id, parts=parts),))
        told = Usage(input=int(words * usage), output=9) if usage else None
        entries += [say("user", 20), say("assistant", 1, call), output, say("assistant", 9, usage=told)]
    return talk(*entries)


def fail(job: SummaryJob, session: Session) -> Reply:
    return Reply(stop_reason="error", error="overloaded")


def test_S2_2_where_the_summariser_fails_snip_and_micro_stand_in_a_replay() -> None:
    """And once the breaker is open they still run: it is the summariser's."""
    session = with_outputs(30, {3: 6_000, 12: 5_000, **dict.fromkeys(range(24, 30), 9_000)})
    policy = by("claude-code-analysis", **{"spill-outputs__enabled": False, "harness__retries": 0})
    ledger = count_tokens(session)
    scenario = {"writer": {"fails": "always"}, "provider": "accepts"}
    run = replay(session, policy, scenario, ledger=ledger, window=14_000)
    failed = [item for item in run.events if item.kind == "failed"]
    assert run.adopted == () and all(item.after == item.before for item in failed)
    assert kinds(run, "breaker_opened", "failed") == ["failed"] * 3 + ["breaker_opened"]
    # After the third failure nobody is asked any more.
    assert [item.calls for item in run.compactions] == [1, 1, 1]
    ran = [
        (item.step, item.data["stage"]) for item in run.events if item.kind == "stage" and item.data["ran"]
    ]
    last = failed[-1].step or 0
    assert {"snip", "micro"} <= {stage for step, stage in ran if (step or 0) < last}
    assert {"snip", "collapse"} <= {stage for step, stage in ran if (step or 0) > last}
    assert "auto" not in [stage for _, stage in ran]
    (found,) = [item for item in run.findings if item.kind == "failed"]
    assert "context stayed as it was" in found.sentence
    # Without stages, and where a failure ends the turn, the context stays as it was.
    for name in ("keep-recent-turns", "stud-wiki-1.1"):
        whole = replay(session, name, scenario, ledger=ledger, window=14_000)
        assert whole.adopted == () and event(whole, "failed").before == event(whole, "failed").after


@pytest.mark.parametrize("share", [1.0, 0.5])
@pytest.mark.parametrize("summarises", [True, False])
def test_S2_4_micro_goes_by_its_own_sizes_whether_snip_met_the_target_or_not(
    share: float, summarises: bool
) -> None:
    session = with_outputs(16, {1: 3_000, 8: 6_500, 12: 4_200}, 1.3)
    policy = by(
        "claude-code-analysis", **{"summarise-all__enabled": summarises, "spill-outputs__enabled": False}
    )
    window = int(make_plan(session, policy).before * share)
    plan = make_plan(session, policy, window=window, reason="auto")
    by_name = {stage.name: stage for stage in plan.stages}
    assert (by_name["snip"].after <= 0.8 * window) is (share == 1)
    assert by_name["micro"].ran and by_name["micro"].after < by_name["micro"].before
    assert by_name["auto"].ran is (summarises and plan.verdict.fires) and plan.verdict.fires is (share < 1)


@pytest.mark.parametrize("reason", ["auto", "manual", "overflow"])
def test_S2_2_and_in_a_compaction(reason: Any) -> None:
    session = with_outputs(14, {2: 6_000, 9: 7_000, 10: 7_000})
    policy = by("claude-code-analysis", **{"spill-outputs__budget": 62_000, "harness__retries": 1})
    window = int(make_plan(session, policy).verdict.tokens)
    events: list[AuditEvent] = []
    done = compact(session, policy, fail, reason=reason, window=window, on_event=events.append)
    failed = next(item for item in events if item.kind == "failed")
    assert (failed.data["calls"], [item.kind for item in events].count("retried")) == (2, 1)
    assert "completed" not in [item.kind for item in events]
    # Micro ran before the request, whatever the reason; of Budget's outputs none is too large here.
    assert done.done and "overloaded" in done.why
    assert not done.retries and done.calls == 2
    assert (failed.after or 0) < (failed.before or 0)
    assert (done.promised.tokens, done.context.tokens) == (failed.after, failed.after)
    texts = [len(piece.block.text) for piece in done.context.pieces if piece.block.kind == "tool_output"]
    # Snip is a view and is not stored.
    assert max(texts) <= 30_000 and len(texts) == 14


@pytest.mark.parametrize("raises", [True, False])
@pytest.mark.parametrize(("name", "retries"), [("stud-warning", 2), ("flue", 0), ("pi", 1)])
@pytest.mark.parametrize("fails", [1, 3])
def test_S0_101_a_failing_summariser_is_called_as_often_as_in_a_replay(
    name: str, retries: int, fails: int, raises: bool
) -> None:
    session = unequal(12)
    kept = {"keep-recent-tokens__tokens": 120} if name in ("flue", "pi") else {}
    policy = by(name, harness__retries=retries, **kept)
    events: list[AuditEvent] = []
    made: list[int] = []

    def write(job: SummaryJob, session: Session) -> Reply:
        made.append(len(made))
        if len(made) <= fails and raises:
            raise ConnectionError("reset by peer")
        return fail(job, session) if len(made) <= fails else Reply(text="So far.", usage=Usage(input=9))

    run = replay(session, policy, at("e23", "compact") | {"writer": {"fails": fails}}, window=90_000)
    if fails > retries and raises:
        with pytest.raises(ConnectionError):
            compact(session.at("e22"), policy, write, window=90_000, on_event=events.append)
    else:
        done = compact(session.at("e22"), policy, write, window=90_000, on_event=events.append)
        assert done.done is (fails <= retries) and done.calls == len(made)
    assert len(made) == run.compactions[0].calls
    told = [
        [(item.kind, item.data.get("attempt")) for item in each if item.kind in ("retried", "failed")]
        for each in (events, run.events)
    ]
    assert told[0] == told[1]
    calls = [item.data["calls"] for item in (*events, *run.events) if item.kind in ("failed", "completed")]
    assert calls == [len(made)] * 2


def test_an_error_that_says_why_no_call_can_help_is_not_called_again() -> None:
    made: list[SummaryJob] = []

    def write(job: SummaryJob, session: Session) -> Any:
        made.append(job)
        return 7

    with pytest.raises(ArgumentError):
        compact(unequal(12), "stud-warning", write)
    assert len(made) == 1


@pytest.mark.parametrize("usage", [0, 0.2, 5])
@pytest.mark.parametrize("name", ["flue", "pi", "gemini-cli", "stud-wiki-1.1", "mini-claude-code"])
def test_S4_53_a_boundary_says_what_the_events_say_by_one_measure(name: str, usage: float) -> None:
    """However much the provider reports: less than is counted, or more."""
    session = with_outputs(12, {4: 900, 5: 20}, usage)
    settings = {"keep-recent-tokens__tokens": 120} if name in ("flue", "pi") else {}
    policy, ledger = by(name, **settings), count_tokens(session, "calibrated")
    events: list[AuditEvent] = []
    done = compact(
        session.at("e43"),
        policy,
        Checkpoint(text="So far."),
        ledger=ledger,
        window=90_000,
        on_event=events.append,
    )
    boundary = done.after[done.entry or ""].boundary
    assert boundary is not None
    told = {item.kind: item for item in events}
    by_usage = policy.trigger.measure == "usage"
    assert boundary.extra["measure"] == ("usage" if by_usage else "assembled")
    assert boundary.tokens_before == (
        told["started"].data["estimated"] if by_usage else told["completed"].before
    )
    assert boundary.tokens_after == told["completed"].after
    assert told["started"].before == told["completed"].before == done.plan.before
    run = replay(session, policy, at("e44", "compact"), ledger=ledger, window=90_000)
    # A plan's parts are rounded each for itself.
    assert abs(event(run, "started").data["estimated"] - told["started"].data["estimated"]) <= 1


@pytest.mark.parametrize(("output", "read"), [(0, 990), (0, 989), (7, 990)])
def test_S4_58_pi_asks_again_for_a_reply_cut_off_with_nothing_said(output: int, read: int) -> None:
    cut = Entry(id="", role="assistant", stop_reason="length", usage=Usage(input=read, output=output))
    session = talk(*unequal(4).entries, say("user", 9), cut)
    policy = by("pi", **{"keep-recent-tokens__tokens": 20, "trigger__reserve_tokens": -500})
    run = replay(session, policy, {"provider": "accepts"}, window=1_000)
    follows = judge_reply(session, policy, window=1_000).follows
    again = output == 0 and read == 990
    assert (follows, kinds(run, "overran")) == (("recover", ["overran"]) if again else ("nothing", []))


def test_without_a_policy_the_harness_that_wrote_the_session_is_replayed() -> None:
    session = open_demo()
    assert replay(session).policy.name == make_plan(session).policy.name == "claude-code"
    talk = read_session([{"role": role, "content": "…"} for role in ("user", "assistant") * 3])
    assert replay(talk).policy.name == make_plan(talk).policy.name == "flue"


@pytest.mark.parametrize("name", ["claude-code-analysis", "claude-code", "flue", "flue-2", "pi"])
@pytest.mark.parametrize("reported", [60_000, 99_000])
def test_S2_22_a_reply_cut_off_where_the_window_ends_is_an_answer(name: str, reported: int) -> None:
    """CLAUDE §1.3: the request was accepted, so nothing refuses it, whoever is asked."""

    def told(stop: str) -> tuple[Any, ...]:
        session = read_session([
            {"role": "user", "content": "hello " * 3_000},
            {"role": "assistant", "content": "mid", "usage": {"input_tokens": 5_000, "output_tokens": 10}},
            {"role": "user", "content": "prompt is too long, said the old server"},
            {"role": "assistant", "content": "prompt is too long: that message means", "stop_reason": stop,
             "usage": {"input_tokens": reported, "output_tokens": 900}},
        ])  # fmt: skip
        run, policy = replay(session, name, window=100_000), find_policy(name)
        judged = judge_reply(session, policy, window=100_000)
        events: list[AuditEvent] = []
        done = compact(session, policy, reason="overflow", window=100_000, on_event=events.append)
        auto = compact(session, policy, reason="auto", window=100_000)
        refusals = {"token_overflow", "byte_overflow", "overran", "leaf_removed"}
        assert not refusals & {*kinds(run), *(event.kind for event in events)}
        assert (run.status, done.failed) == ("finished", None)
        return kinds(run), judged.follows, judged.kind, auto.done

    assert told("model_context_window_exceeded") == told("end_turn")
