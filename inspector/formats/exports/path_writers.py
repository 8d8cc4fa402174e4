"""Write a session's path in formats that store one list of messages: Codex's rollout, and OpenAI's request.

Other branches cannot be stored and are counted as losses. A rollout also contains earlier compactions; a
request contains only the context. Sources: FORMATS §1, §9.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID, uuid5

from ...session.blocks import Block, Image, Reasoning, Text, ToolCall, ToolOutput
from ...session.entries import Entry, Usage
from ...session.json_text import dump_lossless
from ...session.session import Session
from ...text import utf16_length
from .linearize import NEVER, BranchEntry, Json, LinearSession, split_runs, take_line


def _take(session: Session) -> tuple[LinearSession, Counter[str]]:
    """Return the path with each compaction as a summary. The formats store system prompt and tools."""
    whole = take_line(session)
    line = whole.restart_at_compaction(ranges=False)
    losses = Counter(line.losses)
    losses["system"] = sum(not isinstance(block, Text) for block in session.system)
    names = {entry.id for entry in line.entries}
    losses["history"] = sum(entry.id not in names for entry in whole.entries)
    return line, losses


def _dump_arguments(args: Any) -> str:
    """Return the input of a call as JSON text."""
    return args["input"] if _is_text(args) else dump_lossless(args)


def _is_text(args: Any) -> bool:
    """Return whether the input was not JSON when it was read: then it is stored alone under `input`."""
    if not isinstance(args, dict) or args.keys() != {"input"} or not isinstance(args["input"], str):
        return False
    try:
        return not isinstance(json.loads(args["input"]), dict | list)
    except ValueError:
        return utf16_length(args["input"]) > 0


def _link(block: Image) -> str:
    return f"data:{block.media_type};base64,{block.data}" if block.data is not None else block.url or ""


# Codex


def write_codex(session: Session, twigs: Sequence[BranchEntry] = ()) -> tuple[bytes, Counter[str]]:
    """Return the rows of a rollout, and the number of losses by kind. `twigs` are ignored."""
    line, losses = _take(session)
    stamp = session.updated or session.created or NEVER
    head: Json = {
        "id": name_thread(session.id),
        "timestamp": session.created or stamp,
        "cwd": session.cwd or "",
        "originator": "compaction-inspector",
        "cli_version": session.source.version if session.format == "codex" else "0.0.0",
        "source": "cli",
    }
    if words := "\n\n".join(block.text for block in session.system if isinstance(block, Text)):
        head["base_instructions"] = {"text": words}
    if session.tools:
        head["dynamic_tools"] = [
            {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
            for tool in session.tools
        ]
    losses["tools"] = 0
    rows = [("session_meta", head)]
    if session.model:
        rows.append(("turn_context", {"cwd": session.cwd or "", "model": session.model}))
    sums = Counter[str]()
    for entry in line.entries:
        rows += _write_rows(entry, sums, session.window)
    out = [{"timestamp": stamp, "type": kind, "payload": payload} for kind, payload in rows]
    return "".join(f"{dump_lossless(row)}\n" for row in out).encode("ascii"), losses


def name_thread(name: str) -> str:
    """Return the name if Codex accepts it as an id, else an id derived from it."""
    try:
        return str(UUID(name))
    except ValueError:
        return str(uuid5(UUID(int=0), f"session:{name.encode('utf-8', 'replace').hex()}"))


def _write_rows(entry: Entry, sums: Counter[str], window: int | None) -> Iterator[tuple[str, Json]]:
    if entry.kind == "compaction":
        message = _make_message("user", "input_text", [Text(text=entry.text)])
        yield "compacted", {"message": entry.text, "replacement_history": [message]}
        return
    for run in split_runs(entry):
        for item in _write_items(entry.role, run):
            yield "response_item", item
    if entry.role == "user" and entry.kind == "message" and not entry.meta and entry.text:
        yield "event_msg", {"type": "user_message", "message": entry.text}
    if entry.usage is not None and entry.usage.tokens:
        last = _count(entry.usage)
        sums.update(last)
        info = {"total_token_usage": dict(sums), "last_token_usage": last, "model_context_window": window}
        yield "event_msg", {"type": "token_count", "info": info}


def _count(usage: Usage) -> dict[str, Any]:
    sent = usage.input + usage.cache_read + usage.cache_write
    return {
        "input_tokens": sent,
        "cached_input_tokens": usage.cache_read,
        "cache_write_input_tokens": usage.cache_write,
        "output_tokens": usage.output,
        "total_tokens": sent + usage.output,
    }


def _make_message(role: str, kind: str, blocks: Iterable[Block]) -> Json:
    return {"type": "message", "role": role, "content": [_write_part(block, kind) for block in blocks]}


def _write_part(block: Block, kind: str) -> Json:
    if isinstance(block, Image):
        return {"type": "input_image", "image_url": _link(block)}
    return {"type": kind, "text": block.text}


def _write_items(role: str, run: Sequence[Block]) -> Iterator[Json]:
    """Yield the items of one run of blocks. Consecutive texts form one message."""
    texts: list[Block] = []
    own = role == "assistant"
    for block in (*run, None):
        if isinstance(block, Text | Image) or (block is not None and _is_other(block)):
            texts.append(block)
            continue
        if texts:
            yield _make_message(
                "assistant" if own else _ROLES.get(role, "user"),
                "output_text" if own else "input_text",
                texts,
            )
            texts = []
        if isinstance(block, Reasoning):
            parts = [{"type": "summary_text", "text": block.text}] if block.text else []
            sealed = {"encrypted_content": block.encrypted} if block.encrypted is not None else {}
            yield {"type": "reasoning", "summary": parts, **sealed}
        elif isinstance(block, ToolCall):
            args = _dump_arguments(block.input)
            yield {"type": "function_call", "name": block.name, "arguments": args, "call_id": block.id}
        elif isinstance(block, ToolOutput):
            yield {"type": "function_call_output", "call_id": block.call_id, "output": _answer(block)}


_ROLES = {"system": "developer"}


def _is_other(block: Block) -> bool:
    """Return whether a block has no item of its own and is written as text."""
    return not isinstance(block, Reasoning | ToolCall | ToolOutput)


def _answer(block: ToolOutput) -> Any:
    content: Any = block.text
    if any(isinstance(part, Image) for part in block.parts) or len(block.parts) > 1:
        content = [_write_part(part, "input_text") for part in block.parts]
    return {"content": content, "success": False} if block.is_error else content


# OpenAI


def write_openai(session: Session, twigs: Sequence[BranchEntry] = ()) -> tuple[bytes, Counter[str]]:
    """Return the body of a Chat Completions request with the context, and the number of losses by kind."""
    line, losses = _take(session)
    names = [entry.id for entry in line.entries]
    begin = names.index(line.last) if line.last in names else 0
    losses["history"] += begin
    words = [block.text for block in session.system if isinstance(block, Text)]
    messages: list[Json] = [{"role": "system", "content": text} for text in words]
    for entry in line.entries[begin:]:
        for run in split_runs(entry):
            messages += _write_message(entry.role, run)
    losses["tools"] = 0
    body: Json = {"model": session.model or "gpt-5", "messages": messages}
    if session.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                },
            }
            for tool in session.tools
        ]
    return f"{dump_lossless(body)}\n".encode("ascii"), losses


def _write_message(role: str, run: Sequence[Block]) -> Iterator[Json]:
    if run and isinstance(run[0], ToolOutput):
        output = run[0]
        yield {"role": "tool", "tool_call_id": output.call_id, "content": _content(output.parts)}
        return
    content = [block for block in run if not isinstance(block, Reasoning | ToolCall)]
    calls = [block for block in run if isinstance(block, ToolCall)]
    if not content and not calls and run:
        return  # reasoning alone is not sent
    message: Json = {"role": role if role in ("user", "assistant", "system") else "user"}
    message["content"] = _content(content) if content or not calls else None
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _dump_arguments(call.input)},
            }
            for call in calls
        ]
    yield message


def _content(blocks: Sequence[Any]) -> Any:
    """Return a text if there is only one, else parts."""
    if len(blocks) == 1 and isinstance(blocks[0], Text):
        return blocks[0].text
    return [
        {"type": "image_url", "image_url": {"url": _link(block)}}
        if isinstance(block, Image)
        else {"type": "text", "text": block.text}
        for block in blocks
    ]
