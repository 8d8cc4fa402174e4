"""Read DeepSeek Harness's event log: a header, then one event a line, often packed as zstd frames.

Source: DeepSeek Harness packages 0.1.0-rc.8, whose own reader gives the same surface for the samples. The
context is a surface: an event appends to it, or replaces a range of positions that it names by two events.
A message of the compaction plugin, or one in the place of several, is a recorded compaction. One in the place
of one other, such as a shortened output, is a later form of it: every point in time shows the last form.
`assistant/chunk` and its packed forms repeat the message that follows them. Events of unknown types are
counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...session.blocks import Reasoning, Text
from ...session.entries import Source
from ...session.session import Session
from ..json_document import Fields, ParsedBlock, iso_time, join_texts, refuse
from ..json_lines import Data
from ..recording import (
    Json,
    Reading,
    first_rows,
    make_call,
    read_inclusive,
    replayed_reader,
)
from ..requests.chat_messages import Names, read_answer, read_chat_tools, read_part

NAME = "deepseek-harness"
VERSION = 0
KNOWN_PREFIXES = (
    *("turn/", "step/", "request/", "assistant/", "tool/", "user/", "compaction/", "session"),
    *("text-chunks", "reasoning-chunks", "tool-call-chunks"),
)
"""Prefixes of the types of rows that are known; those without `surfaceOp` change no context."""


def sniff(data: Data) -> str | None:
    """Return None if the first row is the header of such a log."""
    rows = first_rows(data)
    header = rows[0] if rows else {}
    if header.get("type") == "session" and "createdAt" in header and isinstance(header.get("version"), int):
        events = rows[1:]
        if all(isinstance(row.get("type"), str) and ("seq" in row or "seq0" in row) for row in events):
            return None
    return "its first row is not the header of a session with numbered events after it"


class _Form(NamedTuple):
    """An event that is a message, or a later form of one."""

    kind: str
    seq: int
    data: Fields
    source: Source
    time: str | None


@dataclass(eq=False)
class _SurfaceMessage:
    """A message of the context: its forms, the oldest first, and what it replaced if it is a summary."""

    forms: list[_Form]
    model: Any
    summary: tuple[str | None, Json] | None = None
    kept: list[_SurfaceMessage] = field(default_factory=list)
    is_last: bool = False
    id: str = ""


class _Surface(Reading):
    """State while a log is read.

    Attributes:
        messages: All messages. Each is the child of the one before it: a compaction never goes back.
        order: The messages of the context.
        by_seq: The messages of the context by the number of their last form, by which an event names them.
    """

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[_SurfaceMessage] = []
        self.order: list[_SurfaceMessage] = []
        self.by_seq: dict[int, _SurfaceMessage] = {}
        self.header = Fields({})
        self.request: Json = {}
        self.title: str | None = None
        self.summaries: dict[str, tuple[str | None, Json]] = {}
        self.started: list[str] = []
        self.failed = self.misplaced = 0

    def take(self, source: Source, row: Json) -> None:
        """Read one row. Raises `ReadError` for a header of another version."""
        fields = Fields(row)
        kind = fields.text("type") or "row without a type"
        if kind == "session":
            if row.get("version") != VERSION:
                raise refuse(f"it is of version {row.get('version')!r:.20}, not {VERSION}")
            self.header = fields
            self.note(kind, source)
            return
        data = Fields(fields.object("data"))
        operation, seq = fields.any("surfaceOp"), fields.number("seq")
        time = iso_time(fields.number("time"))
        self.times += [time] if time else []
        is_message = operation is not None and kind in _MESSAGES
        if is_message and seq is not None:
            self._place(_Form(kind, int(seq), data, source, time), operation)
            return
        self._follow(kind, data)
        is_known = kind.startswith(KNOWN_PREFIXES) and not is_message
        self.note(kind, source, is_known=is_known)

    def _follow(self, kind: str, data: Fields) -> None:
        """Read a row that is not a message."""
        name = data.rest.get("compactionId")
        if kind == "request/header":
            self.request = Fields(data.object("header")).rest
        elif kind == "request/context":
            window = data.number("contextWindow")
            self.window = int(window) if window else self.window
        elif kind == "session/title":
            self.title = data.text("title") or self.title
        elif kind == "compaction/start":
            self.started.append(str(name))
        elif kind == "compaction/summary":
            texts = [part.get("text", "") for part in data.items("summary") or () if isinstance(part, dict)]
            self.summaries[str(name)] = ("\n".join(map(str, texts)), data.rest)
        elif kind == "compaction/end":
            self.failed += data.rest.get("error") is not None
            self.started = [item for item in self.started if item != str(name)]

    def _place(self, form: _Form, operation: Any) -> None:
        """Put a message at the end of the context, or in the place of a message or a range of them."""
        name = Fields(form.data.rest.get("source")).rest.get("compactionId")
        replaced = self._find_range(operation) if isinstance(operation, dict) else None
        self.misplaced += replaced is None and operation != "append"
        if replaced is not None and len(replaced) == 1 and name is None:
            message = replaced[0]
            del self.by_seq[message.forms[-1].seq]
            message.forms.append(form)
        else:
            message = _SurfaceMessage([form], Fields(self.request.get("config")).rest.get("model"))
            self.messages.append(message)
            if replaced is None:
                self.order.append(message)
            else:
                self._compact(message, replaced, self.summaries.get(str(name), (None, {})))
        self.by_seq[form.seq] = message

    def _compact(
        self, message: _SurfaceMessage, replaced: list[_SurfaceMessage], summary: tuple[str | None, Json]
    ) -> None:
        first = self.order.index(replaced[0])
        end = first + len(replaced)
        message.summary, message.is_last = summary, end == len(self.order)
        message.kept = [*self.order[:first], *self.order[end:]]
        self.order[first:end] = [message]
        for other in replaced:
            self.by_seq.pop(other.forms[-1].seq, None)

    def _find_range(self, operation: Json) -> list[_SurfaceMessage] | None:
        """Return the messages that an event replaces; None if it names messages outside the context."""
        if operation.get("op") != "replace":
            return None
        start, end = (
            self.by_seq.get(seq) if isinstance(seq, int) else None
            for seq in (operation.get("start"), operation.get("end"))
        )
        if start is None or end is None:
            return None
        if start is end:
            return [start]
        first, last = self.order.index(start), self.order.index(end)
        return self.order[first : last + 1] if first < last else None

    def _add(self, message: _SurfaceMessage, form: _Form, parent: str | None) -> str:
        """Add one form of a message as an entry. Return its id."""
        role, data, name = _MESSAGES[form.kind], form.data, f"e{form.seq}"
        content = (data if role == "user" else Fields(data.object("message"))).any("content")
        more: Json = {"timestamp": form.time, "parent": parent, "source": form.source}
        parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        blocks = [_read_part(part, self.names) for part in parts]
        if message.summary is not None:
            text, about = message.summary
            text = text or join_texts(blocks) or None
            kept_ids = tuple(kept.id for kept in message.kept)
            boundary: Json = {"kept": kept_ids, "summary": text, "extra": about}
            boundary["summary_last"] = bool(kept_ids) and message.is_last
            more |= {
                "usage": read_inclusive(about.get("usage"), *_USAGE),
                "model": Fields(about).text("model"),
            }
            return self.compact(name, None, boundary, blocks, **more).id
        if role == "assistant":
            more |= {"usage": read_inclusive(data.object("usage"), *_USAGE), "model": message.model}
        elif role == "user" and Fields(data.rest.get("source")).rest.get("kind", "user") != "user":
            more["meta"] = True
        return self.add(name, role, blocks, data.rest, **more).id

    def finish(self) -> Session:
        leaf = None
        for message in self.messages:
            # Earlier forms are beside the path.
            message.id = [self._add(message, form, leaf) for form in message.forms][-1]
            leaf = message.id
        self.warn(self.failed, "{} failed and changed nothing", "compaction")
        self.warn(len(self.started), "{} began and never ended", "compaction")
        replaced = [_MESSAGES[m.forms[0].kind] for m in self.messages if len(m.forms) > 1]
        outputs = replaced.count("tool")
        short = "{} shortened; earlier points in time show the short form too"
        self.warn(outputs, short, "output was", "outputs were")
        last = "{} replaced; earlier points in time show the last form too"
        self.warn(len(replaced) - outputs, last, "message was", "messages were")
        new = "{} others than those in the context: read as new messages"
        self.warn(self.misplaced, new, "message replaces", "messages replace")
        about, request = self.header, Fields(self.request)
        system, config = request.text("system"), Fields(request.object("config"))
        return self.make_session(
            id=about.text("id") or "",
            title=self.title,
            cwd=about.text("cwd"),
            model=config.text("model"),
            system=(Text(text=system),) if system else (),
            tools=read_chat_tools(
                [{"type": "function", "function": t} for t in request.items("tools") or ()]
            ),
            leaf=leaf,
            extra=about.rest,
        )


_MESSAGES = {"user/message": "user", "assistant/message": "assistant", "tool/result": "tool"}
_USAGE = "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"


def _read_part(part: Any, names: Names) -> ParsedBlock:
    fields = Fields(part)
    kind = fields.rest.get("type")
    if kind == "tool-call":
        fields.any("type")
        name, call = fields.text("name") or "", fields.text("id") or ""
        return make_call(names, call, name, fields.any("arguments")), fields.rest
    if kind == "tool-result":
        fields.any("type")
        call, failed = fields.text("toolCallId") or "", fields.flag("isError") is True
        content = fields.any("content")
        block, rest = read_answer(call, content, names, failed=failed)
        return block, {**fields.rest, **rest}
    if kind == "reasoning":
        fields.any("type")
        return Reasoning(text=fields.text("text") or ""), fields.rest
    return read_part(part, names)


READER = replayed_reader(NAME, "DeepSeek Harness event log", sniff, _Surface)
