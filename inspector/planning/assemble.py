"""Session + Plan (+ a written summary) -> Context: the next input of the model.

`live_context` is the present context, `build_context` the context after a plan, and `append_checkpoint`
builds the session that continues from there. None of them changes the given session.
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
from .fates import REMAINS, SideFates
from .notice import PlacedNotice
from .plan import Plan
from .summary_jobs import Checkpoint


def live_context(session: Session, ledger: Ledger) -> Context:
    """The present context at the leaf: every live block verbatim, emptied outputs as emptied.

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
    """Build the context after a plan: the summary, if any, and the blocks that remain.

    Without a `checkpoint` (a written summary; by default the plan's own) it contains a deterministic
    placeholder, marked as such, with the tokens that the plan states. A checkpoint is shown in the session's
    format and counted by the plan's own counter. Raises `EditError` for a checkpoint that holds an error
    instead of a summary, and `OtherSession` for a plan of another session, or of another point in time.

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
    """Return the context of `build_context` in two parts: the live rows whose message is unchanged, bool[m],
    and pieces for all else, in order.

    Usually nearly all rows are unchanged, and building a piece for each would be slow.
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
    unchanged: Bools = REMAINS[side.fate] & sent
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
    own = plan.session
    if session is own:
        return
    if session.leaf != own.leaf:
        moments = f"at {own.leaf}, and this is {session.leaf}"
        raise OtherSession("", f"the plan was made for another point in time, {moments}: use plan.session")
    if session.entries is not own.entries and session.entries != own.entries:
        raise OtherSession("", "the plan was made for another session: use plan.session")


def _remaining(session: Session, side: SideFates, only: Bools | None = None) -> list[Piece]:
    """A piece for each remaining block; blocks that were not rewritten only if `only` is true for them."""
    remains = side.standing
    if only is not None:
        rewritten = np.zeros(len(remains), bool)
        rewritten[list(side.blocks)] = True
        remains &= only | rewritten
    rows = np.flatnonzero(remains).tolist()
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
    mask = notice.entries[live.position] & (live.position < place)
    origin = tuple(session.live_refs(np.flatnonzero(mask)))
    text = Text(text=notice.text(place))
    message = Piece(text, notice.role, number, origin, "dropped", int(notice.cost[place]))
    after = place
    if notice.notice.behind:
        after = len(live)
        while after > place and live.opens[after - 1]:
            after -= 1
    index = next((i for i, piece in enumerate(pieces) if piece.message > after), len(pieces))
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
        is_openai=session.extra.get("api") == "openai",
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
    """The summary: one message, or one for each older turn if the policy says so."""
    rows = np.flatnonzero(plan.fate == SUMMARISED)
    positions, refs = session.live.position[rows].tolist(), session.live_refs(rows)
    pieces: list[Piece] = []
    if checkpoint is not None:
        parts = plan.divide(checkpoint)
        for number, (text, first, end) in enumerate(parts):
            text = shown_summary(session.format, text)
            covered = tuple(refs[bisect_left(positions, first) : bisect_left(positions, end)])
            message = 0 if len(parts) == 1 else number - len(parts)
            tokens = int(plan.ledger.count_texts([text])[0])
            pieces.append(
                Piece(Text(text=text), "user", message, covered, "summarised", tokens, summary=True)
            )
        return [replace(pieces[0], sealed=checkpoint.sealed), *pieces[1:]]
    tokens_left = plan.summary_tokens
    texts = plan.stand_in.texts(place)
    for number, (text, first, end) in enumerate(texts):
        # Lines are counted one by one, so the parts add up to the price of the whole.
        last = number == len(texts) - 1
        tokens = tokens_left if last else sum(plan.ledger.count_lines(text.split("\n")).tolist())
        tokens_left -= tokens
        covered = tuple(refs[bisect_left(positions, first) : bisect_left(positions, end)])
        message = 0 if len(texts) == 1 else number - len(texts)
        block = Text(text=text)
        pieces.append(
            Piece(block, "user", message, covered, "summarised", tokens, stand_in=True, summary=True)
        )
    return pieces
