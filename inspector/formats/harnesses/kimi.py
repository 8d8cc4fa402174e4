"""Read Kimi Code's wire logs: one JSON row for each message, each piece of a step, and each context change.

Source: FORMATS §14, and the test logs of public programs that read this format. A step of the model is
recorded in pieces and becomes one reply, with the usage of its `step.end` (`usage.record` repeats it). A
compaction replaces the first `compactedCount` messages by its summary. Newer versions keep some of the user's
messages, the first and the last ones, and nothing else; whether they were shortened is not recorded. An undo
removes prompts, at most back to the last compaction. The outputs that a micro-compaction clears are not
recorded: they remain, and a warning says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...session.blocks import Text
from ...session.entries import Entry, Source
from ...session.session import Session
from ..json_document import Fields, ParsedBlock, iso_time, make_usage
from ..json_lines import Data
from ..recording import Json, Reading, first_rows, make_call, replayed_reader
from ..requests.chat_messages import read_answer, read_chat_tools, read_message, read_part

NAME = "kimi"
KNOWN_PREFIXES = (
    *("metadata", "config.", "tools.", "turn.", "llm.", "usage.", "permission.", "full_compaction.", "goal."),
    *("plan", "task.", "skill.", "micro_compaction.", "context.", "subagent.", "swarm.", "mcp."),
)
"""Prefixes of the types of rows that are not messages."""


def sniff(data: Data) -> str | None:
    """Return None if one of the first rows has the protocol version or adds to the context."""
    rows = first_rows(data)
    # Rows of the previous protocol, and of other systems with such a header, have no type.
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


class _Wire(Reading):
    """State while a log is read row by row. `line` is the current context."""

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[int] = []  # indices in `line` of the prompts that an undo can remove
        self.steps: dict[str, str] = {}  # the entries of open steps
        self.waiting: dict[str, list[Source]] = {}
        self.emptied = 0

    def take(self, source: Source, row: Json) -> None:
        fields = Fields(row)
        kind = fields.text("type") or "row without a type"
        self.time = iso_time(fields.number("time"))
        self.times += [self.time] if self.time else []
        event = fields.object("event") if kind == "context.append_loop_event" else None
        if kind == "context.append_message" and isinstance(row.get("message"), dict):
            self._add_message(source, Fields(fields.object("message")), fields)
        elif event is not None and self._step(source, Fields(event)):
            return
        elif kind == "context.apply_compaction":
            self._compact(source, fields)
        else:
            self._change(kind, fields)
            self.note(kind, is_known=kind.startswith(KNOWN_PREFIXES))

    def _change(self, kind: str, fields: Fields) -> None:
        """Read a row that is not a message but may change the context."""
        if kind == "config.update":
            self.about |= {key: value for key, value in fields.rest.items() if value is not None}
            self.model = fields.text("modelAlias") or self.model
        elif kind == "llm.request":
            self.model = fields.text("model") or self.model
        elif kind == "llm.tools_snapshot":
            self.tools = read_chat_tools(fields.items("tools")) or self.tools
        elif kind == "metadata":
            self.about |= fields.rest
        elif kind == "context.clear":
            self.cut(0)
            self.prompts.clear()
        elif kind == "context.undo":
            self._undo(fields.number("count"))
        elif kind in ("micro_compaction.apply", "context.observation_masking"):
            self.emptied += 1

    def _add_message(self, source: Source, message_fields: Fields, around: Fields) -> None:
        """Add a message that the harness or the user put into the context."""
        origin = Fields(message_fields.object("origin"))
        content = message_fields.any("content")
        parts = [_open_part(part) for part in content] if isinstance(content, list) else content
        raw = {"role": message_fields.text("role") or "user", "content": parts}
        if calls := message_fields.items("toolCalls"):
            raw["tool_calls"] = calls
        if call := message_fields.text("toolCallId"):
            raw["tool_call_id"] = call
        message, _ = read_message(raw, self.names)
        role = message.role if message.role in ("user", "assistant", "tool") else "user"
        is_harness = role == "user" and origin.rest.get("kind", "user") != "user"
        more: Json = {"meta": True} if is_harness or message.role == "system" else {}
        more |= {"model": self.model} if role == "assistant" else {}
        extra = around.rest | message_fields.rest | ({"origin": origin.rest} if origin.rest else {})
        name = message_fields.text("id") or f"line-{source.line}"
        self.add(name, role, message.parsed_blocks, extra, **more)

    def _step(self, source: Source, event: Fields) -> bool:
        """Read a piece of a step or a tool's result. Returns whether its type is known."""
        kind = event.text("type")
        if kind == "tool.result":
            call, result = event.text("toolCallId") or "", Fields(event.object("result"))
            output, failed = result.any("output"), result.flag("isError") is True
            block = read_answer(call, output, self.names, failed=failed)
            extra = event.rest | result.rest
            self.add(f"line-{source.line}", "tool", [block], extra)
            return True
        number = event.text("stepUuid") or event.text("uuid") or ""
        if kind == "content.part":
            part = _open_part(event.any("part"))
            parsed_block = read_part(part, self.names)
            if parsed_block[0].kind == "text" and not parsed_block[0].text.strip():
                return self._wait(number, source)
            self._piece(number, parsed_block, source)
        elif kind == "tool.call":
            call, name = event.text("toolCallId") or f"line-{source.line}", event.text("name") or ""
            block_ = make_call(self.names, call, name, event.any("args"))
            self._piece(number, (block_, event.rest), source)
        elif kind == "step.begin":
            return self._wait(number, source)
        elif kind == "step.end":
            if number not in self.steps:
                return self._wait(number, source)
            entry = self.steps.pop(number)
            raw, reason = event.object("usage"), event.text("finishReason")
            usage = make_usage(Fields({"usage": raw}), _USAGE) if raw else None
            extra = self[entry].extra | {"step": event.rest}
            sources = (*self[entry].sources, source)
            self.change(entry, usage=usage, stop_reason=reason, extra=extra, sources=sources)
        else:
            return False
        return True

    def _wait(self, number: str, source: Source) -> bool:
        """Store a row without content until its step has an entry."""
        if number in self.steps:
            self.also(self.steps[number], source)
        else:
            self.waiting.setdefault(number, []).append(source)
        return True

    def _piece(self, number: str, parsed_block: ParsedBlock, source: Source) -> None:
        entry_id = self.steps.get(number)
        if entry_id is None:
            name = f"line-{source.line}"
            entry_id = self.add(name, "assistant", [parsed_block], model=self.model).id
            self.steps[number] = entry_id
            for earlier in self.waiting.pop(number, ()):
                self.also(entry_id, earlier)
            return
        self.extend(entry_id, [parsed_block], source)

    def _compact(self, source: Source, fields: Fields) -> None:
        """Add a compaction.

        If the row says how many user messages are kept, the summary replaces all others; in older rows it
        replaces only the first messages.
        """
        count, stay = fields.number("compactedCount"), fields.number("keptUserMessageCount")
        head = max(int(fields.number("keptHeadUserMessageCount") or 0), 0)
        kept_ids: list[str] = []
        rest: list[str] = []
        if stay is not None:
            prompt_ids = [name for name in self.line if self._is_prompt(name)]
            tail = max(int(stay) - head, 0)
            kept_ids = [*prompt_ids[:head], *prompt_ids[max(len(prompt_ids) - tail, head) :]]
        elif count is not None:
            rest = self.line[int(max(count, 0)) :]
        summary, sent = fields.text("summary"), fields.text("contextSummary")
        words = sent or summary
        boundary: Json = {
            "tokens_before": fields.number("tokensBefore"),
            "tokens_after": fields.number("tokensAfter"),
            "kept": (*kept_ids, *rest),
            "summary": words,
            "extra": {} if words else {"unreadable": True},
        }
        extra = fields.rest | ({"summary": summary} if sent and summary != sent else {})
        gone = len(self.line) - len(rest)
        entry = self.compact(f"line-{source.line}", words, boundary, extra=extra)
        self.line = [*kept_ids, entry.id, *rest]
        self.prompts = [index - gone + 1 for index in self.prompts if index >= gone]

    def add(
        self,
        name: str,
        role: str,
        parsed_blocks: Iterable[ParsedBlock],
        extra: Json | None = None,
        **more: Any,
    ) -> Entry:
        """Add a message; a prompt can be removed by an undo."""
        entry = super().add(name, role, parsed_blocks, extra, **more)
        if self._is_prompt(entry.id):
            self.prompts.append(len(self.line) - 1)
        return entry

    def _is_prompt(self, name: str) -> bool:
        entry = self[name]
        return entry.role == "user" and not entry.meta and entry.boundary is None

    def _undo(self, count: float | None) -> None:
        """Remove the newest prompts and what follows them, at most back to the last compaction."""
        back = int(min(count, len(self.prompts))) if count is not None and count > 0 else 0
        if back:
            first = self.prompts[-back]
            del self.prompts[-back:]
            self.tip = self[self.line[first]].parent
            del self.line[first:]

    def finish(self) -> Session:
        for sources in self.waiting.values():
            for source in sources:
                self.note("step without words", source)
        shown = "{} recorded, but not which outputs were cleared: they are shown whole"
        self.warn(self.emptied, shown, "micro-compaction is", "micro-compactions are")
        about = Fields(self.about)
        prompt, version = about.text("systemPrompt"), about.text("protocol_version")
        return self.make_session(
            cwd=about.text("cwd"),
            system=(Text(text=prompt),) if prompt else (),
            extra=about.rest | ({"protocol_version": version} if version else {}),
        )


def _open_part(part: Any) -> Any:
    """Convert a thought to the key that other formats use; other parts are returned unchanged."""
    if isinstance(part, dict) and part.get("type") == "think" and isinstance(part.get("think"), str):
        return {**{k: v for k, v in part.items() if k != "think"}, "type": "reasoning", "text": part["think"]}
    return part


_USAGE = "inputOther", "output", "inputCacheRead", "inputCacheCreation", ""


READER = replayed_reader(NAME, "Kimi Code wire log", sniff, _Wire)
