"""Read Gemini CLI's chats: a JSON document, or since 2026 JSON Lines in which later rows change earlier ones.

Source: FORMATS §5. In JSON Lines, a message with an id that already occurred replaces that message.
`$rewindTo` drops a message and everything after it. `$patch` drops the messages that it names. `$set` with
`messages` is a new history: a compression if it begins with a `<state_snapshot>`, a clearing of outputs if
only tool results became shorter. A document contains only the state after a compression. Results of tools
are stored inside the reply that called them. Token counts are per request; the input includes
cached tokens, and thoughts are counted as output.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

from ....session.blocks import Reasoning, ToolCall, ToolOutput
from ....session.entries import Source
from ....session.garbage import paused_gc
from ....session.json_text import stringify
from ....session.session import Session
from ...json_document import (
    Fields,
    ParsedBlock,
    find_lack,
    join_texts,
    list_objects,
    load_object,
    placed,
    refuse,
    sniff_document,
)
from ...json_lines import Data, Reader, iter_values
from ...recording import Json, Reading, first_rows
from .parts import make_google_usage, read_parts, read_response

NAME = "gemini-cli"
UNSEEN = ("info", "error", "warning")
SNAPSHOT = "<state_snapshot>"
TOKENS = ("input", "output", "cached", "thoughts", "tool", "total")
TYPES = ("user", "gemini", *UNSEEN)


def sniff(data: Data) -> str | None:
    """Return None if there are `sessionId` and `projectHash`, or a reply of Gemini; else the reason."""
    reason = sniff_document(data, _judge)
    if reason is None:
        return None
    rows = first_rows(data, 8)
    if rows and "messages" not in rows[0] and (_is_about(rows[0]) or any(map(_is_reply, rows))):
        return None
    return reason if "several" not in reason else "its first row has no `sessionId` and `projectHash`"


def _is_about(value: Json) -> bool:
    return isinstance(value.get("sessionId"), str) and isinstance(value.get("projectHash"), str)


def _is_reply(value: Any) -> bool:
    """Return whether a value is a reply as Gemini CLI stores it. A copied chat may lack the other marks."""
    return isinstance(value, dict) and value.get("type") == "gemini" and "content" in value


def _judge(value: Any) -> str | None:
    if lack := find_lack(value):
        return lack
    messages = value.get("messages")
    if not _is_about(value) and not (isinstance(messages, list) and any(map(_is_reply, messages[:8]))):
        return "it has no `sessionId` and `projectHash`"
    return None if messages is None or isinstance(messages, list) else "its `messages` are not a list"


@dataclass(eq=False)
class _Message:
    """A message or a compaction in its newest version, and its parent."""

    name: str
    raw: Json
    before: _Message | None
    sources: list[Source] = field(default_factory=list)
    kind: str = "message"
    kept_messages: tuple[_Message, ...] = ()
    cleared: tuple[str, ...] = ()
    masked: Json | None = None  # the version sent since outputs were cleared; `raw` is the original
    after: tuple[_Message, ...] = ()  # the history after a compression, in order, including the compression


@paused_gc()
def read(data: Data) -> Session:
    """Read the whole chat. Raises `ReadError`, or `EmptySession` if it contains no messages."""
    chat = _Chat()
    if sniff_document(data, _judge) is None and len(first_rows(data, 2)) < 2:
        document = Fields(load_object(data))
        messages = document.items("messages") or ()
        chat.about = Fields(document.rest, "messages").rest
        return chat.read(placed(messages))
    return chat.read(iter_values(data, chat.corrupt))


class _Chat(Reading):
    """State while a chat is read row by row: all messages, and the ones in the current history."""

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[_Message] = []
        self.path: list[_Message] = []
        self.ids: set[Any] = set()  # of all messages
        self._counted: set[str] = set()  # of messages with token counts
        # The messages of the current history by id; None if it changed.
        self._standing: dict[str, _Message] | None = {}

    def take(self, source: Source, row: Any) -> None:
        if not isinstance(row, dict):
            self.spoil("not a JSON object", source)
        elif "$rewindTo" in row:
            self._rewind(row["$rewindTo"])
            self.note("$rewindTo", source)
        elif gone := Fields(row.get("$patch")).strings("removeIds"):
            self._remove(set(gone))
            self.note("$patch", source)
        elif isinstance(change := row.get("$set"), dict):
            self.about |= {key: value for key, value in change.items() if key != "messages"}
            if not isinstance(change.get("messages"), list) or not self._replace(source, change["messages"]):
                self.note("$set", source)
        elif row.get("type") in TYPES:
            if row["type"] in UNSEEN:
                self.note(str(row["type"]), source)
            else:
                self._add_message(row, [source])
        elif _is_about(row):
            self.about |= row
            self.note("metadata", source)
        else:
            kind = row.get("type")
            label = kind if isinstance(kind, str) else "row without a type"
            self.note(label, source, is_known=False)

    def _add_message(self, row: Json, sources: list[Source]) -> None:
        name = row.get("id")
        if isinstance(name, str) and (message := self._find_standing().get(name)) is not None:
            message.raw = row
            self._count(row)
            message.sources += sources
            return
        self._add(name if isinstance(name, str) else f"m{len(self.messages) + 1}", row, sources)

    def _add(self, name: str, raw: Json, sources: list[Source], kind: str = "message") -> _Message:
        message = _Message(name, raw, self.path[-1] if self.path else None, sources, kind)
        self.messages.append(message)
        self.path.append(message)
        self._count(raw)
        number = raw.get("id")
        if isinstance(number, str):
            self.ids.add(number)
            if kind == "message" and self._standing is not None:
                self._standing.setdefault(number, message)
        return message

    def _count(self, raw: Json) -> None:
        if isinstance(raw.get("id"), str) and isinstance(raw.get("tokens"), dict):
            self._counted.add(raw["id"])

    def _find_standing(self) -> dict[str, _Message]:
        if self._standing is None:
            self._standing = {}
            for message in self.path:
                if message.kind == "message" and isinstance(number := message.raw.get("id"), str):
                    self._standing.setdefault(number, message)
        return self._standing

    def _rewind(self, name: Any) -> None:
        index = next((index for index, message in enumerate(self.path) if message.raw.get("id") == name), 0)
        del self.path[index:]
        self._standing = None

    def _remove(self, gone: set[str]) -> None:
        """Remove messages from the history. The message after a removed one gets the parent before it."""
        if not gone & self.ids:
            return
        remaining: list[_Message] = []
        for message in self.path:
            if message.raw.get("id") not in gone:
                message.before = remaining[-1] if remaining else None
                remaining.append(message)
        self.path, self._standing = remaining, None

    def _replace(self, source: Source, messages: list[Any]) -> bool:
        """Read a new history. Returns whether its row became an entry: a compression or cleared outputs."""
        self._standing = None
        by_id = {str(message.raw.get("id")): message for message in self.path if message.kind == "message"}
        rows = _drop_repeated_results(
            [row for row in list_objects(messages) if row.get("type") in ("user", "gemini")],
            by_id,
        )
        index = next(
            (index for index, row in enumerate(rows[:3]) if SNAPSHOT in stringify(row.get("content"))), None
        )
        last = next((message for message in reversed(self.path) if message.kind == "compaction"), None)
        if index is not None and last is not None and _is_again(last.raw, rows[index]):
            rows[index] = {**rows[index], "id": last.raw.get("id")}
            return self._change(source, rows, self._find_current(last))
        if index is not None and str(rows[index].get("id")) not in by_id:
            summary = self._add(f"compression-{source.line}", rows[index], [source], "compaction")
            kept_messages: list[_Message] = []
            after: list[_Message] = []
            for row in rows:
                message = by_id.get(str(row.get("id")))
                if row is rows[index]:
                    after.append(summary)
                elif message is not None and _print(message.raw) == _print(row):
                    self._renew(message, row)
                    kept_messages.append(message)
                    after.append(message)
                else:
                    after.append(self._add_again(row))
            summary.kept_messages, summary.after = tuple(kept_messages), tuple(after)
            return True
        first = rows[0].get("id") if rows else None
        starts = (n for n, message in enumerate(self.path) if rows and message.raw.get("id") == first)
        before = next(starts, 0)
        return self._change(
            source, rows, [message for message in self.path[before:] if message.kind == "message"]
        )

    def _find_current(self, last: _Message) -> list[_Message]:
        """Return the messages sent since the last compression: those it left, and the later ones."""
        later = self.path[self.path.index(last) + 1 :]
        return [
            *last.after,
            *(message for message in later if message.kind == "message" and message not in last.after),
        ]

    def _change(self, source: Source, rows: list[Json], current: list[_Message]) -> bool:
        """Apply changes to the current history. Returns whether the row became an entry: cleared outputs."""
        if [message.raw.get("id") for message in current] == [row.get("id") for row in rows]:
            pairs = list(zip(current, rows, strict=True))
            cleared = [
                call for message, row in pairs for call in _find_shorter(message.masked or message.raw, row)
            ]
            if cleared:
                micro = self._add(f"masking-{source.line}", {}, [source], "micro")
                micro.cleared = tuple(cleared)
            for message, row in pairs:
                if cleared or message.masked is not None:
                    message.masked = row
                elif message.kind == "message":
                    self._renew(message, row)
            return bool(cleared)
        # A different history: only the common messages at its beginning stay.
        stays = 0
        while stays < min(len(current), len(rows)) and current[stays].raw.get("id") == rows[stays].get("id"):
            if current[stays].kind == "message" and current[stays].masked is None:
                self._renew(current[stays], rows[stays])
            stays += 1
        gone = current[stays:]
        for message in self.path:
            message.kept_messages = tuple(other for other in message.kept_messages if other not in gone)
        first = next((n for n, message in enumerate(self.path) if message in gone), len(self.path))
        summary = next(
            (n for n, message in enumerate(self.path) if message.after and message not in gone), -1
        )
        if summary > first:
            first = next(
                (n for n, message in enumerate(self.path) if n > summary and message in gone), len(self.path)
            )
        del self.path[first:]
        for row in rows[stays:]:
            self._add_again(row)
        return False

    def _renew(self, message: _Message, row: Json) -> None:
        """Replace a message by its version in a later history, unless both have the same content.

        The usage of a reply may occur in the history only.
        """
        if _print(message.raw) != _print(row):
            message.raw = row
        elif not isinstance(message.raw.get("tokens"), dict) and isinstance(row.get("tokens"), dict):
            message.raw = {**message.raw, "tokens": row["tokens"]}
        self._count(message.raw)

    def _add_again(self, row: Json) -> _Message:
        """Add a message of a new history. The usage of an earlier reply is not counted again."""
        again = isinstance(row.get("id"), str) and row["id"] in self._counted
        return self._add(f"{row.get('id')}", Fields(row, "tokens").rest if again else row, [])

    def finish(self) -> Session:
        if not self.about and not self.path:
            raise refuse("it has no `sessionId` and no messages")
        ends: dict[int, str | None] = {}
        for message in self.messages:
            parent = ends[id(message.before)] if message.before is not None else None
            ends[id(message)] = self._write(message, parent)
        about = Fields(self.about, "messages")
        leaf = ends[id(self.path[-1])] if self.path else None
        return self.make_session(
            id=about.text("sessionId") or "",
            title=about.text("summary"),
            created=about.text("startTime"),
            updated=about.text("lastUpdated"),
            leaf=leaf,
            extra=about.rest,
        )

    def _write(self, message: _Message, parent: str | None) -> str:
        """Add the entries of a message and return the id of the last one."""
        fields = Fields(message.raw, "id")
        kind, time = fields.text("type"), fields.text("timestamp")
        more: Json = {"parent": parent, "timestamp": time}
        more["source"] = message.sources[0] if message.sources else None
        if message.kind == "micro":
            return self.clear(message.name, message.cleared, **more).id
        parsed_blocks = read_parts(fields.any("content"), self.names, message.name)
        if message.kind == "compaction":
            names = (
                name for other in message.kept_messages for name in (other.name, f"{other.name}/results")
            )
            kept_ids = tuple(name for name in names if name in self.where)
            boundary = {"summary": join_texts(parsed_blocks), "kept": kept_ids}
            more["extra"] = fields.rest
            return self.compact(message.name, None, boundary, parsed_blocks, **more).id
        if kind == "user":
            entry = self.add(message.name, "user", parsed_blocks, fields.rest, **more)
        else:
            outputs = self._take_calls(fields, parsed_blocks, message.name)
            usage = make_google_usage(fields.rest.get("tokens"), *TOKENS)
            if usage is not None:
                fields.any("tokens")
            more |= {"usage": usage, "model": fields.text("model")}
            blocks = [*_read_thoughts(fields), *parsed_blocks]
            entry = self.add(message.name, "assistant", blocks, fields.rest, **more)
            if outputs:
                self.add(f"{entry.id}/results", "tool", outputs, parent=entry.id, timestamp=time)
        for other in message.sources[1:]:
            self.also(entry.id, other)
        return self.last or entry.id

    def _take_calls(self, fields: Fields, parsed_blocks: list[ParsedBlock], name: str) -> list[ParsedBlock]:
        """Add the calls of a reply to its blocks, without duplicates, and return their outputs."""
        calls = fields.items("toolCalls") or []
        _name_alike(parsed_blocks, calls)
        block_ids = {block.id for block, _ in parsed_blocks if isinstance(block, ToolCall)}
        outputs: list[ParsedBlock] = []
        rest: list[Any] = []
        for index, raw in enumerate(calls):
            inner = Fields(raw)
            tool = inner.text("name")
            if tool is None:
                rest.append(raw)
                continue
            call = inner.text("id") or f"{name}/{index}"
            self.names[call] = tool
            args, result, status = inner.any("args"), inner.any("result"), inner.text("status")
            if call not in block_ids:
                parsed_blocks.append((ToolCall(id=call, name=tool, input=args), inner.rest))
            if (output := _read_result(call, tool, result, status)) is not None:
                outputs.append(output)
        if rest:
            fields.rest["toolCalls"] = rest
        return outputs


def _name_alike(parsed_blocks: list[ParsedBlock], calls: list[Any]) -> None:
    """Give calls in the content that have another id, or none, the id under which they were run."""
    ids = {Fields(raw).text("id") for raw in calls}
    call_ids = {block.id for block, _ in parsed_blocks if isinstance(block, ToolCall)}
    for inner in map(Fields, calls):
        call, tool, args = inner.text("id"), inner.text("name"), inner.any("args")
        if call is None or call in call_ids:
            continue
        for index, (block, rest) in enumerate(parsed_blocks):
            if (
                isinstance(block, ToolCall)
                and block.id not in ids
                and (block.name, block.input) == (tool, args)
            ):
                parsed_blocks[index] = (block.model_copy(update={"id": call}), rest)
                break


def _read_thoughts(fields: Fields) -> list[ParsedBlock]:
    parsed_blocks: list[ParsedBlock] = []
    for raw in fields.items("thoughts") or ():
        inner = Fields(raw)
        texts = [text for text in (inner.text("subject"), inner.text("description")) if text]
        parsed_blocks.append((Reasoning(text="\n".join(texts)), inner.rest))
    return parsed_blocks


def _read_result(call: str, tool: str, result: Any, status: str | None) -> ParsedBlock | None:
    """Convert a call's `result`: the function's response, and the parts next to it."""
    if result is None:
        return None
    failed = status in ("error", "cancelled")
    parts = result if isinstance(result, list) else [result]
    rest: Json = {"status": status} if status not in (None, "success") else {}
    outputs: list[ToolOutput] = []
    other_parts: list[Any] = []
    for part in parts:
        answered = Fields(part).object("functionResponse")
        if answered is None:
            other_parts.append(part)
            continue
        block, more = read_response(call, Fields(answered, "id"), failed=failed)
        rest |= more
        if isinstance(block, ToolOutput):
            outputs.append(block)
    if other_parts:
        rest["beside"] = other_parts
    joined = tuple(part for output in outputs for part in output.parts)
    wrong = failed or any(output.is_error for output in outputs)
    return ToolOutput(call_id=call, name=tool, parts=joined, is_error=wrong, status=status), rest


def _drop_repeated_results(rows: list[Json], known_ids: Container[str]) -> list[Json]:
    """Drop messages of a new history that only repeat results stored in a reply's calls.

    Messages whose id is in `known` are retained: they were separate messages before.
    """
    answered = {
        call["id"]
        for row in rows
        for call in list_objects(row.get("toolCalls"))
        if isinstance(call.get("id"), str) and call.get("result") is not None
    }
    return [
        row
        for row in rows
        if row["type"] != "user"
        or str(row.get("id")) in known_ids
        or not _has_only_results(row.get("content"), answered)
    ]


def _has_only_results(content: Any, answered: set[str]) -> bool:
    parts = content if isinstance(content, list) else [content]
    answers = [Fields(part).object("functionResponse") for part in parts]
    return bool(answers) and all(Fields(item).text("id") in answered for item in answers)


def _print(message: Json) -> str:
    """Return the content of a message in a form that does not depend on how its row stores it.

    In a new history the text is a list of parts, and thoughts and calls may occur both in and next to it.
    """
    content, calls = message.get("content"), Fields(message).items("toolCalls") or []
    parts = content if isinstance(content, list) else [content] if content else []
    words: list[Any] = []
    for part in parts:
        fields = Fields(part)
        if isinstance(part, str) or fields.rest.get("thought") is True:
            words += [part] if isinstance(part, str) else []
        elif (text := fields.text("text")) is not None:
            words += [text] if text else []
        elif "functionCall" not in fields.rest or not calls:
            words.append(part)
    results = [[Fields(call).rest.get("id"), Fields(call).rest.get("result")] for call in calls]
    return stringify([message.get("type"), words, results])


def _is_again(before: Json, after: Json) -> bool:
    """Return whether a summary is the same as the previous one."""
    if before.get("id") is not None and before.get("id") == after.get("id"):
        return True
    return stringify(before.get("content")) == stringify(after.get("content"))


def _find_shorter(before: Json, after: Json) -> list[str]:
    """Return the calls whose result is shorter in the second version of a message."""

    def sizes(message: Json) -> dict[str, int]:
        return {
            call["id"]: len(stringify(call.get("result")))
            for call in list_objects(message.get("toolCalls"))
            if isinstance(call.get("id"), str)
        }

    old, new = sizes(before), sizes(after)
    return [call for call, size in new.items() if call in old and size < old[call]]


READER = Reader(NAME, "Gemini CLI chat", sniff, read)
