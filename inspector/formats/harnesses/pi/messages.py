"""Read and write the messages of Flue and pi: both store messages of the pi-ai library. Source: FLUE §1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ....session.blocks import Block, Document, Image, Reasoning, Text, ToolCall, ToolOutput, Unknown
from ....session.entries import Boundary, Cost, Entry, Source, Usage
from ....session.session import Session
from ...exports.linearize import BranchEntry, Json, LinearSession, find_dropped, split_runs, take_line
from ...image_size import measure
from ...json_document import (
    Fields,
    ParsedBlock,
    find_blocks,
    gather,
    make_parts,
    make_usage,
    merge,
    only_outputs,
    unknown,
)
from ...summary_wording import SummaryWording

USAGE = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
ROLES = {"user": "user", "assistant": "assistant", "toolResult": "tool"}


def read_block(raw: Any) -> ParsedBlock:
    """Convert a content block: text, thinking, toolCall or image; others are unknown blocks."""
    fields = Fields(raw)
    kind = fields.text("type")
    if kind == "text" and (text := fields.text("text")) is not None:
        return Text(text=text), fields.rest
    if kind == "thinking" and (text := fields.text("thinking")) is not None:
        signature = fields.text("thinkingSignature")
        if fields.flag("redacted"):
            return Reasoning(text=text, encrypted=signature), fields.rest
        return Reasoning(text=text, signature=signature), fields.rest
    if kind == "toolCall":
        call_id, name = fields.text("id"), fields.text("name")
        if call_id is not None and name is not None:
            return ToolCall(id=call_id, name=name, input=fields.any("arguments")), fields.rest
    if kind == "image" and (data := fields.text("data")) is not None:
        width, height = measure(data) or (None, None)
        return Image(media_type=fields.text("mimeType"), width=width, height=height, data=data), fields.rest
    return unknown(raw)


def read_message(
    message: dict[str, Any],
    rest: dict[str, Any],
    *,
    id: str,
    parent: str | None,
    source: Source,
    **entry_fields: Any,
) -> Entry:
    """Convert a message to an entry.

    If its role is not user, assistant or toolResult, the role is retained, and fields in place of content
    become an unknown block. `rest` are the unread fields of the message's entry.
    """
    fields = Fields(message)
    label = fields.text("role") or ""
    role = ROLES.get(label, label or "unknown")
    if label == "toolResult":
        parsed_blocks = [read_output(fields)]
    elif label in ROLES or "content" in message:
        parsed_blocks = find_blocks(fields.any("content"), read_block)
    else:
        moment = fields.rest.pop("timestamp", None)
        parsed_blocks = [(Unknown(type=label, raw=fields.rest), {})]
        fields = Fields({"timestamp": moment})
    blocks, more = gather(only_outputs(parsed_blocks) if role == "tool" else parsed_blocks)
    usage = read_usage(fields)
    return Entry(
        **{
            "role": role,
            "model": fields.text("model"),
            "provider": fields.text("provider"),
            "stop_reason": fields.text("stopReason"),
            "error": fields.text("errorMessage"),
        }
        | entry_fields,
        id=id,
        parent=parent,
        blocks=blocks,
        usage=usage,
        sources=(source,),
        extra=merge(rest, fields.rest | more),
    )


def read_output(fields: Fields) -> ParsedBlock:
    """Convert the result in a toolResult message."""
    call_id, name, is_error = fields.text("toolCallId"), fields.text("toolName"), fields.flag("isError")
    parts, more = make_parts(find_blocks(fields.any("content"), read_block))
    return ToolOutput(call_id=call_id or "", name=name, parts=parts, is_error=bool(is_error)), more


def read_boundary(
    fields: Fields, first_kept: str | None, extra: dict[str, Any], *, carried: bool = True
) -> Boundary:
    """Read what a compaction entry records; `carried` if its file lists are added to later ones."""
    details = Fields(fields.object("details"))
    read, modified = (details.strings("readFiles"), details.strings("modifiedFiles")) if carried else ((), ())
    return Boundary(
        tokens_before=fields.number("tokensBefore"),
        tokens_after=fields.number("tokensAfter"),
        first_kept=first_kept,
        summary=fields.text("summary") or "",
        files_read=read,
        files_modified=modified,
        extra=extra | ({"details": details.rest} if details.rest else {}),
    )


def read_usage(fields: Fields) -> Usage | None:
    """Take the usage of a pi-ai message or of a compaction entry."""
    return make_usage(fields, USAGE)


_WRITTEN_ROLES = {"tool": "toolResult"}


def _write_message(entry: Entry, run: tuple[Block, ...], *, first: bool) -> Json:
    if len(run) == 1 and isinstance(run[0], ToolOutput):
        output = run[0]
        message: Json = {"role": "toolResult", "toolCallId": output.call_id}
        if output.name is not None:
            message["toolName"] = output.name
        content = [write_block(part) for part in output.parts]
        return {**message, "content": content, "isError": output.is_error}
    role = _WRITTEN_ROLES.get(entry.role, entry.role)
    if len(run) == 1 and isinstance(run[0], Unknown) and run[0].type == role and isinstance(run[0].raw, dict):
        # A message with an unknown role has its own fields in place of content.
        return {"role": role, **run[0].raw}
    written: Json = {"role": role, "content": [write_block(block) for block in run]}
    named = {
        "provider": entry.provider,
        "model": entry.model,
        "usage": write_usage(entry.usage) if first else None,
        "stopReason": entry.stop_reason,
        "errorMessage": entry.error,
    }
    return written | {name: value for name, value in named.items() if value is not None}


def write_block(block: Block) -> Any:
    """Convert a block. If the format has no form for it, all its fields are written, and read as unknown."""
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    if isinstance(block, Reasoning):
        sealed = block.encrypted if block.encrypted is not None else block.signature
        written: Json = {"type": "thinking", "thinking": block.text}
        written |= {} if sealed is None else {"thinkingSignature": sealed}
        return written | ({"redacted": True} if block.encrypted is not None else {})
    if isinstance(block, ToolCall):
        return {"type": "toolCall", "id": block.id, "name": block.name, "arguments": block.input}
    if isinstance(block, Image) and block.data is not None:
        written = {"type": "image", "data": block.data}
        return written if block.media_type is None else {**written, "mimeType": block.media_type}
    if isinstance(block, Unknown):
        return block.raw
    fields = block.model_dump(exclude={"kind"}, exclude_none=True)
    kind = "image" if isinstance(block, Image) else "document" if isinstance(block, Document) else block.kind
    return {"type": kind, **fields}


def write_usage(usage: Usage | None) -> Json | None:
    """Convert usage and its cost, as far as they are known."""
    if usage is None:
        return None
    written: Json = _amounts(usage)
    if usage.total is not None:
        written["totalTokens"] = usage.total
    if usage.cost is not None:
        written["cost"] = {**_amounts(usage.cost), "total": usage.cost.total}
    return written


def _amounts(of: Usage | Cost) -> Json:
    return {"input": of.input, "output": of.output, "cacheRead": of.cache_read, "cacheWrite": of.cache_write}


def write_compaction(entry: Entry, summary: str, first_kept: str | None) -> Json:
    """The fields of a compaction entry (FLUE §9)."""
    boundary = entry.boundary
    written: Json = {"summary": summary}
    if first_kept is not None:
        written["firstKeptEntryId"] = first_kept
    if boundary is not None:
        written["tokensBefore"] = boundary.tokens_before
        if boundary.tokens_after is not None:
            written["tokensAfter"] = boundary.tokens_after
        written["details"] = {
            "readFiles": list(boundary.files_read),
            "modifiedFiles": list(boundary.files_modified),
        }
    usage = write_usage(entry.usage)
    return written if usage is None else {**written, "usage": usage}


def write_records(
    session: Session, twigs: Sequence[BranchEntry], summary: SummaryWording, branch: SummaryWording
) -> tuple[list[Json], Counter[str]]:
    """Return the records of a session, which follow each other, and a count of what they do not hold."""
    whole = take_line(session)
    line = whole.restart_at_compaction(ranges=True)
    losses = Counter(line.losses)
    dropped = find_dropped(whole, line)
    return list(_write_line(line, [*dropped, *twigs], summary, branch, losses)), losses


def _write_line(
    line: LinearSession,
    twigs: Sequence[BranchEntry],
    summary: SummaryWording,
    branch: SummaryWording,
    losses: Counter[str],
) -> Iterator[Json]:
    """Yield the records of all entries. The first record of an entry has the entry's id, if it is unused.

    Other branches come before the last entry of the path, because the last record of a file may be its leaf.
    """
    first: dict[str, str] = {}
    last: dict[str | None, str | None] = {None: None}
    used_names = {entry.id for entry in line.entries} | {twig.entry.id for twig in twigs}

    def write(entry: Entry, parent: str | None, kept_names: Sequence[str]) -> Iterator[Json]:
        for number, record in enumerate(_write_entry(entry, parent, kept_names, summary, branch, losses)):
            name = entry.id
            while number and name in used_names:
                name += f".{number}"
            used_names.add(name)
            first.setdefault(entry.id, name)
            stamp = {} if entry.timestamp is None else {"timestamp": entry.timestamp}
            yield {"id": name, "parentId": parent, **stamp, **record}
            last[entry.id] = parent = name

    parent: str | None = None
    end: list[Json] = []
    for entry in line.entries:
        yield from end
        line_kept = line.kept_ids if entry.id == line.last else ()
        end = list(write(entry, parent, [first[name] for name in line_kept if name in first]))
        parent = last.get(entry.id, parent)
    for entry, hangs in twigs:
        if hangs in last:
            boundary = entry.boundary
            names = () if boundary is None else (boundary.first_kept, *boundary.kept)
            yield from write(entry, last[hangs], [first[name] for name in names if name in first])
    yield from end


def _write_entry(
    entry: Entry,
    parent: str | None,
    kept_names: Sequence[str],
    summary: SummaryWording,
    branch: SummaryWording,
    losses: Counter[str],
) -> list[Json]:
    """Return the records of an entry without ids; `kept` are the ids of the records that it keeps."""
    if entry.kind == "compaction":
        words = summary.bare(entry.text)
        text = _summary_text(entry) if words is None else words
        return [{"type": "compaction", **write_compaction(entry, text, next(iter(kept_names), None))}]
    if entry.kind == "branch_summary" and (words := _only(entry, branch)) is not None:
        return [{"type": "branch_summary", "fromId": parent or "", "summary": words}]
    losses["branch_summaries"] += entry.kind == "branch_summary"
    losses["meta"] += entry.meta
    return [  # each output is a separate message
        {"type": "message", "message": _write_message(entry, run, first=not index)}
        for index, run in enumerate(split_runs(entry))
    ]


def _summary_text(entry: Entry) -> str:
    stored = entry.boundary.summary if entry.boundary is not None else None
    return entry.text if stored is None else stored


def _only(entry: Entry, words: SummaryWording) -> str | None:
    return words.bare(entry.text) if len(entry.blocks) == 1 and entry.blocks[0].kind == "text" else None
