"""Read chats of VS Code's Copilot and similar editors: a document, or a log of the changes to one.

Source: FORMATS §4. A log begins with the whole state; later rows set, append or delete values. The model was
sent the rounds of calls of a request with their results. The response on the screen repeats them in another
order, so only its text after the last call is read. A summary replaces everything up to and including the
round that it names. `promptTokens` is the context of the last call of a request, so the last reply has the
usage. VS Code shortens long strings when it saves, and drops results: a warning reports calls without
results. The mark of a shortened string is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from ...session.blocks import Number, Reasoning, Text, ToolCall
from ...session.entries import Source, Usage
from ...session.garbage import paused_gc
from ...session.session import Session
from ..json_document import (
    Fields,
    ParsedBlock,
    find_blocks,
    find_lack,
    iso_time,
    list_objects,
    load_object,
    place,
    sniff_document,
    unknown,
)
from ..json_lines import Data, Reader, read_lines
from ..recording import Json, Reading, ReplayedRows, first_rows, make_output, parse_arguments, read_inclusive

NAME = "vscode-chat"
CHANGES = {0: "snapshot", 1: "set", 2: "append", 3: "delete"}


def sniff(data: Data) -> str | None:
    """Return None for an object with `requests` that have ids, or a log that begins with one."""
    first = next(iter(first_rows(data)), {})
    if first.get("kind") == 0 and isinstance(first.get("v"), dict):
        return _judge(first["v"])
    return sniff_document(data, _judge)


def _judge(value: Any) -> str | None:
    if lack := find_lack(value, requests=list):
        return lack
    requests = value["requests"]
    if any("requestId" in Fields(request).rest for request in requests[:3]):
        return None
    has_fields = {"message", "response"} <= set(Fields(requests[0]).rest) if requests else False
    if has_fields and {"responderUsername", "requesterUsername", "sessionId"} & set(value):
        return None  # before 2025 requests had no id; copies by other programs may lack it too
    named = not requests and "sessionId" in value and "version" in value
    return None if named else "its requests have no `requestId`"


def read(data: Data) -> Session:
    """Read the whole chat. Raises `ReadError`, or `EmptySession` if it contains no messages."""
    first = next(iter(first_rows(data)), {})
    if first.get("kind") == 0 and "v" in first:
        return read_lines(ReplayedRows(_EditorChat), data)
    with paused_gc():
        return _EditorChat().read_requests(load_object(data, requests=list), places=True)


def _change(state: Any, row: Json) -> bool:
    """Apply one change. Returns whether the value to change exists."""
    path = row.get("k")
    if not isinstance(path, list) or not path:
        return False
    *way, last = path
    for key in way:
        state = _step(state, key)
    kind, value = row["kind"], row.get("v")
    if kind == 2:
        target = _step(state, last)
        if target is None and isinstance(state, dict) and isinstance(last, str):
            target = state[last] = []
        if not isinstance(target, list):
            return False
        if type(index := row.get("i")) is int:
            del target[max(index, 0) :]
        target += value if isinstance(value, list) else []
    elif isinstance(state, dict) and isinstance(last, str):
        state[last] = value
        if kind == 3:
            del state[last]
    elif isinstance(state, list) and type(last) is int and 0 <= last < len(state):
        state[last : last + 1] = [value] if kind == 1 else []
    else:
        return False
    return True


def _step(state: Any, key: Any) -> Any:
    if isinstance(state, dict) and isinstance(key, str):
        return state.get(key)
    if isinstance(state, list) and type(key) is int and 0 <= key < len(state):
        return state[key]
    return None


class _EditorChat(Reading):
    """State while a chat is read request by request."""

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.rounds: dict[str, str] = {}
        self.missing = 0

    def read(self, records: Iterable[tuple[Source, Json]]) -> Session:
        """Build the session after all changes of a log. Raises `EmptySession` if there are no messages."""
        state: Any = {}
        for self.source, row in records:
            kind = row.get("kind")
            name = CHANGES.get(kind) if type(kind) is int else None
            if name is None:
                self.note(str(row.get("type") or f"change of kind {kind}")[:60], is_known=False)
                continue
            if kind == 0:
                # Copy the rows: a log that grows is replayed from the beginning.
                state = deepcopy(row.get("v"))
            elif not _change(state, deepcopy(row)):
                self.spoil(f"a change ({name}) of a value that does not exist")
                continue
            self.note(name)
        return self.read_requests(state if isinstance(state, dict) else {}, places=False)

    def _take(self, number: int, raw: Any) -> None:
        """Read one request: the user's message, its rounds, and its summary if there is one."""
        if not isinstance(raw, dict):
            self.spoil("a request that is not an object")
            return
        fields = Fields(raw)
        name = fields.text("requestId") or f"request-{number}"
        self.time = iso_time(fields.number("timestamp"))
        result = Fields(fields.object("result"))
        metadata = Fields(result.object("metadata"))
        rounds = list_objects(metadata.items("toolCallRounds"))
        results = metadata.object("toolCallResults") or {}
        summaries = _read_summaries(metadata, rounds)
        shown = fields.items("response") or []
        for key in [key for key in summaries if key in self.rounds]:
            # It was written in this request, but summarises the context before an earlier one.
            summarised, before = summaries.pop(key)
            after = self.where[self.rounds[key]] + 1
            first_kept = self.entries[after].id if after < len(self.entries) else None
            boundary = {"first_kept": first_kept, "tokens_before": before}
            self.compact(f"{name}/summary", summarised, boundary, source=None)
        message = fields.any("message")
        words = message if isinstance(message, str) else Fields(message).text("text")
        parsed_blocks: list[ParsedBlock] = [(Text(text=words), {})] if words is not None else []
        # A background task that ends sends a request that was not typed.
        by_itself = fields.rest.get("isSystemInitiated") is True
        self.add(name, "user", parsed_blocks, fields.rest, meta=by_itself)
        model = metadata.text("resolvedModel") or fields.text("modelId")
        used = _read_usage(metadata.rest, "outputTokens") or _read_usage(fields.rest, "completionTokens")
        for round_number, round_ in enumerate(rounds, 1):
            self._take_round(f"{name}/{round_number}", Fields(round_), results, model)
            if (summary := summaries.get(str(round_.get("id")))) is not None:
                told_before = {"tokens_before": summary[1]}
                self.compact(f"{name}/{round_number}/summary", summary[0], told_before)
        final = _read_shown(shown, after_calls=bool(rounds))
        round_texts = {text for round_ in rounds if isinstance(text := round_.get("response"), str)}
        final = [pair for pair in final if pair[0].kind != "text" or pair[0].text not in round_texts]
        calls = bool(rounds) and bool(rounds[-1].get("toolCalls"))
        if final and (not rounds or calls):
            self.missing += sum(pair[0].kind == "tool_call" for pair in final)
            self.add(f"{name}/reply", "assistant", final, {}, model=model)
        replies = [entry for entry in self.entries[self.where[name] :] if entry.role == "assistant"]
        if replies:
            error = Fields(result.rest.get("errorDetails")).text("message")
            self.change(
                replies[-1].id,
                usage=used,
                extra=replies[-1].extra | {key: value for key, value in metadata.rest.items() if value},
                error=error,
            )

    def _take_round(self, name: str, round_: Fields, results: Json, model: str | None) -> None:
        number = round_.text("id")
        parsed_blocks: list[ParsedBlock] = []
        thinking = Fields(round_.rest.get("thinking"))
        thought = thinking.rest.get("text")
        if isinstance(thought, list):
            thought = "\n".join(part for part in thought if isinstance(part, str))
        sealed = thinking.text("encrypted")
        if isinstance(thought, str) or sealed:
            round_.any("thinking")
            parsed_blocks.append(
                (Reasoning(text=thought if isinstance(thought, str) else "", encrypted=sealed), {})
            )
        if text := round_.text("response"):
            parsed_blocks.append((Text(text=text), {}))
        outputs: list[ParsedBlock] = []
        for raw in round_.items("toolCalls") or ():
            inner = Fields(raw)
            call, tool = inner.text("id"), inner.text("name")
            if call is None or tool is None:
                parsed_blocks.append(unknown(raw))
                continue
            parsed_blocks.append(
                (ToolCall(id=call, name=tool, input=parse_arguments(inner.any("arguments"))), inner.rest)
            )
            if call in results:
                outputs.append(_read_output(call, results[call], tool))
            else:
                self.missing += 1
        entry = self.add(name, "assistant", parsed_blocks, round_.rest, model=model)
        last = entry.id
        if outputs:
            last = self.add(f"{name}/results", "tool", outputs, {}).id
        if number is not None:
            self.rounds[number] = last

    def read_requests(self, document: Json, *, places: bool) -> Session:
        """Build the session; `places` if the requests are elements of the file. Raises `EmptySession`."""
        fields = Fields(document)
        for number, raw in enumerate(fields.items("requests") or (), 1):
            self.source = place(number) if places else None
            self._take(number, raw)
        lack = "{} no result in the file: VS Code does not save all of them"
        self.warn(self.missing, lack, "call has", "calls have")
        version = fields.any("version")
        return self.make_session(
            id=fields.text("sessionId") or "",
            title=fields.text("customTitle"),
            created=iso_time(fields.number("creationDate")),
            updated=iso_time(fields.number("lastMessageDate")),
            extra=fields.rest | ({"file_version": version} if version is not None else {}),
        )


def _read_summaries(metadata: Fields, rounds: list[Json]) -> dict[str, tuple[str, Number | None]]:
    """Return the texts of the summaries in a request, by the id of the last round that each one replaces.

    Each with the tokens of the context before it; None if unknown.
    """
    by_round: dict[str, tuple[str, Number | None]] = {}
    for raw in [metadata.any("summary"), *(metadata.items("summaries") or ())]:
        summary = Fields(raw)
        number, text = summary.text("toolCallRoundId"), summary.text("text")
        if number is not None and text is not None:
            by_round[number] = text, summary.number("contextLengthBefore")
    for each_round in rounds:
        number, text = each_round.get("id"), each_round.get("summary")
        if isinstance(number, str) and isinstance(text, str):
            by_round.setdefault(number, (text, None))
    return by_round


def _read_shown(shown: Iterable[Any], *, after_calls: bool) -> list[ParsedBlock]:
    """Return the reply as shown on the screen; with `after_calls`, only the part after the last call."""
    parsed_blocks: list[ParsedBlock] = []
    texts: list[str] = []

    def flush() -> None:
        if words := "".join(texts).strip():
            parsed_blocks.append((Text(text=words), {}))
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
            parsed_blocks.clear()
        elif kind == "thinking" and isinstance(value, str) and not after_calls:
            flush()
            parsed_blocks.append((Reasoning(text=value), {}))
        elif kind == "toolInvocationSerialized":
            flush()
            parsed_blocks.append(_read_call(item, raw))
    flush()
    return parsed_blocks


def _read_call(item: Fields, raw: Any) -> ParsedBlock:
    """Convert a call of an interrupted reply: only the screen shows it, with a part of its input."""
    call, tool = item.text("toolCallId"), item.text("toolId")
    if call is None or tool is None:
        return unknown(raw)
    return ToolCall(id=call, name=tool, input=item.object("toolSpecificData") or {}), item.rest


def _read_usage(fields: Json, replied: str) -> Usage | None:
    """Return the usage of a request's last call; None without the prompt's tokens."""
    if Fields(fields).number("promptTokens") is None:
        return None
    return read_inclusive(fields, "promptTokens", replied)


def _read_output(call: str, raw: Any, tool: str) -> ParsedBlock:
    """Convert a tool's result: text, or a list of parts with a `value`."""
    content = raw.get("content") if isinstance(raw, dict) and isinstance(raw.get("content"), list) else raw
    parts = find_blocks(content, _read_value)
    return make_output(call, [block for block, _ in parts], lambda block: (block, {}), tool)


def _read_value(raw: Any) -> ParsedBlock:
    fields = Fields(raw)
    text = raw if isinstance(raw, str) else fields.text("value")
    return (Text(text=text), fields.rest) if text is not None else unknown(raw)


READER = Reader(NAME, "VS Code chat", sniff, read)
