"""OpenAI Codex's rollouts: a line per item of a conversation, with events, contexts and compactions between.

In go the bytes, out comes a `Session`. Source: FORMATS §1. The items of one reply become one entry. Events
repeat items (`user_message`, `agent_message`, later completed items): they are counted, and tell which of the
user's items a person typed. A compaction lists what stands after it: an item that stood before is kept, any
other follows the compaction as an entry of its own. A summary that only the provider can read is an entry
without words.

Usage is that of each response's record (`token_usage_record`), once by its id; before September 2026 that of
`token_count` events, once for each time the total grew. What Codex writes right after a compaction is its own
estimate of the context, and becomes the boundary's `tokens_after`. Rows that a fork or a sub-agent's rollout
copied from its parent are marked as copied and not charged again (`copies`). Rollouts of sub-agents in
the same folder are stored as `Session.subagents` (`agents`); missing ones are reported as silent.

Until September 2025 the rows stood bare: a header of `id`, `timestamp` and `instructions`, then items without
an envelope, with `{"record_type": "state"}` between. Such a file tells no model and no usage, and its folder
only in the words that Codex put before the first prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ....errors import EmptySession, ReadError
from ....session.blocks import Reasoning, Text, ToolCall
from ....session.entries import Source, SubAgent, Usage
from ....session.json_text import stringify
from ....session.session import Session
from ....session.speakers import judge
from ....text import plural
from ...containers import unpack
from ...json_document import Fields, Found, find_blocks, unknown
from ...json_lines import Data, Reader, read_lines, take_all
from ...recording import Json, JsonRows, Recording, first_rows, make_output, parse_given, read_inclusive
from .agents import CopiedRows, find_beside, find_parent, join_agents, name_holders, started_agent
from .copies import CopiedHistory
from .history import Reference, print_entry, take_history
from .kinds import BOOKKEEPING, EVENTS
from .parts import (
    SPOKEN,
    TRAE,
    USAGE,
    find_kinds,
    find_usage,
    is_bare,
    is_bare_header,
    is_shown,
    read_id,
    read_letter,
    read_part,
    read_reasoning,
    read_spoken,
    read_tools,
    squeeze,
    tells_failure,
)

NAME = "codex"
UNSHOWN = frozenset({"ghost_snapshot", "additional_tools"})
HARNESS = ("# AGENTS.md", "<permissions instructions>", "<user_instructions>", "<environment_context>")
ESTIMATE = "estimated by Codex"
CWD = re.compile(r"<environment_context>.*?(?:<cwd>|Current working directory: )([^<\n]+)", re.DOTALL)


def sniff(data: Data) -> str | None:
    """None when one of the first lines is a rollout's `session_meta`, or an item in its envelope (where the
    file begins in the middle), or the first one a bare header."""
    rows = first_rows(data)
    if any(row.get("type") == TRAE for row in rows):
        return "its messages stand in rows of TRAE's own"
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


def read(data: Data) -> Session:
    """The whole rollout. Raises `EmptySession` when nobody says anything."""
    return read_lines(Rollout(), data)


def read_all(data: Data, beside: Mapping[str, Data]) -> Session:
    """The rollout with those of its sub-agents, which stand apart. Raises as `read` does."""
    rollout = Rollout()
    main = read_lines(rollout, data)
    known = CopiedRows(row for _, row in rollout.rows)
    agents: list[Session] = []
    unread = 0
    for name in sorted(beside):
        if name.removesuffix(".zst") in beside and name.endswith(".zst"):
            continue  # the plain file beside a packed one is the truth
        other = Rollout()
        try:
            content = unpack(beside[name])
        except ReadError:
            unread += 1
            continue
        take_all(other, content)
        if find_parent([row for _, row in other.rows]) == main.id:
            other.rows = list(known.leave_out(other.rows))
            with suppress(EmptySession):
                agents.append(other.make_session())
    if unread:
        told = f"{plural(unread, 'rollout')} of sub-agents beside it cannot be unpacked: not read"
        main = main.model_copy(update={"warnings": (*main.warnings, told)})
    return join_agents(main, agents)


class Rollout(JsonRows):
    """The rows of a rollout, and the session they make."""

    def make_session(self) -> Session:
        """The session of all rows. Raises `EmptySession` when none of them is a message."""
        history = CopiedHistory([row for _, row in self.rows])
        reading = _RolloutReading(history, self._find_typed(), self._find_said(), self._find_summaries())
        reading.made.corrupt = list(self.corrupt)
        for source, row in self.rows:
            reading.take(source, row)
        return reading.make_session()

    def _find_said(self) -> dict[str, tuple[str, ...]]:
        """What each item says, by the event that repeats it."""
        said: dict[str, list[str]] = {event: [] for event in SPOKEN}
        for _, row in self.rows:
            payload = row.get("payload", row)
            fields = Fields(payload)
            if row.get("type") == "event_msg" or fields.rest.get("type") != "message":
                continue
            event = "agent_message" if fields.rest.get("role") == "assistant" else "user_message"
            parts = fields.rest.get("content")
            for part in parts if isinstance(parts, list) else ():
                said[event].append(Fields(part).text("text") or "")
        return {event: tuple(words) for event, words in said.items()}

    def _find_summaries(self) -> dict[str, Usage | None]:
        """What the response that wrote each summary took, by its id, where a compaction names it."""
        rows = [(row.get("type"), Fields(row.get("payload"))) for _, row in self.rows]
        asked = (told.text("compaction_response_id") for kind, told in rows if kind == "compacted")
        found: dict[str, Usage | None] = {name: None for name in asked if name is not None}
        for kind, told in rows if found else ():
            if kind == "token_usage_record" and (name := told.text("response_id")) in found:
                found[name] = read_inclusive(told.object("usage"), *USAGE)
        return found

    def _find_typed(self) -> set[str] | None:
        """What persons typed, by the events that tell of it; None where none does."""
        spoken = (
            read_spoken(payload) for _, row in self.rows if isinstance(payload := row.get("payload"), dict)
        )
        typed = {words.strip() for event, words in spoken if event == "user_message"}
        return typed or None


class _RolloutReading:
    """What has been read of a rollout, row after row."""

    def __init__(
        self,
        history: CopiedHistory,
        typed: set[str] | None,
        said: dict[str, tuple[str, ...]],
        summaries: dict[str, Usage | None],
    ) -> None:
        self.made = Recording(NAME)
        self.history = history
        self.row_count = 0  # rows read
        self.said = said
        self.summaries = summaries
        self.agents: dict[str, None] = {}  # threads of sub-agents that it started
        self.heard: dict[str, tuple[frozenset[str], str]] = {}
        self.typed = typed
        self.meta: Json = {}
        self.model: str | None = None
        self.window: int | None = None
        self.reply: str | None = None  # the entry that items of the same reply go into
        self.unpaid: str | None = None  # the last reply without usage
        self.total: Any = None
        self.names: dict[str, str] = {}
        self.line: list[str] = []
        self.items: dict[str, str] = {}  # the entry that an item went into, by the item's name
        self.missing = 0
        self.letter = ""  # what another agent sent last
        self.prints: dict[str, tuple[Any, bytes]] = {}
        self.last_usage: Usage | None = None
        self.updated: str | None = None
        self.responses: set[str] = set()
        self.spoken = ("", "", "")

    def take(self, source: Source, row: Json) -> None:
        """One row: an item, an event, a compaction or bookkeeping."""
        kind, payload = row.get("type"), row.get("payload")
        if self.row_count and self.row_count == self.history.end:
            self.reply = self.unpaid = None
        self.row_count += 1
        time = Fields(row).text("timestamp")
        self.updated = time or self.updated
        if payload is None and not self.meta and is_bare_header(row):
            self._take_meta(row)
            self.made.note("session_meta", source)
        elif payload is None and row.get("record_type") == "state":
            self.made.note("state", source)
        elif not isinstance(kind, str):
            self.made.note("row without a type", source, known=False)
        elif payload is None and (kind in ("message", "reasoning") or kind.endswith(("_call", "_output"))):
            self._take_item(source, row, time)
        elif not isinstance(payload, dict):
            self.made.note(kind, source, known=False)
        elif kind == "response_item":
            self._take_item(source, payload, time)
            self._name_item(payload)
        elif kind == "event_msg":
            self._take_event(source, payload, time)
        elif kind == "inter_agent_communication" and (letter := read_letter(payload)) is not None:
            self._take_item(source, letter, time)
        elif kind == "compacted":
            self._take_compaction(source, payload, time)
        else:
            if kind == "session_meta":
                self._take_meta(payload)
            elif kind == "turn_context":
                self.model = Fields(payload).text("model") or self.model
            elif kind == "token_usage_record":
                self._take_record(payload)
            self.made.note(kind, source, known=kind in BOOKKEEPING)

    def _take_meta(self, payload: Json) -> None:
        """Read a header. The first is the header of this rollout; later ones are copies or repeat it."""
        self.meta = self.meta or payload

    @property
    def _copied(self) -> Json:
        """The fields that mark a copied entry; empty for the rollout's own entries."""
        return {"copied_from": self.history.origin} if self.history.holds(self.row_count - 1) else {}

    def _add(self, name: str, role: str, found: list[Found], source: Source | None, **more: Any) -> str:
        more.setdefault("parent", self.line[-1] if self.line else None)
        entry = self.made.add(name, role, found, source, **more)
        self.line.append(entry.id)
        return entry.id

    # Items

    def _name_item(self, item: Json) -> None:
        """A later compaction may name the item that was added last."""
        if isinstance(name := item.get("id"), str) and self.line and item.get("type") not in UNSHOWN:
            self.items[name] = self.line[-1]

    def _take_item(self, source: Source, payload: Json, time: str | None) -> None:
        kind = payload.get("type", "message")
        fields, name = Fields(payload, "type"), f"line-{source.line}"
        if str(kind) in UNSHOWN:
            self.made.note(str(kind), source)
            return
        if isinstance(kind, str) and kind.endswith("_output"):
            call = fields.text("call_id") or ""
            self.reply = None
            self._add(name, "tool", [self._read_output(fields, call)], source, timestamp=time)
            return
        if kind == "agent_message":
            self._hear(source, fields, time)
            return
        role = str(fields.rest.get("role")) if kind == "message" else "assistant"
        if role != "assistant":
            self.reply = None
            self._take_words(name, source, fields, timestamp=time)
            return
        found = self._read_reply(kind, payload)
        if self.reply is None:
            more: Json = {"model": self.model, "provider": Fields(self.meta).text("model_provider")}
            self.reply = self._add(name, "assistant", found, source, timestamp=time, **more)
            self.unpaid = self.reply
            return
        entry = self.made.entries[self.made.where[self.reply]]
        known = entry.extra.get("blocks", {})
        new = {str(len(entry.blocks) + at): rest for at, (_, rest) in enumerate(found) if rest}
        extra = entry.extra | ({"blocks": known | new} if known or new else {})
        blocks = (*entry.blocks, *(block for block, _ in found))
        self.made.change(self.reply, blocks=blocks, extra=extra, sources=(*entry.sources, source))

    def _hear(self, source: Source, fields: Fields, time: str | None) -> None:
        """What another agent sent: words, or a text that only the provider can read."""
        self.reply = None
        parts = fields.items("content") or []
        sealed = [part for part in parts if Fields(part).rest.get("type") == "encrypted_content"]
        found = [read_part(part) for part in parts if part not in sealed]
        before, self.letter = self.letter, "\n".join(block.text for block, _ in found)
        if self.letter and before == self.letter:
            self.made.note("agent_message", source)  # older and newer rows of one message stand together
            return
        extra = fields.rest | {"speaker": "agent", "way": "notification"}
        extra |= {"sealed": sealed} if sealed else {}
        self._add(f"line-{source.line}", "user", found, source, extra=extra, timestamp=time, meta=True)

    def _take_words(self, name: str, source: Source | None, fields: Fields, **more: Any) -> str:
        """A message that is no reply: a user's, or instructions of the harness."""
        label = fields.text("role")
        found = find_blocks(fields.any("content"), read_part)
        said = "\n".join(block.text for block, _ in found if block.kind == "text")
        kinds = find_kinds(fields.rest)
        foreign = bool(kinds) and not any(kind.startswith("user.") for kind in kinds)
        if label != "user" or foreign:
            more |= {"meta": True}
            fields.rest |= judge(said).extra if foreign else {}
        elif "user.text" in kinds:
            more |= {"meta": False}
        elif self.line and is_shown(self.made.entries[self.made.where[self.line[-1]]].blocks, found, said):
            more |= {"meta": True}
        elif found and all(block.kind == "text" for block, _ in found):
            texts = [block.text.strip() for block, _ in found]
            speech = judge(block for block, _ in found)
            typed = self.typed is None or not self.typed.isdisjoint([*texts, said.strip()])
            added = all(text.startswith(HARNESS) for text in texts if text)
            more |= {"meta": speech.meta or added or not typed}
            fields.rest |= speech.extra
        extra = fields.rest | ({"role": label} if label != "user" else {})
        if source is None and not more.get("meta"):
            # What a compaction tells anew was typed before: it opens no turn.
            more["meta"], extra = True, {"speaker": "user"} | extra
        return self._add(name, "user", found, source, extra=extra, **more)

    def _read_reply(self, kind: Any, payload: Json) -> list[Found]:
        fields = Fields(payload, "type", "role")
        if kind == "message":
            found = find_blocks(fields.any("content"), read_part)
            if found and fields.rest:
                found[-1] = found[-1][0], {"item": fields.rest, **found[-1][1]}
            return found
        if kind == "reasoning":
            return [read_reasoning(fields)]
        if kind in ("compaction", "context_compaction"):
            return [(Reasoning(encrypted=fields.text("encrypted_content")), fields.rest)]
        if isinstance(kind, str) and kind.endswith("_call"):
            call = fields.text("call_id") or fields.text("id") or ""
            name = fields.text("name") or kind.removesuffix("_call")
            given = next((k for k in ("arguments", "input", "action") if k in fields.rest), "")
            self.names[call] = name
            return [(ToolCall(id=call, name=name, input=parse_given(fields.any(given))), fields.rest)]
        return [unknown(payload)]

    def _read_output(self, fields: Fields, call: str) -> Found:
        name = self.names.get(call)
        if "tools" in fields.rest and "output" not in fields.rest:
            # What a search for tools found is told to the model as it stands.
            output: Any = stringify(fields.any("tools"))
        else:
            output = fields.any("output")
        failed = False
        if isinstance(output, dict):
            inner = Fields(output)
            failed = inner.flag("success") is False
            output = inner.any("content") if "content" in inner.rest else stringify(output)
        failed = failed or tells_failure(output)
        block, more = make_output(call, output, read_part, name, failed=failed)
        return block, fields.rest | more

    # Events

    def _repeats(self, event: str, said: str) -> bool:
        """Whether an event says what an item says too: most repeat one whole, some join parts of several."""
        if event not in self.heard:
            words = self.said[event]
            self.heard[event] = frozenset(map(str.strip, words)), squeeze("\n".join(words))
        whole, all_words = self.heard[event]
        return said.strip() in whole or squeeze(said) in all_words

    def _take_event(self, source: Source, payload: Json, time: str | None) -> None:
        kind = payload.get("type")
        event, said = read_spoken(payload)
        form, self.spoken = self.spoken, (str(kind), event, said.strip()) if event else self.spoken
        twice = form[0] != kind and form[1:] == (event, said.strip())
        if said.strip() and not twice and not self._repeats(event, said):
            # A file may be written without its items: then only the event holds the words.
            role, part = ("user", "input_text") if event == "user_message" else ("assistant", "output_text")
            item = {"role": role, "content": [{"type": part, "text": said}]}
            self._take_item(source, {"type": "message", **item}, time)
            return
        if kind == "token_count":
            self._take_usage(Fields(payload).object("info"))
        elif kind == "thread_rolled_back":
            self._roll_back(payload.get("num_turns"))
        elif (agent := started_agent(payload)) is not None and agent != read_id(self.meta):
            self.agents[agent] = None
        self.made.note(str(kind), source, known=str(kind) in EVENTS)

    def _take_usage(self, info: Json | None) -> None:
        if info is None:
            return
        window = info.get("model_context_window")
        if isinstance(window, int) and not isinstance(window, bool):
            self.window = window
        total, last = info.get("total_token_usage"), Fields(info).object("last_token_usage")
        usage = find_usage(info, self.total, forked="forked_from_id" in self.meta)
        if usage is None:
            self.total = total or self.total
            return
        if not usage.tokens:
            at = self.line[-1] if self.line else None
            entry = self.made.entries[self.made.where[at]] if at else None
            told = Fields(last).number("total_tokens")
            if entry is not None and entry.boundary is not None and told:
                extra = {**entry.boundary.extra, "tokens_after": ESTIMATE}
                boundary = entry.boundary.model_copy(update={"tokens_after": told, "extra": extra})
                self.made.change(entry.id, boundary=boundary)
            return
        if (total is not None and total == self.total) or self.responses:
            return
        self.total, self.last_usage = total, usage
        self._pay(usage)

    def _take_record(self, payload: Json) -> None:
        """What one response took, as the newest rollouts tell it: once, by its id. The running counts beside
        it tell the same again, and are not read from then on."""
        fields = Fields(payload)
        usage = read_inclusive(fields.object("usage"), *USAGE)
        thread, response = fields.text("thread_id"), fields.text("response_id") or ""
        others = thread is not None and thread != read_id(self.meta)
        if usage is None or not usage.tokens or others or response in self.responses:
            return
        if response in self.summaries:
            return  # the compaction's, which names it
        counted = not self.responses and usage == self.last_usage
        self.responses.add(response)
        if counted:
            return
        # The request of a compaction is not a request of the session.
        self.last_usage = usage if self.unpaid is not None else self.last_usage
        self._pay(usage)

    def _pay(self, usage: Usage) -> None:
        """Set the usage of the last reply that has none."""
        self.reply = None
        if self.unpaid is not None:
            self.made.change(self.unpaid, usage=usage, **self._copied)
            self.unpaid = None
        elif self.line and self.made.entries[self.made.where[self.line[-1]]].role != "assistant":
            # A request whose reply is not in the file, such as one that was cut off.
            more: Json = {"usage": usage, "kind": "note", **self._copied}
            self._add(f"request-{len(self.made.entries)}", "assistant", [], None, **more)

    def _roll_back(self, count: Any) -> None:
        """The newest turns are gone: what follows hangs on what stood before them."""
        left = count if isinstance(count, int) and not isinstance(count, bool) else 0
        at = len(self.line)
        while left > 0 and at:
            at -= 1
            left -= self.made.entries[self.made.where[self.line[at]]].opens_turn
        del self.line[at:]
        self.reply = self.unpaid = None

    # Compactions

    def _recall_print(self, name: str) -> bytes:
        """What an entry is known by; worked out anew only when its blocks have changed: every compaction of a
        long session asks for all entries before it."""
        blocks = self.made.entries[self.made.where[name]].blocks
        before = self.prints.get(name)
        if before is None or before[0] is not blocks:
            before = self.prints[name] = blocks, print_entry(blocks)
        return before[1]

    def _take_compaction(self, source: Source, payload: Json, time: str | None) -> None:
        fields = Fields(payload)
        message, after = fields.text("message"), take_history(fields)
        self.reply = self.unpaid = None
        known: dict[bytes, list[str]] = {}
        for name in self.line:
            if print_ := self._recall_print(name):
                known.setdefault(print_, []).append(name)
        kept: list[str] = []
        fresh: list[Json] = []
        sealed: list[Found] = []
        summary = message or None
        shown = summary
        for raw in after or ():
            if isinstance(raw, Reference):
                kept += [self.items[raw.item]] if raw.item in self.items else []
                self.missing += raw.item not in self.items
                continue
            item = Fields(raw)
            if item.rest.get("type") in ("compaction", "context_compaction"):
                text = Fields(item.rest).text("encrypted_content")
                if text is not None:
                    sealed.append((Reasoning(encrypted=text), item.rest))
                continue
            blocks = tuple(block for block, _ in find_blocks(item.rest.get("content"), read_part))
            said = "\n".join(block.text for block in blocks)
            names = known.get(print_entry(blocks), [])
            if summary and summary in said:
                shown = said
            elif names:
                kept.append(names.pop(0) if len(names) > 1 else names[0])
            elif isinstance(raw, dict):
                fresh.append(raw)
        if after is None and self.line:
            # Old builds kept every message of the user's.
            entries = (self.made.entries[self.made.where[name]] for name in self.line)
            kept = [e.id for e in entries if e.role == "user" and e.kind == "message"]
        prompt = self.last_usage.tokens if self.last_usage is not None else None
        sealed_by = {} if summary else {"unreadable": True}
        entry = self.made.compact(
            f"line-{source.line}",
            shown,
            source,
            {
                "tokens_before": prompt,
                "kept": tuple(dict.fromkeys(kept)),
                "summary": summary,
                "extra": sealed_by,
            },
            parent=self.line[-1] if self.line else None,
            timestamp=time,
            usage=self.summaries.get(fields.text("compaction_response_id") or ""),
            model=self.model,
            extra=fields.rest,
            **self._copied,
            **({"found": sealed} if sealed and not summary else {}),
        )
        self.line.append(entry.id)
        for number, raw in enumerate(fresh, 1):
            name = f"line-{source.line}.{number}"
            if raw.get("type", "message") == "message" and raw.get("role") != "assistant":
                self._take_words(name, None, Fields(raw, "type"), timestamp=time)
            elif isinstance(raw.get("type"), str) and str(raw["type"]).endswith("_output"):
                call = Fields(raw, "type")
                self._add(name, "tool", [self._read_output(call, call.text("call_id") or "")], None)
            else:
                self._add(name, "assistant", self._read_reply(raw.get("type", "message"), raw), None)
            self._name_item(raw)

    def _find_cwd(self) -> str | None:
        """The folder that Codex told the model of: a bare header does not name it."""
        words = (CWD.search(entry.text) for entry in self.made.entries if entry.role == "user" and entry.meta)
        return next((found[1].strip() for found in words if found), None)

    def make_session(self) -> Session:
        """All of it. Raises `EmptySession` when nobody says anything."""
        fields = Fields(self.meta, "id", "cwd", "cli_version", "timestamp")
        base = Fields(fields.object("base_instructions"))
        words = base.text("text")
        warnings = self.made.warnings
        if not self.meta:
            warnings.append("its header is not in the file: what it was a session of is not told")
        warnings += self.history.warnings()
        if self.missing:
            kept = plural(self.missing, "item stands", "items stand")
            warnings.append(f"of what its compactions kept, {kept} in another file: not counted")
        if isinstance(self.meta.get("history_base"), dict):
            warnings.append("its history begins in another file, which is not read")
        version = self.meta.get("cli_version")
        tools, rest = read_tools(fields.any("dynamic_tools"))
        extra = {"version": version} if isinstance(version, str) else {}
        extra |= fields.rest | ({"dynamic_tools": rest} if rest else {})
        return self.made.make_session(
            id=read_id(self.meta),
            model=self.model,
            window=self.window,
            cwd=Fields(self.meta).text("cwd") or self._find_cwd(),
            created=Fields(self.meta).text("timestamp"),
            updated=self.updated,
            system=(Text(text=words),) if words else (),
            tools=tools,
            leaf=self.line[-1] if self.line else None,
            subagents=tuple(SubAgent(id=name, silent=True) for name in self.agents),
            extra=extra,
        )


READER = Reader(NAME, "Codex rollout", sniff, read, Rollout, find_beside, read_all, name_holders=name_holders)
