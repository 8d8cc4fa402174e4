"""Session + Plan (+ a written summary) -> Context: what the model would see next.

`live_context` is the context as it stands, `build_context` the one a plan leaves, and `append_checkpoint`
makes the session that goes on from there. None of them touches the session given.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..errors import EditError, OtherSession, expect
from ..formats.sealed import read_sealed
from ..formats.summary_wording import shown_summary
from ..policies.table import FATES, SUMMARISED
from ..session.blocks import Block, BlockRef, Text
from ..session.queries import is_summary
from ..session.session import Session
from ..session.tree import MESSAGE, Bools
from ..tokens.ledger import Ledger, clear_output
from ..tokens.moment import find_moment
from .context import Context, Piece
from .fates import STANDS, SideFates
from .notice import PlacedNotice
from .plan import Plan
from .summary_jobs import Checkpoint


def live_context(session: Session, ledger: Ledger) -> Context:
    """The context as it stands at the leaf: every live block verbatim, emptied outputs as emptied.

    >>> from inspector import count_tokens, read_session
    >>> session = read_session([{"role": "user", "content": "Name a prime."},
    ...                         {"role": "assistant", "content": "Seven."}])
    >>> live_context(session, count_tokens(session))
    Context(2 pieces, 6 tokens)
    """
    expect("live_context", session=(session, Session), ledger=(ledger, Ledger))
    tokens = ledger.live_tokens(session).tolist()
    pieces = _pieces(session, list(range(len(tokens))), ["verbatim"] * len(tokens), tokens, {})
    return _context(session, pieces, ledger, find_moment(session, ledger).outside.tokens)


def build_context(session: Session, plan: Plan, checkpoint: Checkpoint | None = None) -> Context:
    """The context a plan leaves: the summary, if any, and after it what stands.

    Without a `checkpoint` (a summary that somebody wrote; by default the plan's own) a deterministic stand-in
    takes its place and is marked; its tokens are those the plan states. A checkpoint stands as the session's
    format shows it and is counted by the plan's own counter. Raises `EditError` for one that holds an error,
    not a summary, and `OtherSession` for a plan of another session, or of another moment.

    >>> from inspector import checkpoint_from_text, count_tokens, make_plan, read_session
    >>> session = read_session([{"role": "user", "content": "Name a prime."},
    ...                         {"role": "assistant", "content": "Seven."},
    ...                         {"role": "user", "content": "And another one?"}])
    >>> plan = make_plan(session, count_tokens(session), "keep-recent-turns", {"cut": "m3"})
    >>> for piece in build_context(session, plan, checkpoint_from_text("The first was seven.")).pieces:
    ...     print(piece)
    Piece(user text "The first was seven.", summarised, 5 tokens, summary)
    Piece(user text "And another one?", verbatim, 4 tokens)
    """
    expect("build_context", session=(session, Session), plan=(plan, Plan))
    expect("build_context", checkpoint=(checkpoint, Checkpoint, None))
    _check_session(session, plan)
    checkpoint = plan.checkpoint if checkpoint is None else checkpoint
    if checkpoint is not None and checkpoint.error is not None:
        raise EditError("summary by", checkpoint.by, checkpoint.error)
    pieces = _arrange(session, plan, checkpoint)
    outside = plan.outside_after
    if checkpoint != plan.checkpoint and plan.summarises:
        outside = plan.with_summary(checkpoint).outside_after
    return _context(session, pieces, plan.ledger, outside)


def find_remaining(plan: Plan) -> tuple[Bools, list[Piece]]:
    """What `build_context` puts together: the live rows whose message stands as it was sent, bool[m], and
    pieces for all else, in order.

    Mostly nearly all are such rows, and a piece for each is what takes the time.
    """
    session, checkpoint = plan.session, plan.checkpoint
    if checkpoint is not None and checkpoint.error is not None:
        raise EditError("summary by", checkpoint.by, checkpoint.error)
    live = session.live
    sent = ~live.cleared & (session.tree.sort[live.entries] == MESSAGE)[live.position]
    unchanged = _find_unchanged(plan.outcome, sent)
    if plan.place is not None and plan.notice is not None and plan.notice.echoes(plan.place):
        unchanged |= _find_unchanged(plan.notice.before, sent)
    return unchanged, _arrange(session, plan, checkpoint, ~sent)


def _find_unchanged(side: SideFates, sent: Bools) -> Bools:
    unchanged: Bools = STANDS[side.fate] & sent
    unchanged[list(side.blocks)] = False
    return unchanged


def _arrange(
    session: Session, plan: Plan, checkpoint: Checkpoint | None, only: Bools | None = None
) -> list[Piece]:
    """All pieces in order; with `only` the rows for which it is true, and those that were rewritten."""
    pieces = _remaining(session, plan.outcome, only)
    if plan.place is not None:
        if plan.notice is not None:
            pieces = _with_notice(session, plan, plan.notice, plan.place, pieces, only)
        if plan.summarises:
            place = plan.summary_at
            index = next((i for i, piece in enumerate(pieces) if piece.message > place), len(pieces))
            pieces[index:index] = _summary_pieces(session, plan, plan.place, checkpoint)
    return pieces


def _check_session(session: Session, plan: Plan) -> None:
    mine = plan.session
    if session is mine:
        return
    if session.leaf != mine.leaf:
        moments = f"at {mine.leaf}, and this is {session.leaf}"
        raise OtherSession("", f"the plan was made of another moment, {moments}: take plan.session")
    if session.entries is not mine.entries and session.entries != mine.entries:
        raise OtherSession("", "the plan was made of another session: take plan.session")


def _remaining(session: Session, side: SideFates, only: Bools | None = None) -> list[Piece]:
    """A piece for each block that stands; of those that were not rewritten only where `only` is true."""
    stands: Bools = STANDS[side.fate]
    if only is not None:
        rewritten = np.zeros(len(stands), bool)
        rewritten[list(side.blocks)] = True
        stands &= only | rewritten
    gone = {row for row, block in side.blocks.items() if block is None}
    rows = [row for row in np.flatnonzero(stands).tolist() if row not in gone]
    fates = [FATES[code] for code in side.fate[rows].tolist()]
    return _pieces(session, rows, fates, side.tokens[rows].tolist(), side.blocks)


def _with_notice(
    session: Session,
    plan: Plan,
    notice: PlacedNotice,
    place: int,
    pieces: list[Piece],
    only: Bools | None,
) -> list[Piece]:
    """The pieces with the notice at the cut, and after it what it repeats."""
    live = session.live
    number = len(live) + 1
    mask = notice.given.entries[live.position] & (live.position < place)
    origin = tuple(session.live_refs(np.flatnonzero(mask)))
    text = Text(text=notice.text(place))
    message = Piece(text, notice.role, number, origin, "dropped", int(notice.cost[place]))
    index = next((i for i, piece in enumerate(pieces) if piece.message > place), len(pieces))
    again = _remaining(session, notice.before, only) if notice.echoes(place) else []
    repeated = [replace(piece, message=piece.message + number) for piece in again]
    return [*pieces[:index], message, *repeated, *pieces[index:]]


def _context(session: Session, pieces: list[Piece], ledger: Ledger, outside: int) -> Context:
    return Context(
        session.system,
        session.tools,
        session.provided,
        tuple(pieces),
        ledger.head_tokens,
        session.model,
        outside,
    )


def _pieces(
    session: Session,
    rows: list[int],
    fates: list[str],
    tokens: list[int],
    rewritten: Mapping[int, Block | None],
) -> list[Piece]:
    """A piece for each of these live rows. Messages are numbered by live position from 1; 0 is a new
    summary's."""
    live = session.live
    positions = live.position[rows]
    columns = (positions.tolist(), live.entries[positions].tolist(), live.block[rows].tolist())
    pieces = []
    for row, emptied, fate, count, position, index, offset in zip(
        rows, live.cleared[rows].tolist(), fates, tokens, *columns, strict=True
    ):
        entry = session.entries[index]
        block = rewritten.get(row)
        if block is None:
            block = clear_output(entry.blocks[offset]) if emptied else entry.blocks[offset]
        origin = (BlockRef(entry.id, offset),)
        piece = Piece(block, entry.role, position + 1, origin, fate, count)
        if entry.kind != "message" and is_summary(entry):
            piece = replace(piece, summary=True, sealed=read_sealed(entry.boundary))
        pieces.append(piece)
    return pieces


def _summary_pieces(session: Session, plan: Plan, place: int, checkpoint: Checkpoint | None) -> list[Piece]:
    """The summary: one message, or one for each older turn where the policy says so."""
    rows = np.flatnonzero(plan.fate == SUMMARISED)
    positions, refs = session.live.position[rows].tolist(), session.live_refs(rows)
    pieces: list[Piece] = []
    if checkpoint is not None:
        parts = plan.divide(checkpoint)
        for number, (text, first, end) in enumerate(parts):
            text = shown_summary(session.format, text)
            mine = tuple(refs[bisect_left(positions, first) : bisect_left(positions, end)])
            message = 0 if len(parts) == 1 else number - len(parts)
            tokens = int(plan.ledger.count_texts([text])[0])
            pieces.append(Piece(Text(text=text), "user", message, mine, "summarised", tokens, summary=True))
        return [replace(pieces[0], sealed=checkpoint.sealed), *pieces[1:]]
    left = plan.summary_tokens
    texts = plan.stand_in.texts(place)
    for number, (text, first, end) in enumerate(texts):
        # Lines are counted one by one, so the parts add up to the price of the whole.
        last = number == len(texts) - 1
        tokens = left if last else sum(plan.ledger.count_lines(text.split("\n")).tolist())
        left -= tokens
        mine = tuple(refs[bisect_left(positions, first) : bisect_left(positions, end)])
        message = 0 if len(texts) == 1 else number - len(texts)
        said = Text(text=text)
        pieces.append(Piece(said, "user", message, mine, "summarised", tokens, stand_in=True, summary=True))
    return pieces
