"""The next request as text to read: what stands in it, piece by piece, each with where it came from.

In go a model and a place of the cut, out come rows whose tokens add up to the plan's total (`plan.after`)
with what is counted once for every request and what is not in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import field

from ...planning.assemble import build_context
from ...planning.context import Context, Piece
from ...planning.plan import Plan
from ...session.queries import describe_words, pair_calls
from ...session.session import Session
from ...text import plural, printable
from ..model import WorkbenchModel
from .base_payload import Payload
from .fact_list import plan_at

MOST_PIECES = 60
"""Pieces that are sent at a time."""
MOST_TEXT = 4_000
"""Characters of a piece that are sent; the rest is counted."""
KEPT = {
    "verbatim": "kept",
    "truncated": "shortened",
    "pointer": "pointer",
    "summarised": "summary",
    "cleared": "cleared",
}
"""How a piece stands there, as the screen says it."""
OUTSIDE = {
    "fixed": "system prompt and tools",
    "withheld": "withheld reasoning",
    "earlier": "history before the file",
    "attached": "attached again",
}
"""Parts of a request that are not in the file."""
PLACEHOLDER = "A model writes another one each time."


class ContextPiece(Payload, frozen=True):
    """A piece: who says it, in which turn (from 1, 0 for none), how it stands, its tokens and its text.

    `text` is its beginning, of `total` characters; `ref` and `row` lead to its block ("" and -1 for none).
    """

    who: str
    turn: int
    stands: str
    tokens: int
    text: str
    total: int
    ref: str
    row: int
    note: str


class ContextPart(Payload, frozen=True):
    """A line of the outline: tokens of a turn, of the summary, or of what is not in the file.

    `first` is the number of its first piece, -1 where it has none.
    """

    label: str
    tokens: int
    first: int


class ContextReply(Payload, frozen=True):
    """Pieces `from` on of so many, and the outline of all, which adds up to `after`."""

    place: int
    first: int = field(name="from")
    pieces: list[ContextPiece]
    count: int
    outline: list[ContextPart]
    after: int
    sentence: str


def describe_context(model: WorkbenchModel, query: Mapping[str, Any]) -> ContextReply:
    """The request that is left with the cut at `place`, its pieces from `from` to `to`.

    >>> from inspector import open_demo
    >>> model = WorkbenchModel(open_demo())
    >>> _ = model.answer({})
    >>> reply = describe_context(model, {"place": model.shown.place})
    >>> sum(part.tokens for part in reply.outline) == reply.after == model.shown.after
    True
    >>> [(piece.who, piece.turn, piece.stands) for piece in reply.pieces[:2]]
    [('summary', 0, 'summary'), ('reasoning', 11, 'kept')]
    """
    plan = find_plan(model, int(query["place"]))
    first = max(int(query.get("from", 0)), 0)
    last = min(int(query.get("to", first + MOST_PIECES)), first + MOST_PIECES)
    context = build_context(plan.session, plan)
    turns = _find_turns(plan.session)
    pieces = context.pieces
    names = _name_tools(plan.session) if pieces else {}
    rows = _find_rows(plan)
    return ContextReply(
        place=int(query["place"]),
        first=first,
        pieces=[_describe(plan, piece, turns, names, rows) for piece in pieces[first:last]],
        count=len(pieces),
        outline=_outline(plan, context, turns),
        after=plan.after,
        sentence="" if pieces else "Nothing of this session stands in the next request.",
    )


def find_plan(model: WorkbenchModel, place: int) -> Plan:
    """The plan that is looked at, with its cut at a place."""
    shown = model.shown
    return shown if place == (shown.place or 0) else plan_at(model, place)


def _find_turns(session: Session) -> dict[str, int]:
    """The turn of every entry on the path, from 1."""
    path = session.path
    return {
        session.entries[path[at]].id: turn.number + 1
        for turn in session.turns
        for at in range(turn.first, turn.last + 1)
    }


def _name_tools(session: Session) -> dict[str, str]:
    """The tool of every output, by its block."""
    return {
        str(output): getattr(session.block(call), "name", "") for call, output in pair_calls(session).items()
    }


def _find_rows(plan: Plan) -> dict[str, int]:
    return {str(ref): row for row, ref in enumerate(plan.session.live_refs())}


def _turn_of(piece: Piece, turns: Mapping[str, int]) -> int:
    """The turn a piece was said in; 0 for a summary."""
    return 0 if piece.summary or not piece.origin else turns.get(piece.origin[0].entry, 0)


def _describe(
    plan: Plan, piece: Piece, turns: Mapping[str, int], names: Mapping[str, str], rows: Mapping[str, int]
) -> ContextPiece:
    ref = str(piece.origin[0]) if piece.origin and not piece.summary else ""
    text = piece.block.text
    note = plural(len(piece.origin), "block") if piece.summary else ""
    return ContextPiece(
        who=_describe_speaker(plan, piece, names.get(ref, "")),
        turn=_turn_of(piece, turns),
        stands="summary" if piece.summary else KEPT.get(piece.fate, piece.fate),
        tokens=piece.tokens,
        text=printable(text, MOST_TEXT),
        total=len(text),
        ref=ref,
        row=rows.get(ref, -1),
        note=f"{note}. {PLACEHOLDER}" if piece.stand_in else note,
    )


def _describe_speaker(plan: Plan, piece: Piece, tool: str) -> str:
    """Whose words a piece is, as a margin has room for it."""
    if piece.summary:
        return "summary"
    kind = piece.block.kind
    if kind == "text":
        entry = plan.session[piece.origin[0].entry] if piece.origin else None
        words = describe_words(entry) if entry is not None else piece.role
        return printable(words.removesuffix(" text").replace(" text, ", ", "), 40)
    name = printable(getattr(piece.block, "name", None) or tool, 40)
    what = {"tool_call": "call", "tool_output": "output"}.get(kind, kind.replace("_", " "))
    return f"{what} · {name}" if name else what


def _outline(plan: Plan, context: Context, turns: Mapping[str, int]) -> list[ContextPart]:
    """What the request is made of, in order; its tokens add up to the plan's total."""
    parts: list[ContextPart] = []
    if context.head_tokens:
        parts.append(ContextPart("system, tools and provided, as counted", context.head_tokens, -1))
    for number, piece in enumerate(context.pieces):
        turn = _turn_of(piece, turns)
        label = "summary" if piece.summary else f"turn {turn}" if turn else "before the first turn"
        if parts and parts[-1].label == label:
            last = parts.pop()
            parts.append(ContextPart(label, last.tokens + piece.tokens, last.first))
        else:
            parts.append(ContextPart(label, piece.tokens, number))
    parts += [
        ContextPart(f"not in the file: {OUTSIDE[name]}", tokens, -1)
        for name, tokens in plan.parts_after.items()
        if tokens
    ]
    return parts
