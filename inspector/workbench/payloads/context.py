"""Two requests side by side: the context before and after, recorded and planned, or of two plans.

The rows of both sides add up to their totals: blocks, what is sent with every request, and what is not in
the file. Runs of rows that did not change are folded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from ...planning.context import Piece
from ...planning.diff.pieces import find_pieces
from ...redaction.cut import cut_text
from ...session.queries import describe_words
from ...text import plural
from ..model import WorkbenchModel
from .base_payload import Payload
from .compared_requests import (
    Cell,
    ComparedRequest,
    ComparedRequests,
    ContextSide,
    Pair,
    RequestPart,
    RowKind,
    compare_requests,
    find_plan,
    list_pairs,
    read_pair,
)
from .sentence import find_refusal

MOST_ROWS = 60
"""Rows that one reply holds."""
MOST_TEXT = 4_000
"""Characters of a block that are sent unless the query asks for more."""
MOST_WHOLE = 200_000
"""Characters of a block that are sent at most."""
ALIKE = 0.2
"""Share of the shorter text from which on the words of two texts are compared."""
MOST_SINGLE = 8
"""Rows of one kind in a run that are shown one by one; a longer run is folded."""
STATES = {
    "verbatim": "kept",
    "truncated": "shortened",
    "pointer": "pointer",
    "summarised": "summary",
    "cleared": "cleared",
}
"""The label of a retention on screen."""
PLACEHOLDER = "A model writes another one each time."
UNREAD = "The recorded summary is {why}: this is the plan's request, with a placeholder in its place."

WordKind = Literal["same", "gone", "new"]


class ContextBlock(Payload, frozen=True):
    """A block, summary or part of one of the two requests.

    Attributes:
        who: Who says it, or which tool.
        turn: Its turn, from 1; 0 if it has none.
        state: How it got there: "kept", "shortened", "summary", "not in the file".
        tokens: Its tokens.
        text: The beginning of its text, of `total` characters.
        ref: The block's address; "" if it is not a block of the file.
        row: The block's row in the scene; -1 if it is not on the screen.
        note: A note about a summary.
    """

    who: str
    turn: int
    state: str
    tokens: int
    text: str
    total: int
    ref: str
    row: int
    note: str


class ContextRow(Payload, frozen=True):
    """A row of the comparison.

    Attributes:
        index: The row's position in the comparison.
        kind: "moved" if the block is on both sides, at two places.
        left: The block on the left, or None.
        right: The block on the right, or None; always None if the row is the "same".
        words: The text of a changed row in pieces that are the same, gone or new.
    """

    index: int
    kind: RowKind
    left: ContextBlock | None
    right: ContextBlock | None
    words: list[tuple[WordKind, str]]


class ContextRun(Payload, frozen=True):
    """Adjacent rows of one kind, from `first` up to `end`.

    Attributes:
        label: The text of a folded run, such as "37 blocks unchanged, turns 24–25".
        left: Tokens on the left.
        right: Tokens on the right.
        folded: Whether the run is folded at first.
        change: The number of the change, from 1; 0 if nothing changed.
    """

    kind: RowKind
    first: int
    end: int
    label: str
    left: int
    right: int
    folded: bool
    change: int


class ContextReply(Payload, frozen=True, kw_only=True):
    """Two requests, row by row.

    Attributes:
        pair: The compared pair.
        pairs: The pairs that can be compared here.
        count: The number of rows.
        changes: The number of changes.
        runs: All rows, by run.
        rows: The rows that were asked for, in order; without a range, those that are not folded.
        chosen: The row of the block at `row` of the query; -1 if it is in neither request.
        sentence: A note about both sides, or "".
        refused: The reason for which a provider would refuse the request on the right, or "".
    """

    place: int
    pair: Pair
    pairs: list[Pair]
    left: ContextSide
    right: ContextSide
    count: int
    changes: int
    runs: list[ContextRun]
    rows: list[ContextRow]
    chosen: int
    sentence: str
    refused: str


def describe_context(model: WorkbenchModel, query: Mapping[str, Any]) -> ContextReply:
    """Compare two requests with the cut at `place`.

    Args:
        model: The workbench.
        query: `place`, and optionally `pair`; `from` and `to`, a range of rows; `row`, a block to find;
            `most`, the characters of a block to send.

    Raises:
        InspectorError: If the pair cannot be compared here.

    >>> from inspector import open_demo
    >>> model = WorkbenchModel(open_demo())
    >>> _ = model.answer({})
    >>> reply = describe_context(model, {"place": model.shown.place})
    >>> reply.right.tokens == model.shown.after == sum(run.right for run in reply.runs)
    True
    >>> reply.left.tokens == model.shown.before == sum(run.left for run in reply.runs)
    True
    """
    place = int(query["place"])
    pair = read_pair(model, query)
    comparison = compare_requests(model, pair, place)
    runs = _find_runs(comparison)
    if "from" in query:
        first = max(int(query["from"]), 0)
        last = min(int(query.get("to", first + MOST_ROWS)), first + MOST_ROWS, len(comparison.rows))
        indexes: Iterable[int] = range(first, last)
    else:
        shown = (range(run.first, run.end) for run in runs if not run.folded)
        indexes = [index for run in shown for index in run][:MOST_ROWS]
    most = min(int(query.get("most", MOST_TEXT)), MOST_WHOLE)
    unread = "" if model.looked_at is None else model.looked_at.unread
    return ContextReply(
        place=place,
        pair=pair,
        pairs=list_pairs(model),
        left=comparison.left.side,
        right=comparison.right.side,
        count=len(comparison.rows),
        changes=max((run.change for run in runs), default=0),
        runs=runs,
        rows=[_describe_row(comparison, index, most) for index in indexes],
        chosen=_find_row(comparison, int(query.get("row", -1))),
        sentence=UNREAD.format(why=unread) if unread and pair == "before" else "",
        # A recorded request was already sent.
        refused=find_refusal(find_plan(model, place)) if model.inputs["look"] == "plan" else "",
    )


def _find_row(comparison: ComparedRequests, number: int) -> int:
    """Return the first row with a block of the scene, -1 if no row has one."""
    if number < 0:
        return -1
    for index, (_, *cells) in enumerate(comparison.rows):
        for cell in cells:
            if isinstance(cell, Piece) and not cell.summary and cell.origin:
                if comparison.numbers.get(str(cell.origin[0])) == number:
                    return index
    return -1


def _find_runs(comparison: ComparedRequests) -> list[ContextRun]:
    """Group the rows: adjacent rows of one kind, changed rows one by one if they are few."""
    runs: list[ContextRun] = []
    changes: dict[Any, int] = {}
    number = 0
    for (kind, _), group in groupby(enumerate(comparison.rows), key=lambda row: _group_of(row[1])):
        indexes = [index for index, _ in group]
        single = kind in ("changed", "moved", "added") and len(indexes) <= MOST_SINGLE
        for members in [[index] for index in indexes] if single else [indexes]:
            change = 0
            if kind != "same":
                cell = comparison.rows[members[0]][1] or comparison.rows[members[0]][2]
                origin = cell.origin if kind == "moved" and isinstance(cell, Piece) else (members[0],)
                if origin not in changes:
                    number += 1
                    changes[origin] = number
                change = changes[origin]
            runs.append(_make_run(comparison, kind, members, change))
    return runs


def _group_of(row: tuple[RowKind, Cell | None, Cell | None]) -> tuple[RowKind, bool]:
    """Rows with equal groups may be folded together: parts and blocks are not."""
    return row[0], isinstance(row[1] or row[2], RequestPart)


def _make_run(comparison: ComparedRequests, kind: RowKind, indexes: Sequence[int], change: int) -> ContextRun:
    rows = [comparison.rows[index] for index in indexes]
    folded = len(rows) > 1 if kind in ("same", "removed") else len(rows) > MOST_SINGLE
    if kind == "same" and len(rows) == 1:
        folded = isinstance(rows[0][1], Piece)
    return ContextRun(
        kind,
        indexes[0],
        indexes[-1] + 1,
        _label_run(comparison, kind, rows),
        sum(left.tokens for _, left, _ in rows if left is not None),
        sum(right.tokens for _, _, right in rows if right is not None),
        folded,
        change,
    )


def _label_run(
    comparison: ComparedRequests, kind: RowKind, rows: Sequence[tuple[RowKind, Cell | None, Cell | None]]
) -> str:
    """Return the words for a folded run, such as "37 blocks unchanged, turns 24–25"."""
    pieces = [right if isinstance(right, Piece) else left for _, left, right in rows]
    blocks = [piece for piece in pieces if isinstance(piece, Piece)]
    if not blocks:
        return ", ".join(
            dict.fromkeys(cell.label for row in rows for cell in row[1:] if isinstance(cell, RequestPart))
        )
    states = Counter(_name_change(comparison, kind, piece) for piece in blocks)
    (first, count), *others = states.most_common()
    words = [f"{plural(count, 'block')} {first}", *(f"{count:,} {state}" for state, count in others)]
    turns = [turn for piece in blocks if (turn := _turn_of(piece, comparison.turns))]
    if turns:
        low, high = min(turns), max(turns)
        words.append(f"turn {low}" if low == high else f"turns {low}–{high}")
    return ", ".join(words)


def _name_change(comparison: ComparedRequests, kind: RowKind, piece: Piece) -> str:
    """Return what happened to a block, in a word or a few."""
    if kind == "same":
        return "unchanged"
    if kind == "changed":
        return _name_state(comparison.right, piece)
    if kind == "removed" and comparison.right.retention and not comparison.left.retention:
        ref = str(piece.origin[0]) if piece.origin else ""
        return comparison.right.retention.get(ref, "removed")
    return {"removed": "only on the left", "added": "only on the right"}.get(kind, kind)


def _describe_row(comparison: ComparedRequests, index: int, most: int) -> ContextRow:
    kind, left, right = comparison.rows[index]
    words: Sequence[tuple[WordKind, str]] = ()
    if kind == "changed" and isinstance(left, Piece) and isinstance(right, Piece):
        words = find_pieces(cut_text(left.block.text, most), cut_text(right.block.text, most)) or ()
        same = sum(len(text) for of, text in words if of == "same")
        # Two texts that hardly share a word are read one after the other, not word by word.
        if same < ALIKE * min(len(left.block.text), len(right.block.text), most):
            words = ()
    return ContextRow(
        index,
        kind,
        None if left is None else _describe_cell(comparison, comparison.left, left, most),
        None
        if right is None or kind == "same"
        else _describe_cell(comparison, comparison.right, right, most),
        list(words),
    )


def _name_state(request: ComparedRequest, piece: Piece) -> str:
    """Return how a block got into a request, as the screen says it."""
    if piece.summary:
        return "summary"
    ref = str(piece.origin[0]) if piece.origin else ""
    # Outputs emptied by a recorded clearing are already empty in the current context.
    return (
        STATES["cleared"] if request.retention.get(ref) == "cleared" else STATES.get(piece.fate, piece.fate)
    )


def _describe_cell(
    comparison: ComparedRequests, request: ComparedRequest, cell: Cell, most: int
) -> ContextBlock:
    if isinstance(cell, RequestPart):
        return ContextBlock(cell.label, 0, "", cell.tokens, "", 0, "", -1, "")
    ref = str(cell.origin[0]) if cell.origin and not cell.summary else ""
    text = cell.block.text
    note = plural(len(cell.origin), "block") if cell.summary and cell.origin else ""
    return ContextBlock(
        who=_describe_speaker(comparison, cell, comparison.tools.get(ref, "")),
        turn=_turn_of(cell, comparison.turns),
        state=_name_state(request, cell),
        tokens=cell.tokens,
        text=cut_text(text, most),
        total=len(text),
        ref=ref,
        row=comparison.numbers.get(ref, -1),
        note=f"{note}. {PLACEHOLDER}" if cell.stand_in else note,
    )


def _describe_speaker(comparison: ComparedRequests, piece: Piece, tool: str) -> str:
    """Return who says a block, short enough for a margin."""
    if piece.summary:
        return "summary"
    kind = piece.block.kind
    if kind == "text":
        entry = comparison.session[piece.origin[0].entry] if piece.origin else None
        words = describe_words(entry, piece.block) if entry is not None else piece.role
        return cut_text(words.removesuffix(" text").replace(" text, ", ", "), 40)
    name = cut_text(getattr(piece.block, "name", None) or tool, 40)
    what = {"tool_call": "call", "tool_output": "output"}.get(kind, kind.replace("_", " "))
    return f"{what} · {name}" if name else what


def _turn_of(piece: Piece, turns: Mapping[str, int]) -> int:
    """Return the turn of a block; 0 for a summary."""
    return 0 if piece.summary or not piece.origin else turns.get(piece.origin[0].entry, 0)
