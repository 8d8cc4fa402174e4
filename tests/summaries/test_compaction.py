"""A compaction as a transition: what was promised is what the next request holds, and nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import EditError
from inspector.formats.manifest import dump_manifest, read
from inspector.planning.assemble import live_context
from inspector.planning.context import Context
from inspector.planning.summary_jobs import Reply, SummaryJob
from inspector.policies.registry import names_of_policies
from inspector.policies.trigger import Reason, Trigger
from inspector.session.blocks import Text
from inspector.session.entries import Entry, Usage
from inspector.session.session import Session
from inspector.summaries.compaction import CompactionResult, compact
from inspector.summaries.recovery import append_retry, judge_reply
from inspector.tokens.ledger import CLEARED_TEXT, count_tokens
from inspector.tokens.reported import add_usage
from inspector.wire.checks import check_context
from tests.reference.stored import stored_context
from tests.strategies import sessions
from tests.test_cuts import build, say, user
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


@given(transitions())
def test_S4_68_usage_grows_by_what_the_summariser_took_and_nothing_else(done: CompactionResult) -> None:
    before = add_usage(done.plan.session)
    written = done.checkpoint.usage if done.checkpoint is not None and done.done else None
    assert add_usage(done.after) == (before if written is None else before + written)


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


@pytest.mark.parametrize("reason", ["manual", "auto", "overflow"])
def test_S4_8_only_a_refusal_is_retried(reason: Reason) -> None:
    edits = {"settings": SMALL["settings"] | {"trigger.tokens": 0}}  # so that it fires by itself too
    done = compact(turns("one", "two", "three"), "flue", write, edits=edits, reason=reason)
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
    with pytest.raises(EditError, match="already repeated once"):
        append_retry(retried, [AGAIN.model_copy(update={"id": "and again"})])
    assert [entry.id for entry in retried.after.path_since(done.entry)] == ["again"]
    with pytest.raises(EditError, match="brought nothing"):
        append_retry(done, [])


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
    assert steps == [
        "token_overflow",
        "leaf_removed",
        "started",
        "summarise",
        "prefix_reset",
        "completed",
        asked,
    ]
    assert said(done.context) == said(done.promised)
    assert [entry.id for entry in retried.after.path_since(ASKED["refused"].parent)] == [done.entry, "again"]
    # Idle again: the next judgement is about what the retry brought.
    assert judge_reply(retried.after, TRIGGER, window=10_000).follows == "nothing"


def test_S4_50_a_summariser_that_fails_appends_nothing_and_retries_nothing() -> None:
    done = compact(ASKED, "flue", fail, edits=SMALL, reason="overflow", failed="refused")
    assert done.after == ASKED.at(ASKED["refused"].parent)
    assert done.why == "Summarization failed: the model is asleep"
    assert not done.retries


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
