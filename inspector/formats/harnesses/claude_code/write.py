"""A session as lines in the manner of Claude Code's files: one row per message (CLAUDE §3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from ....session.blocks import (
    Block,
    Document,
    Image,
    Reasoning,
    Text,
    ToolCall,
    ToolOutput,
    is_run_by_provider,
)
from ....session.entries import Entry, Request, Usage
from ....session.session import Session
from ....session.speakers import judge, who_speaks
from ...exports.linearize import BranchEntry, Json, LinearSession, dump_rows, take_line
from ...requests.anthropic_blocks import find_unwritable, write_tool_block
from .attached import WAY, write_provided
from .recorded_requests import RECORDED

NO_CONTENT = "(no content)"
"""The text that Claude Code writes in an empty message, because providers reject empty messages."""


def write(session: Session, twigs: Sequence[BranchEntry] = ()) -> tuple[bytes, Counter[str]]:
    """The rows, and a count of what they do not hold."""
    line = take_line(session, keep_micro=True)
    losses = Counter(line.losses)
    rows = list(_write_rows(line, twigs, losses))
    common: Json = {"isSidechain": False, "sessionId": session.id, "cwd": session.cwd or ""}
    first = next((at + 1 for at, row in enumerate(rows) if row["type"] == "user"), 0)
    announced = [write_provided(provided) for provided in session.provided if first]
    # The program adds its own reminders again.
    again = sum(provided.origin == RECORDED for provided in session.provided)
    losses["provided"] -= again + sum(attachment is not None for attachment in announced)
    for number, attachment in enumerate(announced):
        if attachment is not None:
            parent = rows[first - 1]["uuid"]
            name = {"parentUuid": parent, "uuid": f"{parent}-provided-{number}"}
            rows.insert(first + number, {"type": "attachment", **name, "attachment": attachment})
    out = [common | row for row in rows]
    if session.title is not None and rows:
        out.insert(0, {"type": "summary", "summary": session.title, "leafUuid": rows[-1]["uuid"]})
    return dump_rows(out), losses


def _write_rows(line: LinearSession, twigs: Sequence[BranchEntry], losses: Counter[str]) -> Iterator[Json]:
    """Yield the rows. Other branches come before the path's last entry: a file's last row is its leaf."""
    last: dict[str | None, str | None] = {None: None}
    written = [*line.entries, *(twig.entry for twig in twigs)]
    unwritable = find_unwritable(block for entry in written for block in entry.blocks)

    def write(entry: Entry, parent: str | None, kept_ids: tuple[str, ...]) -> Iterator[Json]:
        if unwritable:
            entry = _leave_out_tools(entry, unwritable)
        rows = [_write_row(entry)]
        if entry.kind == "compaction":
            rows = _write_compaction(entry, parent, kept_ids)
        elif entry.kind == "micro":
            rows = [_write_micro(entry)]
        losses["branch_summaries"] += entry.kind == "branch_summary"
        for row in rows:
            stamp = {} if entry.timestamp is None else {"timestamp": entry.timestamp}
            yield {"parentUuid": parent, **stamp, **row}
            last[entry.id] = parent = row["uuid"]

    parent: str | None = None
    end: list[Json] = []
    for entry in line.entries:
        yield from end
        end = list(write(entry, parent, line.kept_ids if entry.id == line.last else ()))
        parent = last[entry.id]
    for entry, hangs in twigs:
        if hangs in last:
            yield from write(entry, last[hangs], entry.boundary.kept if entry.boundary is not None else ())
    yield from end


def _leave_out_tools(entry: Entry, calls: Collection[str]) -> Entry:
    """Return the entry without calls and results that have no valid written form."""
    blocks = tuple(block for block in entry.blocks if _name_call(block) not in calls)
    if entry.blocks and not blocks:
        blocks = (Text(text=NO_CONTENT),)
    return entry.model_copy(update={"blocks": blocks})


def _name_call(block: Block) -> str | None:
    if isinstance(block, ToolCall):
        return block.id
    return block.call_id if isinstance(block, ToolOutput) else None


def _write_row(entry: Entry) -> Json:
    if who_speaks(entry).way == WAY and len(entry.blocks) == 1:
        return _write_attached(entry, entry.blocks[0])
    content = [write_block(block) for block in entry.blocks]
    if entry.role != "assistant":
        speaker = _write_speaker(entry)
        return {"type": "user", "uuid": entry.id, **speaker, "message": {"role": "user", "content": content}}
    message: Json = {"id": f"msg_{entry.id}", "role": "assistant", "content": content}
    reply = {"model": entry.model, "stop_reason": entry.stop_reason, "usage": _write_usage(entry.usage)}
    message |= {name: value for name, value in reply.items() if value is not None}
    failed = {} if entry.error is None else {"isApiErrorMessage": True, "error": entry.error}
    return {"type": "assistant", "uuid": entry.id, **failed, "message": message}


def _write_attached(entry: Entry, block: Block) -> Json:
    """Write an attachment of the harness: a file, or a text as it was sent."""
    if isinstance(block, Document):
        file = {"filePath": block.title or "", "content": block.text}
        attachment: Json = {
            "type": "file",
            "filename": block.title or "",
            "content": {"type": "text", "file": file},
        }
        return {"type": "attachment", "uuid": entry.id, "attachment": attachment}
    sent = [{"type": "text", "text": block.text if isinstance(block, Text) else ""}]
    return {"type": "attachment", "uuid": entry.id, "attachment": {"type": "reminder"}, "rendered": sent}


def _write_speaker(entry: Entry) -> Json:
    """Return the fields that name the speaker, if the text itself does not."""
    way, tagged = who_speaks(entry).way, judge(entry.blocks)
    if way == "queued":
        return {"promptSource": "queued"}
    if way == "plan":
        return {"planContent": entry.text}
    if way == "notification" and tagged.way != way:
        return {"origin": {"kind": "task-notification"}, "promptSource": "system"}
    harness = entry.meta or entry.role not in ("user", "tool")
    return {"isMeta": True} if harness and not tagged.meta else {}


def _write_compaction(entry: Entry, parent: str | None, kept_ids: tuple[str, ...]) -> list[Json]:
    boundary, metadata = entry.boundary, dict[str, Any]()
    if boundary is not None:
        metadata = {
            "trigger": boundary.trigger,
            "preTokens": boundary.tokens_before,
            "postTokens": boundary.extra.get("postTokens"),
        }
        metadata = {name: value for name, value in metadata.items() if value is not None}
    behind = boundary is not None and boundary.summary_last
    if kept_ids:
        anchor = {"anchorUuid": entry.id} if behind else {}
        metadata["preservedMessages"] = {**anchor, "uuids": list(kept_ids)}
    if kept_ids and behind:
        # As after /rewind, "summarize from here": the parent is the row before the chosen prompt.
        ends, parent = {"headUuid": kept_ids[0], "tailUuid": kept_ids[-1]}, kept_ids[-1]
        metadata["preservedSegment"] = ends | {"anchorUuid": entry.id}
    row = {"subtype": "compact_boundary", "logicalParentUuid": parent, "compactMetadata": metadata}
    rows: list[Json] = [{"type": "system", "uuid": entry.id, **row, "parentUuid": None}]
    if entry.blocks:
        content = [write_block(block) for block in entry.blocks]
        message = {"role": "user", "content": content}
        name = {"type": "user", "uuid": f"{entry.id}-summary"}
        direction = {"summarizeMetadata": {"direction": "from"}} if kept_ids and behind else {}
        rows.append({**name, "isCompactSummary": True, **direction, "message": message})
    return rows


def _write_micro(entry: Entry) -> Json:
    boundary = entry.boundary
    metadata: Json = {}
    if boundary is not None:
        metadata = {"compactedToolIds": list(boundary.cleared), "tokensSaved": boundary.tokens_saved}
    row = {"subtype": "microcompact_boundary", "microcompactMetadata": metadata}
    return {"type": "system", "uuid": entry.id, **row}


def write_block(block: Block) -> Any:
    """One block of a message's content, as the Messages API has it."""
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    if isinstance(block, Reasoning):
        if block.encrypted is not None:
            return {"type": "redacted_thinking", "data": block.encrypted}
        sealed = {} if block.signature is None else {"signature": block.signature}
        return {"type": "thinking", "thinking": block.text, **sealed}
    if isinstance(block, ToolCall):
        return write_tool_block(block)
    if isinstance(block, ToolOutput):
        if is_run_by_provider(block):
            return write_tool_block(block)
        failed = {"is_error": True} if block.is_error else {}
        content = [write_block(part) for part in block.parts]
        return {"type": "tool_result", "tool_use_id": block.call_id, "content": content, **failed}
    if isinstance(block, Image | Document):
        return _write_media(block)
    return block.raw


def _write_media(block: Image | Document) -> Json:
    text = block.text if isinstance(block, Document) else ""
    written: Json
    if block.data is not None:
        written = {"type": "base64", "data": block.data}
    elif block.url is not None:
        written = {"type": "url", "url": block.url}
    else:
        written = {"type": "text", "data": text}
    source = written if block.media_type is None else {**written, "media_type": block.media_type}
    title = block.title if isinstance(block, Document) else None
    return {"type": block.kind, "source": source, **({} if title is None else {"title": title})}


def _write_usage(usage: Usage | None) -> Json | None:
    if usage is None:
        return None
    requests = [
        {
            "type": request.kind,
            **({} if request.model is None else {"model": request.model}),
            **_figures(request),
        }
        for request in usage.requests
    ]
    return _figures(usage) | ({"iterations": requests} if requests else {})


def _figures(of: Usage | Request) -> Json:
    """Return the usage; the lifetime of cache writes only if it is known (CLAUDE §3)."""
    hour = of.cache_write_1h
    split = {"ephemeral_5m_input_tokens": of.cache_write - (hour or 0), "ephemeral_1h_input_tokens": hour}
    return {
        "input_tokens": of.input,
        "output_tokens": of.output,
        "cache_read_input_tokens": of.cache_read,
        "cache_creation_input_tokens": of.cache_write,
        **({} if hour is None else {"cache_creation": split}),
    }
