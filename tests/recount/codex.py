"""The figures of a Codex rollout, from its rows: FORMATS §1.

- What the model writes up to the next output, the next words of the user's, or the next row of usage is one
  reply. Words that only an event holds count as the item they would be.
- A turn is what a person typed: an item of the user's that an event repeats. Where no event tells what was
  typed, it is one that begins as no harness's does. Newer items tell themselves of what kind they are.
- `token_usage_record` tells what a response took, once by its id and for this thread; a `compacted` row names
  the one that its summary took. Without such records it is `last_token_usage`, once for each time that the
  totals change; all zeros are Codex's own estimate, and no request.
- `thread_rolled_back` takes the newest turns off the way. Rows below `subagent_history_start_ordinal` are the
  parent's: their words count, their usage does not.
- A sub-agent whose rollout lies beside this one, by the thread that an event says was started, is read there;
  rows that it copied at its beginning do not count. One without such a file is told and not known.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .figures import Figures
from .tally import Row, Tally, dig, is_typed, listed, read_rows, say, split_inclusive, whole

_EVENTS = {"user_message": "user", "agent_message": "assistant"}
_ITEMS = {"UserMessage": "user", "AgentMessage": "assistant"}
_UNSEEN = ("ghost_snapshot", "additional_tools")
_HARNESS = (
    *("# AGENTS.md", "<permissions instructions>", "<user_instructions>", "<environment_context>"),
    "<user_shell_command>",
)


Flat = tuple[str, Row, Row]


def recount(path: Path) -> Figures:
    """Every figure of the file."""
    rows = [_flatten(row) for row in read_rows(path)]
    own = _Count(rows)
    name = own.meta.get("id") or own.meta.get("session_id")
    missing = set(own.started)
    for thread in own.named:
        beside = [
            *path.parent.glob(f"rollout-*{thread}.jsonl"),
            *path.parent.glob(f"rollout-*{thread}.jsonl.zst"),
        ]
        for other in beside[:1]:  # what is there plain and packed is the plain one
            theirs = [_flatten(row) for row in read_rows(other)]
            meta = next((payload for kind, payload, _ in theirs if kind == "session_meta"), {})
            spawned = dig(meta, "source", "subagent", "thread_spawn")
            if other == path or (spawned.get("parent_thread_id") or meta.get("parent_thread_id")) != name:
                continue
            agent = _Count(_leave_copies(theirs, rows))
            missing |= set(agent.started)
            missing.discard(thread)
            for request in (each for reply in agent.tally.replies for each in reply):
                own.tally.aside(request.tokens, request.model)
            own.tally.figures.compactions += agent.tally.figures.compactions
            own.tally.silent += agent.tally.silent
            own.tally.compactions += agent.tally.compactions
    own.tally.silent_agents = len(missing)
    return own.close()


def _leave_copies(rows: list[Flat], parents: list[Flat]) -> list[Flat]:
    """A sub-agent's rows without those at the beginning that stand in its parent's rollout too."""
    known = [payload for _, payload, _ in parents]
    turns = {payload.get("turn_id") for payload in known} - {None}
    first = next(
        (
            at
            for at, (kind, payload, _) in enumerate(rows)
            if kind != "session_meta" and payload not in known and payload.get("turn_id") not in turns
        ),
        len(rows),
    )
    return [row for row in rows[:1] if row[0] == "session_meta"] + rows[max(first, 1) :]


def _flatten(row: Row) -> tuple[str, Row, Row]:
    """A row's type, its payload, and the row; a bare item is the payload of one."""
    kind, payload = row.get("type"), row.get("payload")
    if "payload" not in row and isinstance(kind, str):
        item = kind in ("message", "reasoning") or kind.endswith(("_call", "_output"))
        return "response_item" if item else kind, row, row
    return str(kind), payload if isinstance(payload, dict) else {}, row


def _spoken(payload: Row) -> tuple[str, str]:
    """Who speaks in an event that repeats an item, and what; two empty texts for another event."""
    kind, item = payload.get("type"), payload.get("item")
    if kind in _EVENTS and isinstance(payload.get("message"), str):
        return _EVENTS[str(kind)], payload["message"].strip()
    if kind == "item_completed" and isinstance(item, dict) and item.get("type") in _ITEMS:
        return _ITEMS[item["type"]], say(item.get("content")).strip()
    return "", ""


def _is_agent(event: Row) -> bool:
    return event.get("type") == "item_completed" and dig(event, "item").get("type") == "SubAgentActivity"


class _Count:
    def __init__(self, rows: list[tuple[str, Row, Row]]) -> None:
        self.tally = Tally()
        self.way: list[str] = []  # "turn", "words", "reply", "output" or "compaction", in order
        self.model: Any = None
        self.called: dict[Any, Any] = {}
        self.answered: Any = None
        self.open = self.waiting = False
        self.totals: Any = None
        self.paid: Row = {}
        self.responses: set[str] = set()
        self.meta: Row = next((payload for kind, payload, _ in rows if kind == "session_meta"), {})
        items = [
            p for kind, p, _ in rows if kind == "response_item" and p.get("type", "message") == "message"
        ]
        self.said = {
            role: [
                say(p.get("content"))
                for p in items
                if (p.get("role") == "assistant") == (role == "assistant")
            ]
            for role in ("user", "assistant")
        }
        spoken = [_spoken(payload) for kind, payload, _ in rows if kind == "event_msg"]
        self.typed = {words for role, words in spoken if role == "user" and words}
        self.summaries = {
            p["compaction_response_id"]: None
            for kind, p, _ in rows
            if kind == "compacted" and isinstance(p.get("compaction_response_id"), str)
        }  # type: dict[str, list[int] | None]
        for kind, payload, _ in rows:
            if kind == "token_usage_record" and payload.get("response_id") in self.summaries:
                self.summaries[payload["response_id"]] = _split(payload.get("usage"))
        name = self.meta.get("id") or self.meta.get("session_id")
        # The newest rollouts tell of a sub-agent in an item that is completed.
        events = [payload for kind, payload, _ in rows if kind == "event_msg"]
        events += [
            {**dig(event, "item"), "type": "sub_agent_activity"} for event in events if _is_agent(event)
        ]
        self.named = {
            thread
            for event in events
            for key in ("new_thread_id", "agent_thread_id")
            if isinstance(thread := event.get(key), str) and thread != name
        }
        self.started = {
            thread
            for event in events
            if event.get("type") == "collab_agent_spawn_end"
            or (event.get("type"), event.get("kind")) == ("sub_agent_activity", "started")
            for key in ("new_thread_id", "agent_thread_id")
            if isinstance(thread := event.get(key), str) and thread != name
        }
        self.last_event: tuple[str, str, str] = ("", "", "")
        self.copied = False
        for kind, payload, row in rows:
            self._take(kind, payload, row)

    def _take(self, kind: str, payload: Row, row: Row) -> None:
        own_from, number = self.meta.get("subagent_history_start_ordinal"), row.get("ordinal")
        if isinstance(own_from, int) and isinstance(number, int) and kind != "session_meta":
            if self.copied and number >= own_from:
                self.open = self.waiting = False
            self.copied = number < own_from
        if kind == "turn_context":
            self.model = payload.get("model") or self.model
        elif kind == "response_item":
            self._item(payload)
        elif kind == "event_msg":
            self._event(payload)
        elif kind == "token_usage_record":
            self._record(payload)
        elif kind == "inter_agent_communication" and (
            payload.get("content") or payload.get("encrypted_content")
        ):
            self._item({"type": "agent_message"})
        elif kind == "compacted":
            self._compact(payload)

    def _item(self, item: Row) -> None:
        kind = str(item.get("type", "message"))
        if kind in _UNSEEN:
            return
        if kind.endswith("_call"):
            self.called[item.get("call_id")] = item.get("name")
        if kind.endswith("_output"):
            self.answered = self.called.get(item.get("call_id"))
            self.open = False
            self.way.append("output")
        elif kind == "agent_message":
            # What another agent sent is no reply of the model's.
            self.open = False
            self.way.append("words")
        elif kind == "message" and item.get("role") != "assistant":
            self.open = False
            self.way.append("turn" if self._opens(item) else "words")
        elif not self.open:
            self.open = self.waiting = True
            self.tally.figures.replies += 1
            self.way.append("reply")

    def _opens(self, item: Row) -> bool:
        parts = item.get("content")
        if item.get("role") != "user" or not parts:
            return False
        if any(isinstance(part, dict) and "text" not in part for part in listed(parts)):
            # A picture: a person sends one, and a tool that was asked to show one.
            shown = self.way[-1:] == ["output"] and self.answered == "view_image"
            return not (shown and (not say(parts).strip() or say(parts).startswith("<image")))
        kinds = dig(item, "internal_chat_message_metadata_passthrough").get("content_item_kinds") or []
        if "user.text" in kinds:
            return True
        if kinds and not any(str(kind).startswith("user.") for kind in kinds):
            return False
        texts = [parts] if isinstance(parts, str) else [say([part]) for part in listed(parts)]
        if not any(is_typed(text) and not text.startswith(_HARNESS) for text in texts):
            return False
        return not self.typed or any(text.strip() in self.typed for text in [*texts, say(parts)])

    def _event(self, payload: Row) -> None:
        kind = str(payload.get("type"))
        role, words = _spoken(payload)
        before, self.last_event = self.last_event, (kind, role, words) if role else self.last_event
        again = before[0] != kind and before[1:] == (role, words)
        if words and not again and not self._holds(role, words):
            self._item({"role": role, "content": [{"type": "text", "text": words}]})
        elif kind == "token_count":
            self._count(dig(payload, "info"))
        elif kind == "thread_rolled_back" and isinstance(payload.get("num_turns"), int):
            left = payload["num_turns"]
            while left > 0 and self.way:
                left -= self.way.pop() == "turn"
            self.open = self.waiting = False

    def _holds(self, role: str, words: str) -> bool:
        """Whether an item says this: whole, or joined with others."""
        together = "".join("".join(self.said[role]).split())
        return "".join(words.split()) in together

    def _count(self, info: Row) -> None:
        last, total = dig(info, "last_token_usage"), dig(info, "total_token_usage")
        if total and "last_token_usage" not in info:
            # Totals alone: a request took what they grew by; those a fork begins with are its parent's.
            before, self.totals = self.totals, total
            if before is None and self.meta.get("forked_from_id"):
                return
            names = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")
            last = {name: whole(total.get(name)) - whole(dig(before).get(name)) for name in names}
            if min(last.values()) >= 0 and any(last.values()) and not (self.responses or self.copied):
                self.paid = last
                self._pay(_split(last) or [])
            return
        tokens = _split(last)
        same = info.get("total_token_usage") is not None and info["total_token_usage"] == self.totals
        if tokens is None or not sum(tokens) or same or self.responses or self.copied:
            return
        self.totals, self.paid = info.get("total_token_usage"), last
        self._pay(tokens)

    def _record(self, payload: Row) -> None:
        name, thread = str(payload.get("response_id") or ""), payload.get("thread_id")
        tokens = _split(payload.get("usage"))
        own = self.meta.get("id") or self.meta.get("session_id")
        if tokens is None or not sum(tokens) or name in self.responses or self.copied:
            return
        if name in self.summaries or (isinstance(thread, str) and thread != own):
            return
        first = not self.responses
        self.responses.add(name)
        if not (first and tokens == _split(self.paid)):
            self._pay(tokens)

    def _pay(self, tokens: list[int]) -> None:
        self.open = False
        if self.waiting:
            self.waiting = False
            self.tally.charge(tokens, self.model)
        elif self.way and self.way[-1] not in ("reply", "compaction"):
            # A request whose reply is not in the file.
            self.way.append("reply")
            self.tally.charge(tokens, self.model)

    def _compact(self, payload: Row) -> None:
        self.open = self.waiting = False
        self.way.append("compaction")
        self.tally.compact(self.summaries.get(str(payload.get("compaction_response_id"))), self.model)

    def close(self) -> Figures:
        return self.tally.close(self.way.count("turn"))


def _split(usage: Any) -> list[int] | None:
    told = dig({"usage": usage}, "usage")
    if "input_tokens" not in told and "output_tokens" not in told:
        return None
    return split_inclusive(
        told.get("input_tokens"),
        told.get("output_tokens"),
        told.get("cached_input_tokens"),
        told.get("cache_write_input_tokens"),
    )
