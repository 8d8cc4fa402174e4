"""A compaction as a transition: what was promised is what the next request holds, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.errors import EditError
from inspector.formats.manifest import dump_manifest, read
from inspector.planning.assemble import live_context
from inspector.planning.context import Context
from inspector.planning.stand_in import MARKER
from inspector.planning.summary_jobs import Checkpoint, Reply, SummaryJob
from inspector.policies.events import AuditEvent
from inspector.policies.policy import Policy
from inspector.policies.registry import names_of_policies
from inspector.policies.rules.truncate_outputs import TruncateOutputs
from inspector.policies.trigger import Reason, Trigger
from inspector.session.blocks import Image, Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry, Usage
from inspector.session.session import Session
from inspector.summaries.compaction import STAND_IN, CompactionResult, compact
from inspector.summaries.extractive.summariser import ExtractiveSummariser
from inspector.summaries.record import hash_plan, hash_policy, stored_context
from inspector.summaries.recovery import append_retry, judge_reply, may_retry, was_recovered
from inspector.tokens.ledger import CLEARED_TEXT, count_tokens
from inspector.tokens.reported import add_usage
from inspector.wire.checks import check_context
from tests.strategies import sessions
from tests.test_cuts import answer, build, call, say, user
from tests.test_laws import LENGTH, policies

USED = Usage(input=100, output=20)


def write(job: SummaryJob, session: Session) -> Reply:
    return Reply(text=f"{job.kind}: {len(job.entries)} entries", usage=USED)


def fail(job: SummaryJob, session: Session) -> Reply:
    return Reply(stop_reason="error", error="the model is asleep")


def said(context: Context) -> list[tuple[str, object]]:
    return [(piece.role, piece.block) for piece in context.pieces]


_ANY_POLICY = policies() | st.sampled_from(names_of_policies())


@st.composite
def transitions(
    draw: st.DrawFn, given: st.SearchStrategy[Session] | None = None, *, orderly: bool = False
) -> CompactionResult:
    session = draw(sessions(orderly=orderly) if given is None else given)
    policy = draw(_ANY_POLICY)
    ledger = count_tokens(session, LENGTH)
    reason = draw(st.sampled_from(("manual", "auto", "overflow")))
    summariser = draw(st.sampled_from((None, write, write)))
    return compact(session, policy, summariser, ledger=ledger, reason=reason)


@settings(max_examples=200)
@given(transitions())
def test_the_rebuilt_context_is_the_one_the_plan_promised(done: CompactionResult) -> None:
    plan = done.plan
    if not done.done:
        assert done.after == plan.session
        assert done.why
        return
    assert said(done.context) == said(done.promised)
    planned = said(stored_context(plan.session, plan, done.checkpoint))
    assert len(planned) == len(done.context)
    for mine, theirs in zip(said(done.context), planned, strict=True):
        # What was emptied before stays as that left it.
        assert mine == theirs or CLEARED_TEXT in str(mine[1])


@settings(max_examples=100)
@given(st.data())
def test_S4_6_nothing_that_was_there_is_touched(data: st.DataObject) -> None:
    session = data.draw(sessions())
    before = dump_manifest(session)
    done = data.draw(transitions(st.just(session)))
    assert dump_manifest(session) == before
    assert done.session is session
    assert done.after.entries[: len(session.entries)] == session.entries
    assert read(dump_manifest(done.after).encode()) == done.after
    if done.done:
        assert done.entry in {done.after.entries[i].id for i in done.after.path}
        assert done.after.path[: len(done.plan.session.path)] == done.plan.session.path


@settings(max_examples=100)
@given(transitions())
def test_S4_68_usage_grows_by_what_the_summariser_took_and_nothing_else(done: CompactionResult) -> None:
    before = add_usage(done.plan.session)
    written = done.checkpoint.usage if done.checkpoint is not None and done.done else None
    assert add_usage(done.after) == (before if written is None else before + written)


@settings(max_examples=100)
@given(transitions(orderly=True))
def test_the_provider_takes_what_the_session_goes_on_with_as_it_took_what_was_promised(
    done: CompactionResult,
) -> None:
    promised = {found.rule for found in check_context(done.promised, awaits_user=True)}
    assert {found.rule for found in check_context(done.context, awaits_user=True)} <= promised


def turns(*labels: str) -> Session:
    return build(*(part for label in labels for part in (user(label), say(f"{label}: {'x' * 200}"))))


def refused(session: Session, message: str = "prompt is too long: 11000 tokens > 10000 maximum") -> Session:
    """The session with a last request that the provider refused."""
    return grow(
        session,
        Entry(
            id="refused",
            parent=session.leaf,
            role="assistant",
            stop_reason="error",
            error=message,
            usage=USED,
        ),
    )


def grow(session: Session, *entries: Entry) -> Session:
    fields = {name: getattr(session, name) for name in Session.model_fields}
    return Session(**{**fields, "entries": (*session.entries, *entries), "leaf": entries[-1].id})


SMALL = {"settings": {"keep-recent-tokens.tokens": 50}}
ASKED = refused(turns("one", "two", "three"))


def overflow(session: Session = ASKED, failed: str | None = "refused") -> CompactionResult:
    return compact(session, "flue", write, edits=SMALL, reason="overflow", failed=failed)


def test_S4_60_S4_61_a_refused_reply_leaves_the_path_first_and_only_where_it_is_the_leaf() -> None:
    done = overflow()
    names = [done.after.entries[i].id for i in done.after.path]
    assert done.failed == "refused"
    assert "refused" not in names
    assert "refused" in done.after.index
    assert done.after[done.entry or ""].parent == ASKED["refused"].parent
    # Another leaf is left where it is: only a match is taken off.
    earlier = ASKED.at(ASKED["refused"].parent)
    assert overflow(earlier).failed is None
    with pytest.raises(EditError, match="no such entry"):
        overflow(ASKED, "nobody")


def test_S4_64_the_retry_stands_in_the_tree_after_the_entry_beside_the_leaf_that_was_left() -> None:
    done = overflow()
    reply = Entry(id="again", role="assistant", blocks=(Text(text="recovered"),), usage=USED)
    retried = append_retry(done, [reply]).after
    assert [retried.entries[i].id for i in retried.path][-2:] == [done.entry, "again"]
    assert retried["again"].extra["source"] == "retry"
    # The tree tells it all: abandoned leaf and entry hang off the same words, the retry off the entry.
    assert retried["refused"].parent == retried[done.entry or ""].parent
    assert retried["again"].parent == done.entry
    shown = live_context(retried, count_tokens(retried)).pieces
    assert shown[-1].block.text == "recovered"
    assert read(dump_manifest(retried).encode()) == retried
    # The refused request is billed to nobody; the summary and the retry are.
    assert done.checkpoint is not None
    assert done.checkpoint.usage is not None
    assert add_usage(retried, ASKED["refused"].parent).input == done.checkpoint.usage.input + USED.input
    with pytest.raises(EditError, match="already has"):
        append_retry(done, [reply, reply])


def test_S4_65_the_fork_shows_the_leaf_that_was_left_the_entry_and_what_continues_it() -> None:
    done = overflow()
    reply = Entry(id="again", role="assistant", blocks=(Text(text="recovered"),), usage=USED)
    before = ASKED["refused"].parent
    beginning, left, entry = done.fork.splitlines()
    assert beginning.startswith(f"{before}: ")
    assert left.startswith("├─ refused: taken off the path, assistant: prompt is too long")
    assert entry == f"└─ {done.entry}: compaction by {done.plan.policy.name}, overflow"
    assert append_retry(done, [reply]).fork.splitlines() == [
        beginning,
        left,
        entry,
        "   └─ again: the retry, assistant: recovered",
    ]
    # A summariser that failed leaves the leaf where it was taken off, and nothing beside it.
    failed = compact(ASKED, "flue", fail, edits=SMALL, reason="overflow", failed="refused")
    assert [line[:12] for line in failed.fork.splitlines()[1:]] == ["└─ refused: "]


@pytest.mark.parametrize("reason", ["manual", "auto", "overflow"])
def test_S4_8_only_a_refusal_is_retried(reason: Reason) -> None:
    done = compact(turns("one", "two", "three"), "flue", write, edits=SMALL, reason=reason)
    assert done.done
    assert done.retries is (reason == "overflow")
    if not done.retries:
        with pytest.raises(EditError, match="no request was refused"):
            append_retry(done, [AGAIN])


AGAIN = Entry(id="again", role="assistant", blocks=(Text(text="recovered"),), usage=USED)


def test_S4_62_a_refused_request_takes_one_retry() -> None:
    done = overflow()
    assert done.retries
    retried = append_retry(done, [AGAIN])
    assert (done.retried, retried.retried, retried.retries) == (False, True, False)
    with pytest.raises(EditError, match="once already"):
        append_retry(retried, [AGAIN.model_copy(update={"id": "and again"})])
    assert [entry.id for entry in retried.after.path_since(done.entry)] == ["again"]
    with pytest.raises(EditError, match="brought nothing"):
        append_retry(done, [])


def test_S4_62_what_stands_again_of_an_earlier_retry_is_no_retry_of_the_next_compaction() -> None:
    long = ToolOutput(call_id="c0", parts=(Text(text="x" * 500),))
    brought = [call("c0"), Entry(id="", role="tool", blocks=(long,)), AGAIN]
    named = [entry.model_copy(update={"id": f"r{at}"}) for at, entry in enumerate(brought)]
    earlier = append_retry(overflow(), named).after
    done = compact(earlier, Policy(name="short", rules=(TruncateOutputs(limit=100),)), reason="overflow")
    copies = [entry.extra for entry in done.after.path_since(done.entry)]
    assert [(extra["copy_of"], extra["source"]) for extra in copies] == [("r1", "retry"), ("r2", "retry")]
    assert done.retries
    assert not done.retried


def test_S4_63_S4_81_prepare_summarise_append_rebuild_and_only_then_retry() -> None:
    steps: list[str] = []

    def summarise(job: SummaryJob, session: Session) -> Reply:
        assert job.max_tokens is not None, "the prompt is bounded"
        assert session.leaf == ASKED["refused"].parent, "the failed reply is off the path by now"
        steps.append("summarise")
        return write(job, session)

    def ask(context: Context) -> list[Entry]:
        steps.append(f"ask with {len(context)} pieces")
        return [AGAIN]

    done = compact(
        ASKED,
        "flue",
        summarise,
        edits={"cut": "e4"},
        reason="overflow",
        failed="refused",
        on_event=lambda event: steps.append(event.kind),
    )
    retried = append_retry(done, ask(done.context))
    asked = f"ask with {len(done.promised)} pieces"
    assert steps == ["leaf_removed", "started", "summarise", "prefix_reset", "completed", asked]
    assert said(done.context) == said(done.promised)
    assert [entry.id for entry in retried.after.path_since(ASKED["refused"].parent)] == [done.entry, "again"]
    # Idle again: the next judgement is about what the retry brought.
    assert judge_reply(retried.after, TRIGGER, window=10_000).follows == "nothing"


def test_S4_50_a_summariser_that_fails_appends_nothing_and_retries_nothing() -> None:
    done = compact(ASKED, "flue", fail, edits=SMALL, reason="overflow", failed="refused")
    assert done.after == ASKED.at(ASKED["refused"].parent)
    assert done.why == "Summarization failed: the model is asleep"
    assert not done.retries


@settings(max_examples=100)
@given(transitions())
def test_what_is_told_of_tokens_agrees_with_a_fresh_count(done: CompactionResult) -> None:
    """Before and after are told on the provider's scale, and what is counted of both is as counted anew."""
    if not done.done:
        assert repr(done) == f"CompactionResult(nothing appended: {done.why})"
        return
    entry = done.after[done.entry or ""]
    assert entry.boundary is not None
    before, after = (
        count_tokens(session, LENGTH).count_context(session) for session in (done.plan.session, done.after)
    )
    assert (done.plan.counted_before, done.promised.counted) == (before, after)
    assert entry.boundary.tokens_after == done.promised.tokens == after + done.promised.outside
    assert f"{done.plan.before:,} -> {done.promised.tokens:,} tokens" in repr(done)


def test_the_entry_tells_what_it_was_made_by() -> None:
    session = turns("one", "two", "three")
    done = compact(session, "flue", write, edits=SMALL)
    boundary = done.after[done.entry or ""].boundary
    assert boundary is not None
    assert (boundary.trigger, boundary.extra["policy"]) == ("manual", "flue")
    assert boundary.extra["policy_sha256"] == hash_policy(done.plan)
    assert boundary.extra["plan_sha256"] == hash_plan(done.plan)
    again = compact(session, "flue", write, edits={"settings": {"keep-recent-tokens.tokens": 60}})
    assert hash_policy(again.plan) != hash_policy(done.plan)
    assert boundary.tokens_after == done.context.tokens
    stand_in = compact(session, "flue", edits=SMALL)
    assert stand_in.after[stand_in.entry or ""].boundary.extra["by"] == STAND_IN  # type: ignore[union-attr]


def test_a_context_that_no_whole_entries_make_stands_again_after_the_compaction() -> None:
    """Cutting outputs short makes no cut and summarises nothing, and still is a transition."""
    short = Policy(name="short", rules=(TruncateOutputs(limit=100),))
    long = ToolOutput(call_id="c1", parts=(Text(text="x" * 500),))
    told = Entry(id="", role="tool", blocks=(long,))
    session = build(user("go"), call("c0"), answer("c0"), call("c1"), told, say("ok"))
    done = compact(session, short)
    assert done.done
    assert done.checkpoint is None
    assert said(done.context) == said(done.promised)
    copies = [entry.extra.get("copy_of") for entry in done.after.entries[len(session.entries) + 1 :]]
    assert copies == [entry.id for entry in session.entries[4:]], "what stands before the change stays itself"
    assert not compact(done.after, short).done, "there is nothing left to cut short"
    twice = compact(done.after, "flue", write, edits={"settings": {"keep-recent-tokens.tokens": 1}})
    assert said(twice.context) == said(twice.promised)


TRIGGER = Trigger(reserve_tokens=1000)


def judged(session: Session, **given: object) -> tuple[str, str | None]:
    found = judge_reply(session, TRIGGER, window=10_000, **given)  # type: ignore[arg-type]
    return found.follows, found.kind


def test_S2_22_a_400_and_a_413_are_two_emergencies() -> None:
    bytes_ = "request_too_large: Request exceeds the maximum size"
    assert judged(ASKED, status=400) == ("recover", "token_overflow")
    assert judged(refused(turns("one", "two"), bytes_), status=413) == ("recover", "byte_overflow")
    assert judged(refused(turns("one"), "500 internal"), status=500) == ("surface", None)
    assert judged(refused(turns("one"), "rate limit reached"), status=429) == ("surface", None)
    assert judged(turns("one")) == ("nothing", None)
    last = ASKED["refused"].model_copy(update={"kind": "compaction"})
    ended = Session(format="test", entries=(*turns("one").entries, last), leaf="refused")
    assert judged(ended, status=400) == ("nothing", None), "a compaction is no reply"
    told = [
        judge_reply(refused(turns("one"), error), TRIGGER, window=10_000, status=status).sentence
        for error, status in ((ASKED["refused"].error or "", 400), (bytes_, 413))
    ]
    assert told == ["The context does not fit.", "The request has too many bytes."]


def test_S2_22_too_many_bytes_are_only_asked_again_once_a_picture_is_gone() -> None:
    words = refused(turns("one", "two", "three"), "413 payload too large")
    judgement = judge_reply(words, TRIGGER, window=10_000, status=413)
    assert not may_retry(overflow(words), judgement)
    picture = Entry(id="picture", blocks=(Image(url="https://example.org/a.png"), Text(text="see")))
    fields = {name: getattr(words, name) for name in Session.model_fields}
    first, *rest = words.entries
    below = first.model_copy(update={"parent": "picture"})
    shown = Session(**{**fields, "entries": (picture, below, *rest)})
    assert may_retry(overflow(shown), judgement)


def test_S4_59_a_request_is_recovered_from_once() -> None:
    done = overflow()
    failed = Entry(id="again", role="assistant", stop_reason="error", error=ASKED["refused"].error)
    twice = append_retry(done, [failed]).after
    assert was_recovered(twice, "again")
    assert judged(twice) == ("surface", "token_overflow")
    # Seen from the leaf that was left, the recovery stands beside it.
    assert judged(twice.at("refused")) == ("surface", "token_overflow")
    # The user's next words open a new account.
    asked = Entry(id="next", parent="again", blocks=(Text(text="and now?"),))
    more = grow(twice, asked, failed.model_copy(update={"id": "third", "parent": "next"}))
    assert judged(more) == ("recover", "token_overflow")


@pytest.mark.parametrize(
    ("taken", "name"),
    [
        ((), "compaction-1"),
        (("compaction-1",), "compaction-2"),
        (("compaction-1.1",), "compaction-2"),
        (("compaction-1", "compaction-2.1"), "compaction-3"),
        (("compaction-2",), "compaction-1"),
    ],
)
def test_a_compaction_takes_the_first_name_that_no_entry_has(taken: tuple[str, ...], name: str) -> None:
    talk = build(*(part for _ in range(4) for part in (user("w " * 40), say("w " * 40))))
    renamed = dict(zip((entry.id for entry in talk.entries), taken, strict=False))
    entries = tuple(
        entry.model_copy(
            update={
                "id": renamed.get(entry.id, entry.id),
                "parent": renamed.get(entry.parent or "", entry.parent),
            }
        )
        for entry in talk.entries
    )
    session = talk.model_copy(update={"entries": entries})
    policy = {"name": "all", "rules": [{"kind": "summarise-all"}]}
    done = compact(session, policy, write, ledger=count_tokens(session, LENGTH))
    assert done.entry == name


def told_by(job: SummaryJob, session: Session) -> str:
    return "So far, so good."


@pytest.mark.parametrize(
    ("summariser", "provider"),
    [
        (None, "stand-in"),
        (told_by, "told_by"),
        (ExtractiveSummariser(), "extractive"),
        (Checkpoint(text="So far.", by="pasted"), "pasted"),
        (Checkpoint(text="So far.", provider="bedrock"), "bedrock"),
    ],
)
def test_what_is_told_of_a_compaction_names_its_turn_and_who_summarised(
    summariser: Any, provider: str
) -> None:
    """Whoever answers in the session has no part in it."""
    model, maker = "claude-opus-4-5", "anthropic"
    entries = (
        Entry(id="a", role="user", blocks=(Text(text="first"),)),
        Entry(
            id="b",
            parent="a",
            role="assistant",
            model=model,
            provider=maker,
            blocks=(Text(text="one"),),
        ),
        Entry(id="c", parent="b", role="user", blocks=(Text(text="second"),)),
        Entry(
            id="d",
            parent="c",
            role="assistant",
            model=model,
            provider=maker,
            blocks=(Text(text="two"),),
        ),
    )
    session = Session(format="pi", entries=entries, leaf="d", model="the session's")
    told: list[AuditEvent] = []
    compact(session, "flue", summariser, edits={"cut": "c"}, reason="manual", on_event=told.append)
    assert told
    for event in told:
        assert (event.turn, event.correlation, event.entry) == (1, "turn-2", "d")
        assert (event.model, event.provider) == (None, provider)
        if event.kind != "prefix_reset":
            record = event.record_in("stud-wiki")
            assert record is not None and record["provider"] == provider and record["trigger"] == "explicit"
    # A file that begins with a reply has no turn of its own before the first.
    alone = Session(format="pi", entries=(entries[1].model_copy(update={"parent": None}),), leaf="b")
    told.clear()
    compact(alone, "flue", edits={"cut": "end"}, reason="manual", on_event=told.append)
    assert {(event.turn, event.correlation) for event in told} == {(0, "turn-1")}


def test_a_summary_that_is_carried_on_is_recorded_as_it_was_written_and_not_as_it_is_shown() -> None:
    """Claude Code shows a summary behind words of its own; nothing new is written up."""
    told = Entry(
        id="c",
        parent="a",
        kind="compaction",
        blocks=(Text(text="This session is continued. The summary: all is well."),),
        boundary=Boundary(summary="all is well."),
    )
    output = ToolOutput(call_id="t", parts=(Text(text="x" * 900),))
    entries = (
        Entry(id="a", blocks=(Text(text="go"),)),
        told,
        Entry(id="b", parent="c", role="assistant", blocks=(ToolCall(id="t", name="Read", input={}),)),
        Entry(id="d", parent="b", role="tool", blocks=(output,)),
        Entry(id="e", parent="d", role="assistant", blocks=(Text(text="done"),)),
    )
    policy = Policy(name="mine", rules=(TruncateOutputs(limit=100),))
    done = compact(Session(format="pi", entries=entries, leaf="e"), policy, reason="manual")
    assert done.done and done.entry is not None
    boundary = done.after[done.entry].boundary
    assert boundary is not None and boundary.summary == "all is well."


@pytest.mark.parametrize("per", ["session", "turn"])
def test_without_a_summariser_the_entry_holds_a_line_for_each_older_entry(per: str) -> None:
    session = build(user("Where is the tide table?"), say("In the almanac."), user(), say())
    rules = [{"kind": "keep-recent-turns", "turns": 1}, {"kind": "summarise-older", "per": per}]
    done = compact(session, {"name": "mine", "rules": rules}, ledger=count_tokens(session, LENGTH))
    assert done.entry is not None and done.checkpoint is not None
    assert (done.checkpoint.by, done.checkpoint.turns) == (STAND_IN, ())
    boundary = done.after[done.entry].boundary
    assert boundary is not None and boundary.summary is not None
    assert boundary.summary.split("\n") == [
        MARKER,
        "user: Where is the tide table?",
        "assistant: In the almanac.",
    ]
