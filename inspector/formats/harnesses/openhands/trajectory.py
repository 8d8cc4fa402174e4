"""Read OpenHands' trajectories from before its SDK: actions and observations, or results of an evaluation.

The input is a list of events, lines of them, an object with a `history` or a `trajectory`, or lines of such
objects (an evaluation's `output.jsonl`, of which the first run is read). The complete reply of the model is
in the `tool_call_metadata` of an action, together with the usage of the request; actions of one reply become
one entry. Before function calls (2024), an action is the reply: its thought, and the action itself. A
condensation names the events to forget, one by one or as a range.

Verified with the event classes of OpenHands 0.59 (MIT). The text that `recall` adds to a prompt is the text
of the event's fields, in their order.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ....session.blocks import Number, Text, ToolCall
from ....session.entries import Source, Usage
from ....session.garbage import paused_gc
from ....session.json_text import stringify
from ....session.session import Session
from ...json_document import Fields, ParsedBlock, find_blocks, load, placed, refuse
from ...json_lines import Data, Reader, iter_values
from ...recording import Json, Reading, are_lines, make_cost, read_inclusive, sniff_records
from ...requests.chat_messages import read_answer, read_chat_tools, read_chat_usage, read_message, read_part
from .read import add_exit_status

NAME = "openhands-trajectory"
HOLDERS = ("history", "trajectory")
SILENT = ("agent_state_changed", "null", "recall", "condense")
"""Observations that are not shown to the model as the result of a tool."""
ASIDE = ("change_agent_state", "null", "recall", "condensation_request", "start", "pause", "resume", "stop")
"""Actions that the model did not request."""
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


def _judge_rows(rows: list[Json]) -> str | None:
    return None if rows and (_is_event(rows[0]) or _judge(rows[0]) is None) else "its lines are not events"


def _judge(value: Any) -> str | None:
    events = _find_events(value)
    if not events:
        return "it holds no list of events"
    shown = [event for event in events[:4] if isinstance(event, dict)]
    return None if shown and all(map(_is_event, shown)) else "its events are not actions or observations"


def _find_events(value: Any) -> list[Any]:
    """Return the events of a run. Older evaluations wrote them in pairs."""
    if isinstance(value, dict):
        value = next((value[name] for name in HOLDERS if isinstance(value.get(name), list)), None)
    if not isinstance(value, list):
        return []
    return [event for item in value for event in (item if isinstance(item, list) else [item])]


def _is_event(value: Any) -> bool:
    """Return whether a value is an event: an action with `args`, or an observation with `extras`."""
    fields = Fields(value).rest
    acted = isinstance(fields.get("action"), str) and isinstance(fields.get("args"), dict)
    observed = isinstance(fields.get("observation"), str) and isinstance(fields.get("extras"), dict)
    # In the oldest runs only actions have numbers.
    return observed or ("id" in fields and acted)


@paused_gc()
def read(data: Data) -> Session:
    """Read the first run. Raises `ReadError`, or `EmptySession` if it contains no messages."""
    reading = _OldEvents()
    if not are_lines(data, _judge):
        document = load(data)
        events = _find_events(document)
        if not events:
            raise refuse("it holds no list of events")
        reading.around = Fields(document, *HOLDERS).rest
        return reading.read(placed(events))
    rows = list(iter_values(data, reading.corrupt))
    for source, row in rows:
        events = _find_events(row) if isinstance(row, dict) else []
        if not events:
            reading.feed([(source, row)])
        elif not reading.around:
            reading.around = Fields(row, *HOLDERS).rest
            unread = "{} in the file and not read"
            reading.warn(len(rows) - 1, unread, "other run is", "other runs are")
            reading.feed(placed(events))
    return reading.finish()


class _OldEvents(Reading):
    """State while a run is read event by event. `line` is the current context."""

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.prompt = ""
        self.replies: dict[str, str] = {}
        self.events: dict[str, list[int]] = {}  # the numbers of the events of each entry
        self.sums: dict[str, Number] = {}
        self.open_call: str | None = None
        self.around: Json = {}  # the fields around the events

    def take(self, source: Source, raw: Any) -> None:
        if not isinstance(raw, dict):
            self.spoil("not a JSON object")
            return
        fields = Fields(raw)
        if (time := fields.text("timestamp")) is not None:
            self.times.append(time)
        self.time = time
        action, observation = fields.text("action"), fields.text("observation")
        first = len(self.entries)
        if action is not None:
            self.open_call = None
            self._act(action, source, fields)
        elif observation is not None:
            self._observe(observation, fields)
        else:
            self.note("event without an action or an observation", is_known=False)
        for entry in self.entries[first:]:
            self._know(entry.id, raw.get("id"))

    def _add(self, role: str, parsed_blocks: list[ParsedBlock], fields: Fields, **more: Any) -> str:
        return self.add(f"e{fields.rest.get('id')}", role, parsed_blocks, fields.rest, **more).id

    def _know(self, entry: str, number: Any) -> None:
        if isinstance(number, int):
            self.events.setdefault(entry, []).append(number)

    def _act(self, kind: str, source: Source, fields: Fields) -> None:
        args = Fields(fields.object("args"))
        speaker = fields.rest.get("source")
        if kind == "condensation":
            self._condense(fields, args)
        elif kind == "system":
            text = args.text("content")
            self.prompt += f"\n\n{text}" if text and self.prompt else text or ""
            self.tools = read_chat_tools(args.rest.get("tools")) or self.tools
            self.note(kind)
        elif kind == "message" and (speaker != "agent" or "tool_call_metadata" not in fields.rest):
            words = args.text("content") or ""
            urls = args.any("image_urls")
            parts = (
                [{"type": "image_url", "image_url": url} for url in urls] if isinstance(urls, list) else []
            )
            content = [{"type": "text", "text": words}, *parts]
            parsed_blocks = find_blocks(content, lambda raw: read_part(raw, self.names))
            role = "assistant" if speaker == "agent" else "user"
            own = self._take_metrics(fields) if role == "assistant" else {}
            self._add(role, parsed_blocks, fields, **own)
        elif kind in ASIDE or speaker == "environment":
            self.note(kind)
        elif isinstance(fields.rest.get("tool_call_metadata"), dict):
            self._reply(source, fields)
        else:
            self._do(kind, fields, args)

    def _reply(self, source: Source, fields: Fields) -> None:
        """Add the reply that requested an action by a call: the complete reply is stored with it."""
        called = Fields(fields.object("tool_call_metadata"))
        answer = Fields(called.object("model_response"))
        number = answer.text("id")
        if number is not None and (entry_id := self.replies.get(number)) is not None:
            self.also(entry_id, source)
            self._know(entry_id, fields.rest.get("id"))
            return
        choices = answer.items("choices") or [None]
        message, _ = read_message(Fields(choices[0]).rest.get("message") or {}, self.names)
        parsed_blocks = message.parsed_blocks
        call, tool = called.text("tool_call_id") or "", called.text("function_name") or ""
        if call not in (block.id for block, _ in parsed_blocks if isinstance(block, ToolCall)):
            parsed_blocks = [*parsed_blocks, (ToolCall(id=call, name=tool, input={}), {})]
        self.names[call] = tool
        self.model = answer.text("model") or self.model
        usage = read_chat_usage(answer.rest.get("usage"))
        metrics = self._take_metrics(fields, usage)
        entry = self._add("assistant", parsed_blocks, fields, **metrics)
        if number is not None:
            self.replies[number] = entry

    def _do(self, kind: str, fields: Fields, args: Fields) -> None:
        """Add an action from before function calls, or the user's: the thought and the action."""
        call = f"e{fields.rest.get('id')}"
        thought = args.text("thought")
        call_args = {key: value for key, value in args.rest.items() if key not in OWN and value is not None}
        self.names[call] = kind
        parsed_blocks: list[ParsedBlock] = [(Text(text=thought), {})] if thought else []
        parsed_blocks.append((ToolCall(id=call, name=kind, input=call_args), {}))
        if fields.rest.get("source") == "user":
            words = fields.text("message") or stringify({kind: call_args})
            self._add("user", [(Text(text=words), {})], fields)
        else:
            self.open_call = call
            self._add("assistant", parsed_blocks, fields, **self._take_metrics(fields))

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

    def _observe(self, kind: str, fields: Fields) -> None:
        extras = Fields(fields.any("extras"))
        metadata = Fields(fields.any("tool_call_metadata"))
        cause, content = fields.rest.get("cause"), fields.any("content")
        call = metadata.text("tool_call_id") or (f"e{cause}" if f"e{cause}" in self.names else None)
        if call is None and cause is None and fields.rest.get("id") is None:
            call, self.open_call = self.open_call, None
        if kind == "recall" and (words := _find_recalled(extras)):
            self._add("user", [(Text(text=words), {})], fields, meta=True)
        elif kind in SILENT:
            self.note(kind)
        elif call is None:
            # An observation without a call is sent to the model as a user message.
            words = content if isinstance(content, str) else stringify(content)
            self._add("user", [(Text(text=words), {})], fields, meta=True)
        else:
            failed = kind == "error" or fields.rest.get("success") is False
            if not failed:  # the code is -1 while the command still runs
                about = Fields(extras.rest.get("metadata"))
                failed = (about.number("exit_code") or extras.number("exit_code") or 0) > 0
            name = metadata.text("function_name") or self.names.get(call)
            content = add_exit_status(content, extras.rest.get("metadata"))
            output = read_answer(call, content, self.names, name, failed=failed)
            self._add("tool", [output], fields)

    def _condense(self, fields: Fields, args: Fields) -> None:
        listed = args.any("forgotten_event_ids")
        gone = {n for n in listed if isinstance(n, int)} if isinstance(listed, list) else set()
        first, last = (args.number(f"forgotten_events_{end}_id") for end in ("start", "end"))

        def is_gone(number: int) -> bool:
            return number in gone or (first is not None and last is not None and first <= number <= last)

        kept_ids = [name for name in self.line if not any(map(is_gone, self.events.get(name, [])))]
        summary, offset = args.text("summary"), args.number("summary_offset")
        boundary: Json = {"kept": tuple(kept_ids), "summary": summary}
        boundary["extra"] = {} if offset is None else {"summary_offset": offset}
        own = self._take_metrics(fields) if "llm_metrics" in fields.rest else {}
        name, extra = f"e{fields.rest.get('id')}", fields.rest | args.rest
        self.compact(name, summary, boundary, extra=extra, **own)
        self.line = kept_ids  # only the newest summary is shown

    def finish(self) -> Session:
        number = self.around.get("instance_id", self.around.get("id"))
        return self.make_session(
            id=number if isinstance(number, str) else "",
            system=(Text(text=self.prompt),) if self.prompt else (),
            extra=self.around,
        )


def _find_recalled(extras: Fields) -> str:
    """Return the text that a recall adds to the context."""
    texts = [extras.rest.get(name) for name in RECALLED]
    texts += [
        Fields(knowledge).rest.get("content") for knowledge in extras.items("microagent_knowledge") or ()
    ]
    return "\n\n".join(text for text in texts if isinstance(text, str) and text.strip())


READER = Reader(
    NAME, "OpenHands trajectory", partial(sniff_records, judge=_judge, judge_rows=_judge_rows), read
)
