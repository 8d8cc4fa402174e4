"""Session + Plan (+ a written summary) -> Context: what the model would see next.

`live_context` is the context as it stands, `build_context` the one a plan leaves. Neither touches the
session.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .blocks import BlockRef, Text
from .context import Context, Piece
from .errors import EditError
from .fates import STANDS
from .ledger import Ledger, clear_output
from .plan import Plan
from .session import Boundary, Entry, Session
from .summary import Checkpoint, shown_summary
from .table import FATES, SUMMARISED


def live_context(session: Session, ledger: Ledger) -> Context:
    """The context as it stands at the leaf: every live block verbatim, emptied outputs as emptied."""
    tokens = ledger.live_tokens(session).tolist()
    pieces = _pieces(session, range(len(tokens)), ["verbatim"] * len(tokens), tokens)
    return _context(session, pieces, ledger)


def build_context(session: Session, plan: Plan, checkpoint: Checkpoint | None = None) -> Context:
    """The context a plan leaves: the summary, if any, and after it what stands.

    Without a `checkpoint` (a summary that somebody wrote) a deterministic stand-in takes its place and is
    marked; its tokens are those the plan states. A checkpoint is counted by the plan's own counter.
    """
    outcome = plan.outcome
    rows = np.flatnonzero(STANDS[outcome.fate]).tolist()
    fates = [FATES[code] for code in outcome.fate.tolist()]
    pieces = _pieces(session, rows, fates, outcome.tokens.tolist())
    if plan.summarises and plan.place is not None:
        pieces.insert(0, _summary_piece(session, plan, plan.place, checkpoint))
    return _context(session, pieces, plan.ledger)


def _context(session: Session, pieces: list[Piece], ledger: Ledger) -> Context:
    return Context(
        session.system, session.tools, session.provided, tuple(pieces), ledger.head_tokens, session.model
    )


def _pieces(session: Session, rows: Iterable[int], fates: list[str], tokens: list[int]) -> list[Piece]:
    """A piece for each live row. Messages are numbered by live position from 1; 0 is a new summary's."""
    live = session.live
    positions, offsets, emptied = live.position.tolist(), live.block.tolist(), live.cleared.tolist()
    entries = [session.entries[i] for i in live.entries.tolist()]
    pieces = []
    for row in rows:
        entry, offset = entries[positions[row]], offsets[row]
        block = clear_output(entry.blocks[offset]) if emptied[row] else entry.blocks[offset]
        origin = (BlockRef(entry.id, offset),)
        pieces.append(Piece(block, entry.role, positions[row] + 1, origin, fates[row], tokens[row]))
    return pieces


def _summary_piece(session: Session, plan: Plan, place: int, checkpoint: Checkpoint | None) -> Piece:
    live, rows = session.live, np.flatnonzero(plan.fate == SUMMARISED)
    names = [session.entries[i].id for i in live.entries.tolist()]
    places = zip(live.position[rows].tolist(), live.block[rows].tolist(), strict=True)
    origin = tuple(BlockRef(names[position], block) for position, block in places)
    if checkpoint is None:
        text, tokens = plan.stand_in.text(place), plan.summary_tokens
    else:
        text = checkpoint.text
        tokens = int(plan.ledger.count_texts([text])[0])
    return Piece(Text(text=text), "user", 0, origin, "summarised", tokens, stand_in=checkpoint is None)


def append_checkpoint(plan: Plan, checkpoint: Checkpoint, entry_id: str) -> Session:
    """The session with the compaction done: a new compaction entry after its leaf, which becomes the leaf.

    Raises `EditError` when the plan cuts nowhere or the summary failed.
    """
    session, live = plan.session, plan.session.live
    if plan.place is None:
        raise EditError("compaction", entry_id, plan.why or "the plan has no cut")
    if checkpoint.error is not None:
        raise EditError("compaction", entry_id, checkpoint.error)
    kept = session.entries[live.entries[plan.place]].id if plan.place < len(live) else None
    boundary = Boundary(
        trigger="plan",
        tokens_before=plan.measured.tokens,
        tokens_after=plan.after,
        first_kept=kept,
        summary=checkpoint.text,
    )
    entry = Entry(
        id=entry_id,
        parent=session.leaf,
        kind="compaction",
        blocks=(Text(text=shown_summary(session.format, checkpoint.text)),),
        boundary=boundary,
        usage=checkpoint.usage,
    )
    fields = {name: getattr(session, name) for name in Session.model_fields}
    return Session.model_construct(**{**fields, "entries": (*session.entries, entry), "leaf": entry_id})
