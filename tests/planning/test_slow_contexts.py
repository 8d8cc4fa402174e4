"""What a plan leaves, as a context and as a recorded session, piece by piece beside a reference."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from inspector.planning.assemble import build_context, live_context
from inspector.planning.context import Piece
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Checkpoint
from inspector.policies.table import FATES
from inspector.session.blocks import Block, Text
from inspector.session.entries import Boundary, Entry
from inspector.summaries.record import changes_stored, promise_context, record_plan
from inspector.tokens.ledger import count_tokens
from tests.fixed_policies import fixed_plan
from tests.fixed_sessions import LENGTH
from tests.reference.fates import SUMMARISED, tell_fates
from tests.telling import use
from tests.test_cuts import build, say, user

SEEDS = range(40)


class Part(NamedTuple):
    """A block of a context, and what is said of it."""

    role: str
    block: Block
    fate: str
    tokens: int
    origin: tuple[str, ...]


def part_of(piece: Piece) -> Part:
    return Part(piece.role, piece.block, piece.fate, piece.tokens, tuple(map(str, piece.origin)))


def list_parts(plan: Plan) -> list[Part]:
    """What stands under the fates, with the notice and the stand-in where they belong."""
    session, live, place = plan.session, plan.session.live, plan.place
    fates = tell_fates(plan, place, plan.depth)
    refs = [str(ref) for ref in session.live_refs(range(len(fates)))]
    positions = live.position.tolist()
    entries = [session.entries[i] for i in live.entries.tolist()]
    out: list[tuple[float, Part]] = []
    for row, one in enumerate(fates):
        if one.stands and not (one.changed and one.now is None):
            block = one.now if one.changed and one.now is not None else plan.table.block(row)
            said = Part(entries[positions[row]].role, block, FATES[one.fate], one.tokens, (refs[row],))
            out.append((positions[row], said))
    if place is None:
        return [part for _, part in out]
    if (notice := plan.notice) is not None:
        gone = [
            ref for ref, at in zip(refs, positions, strict=True) if at < place and notice.notice.entries[at]
        ]
        text = Text(text=notice.text(place))
        cost = int(plan.ledger.count_texts([text.text])[0])
        out.append((place - 0.5, Part(notice.role, text, "dropped", cost, tuple(gone))))
    taken = [(ref, at) for ref, at, one in zip(refs, positions, fates, strict=True) if one.fate == SUMMARISED]
    if taken:
        texts = plan.stand_in.texts(place)
        for text, first, end in texts:
            cost = sum(plan.ledger.count_lines(text.split("\n")).tolist())
            mine = tuple(ref for ref, at in taken if first <= at < end)
            out.append((plan.summary_at - 0.6, Part("user", Text(text=text), "summarised", cost, mine)))
    return [part for _, part in sorted(out, key=lambda pair: pair[0])]


def is_simple(plan: Plan) -> bool:
    """Whether no published notice repeats the whole context after itself."""
    return plan.notice is None or plan.place is None or not plan.notice.echoes(plan.place)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_context_holds_what_stands_under_the_fates_in_its_order(seed: int) -> None:
    plan = fixed_plan(seed)
    if not is_simple(plan):
        return
    context, parts = build_context(plan.session, plan), list_parts(plan)
    assert [part_of(piece) for piece in context.pieces] == parts
    assert context.counted == plan.counted_after == plan.ledger.head_tokens + sum(p.tokens for p in parts)
    summaries = [piece for piece in context.pieces if piece.fate == "summarised"]
    assert all(piece.stand_in and piece.summary for piece in summaries)
    for one, other in zip(context.pieces, context.pieces[1:], strict=False):
        if one.message == other.message:
            assert one.role == other.role
    assert len({piece.message for piece in summaries}) == len(summaries)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_recorded_is_what_was_promised(seed: int) -> None:
    plan = fixed_plan(seed)
    checkpoint = Checkpoint(text="All of it.", by="somebody") if plan.summarises else None
    promised = promise_context(plan, checkpoint)
    done = record_plan(plan, checkpoint, "new", {"asked": "by hand"})
    shown = live_context(done, count_tokens(done, LENGTH))
    assert [(p.role, p.block) for p in shown.pieces] == [(p.role, p.block) for p in promised.pieces]
    assert done.entries[: len(plan.session.entries)] == plan.session.entries
    entry = done["new"]
    assert entry.parent == plan.session.leaf and entry.kind == "compaction"
    assert entry.boundary is not None and entry.boundary.extra["asked"] == "by hand"
    assert entry.boundary.trigger == plan.reason
    assert entry.boundary.tokens_after == promised.tokens or not changes_stored(plan)


def test_what_was_emptied_before_stays_emptied_whatever_a_rule_makes_of_it() -> None:
    """A recorded compaction of outputs empties the call wherever it stands, so a pointer in its place would
    not be what the session goes on with."""
    empty = Entry(id="", kind="micro", boundary=Boundary(kind="micro", cleared=("c1",)))
    session = build(user("look"), *use(1, "read", "word " * 50, path="a.py"), empty, say("done"))
    rule = {"kind": "point-large-outputs", "characters": 0, "recent": True, "form": "compat"}
    ledger = count_tokens(session, LENGTH)
    plan = make_plan(session, ledger, {"name": "mine", "rules": [rule]})
    pointed = [piece for piece in build_context(session, plan).pieces if piece.fate == "pointer"]
    assert [piece.block.text.startswith("[archived read(a.py)") for piece in pointed] == [True]
    promised = promise_context(plan, None)
    done = record_plan(plan, None, "new")
    shown = live_context(done, count_tokens(done, LENGTH))
    assert [piece.block for piece in promised.pieces] == [piece.block for piece in shown.pieces]
    assert [piece.block for piece in promised.pieces] == [
        piece.block for piece in live_context(session, ledger).pieces
    ]
