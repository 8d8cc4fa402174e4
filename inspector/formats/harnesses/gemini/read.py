"""Gemini CLI's chats: one JSON document, or since 2026 JSON Lines in which later rows change earlier ones.

In go the bytes, out comes a `Session`. Source: FORMATS §5. In the lines a message with an id that was used
replaces that message, `$rewindTo` drops a message and what follows it, `$patch` those that it names, and
`$set` with `messages` is a new history: a compression where it begins with a `<state_snapshot>`, an emptying
of outputs where only tools' results became shorter. In a document only the state after a compression is
left. Results of tools stand inside the reply that called them. Figures of tokens are those of one request
each, the cache's among the input's; thoughts are counted as output.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

from ....errors import ReadError
from ....session.blocks import Reasoning, ToolCall, ToolOutput
from ....session.entries import Source
from ....session.garbage import paused_gc
from ....session.json_text import stringify
from ....session.session import Session
from ...json_document import FILE, Fields, Found, load, place, sniff_document
from ...json_lines import Data, Reader, iter_values
from ...recording import Json, Recording, first_rows
from .parts import make_google_usage, read_parts, read_response

NAME = "gemini-cli"
UNSEEN = ("info", "error", "warning")
SNAPSHOT = "<state_snapshot>"
TOKENS = ("input", "output", "cached", "thoughts", "tool", "total")
TYPES = ("user", "gemini", *UNSEEN)


def sniff(data: Data) -> str | None:
    """None for a document, or a first row, with `sessionId` and `projectHash`, or for a reply of Gemini's."""
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
    """Whether it is a reply as Gemini CLI keeps it; a chat that was copied may not say whose it is."""
    return isinstance(value, dict) and value.get("type") == "gemini" and "content" in value


def _judge(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "not a JSON object"
    messages = value.get("messages")
    if not _is_about(value) and not (isinstance(messages, list) and any(map(_is_reply, messages[:8]))):
        return "it has no `sessionId` and `projectHash`"
    return None if messages is None or isinstance(messages, list) else "its `messages` are no list"


@dataclass(eq=False)
class _Said:
    """A message, or a compaction, as its last row has it, and the one it hangs on."""

    name: str
    raw: Json
    before: _Said | None
    sources: list[Source] = field(default_factory=list)
    kind: str = "message"
    kept: tuple[_Said, ...] = ()
    cleared: tuple[str, ...] = ()
    masked: Json | None = None  # what the model is sent since outputs were emptied; `raw` is what was said
    after: tuple[_Said, ...] = ()  # the history that a compression left, in its order, itself among it


@paused_gc()
def read(data: Data) -> Session:
    """The whole chat. Raises `ReadError`, or `EmptySession` when nobody says anything."""
    chat = _Chat()
    if sniff_document(data, _judge) is None and len(first_rows(data, 2)) < 2:
        document = load(data)
        if not isinstance(document, dict):
            raise ReadError(FILE, detail="it is not a JSON object")
        chat.about = Fields(document, "messages").rest
        messages = document.get("messages")
        for line, raw in enumerate(messages if isinstance(messages, list) else (), 1):
            chat.take(place(line), raw)
        return chat.make_session()
    for source, row in iter_values(data, chat.made.corrupt):
        chat.take(source, row)
    if not chat.about and not chat.line:
        raise ReadError(FILE, detail="it has no `sessionId` and no messages")
    return chat.make_session()


class _Chat:
    """The rows of a chat as they come: what was said, and the line of it that stands now."""

    def __init__(self) -> None:
        self.made = Recording(NAME)
        self.about: Json = {}
        self.said: list[_Said] = []
        self.line: list[_Said] = []
        self.ids: set[Any] = set()  # of every message that was ever said
        self._counted: set[str] = set()  # of those whose tokens are known
        # The messages of the line by their ids, None where it changed.
        self._standing: dict[str, _Said] | None = {}
        self.names: dict[str, str] = {}

    def take(self, source: Source, row: Any) -> None:
        """One row: a message, a change, or what the chat is about."""
        if not isinstance(row, dict):
            self.made.spoil(source, "not a JSON object")
        elif "$rewindTo" in row:
            self._rewind(row["$rewindTo"])
            self.made.note("$rewindTo", source)
        elif gone := Fields(row.get("$patch")).strings("removeIds"):
            self._remove(set(gone))
            self.made.note("$patch", source)
        elif isinstance(change := row.get("$set"), dict):
            self.about |= {key: value for key, value in change.items() if key != "messages"}
            if not isinstance(change.get("messages"), list) or not self._replace(source, change["messages"]):
                self.made.note("$set", source)
        elif row.get("type") in TYPES:
            if row["type"] in UNSEEN:
                self.made.note(str(row["type"]), source)
            else:
                self._say(row, [source])
        elif _is_about(row):
            self.about |= row
            self.made.note("metadata", source)
        else:
            kind = row.get("type")
            told = kind if isinstance(kind, str) else "row without a type"
            self.made.note(told, source, known=False)

    def _say(self, row: Json, sources: list[Source]) -> None:
        name = row.get("id")
        if isinstance(name, str) and (said := self._find_standing().get(name)) is not None:
            said.raw = row
            self._count(row)
            said.sources += sources
            return
        self._add(name if isinstance(name, str) else f"m{len(self.said) + 1}", row, sources)

    def _add(self, name: str, raw: Json, sources: list[Source], kind: str = "message") -> _Said:
        said = _Said(name, raw, self.line[-1] if self.line else None, sources, kind)
        self.said.append(said)
        self.line.append(said)
        self._count(raw)
        number = raw.get("id")
        if isinstance(number, str):
            self.ids.add(number)
            if kind == "message" and self._standing is not None:
                self._standing.setdefault(number, said)
        return said

    def _count(self, raw: Json) -> None:
        if isinstance(raw.get("id"), str) and isinstance(raw.get("tokens"), dict):
            self._counted.add(raw["id"])

    def _find_standing(self) -> dict[str, _Said]:
        if self._standing is None:
            self._standing = {}
            for said in self.line:
                if said.kind == "message" and isinstance(number := said.raw.get("id"), str):
                    self._standing.setdefault(number, said)
        return self._standing

    def _rewind(self, name: Any) -> None:
        at = next((at for at, said in enumerate(self.line) if said.raw.get("id") == name), 0)
        del self.line[at:]
        self._standing = None

    def _remove(self, gone: set[str]) -> None:
        """Take messages off the line: what followed one of them follows what stood before it."""
        if not gone & self.ids:
            return
        left: list[_Said] = []
        for said in self.line:
            if said.raw.get("id") not in gone:
                said.before = left[-1] if left else None
                left.append(said)
        self.line, self._standing = left, None

    def _replace(self, source: Source, messages: list[Any]) -> bool:
        """A new history. Whether its row became an entry: a compression, or an emptying of outputs."""
        self._standing = None
        known = {str(said.raw.get("id")): said for said in self.line if said.kind == "message"}
        rows = _leave_answers(
            [row for row in messages if isinstance(row, dict) and row.get("type") in ("user", "gemini")],
            known,
        )
        at = next((at for at, row in enumerate(rows[:3]) if SNAPSHOT in stringify(row.get("content"))), None)
        last = next((said for said in reversed(self.line) if said.kind == "compaction"), None)
        if at is not None and last is not None and _is_again(last.raw, rows[at]):
            rows[at] = {**rows[at], "id": last.raw.get("id")}
            return self._change(source, rows, self._find_current(last))
        if at is not None and str(rows[at].get("id")) not in known:
            summary = self._add(f"compression-{source.line}", rows[at], [source], "compaction")
            kept: list[_Said] = []
            after: list[_Said] = []
            for row in rows:
                said = known.get(str(row.get("id")))
                if row is rows[at]:
                    after.append(summary)
                elif said is not None and _print(said.raw) == _print(row):
                    self._renew(said, row)
                    kept.append(said)
                    after.append(said)
                else:
                    after.append(self._add_again(row))
            summary.kept, summary.after = tuple(kept), tuple(after)
            return True
        first = rows[0].get("id") if rows else None
        starts = (n for n, said in enumerate(self.line) if rows and said.raw.get("id") == first)
        before = next(starts, 0)
        return self._change(source, rows, [said for said in self.line[before:] if said.kind == "message"])

    def _find_current(self, last: _Said) -> list[_Said]:
        """What the model is sent since the last compression: what that left, and what was said after it."""
        later = self.line[self.line.index(last) + 1 :]
        return [*last.after, *(said for said in later if said.kind == "message" and said not in last.after)]

    def _change(self, source: Source, rows: list[Json], current: list[_Said]) -> bool:
        """What became of the history of now. Whether its row became an entry: an emptying of outputs."""
        if [_name(said.raw) for said in current] == [_name(row) for row in rows]:
            pairs = list(zip(current, rows, strict=True))
            cleared = [call for said, row in pairs for call in _find_shorter(said.masked or said.raw, row)]
            if cleared:
                micro = self._add(f"masking-{source.line}", {}, [source], "micro")
                micro.cleared = tuple(cleared)
            for said, row in pairs:
                if cleared or said.masked is not None:
                    said.masked = row
                elif said.kind == "message":
                    self._renew(said, row)
            return bool(cleared)
        # Another history altogether: what it shares with the line at its beginning stays there.
        stays = 0
        while stays < min(len(current), len(rows)) and _name(current[stays].raw) == _name(rows[stays]):
            if current[stays].kind == "message" and current[stays].masked is None:
                self._renew(current[stays], rows[stays])
            stays += 1
        gone = current[stays:]
        for said in self.line:
            said.kept = tuple(each for each in said.kept if each not in gone)
        first = next((n for n, said in enumerate(self.line) if said in gone), len(self.line))
        summary = next((n for n, said in enumerate(self.line) if said.after and said not in gone), -1)
        if summary > first:
            first = next(
                (n for n, said in enumerate(self.line) if n > summary and said in gone), len(self.line)
            )
        del self.line[first:]
        for row in rows[stays:]:
            self._add_again(row)
        return False

    def _renew(self, said: _Said, row: Json) -> None:
        """A message as a later history has it; one in other words for the same stays as it was said.

        What a reply took may be told by the history alone.
        """
        if _print(said.raw) != _print(row):
            said.raw = row
        elif not isinstance(said.raw.get("tokens"), dict) and isinstance(row.get("tokens"), dict):
            said.raw = {**said.raw, "tokens": row["tokens"]}
        self._count(said.raw)

    def _add_again(self, row: Json) -> _Said:
        """A message of a new history; what a reply took that was said before counts there."""
        again = isinstance(row.get("id"), str) and row["id"] in self._counted
        return self._add(f"{row.get('id')}", Fields(row, "tokens").rest if again else row, [])

    def make_session(self) -> Session:
        """All that was said, and where the line of it ends. Raises `EmptySession`."""
        ends: dict[int, str | None] = {}
        for said in self.said:
            parent = ends[id(said.before)] if said.before is not None else None
            ends[id(said)] = self._write(said, parent)
        about = Fields(self.about, "messages")
        leaf = ends[id(self.line[-1])] if self.line else None
        return self.made.make_session(
            id=about.text("sessionId") or "",
            title=about.text("summary"),
            created=about.text("startTime"),
            updated=about.text("lastUpdated"),
            leaf=leaf,
            extra=about.rest,
        )

    def _write(self, said: _Said, parent: str | None) -> str:
        """The entries of a message; the name of the last one."""
        fields = Fields(said.raw, "id")
        kind, time = fields.text("type"), fields.text("timestamp")
        source = said.sources[0] if said.sources else None
        if said.kind == "micro":
            boundary = {"kind": "micro", "cleared": said.cleared}
            entry = self.made.compact(said.name, None, source, boundary, parent=parent)
            return self.made.change(entry.id, kind="micro").id
        found = read_parts(fields.any("content"), self.names, said.name)
        if said.kind == "compaction":
            texts = [block.text for block, _ in found if block.kind == "text"]
            kept = tuple(name for each in said.kept for name in self._names_of(each))
            boundary = {"summary": "\n".join(texts), "kept": kept}
            entry = self.made.compact(
                said.name,
                None,
                source,
                boundary,
                found=found,
                parent=parent,
                timestamp=time,
                extra=fields.rest,
            )
            return entry.id
        if kind == "user":
            entry = self.made.add(
                said.name, "user", found, source, fields.rest, parent=parent, timestamp=time
            )
        else:
            outputs = self._take_calls(fields, found, said.name)
            usage = make_google_usage(fields.rest.get("tokens"), *TOKENS)
            if usage is not None:
                fields.any("tokens")
            entry = self.made.add(
                said.name,
                "assistant",
                [*_read_thoughts(fields), *found],
                source,
                fields.rest,
                parent=parent,
                timestamp=time,
                usage=usage,
                model=fields.text("model"),
            )
            if outputs:
                self.made.add(f"{entry.id}/results", "tool", outputs, None, parent=entry.id, timestamp=time)
        for each in said.sources[1:]:
            self.made.also(entry.id, each)
        return self.made.last or entry.id

    def _names_of(self, said: _Said) -> list[str]:
        return [name for name in (said.name, f"{said.name}/results") if name in self.made.where]

    def _take_calls(self, fields: Fields, found: list[Found], name: str) -> list[Found]:
        """Add the calls of a reply to its blocks, each once, and give what they were answered."""
        calls = fields.items("toolCalls") or []
        _name_alike(found, calls)
        told = {block.id for block, _ in found if isinstance(block, ToolCall)}
        outputs: list[Found] = []
        rest: list[Any] = []
        for at, raw in enumerate(calls):
            inner = Fields(raw)
            tool = inner.text("name")
            if tool is None:
                rest.append(raw)
                continue
            call = inner.text("id") or f"{name}/{at}"
            self.names[call] = tool
            given, result, status = inner.any("args"), inner.any("result"), inner.text("status")
            if call not in told:
                found.append((ToolCall(id=call, name=tool, input=given), inner.rest))
            if (output := _read_result(call, tool, result, status)) is not None:
                outputs.append(output)
        if rest:
            fields.rest["toolCalls"] = rest
        return outputs


def _name_alike(found: list[Found], calls: list[Any]) -> None:
    """Give calls of the content that go by another id, or by none, the id of the run of them."""
    ids = {Fields(raw).text("id") for raw in calls}
    told = {block.id for block, _ in found if isinstance(block, ToolCall)}
    for inner in map(Fields, calls):
        call, tool, given = inner.text("id"), inner.text("name"), inner.any("args")
        if call is None or call in told:
            continue
        for at, (block, rest) in enumerate(found):
            if (
                isinstance(block, ToolCall)
                and block.id not in ids
                and (block.name, block.input) == (tool, given)
            ):
                found[at] = (block.model_copy(update={"id": call}), rest)
                break


def _read_thoughts(fields: Fields) -> list[Found]:
    found: list[Found] = []
    for raw in fields.items("thoughts") or ():
        inner = Fields(raw)
        texts = [text for text in (inner.text("subject"), inner.text("description")) if text]
        found.append((Reasoning(text="\n".join(texts)), inner.rest))
    return found


def _read_result(call: str, tool: str, result: Any, status: str | None) -> Found | None:
    """The answer in a call's `result`: the function's response, and what parts stand beside it."""
    if result is None:
        return None
    failed = status in ("error", "cancelled")
    parts = result if isinstance(result, list) else [result]
    rest: Json = {"status": status} if status not in (None, "success") else {}
    outputs: list[ToolOutput] = []
    beside: list[Any] = []
    for part in parts:
        answered = Fields(part).object("functionResponse")
        if answered is None:
            beside.append(part)
            continue
        block, more = read_response(call, Fields(answered, "id"), failed=failed)
        rest |= more
        if isinstance(block, ToolOutput):
            outputs.append(block)
    if beside:
        rest["beside"] = beside
    joined = tuple(part for output in outputs for part in output.parts)
    wrong = failed or any(output.is_error for output in outputs)
    return ToolOutput(call_id=call, name=tool, parts=joined, is_error=wrong, status=status), rest


def _name(message: Json) -> Any:
    """What a message is known by in two histories."""
    return message.get("id")


def _leave_answers(rows: list[Json], known: Container[str]) -> list[Json]:
    """The messages of a new history without those that only repeat what stands in a reply's calls.

    One whose id is `known` was said as a message of its own, and is that still.
    """
    answered = {
        call["id"]
        for row in rows
        for call in Fields(row).items("toolCalls") or ()
        if isinstance(call, dict) and isinstance(call.get("id"), str) and call.get("result") is not None
    }
    return [
        row
        for row in rows
        if row["type"] != "user"
        or str(row.get("id")) in known
        or not _only_answers(row.get("content"), answered)
    ]


def _only_answers(content: Any, answered: set[str]) -> bool:
    parts = content if isinstance(content, list) else [content]
    answers = [Fields(part).object("functionResponse") for part in parts]
    return bool(answers) and all(Fields(each).text("id") in answered for each in answers)


def _print(message: Json) -> str:
    """What a message says, however its rows say it: words, and what its calls were answered.

    In a new history words are parts, thoughts and calls stand among them, and calls beside them too.
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
    told = [[Fields(call).rest.get("id"), Fields(call).rest.get("result")] for call in calls]
    return stringify([message.get("type"), words, told])


def _is_again(before: Json, after: Json) -> bool:
    """Whether a summary is the one that stands already."""
    if before.get("id") is not None and before.get("id") == after.get("id"):
        return True
    return stringify(before.get("content")) == stringify(after.get("content"))


def _find_shorter(before: Json, after: Json) -> list[str]:
    """Calls whose result became shorter, in two versions of a message."""

    def sizes(message: Json) -> dict[str, int]:
        calls = message.get("toolCalls")
        return {
            call["id"]: len(stringify(call.get("result")))
            for call in (calls if isinstance(calls, list) else ())
            if isinstance(call, dict) and isinstance(call.get("id"), str)
        }

    old, new = sizes(before), sizes(after)
    return [call for call, size in new.items() if call in old and size < old[call]]


READER = Reader(NAME, "Gemini CLI chat", sniff, read)
