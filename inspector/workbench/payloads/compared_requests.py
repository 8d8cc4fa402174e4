"""The two requests that the tab Context compares, with their aligned rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from msgspec import UNSET

from ...facts.outcomes import CODE, MISSING
from ...facts.trace import find_moment, find_whole, trace_facts, trace_moves
from ...planning.assemble import build_context, live_context
from ...planning.context import Context, Piece
from ...planning.diff.contexts import Insert, Remove, diff_contexts
from ...planning.plan import Plan
from ...planning.planner import make_plan
from ...policies.policy import Policy
from ...policies.table import FATES
from ...redaction.cut import cut_text
from ...session.queries import find_move, find_next_compaction, pair_calls
from ...session.session import Session
from ...tokens.not_in_file import PARTS, PartName
from ...tokens.recorded_sizes import find_recorded_sizes
from ..model import RecordedSide, WorkbenchModel
from .base_payload import Payload
from .fact_list import plan_at
from .recorded import find_recorded

NOT_IN_FILE = {
    "system_and_tools": "system prompt and tools",
    "hidden_reasoning": "hidden reasoning",
    "before_file": "history before the file",
    "reattached": "files attached again",
}
"""Parts of a request that are not in the file."""
UNTOUCHED = Policy(name="untouched", title="Nothing is changed")

Pair = Literal["before", "recorded", "other"]
"""What is compared: before and after, recorded and plan, or plan and plan B."""
Side = Plan | RecordedSide | None
RowKind = Literal["same", "changed", "removed", "added", "moved"]


class ContextSide(Payload, frozen=True):
    """The head of a side: its title, its tokens, and the source of that number ("" if it is counted)."""

    title: str
    tokens: int
    source: str


class RequestPart(NamedTuple):
    """Tokens of a request that belong to no block, such as its system prompt."""

    label: str
    tokens: int


Cell = Piece | RequestPart


class ComparedRequest(NamedTuple):
    """One of the two requests.

    Attributes:
        side: Its head.
        context: Its blocks.
        parts: Tokens of its parts that are not in the file.
        retention: The retention of each block of the session, by its address; empty before a compaction.
    """

    side: ContextSide
    context: Context
    parts: Mapping[PartName, int]
    retention: Mapping[str, str]


class ComparedRequests(NamedTuple):
    """Two requests and their aligned rows.

    Attributes:
        rows: The kind and the two sides of each row.
        turns: The turn of each entry, from 1.
        tools: The tool of each output, by its address.
        numbers: The row in the scene of each block, by its address.
    """

    left: ComparedRequest
    right: ComparedRequest
    rows: tuple[tuple[RowKind, Cell | None, Cell | None], ...]
    turns: Mapping[str, int]
    tools: Mapping[str, str]
    numbers: Mapping[str, int]
    session: Session


def list_pairs(model: WorkbenchModel) -> list[Pair]:
    """Return what can be compared with the inputs as they are."""
    recorded = model.recorded is not None and not model.recorded.sealed
    pairs: dict[Pair, bool] = {"before": True, "recorded": recorded, "other": model.other is not None}
    return [pair for pair in get_args(Pair) if pairs[pair]]


def find_plan(model: WorkbenchModel, place: int) -> Plan:
    """Return the plan on the screen, with its cut at a place.

    A recorded compaction that no plan describes is a plan that changes nothing after it.
    """
    shown, recorded = model.shown, model.looked_at
    if recorded is not None and recorded.plan is None and not recorded.sealed:
        return _keep_left(model)
    return shown if place == (shown.place or 0) else plan_at(model, place)


def _keep_left(model: WorkbenchModel) -> Plan:
    """Return the context right after the recorded compaction, as a plan without rules."""
    plans: dict[str, Plan] = model.cache.setdefault("left as recorded", {})
    leaf = model.plan.session.leaf or ""
    if leaf not in plans:
        session_after = find_recorded(model.plan, model.history).left_by
        plans[leaf] = make_plan(session_after, model.ledger, UNTOUCHED, window=model.window)
    return plans[leaf]


def compare_requests(model: WorkbenchModel, pair: Pair, place: int) -> ComparedRequests:
    """Align the two requests of a pair. The last comparison is kept for the pages of its rows."""
    sides = find_sides(model, pair, place)
    cached: tuple[tuple[Side, Side], ComparedRequests] | None = model.cache.get("comparison")
    if cached is not None and all(
        cached_side is other for cached_side, other in zip(cached[0], sides, strict=True)
    ):
        return cached[1]
    left = _request_before(model.plan) if sides[0] is None else _request(model, sides[0])
    right = _request(model, sides[1] or model.plan)
    session, whole = model.plan.session, find_whole(model.plan)
    comparison = ComparedRequests(
        left,
        right,
        tuple(_align(left, right)),
        dict(whole.turn_of),
        _name_tools(whole),
        {str(ref): row for row, ref in enumerate(session.live_refs())},
        whole,
    )
    model.cache["comparison"] = sides, comparison
    return comparison


def compare_facts(model: WorkbenchModel, pair: Pair, place: int) -> tuple[frozenset[int], frozenset[int]]:
    """Return the numbers of the essential facts on each side of a pair."""
    left, right = (_list_essential(model, side) for side in find_sides(model, pair, place))
    return left, right


def find_sides(model: WorkbenchModel, pair: Pair, place: int) -> tuple[Side, Side]:
    """Return what makes the two requests of a pair; None is the context before any compaction."""
    recorded = model.looked_at
    if pair == "before":
        plan = find_plan(model, place)
        return None, plan if recorded is None or recorded.sealed else recorded
    # Plan B is compared with the plan, no matter which side is shown.
    plan = model.plan if recorded is not None else find_plan(model, place)
    if pair == "recorded":
        return model.recorded, plan
    return plan, model.other if isinstance(model.other, Plan) else model.recorded


def _request(model: WorkbenchModel, side: Plan | RecordedSide) -> ComparedRequest:
    return _request_planned(side) if isinstance(side, Plan) else _request_recorded(model, side)


def _request_before(plan: Plan) -> ComparedRequest:
    """Return the request as it is before anything is compacted."""
    entry = find_next_compaction(plan.session)
    size = None if entry is None else find_recorded_sizes(plan.session, plan.ledger, entry.id).before
    return ComparedRequest(
        ContextSide("before", plan.before, "" if size is None else size.source),
        live_context(plan.session, plan.ledger),
        {name: part.tokens for name, part in plan.outside.parts.items()},
        {},
    )


def _request_planned(plan: Plan) -> ComparedRequest:
    """Return the request that a plan leaves."""
    names = [FATES[code] for code in plan.fate.tolist()]
    return ComparedRequest(
        ContextSide(
            cut_text(plan.policy.title or plan.policy.name, 60),
            plan.after,
            "predicted" if plan.is_unwritten else "",
        ),
        build_context(plan.session, plan),
        plan.parts_after,
        dict(zip(map(str, plan.session.live_refs()), names, strict=True)),
    )


def _request_recorded(model: WorkbenchModel, side: RecordedSide) -> ComparedRequest:
    """Return the request that the recorded compaction left."""
    recorded = find_recorded(model.plan, model.history)
    plan = side.plan or _keep_left(model)
    label = side.drawn.payload.label
    names = [FATES[code] for code in recorded.fate.tolist()]
    sections = side.drawn.payload.after.sections
    return ComparedRequest(
        ContextSide("recorded" if label is UNSET else label, recorded.after, recorded.size.source),
        build_context(plan.session, plan),
        dict(zip(PARTS, sections[-len(PARTS) :], strict=True)),
        dict(zip(map(str, model.plan.session.live_refs()), names, strict=True)),
    )


def _list_essential(model: WorkbenchModel, side: Side) -> frozenset[int]:
    """Return the numbers of the essential facts of which a side has something."""
    plan = side if isinstance(side, Plan) else model.plan
    whole = find_whole(plan)
    if side is None:
        readable = find_moment(whole.facts, plan).readable
        return frozenset(np.flatnonzero(readable & whole.facts.essential).tolist())
    if isinstance(side, Plan):
        trace = trace_facts(whole.facts, plan, placeholder=False)
    else:
        entry = find_recorded(model.plan, model.history).entry
        (trace,) = trace_moves(whole, whole.facts, [find_move(whole, entry)])
    present = trace.stood & whole.facts.essential[trace.number]
    present &= ~np.isin(trace.outcome, [CODE[name] for name in MISSING])
    return frozenset(trace.number[present].tolist())


def _align(
    left: ComparedRequest, right: ComparedRequest
) -> Iterator[tuple[RowKind, Cell | None, Cell | None]]:
    """Yield the rows: what is sent with every request, the blocks, and what is not in the file."""
    heads = [("system, tools and provided", left.context.head_tokens, right.context.head_tokens)]
    yield from _align_parts(heads)
    rows = diff_contexts(left.context, right.context).rows
    removed = [row.before for row in rows if isinstance(row, Remove)]
    added = [row.after for row in rows if isinstance(row, Insert)]
    moved = {piece.origin for piece in removed} & {piece.origin for piece in added}
    # Summaries of different blocks are shown as one that changed, in their order.
    old, new = ([p for p in side if p.summary and p.origin not in moved] for side in (removed, added))
    written = {id(old_piece): other for old_piece, other in zip(old, new, strict=False)}
    paired = {id(piece) for piece in written.values()}
    for row in rows:
        if isinstance(row, Insert):
            if id(row.after) not in paired:
                yield "moved" if row.after.origin in moved else "added", None, row.after
        elif isinstance(row, Remove):
            kind: RowKind = "moved" if row.before.origin in moved else "removed"
            other = written.get(id(row.before))
            yield kind if other is None else "changed", row.before, other
        else:
            yield "same" if _reads_alike(row.before, row.after) else "changed", row.before, row.after
    yield from _align_parts([(NOT_IN_FILE[name], left.parts[name], right.parts[name]) for name in PARTS])


def _reads_alike(before: Piece, after: Piece) -> bool:
    return before.tokens == after.tokens and before.block.text == after.block.text


def _align_parts(
    parts: Sequence[tuple[str, int, int]],
) -> Iterator[tuple[RowKind, Cell | None, Cell | None]]:
    for label, before, after in parts:
        left, right = (RequestPart(label, tokens) if tokens else None for tokens in (before, after))
        if left is not None or right is not None:
            kind: RowKind = "same" if before == after else "changed" if left and right else "added"
            yield "removed" if right is None else kind, left, right


def _name_tools(session: Session) -> dict[str, str]:
    """Return the tool of every output, by its address."""
    return {
        str(output): getattr(session.block(call), "name", "") for call, output in pair_calls(session).items()
    }
