"""Session + Plan (+ a written summary) -> Context: what the model would see next.

`live_context` is the context as it stands, `build_context` the one a plan leaves. Neither touches the
session.
"""

from __future__ import annotations

import numpy as np

from .blocks import Block, BlockRef, Text
from .context import Context, Piece
from .ledger import Ledger, clear_output
from .plan import STANDS, Plan
from .errors import EditError
from .session import Boundary, Entry, Session
from .summary import Checkpoint, shown_summary
from .table import FATES, SUMMARISED


def live_context(session: Session, ledger: Ledger) -> Context:
    """The context as it stands at the leaf: every live block verbatim, emptied outputs as emptied."""
    live = session.live
    tokens = ledger.live_tokens(session)
    pieces = []
    for row in range(len(tokens)):
        entry = session.entries[live.entries[live.position[row]]]
        block = entry.blocks[live.block[row]]
        if live.cleared[row]:
            block = clear_output(block)
        pieces.append(_piece(entry, block, int(live.position[row]), int(live.block[row]), "verbatim", int(tokens[row])))
    return Context(
        session.system, session.tools, session.provided, tuple(pieces), ledger.head_tokens, session.model
    )


def build_context(session: Session, plan: Plan, checkpoint: Checkpoint | None = None) -> Context:
    """The context a plan leaves: what stands, and the summary in front of it.

    Without a `checkpoint` (a summary that somebody wrote) a deterministic stand-in takes its place and is
    marked; its tokens are those the plan states. A checkpoint is counted by the plan's own counter.
    """
    live, outcome = session.live, plan.outcome
    pieces: list[Piece] = []
    if plan.summarises and plan.place is not None:
        pieces.append(_summary_piece(session, plan, checkpoint))
    for row in np.flatnonzero(STANDS[outcome.fate]):
        entry = session.entries[live.entries[live.position[row]]]
        block = entry.blocks[live.block[row]]
        if live.cleared[row]:
            block = clear_output(block)
        position, offset = int(live.position[row]) + 1, int(live.block[row])
        fate, tokens = FATES[outcome.fate[row]], int(outcome.tokens[row])
        pieces.append(_piece(entry, block, position, offset, fate, tokens))
    return Context(
        session.system, session.tools, session.provided, tuple(pieces), plan.ledger.head_tokens, session.model
    )


def _piece(entry: Entry, block: Block, message: int, offset: int, fate: str, tokens: int) -> Piece:
    return Piece(block, entry.role, message, (BlockRef(entry.id, offset),), fate, tokens)


def _summary_piece(session: Session, plan: Plan, checkpoint: Checkpoint | None) -> Piece:
    live = session.live
    origin = tuple(
        BlockRef(session.entries[live.entries[live.position[row]]].id, int(live.block[row]))
        for row in np.flatnonzero(plan.fate == SUMMARISED)
    )
    if checkpoint is None:
        assert plan.place is not None
        text, tokens = plan.stand_in.text(plan.place), plan.summary_tokens
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
