"""Read OpenHands' events: lines, a list, or a folder with a file for each event. Condensations are events.

Source: FORMATS §11. The input is lines of events, a list of them, or a conversation's state with its events.
Actions of one reply (with the same `llm_response_id`) become one entry. Text that the harness
added after a message, such as a skill, is a separate entry. A condensation names the events to forget and
contains a summary: the other events are kept. An event of 2026 may name its parent, so that a conversation
has branches; the last event of the file is the leaf. Usage is taken from `stats`, by response id. If `stats`
has only totals, the increase of the totals is the usage of the next reply.

In the folder of a conversation, the events are files `event-<number>-<id>.json` in `events/`, and
`base_state.json` contains the conversation's id, the working directory and the usage (the SDK's guide to
persistence). Its other fields (settings of the agent, names of secrets) are not read.

The events contain a command's output, and the shell's state as `metadata`; the model is sent both. The SDK's
`TerminalObservation` and the older `CmdOutputObservation` append the same lines to the output. Results of
more than 30,000 characters are shortened in the middle when they are sent. The file does not show it, and it
is not done here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ....errors import RECOGNISED, EmptySession
from ....session.blocks import Reasoning, Text
from ....session.entries import Source
from ....session.garbage import paused_gc
from ....session.session import Session
from ...json_document import (
    FILE,
    Fields,
    ParsedBlock,
    find_blocks,
    list_objects,
    load,
    load_other,
    place,
    placed,
    sniff_document,
)
from ...json_lines import Data, Reader, read_lines
from ...recording import (
    Json,
    Reading,
    ReplayedRows,
    first_rows,
    make_call,
    read_inclusive,
)
from ...requests.chat_messages import read_answer, read_chat_tools, read_message, read_part

STATE = "base_state.json"
MOST = 10_000
"""Maximum number of events read from a folder."""
_EVENT = re.compile(r"(?:^|/)event-(\d{1,9})-[^/]+\.json$")
NAME = "openhands"
ROOT = "__root__"
"""The parent id of the first event of a conversation, if events have parents."""
LISTS = ("items", "events", "history")
"""Keys of an object that may contain the list of events."""
OUTPUTS = ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation")
USAGE = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")
KINDS = frozenset(
    [
        *(
            *("SystemPromptEvent", "MessageEvent", "ActionEvent", "Condensation", "CondensationRequest"),
            *OUTPUTS,
        ),
        *("ConversationStateUpdateEvent", "PauseEvent", "TokenEvent", "LLMCompletionLogEvent"),
        *("CondensationSummaryEvent", "ConversationErrorEvent", "HookExecutionEvent"),
    ]
)


def add_exit_status(content: Any, metadata: Any) -> Any:
    """Return the content as the model was shown it; unchanged if there is no state of a shell.

    >>> add_exit_status("a.py", {"exit_code": 0, "working_dir": "/w", "suffix": ""})
    'a.py\\n[Current working directory: /w]\\n[Command finished with exit code 0]'
    >>> add_exit_status("a.py", None)
    'a.py'
    """
    fields = Fields(metadata)
    if not fields.rest:
        return content
    code = fields.number("exit_code")
    lines = [
        f"[{name}: {value}]"
        for key, name in (
            ("working_dir", "Current working directory"),
            ("py_interpreter_path", "Python interpreter"),
        )
        if (value := fields.text(key))
    ]
    if code is not None and code != -1:
        lines.append(f"[Command finished with exit code {code}]")
    before, behind = fields.text("prefix") or "", fields.text("suffix") or ""
    behind = "\n".join([behind, *lines])
    if not before and not behind:
        return content
    if isinstance(content, list):
        texts = [text for part in content if (text := Fields(part).text("text")) is not None]
        if len(texts) < len(content):
            return [
                *([{"type": "text", "text": before}] if before else []),
                *content,
                {"type": "text", "text": behind},
            ]
        return f"{before}{''.join(texts)}{behind}"
    return f"{before}{content}{behind}" if isinstance(content, str) else content


def is_state(value: Any) -> bool:
    """Return whether a document is the state of a conversation."""
    fields = Fields(value).rest
    return isinstance(fields.get("agent"), dict) and {"id", "persistence_dir", "execution_status"} <= set(
        fields
    )


def find_beside(data: Data, name: str) -> tuple[str, ...]:
    """Return the pattern of the events if the file is a conversation's state."""
    return ("events/event-*.json",) if name == STATE else ()


def name_holders(name: str, head: bytes) -> tuple[str, ...]:
    """Return the path of the state from a file with an event; () for any other file.

    >>> name_holders("event-00003-ab1.json", b'{"kind": "MessageEvent"}')
    ('../base_state.json',)
    """
    return (f"../{STATE}",) if _EVENT.match(name) and b'"kind"' in head else ()


def list_events(other_files: Mapping[str, Data]) -> Iterator[tuple[int, Json | None]]:
    """Yield the events of a folder by number, which may occur twice; None for an unreadable file."""
    for number, name in sorted(
        (int(match[1]), name) for name in other_files if (match := _EVENT.search(name))
    ):
        event = load_other(other_files[name])
        yield number, event if isinstance(event, dict) else None


def _find_used(stats: Any) -> dict[str, Json]:
    """Return the usage of each request in a conversation's statistics, by the id of its response."""
    roles = Fields(Fields(stats).rest.get("usage_to_metrics")).rest.values()
    requests = (
        request for metrics in roles for request in list_objects(Fields(metrics).rest.get("token_usages"))
    )
    return {r["response_id"]: r for r in requests if isinstance(r.get("response_id"), str)}


def sniff(data: Data) -> str | None:
    """Return None if one of the first lines or list items is an event of OpenHands, else the reason."""
    if sniff_document(data, lambda value: None if is_state(value) else "no state") is None:
        return None
    rows = first_rows(data)
    if any(map(_is_event, rows)) or (len(rows) < 2 and sniff_document(data, _judge) is None):
        return None
    return "none of its first lines is an event with a `kind` of OpenHands'"


def _is_event(row: Any) -> bool:
    kind = str(row.get("kind")) if isinstance(row, dict) else ""
    return kind in KINDS and isinstance(row.get("source"), str) and "id" in row


def _judge(value: Any) -> str | None:
    return None if any(map(_is_event, _find_events(value)[:8])) else "it lists no events of OpenHands'"


def _find_events(value: Any) -> list[Any]:
    """Return the events in a list, in a page of the server's response, or in a row of benchmark results."""
    for name in LISTS if isinstance(value, dict) else ():
        if isinstance(value.get(name), list):
            return list(value[name])
    return value if isinstance(value, list) else []


def read(data: Data) -> Session:
    """Read all events. Raises `EmptySession` if there are no messages."""
    if any(map(_is_event, first_rows(data))):
        return read_lines(ReplayedRows(_EventReading), data)
    document = load(data)
    if is_state(document):
        why = "it is the state of a conversation; its events belong into the folder events/ next to it"
        raise EmptySession(FILE, [(NAME, RECOGNISED)], why)
    return _EventReading().read(placed(_find_events(document)))


@paused_gc()
def read_all(data: Data, other_files: Mapping[str, Data]) -> Session:
    """Read a conversation from its state and its events. Raises the same errors as `read`."""
    document = load(data)
    if not is_state(document):
        return read(data)
    state, reading = Fields(document), _EventReading()
    reading.model = Fields(Fields(state.rest["agent"]).rest.get("llm")).text("model")
    reading.note("state", place(1))
    numbers: list[int] = []
    for number, event in list_events(other_files):
        numbers.append(number)
        reading.feed([(place(number + 2), event)])
    if not numbers:
        return read(data)  # raises an error with the reason
    reading.used = _find_used(state.rest.get("stats")) | reading.used
    gaps = max(numbers) + 1 - len(set(numbers))
    reading.warn(gaps, "{} missing in its folder", "event is", "events are")
    if len(numbers) >= MOST:
        reading.warnings.append(f"only {MOST:,} events are read of its folder")
    reading.about = {
        "id": state.text("id") or "",
        "cwd": Fields(state.rest.get("workspace")).text("working_dir"),
    }
    return reading.finish()


class _EventReading(Reading):
    """State while a conversation is read event by event. `line` is the current context."""

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.prompt = ""
        self.replies: dict[str, str] = {}
        self.events: dict[str, list[str]] = {}  # the events of each entry
        self.used: dict[str, Json] = {}
        self.ends: dict[str, str | None] = {}  # the entry that contains an event or precedes it, by event id
        self.sums: dict[str, float] = {}
        self.grown: dict[str, float] | None = None

    def take(self, source: Source, row: Any) -> None:
        if not isinstance(row, dict):
            self.spoil("not a JSON object")
            return
        fields = Fields(row)
        kind, name = fields.text("kind"), fields.text("id") or f"line-{source.line}"
        self.time = fields.text("timestamp")
        self.times += [self.time] if self.time else []
        self._go_to(fields)
        first = len(self.entries)
        if kind == "MessageEvent" and isinstance(row.get("llm_message"), dict):
            message, _ = read_message(fields.any("llm_message"), self.names)
            role = message.role if message.role in ("user", "assistant") else "user"
            more: Json = {} if role == message.role else {"meta": True}
            more |= {"model": self.model} if role == "assistant" else {}
            behind = find_blocks(fields.items("extended_content"), lambda part: read_part(part, self.names))
            extra = fields.rest | message.extra
            entry = self.add(name, role, message.parsed_blocks, extra, **more)
            self._know(fields, entry.id)
            if behind:
                self.add(f"{name}/added", "user", behind, meta=True)
        elif kind == "ActionEvent":
            self._act(name, source, fields)
        elif kind in OUTPUTS:
            self.add(name, "tool", [self._read_output(kind, fields)], fields.rest)
        elif kind == "Condensation":
            self._condense(name, fields)
        else:
            if kind == "SystemPromptEvent":
                self._take_system(fields)
            elif kind == "ConversationStateUpdateEvent" and fields.text("key") == "stats":
                self._take_stats(Fields(fields.rest.get("value")))
            self.note(kind or "event without a kind", is_known=kind in KINDS)
        self.ends[name] = self.tip
        self.events |= {entry.id: [name] for entry in self.entries[first:]}

    def _go_to(self, fields: Fields) -> None:
        """Continue after the parent of an event if it names one, else after the previous event."""
        if "parent_id" not in fields.rest:
            return
        parent = fields.any("parent_id")
        above = self.ends.get(parent, self.tip) if isinstance(parent, str) and parent != ROOT else None
        if above == self.tip:
            return
        # Another branch: restore the context at that point.
        self.tip, self.line = above, []
        while above is not None:
            entry = self[above]
            if entry.boundary is not None:
                self.line += reversed(entry.boundary.kept)
                break
            self.line.append(above)
            above = entry.parent
        self.line.reverse()

    def _know(self, fields: Fields, entry: str) -> None:
        if (number := fields.text("llm_response_id")) is not None:
            self.replies[number] = entry
            if self.grown is not None:
                self.used.setdefault(number, dict(self.grown))
                self.grown = None

    def _act(self, name: str, source: Source, fields: Fields) -> None:
        number = fields.rest.get("llm_response_id")
        parsed_blocks: list[ParsedBlock] = []
        thought = fields.text("reasoning_content")
        blocks = fields.items("thinking_blocks") or []
        signed = next((Fields(block).text("signature") for block in blocks if isinstance(block, dict)), None)
        call, tool = fields.text("tool_call_id") or name, fields.text("tool_name") or ""
        tool_call = Fields(fields.object("tool_call"))
        function = Fields(tool_call.object("function"))
        arguments = tool_call.any("arguments") if "arguments" in tool_call.rest else function.any("arguments")
        if arguments is None:
            arguments = Fields(fields.rest.get("action"), "kind").rest
        thought_blocks = find_blocks(fields.any("thought"), lambda raw: read_part(raw, self.names))
        call_block = make_call(self.names, call, tool, arguments), tool_call.rest
        reply = self.replies.get(number) if isinstance(number, str) else None
        if reply is not None and self.line and self.line[-1] == reply == self.tip:
            entry = self[reply]
            self.change(reply, blocks=(*entry.blocks, call_block[0]), sources=(*entry.sources, source))
            self.events[reply].append(name)
            return
        if thought or signed:
            parsed_blocks.append((Reasoning(text=thought or "", signature=signed), {}))
        parsed_blocks += [*thought_blocks, call_block]
        self._know(fields, self.add(name, "assistant", parsed_blocks, fields.rest, model=self.model).id)

    def _read_output(self, kind: str, fields: Fields) -> ParsedBlock:
        call, tool = fields.text("tool_call_id") or "", fields.text("tool_name")
        observation = Fields(fields.object("observation"))
        content = add_exit_status(observation.any("content"), observation.rest.get("metadata"))
        if content is None:
            key = next((key for key in ("error", "rejection_reason") if key in fields.rest), "")
            content = fields.any(key)
        failed = kind != "ObservationEvent" or observation.flag("is_error") is True
        block, rest = read_answer(call, content, self.names, tool or None, failed=failed)
        return block, rest | ({"observation": observation.rest} if observation.rest else {})

    def _condense(self, name: str, fields: Fields) -> None:
        raw = fields.any("forgotten_event_ids")
        forgotten = {item for item in raw if isinstance(item, str)} if isinstance(raw, list) else set()
        kept_ids = [
            entry_id for entry_id in self.line if not forgotten & set(self.events.get(entry_id, [entry_id]))
        ]
        summary = fields.text("summary")
        boundary: Json = {"kept": tuple(kept_ids), "summary": summary}
        offset = fields.number("summary_offset")
        boundary["extra"] = {} if offset is None else {"summary_offset": offset}
        self.compact(name, summary, boundary, extra=fields.rest)
        self.line = kept_ids

    def _take_system(self, fields: Fields) -> None:
        for key in ("system_prompt", "dynamic_context"):
            prompt = fields.rest.get(key)
            text = prompt if isinstance(prompt, str) else Fields(prompt).text("text")
            self.prompt += f"\n\n{text}" if text and self.prompt else text or ""
        self.tools = read_chat_tools(fields.rest.get("tools"))

    def _take_stats(self, stats: Fields) -> None:
        """Read the usage of each request. Requests of the condenser are not part of the conversation."""
        for role, metrics in Fields(stats.rest.get("usage_to_metrics")).rest.items():
            metrics_fields = Fields(metrics)
            if role in ("default", "agent"):
                self.model = metrics_fields.text("model_name") or self.model
                self._take_sums(Fields(metrics_fields.object("accumulated_token_usage")))
        self.used |= _find_used(stats.rest)

    def _take_sums(self, sums: Fields) -> None:
        now = {key: sums.number(key) or 0 for key in USAGE}
        grown = {key: value - self.sums.get(key, 0) for key, value in now.items()}
        if any(grown.values()):
            self.grown = grown if min(grown.values()) >= 0 else now
        self.sums = now

    def finish(self) -> Session:
        for number, name in self.replies.items():
            if (usage := read_inclusive(self.used.get(number), *USAGE)) is not None:
                self.change(name, usage=usage)
        system = (Text(text=self.prompt),) if self.prompt else ()
        return self.make_session(system=system, leaf=self.tip or self.last, **self.about)


READER = Reader(
    NAME,
    "OpenHands events",
    sniff,
    read,
    partial(ReplayedRows, _EventReading),
    find_beside=find_beside,
    read_all=read_all,
    name_holders=name_holders,
    most_beside=MOST,
    folder_file=STATE,
)
