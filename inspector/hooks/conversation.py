"""Read the rows of a session file into what a hook needs: typed words, edits, errors, to-dos, sizes.

A small second reading of two formats, for speed. It keeps no entries: `inspector.formats` reads those.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

from ..session.speakers import judge, typed_words
from .payload import CODEX

_MOST_TYPED = 200_000
"""Characters of the newest typed messages that are searched for rules."""
_LONGEST = 20_000
INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_EDITS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add) File: (.+)$", re.MULTILINE)
_EXIT = re.compile(r"(?:exited with code|Exit code:?) ([1-9]\d*)")
_FAILS = re.compile(r"(?i)error|exception|fail|fatal|panic|cannot|not found|denied|refused")
_CREATED = re.compile(r"Task #(\w+) created")


class TypedMessage(NamedTuple):
    """A message of the user: the offset of its row in the file, the typed words, the row's id."""

    offset: int
    text: str
    uuid: str = ""


@dataclass
class Conversation:
    """A session as a hook reads it.

    Attributes:
        typed: The messages that the user typed, of the whole file.
        edited: The files that were changed since the last compaction; the offset of the last change.
        errors: The last line of each command's error, if the same command did not succeed later.
        todos: The to-dos that are open, by their names.
        sizes: Tokens of the context at the end of each turn since the last compaction.
        window: The size of the context window, if the file states it.
        boundary: The offset of the last compaction in the file, -1 without one.
        before: Tokens before the last compaction, if the file states them.
        summary: The text of the last summary.
        retained: The messages that the last compaction kept in addition to its summary.
        sealed: Whether the last summary is encrypted or missing.
        preserved: The ids of rows that the last compaction kept, the first of a run among them.
        size: The number of bytes that were read to.
    """

    typed: list[TypedMessage] = field(default_factory=list)
    edited: dict[str, int] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    todos: dict[str, str] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)
    window: int = 0
    boundary: int = -1
    before: int = 0
    summary: str = ""
    retained: str = ""
    sealed: bool = False
    preserved: tuple[str, ...] = ()
    size: int = 0
    _calls: dict[str, str] = field(default_factory=dict)
    _queue: list[str] = field(default_factory=list)
    _latest: int = 0

    def has_typed(self, words: str) -> bool:
        """Return whether the user typed these words, in any case."""
        words = words.casefold()
        return any(words in message.text.casefold() for message in self.typed)

    def recent_typed(self) -> list[TypedMessage]:
        """Return the newest typed messages, oldest first, of at most `_MOST_TYPED` characters in all."""
        room, result = _MOST_TYPED, list[TypedMessage]()
        for message in reversed(self.typed):
            text = message.text[:_LONGEST]
            if (room := room - len(text)) < 0:
                break
            result.append(message._replace(text=text))
        return result[::-1]

    def end_turn(self) -> None:
        """Note the size of the context at the end of a turn."""
        if self._latest:
            self.sizes.append(self._latest)
            self._latest = 0

    def take(self, harness: str, offset: int, line: bytes) -> None:
        """Read one row; a torn or odd one is passed over."""
        try:
            row = json.loads(line)
        except ValueError:
            return
        if isinstance(row, dict):
            (self._take_codex if harness == CODEX else self._take_claude)(offset, row)

    def _take_claude(self, offset: int, row: dict[str, Any]) -> None:
        kind, message = row.get("type"), row.get("message")
        if row.get("isSidechain") is True:
            return
        if kind == "queue-operation":
            self._take_queued(offset, row)
            return
        if kind == "system" and row.get("subtype") == "compact_boundary":
            data = as_object(row.get("compactMetadata"))
            self.before = _int(data.get("preTokens"))
            listed = as_object(data.get("preservedMessages")).get("uuids")
            head = as_object(data.get("preservedSegment")).get("headUuid")
            uuids = (head, *(listed if isinstance(listed, list) else ()))
            self.preserved = tuple(str(uuid) for uuid in uuids if uuid)
            return
        attachment = as_object(row.get("attachment"))
        if kind == "attachment" and attachment.get("type") == "queued_command":
            message = {"content": attachment.get("prompt")}
            kind = "user" if attachment.get("commandMode") != "task-notification" else ""
        if not isinstance(message, dict):
            return
        if kind == "assistant":
            usage = as_object(message.get("usage"))
            self._latest = sum(_int(usage.get(name)) for name in INPUT) or self._latest
            for part in _objects(message.get("content")):
                if part.get("type") == "tool_use":
                    self._take_call(offset, str(part.get("id")), str(part.get("name")), part.get("input"))
        elif kind == "user" and row.get("isCompactSummary") is True:
            self.summary = "\n".join(_texts(message.get("content")))
        elif kind == "user":
            self._take_user(offset, row, message.get("content"))

    def _take_queued(self, offset: int, row: dict[str, Any]) -> None:
        """Take a message that was removed from the queue: it was delivered while the model worked."""
        words, operation = str(row.get("content") or ""), row.get("operation")
        if operation == "enqueue" and words and not words.startswith(("<", "/", '{"task_id"')):
            self._queue.append(words)
        elif operation == "popAll":
            self._queue.clear()
        elif operation in ("dequeue", "remove") and self._queue:
            words = words if words in self._queue else self._queue[0]
            self._queue.remove(words)
            if operation == "remove":
                self._take_user(offset, {}, words)

    def _take_user(self, offset: int, row: dict[str, Any], content: Any) -> None:
        blocks = list[Any]()  # with the fields of a Block that `speakers` reads
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else _objects(content):
            kind, text = str(part.get("type")), str(part.get("text"))
            if kind == "tool_result":
                kind, text = "tool_output", "\n".join(_texts(part.get("content")))
                name_id = str(part.get("tool_use_id"))
                # A file that is not there or an edit that does not match is mended by the next call.
                ran = self._calls.get(name_id, "").startswith("Bash ")
                self._take_output(name_id, text, ran and part.get("is_error") is True)
            blocks.append(SimpleNamespace(kind=kind, text=text, name=""))
        origin = row.get("origin")
        speech = judge(
            blocks,
            origin=origin.get("kind") if isinstance(origin, dict) else origin,
            source=row.get("promptSource"),
            meta=row.get("isMeta") is True,
            plan=row.get("planContent") is not None,
        )
        extra = {"speaker": speech.speaker, "way": speech.way}
        entry: Any = SimpleNamespace(
            kind="message", role="user", meta=speech.meta, extra=extra, blocks=blocks
        )
        if not speech.meta and any(block.kind == "text" for block in blocks):
            self.end_turn()
        if (text := typed_words(entry)).strip():
            self.typed.append(TypedMessage(offset, text, str(row.get("uuid"))))

    def _take_call(self, offset: int, name_id: str, name: str, arguments: Any) -> None:
        values = as_object(arguments)
        path = values.get("file_path") or values.get("notebook_path")
        if name in _EDITS and isinstance(path, str):
            self.edited.pop(path, None)
            self.edited[path] = offset
        if name == "TodoWrite":
            self._take_todos(values.get("todos"), "content")
        if name == "TaskCreate":
            self.todos[f"call {name_id}"] = str(values.get("subject") or "")
        if name == "TaskUpdate" and values.get("status") in ("completed", "deleted"):
            self.todos.pop(f"task {values.get('taskId')}", None)
        self._calls[name_id] = f"{name} {values.get('command') or path or ''}"

    def _take_output(self, name_id: str, output: str, failed: bool) -> None:
        call = self._calls.get(name_id, name_id)
        self.errors.pop(call, None)
        if failed and (line := find_error_line(output)):
            self.errors[call] = line
        if (created := _CREATED.match(output)) and (subject := self.todos.pop(f"call {name_id}", "")):
            self.todos[f"task {created[1]}"] = subject

    def _take_todos(self, todos: Any, name: str) -> None:
        open_todos = [todo for todo in _objects(todos) if todo.get("status") != "completed"]
        self.todos = {str(todo.get(name)): str(todo.get(name)) for todo in open_todos}

    def _take_codex(self, offset: int, row: dict[str, Any]) -> None:
        kind, data = row.get("type"), as_object(row.get("payload"))
        part = data.get("type")
        if kind == "compacted":
            self.summary = str(data.get("message") or "")
            history = _objects(data.get("replacement_history"))
            messages = [item for item in history if item.get("role") == "user"]
            self.retained = "\n".join(text for item in messages for text in _texts(item.get("content")))
            self.sealed = not self.summary
        elif kind == "event_msg" and part == "user_message" and isinstance(data.get("message"), str):
            self.end_turn()
            self.typed.append(TypedMessage(offset, data["message"]))
        elif kind == "event_msg" and part == "token_count":
            info = as_object(data.get("info"))
            self._latest = _int(as_object(info.get("last_token_usage")).get("input_tokens")) or self._latest
            self.window = _int(info.get("model_context_window")) or self.window
        elif kind == "response_item" and part in ("function_call", "custom_tool_call"):
            self._take_codex_call(offset, data)
        elif kind == "response_item" and part in ("function_call_output", "custom_tool_call_output"):
            output = "\n".join(_texts(data.get("output")))
            self._take_output(str(data.get("call_id")), output, _EXIT.search(output[:400]) is not None)

    def _take_codex_call(self, offset: int, data: dict[str, Any]) -> None:
        arguments = str(data.get("arguments") or data.get("input") or "")
        for path in _PATCHED.findall(arguments):
            self.edited.pop(path, None)
            self.edited[path] = offset
        if data.get("name") == "update_plan":
            try:
                self._take_todos(as_object(json.loads(arguments)).get("plan"), "step")
            except ValueError:
                return
        self._calls[str(data.get("call_id"))] = f"{data.get('name')} {arguments}"


def find_error_line(output: str) -> str:
    """Return the last line of a failing output that names an error, or "".

    >>> find_error_line("Exit code 1\\ncollected 3 items\\nE  KeyError: 'tide'")
    "E KeyError: 'tide'"
    """
    lines = [" ".join(line.split()) for line in output[-20_000:].splitlines() if line.strip()]
    named = (line for line in reversed(lines) if len(line) > 8 and _FAILS.search(line))
    return next(named, "")[:300]


def _texts(value: Any) -> list[str]:
    """Return the texts of a message's content: a text itself, or its parts."""
    if isinstance(value, str):
        return [value]
    return [part["text"] for part in _objects(value) if isinstance(part.get("text"), str)]


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def as_object(value: Any) -> dict[str, Any]:
    """Return an object; {} for a value of another type."""
    return value if isinstance(value, dict) else {}


def _int(value: Any) -> int:
    return value if type(value) is int and value >= 0 else 0
