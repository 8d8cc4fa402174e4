"""Chats of VS Code's Copilot and its kin: a document, or a log of the changes that make it.

In go the bytes of either, out comes a `Session`. Source: FORMATS §4. A log begins with the whole state and
then sets, appends or deletes. What the model was sent are a request's rounds of calls with their results;
what the screen showed repeats them in another order, and only words after the last call are taken from it.
A summary replaces everything up to and including the round that it names. `promptTokens` is the context of
the last call of a request, so its last reply has the usage. VS Code shortens long strings when it saves, and
drops results: a call without a result is told of; how a shortened string is marked is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, NamedTuple

from ...errors import ReadError
from ...session.blocks import Number, Reasoning, Text, ToolCall
from ...session.entries import Source, Usage
from ...session.garbage import paused_gc
from ...session.session import Session
from ...text import plural
from ..json_document import FILE, Fields, Found, find_blocks, iso_time, load, place, sniff_document, unknown
from ..json_lines import Data, Reader, iter_lines, read_lines
from ..recording import Json, JsonRows, Recording, first_rows, make_output, parse_given, read_inclusive

NAME = "vscode-chat"
CHANGES = {0: "snapshot", 1: "set", 2: "append", 3: "delete"}


def sniff(data: Data) -> str | None:
    """None for an object with `requests` that have ids, or a log that begins with such a one."""
    first = next(iter(first_rows(data)), {})
    if first.get("kind") == 0 and isinstance(first.get("v"), dict):
        return _judge(first["v"])
    return sniff_document(data, _judge)


def _judge(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "not a JSON object"
    requests = value.get("requests")
    if not isinstance(requests, list):
        return "it has no list `requests`"
    if any("requestId" in Fields(request).rest for request in requests[:3]):
        return None
    asked = {"message", "response"} <= set(Fields(requests[0]).rest) if requests else False
    if asked and {"responderUsername", "requesterUsername", "sessionId"} & set(value):
        return None  # before 2025 a request had no id, and what other programs keep of one may have none
    named = not requests and "sessionId" in value and "version" in value
    return None if named else "its requests have no `requestId`"


def read(data: Data) -> Session:
    """The whole chat. Raises `ReadError`, or `EmptySession` when nobody says anything."""
    rows = [source for source, _ in zip(iter_lines(data), range(2), strict=False)]
    first = next(iter(first_rows(data)), {})
    if first.get("kind") == 0 and "v" in first and rows:
        return read_lines(ChatLog(), data)
    with paused_gc():
        document = load(data)
        if not isinstance(document, dict) or not isinstance(document.get("requests"), list):
            raise ReadError(FILE, detail="it has no list `requests`")
        return _EditorChat(Recording(NAME)).make_session(document, places=True)


class ChatLog(JsonRows):
    """The changes of a log, and the session that they make."""

    def make_session(self) -> Session:
        """The chat after all changes. Raises `EmptySession` when nobody says anything."""
        made = Recording(NAME)
        made.corrupt = list(self.corrupt)
        state: Any = {}
        for source, row in self.rows:
            kind = row.get("kind")
            name = CHANGES.get(kind) if type(kind) is int else None
            if name is None:
                made.note(str(row.get("type") or f"change of kind {kind}")[:60], source, known=False)
                continue
            if kind == 0:
                # Rows stay as they are: a log that grows is read again.
                state = deepcopy(row.get("v"))
            elif not _change(state, deepcopy(row)):
                made.spoil(source, f"a change ({name}) of what is not there")
                continue
            made.note(name, source)
        return _EditorChat(made).make_session(state if isinstance(state, dict) else {}, places=False)


def _change(state: Any, row: Json) -> bool:
    """Apply one change; whether what it changes was there."""
    path = row.get("k")
    if not isinstance(path, list) or not path:
        return False
    *way, last = path
    for key in way:
        state = _step(state, key)
    kind = row["kind"]
    if kind == 2:
        target = _step(state, last)
        if target is None and isinstance(state, dict) and isinstance(last, str):
            target = state[last] = []
        if not isinstance(target, list):
            return False
        at, added = row.get("i"), row.get("v")
        if type(at) is int:
            del target[max(at, 0) :]
        target += added if isinstance(added, list) else []
        return True
    if isinstance(state, dict) and isinstance(last, str):
        if kind == 1:
            state[last] = row.get("v")
        else:
            state.pop(last, None)
        return True
    if isinstance(state, list) and type(last) is int and 0 <= last < len(state):
        if kind == 1:
            state[last] = row.get("v")
        else:
            del state[last]
        return True
    return False


def _step(state: Any, key: Any) -> Any:
    if isinstance(state, dict) and isinstance(key, str):
        return state.get(key)
    if isinstance(state, list) and type(key) is int and 0 <= key < len(state):
        return state[key]
    return None


class _EditorChat:
    """What has been read of a chat, request after request."""

    def __init__(self, made: Recording) -> None:
        self.made = made
        self.rounds: dict[str, str] = {}
        self.missing = 0

    def _take(self, source: Source | None, number: int, raw: Any) -> None:
        """One request: what the user asked, its rounds, and its summary where it has one."""
        if not isinstance(raw, dict):
            if source is not None:
                self.made.spoil(source, "a request that is not an object")
            return
        fields = Fields(raw)
        name = fields.text("requestId") or f"request-{number}"
        time = iso_time(fields.number("timestamp"))
        result = Fields(fields.object("result"))
        told = Fields(result.object("metadata"))
        rounds = [each for each in told.items("toolCallRounds") or () if isinstance(each, dict)]
        results = told.object("toolCallResults") or {}
        summaries = _read_summaries(told, rounds)
        shown = fields.items("response") or []
        for key in [key for key in summaries if key in self.rounds]:
            # It was written in this request and stands for what came before an earlier one.
            self._summarise(name, summaries.pop(key), self.rounds[key], time)
        message = fields.any("message")
        words = message if isinstance(message, str) else Fields(message).text("text")
        said: list[Found] = [(Text(text=words), {})] if words is not None else []
        # A task that ran in the background asks the model when it is done: nobody typed that.
        by_itself = fields.rest.get("isSystemInitiated") is True
        self.made.add(name, "user", said, source, fields.rest, timestamp=time, meta=by_itself)
        model = told.text("resolvedModel") or fields.text("modelId")
        used = _read_usage(told.rest, "outputTokens") or _read_usage(fields.rest, "completionTokens")
        for at, each in enumerate(rounds, 1):
            self._take_round(f"{name}/{at}", Fields(each), results, time, model)
            if (summary := summaries.get(str(each.get("id")))) is not None:
                told_before = {"tokens_before": summary.before}
                self.made.compact(f"{name}/{at}/summary", summary.text, None, told_before, timestamp=time)
        final = _read_shown(shown, after_calls=bool(rounds))
        spoken = {text for each in rounds if isinstance(text := each.get("response"), str)}
        final = [pair for pair in final if pair[0].kind != "text" or pair[0].text not in spoken]
        calls = bool(rounds) and bool(rounds[-1].get("toolCalls"))
        if final and (not rounds or calls):
            self.missing += sum(pair[0].kind == "tool_call" for pair in final)
            self.made.add(f"{name}/reply", "assistant", final, None, {}, timestamp=time, model=model)
        replies = [entry for entry in self.made.entries[self.made.where[name] :] if entry.role == "assistant"]
        if replies:
            error = Fields(result.rest.get("errorDetails")).text("message")
            self.made.change(
                replies[-1].id,
                usage=used,
                extra=replies[-1].extra | {key: value for key, value in told.rest.items() if value},
                error=error,
            )

    def _take_round(
        self, name: str, each: Fields, results: Json, time: str | None, model: str | None
    ) -> None:
        number = each.text("id")
        found: list[Found] = []
        thinking = Fields(each.rest.get("thinking"))
        thought = thinking.rest.get("text")
        if isinstance(thought, list):
            thought = "\n".join(part for part in thought if isinstance(part, str))
        sealed = thinking.text("encrypted")
        if isinstance(thought, str) or sealed:
            each.any("thinking")
            found.append((Reasoning(text=thought if isinstance(thought, str) else "", encrypted=sealed), {}))
        if text := each.text("response"):
            found.append((Text(text=text), {}))
        outputs: list[Found] = []
        for raw in each.items("toolCalls") or ():
            inner = Fields(raw)
            call, tool = inner.text("id"), inner.text("name")
            if call is None or tool is None:
                found.append(unknown(raw))
                continue
            found.append(
                (ToolCall(id=call, name=tool, input=parse_given(inner.any("arguments"))), inner.rest)
            )
            if call in results:
                outputs.append(_read_output(call, results[call], tool))
            else:
                self.missing += 1
        entry = self.made.add(name, "assistant", found, None, each.rest, timestamp=time, model=model)
        last = entry.id
        if outputs:
            last = self.made.add(f"{name}/results", "tool", outputs, None, {}, timestamp=time).id
        if number is not None:
            self.rounds[number] = last

    def _summarise(self, name: str, summary: ChatSummary, until: str, time: str | None) -> None:
        after = self.made.where[until] + 1
        kept = self.made.entries[after].id if after < len(self.made.entries) else None
        boundary = {"first_kept": kept, "tokens_before": summary.before}
        self.made.compact(f"{name}/summary", summary.text, None, boundary, timestamp=time)

    def make_session(self, document: Json, *, places: bool) -> Session:
        """All of it; `places` where the requests are elements of the file. Raises `EmptySession`."""
        fields = Fields(document)
        for number, raw in enumerate(fields.items("requests") or (), 1):
            self._take(place(number) if places else None, number, raw)
        if self.missing:
            calls = plural(self.missing, "call has", "calls have")
            self.made.warnings.append(f"{calls} no result in the file: VS Code does not save all of them")
        version = fields.any("version")
        return self.made.make_session(
            id=fields.text("sessionId") or "",
            title=fields.text("customTitle"),
            created=iso_time(fields.number("creationDate")),
            updated=iso_time(fields.number("lastMessageDate")),
            extra=fields.rest | ({"file_version": version} if version is not None else {}),
        )


class ChatSummary(NamedTuple):
    """What a summary says, and the tokens of the context before it; None where nothing tells."""

    text: str
    before: Number | None


def _read_summaries(told: Fields, rounds: list[Json]) -> dict[str, ChatSummary]:
    """The summaries that a request holds, by the round up to which each counts."""
    found: dict[str, ChatSummary] = {}
    for raw in [told.any("summary"), *(told.items("summaries") or ())]:
        each = Fields(raw)
        number, text = each.text("toolCallRoundId"), each.text("text")
        if number is not None and text is not None:
            found[number] = ChatSummary(text, each.number("contextLengthBefore"))
    for each_round in rounds:
        number, text = each_round.get("id"), each_round.get("summary")
        if isinstance(number, str) and isinstance(text, str):
            found.setdefault(number, ChatSummary(text, None))
    return found


def _read_shown(shown: Iterable[Any], *, after_calls: bool) -> list[Found]:
    """What the screen showed of a reply; with `after_calls`, what it showed after the last call."""
    found: list[Found] = []
    texts: list[str] = []

    def flush() -> None:
        if words := "".join(texts).strip():
            found.append((Text(text=words), {}))
        texts.clear()

    for raw in shown:
        item = Fields(raw)
        kind = item.rest.get("kind")
        value = item.rest.get("value", item.rest.get("content") if kind == "markdownContent" else None)
        if isinstance(value, dict):
            value = value.get("value")
        if isinstance(value, list) and kind == "thinking":
            value = "\n".join(part for part in value if isinstance(part, str))
        if kind in (None, "markdownContent") and isinstance(value, str):
            texts.append(value)
        elif kind == "toolInvocationSerialized" and after_calls:
            texts.clear()
            found.clear()
        elif kind == "thinking" and isinstance(value, str) and not after_calls:
            flush()
            found.append((Reasoning(text=value), {}))
        elif kind == "toolInvocationSerialized":
            flush()
            found.append(_read_call(item, raw))
    flush()
    return found


def _read_call(item: Fields, raw: Any) -> Found:
    """A call of a reply that was broken off: the screen alone tells it, and of its input what it showed."""
    call, tool = item.text("toolCallId"), item.text("toolId")
    if call is None or tool is None:
        return unknown(raw)
    return ToolCall(id=call, name=tool, input=item.object("toolSpecificData") or {}), item.rest


def _read_usage(told: Json, replied: str) -> Usage | None:
    """What the last call of a request took. A reply's own length tells nothing of the context it was for."""
    if Fields(told).number("promptTokens") is None:
        return None
    return read_inclusive(told, "promptTokens", replied)


def _read_output(call: str, raw: Any, tool: str) -> Found:
    """What a tool answered: text, or a list of parts with a `value`."""
    content = raw.get("content") if isinstance(raw, dict) and isinstance(raw.get("content"), list) else raw
    parts = find_blocks(content, _read_value)
    return make_output(call, [block for block, _ in parts], lambda block: (block, {}), tool)


def _read_value(raw: Any) -> Found:
    fields = Fields(raw)
    text = raw if isinstance(raw, str) else fields.text("value")
    return (Text(text=text), fields.rest) if text is not None else unknown(raw)


READER = Reader(NAME, "VS Code chat", sniff, read)
