"""The blocks of a plan in detail: labels, texts and the placeholder, on request.

The input is a plan and a row of its live view; the output is small values with redacted text.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import field

from ...planning.diff.pieces import Piece, find_pieces
from ...planning.fates import REMAINS
from ...planning.plan import Plan
from ...planning.summary_jobs import Checkpoint
from ...policies.table import CLEARED, Table
from ...redaction.cut import cut_text, redact_long
from ...session.blocks import Block
from ...session.entries import Entry
from ...session.queries import describe_words, is_summary
from ...session.session import Session
from ...text import printable
from ...tokens.ledger import CLEARED_TEXT
from ..words import say_plainly
from .base_payload import Payload
from .columns import unpack
from .provenance import (
    AGAIN,
    DERIVED,
    UNTRUSTED,
    describe_downstream,
    describe_origin,
    describe_reader,
    find_upstream,
    is_recorded_text,
)
from .scene import DrawnPlan
from .titles import preview_call, title_call

BODY_CHARS = 20_000
PREVIEW_CHARS = 160


Fact = tuple[str, str]


class RowPayload(Payload, frozen=True):
    """A block's name, and the beginning of its text."""

    label: str
    preview: str


class RowsReply(Payload, frozen=True):
    """Rows from `from` on."""

    finished: ClassVar[bool] = True
    first: int = field(name="from")
    rows: list[RowPayload]


class Body(Payload, frozen=True):
    """A text; `total` counts the characters of the whole."""

    text: str
    total: int


class OtherBody(Payload, frozen=True):
    """A block's text after plan B."""

    after: Body | None
    diff: list[Piece] | None


class BodyReply(Payload, frozen=True):
    """One block in full, with its retention and details.

    For a changed block, `diff` holds its texts before and after as pieces: kept, gone, or new.
    """

    before: Body
    after: Body | None
    diff: list[Piece] | None
    facts: list[Fact]
    other: OtherBody | None


class SummaryReply(Payload, frozen=True):
    """The summary for a cut."""

    text: str
    total: int
    facts: list[Fact]


def describe_rows(plan: Plan, first: int, last: int) -> list[RowPayload]:
    """A label and the beginning of the text for the live blocks `first` … `last` - 1."""
    return [_row(plan.table, row) for row in range(max(first, 0), min(last, len(plan.table.tokens)))]


def describe_body(plan: Plan, row: int, other: Plan | DrawnPlan | None = None) -> BodyReply:
    """Describe a live block in full (up to 20,000 characters), with its retention and the sources of its
    numbers.

    Pieces are given if both texts have at most 100,000 characters. `other` is plan B: another plan of
    the same point in time, or the drawing of a recorded compaction. Raises IndexError for an unknown row.
    """
    table = plan.table
    if not 0 <= row < len(table.tokens):
        raise IndexError(f"no block {row} in this context")
    entry = table.session.entries[table.live.entries[table.live.position[row]]]
    block = entry.blocks[table.live.block[row]]
    facts: list[Fact] = [
        ("entry", f"{entry.id}/{table.live.block[row]}"),
        ("counted by", say_plainly(plan.ledger.source)),
    ]
    if entry.sources:
        where = entry.sources[0]
        at = f", byte {where.offset:,}" if where.offset >= 0 else ""
        facts.append(("in the file", f"record {where.line}{at}"))
    if block.kind == "reasoning":
        facts += _reasoning(plan, entry, block)
    if is_summary(entry):
        facts += _WRITTEN_UP
    if upstream := find_upstream(table.session, int(table.live.entries[table.live.position[row]])):
        facts.append(("downstream", describe_downstream(upstream.id)))
    if table.live.cleared[row]:
        facts.append(("recorded", "this output was cleared before"))
    other_body = None if other is None else OtherBody(*_compare(block, _text_of(other, row)))
    return BodyReply(_body(block.text), *_compare(block, _after(plan, row)), facts, other_body)


def _compare(block: Block, after: str | None) -> tuple[Body | None, list[Piece] | None]:
    """Return the replacement of a block and the pieces of the difference; None if it was removed."""
    if after is None:
        return None, None
    return _body(after), find_pieces(printable(block.text), printable(after))


def _text_of(other: Plan | DrawnPlan, row: int) -> str | None:
    if isinstance(other, Plan):
        return _after(other, row)
    cleared = unpack(other.payload.columns, other.data)["fate_kept"][row] == CLEARED
    return CLEARED_TEXT if cleared else None


def _reasoning(plan: Plan, entry: Entry, block: Block) -> list[Fact]:
    """Who thought it, and whether who reads the context now can use it (S0-28)."""
    facts = [("origin", describe_origin(entry))]
    if reader := describe_reader(plan.session, entry):
        facts.append(("not portable", f"made by {describe_origin(entry)}; {reader} reads this context now"))
    if not block.text:
        facts.append(("text", "encrypted"))
    return facts


_WRITTEN_UP: list[Fact] = [("trust", UNTRUSTED), ("derived from", DERIVED)]


def _body(text: str) -> Body:
    return Body(printable(text, BODY_CHARS), len(text))


def _after(plan: Plan, row: int) -> str | None:
    """Return the text that replaces a rewritten block; None if the block is unchanged or removed."""
    side = plan.outcome
    if row not in side.blocks or not REMAINS[side.fate[row]]:
        return None
    block_after = side.blocks[row]
    return "" if block_after is None else block_after.text


def describe_other_summary(other: Plan | DrawnPlan | None, session: Session) -> SummaryReply:
    """The same of plan B at its own cut; of a recorded compaction the summary that the file holds."""
    if other is None:
        raise LookupError("there is no plan B")
    if isinstance(other, Plan):
        return describe_summary(other, other.place or 0)
    entry = session[str(other.payload.entry)]
    text = "\n\n".join(block.text for block in entry.blocks if block.text)
    return _summary(text, _WRITTEN_UP if text else [])


def describe_summary(plan: Plan, place: int) -> SummaryReply:
    """Return the summary for a cut at `place`, or its placeholder, with details of each text."""
    if plan.checkpoint is not None and place == plan.place:
        return _describe_written(plan, plan.checkpoint)
    if place != plan.place and 0 < place < len(plan.cuts) and plan.cuts.legal[place]:
        plan = plan.with_edits(plan.edits.model_copy(update={"cut": plan.cuts.ids[place]}))
    texts = plan.stand_in.texts(place) if place == plan.place and plan.summarises else []
    text = "\n\n".join(text for text, _, _ in texts)
    return _summary(text, [*_WRITTEN_UP, ("deterministic", AGAIN)] if text else [])


def _summary(text: str, facts: list[Fact]) -> SummaryReply:
    return SummaryReply(printable(text, BODY_CHARS), len(text), facts)


def _describe_written(plan: Plan, checkpoint: Checkpoint) -> SummaryReply:
    again = "yes: the same history gives the same text" if checkpoint.deterministic else AGAIN
    facts = [
        *_WRITTEN_UP,
        ("written by", checkpoint.by),
        ("tokens", f"{plan.summary_tokens:,}"),
        ("counted by", say_plainly(plan.ledger.source)),
        *([] if is_recorded_text(plan) else [("deterministic", again)]),
    ]
    return _summary(checkpoint.text, facts)


def _row(table: Table, row: int) -> RowPayload:
    live = table.live
    entry = table.session.entries[live.entries[live.position[row]]]
    block = entry.blocks[live.block[row]]
    text = preview_call(block) if block.kind == "tool_call" else block.text
    text = redact_long(text, PREVIEW_CHARS)
    preview = " ".join(printable(text[: PREVIEW_CHARS * 2]).split())[:PREVIEW_CHARS]
    return RowPayload(cut_text(_label(table, row, block), 100), preview)


def _label(table: Table, row: int, block: Block) -> str:
    if block.kind == "tool_call":
        return title_call(block, table.session.cwd)
    if block.kind == "tool_output":
        live = table.live
        calls = live.pairs[live.pairs[:, 1] == row, 0]
        if len(calls):
            call_row = int(calls[0])
            entry = table.session.entries[live.entries[live.position[call_row]]]
            call = entry.blocks[live.block[call_row]]
            if call.kind == "tool_call":
                return ("failed: " if block.is_error else "") + title_call(call, table.session.cwd)
        return block.name or "output of an unknown call"
    if block.kind == "text":
        entry = table.session.entries[table.live.entries[table.live.position[row]]]
        return "summary so far" if entry.kind == "compaction" else describe_words(entry, block)
    if block.kind == "image":
        size = f" {block.width}×{block.height}" if block.width else ""
        return f"image{size}"
    if block.kind == "unknown":
        return f"unknown block {block.type}"
    if block.kind == "reasoning":
        return "reasoning" if block.text else "reasoning (encrypted)"
    return block.kind
