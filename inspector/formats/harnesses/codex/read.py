"""Read rollouts of OpenAI Codex: one line per item of the conversation, mixed with events and compactions.

Source: FORMATS §1. The items of one reply are joined into one entry. Events repeat items (`user_message`,
`agent_message`, later completed items): they are counted as notes, and they show which of the user's items a
person typed. A compaction lists the items of the new history: an item that occurred before is kept, any
other item is added as a new entry after the compaction. An encrypted summary is an entry without text.

Usage comes from the record of each response (`token_usage_record`), once per response id. Before September
2026 it comes from `token_count` events, once each time the total grew. The count that Codex writes right
after a compaction is its own estimate of the context and is stored as the boundary's `tokens_after`. Rows
that a fork or a sub-agent's rollout copied from its parent are marked as copied and not charged again.
Rollouts of sub-agents in the same folder are stored as `Session.subagents` (`agents`); missing
ones are reported as silent.

Until September 2025 rows had no envelope: a header with `id`, `timestamp` and `instructions`, then bare
items, with `{"record_type": "state"}` rows between them. Such a file contains no model and no usage. Its
working directory occurs only in the text that Codex put before the first prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from ....errors import EmptySession, ReadError
from ....session.blocks import Reasoning, Text
from ....session.entries import Source, SubAgent, Usage
from ....session.json_text import stringify
from ....session.session import Session
from ....session.speakers import judge
from ....text import plural
from ...containers import unpack
from ...json_document import Fields, ParsedBlock, find_blocks, join_texts, unknown
from ...json_lines import Data, read_lines, take_all
from ...recording import (
    Json,
    Reading,
    ReplayedRows,
    first_rows,
    make_call,
    make_output,
    read_inclusive,
    replayed_reader,
)
from ...requests.chat_messages import read_part
from .agents import (
    CopiedHistory,
    CopiedRows,
    find_beside,
    find_parent,
    join_agents,
    name_holders,
    started_agent,
)
from .parts import (
    BOOKKEEPING,
    EVENTS,
    MESSAGE_EVENTS,
    TRAE,
    USAGE,
    Reference,
    find_kinds,
    find_usage,
    has_failed,
    is_bare,
    is_bare_header,
    is_shown,
    print_entry,
    read_agent_message,
    read_id,
    read_reasoning,
    read_repeated_message,
    read_tools,
    squeeze,
    take_history,
)

NAME = "codex"
Rows = Iterable[tuple[Source, Json]]
UNSHOWN = frozenset({"ghost_snapshot", "additional_tools"})
HARNESS = ("# AGENTS.md", "<permissions instructions>", "<user_instructions>", "<environment_context>")
ESTIMATE = "estimated by Codex"
CWD = re.compile(r"<environment_context>.*?(?:<cwd>|Current working directory: )([^<\n]+)", re.DOTALL)


def sniff(data: Data) -> str | None:
    """Return None if one of the first rows is a `session_meta` or an item in its envelope (the file may begin
    in the middle), or if the first row is a bare header; else the reason."""
    rows = first_rows(data)
    if any(row.get("type") == TRAE for row in rows):
        return "its messages are in rows that only TRAE's CLI writes"
    if rows and is_bare_header(rows[0]) and ("instructions" in rows[0] or is_bare(rows[1:2])):
        return None
    for row in rows:
        payload = row.get("payload")
        if row.get("type") == "session_meta" and isinstance(payload, dict):
            if "id" in payload or "session_id" in payload:
                return None
        if row.get("type") == "response_item" and isinstance(Fields(payload).rest.get("type"), str):
            return None
    return "none of its first lines is a `session_meta` with an id, or an item"


def read_all(data: Data, other_files: Mapping[str, Data]) -> Session:
    """Read the rollout and those of its sub-agents, each on a sidechain. Raises `EmptySession`."""
    rollout = ReplayedRows(Rollout)
    main = read_lines(rollout, data)
    main_rows = CopiedRows(row for _, row in rollout.rows)
    agents: list[Session] = []
    unread = 0
    for name in sorted(other_files):
        if name.removesuffix(".zst") in other_files and name.endswith(".zst"):
            continue  # if both a plain and a packed file exist, read the plain one
        other = ReplayedRows(Rollout)
        try:
            content = unpack(other_files[name])
        except ReadError:
            unread += 1
            continue
        take_all(other, content)
        if find_parent([row for _, row in other.rows]) == main.id:
            other.rows = list(main_rows.leave_out(other.rows))
            with suppress(EmptySession):
                agents.append(other.make_session())
    if unread:
        warning = f"{plural(unread, 'rollout')} of sub-agents in the same folder cannot be unpacked: not read"
        main = main.model_copy(update={"warnings": (*main.warnings, warning)})
    return join_agents(main, agents)


def _find_item_texts(rows: Rows) -> dict[str, list[str]]:
    """Return the texts of all items, by the name of the event that repeats them."""
    texts: dict[str, list[str]] = {event: [] for event in MESSAGE_EVENTS}
    for _, row in rows:
        fields = Fields(row.get("payload", row))
        if row.get("type") == "event_msg" or fields.rest.get("type") != "message":
            continue
        event = "agent_message" if fields.rest.get("role") == "assistant" else "user_message"
        texts[event] += [Fields(part).text("text") or "" for part in fields.items("content") or ()]
    return texts


def _find_summaries(rows: Rows) -> dict[str, Usage | None]:
    """Return the usage of the responses that wrote summaries, by response id, as far as compactions name
    them; None if the file has no usage of a response."""
    payloads = [(row.get("type"), Fields(row.get("payload"))) for _, row in rows]
    response_ids = (fields.text("compaction_response_id") for kind, fields in payloads if kind == "compacted")
    usages: dict[str, Usage | None] = {name: None for name in response_ids if name is not None}
    for kind, fields in payloads if usages else ():
        if kind == "token_usage_record" and (name := fields.text("response_id")) in usages:
            usages[name] = read_inclusive(fields.object("usage"), *USAGE)
    return usages


def _find_typed_texts(rows: Rows) -> set[str] | None:
    """Return the texts that people typed, according to the events; None if there are no such events."""
    payloads = (payload for _, row in rows if isinstance(payload := row.get("payload"), dict))
    events = map(read_repeated_message, payloads)
    typed = {words.strip() for event, words in events if event == "user_message"}
    return {words for words in typed if not words.startswith(HARNESS)} or None


def _read_part(raw: Any) -> ParsedBlock:
    return read_part(raw, {})


class Rollout(Reading):
    """State while a rollout is read row by row."""

    format = NAME

    def __init__(self) -> None:
        super().__init__()
        self.row_count = 0  # rows read
        self.agents: dict[str, None] = {}  # threads of sub-agents that it started
        self.repeated: dict[str, tuple[frozenset[str], str]] = {}
        self.meta: Json = {}
        self.reply: str | None = None  # id of the entry to which items of the same reply are added
        self.unpaid: str | None = None  # the last reply without usage
        self.total: Any = None
        self.items: dict[str, str] = {}  # id of the entry that contains an item, by item id
        self.missing = 0
        self.agent_text = ""  # the last message from another agent
        self.prints: dict[str, tuple[Any, bytes]] = {}
        self.last_usage: Usage | None = None
        self.updated: str | None = None
        self.responses: set[str] = set()
        self.last_event = ("", "", "")

    def read(self, records: Rows) -> Session:
        """Read all rows. Later rows say what earlier ones repeat, and who typed them."""
        rows = list(records)
        self.history = CopiedHistory([row for _, row in rows])
        self.texts, self.summaries = _find_item_texts(rows), _find_summaries(rows)
        self.typed = _find_typed_texts(rows)
        return super().read(rows)

    def take(self, source: Source, row: Json) -> None:
        kind, payload = row.get("type"), row.get("payload")
        if self.row_count and self.row_count == self.history.end:
            self.reply = self.unpaid = None
        self.row_count += 1
        self.time = Fields(row).text("timestamp")
        self.updated = self.time or self.updated
        if payload is None and not self.meta and is_bare_header(row):
            self.meta = row
            self.note("session_meta")
        elif payload is None and row.get("record_type") == "state":
            self.note("state")
        elif not isinstance(kind, str):
            self.note("row without a type", is_known=False)
        elif payload is None and (kind in ("message", "reasoning") or kind.endswith(("_call", "_output"))):
            self._take_item(source, row)
        elif not isinstance(payload, dict):
            self.note(kind, is_known=False)
        elif kind == "response_item":
            self._take_item(source, payload)
            self._name_item(payload)
        elif kind == "event_msg":
            self._take_event(source, payload)
        elif kind == "inter_agent_communication" and (agent_text := read_agent_message(payload)) is not None:
            self._take_item(source, agent_text)
        elif kind == "compacted":
            self._take_compaction(source, payload)
        else:
            if kind == "session_meta":
                # The first is the header of this rollout; later ones are copies or repeat it.
                self.meta = self.meta or payload
            elif kind == "turn_context":
                self.model = Fields(payload).text("model") or self.model
            elif kind == "token_usage_record":
                self._take_record(payload)
            self.note(kind, is_known=kind in BOOKKEEPING)

    @property
    def _copied(self) -> Json:
        """The fields that mark a copied entry; empty for the rollout's own entries."""
        return {"copied_from": self.history.origin} if self.history.holds(self.row_count - 1) else {}

    # Items

    def _name_item(self, item: Json) -> None:
        """Store the entry of an item under the item's id: a later compaction may refer to it."""
        if isinstance(name := item.get("id"), str) and self.tip and item.get("type") not in UNSHOWN:
            self.items[name] = self.tip

    def _take_item(self, source: Source, payload: Json) -> None:
        kind = payload.get("type", "message")
        fields, name = Fields(payload, "type"), f"line-{source.line}"
        if str(kind) in UNSHOWN:
            self.note(str(kind))
            return
        if isinstance(kind, str) and kind.endswith("_output"):
            call = fields.text("call_id") or ""
            self.reply = None
            self.add(name, "tool", [self._read_output(fields, call)])
            return
        if kind == "agent_message":
            self._take_agent_message(source, fields)
            return
        role = str(fields.rest.get("role")) if kind == "message" else "assistant"
        if role != "assistant":
            self.reply = None
            self._take_words(name, source, fields)
            return
        parsed_blocks = self._read_reply(kind, payload)
        if self.reply is None:
            more: Json = {"model": self.model, "provider": Fields(self.meta).text("model_provider")}
            self.reply = self.add(name, "assistant", parsed_blocks, **more).id
            self.unpaid = self.reply
            return
        self.extend(self.reply, parsed_blocks, source)

    def _take_agent_message(self, source: Source, fields: Fields) -> None:
        """Add a message from another agent: text, or encrypted content."""
        self.reply = None
        parts = fields.items("content") or []
        sealed = [part for part in parts if Fields(part).rest.get("type") == "encrypted_content"]
        parsed_blocks = [_read_part(part) for part in parts if part not in sealed]
        before, self.agent_text = self.agent_text, "\n".join(block.text for block, _ in parsed_blocks)
        if self.agent_text and before == self.agent_text:
            self.note("agent_message")  # the file holds this message in the old and the new form
            return
        extra = fields.rest | {"speaker": "agent", "way": "notification"}
        extra |= {"sealed": sealed} if sealed else {}
        name = f"line-{source.line}"
        self.add(name, "user", parsed_blocks, extra, meta=True)

    def _take_words(self, name: str, source: Source | None, fields: Fields, **more: Any) -> None:
        """Add a message that is not a reply: the user's, or instructions of the harness."""
        label = fields.text("role")
        parsed_blocks = find_blocks(fields.any("content"), _read_part)
        joined_text = join_texts(parsed_blocks)
        kinds = find_kinds(fields.rest)
        foreign = bool(kinds) and not any(kind.startswith("user.") for kind in kinds)
        if label != "user" or foreign:
            more |= {"meta": True}
            fields.rest |= judge(joined_text).extra if foreign else {}
        elif "user.text" in kinds:
            more |= {"meta": False}
        elif self.tip and is_shown(self[self.tip].blocks, parsed_blocks, joined_text):
            more |= {"meta": True}
        elif parsed_blocks and all(block.kind == "text" for block, _ in parsed_blocks):
            texts = [block.text.strip() for block, _ in parsed_blocks]
            speech = judge(block for block, _ in parsed_blocks)
            typed = self.typed is None or not self.typed.isdisjoint([*texts, joined_text.strip()])
            added = all(text.startswith(HARNESS) for text in texts if text)
            more |= {"meta": speech.meta or added or not typed}
            fields.rest |= speech.extra
        extra = fields.rest | ({"role": label} if label != "user" else {})
        if source is None and not more.get("meta"):
            # A message that a compaction repeats was typed earlier: it opens no turn.
            more["meta"], extra = True, {"speaker": "user"} | extra
        self.add(name, "user", parsed_blocks, extra, **more)

    def _read_reply(self, kind: Any, payload: Json) -> list[ParsedBlock]:
        fields = Fields(payload, "type", "role")
        if kind == "message":
            parsed_blocks = find_blocks(fields.any("content"), _read_part)
            if parsed_blocks and fields.rest:
                parsed_blocks[-1] = parsed_blocks[-1][0], {"item": fields.rest, **parsed_blocks[-1][1]}
            return parsed_blocks
        if kind == "reasoning":
            return [read_reasoning(fields)]
        if kind in ("compaction", "context_compaction"):
            return [(Reasoning(encrypted=fields.text("encrypted_content")), fields.rest)]
        if isinstance(kind, str) and kind.endswith("_call"):
            call = fields.text("call_id") or fields.text("id") or ""
            name = fields.text("name") or kind.removesuffix("_call")
            key = next((k for k in ("arguments", "input", "action") if k in fields.rest), "")
            return [(make_call(self.names, call, name, fields.any(key)), fields.rest)]
        return [unknown(payload)]

    def _read_output(self, fields: Fields, call: str) -> ParsedBlock:
        name = self.names.get(call)
        if "tools" in fields.rest and "output" not in fields.rest:
            # The result of a tool search is sent to the model unchanged.
            output: Any = stringify(fields.any("tools"))
        else:
            output = fields.any("output")
        failed = False
        if isinstance(output, dict):
            inner = Fields(output)
            failed = inner.flag("success") is False
            output = inner.any("content") if "content" in inner.rest else stringify(output)
        failed = failed or has_failed(output)
        block, more = make_output(call, output, _read_part, name, failed=failed)
        return block, fields.rest | more

    # Events

    def _repeats(self, event: str, text: str) -> bool:
        """Return whether an event repeats text of the items: one item, or parts of several items joined."""
        if event not in self.repeated:
            words = self.texts[event]
            self.repeated[event] = frozenset(map(str.strip, words)), squeeze("\n".join(words))
        whole, all_words = self.repeated[event]
        return text.strip() in whole or squeeze(text) in all_words

    def _take_event(self, source: Source, payload: Json) -> None:
        kind = payload.get("type")
        event, text = read_repeated_message(payload)
        form, self.last_event = (
            self.last_event,
            (str(kind), event, text.strip()) if event else self.last_event,
        )
        twice = form[0] != kind and form[1:] == (event, text.strip())
        if text.strip() and not twice and not self._repeats(event, text):
            # Some files contain no items. Then only the event has the text.
            role, part = ("user", "input_text") if event == "user_message" else ("assistant", "output_text")
            item = {"role": role, "content": [{"type": part, "text": text}]}
            self._take_item(source, {"type": "message", **item})
            return
        self._take_window(payload)
        if kind == "token_count":
            self._take_usage(Fields(payload).object("info"))
        elif kind == "thread_rolled_back":
            self._roll_back(payload.get("num_turns"))
        elif (agent := started_agent(payload)) is not None and agent != read_id(self.meta):
            self.agents[agent] = None
        self.note(str(kind), is_known=str(kind) in EVENTS)

    def _take_window(self, fields: Json) -> None:
        """Read the window: a turn states it when it starts, and a count of tokens does."""
        window = fields.get("model_context_window")
        if isinstance(window, int) and not isinstance(window, bool):
            self.window = window

    def _take_usage(self, info: Json | None) -> None:
        if info is None:
            return
        self._take_window(info)
        total, last = info.get("total_token_usage"), Fields(info).object("last_token_usage")
        usage = find_usage(info, self.total, forked="forked_from_id" in self.meta)
        if usage is None:
            self.total = total or self.total
            return
        if not usage.tokens:
            entry = self[self.tip] if self.tip else None
            tokens_after = Fields(last).number("total_tokens")
            if entry is not None and entry.boundary is not None and tokens_after:
                extra = {**entry.boundary.extra, "tokens_after": ESTIMATE}
                boundary = entry.boundary.model_copy(update={"tokens_after": tokens_after, "extra": extra})
                self.change(entry.id, boundary=boundary)
            return
        if (total is not None and total == self.total) or self.responses:
            return
        self.total, self.last_usage = total, usage
        self._pay(usage)

    def _take_record(self, payload: Json) -> None:
        """Read the usage of one response, once per response id (newest rollouts).

        Running totals in `token_count` events repeat it and are ignored from then on.
        """
        fields = Fields(payload)
        usage = read_inclusive(fields.object("usage"), *USAGE)
        thread, response = fields.text("thread_id"), fields.text("response_id") or ""
        others = thread is not None and thread != read_id(self.meta)
        if usage is None or not usage.tokens or others or response in self.responses:
            return
        if response in self.summaries:
            return  # usage of a compaction, which names this response
        counted = not self.responses and usage == self.last_usage
        self.responses.add(response)
        if counted:
            return
        # The request that wrote a summary is not a request of the conversation.
        self.last_usage = usage if self.unpaid is not None else self.last_usage
        self._pay(usage)

    def _pay(self, usage: Usage) -> None:
        """Set the usage of the last reply that has none."""
        self.reply = None
        if self.unpaid is not None:
            self.change(self.unpaid, usage=usage, **self._copied)
            self.unpaid = None
        elif self.tip and self[self.tip].role != "assistant":
            # A request whose reply is not in the file, for example because it was interrupted.
            more: Json = {"usage": usage, "kind": "note", "source": None, "timestamp": None, **self._copied}
            self.add(f"request-{len(self.entries)}", "assistant", [], **more)

    def _roll_back(self, count: Any) -> None:
        """Remove the newest turns: the next entry follows the one before them."""
        turns_left = count if isinstance(count, int) and not isinstance(count, bool) else 0
        index = len(self.line)
        while turns_left > 0 and index:
            index -= 1
            turns_left -= self[self.line[index]].opens_turn
        self.cut(index)
        self.reply = self.unpaid = None

    # Compactions

    def _recall_print(self, name: str) -> bytes:
        """Return the digest of an entry's content. It is computed again only if the blocks changed, because
        each compaction of a long session needs the digests of all earlier entries."""
        blocks = self[name].blocks
        before = self.prints.get(name)
        if before is None or before[0] is not blocks:
            before = self.prints[name] = blocks, print_entry(blocks)
        return before[1]

    def _take_compaction(self, source: Source, payload: Json) -> None:
        fields = Fields(payload)
        message, after = fields.text("message"), take_history(fields)
        self.reply = self.unpaid = None
        names_by_print: dict[bytes, list[str]] = {}
        for name in self.line:
            if print_ := self._recall_print(name):
                names_by_print.setdefault(print_, []).append(name)
        kept_ids: list[str] = []
        fresh: list[Json] = []
        sealed: list[ParsedBlock] = []
        summary = message or None
        shown = summary
        for raw in after or ():
            if isinstance(raw, Reference):
                kept_ids += [self.items[raw.item]] if raw.item in self.items else []
                self.missing += raw.item not in self.items
                continue
            item = Fields(raw)
            if item.rest.get("type") in UNSHOWN:
                continue
            if item.rest.get("type") in ("compaction", "context_compaction"):
                text = Fields(item.rest).text("encrypted_content")
                if text is not None:
                    sealed.append((Reasoning(encrypted=text), item.rest))
                continue
            blocks = tuple(block for block, _ in find_blocks(item.rest.get("content"), _read_part))
            item_text = "\n".join(block.text for block in blocks)
            names = names_by_print.get(print_entry(blocks), [])
            if summary and summary in item_text:
                shown = item_text
            elif names:
                kept_ids.append(names.pop(0) if len(names) > 1 else names[0])
            elif isinstance(raw, dict):
                fresh.append(raw)
        if after is None and self.line:
            # Old versions kept all messages of the user.
            entries = (self[name] for name in self.line)
            kept_ids = [e.id for e in entries if e.role == "user" and e.kind == "message"]
        prompt = self.last_usage.tokens if self.last_usage is not None else None
        sealed_by = {} if summary else {"unreadable": True}
        self.compact(
            f"line-{source.line}",
            shown,
            {
                "tokens_before": prompt,
                "kept": tuple(dict.fromkeys(kept_ids)),
                "summary": summary,
                "extra": sealed_by,
            },
            usage=self.summaries.get(fields.text("compaction_response_id") or ""),
            model=self.model,
            extra=fields.rest,
            **self._copied,
            **({"parsed_blocks": sealed} if sealed and not summary else {}),
        )
        for number, raw in enumerate(fresh, 1):
            name = f"line-{source.line}.{number}"
            if raw.get("type", "message") == "message" and raw.get("role") != "assistant":
                self._take_words(name, None, Fields(raw, "type"))
            elif isinstance(raw.get("type"), str) and str(raw["type"]).endswith("_output"):
                call = Fields(raw, "type")
                self.add(name, "tool", [self._read_output(call, call.text("call_id") or "")], timestamp=None)
            else:
                self.add(name, "assistant", self._read_reply(raw.get("type", "message"), raw), timestamp=None)
            self._name_item(raw)

    def _find_cwd(self) -> str | None:
        """Return the working directory from the environment's text: a bare header does not contain it."""
        words = (CWD.search(entry.text) for entry in self.entries if entry.role == "user" and entry.meta)
        return next((match[1].strip() for match in words if match), None)

    def finish(self) -> Session:
        fields = Fields(self.meta, "id", "cwd", "cli_version", "timestamp")
        base = Fields(fields.object("base_instructions"))
        words = base.text("text")
        warnings = self.warnings
        if not self.meta:
            warnings.append("its header is not in the file: session id, model and folder may be unknown")
        warnings += self.history.warnings()
        kept = "{} kept by its compactions but not in this file: not counted"
        self.warn(self.missing, kept, "item is", "items are")
        if isinstance(self.meta.get("history_base"), dict):
            warnings.append("its history begins in another file, which is not read")
        version = self.meta.get("cli_version")
        tools, rest = read_tools(fields.any("dynamic_tools"))
        extra = {"version": version} if isinstance(version, str) else {}
        extra |= fields.rest | ({"dynamic_tools": rest} if rest else {})
        return self.make_session(
            id=read_id(self.meta),
            cwd=Fields(self.meta).text("cwd") or self._find_cwd(),
            created=Fields(self.meta).text("timestamp"),
            updated=self.updated,
            system=(Text(text=words),) if words else (),
            tools=tools,
            subagents=tuple(SubAgent(id=name, silent=True) for name in self.agents),
            extra=extra,
        )


READER = replayed_reader(
    NAME,
    "Codex rollout",
    sniff,
    Rollout,
    find_beside=find_beside,
    read_all=read_all,
    name_holders=name_holders,
)
