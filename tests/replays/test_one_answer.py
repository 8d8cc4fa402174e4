"""A plan, a replay, `judge_reply` and `compact()` agree whether a policy fires, why, and what follows."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from inspector import compact, count_tokens, make_plan, open_session, price_session, replay, save_session
from inspector.cli import main
from inspector.planning.summary_jobs import Checkpoint, Reply, SummaryJob
from inspector.policies.events import AuditEvent
from inspector.policies.registry import find_policy
from inspector.replays.run import Run
from inspector.session.blocks import Reasoning
from inspector.session.entries import Boundary, Entry, Usage
from inspector.session.queries import NO_HISTORY, TURN_CONTEXT, count_calls, without_reasoning
from inspector.session.session import Session
from inspector.summaries.recovery import judge_reply
from inspector.workbench.payloads.gauge import word_gauge
from tests.policies.test_stud import with_both
from tests.replays.test_engine import at, event, kinds, say, talk

REFUSED = "prompt is too long: 250000 tokens > 200000 maximum"
KEPT = {"keep-recent-tokens.tokens": 120, "trigger.reserve_tokens": 50}


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
    run = replay(unequal(30), "claude-code", {"writer": {"fails": 99}, "provider": "accepts"}, window=2_500)
    assert run.status == "finished" and "surfaced" not in kinds(run)
    (found,) = [item for item in run.findings if item.kind == "failed"]
    assert found.sentence.startswith(f"{len(run.compactions)} compactions failed, first in turn ")
    assert not [item for item in replay(unequal(30), "claude-code").findings if item.kind == "failed"]


@pytest.mark.parametrize("kind", ["token_overflow", "byte_overflow"])
@pytest.mark.parametrize("by_size", [False, True])
def test_S2_36_the_refusal_is_told_before_auto_becomes_reactive(kind: str, by_size: bool) -> None:
    session = unequal(6)
    ledger = count_tokens(session)
    full = make_plan(session.at("e10"), ledger, "claude-code").before
    window = full - 10 if by_size else full + 20
    scenario = {"provider": "refuses"} if by_size else at("e11", kind)
    run = replay(session, "claude-code", scenario | {"writer": {"fails": 3}}, ledger=ledger, window=window)
    events = [(item.kind, item.data.get("from"), item.data.get("to")) for item in run.events]
    refusal = [item[0] for item in events].index("token_overflow" if by_size else kind)
    reactive = events.index(("state_changed", "auto", "reactive"))
    assert [item[0] for item in events].index("failed") < refusal < reactive
    assert run.adopted[-1].reason == "overflow" and run.status == "finished"


def test_S2_22_a_recorded_refusal_has_the_status_of_the_file() -> None:
    off = by("keep-recent-turns", trigger__enabled=False)
    for error, status in ((f"413 {REFUSED}", 413), (f"400 {REFUSED}", 400), (REFUSED, 400)):
        refused = Entry(id="", role="assistant", stop_reason="error", error=error)
        run = replay(talk(say("user", 9), refused, say("user", 9), say("assistant", 5)), off, window=9_000)
        assert event(run, "token_overflow").data["status"] == status


# -- summaries that grow ---------------------------------------------------------------------------


@pytest.mark.parametrize("usage", [True, False])
def test_S0_106_the_second_summary_in_a_row_that_grew_is_no_progress(usage: bool) -> None:
    """However much smaller the context became."""
    entries = [
        entry
        for number in range(40)
        for entry in (
            say("user", 30 + 30 * number),
            say("assistant", 20, usage=Usage(input=80 + number * (80 + 15 * number)) if usage else None),
        )
    ]
    session = talk(*entries)
    run = replay(session, "stud-wiki-1.1", {"writer": {"grows": 1.2}, "provider": "accepts"}, window=4_000)
    sizes = [item.written for item in run.adopted]
    grew = [item < other for item, other in pairwise(sizes)]
    assert len(sizes) == 3 and grew == [True, True], sizes
    assert run.adopted[-1].after < 0.95 * run.adopted[-1].before
    assert kinds(run, "completed", "no_progress") == ["completed"] * 3 + ["no_progress"]
    events = event(run, "no_progress")
    assert (events.data["last"], events.data["summary"]) == tuple(sizes[1:])
    assert any("grew in 2 compactions in a row" in item.sentence for item in run.findings)
    # Someone acts: from then on it counts anew. A harness without such a rule goes on.
    act = session_after(run)
    acted = replay(
        session,
        "stud-wiki-1.1",
        at(act, "compact") | {"writer": {"grows": 1.2}, "provider": "accepts"},
        window=4_000,
    )
    assert [item.reason for item in acted.adopted][:5] == ["auto"] * 3 + ["manual", "auto"]
    # Placeholders that grow with what they stand for say nothing of a model's summaries.
    plain = replay(session, "stud-wiki-1.1", {"provider": "accepts"}, window=4_000)
    assert len(plain.adopted) > 3 and "no_progress" not in kinds(plain)
    other = replay(session, "keep-recent-turns", window=4_000)
    assert len(other.adopted) > 3 and "no_progress" not in kinds(other)


def session_after(run: Run) -> str:
    """The question two turns after the last compaction."""
    return f"e{2 * (run.adopted[-1].turn + 2)}"


# -- overflows that the harness finds by itself ----------------------------------------------------------


@pytest.mark.parametrize("events", ["end_turn", "stop", None])
@pytest.mark.parametrize("name", ["flue", "flue-2"])
def test_S4_58_a_reply_to_more_than_the_window_is_an_overflow_to_flue(name: str, events: str | None) -> None:
    session = unequal(12, usage=True)
    read = session.entries[-1].usage
    assert read is not None
    last = session.entries[-1].model_copy(update={"stop_reason": events})
    session = session.with_entries((*session.entries[:-1], last), last.id)
    prompt = int(read.input + read.cache_read)
    for window in (prompt - 1, prompt, 20_000):
        policy = by(name, **{key.replace(".", "__"): value for key, value in KEPT.items()})
        policy = policy.configured({"trigger.reserve_tokens": 0})
        follows = judge_reply(session, policy, window=window).follows
        run = replay(session, policy, window=window)
        reasons = [item.reason for item in run.adopted if item.turn == 11]
        expected = {"recover": ["overflow"], "compact": ["auto"], "nothing": []}[follows]
        assert reasons == expected, (window, follows)
    assert [item.reason for item in replay(session, "pi", window=prompt // 2).adopted].count("overflow") == 0


@pytest.mark.parametrize("read", [989, 990])
def test_S4_58_a_reply_cut_off_with_nothing_at_99_percent_is_one_too(read: int) -> None:
    usage = Usage(input=read - 400, cache_read=400)
    cut = Entry(id="", role="assistant", stop_reason="max_tokens", usage=usage)
    session = talk(
        say("user", 300), say("assistant", 9), say("user", 300), say("assistant", 9), say("user", 9), cut
    )
    policy = by("flue", **{"keep-recent-tokens__tokens": 20, "trigger__reserve_tokens": -500})
    run = replay(session, policy, window=1_000)
    follows = judge_reply(session, policy, window=1_000).follows
    assert (follows, [item.reason for item in run.adopted]) == (
        ("recover", ["overflow"]) if read == 990 else ("nothing", [])
    )


@pytest.mark.parametrize("name", ["flue", "flue-2", "pi", "claude-code", "stud-wiki-1.1"])
@pytest.mark.parametrize("enabled", [True, False])
def test_S4_74_a_replay_and_a_judgement_say_the_same_of_a_refusal(name: str, enabled: bool) -> None:
    """Flue's one switch is for both (FLUE §11), and its answers say so."""
    policy = find_policy(name).configured({"trigger.enabled": enabled})
    if name in ("flue", "flue-2", "pi"):
        policy = policy.configured({"keep-recent-tokens.tokens": 120})
    refused = Entry(id="", role="assistant", stop_reason="error", error=REFUSED)
    session = talk(*unequal(8).entries, say("user", 9), refused)
    judged = judge_reply(session, policy, window=200_000)
    run = replay(
        talk(*session.entries[:-1], say("assistant", 9)), policy, at("e17", "token_overflow"), window=200_000
    )
    recovers = enabled or name != "flue"
    assert judged.follows == ("recover" if recovers else "surface")
    assert [item.reason for item in run.adopted] == (["overflow"] if recovers else [])
    assert run.status == ("finished" if recovers else "failed")
    assert ("switched off with the trigger" in judged.sentence) is not recovers
    assert ("one_switch" in [item.kind for item in run.findings]) is not recovers


@pytest.mark.parametrize("leaf", ["refused", "overran", "good"])
def test_S4_60_without_a_name_the_leaf_that_failed_is_taken_off(leaf: str) -> None:
    reply = {
        "refused": Entry(id="", role="assistant", stop_reason="error", error=REFUSED),
        "overran": say("assistant", 5, usage=Usage(input=9_001, output=5)),
        "good": say("assistant", 5, usage=Usage(input=100, output=5)),
    }[leaf]
    session = talk(*unequal(6).entries, say("user", 9), reply)
    done = compact(
        session,
        by("flue", **{"keep-recent-tokens__tokens": 120}),
        Checkpoint(text="So far."),
        reason="overflow",
        window=9_000,
    )
    assert done.done and done.failed == (None if leaf == "good" else "e13")
    path = [done.after.entries[i].id for i in done.after.path]
    assert ("e13" in path) is (leaf == "good")
    # Whoever asks for nothing after a refusal keeps the reply.
    assert compact(session, "claude-code", Checkpoint(text="So far."), reason="manual").failed is None


# -- who compacts ----------------------------------------------------------------------------------------


def test_S2_44_where_only_the_user_compacts_a_plan_is_theirs() -> None:
    session = unequal(20)
    ledger = count_tokens(session)
    window = int(make_plan(session, ledger, "claude-code").before / 0.985)
    blocked = {"settings": {"harness.mode": "manual"}}
    plan = make_plan(session, ledger, "claude-code", blocked, window=window)
    assert plan.reason == "manual" and plan.summarises
    # /compact asks for a summary of everything; nothing is snipped before.
    assert set(plan.fate.tolist()) == set(
        make_plan(session, ledger, "claude-code", reason="manual").fate.tolist()
    )
    assert plan.verdict.fires is False and "/compact" in plan.verdict.sentence
    assert word_gauge(plan).words.endswith("compacts by /compact only")
    again = make_plan(session, ledger, **plan.spec_json)
    assert (again.reason, again.after) == (plan.reason, plan.after) and "reason" not in plan.spec_json
    # What the harness does by itself is planned as such, and so is what is asked for by name.
    assert make_plan(session, ledger, "claude-code", window=window).reason == "auto"
    assert make_plan(session, ledger, "claude-code", blocked, window=window, reason="auto").reason == "auto"
    run = replay(
        session, find_policy("claude-code").configured(blocked["settings"]), ledger=ledger, window=window
    )
    assert run.compactions == ()
    by_itself = plan.edits.model_copy(update={"settings": {"harness.mode": "auto"}})
    assert plan.with_edits(by_itself).reason == "auto"


def test_S0_55_both_surfaces_on_one_entry_are_told_by_its_name_in_a_plan_and_a_replay() -> None:
    policy = with_both()
    for provider in ("bedrock", None):
        session = talk(
            say("user", 9), say("assistant", 9, provider=provider), say("user", 9), say("assistant", 9)
        )
        entry = provider or "main"
        run = replay(session, policy)
        events = event(run, "double_configured")
        assert dict(events.data) == {"provider_entry": entry}
        assert events.record_in("stud-wiki") == {"type": "DoubleCompactionConfigured", "providerEntry": entry}
        notes = make_plan(session, count_tokens(session), policy).notes
        assert sum(f"On provider entry '{entry}' both" in note for note in notes) == 1
    alone = make_plan(session, count_tokens(session), "stud-wiki-1.1").notes
    assert not any("On provider entry" in note for note in alone)


# -- one audit --------------------------------------------------------------------------------------------


def within(events: Any) -> list[AuditEvent]:
    """The events of the compaction itself, from its start on, without the harness' states."""
    rest = list(events)[[item.kind for item in events].index("started") :]
    return [
        item for item in rest if item.kind not in ("state_changed", "recovered", "warned", "threshold_hit")
    ]


APPLIES = ("stud-warning", "stud-merged", "claude-code", "pi")


@pytest.mark.parametrize("name", [*APPLIES, "stud-wiki-1.1", "flue"])
@pytest.mark.parametrize("thought", [True, False])
def test_S0_97_a_compaction_and_its_replay_tell_the_same(name: str, thought: bool) -> None:
    session = unequal(12, thought=thought)
    ledger = count_tokens(session)
    settings = {"keep-recent-tokens.tokens": 120} if name in ("flue", "pi") else {}
    policy = find_policy(name).configured(settings)
    replayed = within(replay(session, policy, at("e23", "compact"), ledger=ledger, window=90_000).events)
    events: list[AuditEvent] = []
    moment = session.at("e22")
    plan = make_plan(moment, ledger, policy, reason="manual", window=90_000)

    def write(job: SummaryJob, session: Session) -> str:
        return "word " * 20

    compact(moment, policy, write, ledger=ledger, window=90_000, on_event=events.append)
    assert [item.kind for item in events] == [item.kind for item in replayed]
    assert [item.name_in(policy.harness.dialect) for item in events] == [
        item.name_in(policy.harness.dialect) for item in replayed
    ]
    # The usage of a summariser is known only if it reports one.
    keys = [
        [{name for name in item.data if not name.startswith("usage_")} for item in each]
        for each in (events, replayed)
    ]
    assert keys[0] == keys[1]
    by_kind = [{item.kind: item.data for item in events} for events in (events, replayed)]
    for key in ("reason", "calls", "asked", "retention"):
        assert by_kind[0]["completed"].get(key) == by_kind[1]["completed"].get(key)
    assert ("retention" in by_kind[0]["completed"]) is thought
    assert by_kind[0].get("reasoning_downgraded") == by_kind[1].get("reasoning_downgraded")
    if thought and plan.summarises:
        assert by_kind[0]["reasoning_downgraded"]["blocks"] > 0
    assert ("applied" in by_kind[0]) is (name in APPLIES)


def test_S0_103_a_summary_that_is_too_long_is_told_by_a_real_compaction() -> None:
    events: list[AuditEvent] = []
    policy = by("stud-wiki-1.1", **{"summarise-older__cap": 50})
    done = compact(unequal(12), policy, lambda job, session: "word " * 90, on_event=events.append)
    assert [item.kind for item in events][:5] == ["started", *["summary_oversize"] * 3, "summary_truncated"]
    assert [item.data.get("limit") for item in events[1:4]] == [25, 12, None]
    record = events[1].record_in("stud-wiki")
    assert record is not None and record["type"] == "CompactionSummaryOversize" and record["budget"] == 50
    assert done.calls == 3


def test_S1_46_the_merged_pages_tell_that_a_compaction_was_applied() -> None:
    session = unequal(20)
    run = replay(session, "stud-merged", window=4_000)
    names = [item.name_in("stud-merged") for item in run.events]
    first = names.index("CompactionStarted")
    assert names.index("CompactionCompleted", first) < names.index("CompactionApplied", first)
    assert event(run, "applied").data["tool"] == "core"
    refused = replay(session, "stud-merged", {"consents": False, "user": "waits"}, window=4_000)
    assert "applied" not in kinds(refused)


# -- a split turn takes two calls ------------------------------------------------------------------------


def split_turn() -> Session:
    """Two turns, of which the second has many replies, on a model with a price."""
    entries = [say("user", 60), say("assistant", 80, model="claude-opus-4-5"), say("user", 60)]
    entries += [say("assistant", 90, model="claude-opus-4-5") for _ in range(6)]
    return talk(*entries, format="pi")


@pytest.mark.parametrize("usage", [True, False])
def test_S4_47_two_calls_are_two_in_the_result_the_entry_and_the_bill(usage: bool, tmp_path: Path) -> None:
    def write(job: SummaryJob, session: Session) -> Reply:
        return Reply(text=job.kind, usage=Usage(input=700, output=30) if usage else None)

    session = split_turn()
    settings = {"settings": {"keep-recent-tokens.tokens": 200}}
    done = compact(session, "flue", write, edits=settings)
    assert [job.kind for job in done.plan.jobs] == ["initial", "turn_prefix"]
    assert done.calls == 2 and "2 calls of the summariser" in repr(done)
    assert count_calls(done.after[done.entry or ""]) == 2
    whole = compact(session, "claude-code", write)
    assert whole.calls == 1 and "calls" not in repr(whole)
    if not usage:
        return
    assert done.after[done.entry or ""].usage == Usage(input=1_400, output=60)
    for result, calls in ((done, 2), (whole, 1)):
        lines = {line.name: line.calls for line in price_session(result.after).lines}
        assert lines["compaction"] == calls
    path = tmp_path / "saved.json"
    save_session(done.after, path)
    assert {line.name: line.calls for line in price_session(open_session(path)).lines}["compaction"] == 2


def test_S4_47_a_recorded_split_turn_is_known_by_its_text() -> None:
    texts = (f"So far.{TURN_CONTEXT}It began.", f"{NO_HISTORY}{TURN_CONTEXT}It began.", "So far.")
    events = [Entry(id="c", kind="compaction", boundary=Boundary(summary=text)) for text in texts]
    assert [count_calls(item) for item in events] == [2, 1, 1]


# -- what a model writes, and what is not there ----------------------------------------------------------


def test_S0_69_that_a_model_writes_is_said_in_every_print(tmp_path: Path, capsys: Any) -> None:
    session = unequal(20)
    plan = make_plan(session, count_tokens(session), "stud-wiki-1.1")
    assert repr(plan).endswith("not deterministic)")
    alike = make_plan(session, count_tokens(session), "stud-wiki-deterministic")
    assert "deterministic)" not in repr(alike)
    run = replay(session, "stud-wiki-1.1", window=4_000)
    (found,) = [item for item in run.findings if item.kind == "downstream"]
    assert found.step == run.adopted[0].step and found.sentence in repr(run).replace("\n", " ")
    assert not [
        item
        for item in replay(session, "stud-wiki-deterministic", window=4_000).findings
        if item.kind == "downstream"
    ]
    done = compact(session, "stud-wiki-1.1", lambda job, session: "So far.")
    assert repr(done).endswith("not deterministic)")
    path = tmp_path / "session.json"
    save_session(session, path)
    assert main(["plan", str(path), "--policy", "stud-wiki-1.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["deterministic"] is False
    assert main(["replay", str(path), "--policy", "stud-wiki-1.1", "--window", "4000"]) == 0
    assert found.sentence[:40] in capsys.readouterr().out


@pytest.mark.parametrize("usage", [True, False])
@pytest.mark.parametrize("name", ["stud-wiki-1.1", "flue", "claude-code", "mini-claude-code-compat"])
def test_S0_44_reasoning_that_is_not_kept_is_nowhere_in_a_plan(name: str, usage: bool) -> None:
    session = unequal(14, usage, thought=True)
    policy = find_policy(name).configured({"harness.send_reasoning": False})
    plan = make_plan(session, count_tokens(session), policy, reason="manual", window=90_000)
    kinds_of = [session[ref.entry].blocks[ref.block].kind for ref in plan.lost]
    assert "reasoning" not in kinds_of and "reasoning" not in plan.saved
    bare = without_reasoning(session)
    if not usage:
        other = make_plan(bare, count_tokens(bare), policy, reason="manual", window=90_000)
        assert (plan.before, plan.after, plan.lost) == (other.before, other.after, other.lost)
        if name != "flue":  # that goes by usage, of which there is none
            assert plan.verdict.tokens == other.verdict.tokens
    kept = make_plan(session, count_tokens(session), name, reason="manual", window=90_000)
    assert plan.before < kept.before
    assert (
        plan.with_edits(plan.edits.model_copy(update={"settings": {"harness.send_reasoning": True}})).before
        == kept.before
    )
