"""The next request as text to read: what stands in it, piece by piece, each with where it came from.

In go a model and a place of the cut, out come rows whose tokens add up to the plan's total (`plan.after`)
with what is counted once for every request and what is not in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from msgspec import field

from ...planning.assemble import build_context
from ...planning.context import Context, Piece
from ...planning.plan import Plan
from ...planning.planner import make_plan
from ...policies.policy import Policy
from ...redaction.cut import cut_text
from ...session.queries import describe_words, pair_calls
from ...session.session import Session
from ...text import plural
from ...tokens.outside import PARTS, PartName
from ..model import WorkbenchModel
from .base_payload import Payload
from .fact_list import plan_at
from .recorded import find_recorded
from .sentence import find_refusal

MOST_PIECES = 60
"""Pieces that are sent at a time."""
MOST_TEXT = 4_000
"""Characters of a piece that are sent; the rest is counted, and sent where `most` asks for more."""
MOST_WHOLE = 200_000
"""Characters of a piece that are sent however many are asked for."""
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
UNTOUCHED = Policy(name="untouched", title="Nothing is changed")
SEALED = "Nobody can read the recorded summary: this is the plan's request, with a placeholder in its place."


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
    """Pieces `from` on of so many, and the outline of all, which adds up to `after`.

    `refused` is why a provider would refuse the whole, "" where it would not.
    """

    place: int
    first: int = field(name="from")
    pieces: list[ContextPiece]
    count: int
    outline: list[ContextPart]
    after: int
    sentence: str
    refused: str


def describe_context(model: WorkbenchModel, query: Mapping[str, Any]) -> ContextReply:
    """The request that is left with the cut at `place`, its pieces from `from` to `to`.

    `most` are the characters that a piece has at the most, 4,000 unless more are asked for.

    >>> from inspector import open_demo
    >>> model = WorkbenchModel(open_demo())
    >>> _ = model.answer({})
    >>> reply = describe_context(model, {"place": model.shown.place})
    >>> sum(part.tokens for part in reply.outline) == reply.after == model.shown.after
    True
    >>> [(piece.who, piece.turn, piece.stands) for piece in reply.pieces[:2]]
    [('summary', 0, 'summary'), ('reasoning', 11, 'kept')]
    """
    return describe_request(model, find_plan(model, int(query["place"])), query)


def describe_request(model: WorkbenchModel, plan: Plan, query: Mapping[str, Any]) -> ContextReply:
    """The request that a plan leaves, as `describe_context` tells it of the plan that is looked at."""
    first = max(int(query.get("from", 0)), 0)
    last = min(int(query.get("to", first + MOST_PIECES)), first + MOST_PIECES)
    most = min(int(query.get("most", MOST_TEXT)), MOST_WHOLE)
    request = _put_together(model, plan)
    pieces = request.context.pieces
    return ContextReply(
        place=int(query["place"]),
        first=first,
        pieces=[_describe(request, piece, most) for piece in pieces[first:last]],
        count=len(pieces),
        outline=request.outline,
        after=sum(part.tokens for part in request.outline),
        sentence=_limit(model) if pieces else "Nothing of this session stands in the next request.",
        # What a file records has been sent.
        refused=find_refusal(plan) if model.inputs["look"] == "plan" else "",
    )


def _limit(model: WorkbenchModel) -> str:
    """What keeps the pieces from being those that are looked at, "" where nothing does."""
    recorded = model.looked_at
    return SEALED if recorded is not None and recorded.sealed else ""


class _Request(NamedTuple):
    """The next request with all that tells where its pieces come from.

    `turns` has the turn of every entry, from 1; `names` the tool of every output and `rows` the row of every
    block, by their refs. `cleared` are the outputs that a recorded compaction emptied.
    """

    plan: Plan
    context: Context
    turns: Mapping[str, int]
    names: Mapping[str, str]
    rows: Mapping[str, int]
    cleared: frozenset[str]
    outline: list[ContextPart]


def _put_together(model: WorkbenchModel, plan: Plan) -> _Request:
    """The request of a plan; who scrolls asks for the same one again and again."""
    known = model.cache.get("request")
    if isinstance(known, _Request) and known.plan is plan:
        return known
    session = plan.session
    context, turns = build_context(session, plan), session.turn_of
    names = _name_tools(session) if context.pieces else {}
    cleared = _find_cleared(session) - _find_cleared(model.plan.session)
    parts: Mapping[PartName, int] = plan.parts_after
    if model.looked_at is not None and plan in model.cache.get("left as recorded", {}).values():
        left = model.looked_at.drawn.payload.after.sections
        parts = dict(zip(PARTS, left[-len(PARTS) :], strict=True))
    outline = _outline(context, turns, parts)
    request = _Request(plan, context, turns, names, _find_rows(model.plan), cleared, outline)
    model.cache["request"] = request
    return request


def find_plan(model: WorkbenchModel, place: int) -> Plan:
    """The plan whose request is read: the one that is looked at, with its cut at a place.

    Of a compaction that the file records and no plan tells it is one that changes nothing of what that left.
    """
    shown, recorded = model.shown, model.looked_at
    if recorded is not None and recorded.plan is None and not recorded.sealed:
        return _keep_left(model)
    return shown if place == (shown.place or 0) else plan_at(model, place)


def _keep_left(model: WorkbenchModel) -> Plan:
    """What stands right after the recorded compaction, as a plan that changes nothing of it."""
    plans: dict[str, Plan] = model.cache.setdefault("left as recorded", {})
    at = model.plan.session.leaf or ""
    if at not in plans:
        left = find_recorded(model.plan, model.history).left_by
        plans[at] = make_plan(left, model.ledger, UNTOUCHED, window=model.window)
    return plans[at]


def _name_tools(session: Session) -> dict[str, str]:
    """The tool of every output, by its block."""
    return {
        str(output): getattr(session.block(call), "name", "") for call, output in pair_calls(session).items()
    }


def _find_rows(plan: Plan) -> dict[str, int]:
    return {str(ref): row for row, ref in enumerate(plan.session.live_refs())}


def _find_cleared(session: Session) -> frozenset[str]:
    """The outputs that were emptied in place before."""
    return frozenset(map(str, session.live_refs(np.flatnonzero(session.live.cleared))))


def _turn_of(piece: Piece, turns: Mapping[str, int]) -> int:
    """The turn a piece was said in; 0 for a summary."""
    return 0 if piece.summary or not piece.origin else turns.get(piece.origin[0].entry, 0)


def _describe(request: _Request, piece: Piece, most: int) -> ContextPiece:
    ref = str(piece.origin[0]) if piece.origin and not piece.summary else ""
    text = piece.block.text
    note = plural(len(piece.origin), "block") if piece.summary else ""
    fate = "cleared" if ref in request.cleared else piece.fate
    return ContextPiece(
        who=_describe_speaker(request.plan, piece, request.names.get(ref, "")),
        turn=_turn_of(piece, request.turns),
        stands="summary" if piece.summary else KEPT.get(fate, fate),
        tokens=piece.tokens,
        text=cut_text(text, most),
        total=len(text),
        ref=ref,
        row=request.rows.get(ref, -1),
        note=f"{note}. {PLACEHOLDER}" if piece.stand_in else note,
    )


def _describe_speaker(plan: Plan, piece: Piece, tool: str) -> str:
    """Whose words a piece is, as a margin has room for it."""
    if piece.summary:
        return "summary"
    kind = piece.block.kind
    if kind == "text":
        entry = plan.session[piece.origin[0].entry] if piece.origin else None
        words = describe_words(entry, piece.block) if entry is not None else piece.role
        return cut_text(words.removesuffix(" text").replace(" text, ", ", "), 40)
    name = cut_text(getattr(piece.block, "name", None) or tool, 40)
    what = {"tool_call": "call", "tool_output": "output"}.get(kind, kind.replace("_", " "))
    return f"{what} · {name}" if name else what


def _outline(
    context: Context, turns: Mapping[str, int], outside: Mapping[PartName, int]
) -> list[ContextPart]:
    """What the request is made of, in order: its pieces, then `outside`, the parts not in the file."""
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
        for name, tokens in outside.items()
        if tokens
    ]
    return parts
