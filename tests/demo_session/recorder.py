"""Writes the story down as Claude Code writes its sessions: one JSON row per line.

In go what was said and which tools were called, out come rows: a row per block of a reply, all with the
reply's message id; a row per tool output, hanging off the row of its own call; the harness's bookkeeping
between them; and the usage that a provider would have reported. Row shapes: CLAUDE §3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from .chance import Chance
from .checkout import Call
from .project import ROOT

MODEL = "claude-opus-4-5-20251101"
HEAD = 17_460
"""Tokens of the system prompt and the tools, which no session file holds."""
FACTOR = 1.21
"""Tokens the provider counts for one of `estimate_tokens`."""
FRAME = 2
"""Tokens around each block."""
START = datetime(2026, 3, 30, 7, 41, 3, 218_000, tzinfo=UTC)
CACHE_LIFE = timedelta(hours=1)

Row = dict[str, Any]
_DIGITS = "0123456789"


def estimate_tokens(text: str) -> float:
    """About as many tokens as o200k_base counts in the texts of this story, without loading it."""
    digits = sum(map(text.count, _DIGITS))
    return 0.27 * len(text) + 0.2 * text.count("\n") + 0.56 * digits


class Lane:
    """One conversation: the main one, or a sub-agent's. `full` is its context, `warm` the cached part."""

    def __init__(self, head: int, agent: str | None = None) -> None:
        self.head, self.agent = head, agent
        self.full: float = head
        self.warm = 0
        self.warm_until = START
        self.parent: str | None = None


class Recorder:
    """The session file as it grows."""

    def __init__(self) -> None:
        self._chance = Chance("recorder")
        self._clock = START
        self._main = self._lane = Lane(HEAD)
        self._session = self._chance.uuid()
        self._rows: list[bytes] = []
        self._turn_began = START
        self._edits = 0
        self._outputs: dict[str, float] = {}

    def user(self, text: str, wait: float = 240) -> None:
        """The user speaks, `wait` seconds after the last thing that happened."""
        self._end_turn()
        self._pass(wait)
        self._turn_began = self._clock
        uuid = self._chance.uuid()
        snapshot = {"messageId": uuid, "trackedFileBackups": {}, "timestamp": self._now}
        self._put(
            {
                "type": "file-history-snapshot",
                "messageId": uuid,
                "snapshot": snapshot,
                "isSnapshotUpdate": False,
            }
        )
        self._link("user", uuid, message={"role": "user", "content": text}, permissionMode="default")
        self._grow(text)

    def reply(self, text: str = "", *calls: Call, think: str | None = None, sealed: bool = False) -> None:
        """The agent thinks, speaks and calls tools side by side; then their outputs come in.

        `sealed` thinking has no words, only the provider's signature.
        """
        asked = self._speak(text, calls, think, sealed)
        for (caller, name), call in zip(asked, calls, strict=True):
            self._answer(caller, name, call)

    def delegate(self, text: str, task: str, prompt: str, work: Callable[[], str], think: str) -> None:
        """The agent hands a task to a sub-agent. `work` tells what it does, and returns its last words."""
        asked = {"description": task, "prompt": prompt, "subagent_type": "Explore"}
        [(caller, name)] = self._speak(text, (Call("Task", asked, ""),), think)
        self._lane = Lane(9_240, self._chance.hexes(7))
        self._link("user", message={"role": "user", "content": prompt})
        self._grow(prompt)
        answer = work()
        self.reply(answer)
        self._lane = self._main
        self._answer(caller, name, Call("Task", asked, answer))

    def _speak(
        self, text: str, calls: Sequence[Call], think: str | None = None, sealed: bool = False
    ) -> list[tuple[str, str]]:
        """The rows of a reply. Returns the row and the id of every call."""
        prompt = round(self._lane.full)
        blocks: list[Row] = []
        if think is not None or sealed:
            seal = self._chance.letters(120 + self._chance.below(100)) + "=="
            blocks.append({"type": "thinking", "thinking": think or "", "signature": seal})
        if text:
            blocks.append({"type": "text", "text": text})
        for call in calls:
            name = f"toolu_01{self._chance.letters(22)}"
            blocks.append({"type": "tool_use", "id": name, "name": call.name, "input": call.input})
        said = sum(self._grow(_words(block)) for block in blocks) + (90 if sealed else 0)
        self._pass(1.5 + said / 60)
        frame = {
            "model": MODEL,
            "id": f"msg_01{self._chance.letters(22)}",
            "type": "message",
            "role": "assistant",
            "usage": self._usage(prompt, round(said)),
            "stop_sequence": None,
        }
        request = f"req_011C{self._chance.letters(20)}"
        asked = []
        for block in blocks:
            stop = None if block is not blocks[-1] else "tool_use" if calls else "end_turn"
            message = {**frame, "content": [block], "stop_reason": stop}
            row = self._link("assistant", message=message, requestId=request)
            if block["type"] == "tool_use":
                asked.append((row, block["id"]))
        return asked

    def _answer(self, caller: str, name: str, call: Call) -> None:
        self._pass(0.2 + self._chance.between(0, 3.0 if call.name == "Bash" else 0.4))
        result: Row = {"type": "tool_result", "tool_use_id": name, "content": call.output}
        if call.is_error:
            result["is_error"] = True
        self._lane.parent = caller
        self._link("user", message={"role": "user", "content": [result]}, sourceToolAssistantUUID=caller)
        self._outputs[name] = self._grow(call.output)
        if call.name in ("Edit", "Write"):
            self._edits += 1
            hook = {
                "type": "hook_progress",
                "hookEvent": "PostToolUse",
                "hookName": f"PostToolUse:{call.name}",
            }
            if self._edits % 3 == 0:
                self._link("progress", data=hook, parentToolUseID=name, toolUseID=name)

    def compact(self, summary: str) -> None:
        """The harness has the conversation summarised, because the window is nearly full."""
        lane = self._lane
        self._pass(64)
        metadata = {"trigger": "auto", "preTokens": round(lane.full)}
        above, lane.parent = lane.parent, None
        self._link(
            "system",
            subtype="compact_boundary",
            logicalParentUuid=above,
            content="Conversation compacted",
            isMeta=False,
            level="info",
            compactMetadata=metadata,
        )
        self._link(
            "user",
            message={"role": "user", "content": summary},
            isCompactSummary=True,
            isVisibleInTranscriptOnly=True,
        )
        lane.full, lane.warm = lane.head, lane.head - 212
        self._outputs.clear()
        self._grow(summary)

    def clear(self, least: float, keep: int) -> None:
        """The harness empties the tool outputs of at least `least` tokens, but for the last `keep`."""
        names = [name for name, tokens in list(self._outputs.items())[:-keep] if tokens >= least]
        saved = sum(self._outputs[name] for name in names)
        metadata = {
            "trigger": "auto",
            "preTokens": round(self._lane.full),
            "tokensSaved": round(saved),
            "compactedToolIds": names,
            "clearedAttachmentUUIDs": [],
        }
        self._link(
            "system",
            subtype="microcompact_boundary",
            content="Context microcompacted",
            isMeta=False,
            level="info",
            microcompactMetadata=metadata,
        )
        self._lane.full -= saved
        self._lane.warm = min(self._lane.warm, self._lane.head)

    def finish(self, title: str) -> bytes:
        """The whole file."""
        self._end_turn()
        self._put({"type": "ai-title", "aiTitle": title, "sessionId": self._session})
        return b"".join(row + b"\n" for row in self._rows)

    @property
    def _now(self) -> str:
        return self._clock.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self._clock.microsecond // 1000:03d}Z"

    def _pass(self, seconds: float) -> None:
        self._clock += timedelta(seconds=seconds * self._chance.between(0.9, 1.1))

    def _grow(self, text: str) -> float:
        added = FACTOR * estimate_tokens(text) * self._chance.between(0.985, 1.015) + FRAME
        self._lane.full += added
        return added

    def _usage(self, prompt: int, output: int) -> Row:
        """Tokens of a request: what an earlier one left in the cache is read, the rest written to it."""
        lane = self._lane
        warm = lane.warm if self._clock < lane.warm_until else 0
        fresh = 2 + self._chance.below(8)
        written = max(prompt - warm - fresh, 0)
        lane.warm, lane.warm_until = warm + written, self._clock + CACHE_LIFE
        return {
            "input_tokens": prompt - warm - written,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": warm,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": written},
            "output_tokens": output,
        }

    def _end_turn(self) -> None:
        if self._lane.parent is not None:
            taken = round((self._clock - self._turn_began).total_seconds() * 1000)
            self._link("system", subtype="turn_duration", durationMs=taken, isMeta=False)

    def _link(self, kind: str, uuid: str | None = None, **more: Any) -> str:
        """A row in the chain of rows."""
        lane = self._lane
        uuid = uuid or self._chance.uuid()
        agent = {} if lane.agent is None else {"agentId": lane.agent}
        self._put(
            {
                "parentUuid": lane.parent,
                "isSidechain": lane.agent is not None,
                "userType": "external",
                "cwd": ROOT,
                "sessionId": self._session,
                "version": "2.1.72",
                "gitBranch": "clock-change",
                **agent,
                "type": kind,
                **more,
                "uuid": uuid,
                "timestamp": self._now,
            }
        )
        lane.parent = uuid
        return uuid

    def _put(self, row: Row) -> None:
        self._rows.append(msgspec.json.encode(row))


def _words(block: Row) -> str:
    """What of a block the model reads."""
    if block["type"] == "tool_use":
        return f"{block['name']}{msgspec.json.encode(block['input']).decode()}"
    words: str = block["text"] if block["type"] == "text" else block["thinking"]
    return words
