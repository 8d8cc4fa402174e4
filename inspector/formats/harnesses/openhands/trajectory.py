"""OpenHands' trajectories of before its SDK: a list of actions and observations, or what an evaluation wrote.

In go the bytes of a list of events, of lines of them, of an object with a `history` or a `trajectory`, or of
lines of such objects (an evaluation's `output.jsonl`, whose first run is read); out comes a `Session`. What a
model replied stands whole in an action's `tool_call_metadata`, the usage of the request with it; actions of
one reply are one entry. Before function calls (2024) an action is the reply: its thought, and what it did. A
condensation names events that are forgotten, one by one or from the first to the last of them.

Verified against the classes of events in OpenHands 0.59 (MIT); what `recall` adds to a prompt is given as the
words that were found, in the order of the event's fields.
"""

from __future__ import annotations

from typing import Any

from ....errors import ReadError
from ....session.blocks import Number, Text, ToolCall
from ....session.entries import Source, Tool, Usage
from ....session.garbage import paused_gc
from ....session.json_text import stringify
from ....session.session import Session
from ....text import plural
from ...json_document import FILE, Fields, Found, find_blocks, load, place, sniff_document
from ...json_lines import Data, Reader, iter_values
from ...recording import Json, Recording, first_rows, make_cost, make_output, read_inclusive
from ...requests.chat_messages import read_chat_tools, read_chat_usage, read_message, read_part
from .output import tell_ending

NAME = "openhands-trajectory"
HOLDERS = ("history", "trajectory")
SILENT = ("agent_state_changed", "null", "recall", "condense")
"""Observations that no model is shown as the answer of a tool."""
ASIDE = ("change_agent_state", "null", "recall", "condensation_request", "start", "pause", "resume", "stop")
"""Actions that no model asked for."""
SUMS = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")
COST = "accumulated_cost"
"""Sums of a run so far, in its events."""
OWN = ("thought", "confirmation_state", "security_risk", "hidden", "blocking", "is_input", "is_static")
"""Arguments of an action that the model did not give."""
RECALLED = (
    "repo_instructions",
    "runtime_hosts",
    "additional_agent_instructions",
    "conversation_instructions",
)


def sniff(data: Data) -> str | None:
    """None for events of the older OpenHands: actions with `args`, or observations with `extras`."""
    reason = sniff_document(data, _judge)
    if reason is None or "several" not in reason:
        return reason
    rows = first_rows(data)
    return None if rows and (_is_event(rows[0]) or _judge(rows[0]) is None) else "its lines are no events"


def _judge(value: Any) -> str | None:
    events = _find_events(value)
    if not events:
        return "it holds no list of events"
    shown = [event for event in events[:4] if isinstance(event, dict)]
    return None if shown and all(map(_is_event, shown)) else "its events are no actions or observations"


def _find_events(value: Any) -> list[Any]:
    """The events of a run; older evaluations wrote them in pairs."""
    if isinstance(value, dict):
        value = next((value[name] for name in HOLDERS if isinstance(value.get(name), list)), None)
    if not isinstance(value, list):
        return []
    return [each for item in value for each in (item if isinstance(item, list) else [item])]


def _is_event(value: Any) -> bool:
    fields = Fields(value).rest
    acted = isinstance(fields.get("action"), str) and isinstance(fields.get("args"), dict)
    observed = isinstance(fields.get("observation"), str) and isinstance(fields.get("extras"), dict)
    # The oldest runs number their actions alone.
    return observed or ("id" in fields and acted)


@paused_gc()
def read(data: Data) -> Session:
    """The first run. Raises `ReadError`, or `EmptySession` when nobody says anything."""
    reading = _OldEvents()
    if len(first_rows(data, 2)) < 2 or sniff_document(data, _judge) is None:
        document = load(data)
        events = _find_events(document)
        if not events:
            raise ReadError(FILE, detail="it holds no list of events")
        for line, event in enumerate(events, 1):
            reading.take(place(line), event)
        return reading.make_session(Fields(document, *HOLDERS).rest)
    rows = list(iter_values(data, reading.made.corrupt))
    about: Json = {}
    for source, row in rows:
        if (events := _find_events(row)) and isinstance(row, dict):
            if not about:
                about = Fields(row, *HOLDERS).rest
                for number, event in enumerate(events, 1):
                    reading.take(place(number), event)
                if len(rows) > 1:
                    others = plural(len(rows) - 1, "other run is", "other runs are")
                    reading.made.warnings.append(f"{others} in the file and not read")
        else:
            reading.take(source, row)
    return reading.make_session(about)


class _OldEvents:
    """What has been read of a run, event after event."""

    def __init__(self) -> None:
        self.made = Recording(NAME)
        self.names: dict[str, str] = {}
        self.system = ""
        self.tools: tuple[Tool, ...] = ()
        self.model: str | None = None
        self.replies: dict[str, str] = {}
        self.events: dict[str, list[int]] = {}
        self.live: list[str] = []
        self.sums: dict[str, Number] = {}
        self.asked: str | None = None

    def take(self, source: Source, raw: Any) -> None:
        """One event."""
        if not isinstance(raw, dict):
            self.made.spoil(source, "not a JSON object")
            return
        fields = Fields(raw)
        if (time := fields.text("timestamp")) is not None:
            self.made.times.append(time)
        action, observation = fields.text("action"), fields.text("observation")
        if action is not None:
            self.asked = None
            self._act(action, source, fields, time)
        elif observation is not None:
            self._observe(observation, source, fields, time)
        else:
            self.made.note("event without an action or an observation", source, known=False)

    def _add(self, role: str, found: list[Found], source: Source, fields: Fields, **more: Any) -> str:
        number = fields.rest.get("id")
        entry = self.made.add(f"e{number}", role, found, source, fields.rest, **more)
        self._know(entry.id, number)
        self.live.append(entry.id)
        return entry.id

    def _know(self, entry: str, number: Any) -> None:
        if isinstance(number, int):
            self.events.setdefault(entry, []).append(number)

    def _act(self, kind: str, source: Source, fields: Fields, time: str | None) -> None:
        args = Fields(fields.object("args"))
        speaker = fields.rest.get("source")
        if kind == "condensation":
            self._condense(source, fields, args, time)
        elif kind == "system":
            text = args.text("content")
            self.system += f"\n\n{text}" if text and self.system else text or ""
            self.tools = read_chat_tools(args.rest.get("tools")) or self.tools
            self.made.note(kind, source)
        elif kind == "message" and (speaker != "agent" or "tool_call_metadata" not in fields.rest):
            words = args.text("content") or ""
            urls = args.any("image_urls")
            parts = (
                [{"type": "image_url", "image_url": url} for url in urls] if isinstance(urls, list) else []
            )
            found = find_blocks([{"type": "text", "text": words}, *parts], self._read_part)
            role = "assistant" if speaker == "agent" else "user"
            own = self._take_metrics(fields) if role == "assistant" else {}
            self._add(role, found, source, fields, timestamp=time, **own)
        elif kind in ASIDE or speaker == "environment":
            self.made.note(kind, source)
        elif isinstance(fields.rest.get("tool_call_metadata"), dict):
            self._reply(source, fields, time)
        else:
            self._do(kind, source, fields, args, time)

    def _reply(self, source: Source, fields: Fields, time: str | None) -> None:
        """An action that the model asked for by a call: its whole reply stands beside it."""
        called = Fields(fields.object("tool_call_metadata"))
        answer = Fields(called.object("model_response"))
        number = answer.text("id")
        if number is not None and (known := self.replies.get(number)) is not None:
            self.made.also(known, source)
            self._know(known, fields.rest.get("id"))
            return
        choices = answer.items("choices") or [None]
        message, _ = read_message(Fields(choices[0]).rest.get("message") or {}, self.names)
        found = message.found
        call, tool = called.text("tool_call_id") or "", called.text("function_name") or ""
        if call not in (block.id for block, _ in found if isinstance(block, ToolCall)):
            found = [*found, (ToolCall(id=call, name=tool, input={}), {})]
        self.names[call] = tool
        self.model = answer.text("model") or self.model
        usage = read_chat_usage(answer.rest.get("usage"))
        metrics = self._take_metrics(fields, usage)
        entry = self._add("assistant", found, source, fields, timestamp=time, **metrics)
        if number is not None:
            self.replies[number] = entry

    def _do(self, kind: str, source: Source, fields: Fields, args: Fields, time: str | None) -> None:
        """An action of before function calls, or a person's: what was thought, and what was done."""
        call = f"e{fields.rest.get('id')}"
        thought = args.text("thought")
        given = {key: value for key, value in args.rest.items() if key not in OWN and value is not None}
        self.names[call] = kind
        found: list[Found] = [(Text(text=thought), {})] if thought else []
        found.append((ToolCall(id=call, name=kind, input=given), {}))
        if fields.rest.get("source") == "user":
            words = fields.text("message") or stringify({kind: given})
            self._add("user", [(Text(text=words), {})], source, fields, timestamp=time)
        else:
            self.asked = call
            self._add("assistant", found, source, fields, timestamp=time, **self._take_metrics(fields))

    def _take_metrics(self, fields: Fields, usage: Usage | None = None) -> Json:
        """Return the model and the usage of a reply: the increase of the run's sums since the previous reply.

        If the response is in the file, `usage` is its own usage, and the sums are used only for the cost.
        """
        sums = Fields(fields.rest.get("llm_metrics"))
        used = Fields(sums.rest.get("accumulated_token_usage"))
        now = {key: number for key in SUMS if (number := used.number(key)) is not None}
        now |= {COST: number} if (number := sums.number(COST)) is not None else {}
        # After a restart, a run counts from zero.
        restarted = any(now[key] < self.sums.get(key, 0) for key in now)
        grown = {key: number - (0 if restarted else self.sums.get(key, 0)) for key, number in now.items()}
        self.sums |= now
        if usage is None and (grown.get(SUMS[0]) or grown.get(SUMS[1])):
            usage = read_inclusive(grown, *SUMS)
        if usage is not None and (cost := grown.get(COST)):
            usage = usage.model_copy(update={"cost": make_cost(cost)})
        self.model = used.text("model") or self.model
        return {"model": self.model, "usage": usage}

    def _observe(self, kind: str, source: Source, fields: Fields, time: str | None) -> None:
        extras = Fields(fields.any("extras"))
        told = Fields(fields.any("tool_call_metadata"))
        cause, content = fields.rest.get("cause"), fields.any("content")
        call = told.text("tool_call_id") or (f"e{cause}" if f"e{cause}" in self.names else None)
        if call is None and cause is None and fields.rest.get("id") is None:
            call, self.asked = self.asked, None
        if kind == "recall" and (words := _find_recalled(extras)):
            self._add("user", [(Text(text=words), {})], source, fields, timestamp=time, meta=True)
        elif kind in SILENT:
            self.made.note(kind, source)
        elif call is None:
            # What no call asked for is told to the model as a user's message.
            words = content if isinstance(content, str) else stringify(content)
            self._add("user", [(Text(text=words), {})], source, fields, timestamp=time, meta=True)
        else:
            failed = kind == "error" or fields.rest.get("success") is False or _find_exit(extras) > 0
            name = told.text("function_name") or self.names.get(call)
            content = tell_ending(content, extras.rest.get("metadata"))
            output = make_output(call, content, self._read_part, name, failed=failed)
            self._add("tool", [output], source, fields, timestamp=time)

    def _read_part(self, raw: Any) -> Found:
        return read_part(raw, self.names)

    def _condense(self, source: Source, fields: Fields, args: Fields, time: str | None) -> None:
        listed = args.any("forgotten_event_ids")
        gone = {n for n in listed if isinstance(n, int)} if isinstance(listed, list) else set()
        first, last = (args.number(f"forgotten_events_{end}_id") for end in ("start", "end"))

        def is_gone(number: int) -> bool:
            return number in gone or (first is not None and last is not None and first <= number <= last)

        kept = [name for name in self.live if not any(map(is_gone, self.events.get(name, [])))]
        summary, offset = args.text("summary"), args.number("summary_offset")
        boundary: Json = {"kept": tuple(kept), "summary": summary}
        boundary["extra"] = {} if offset is None else {"summary_offset": offset}
        number = fields.rest.get("id")
        own = self._take_metrics(fields) if "llm_metrics" in fields.rest else {}
        entry = self.made.compact(
            f"e{number}", summary, source, boundary, timestamp=time, extra=fields.rest | args.rest, **own
        )
        self._know(entry.id, number)
        self.live = kept  # only the newest summary is shown

    def make_session(self, about: Json) -> Session:
        """All of it. Raises `EmptySession` when nobody says anything."""
        number = about.get("instance_id", about.get("id"))
        return self.made.make_session(
            id=number if isinstance(number, str) else "",
            model=self.model,
            system=(Text(text=self.system),) if self.system else (),
            tools=self.tools,
            extra=about,
        )


def _find_exit(extras: Fields) -> float:
    """The exit code of a command; 0 where none is told, and where it runs still (-1)."""
    code = Fields(extras.rest.get("metadata")).number("exit_code") or extras.number("exit_code")
    return code or 0


def _find_recalled(extras: Fields) -> str:
    """The words that a recall put before the model."""
    said = [extras.rest.get(name) for name in RECALLED]
    said += [Fields(each).rest.get("content") for each in extras.items("microagent_knowledge") or ()]
    return "\n\n".join(text for text in said if isinstance(text, str) and text.strip())


READER = Reader(NAME, "OpenHands trajectory", sniff, read)
