"""A session's path as Gemini CLI keeps its chats: JSON Lines, in which a compression is a new history.

In go entries, out come rows. A call and its answer stand in the reply; a summary in `<state_snapshot>`, by
which a compression is known, and behind it what was kept of the history. Thoughts that are sealed, names of
documents and the prices of replies have no place. Source: FORMATS §5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from ..session.blocks import Block, Document, Image, Reasoning, Text, ToolCall, ToolOutput
from ..session.entries import Entry, Usage
from ..session.json_text import dump_lossless
from ..session.session import Session
from ..session.speakers import judge
from .gemini import NAME, SNAPSHOT
from .linearize import AnsweredEntry, BranchEntry, LinearSession, find_kept, join_answers, take_line
from .path_writers import NEVER, name_thread

Json = dict[str, Any]
CLOSE = SNAPSHOT.replace("<", "</")


def write_gemini(session: Session, twigs: Sequence[BranchEntry] = ()) -> tuple[bytes, Counter[str]]:
    """The rows of a chat, and a count of what they do not hold. `twigs` have no place in it."""
    whole = take_line(session)
    line, rows = whole, _write_rows(whole, session)
    if rows is None:
        line = whole.begin_anew(ranges=False)
        rows = _write_rows(line, session) or []
    losses = Counter(line.losses)
    names = {entry.id for entry in line.entries}
    losses["history"] = sum(entry.id not in names for entry in whole.entries)
    losses["meta"] = sum(entry.meta and not judge(entry.blocks).meta for entry in line.entries)
    losses["branch_summaries"] = sum(entry.kind == "branch_summary" for entry in line.entries)
    stamp = session.updated or session.created or NEVER
    folder = session.cwd or ""
    head: Json = {
        "sessionId": session.id if session.format == NAME else name_thread(session.id),
        "projectHash": sha256(folder.encode("utf-8", "surrogatepass")).hexdigest(),
        "startTime": session.created or stamp,
        "lastUpdated": stamp,
        "kind": "main",
        **({"summary": session.title} if session.title else {}),
        **({"directories": [folder]} if folder else {}),
    }
    return "".join(f"{dump_lossless(row)}\n" for row in (head, *rows)).encode("ascii"), losses


def _write_rows(line: LinearSession, session: Session) -> list[Json] | None:
    """The rows; None where the last compaction keeps what is no whole row, or says nothing."""
    stamp = session.created or session.updated or NEVER
    written: list[tuple[Json, frozenset[str]]] = []
    rows: list[Json] = []
    taken: set[str] = set()
    for said in join_answers(line.entries):
        entry = said.entry
        stamp = entry.timestamp or stamp
        name = entry.id
        while name in taken:
            name += "+"
        taken.add(name)
        head = {"id": name, "timestamp": stamp}
        if entry.kind != "compaction":
            row = head | _write_message(said)
            rows.append(row)
            written.append((row, frozenset(said.names)))
            continue
        last = entry.id == line.last
        if last and not entry.text:
            return None
        # What was written again behind the summary is not kept by it.
        kept = frozenset(line.kept if last else find_kept(session, entry.id))
        whole = [row for row, names in written if names <= kept]
        if last and frozenset().union(*(names for _, names in written if names <= kept)) != kept:
            return None
        summary = head | {"type": "user", "content": _wrap(entry)}
        rows.append({"$set": {"messages": [summary, *whole]}})
    return rows


def _wrap(entry: Entry) -> list[Json]:
    """A summary's words, in the tag by which Gemini CLI knows one where they are not."""
    parts = [_write_part(block) for block in entry.blocks]
    if SNAPSHOT in entry.text:
        return parts
    return [{"text": f"{SNAPSHOT}\n{entry.text}\n{CLOSE}"}]


def _write_message(said: AnsweredEntry) -> Json:
    entry = said.entry
    if entry.role != "assistant":
        return {"type": "user", "content": [_write_part(block) for block in entry.blocks]}
    blocks = list(entry.blocks)
    thoughts: list[Json] = []
    while blocks and isinstance(blocks[0], Reasoning) and blocks[0].signature is None:
        thoughts.append(_write_thought(blocks.pop(0), entry))
    calls = [block for block in blocks if isinstance(block, ToolCall)]
    # Calls that end the reply are written once; those that words follow hold their place among the words.
    if blocks[len(blocks) - len(calls) :] == calls:
        blocks = blocks[: len(blocks) - len(calls)]
    content: Any = [_write_part(block) for block in blocks]
    if len(blocks) == 1 and isinstance(blocks[0], Text) and blocks[0].text:
        content = blocks[0].text
    row: Json = {"type": "gemini", "content": content or ""}
    if thoughts:
        row["thoughts"] = thoughts
    if calls:
        row["toolCalls"] = [_write_call(call, said.answers.get(call.id), entry) for call in calls]
    if entry.usage is not None:
        row["tokens"] = _write_tokens(entry.usage)
    if entry.model is not None:
        row["model"] = entry.model
    return row


def _write_thought(block: Block, entry: Entry) -> Json:
    subject, _, description = block.text.partition("\n")
    told = {"subject": subject, "description": description} if subject and description else {}
    return (told or {"subject": "", "description": block.text}) | _stamp(entry)


def _stamp(entry: Entry) -> Json:
    return {} if entry.timestamp is None else {"timestamp": entry.timestamp}


def _write_call(call: ToolCall, answer: ToolOutput | None, entry: Entry) -> Json:
    written: Json = {"id": call.id, "name": call.name, "args": call.input}
    if answer is None:
        return written | {"status": "cancelled"} | _stamp(entry)
    texts = [part.text for part in answer.parts]
    failed = "error" if answer.is_error else "success"
    known = answer.status in STATUSES and (answer.status in FAILED) == answer.is_error
    return (
        written
        | {"result": [_respond(call.id, call.name, text, failed=answer.is_error) for text in texts]}
        | {"status": answer.status if known else failed}
        | _stamp(entry)
    )


FAILED = ("error", "cancelled")
STATUSES = ("success", *FAILED)


def _respond(call: str, tool: str, text: str, *, failed: bool = False) -> Json:
    response = {"id": call, "name": tool, "response": {"error" if failed else "output": text}}
    return {"functionResponse": response}


def _write_part(block: Block) -> Any:
    if isinstance(block, Reasoning):
        sealed = {} if block.signature is None else {"thoughtSignature": block.signature}
        return {"text": block.text, "thought": True, **sealed}
    if isinstance(block, ToolCall):
        return {"functionCall": {"id": block.id, "name": block.name, "args": block.input}}
    if isinstance(block, ToolOutput):
        return _respond(block.call_id, block.name or "", block.text, failed=block.is_error)
    if isinstance(block, Image | Document) and block.data is not None:
        return {"inlineData": {"mimeType": block.media_type, "data": block.data}}
    if isinstance(block, Image | Document) and block.url is not None:
        return {"fileData": {"mimeType": block.media_type, "fileUri": block.url}}
    if isinstance(block, Text | Document | Image):
        return {"text": block.text}
    return block.raw


def _write_tokens(usage: Usage) -> Json:
    sent = usage.input + usage.cache_read + usage.cache_write
    total = sent + usage.output if usage.total is None else usage.total
    told = {"input": sent, "output": usage.output, "cached": usage.cache_read}
    return told | {"thoughts": 0, "tool": 0, "total": total}
