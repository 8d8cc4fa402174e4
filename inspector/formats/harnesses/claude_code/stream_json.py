"""Read the output of `claude -p --output-format stream-json` and logs of Anthropic's agent SDK.

The input is lines; `readers` converts an array of rows to them. Source: FORMATS §2. A message of the model
consists of several rows with one block each and the same usage. They are one entry, counted once, even if
results of its tools are between them (anthropics/claude-code issue 87303). A `result` row states the cost of
the process so far (issue 83239), so it covers all rows before it. Rows with a `parent_tool_use_id` belong to
a sub-agent and are separate. A row that a later one supersedes or retracts is not on the path. It is
undocumented whether the stream contains the text of a compaction: if the next message is a summary in Claude
Code's form, it is used; otherwise the summary is only in the session's own file, `<session_id>.jsonl`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....session.blocks import Number
from ....session.entries import Cost, Source, StatedTotal, Usage, is_tokens
from ....session.session import Session
from ...json_document import Fields, ParsedBlock, find_blocks, is_number, join_texts
from ...json_lines import Data
from ...recording import Json, Reading, first_rows, replayed_reader
from ...requests.anthropic_blocks import read_usage, read_with_rest

NAME = "claude-stream-json"
BOOKKEEPING = frozenset(
    [
        *("result", "stream_event", "rate_limit_event", "keep_alive", "auth_status", "prompt_suggestion"),
        *("control_request", "control_response", "control_cancel_request", "tool_progress", "system"),
        *("tool_use_summary", "streamlined_text", "streamlined_tool_use_summary"),
    ]
)
SUMMARY = "This session is being continued"


def sniff(data: Data) -> str | None:
    """None when one of the first rows begins a run (`system`, `init`), or is a message of one."""
    rows = first_rows(data)
    if any(is_droid_event(row) for row in rows):
        return "its messages are those of another harness's stream"
    if any(_is_init(row) or _is_message(row) for row in rows):
        return None
    return "none of its first rows is a `system` row `init` with a session_id"


def _is_init(row: Json) -> bool:
    about = row.get("type") == "system" and row.get("subtype") == "init"
    # Cursor's stream begins so too, with neither tools nor the full name of a model.
    ours = bool({"claude_code_version", "tools"} & set(row)) or str(row.get("model")).startswith("claude-")
    return about and isinstance(row.get("session_id"), str) and ours


def _is_message(row: Json) -> bool:
    """Whether a row is a message of a run, whose beginning was cut off."""
    is_message = row.get("type") in ("user", "assistant") and isinstance(row.get("message"), dict)
    return is_message and isinstance(row.get("session_id"), str) and "parent_tool_use_id" in row


def is_droid_event(row: Json) -> bool:
    """Whether a row is of Factory's Droid, whose stream begins as Claude Code's does."""
    if row.get("type") == "message":
        return {"role", "text"} <= row.keys()
    return row.get("type") in ("tool_call", "tool_result") and "toolName" in row


class _Stream(Reading):
    """State while the rows of a run are read.

    `void` are the rows of replies that a later row supersedes, or that were withdrawn by a refusal.
    """

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.void: set[str] = set()
        self.run: Json = {}
        self.result: Json = {}
        self.replies: dict[tuple[str | None, str], str] = {}
        self.ends: dict[str | None, str | None] = {}
        self.aliases: dict[str, str] = {}
        self.wordless: str | None = None
        self.lost = False
        self.updated: str | None = None
        self.totals: list[StatedTotal] = []
        self.stated: Json = {}  # the last result with a cost

    def read(self, records: Iterable[tuple[Source, Json]]) -> Session:
        rows = list(records)
        for _, row in rows:
            for name in ("supersedes", "retracted_message_uuids"):
                self.void |= {item for item in Fields(row).items(name) or () if isinstance(item, str)}
        return super().read(rows)

    def take(self, source: Source, row: Json) -> None:
        kind, subtype = row.get("type"), row.get("subtype")
        if kind in ("assistant", "user") and isinstance(row.get("message"), dict):
            self._say(source, row, str(kind))
        elif kind == "system" and subtype == "compact_boundary":
            self._compact(source, row)
        else:
            if kind == "system" and subtype == "init" and not self.run:
                self.run = row
            elif kind == "result":
                self.result = row
                self._add_cost(row)
            self.lost = self.lost or (kind == "system" and subtype == "session_writes_lost")
            kind_name = f"{kind}/{subtype}" if isinstance(subtype, str) else str(kind)
            is_known = isinstance(kind, str) and kind in BOOKKEEPING
            self.note(kind_name if isinstance(kind, str) else "row without a type", is_known=is_known)

    def _say(self, source: Source, row: Json, kind: str) -> None:
        fields = Fields(row, "type", "session_id")
        message = Fields(fields.object("message"), "role", "type")
        agent, name = fields.text("parent_tool_use_id"), fields.text("uuid") or f"line-{source.line}"
        number, self.time = message.text("id"), fields.text("timestamp")
        self.updated = self.time or self.updated
        blocks = find_blocks(message.any("content"), lambda raw: read_with_rest(raw, self.names))
        usage = read_usage(message.rest.get("usage")) if kind == "assistant" else None
        key = (agent, number or "")
        void = name in self.void and kind == "assistant"
        if kind == "assistant" and not void and self._continues(key, usage, row):
            entry = self[self.replies[key]]
            self.aliases[name] = entry.id
            # The usage of its last row is the usage of the reply.
            aliases, usage = (*entry.aliases, name), usage or entry.usage
            self.extend(entry.id, blocks, source, usage=usage, aliases=aliases)
            return
        more: Json = {
            "usage": usage,
            "model": message.text("model"),
            "stop_reason": message.text("stop_reason"),
        }
        if kind == "user":
            more = {"meta": True} if fields.flag("isSynthetic") else {}
            text = join_texts(blocks)
            if self.wordless is not None and agent is None:
                wordless, self.wordless = self.wordless, None
                if text.startswith(SUMMARY):
                    self._fill(wordless, blocks, source, text)
                    return
        entry = self.add(
            name,
            kind,
            blocks,
            fields.rest | message.rest,
            parent=self.ends.get(agent),
            sidechain=agent,
            **more,
        )
        self.aliases[name] = entry.id
        if entry.opens_turn:
            self._forget(agent)
        if void:
            return
        self.ends[agent] = entry.id
        if number is not None and kind == "assistant":
            self.replies[key] = entry.id

    def _continues(self, key: tuple[str | None, str], usage: Usage | None, row: Json) -> bool:
        """Whether a row continues the reply with its `message.id`.

        Gateways use one id for several replies, so after other rows the request must be the same too.
        """
        reply = self.replies.get(key)
        if reply is None or self.ends.get(key[0]) == reply:
            return reply is not None
        entry = self[reply]
        old, new = entry.extra.get("request_id"), row.get("request_id")
        if old is not None and new is not None:
            return bool(old == new)
        return usage is None or entry.usage is None or _prompt_tokens(usage) == _prompt_tokens(entry.usage)

    def _forget(self, agent: str | None) -> None:
        """End all replies, at a prompt or a compaction."""
        self.replies = {key: reply for key, reply in self.replies.items() if key[0] != agent}

    def _add_cost(self, row: Json) -> None:
        """Add the cost that a result states. It increases until a new process starts."""
        fields = Fields(row)
        money = fields.number("total_cost_usd")
        if not money or not is_tokens(money):
            return
        if self.totals and _grew(self.stated, row):
            self.totals.pop()
        after = self.totals[-1].until if self.totals else None
        usage = Usage(cost=Cost(total=money))
        self.totals.append(StatedTotal(usage=usage, after=after, until=self.last or ""))
        self.stated = row

    def _compact(self, source: Source, row: Json) -> None:
        self._forget(None)
        metadata = Fields(row.get("compact_metadata"))
        preserved = Fields(metadata.rest.get("preserved_messages")).strings("uuids")
        segment = Fields(metadata.rest.get("preserved_segment"))
        kept_ids = [self.aliases[name] for name in preserved if name in self.aliases]
        boundary: Json = {
            "trigger": metadata.text("trigger"),
            "tokens_before": metadata.number("pre_tokens"),
            "first_kept": None if kept_ids else self.aliases.get(segment.text("head_uuid") or ""),
            "kept": tuple(dict.fromkeys(kept_ids)),
            "extra": {"unreadable": True},
        }
        # The conversation without system prompt and tools, so it is not the size of a request.
        if (tokens_after := metadata.number("post_tokens")) is not None:
            boundary["extra"]["postTokens"] = tokens_after
        name = row.get("uuid")
        entry = self.compact(
            name if isinstance(name, str) else f"line-{source.line}",
            None,
            boundary,
            parent=self.ends.get(None),
            extra=metadata.rest,
        )
        self.ends[None] = self.wordless = entry.id

    def _fill(self, name: str, parsed: list[ParsedBlock], source: Source, text: str) -> None:
        """Set the text of a compaction from the next message."""
        entry = self[name]
        boundary = entry.boundary
        if boundary is not None:
            extra = {key: value for key, value in boundary.extra.items() if key != "unreadable"}
            boundary = boundary.model_copy(update={"summary": text, "extra": extra})
        blocks = tuple(block for block, _ in parsed)
        self.change(name, blocks=blocks, boundary=boundary, sources=(*entry.sources, source))

    def finish(self) -> Session:
        run = Fields(self.run, "type", "subtype", "uuid")
        number, version = run.text("session_id") or "", Fields(self.run).text("claude_code_version")
        if any(entry.boundary and "unreadable" in entry.boundary.extra for entry in self.entries):
            where = f"{number or '<session_id>'}.jsonl"
            self.warnings.append(
                f"summaries are not in the stream; the session's own file, {where:.60}, has them"
            )
        if self.lost:
            self.warnings.append("the stream reports that a part of the session was not written")
        sums = {
            key: self.result[key]
            for key in ("modelUsage", "total_cost_usd", "num_turns")
            if key in self.result
        }
        return self.make_session(
            id=number,
            model=run.text("model"),
            cwd=run.text("cwd"),
            updated=self.updated,
            leaf=self.ends.get(None),
            totals=tuple(self.totals),
            extra=({"version": version} if version else {})
            | Fields(run.rest, "session_id", "model", "cwd").rest
            | ({"result": sums} if sums else {}),
        )


def _grew(before: Json, now: Json) -> bool:
    """Whether a result includes an earlier one: it has the same session, and no figure is smaller."""
    if before.get("session_id") != now.get("session_id"):
        return False
    pairs: list[tuple[Any, Any]] = [(before.get("total_cost_usd"), now.get("total_cost_usd"))]
    models = Fields(now.get("modelUsage")).rest
    for model, figures in Fields(before.get("modelUsage")).rest.items():
        later = Fields(models.get(model)).rest
        pairs += [(value, later.get(name, 0)) for name, value in Fields(figures).rest.items()]
    return all(old <= new for old, new in pairs if is_number(old) and is_number(new))


def _prompt_tokens(usage: Usage) -> tuple[Number, Number, Number]:
    """Return the tokens of the prompt, which are the same in every row of a reply."""
    return usage.input, usage.cache_read, usage.cache_write


READER = replayed_reader(NAME, "Claude Code stream-json", sniff, _Stream)
