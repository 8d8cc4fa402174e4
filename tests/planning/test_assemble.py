"""What a context is made of, and the session that a written summary leaves."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.demo import open_demo
from inspector.errors import EditError, OtherSession
from inspector.planning.assemble import build_context, live_context
from inspector.planning.context import Context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Checkpoint
from inspector.policies.rules.carry_file_operations import collect
from inspector.session.blocks import Text
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.summaries.record import append_checkpoint
from inspector.tokens.ledger import count_tokens
from tests.planning.test_plan import FIVE_TURNS, plan_of
from tests.telling import use
from tests.test_cuts import build, say, user
from tests.test_laws import LENGTH, plans

WRITTEN = Checkpoint(text="so far")


def said(context: Context) -> list[tuple[str, object]]:
    return [(piece.role, piece.block) for piece in context.pieces]


def names(session: Session) -> list[str]:
    return [session.entries[i].id for i in session.live.entries]


def boundary_of(session: Session) -> Boundary:
    found = session.entries[-1].boundary
    assert found is not None
    return found


def appended(plan: Plan) -> Session:
    """The session after it, once it is certain that it says what the plan says."""
    after = append_checkpoint(plan, WRITTEN, "c1")
    promised = build_context(plan.session, plan, WRITTEN)
    assert said(live_context(after, count_tokens(after, plan.ledger.counter))) == said(promised)
    return after


@st.composite
def pinned(draw: st.DrawFn) -> Plan:
    """A plan that cuts and summarises, with entries and single blocks pinned on either side."""
    plan = draw(plans(summarising=True))
    session, live = plan.session, plan.session.live
    whole = [session.entries[i].id for i in live.entries]
    places = zip(live.position.tolist(), live.block.tolist(), strict=True)
    single = [f"{whole[position]}/{block}" for position, block in places]
    pins = tuple(draw(st.lists(st.sampled_from([*whole, *single]), max_size=4)))
    edits = plan.edits.model_copy(update={"pins": pins})
    return make_plan(session, plan.ledger, plan.policy, edits, window=10_000)


def pairs(context: Context) -> list[tuple[str, object]]:
    return [(piece.role, piece.block) for piece in context.pieces]


@given(plans() | pinned())
def test_S4_6_the_session_goes_on_with_the_context_that_was_promised(plan: Plan) -> None:
    if plan.place is None:
        with pytest.raises(EditError):
            append_checkpoint(plan, WRITTEN, "written")
        return
    after = append_checkpoint(plan, WRITTEN, "written")
    assert after.entries[: len(plan.session.entries)] == plan.session.entries
    assert after.live.entries[after.live.summary] == len(plan.session.entries)
    built = build_context(plan.session, plan, WRITTEN)
    if plan.side == "range" and plan.summarises:  # what follows the summary is copied
        assert pairs(live_context(after, count_tokens(after, LENGTH))) == pairs(built)
        return
    standing = {ref for piece in built.pieces if piece.fate != "summarised" for ref in piece.origin}
    live = live_context(after, count_tokens(after, LENGTH))
    held = {ref for piece in live.pieces for ref in piece.origin}
    wanted = {ref.entry for ref in standing}
    tail = {plan.session.entries[i].id for i in plan.session.live.entries[plan.place :]}
    assert standing <= held
    assert {ref.entry for ref in held} - {"written"} <= wanted | tail, "nothing else comes back"


def test_what_an_earlier_compaction_threw_away_does_not_come_back() -> None:
    before = Entry(
        id="", kind="compaction", blocks=(Text(text="older"),), boundary=Boundary(kept=("e1", "e3"))
    )
    session = build(user(), say("kept"), say(), user("kept too"), before, user(), say())
    assert names(session) == ["e4", "e1", "e3", "e5", "e6"]
    assert names(appended(plan_of(session, cut="e3"))) == ["c1", "e3", "e5", "e6"]


def with_files() -> Session:
    steps = (("read", "a.py"), ("read", "b.py"), ("edit", "b.py"))
    calls = (use(number, name, path=path) for number, (name, path) in enumerate(steps))
    return build(user(), *chain.from_iterable(calls), say(), user(), say(), user(), say())


def test_S4_40_the_next_compaction_carries_the_files_on() -> None:
    after = append_checkpoint(plan_of(with_files(), "flue", cut="e8"), WRITTEN, "c1")
    assert (boundary_of(after).files_read, boundary_of(after).files_modified) == (("a.py",), ("b.py",))
    again = plan_of(after, "flue", cut="e10")
    assert again.place is not None
    files = collect(again.table, again.place)
    assert (files.read_files, files.modified_files) == (["a.py"], ["b.py"])


def test_a_written_summary_is_shown_as_the_format_shows_it() -> None:
    session = FIVE_TURNS.model_copy(update={"format": "flue"})
    plan = plan_of(session, cut="e6")
    piece = build_context(session, plan, WRITTEN).pieces[0]
    assert (piece.block, piece.tokens) == (Text(text="[Context Summary]\n\nso far"), 4)
    after = appended(plan)
    assert boundary_of(after).summary == "so far"


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(EditError, match="'e3': the session already has an entry of this name"):
        append_checkpoint(plan_of(FIVE_TURNS, cut="e6"), WRITTEN, "e3")


def test_S4_50_a_failed_summary_stands_in_no_context() -> None:
    plan, failed = plan_of(FIVE_TURNS, cut="e6"), Checkpoint(error="Summarization failed: boom")
    with pytest.raises(EditError, match="summary by 'model': Summarization failed: boom"):
        build_context(FIVE_TURNS, plan, failed)
    with pytest.raises(EditError, match="boom"):
        append_checkpoint(plan, failed, "c1")


@pytest.mark.parametrize("leaf", ["e1", "e5"])
def test_the_context_of_a_plan_is_that_of_its_own_moment(leaf: str) -> None:
    """Whether the other one is earlier or later."""
    plan = plan_of(FIVE_TURNS.at("e3"))
    with pytest.raises(OtherSession, match=f"made for another point in time, at e3, and this is {leaf}"):
        build_context(FIVE_TURNS.at(leaf), plan)


def test_a_reply_whose_request_is_not_in_the_file_is_still_explained() -> None:
    usage = {"input": 10, "output": 2}
    reply = Entry.model_validate(
        {"id": "a", "parent": "gone", "role": "assistant", "blocks": (Text(text="hi"),), "usage": usage}
    )
    session = Session(format="test", entries=(reply,), leaf="a")
    plan = make_plan(session, count_tokens(session, LENGTH))
    assert plan.outside.tokens == plan.outside.system_and_tools.tokens == 10


def test_another_session_with_the_same_leaf_is_refused_as_one() -> None:
    plan = plan_of(FIVE_TURNS)
    first = FIVE_TURNS.entries[0]
    for words in ("A", "zzz"):
        changed = first.model_copy(update={"blocks": (Text(text=words),)})
        other = FIVE_TURNS.model_copy(update={"entries": (changed, *FIVE_TURNS.entries[1:])})
        with pytest.raises(OtherSession, match="made for another session: use plan"):
            build_context(other, plan)
    # The same entries read again are the same session.
    assert build_context(FIVE_TURNS.model_copy(update={"entries": tuple(FIVE_TURNS.entries)}), plan).pieces


@pytest.mark.parametrize("words", ["so far", "a much longer account of it " * 200])
def test_with_a_written_summary_the_context_weighs_what_the_plan_says_of_that_one(words: str) -> None:
    session = open_demo()
    plan = make_plan(session, count_tokens(session), "flue", reason="manual")
    written = Checkpoint(text=words)
    context = build_context(session, plan, written)
    weight = context.head_tokens + sum(piece.tokens for piece in context.pieces) + context.outside
    assert weight == plan.with_summary(written).after != plan.after
