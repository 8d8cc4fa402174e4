"""Kimi Code's wire logs: one JSON row for each message, each piece of a step, and each change of the context.

In go the bytes, out comes a `Session`. Source: FORMATS §14, and the logs that public programs which read them
are tested with. A step of the model is told in pieces and is one reply, charged by its `step.end`
(`usage.record` tells the same figures again). A compaction puts its summary in the place of the first
`compactedCount` messages; newer versions leave some of the user's messages, the first and the last of them,
and nothing else, perhaps cut short, which is not told. An undo takes prompts back, up to the last compaction.
Which outputs a micro-compaction empties is not told: they stay as they are, and a warning says so.
"""

from __future__ import annotations

from typing import Any

from ...session.blocks import Text, ToolCall
from ...session.entries import Source, Usage
from ...session.session import Session
from ...text import plural
from ..json_document import Fields, Found, iso_time
from ..json_lines import Data, Reader, read_lines
from ..recording import Json, JsonRows, Recording, first_rows, make_output, parse_given
from ..requests.chat_messages import Names, read_chat_tools, read_message, read_part

NAME = "kimi"
KNOWN = (
    *("metadata", "config.", "tools.", "turn.", "llm.", "usage.", "permission.", "full_compaction.", "goal."),
    *("plan", "task.", "skill.", "micro_compaction.", "context.", "subagent.", "swarm.", "mcp."),
)
"""How the types of rows begin that are no messages."""


def sniff(data: Data) -> str | None:
    """None when one of the first rows tells the version of the protocol, or adds to the context."""
    rows = first_rows(data)
    # In the protocol before, and in other systems' files below such a header, rows have no type.
    typed = all(isinstance(row.get("type"), str) for row in rows)
    for row in rows:
        kind = row.get("type")
        if kind == "metadata" and "protocol_version" in row and typed:
            return None
        if kind == "context.append_message" and isinstance(row.get("message"), dict):
            return None
        if kind == "context.append_loop_event" and isinstance(row.get("event"), dict):
            return None
    return "none of its first rows adds a message or an event to the context"


class KimiWire(JsonRows):
    """The rows as they come; the session is made of all of them, and made again when more follow."""

    def make_session(self) -> Session:
        """The session of these rows. Raises `EmptySession` when nobody says anything in them."""
        made = Recording(NAME)
        made.corrupt = list(self.corrupt)
        wire = _Wire(made)
        for source, row in self.rows:
            wire.take(source, row)
        return wire.make_session()


class _Wire:
    """Row after row. `live` are the entries that stand in the context now, `steps` those of open steps.

    `prompts` are the places in `live` of the prompts that an undo can take back.
    """

    def __init__(self, made: Recording) -> None:
        self.made = made
        self.names: Names = {}
        self.live: list[str] = []
        self.prompts: list[int] = []
        self.end: str | None = None
        self.steps: dict[str, str] = {}
        self.waiting: dict[str, list[Source]] = {}
        self.about: Json = {}
        self.model: str | None = None
        self.tools: list[Any] = []
        self.emptied = 0

    def take(self, source: Source, row: Json) -> None:
        """One row."""
        fields = Fields(row)
        kind = fields.text("type") or "row without a type"
        time = iso_time(fields.number("time"))
        self.made.times += [time] if time else []
        event = fields.object("event") if kind == "context.append_loop_event" else None
        if kind == "context.append_message" and isinstance(row.get("message"), dict):
            self._say(source, Fields(fields.object("message")), fields, time)
        elif event is not None and self._step(source, Fields(event), time):
            return
        elif kind == "context.apply_compaction":
            self._compact(source, fields, time)
        else:
            self._change(kind, fields)
            self.made.note(kind, source, known=kind.startswith(KNOWN))

    def _change(self, kind: str, fields: Fields) -> None:
        """A row that is no message, and may change what stands in the context."""
        if kind == "config.update":
            self.about |= {key: value for key, value in fields.rest.items() if value is not None}
            self.model = fields.text("modelAlias") or self.model
        elif kind == "llm.request":
            self.model = fields.text("model") or self.model
        elif kind == "llm.tools_snapshot":
            self.tools = fields.items("tools") or self.tools
        elif kind == "metadata":
            self.about |= fields.rest
        elif kind == "context.clear":
            self.live, self.prompts, self.end = [], [], None
        elif kind == "context.undo":
            self._undo(fields.number("count"))
        elif kind in ("micro_compaction.apply", "context.observation_masking"):
            self.emptied += 1

    def _say(self, source: Source, told: Fields, around: Fields, time: str | None) -> None:
        """A message that the harness or a person put into the context."""
        origin = Fields(told.object("origin"))
        content = told.any("content")
        parts = [_open_part(part) for part in content] if isinstance(content, list) else content
        raw = {"role": told.text("role") or "user", "content": parts}
        if calls := told.items("toolCalls"):
            raw["tool_calls"] = calls
        if call := told.text("toolCallId"):
            raw["tool_call_id"] = call
        message, _ = read_message(raw, self.names)
        role = message.role if message.role in ("user", "assistant", "tool") else "user"
        mine = role == "user" and origin.rest.get("kind", "user") != "user"
        more: Json = {"meta": True} if mine or message.role == "system" else {}
        more |= {"model": self.model} if role == "assistant" else {}
        extra = around.rest | told.rest | ({"origin": origin.rest} if origin.rest else {})
        name = told.text("id") or f"line-{source.line}"
        self._add(name, role, message.found, source, extra, timestamp=time, **more)

    def _add(self, name: str, role: str, found: list[Found], source: Source, extra: Json, **more: Any) -> str:
        entry = self.made.add(name, role, found, source, extra, parent=self.end, **more)
        if self._is_prompt(entry.id):
            self.prompts.append(len(self.live))
        self.live.append(entry.id)
        self.end = entry.id
        return entry.id

    def _step(self, source: Source, event: Fields, time: str | None) -> bool:
        """A piece of a step of the model's, or what a tool answered; whether it is one that is known."""
        kind = event.text("type")
        if kind == "tool.result":
            call, result = event.text("toolCallId") or "", Fields(event.object("result"))
            output, failed = result.any("output"), result.flag("isError") is True
            block = make_output(
                call, output, lambda part: read_part(part, self.names), self.names.get(call), failed=failed
            )
            self._add(
                f"line-{source.line}", "tool", [block], source, event.rest | result.rest, timestamp=time
            )
            return True
        number = event.text("stepUuid") or event.text("uuid") or ""
        if kind == "content.part":
            part = _open_part(event.any("part"))
            found = read_part(part, self.names)
            if found[0].kind == "text" and not found[0].text.strip():
                return self._wait(number, source)
            self._piece(number, found, source, time)
        elif kind == "tool.call":
            call, name = event.text("toolCallId") or f"line-{source.line}", event.text("name") or ""
            self.names[call] = name
            block_: Found = ToolCall(id=call, name=name, input=parse_given(event.any("args"))), event.rest
            self._piece(number, block_, source, time)
        elif kind == "step.begin":
            return self._wait(number, source)
        elif kind == "step.end":
            if number not in self.steps:
                return self._wait(number, source)
            entry = self.steps.pop(number)
            usage, reason = _read_usage(event.object("usage")), event.text("finishReason")
            self.made.also(entry, source)
            extra = self.made.entries[self.made.where[entry]].extra | {"step": event.rest}
            self.made.change(entry, usage=usage, stop_reason=reason, extra=extra)
        else:
            return False
        return True

    def _wait(self, number: str, source: Source) -> bool:
        """A row that says nothing: it goes to its step once that says something."""
        if number in self.steps:
            self.made.also(self.steps[number], source)
        else:
            self.waiting.setdefault(number, []).append(source)
        return True

    def _piece(self, number: str, found: Found, source: Source, time: str | None) -> None:
        known = self.steps.get(number)
        if known is None:
            more = {"timestamp": time, "model": self.model}
            known = self._add(f"line-{source.line}", "assistant", [found], source, {}, **more)
            self.steps[number] = known
            for earlier in self.waiting.pop(number, ()):
                self.made.also(known, earlier)
            return
        entry = self.made.entries[self.made.where[known]]
        rests = {**entry.extra.get("blocks", {}), **({str(len(entry.blocks)): found[1]} if found[1] else {})}
        extra = {**entry.extra, "blocks": rests} if rests else entry.extra
        self.made.change(known, blocks=(*entry.blocks, found[0]), extra=extra)
        self.made.also(known, source)

    def _compact(self, source: Source, fields: Fields, time: str | None) -> None:
        """A summary: since user's messages are told to stay it takes the place of all others, before of the
        first ones alone."""
        count, stay = fields.number("compactedCount"), fields.number("keptUserMessageCount")
        head = max(int(fields.number("keptHeadUserMessageCount") or 0), 0)
        kept: list[str] = []
        rest: list[str] = []
        if stay is not None:
            mine = [name for name in self.live if self._is_prompt(name)]
            tail = max(int(stay) - head, 0)
            kept = [*mine[:head], *mine[max(len(mine) - tail, head) :]]
        elif count is not None:
            rest = self.live[int(max(count, 0)) :]
        summary, sent = fields.text("summary"), fields.text("contextSummary")
        words = sent or summary
        boundary: Json = {
            "tokens_before": fields.number("tokensBefore"),
            "tokens_after": fields.number("tokensAfter"),
            "kept": (*kept, *rest),
            "summary": words,
            "extra": {} if words else {"unreadable": True},
        }
        extra = fields.rest | ({"summary": summary} if sent and summary != sent else {})
        entry = self.made.compact(
            f"line-{source.line}", words, source, boundary, parent=self.end, timestamp=time, extra=extra
        )
        gone = len(self.live) - len(rest)
        self.live = [*kept, entry.id, *rest]
        self.prompts = [at - gone + 1 for at in self.prompts if at >= gone]
        self.end = entry.id

    def _is_prompt(self, name: str) -> bool:
        entry = self.made.entries[self.made.where[name]]
        return entry.role == "user" and not entry.meta and entry.boundary is None

    def _undo(self, count: float | None) -> None:
        """Prompts taken back, with what followed them; none from before the last compaction."""
        back = int(min(count, len(self.prompts))) if count is not None and count > 0 else 0
        if not back:
            return
        first = self.prompts[-back]
        del self.prompts[-back:]
        self.end = self.made.entries[self.made.where[self.live[first]]].parent
        del self.live[first:]

    def make_session(self) -> Session:
        """All of it. Raises `EmptySession` when nobody says anything."""
        for sources in self.waiting.values():
            for source in sources:
                self.made.note("step without words", source)
        if self.emptied:
            times = plural(self.emptied, "micro-compaction is", "micro-compactions are")
            self.made.warnings.append(
                f"{times} told, but not which outputs became empty: they are shown whole"
            )
        about = Fields(self.about)
        prompt, version = about.text("systemPrompt"), about.text("protocol_version")
        return self.made.make_session(
            model=self.model,
            cwd=about.text("cwd"),
            system=(Text(text=prompt),) if prompt else (),
            tools=read_chat_tools(self.tools),
            leaf=self.end,
            extra=about.rest | ({"protocol_version": version} if version else {}),
        )


def _open_part(part: Any) -> Any:
    """A part of a message; what was thought under the name that others give it."""
    if isinstance(part, dict) and part.get("type") == "think" and isinstance(part.get("think"), str):
        return {**{k: v for k, v in part.items() if k != "think"}, "type": "reasoning", "text": part["think"]}
    return part


def _read_usage(raw: Any) -> Usage | None:
    """Figures of one request; the cache's stand apart from the rest of the input."""
    used = Fields(raw)
    if not used.rest:
        return None
    names = ("inputOther", "output", "inputCacheRead", "inputCacheCreation")
    fresh, output, read, written = (used.number(name) or 0 for name in names)
    return Usage(input=fresh, output=output, cache_read=read, cache_write=written)


READER = Reader(NAME, "Kimi Code wire log", sniff, lambda data: read_lines(KimiWire(), data), KimiWire)
