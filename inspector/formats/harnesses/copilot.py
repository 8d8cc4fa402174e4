"""Read GitHub Copilot CLI's event logs: one event per line, with a type, data and the id of its parent event.

Source: FORMATS §3. The text sent to the model for a prompt is `transformedContent`. A compaction reports
tokens before and after by section, which are stored in the boundary's `extra`. It removes the first messages;
those added while the summary was written remain. Since 1.0.9x a `session.usage_record` reports the usage of a
request, which is assigned once to the reply with the same `apiCallId`. Older logs report the output of each
reply (`outputTokens`, stored in its `extra`) and, in `session.shutdown`, sums by model (`modelMetrics`). Each
exit of the session writes one shutdown that counts from zero (PanAchy/copilot-arewecooked pull 45), so the
sums add up as `Session.totals`. Events of sub-agents (`agentId`, in older logs `parentToolCallId`) are
separate and do not change the model or context of the conversation.
"""

from __future__ import annotations

import re
from typing import Any

from ...session.blocks import Reasoning, Text, ToolCall
from ...session.entries import Source, StatedTotal, Usage, is_tokens
from ...session.session import Session
from ..json_document import Fields, ParsedBlock, unknown
from ..json_lines import Data
from ..recording import (
    Json,
    Reading,
    first_rows,
    make_output,
    parse_arguments,
    read_inclusive,
    replayed_reader,
)

NAME = "copilot-cli"
FAMILIES = frozenset(
    [
        *("session", "hook", "permission", "assistant", "tool", "subagent", "skill", "system", "user"),
        *("abort", "user_input", "elicitation", "external_tool", "command", "commands", "exit_plan_mode"),
        *("mcp", "pending_messages", "model", "sampling", "capabilities", "custom_agent"),
        "auto_mode_switch",
    ]
)
"""Prefixes of the types of events."""
SECTIONS = ("systemTokens", "conversationTokens", "toolDefinitionsTokens")
USED = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
USED_ONCE = ("input", "output", "cachedInput", "cacheWrite")
"""The figures of a summary's request, and their names before version 1.0."""
STARTS = ("session.start", "session.resume")
START_FIELDS = {"sessionId", "selectedModel", "context", "cwd", "startTime"}
"""Fields of a session's start. A log copied by another program may have only some of them."""
MESSAGES = ("user.message", "assistant.message")
TYPED = ("", "user", "command-")
"""Values of `source` for prompts that a person wrote: none, the user, or a command of the user."""
NOTICE = "<system_notification>"
"""Prefix of a user message that the harness wrote."""


def sniff(data: Data) -> str | None:
    """Return None if one of the first lines is a start of Copilot's session, or a message in its envelope
    (the log may begin in the middle); else the reason."""
    named = False
    for row in first_rows(data):
        about = row.get("data")
        if row.get("type") in STARTS and isinstance(about, dict):
            if "copilotVersion" in about or str(about.get("producer")).startswith("copilot"):
                return None
            named = named or bool(START_FIELDS & set(about))
        if named and row.get("type") in MESSAGES and isinstance(about, dict) and "content" in about:
            return None
        if row.get("type") in MESSAGES and {"id", "parentId", "timestamp"} <= row.keys():
            if isinstance(about, dict) and "content" in about:
                return None
    return "none of its first lines is a `session.start` of Copilot, or a message with its envelope"


class _LogReading(Reading):
    """State while a log is read event by event."""

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.prompts: dict[str, str] = {}  # by their role: system or developer
        self.ends: Json = {}
        self.totals: list[StatedTotal] = []
        self.callers: dict[str, str] = {}  # the entry of the reply that contains a call, by call id
        self.aside: dict[str, str] = {}
        self.used: dict[str, Usage] = {}  # usage of requests whose replies were not read yet, by request id
        self.replied: dict[str, str] = {}  # the entry of the first reply of each request
        self.positions: dict[str, int] = {}
        self.started: tuple[int, Json] | None = None
        self.updated: str | None = None

    def take(self, source: Source, row: Json) -> None:
        kind, data = row.get("type"), row.get("data")
        fields = Fields(row, "type", "data")
        name = fields.text("id") or f"line-{source.line}"
        self.time = fields.text("timestamp")
        self.updated = self.time or self.updated
        self.positions[name] = len(self.line)
        if not isinstance(kind, str) or not isinstance(data, dict):
            self.note(str(kind or "event without a type"), is_known=False)
            return
        if row.get("ephemeral") is True:
            if kind == "session.snapshot_rewind":
                self._rewind(data)
            self.note(kind)
            return
        details = Fields(data)
        agent = fields.text("agentId") or Fields(data).text("parentToolCallId")
        limit = data.get("tokenLimit")
        if agent is None and isinstance(limit, int) and not isinstance(limit, bool):
            self.window = limit
        fields.any("parentId")
        blocks, role, more = self._read_message(kind, details, name)
        if kind == "session.usage_record":
            self._charge(details.object("usage"))
            self.note(kind)
        elif role is not None:
            call = Fields(data).text("apiCallId") if role == "assistant" else None
            if call is not None and call not in self.replied:
                self.replied[call] = name
                more["usage"] = self.used.pop(call, None)
            if agent is None:
                self.model = more.get("model") or self.model
            if agent is not None:
                more |= {"parent": self.aside.get(agent), "sidechain": agent}
            extra = fields.rest | details.rest
            entry = self.add(name, role, blocks, extra, **more)
            if agent is not None:
                self.aside[agent] = entry.id
        elif agent is not None:
            self.note(kind, is_known=kind.partition(".")[0] in FAMILIES)
        elif kind == "session.compaction_complete" and details.rest.get("success") is not False:
            self._compact(name, details)
        elif kind == "session.truncation" and details.number("messagesRemovedDuringTruncation"):
            self._truncate(name, Fields(data))
        else:
            self._take_event(kind, data)
            self.note(kind, is_known=kind.partition(".")[0] in FAMILIES)

    def _read_message(
        self, kind: str, details: Fields, name: str
    ) -> tuple[list[ParsedBlock], str | None, Json]:
        """Return the blocks of a message, its role, and further fields of its entry. An event has no role."""
        if kind == "user.message":
            typed, sent = details.rest.get("content"), details.text("transformedContent")
            if sent is None:
                details.any("content")
            words = typed if sent is None else sent
            # Instructions of a skill, messages of another agent and reminders of the harness are not typed.
            writer = Fields(details.rest).text("source") or ""
            added = isinstance(typed, str) and typed.lstrip().startswith(NOTICE)
            by_user = writer in TYPED or writer.startswith(TYPED[-1])
            more: Json = {"meta": True} if added or not by_user else {}
            if words is None:
                return [], "user", more
            place = _find_line(sent, typed.strip()) if sent and isinstance(typed, str) else []
            if place:
                details.rest["typed"] = place
            return [(Text(text=words), {}) if isinstance(words, str) else unknown(words)], "user", more
        if kind == "system.notification":
            text = details.text("content")
            return ([(Text(text=text), {})], "user", {"meta": True}) if text else ([], None, {})
        if kind == "assistant.message":
            model = details.text("model") or self.model
            return self._read_reply(details, name), "assistant", {"model": model}
        if kind == "tool.execution_complete":
            self._name_model(details)
            return [self._read_output(details)], "tool", {}
        return [], None, {}

    def _name_model(self, details: Fields) -> None:
        """Set the model of the reply that made a call. Some versions state it only with the result."""
        model, call = Fields(details.rest).text("model"), Fields(details.rest).text("toolCallId")
        reply = self.callers.get(call or "")
        if model is None or reply is None:
            return
        entry = self[reply]
        if entry.model is None:
            self.change(reply, model=model)
        if entry.sidechain is None:
            self.model = self.model or model

    def _read_reply(self, details: Fields, name: str) -> list[ParsedBlock]:
        blocks: list[ParsedBlock] = []
        thought, sealed = details.text("reasoningText"), details.text("reasoningOpaque")
        if thought or sealed:
            blocks.append((Reasoning(text=thought or "", encrypted=sealed), {}))
        if text := details.text("content"):
            blocks.append((Text(text=text), {}))
        rest: list[Any] = []
        for raw in details.items("toolRequests") or ():
            inner = Fields(raw)
            call, tool = inner.text("toolCallId"), inner.text("name")
            if call is None or tool is None:
                rest.append(raw)
                continue
            self.names[call], self.callers[call] = tool, name
            block = ToolCall(id=call, name=tool, input=parse_arguments(inner.any("arguments")))
            blocks.append((block, inner.rest))
        if rest:
            details.rest["toolRequests"] = rest
        return blocks

    def _read_output(self, details: Fields) -> ParsedBlock:
        call, failed = details.text("toolCallId") or "", details.flag("success") is False
        result, error = Fields(details.object("result")), Fields(details.object("error"))
        content = result.any("content")
        if content is None and (message := error.text("message")) is not None:
            content = message
        details.rest |= {
            key: inner.rest for key, inner in (("result", result), ("error", error)) if inner.rest
        }
        return make_output(call, content, unknown, self.names.get(call), failed=failed)

    def _charge(self, details: Json | None) -> None:
        """Assign the usage of a request to its reply, which comes before or after the record."""
        usage, call = read_inclusive(details, *USED), Fields(details).text("apiCallId")
        if usage is None or not usage.tokens or call is None or call in self.used:
            return
        if call not in self.replied:
            self.used[call] = usage
        elif self[self.replied[call]].usage is None:
            self.change(self.replied[call], usage=usage)

    def _take_event(self, kind: str, data: Json) -> None:
        details = Fields(data)
        if kind in ("session.start", "session.resume"):
            self.about = data | self.about
            self.model = details.text("selectedModel") or self.model
        elif kind == "session.model_change":
            self.model = details.text("newModel") or self.model
        elif kind == "system.message":
            if (words := details.text("content")) is not None:
                self.prompts[details.text("role") or "system"] = words
        elif kind == "session.compaction_start":
            self.started = len(self.line), data
        elif kind == "session.context_cleared":
            self.cut(0)
        elif kind == "session.snapshot_rewind":
            self._rewind(data)
        elif kind == "session.shutdown":
            metrics = details.object("modelMetrics")
            self.ends = {} if metrics is None else {"modelMetrics": metrics}
            self._add_totals(metrics or {})
            self.model = self.model or details.text("currentModel")

    def _add_totals(self, metrics: Json) -> None:
        """Add the sums of a shutdown. They cover the entries since the previous shutdown."""
        after = self.totals[-1].until if self.totals else None
        for model, figures in metrics.items():
            usage = read_inclusive(Fields(figures).object("usage"), *USED)
            if usage is None or not usage.tokens:
                continue
            count = Fields(Fields(figures).object("requests")).number("count")
            whole = round(count) if count is not None and is_tokens(count) else None
            until = self.last or ""
            self.totals.append(
                StatedTotal(model=model, requests=whole, usage=usage, after=after, until=until)
            )

    def _rewind(self, data: Json) -> None:
        """Remove events from the path: those with the given ids, or one event and all after it."""
        details = Fields(data)
        event, gone = details.text("upToEventId"), set(details.strings("eventIds"))
        if gone:
            above: str | None = None
            for name in self.line:
                if name not in gone:
                    self.change(name, parent=above)
                    above = name
            self.line = [name for name in self.line if name not in gone]
            self.cut(len(self.line))
        elif event in self.positions:
            self.cut(self.positions[event])

    def _find_live(self) -> list[str]:
        """Return the entries in the context: the last compaction, what it kept, and the later entries."""
        entries = [self[name] for name in self.line]
        last = max((index for index, entry in enumerate(entries) if entry.boundary is not None), default=None)
        if last is None:
            return list(self.line)
        boundary = entries[last].boundary
        head = [self.line[last]] if entries[last].blocks else []
        return [*head, *(boundary.kept if boundary is not None else ()), *self.line[last + 1 :]]

    def _leave(self, removed: Any) -> tuple[str, ...]:
        """Return the entries left after the first messages were removed; summaries count as messages."""
        live = self._find_live()
        count = removed if isinstance(removed, int) and not isinstance(removed, bool) else None
        if count is None:
            # Entries added while the summary was being written are not part of it.
            start = self.started[0] if self.started is not None else len(self.line)
            added = set(self.line[start:])
            return tuple(name for name in live if name in added)
        return tuple(name for name in live[max(count, 0) :] if self[name].boundary is None)

    def _compact(self, name: str, details: Fields) -> None:
        used = details.rest.get("compactionTokensUsed")
        usage = read_inclusive(used, *USED) or read_inclusive(used, *USED_ONCE)
        summary = details.text("summaryContent")
        before = self.started[1] if self.started is not None else {}
        sections = {key: [before.get(key), details.rest.get(key)] for key in SECTIONS if key in details.rest}
        boundary: Json = {
            "trigger": details.text("trigger") or Fields(before).text("trigger"),
            "tokens_before": details.number("preCompactionTokens"),
            "tokens_after": details.number("postCompactionTokens"),
            "tokens_saved": details.number("tokensRemoved"),
            "kept": self._leave(details.rest.get("messagesRemoved")),
            "summary": summary,
            "extra": ({"sections": sections} if sections else {}) | ({} if summary else {"unreadable": True}),
        }
        self.compact(name, summary, boundary, extra=details.rest, usage=usage)
        self.started = None

    def _truncate(self, name: str, details: Fields) -> None:
        boundary: Json = {
            "trigger": "truncation",
            "tokens_before": details.number("preTruncationTokensInMessages"),
            "tokens_after": details.number("postTruncationTokensInMessages"),
            "kept": self._leave(details.rest.get("messagesRemovedDuringTruncation")),
        }
        self.compact(name, None, boundary, extra=details.rest)

    def finish(self) -> Session:
        about = Fields(self.about)
        where = Fields(about.object("context"))
        version = about.text("copilotVersion")
        if not self.about:
            self.warnings.append(
                "its start is not in the file: version, folder and earlier events are unknown"
            )
        self.warn(len(self.aside), "{} separate from the conversation", "sub-agent is", "sub-agents are")
        summaries = [entry.usage for entry in self.entries if entry.boundary is not None]
        lost = sum(usage not in summaries for usage in self.used.values())
        uncounted = "the usage of {} not in the file is not counted"
        self.warn(lost, uncounted, "request whose reply is", "requests whose replies are")
        named = {total.model for total in self.totals}
        return self.make_session(
            id=about.text("sessionId") or "",
            model=self.model or (named.pop() if len(named) == 1 else None),
            totals=tuple(self.totals),
            cwd=where.text("cwd"),
            created=about.text("startTime"),
            updated=self.updated,
            system=tuple(Text(text=words) for words in self.prompts.values() if words),
            extra=about.rest
            | ({"version": version} if version else {})
            | ({"context": where.rest} if where.rest else {})
            | self.ends,
        )


def _find_line(sent: str, typed: str) -> list[int]:
    """Find the typed text in the sent one, on lines of its own if possible. Return its span, or []."""
    pattern = re.escape(typed)
    match = typed and (re.search(rf"(?m)^{pattern}$", sent) or re.search(pattern, sent))
    return [*match.span()] if match else []


READER = replayed_reader(NAME, "Copilot CLI log", sniff, _LogReading)
