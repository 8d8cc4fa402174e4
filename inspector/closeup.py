"""A plan's blocks looked at one by one: labels, bodies and the stand-in, when somebody asks for them.

In go a plan and a row of its live view, out come small JSON values with text that is safe to show.
"""

from __future__ import annotations

from typing import Any

from .blocks import Block
from .fates import BY_BOUND, BY_PAIR, BY_PIN, STANDS
from .plan import Plan
from .printable import printable, printable_tree
from .provenance import (
    AGAIN,
    DERIVED,
    UNTRUSTED,
    find_upstream,
    is_summary,
    tell_downstream,
    tell_origin,
    tell_reader,
)
from .session import Entry
from .summary import describe_call
from .table import FATES, Table

BODY_CHARS = 20_000
PREVIEW_CHARS = 160


def describe_rows(plan: Plan, first: int, last: int) -> list[dict[str, str]]:
    """A label and the beginning of the text for the live blocks `first` … `last` - 1."""
    return [_row(plan.table, row) for row in range(max(first, 0), min(last, len(plan.table.tokens)))]


def describe_body(plan: Plan, row: int) -> dict[str, Any]:
    """One live block in full (to 20,000 characters), what becomes of it, and where its numbers are from."""
    table = plan.table
    if not 0 <= row < len(table.tokens):
        raise IndexError(f"no block {row} in this context")
    entry = table.session.entries[table.live.entries[table.live.position[row]]]
    block = entry.blocks[table.live.block[row]]
    fate = FATES[plan.fate[row]]
    decided = _BY.get(int(plan.outcome.rule[row]))
    facts = [
        ["kind", block.kind.replace("_", " ")],
        ["entry", f"{entry.id}/{table.live.block[row]}"],
        ["tokens before", f"{table.tokens[row]:,}"],
        ["tokens after", f"{plan.outcome.tokens[row]:,}"],
        ["counted by", plan.ledger.source],
        ["fate", fate],
        ["decided by", decided or plan.rule_of(row)],
    ]
    if entry.sources:
        where = entry.sources[0]
        facts.append(
            [
                "in the file",
                f"record {where.line}" + (f", byte {where.offset:,}" if where.offset >= 0 else ""),
            ]
        )
    if block.kind == "reasoning":
        facts += _reasoning(plan, entry, block)
    if is_summary(entry):
        facts += _WRITTEN_UP
    if upstream := find_upstream(table.session, int(table.live.entries[table.live.position[row]])):
        facts.append(["downstream", tell_downstream(upstream.id)])
    if table.live.cleared[row]:
        facts.append(["recorded", "an earlier compaction emptied this output"])
    return {
        "before": _body(block.text),
        "after": _after(plan, row),
        "facts": printable_tree(facts),
    }


def _reasoning(plan: Plan, entry: Entry, block: Block) -> list[list[str]]:
    """Who thought it, and whether who reads the context now can use it (S0-28)."""
    facts = [["origin", tell_origin(entry)]]
    if reader := tell_reader(plan.session, entry):
        facts.append(["not portable", f"made by {tell_origin(entry)}; {reader} reads this context now"])
    if not block.text:
        facts.append(["text", "encrypted or withheld by the provider"])
    return facts


_WRITTEN_UP = [["trust", UNTRUSTED], ["derived from", DERIVED]]
_BY = {
    BY_PIN: "a pin",
    BY_PAIR: "the other half of its call",
    BY_BOUND: "the model: it refuses reasoning whose prefix was edited",
}


def _body(text: str) -> dict[str, Any]:
    return {"text": printable(text, BODY_CHARS), "total": len(text)}


def _after(plan: Plan, row: int) -> dict[str, Any] | None:
    """What stands in a rewritten block's place; None where the block stands as it was or not at all."""
    side = plan.outcome
    if row not in side.blocks or not STANDS[side.fate[row]]:
        return None
    made = side.blocks[row]
    return _body("" if made is None else made.text)


def describe_summary(plan: Plan, place: int) -> dict[str, Any]:
    """The stand-in summary for a cut at `place`, and what to know of every text that stands there."""
    stands = 0 < place < len(plan.cuts)
    text = "\n\n".join(text for text, _, _ in plan.stand_in.texts(place)) if stands else ""
    facts = [*_WRITTEN_UP, ["deterministic", AGAIN]] if text else []
    return {**_body(text), "facts": facts}


def _row(table: Table, row: int) -> dict[str, str]:
    live = table.live
    entry = table.session.entries[live.entries[live.position[row]]]
    block = entry.blocks[live.block[row]]
    preview = " ".join(printable(block.text, PREVIEW_CHARS * 2).split())[:PREVIEW_CHARS]
    return {"label": printable(_label(table, row, block), 100), "preview": preview}


def _label(table: Table, row: int, block: Block) -> str:
    if block.kind == "tool_call":
        return describe_call(block)
    if block.kind == "tool_output":
        live = table.live
        calls = live.pairs[live.pairs[:, 1] == row, 0]
        if len(calls):
            call_row = int(calls[0])
            entry = table.session.entries[live.entries[live.position[call_row]]]
            call = entry.blocks[live.block[call_row]]
            if call.kind == "tool_call":
                return ("failed: " if block.is_error else "") + describe_call(call)
        return block.name or "output of an unknown call"
    if block.kind == "text":
        entry = table.session.entries[table.live.entries[table.live.position[row]]]
        return "summary so far" if entry.kind == "compaction" else f"{entry.role} text"
    if block.kind == "image":
        size = f" {block.width}×{block.height}" if block.width else ""
        return f"image{size}"
    if block.kind == "unknown":
        return f"unknown block {block.type}"
    if block.kind == "reasoning":
        return "reasoning" if block.text else "reasoning (encrypted)"
    return block.kind
