"""Write a session in the format of other harnesses, or as a request to OpenAI.

The output is read again by our own reader and compared with the session, so that every loss is counted and
reported. The Anthropic request is `wire.render_request`.

Codex's rollout and OpenAI's request store one list of messages: other branches cannot be stored and are
counted as losses. A rollout also contains earlier compactions; a request contains only the context. Sources:
FORMATS §1, §9.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal, Self
from uuid import UUID, uuid5

from ...errors import EditError, EmptySession, expect
from ...redaction.clean import redact_session
from ...session.blocks import Block, Image, Reasoning, Text, ToolCall, ToolOutput
from ...session.entries import Entry, Usage
from ...session.json_text import dump_lossless
from ...session.queries import is_summary
from ...session.session import Session
from ...text import utf16_length
from ...tokens.ledger import clear_output
from ...tokens.models import model_of
from ..harnesses.claude_code import write as claude_code
from ..harnesses.pi import flue
from ..harnesses.pi import read as pi
from ..readers import read_session
from ..requests.anthropic_blocks import DIRECT
from .linearize import (
    NEVER,
    BranchEntry,
    Json,
    LinearSession,
    Loss,
    dump_rows,
    find_twigs,
    leave_out,
    list_losses,
    split_runs,
    take_line,
)

Format = Literal["flue", "pi", "claude-code", "codex", "openai"]
LABELS = ("name", "status", "artifact")
"""Labels of an output that the model is not sent."""


class Transcript(bytes):
    """The bytes of an export, and its `losses` compared with the session."""

    losses: tuple[Loss, ...]

    def __new__(cls, content: bytes, losses: tuple[Loss, ...]) -> Self:
        transcript = super().__new__(cls, content)
        transcript.losses = losses
        return transcript


def export_session(session: Session, format: Format, *, redact: bool = False) -> Transcript:
    """Return the session in another format, which our reader reads back to the same context.

    "codex" and "openai" (the body of a Chat Completions request) store only the path, the others also the
    branches. If a format links branches to the path in another way than the session, the path is preserved.

    With `redact`, secrets are replaced by their names; without it the export contains the original text.
    Raises `EditError` if the format does not exist, or the session has no messages.

    >>> from inspector import open_demo
    >>> exported = export_session(open_demo(), "claude-code")
    >>> [loss.name for loss in exported.losses]
    ['sidechains', 'records']
    """
    expect("export_session", session=(session, Session), format=(format, str))
    if format not in ALL_FORMATS:
        raise EditError("export", format, f"no such format; there are {', '.join(ALL_FORMATS)}")
    session = redact_session(session) if redact else session
    twigs = find_twigs(session) if format in FORMATS else []
    content, losses, hurt = _write(session, twigs, format)
    # The path must be preserved. Branches below its last entry are the likeliest to be read as a part of it.
    for fewer in (leave_out(twigs, session.leaf), ()) if twigs and hurt else ():
        tried = _write(session, fewer, format)
        if tried[2] < hurt:
            content, losses, hurt = tried
    return Transcript(content, list_losses(losses))


def _write(session: Session, twigs: Sequence[BranchEntry], format: Format) -> tuple[bytes, Counter[str], int]:
    """Return the bytes, the number of losses by kind, and the number of losses in the context."""
    content, losses = ALL_FORMATS[format](session, twigs)
    try:
        again = read_session(content, "the export", READ_AS.get(format, format))
    except EmptySession:
        raise EditError("export", session.id, "there is no message on the path to the leaf") from None
    shown = compare_contexts(session, again)
    losses["marked"] = len(session.labels) + len(session.judgements)
    return content, losses + shown + _compare_branches(session, again), shown.total()


def compare_contexts(session: Session, again: Session) -> Counter[str]:
    """Count the differences between two contexts, by the kind of block."""
    losses = Counter[str]()
    before_rows, after_rows = _shown(session), _shown(again)
    before, after = ([_key(role, block) for role, block, _ in shown] for shown in (before_rows, after_rows))
    if before != after:
        for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if tag != "equal":
                losses["added"] += max(d - c - (b - a), 0)
                for index in range(a, b):
                    _, block, summary = before_rows[index]
                    other = after_rows[c + index - a] if c + index - a < d else None
                    same = other is not None and _key("", block) == _key("", other[1])
                    losses["role" if same else "summary" if summary else block.kind] += 1
    outputs = [[b for _, b, _ in shown if isinstance(b, ToolOutput)] for shown in (before_rows, after_rows)]
    for old, new in zip(*outputs, strict=False):
        labels = ((getattr(output, name) for name in LABELS) for output in (old, new))
        losses["labels"] += any(a is not None and a != b for a, b in zip(*labels, strict=True))
    used = [[entry.usage for entry in path] for path in (session.path_since(None), again.path_since(None))]
    usages = [[_drop_plain_total(usage) for usage in path if usage is not None] for path in used]
    losses["usage"] += sum(usage not in usages[1] for usage in usages[0])
    return +losses


def _drop_plain_total(usage: Usage) -> Usage:
    """Return the usage without its total, if that is only the sum."""
    summed = usage.total == usage.prompt + usage.output
    return usage.model_copy(update={"total": None}) if summed else usage


def _compare_branches(session: Session, again: Session) -> Counter[str]:
    """Count entries of other branches that have another parent or text, or are missing."""
    lost = 0
    for entry, hangs in find_twigs(session):
        index = again.tree.index.get(entry.id)
        above = None if index is None else again.tree.parent[index]
        name = None if above is None else again.entries[above].id
        same = name == hangs or (name is not None and name.startswith(f"{hangs}."))
        whole = entry.kind == "message" and len(split_runs(entry)) == 1
        lost += index is None or not same or (whole and again.entries[index].text != entry.text)
    return Counter(branches=lost)


def _shown(session: Session) -> list[tuple[str, Block, bool]]:
    """Return role and block of everything in the context, and whether it is a summary."""
    live = session.live
    entries = [session.entries[i] for i in live.entries.tolist()]
    out: list[tuple[str, Block, bool]] = []
    for index, number, emptied in zip(
        live.position.tolist(), live.block.tolist(), live.cleared.tolist(), strict=True
    ):
        entry = entries[index]
        block = clear_output(entry.blocks[number]) if emptied else entry.blocks[number]
        out.append((entry.role, block, entry.kind != "message" and is_summary(entry)))
    return out


def _key(role: str, block: Block) -> str:
    """Return the content of a block that the model is sent."""
    fields: dict[str, Any] = block.model_dump()
    if fields.get("provider_fields") == DIRECT:
        fields["provider_fields"] = None
    for name in LABELS if isinstance(block, ToolOutput) else ():
        fields.pop(name)
    return f"{role} {dump_lossless(fields)}"


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
    return dump_rows(out), losses


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
        if not isinstance(block, Reasoning | ToolCall | ToolOutput | None):
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
            messages += _write_chat_message(entry.role, run)
    losses["tools"] = 0
    model = model_of(session)
    body: Json = {"model": model, "messages": messages} if model else {"messages": messages}
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


def _write_chat_message(role: str, run: Sequence[Block]) -> Iterator[Json]:
    if run and isinstance(run[0], ToolOutput):
        output = run[0]
        yield {"role": "tool", "tool_call_id": output.call_id, "content": _write_content(output.parts)}
        return
    content = [block for block in run if not isinstance(block, Reasoning | ToolCall)]
    calls = [block for block in run if isinstance(block, ToolCall)]
    if not content and not calls and run:
        return  # reasoning alone is not sent
    message: Json = {"role": role if role in ("user", "assistant", "system") else "user"}
    message["content"] = _write_content(content) if content or not calls else None
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


def _write_content(blocks: Sequence[Any]) -> Any:
    """Return a text if there is only one, else parts."""
    if len(blocks) == 1 and isinstance(blocks[0], Text):
        return blocks[0].text
    return [
        {"type": "image_url", "image_url": {"url": _link(block)}}
        if isinstance(block, Image)
        else {"type": "text", "text": block.text}
        for block in blocks
    ]


FORMATS: dict[str, Callable[[Session, Sequence[BranchEntry]], tuple[bytes, Counter[str]]]] = {
    "flue": flue.write,
    "pi": pi.write,
    "claude-code": claude_code.write,
}
"""Formats that store a whole session with its branches."""
PATH_FORMATS: dict[str, Callable[[Session, Sequence[BranchEntry]], tuple[bytes, Counter[str]]]] = {
    "codex": write_codex,
    "openai": write_openai,
}
"""Formats that store only its path."""
READ_AS = {"openai": "request-log"}
"""The reader of a format, if it has another name."""
ALL_FORMATS = FORMATS | PATH_FORMATS
