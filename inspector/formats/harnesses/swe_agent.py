"""SWE-agent's and mini-swe-agent's trajectories: the history of a run, and what each step of it did.

In go the bytes, out comes a `Session`. Source: FORMATS §11. SWE-agent writes the whole history, and beside
each step what was sent: where an output was sent shorter than it stands in the history, it counts as cleared
from then on. Several agents may share a history; the one that speaks most is the session, the others stand
apart. It only sums up tokens, so no reply has usage. mini-swe-agent keeps the provider's whole answer beside
a reply, and its usage with it; its first versions wrote the bare list of messages, which is known by what the
prompt tells the model to print in the end. A run without a history is the messages of its last
step. Neither compacts.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

from ...errors import ReadError
from ...session.blocks import Text, ToolOutput
from ...session.entries import Source
from ...session.garbage import paused_gc
from ...session.session import Session
from ...text import plural
from ..json_document import FILE, Fields, iso_time, load, place, sniff_document
from ..json_lines import Data, Reader
from ..recording import Json, Recording, make_cost
from ..requests.chat_messages import INSTRUCTIONS, ChatMessage, read_chat, read_chat_usage, read_message

NAME, MINI = "swe-agent", "mini-swe-agent"
ENDS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
"""What mini-swe-agent's prompts tell the model to print when it is done."""


def _judge(value: Any) -> str | None:
    """None for an object with a `trajectory` of steps and a `history` of messages."""
    if not isinstance(value, dict):
        return "not a JSON object"
    steps, history = value.get("trajectory"), value.get("history")
    if not isinstance(steps, list):
        return "it has no list `trajectory`"
    if isinstance(history, list) and history:
        return (
            None if all("role" in Fields(each).rest for each in history[:3]) else "its `history` has no roles"
        )
    # Of a large file only the beginning is looked at, and the history stands behind the steps.
    shaped = all({"action", "observation", "response"} <= set(Fields(step).rest) for step in steps[:3])
    shaped = shaped or all(_find_query(Fields(step).rest) is not None for step in steps[:3])
    return None if steps and shaped else "it has no list `history` of messages"


def is_bare_mini(value: Any) -> bool:
    """Whether a bare list of messages is a run of mini-swe-agent's, by what its prompt says."""
    first = value[:2] if isinstance(value, list) else []
    roles = [Fields(message).rest.get("role") for message in first]
    words = [Fields(message).rest.get("content") for message in first]
    return roles == ["system", "user"] and any(
        isinstance(text, str) and any(mark in text for mark in ENDS) for text in words
    )


def _judge_mini(value: Any) -> str | None:
    """None for an object that calls itself mini-swe-agent's, with messages."""
    if is_bare_mini(value):
        return None
    if not isinstance(value, dict):
        return "not a JSON object"
    if isinstance(value.get("messages"), list) and str(value.get("trajectory_format")).startswith(MINI):
        return None
    info = value.get("info")
    if isinstance(info, dict) and "mini_version" in info and "trajectory" not in value:
        return None
    return "it has no messages in a `trajectory_format` of mini-swe-agent's"


@paused_gc()
def read(data: Data) -> Session:
    """SWE-agent's whole history. Raises `ReadError`, or `EmptySession` when nobody says anything."""
    document = load(data)
    history = document.get("history") if isinstance(document, dict) else None
    steps = document.get("trajectory") if isinstance(document, dict) else None
    warning = ""
    if not history and isinstance(steps, list) and (made := _make_history(steps)):
        history, warning = made
    if not isinstance(document, dict) or not isinstance(history, list):
        raise ReadError(FILE, detail="it has no list `history`")
    run = _Run(history, steps if isinstance(steps, list) else [])
    run.made.warnings += [warning] if warning else []
    return run.make_session(document)


def _make_history(steps: list[Any]) -> tuple[list[Json], str] | None:
    """The messages of a run that kept no history, and a warning of what is missing in them.

    They are what the last step was sent, its reply and what came of it; where no step tells what it was sent,
    each step's reply and what came of that.
    """
    told = [step for step in steps if isinstance(step, dict)]
    if not told:
        return None
    query = _find_query(told[-1])
    if query is not None:
        return [*(each for each in query if isinstance(each, dict)), *_say_step(told[-1])], ""
    said = [message for step in told for message in _say_step(step)]
    return (said, "it kept no history: what was asked, and the prompt, are not in the file") if said else None


def _say_step(step: Json) -> list[Json]:
    fields = Fields(step)
    reply = fields.text("response") or "\n\n".join(
        text for name in ("thought", "action") if (text := fields.text(name))
    )
    seen = fields.text("observation")
    return [
        *([{"role": "assistant", "content": reply}] if reply else []),
        *([{"role": "user", "content": seen}] if seen else []),
    ]


class _Run:
    """A history, message after message, beside the steps that were sent."""

    def __init__(self, history: list[Any], steps: list[Any]) -> None:
        self.made = Recording(NAME)
        self.names: dict[str, str] = {}
        self.system: list[Text] = []
        self.ends: dict[str, str] = {}
        self.shortened = 0
        self.replied = False
        spoken = Counter(Fields(raw).text("agent") or "" for raw in history)
        self.main = spoken.most_common(1)[0][0] if spoken else ""
        self.steps = [step for step in steps if isinstance(step, dict)]
        self.sent = {len(query): query for step in self.steps if (query := _find_query(step)) is not None}
        self.replies = {
            text: step for step in reversed(self.steps) if (text := Fields(step).text("response"))
        }
        self.stands: list[tuple[str, ChatMessage]] = []
        self.cleared: set[str] = set()
        for line, raw in enumerate(history, 1):
            self._take(place(line), raw)

    def _take(self, source: Source, raw: Any) -> None:
        if not isinstance(raw, dict) or not isinstance(raw.get("role"), str):
            self.made.spoil(source, "a message without a role")
            return
        agent = Fields(raw).text("agent") or ""
        main = agent == self.main
        if main:
            self._clear(self.sent.get(len(self.stands)))
        answered = raw.get("tool_call_ids")
        given = (
            raw
            if not answered
            else {**raw, "tool_call_id": answered[0] if isinstance(answered, list) else ""}
        )
        message, _ = read_message(given, self.names)
        extra = {key: value for key, value in message.extra.items() if key not in ("agent", "tool_call_ids")}
        if message.role in INSTRUCTIONS and main and not self.ends.get(agent):
            self.system.append(Text(text=message.text))
            self.made.note("system prompt", source)
            self.stands.append(("", message))
            return
        role = message.role
        more: Json = {"sidechain": None if main else agent or "other", "parent": self.ends.get(agent)}
        if role == "assistant":
            self.replied = True
            step = Fields(self.replies.get(message.text))
            told = {key: step.rest[key] for key in ("execution_time", "state") if key in step.rest}
            extra |= {"step": told} if told else {}
        elif role != "tool" or not all(isinstance(block, ToolOutput) for block, _ in message.found):
            # Once the agent has replied, what follows is its environment's; so are demonstrations.
            if role != "user" or raw.get("is_demo") or (self.replied and agent in self.ends):
                more["meta"] = True
            role = "user"
        entry = self.made.add(f"m{source.line}", role, message.found, source, extra, **more)
        self.ends[agent] = entry.id
        if main:
            self.stands.append((entry.id, message))

    def _clear(self, query: list[Any] | None) -> None:
        """What was sent before a reply beside what stands in the history: outputs may have become shorter."""
        if query is None:
            return
        calls: list[str] = []
        for (name, before), raw in zip(self.stands, query, strict=False):
            if not name or not isinstance(raw, dict) or name in self.cleared:
                continue
            answered = raw.get("tool_call_ids")
            call = answered[0] if isinstance(answered, list) and answered else raw.get("tool_call_id")
            after, _ = read_message(raw if call is None else {**raw, "tool_call_id": call}, {})
            was, now = (_find_words(message) for message in (before, after))
            if len(now) >= len(was):
                continue
            self.cleared.add(name)
            block = before.found[0][0] if before.found else None
            if isinstance(block, ToolOutput):
                calls.append(block.call_id)
            else:
                self.shortened += 1
        if calls:
            end = self.ends.get(self.main)
            boundary = {"kind": "micro", "cleared": tuple(calls)}
            name = f"cleared-{len(self.made.entries) + 1}"
            entry = self.made.compact(name, None, None, boundary, parent=end)
            self.ends[self.main] = self.made.change(entry.id, kind="micro").id

    def make_session(self, document: Json) -> Session:
        """All of it. Raises `EmptySession` when nobody says anything."""
        if self.shortened:
            were = plural(self.shortened, "message was", "messages were")
            self.made.warnings.append(f"{were} sent shorter than in its history; the history is shown")
        fields = Fields(document, "trajectory", "history")
        return self.made.make_session(
            id=fields.text("environment") or "",
            title=fields.text("environment"),
            system=tuple(self.system),
            leaf=self.ends.get(self.main),
            extra=fields.rest,
        )


def _find_words(message: ChatMessage) -> str:
    """The text of a message and of the outputs in it."""
    return "\n".join(
        block.text.strip()
        for block, _ in message.found
        if isinstance(block, ToolOutput) or block.kind == "text"
    )


def _find_query(step: Json) -> list[Any] | None:
    for key in ("query", "messages"):
        if isinstance(step.get(key), list) and step[key]:
            return list(step[key])
    return None


@paused_gc()
def read_mini(data: Data) -> Session:
    """mini-swe-agent's messages. Raises `ReadError`, or `EmptySession` when nobody says anything."""
    document = load(data)
    if is_bare_mini(document):
        document = {"messages": document}
    messages = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(messages, list):
        raise ReadError(FILE, detail="it has no list `messages`")
    made = Recording(MINI)
    names: dict[str, str] = {}
    system: list[Text] = []
    replied = False
    fields = Fields(document, "messages")
    info = Fields(fields.object("info"))
    config = Fields(info.rest.get("config"))
    model = Fields(config.rest.get("model")).text("model_name")
    for line, raw in enumerate(messages, 1):
        source = place(line)
        message = _read_mini_message(raw, names)
        if message is None:
            made.spoil(source, "a message without a role")
            continue
        if message.role == "exit":
            made.note("exit", source)
            continue
        about = Fields(message.extra.get("extra"))
        time = about.number("timestamp")
        stamp = None if time is None else iso_time(time * 1000)
        if message.role in INSTRUCTIONS and not made.entries:
            system.append(Text(text=message.text))
            made.note("system prompt", source)
            continue
        more: Json = {}
        role = message.role
        if role == "assistant":
            answer = Fields(about.rest.get("response") or message.extra)
            usage = read_chat_usage(answer.rest.get("usage"))
            if usage is not None:
                usage = usage.model_copy(update={"cost": make_cost(about.rest.get("cost"))})
            more, replied = {"usage": usage, "model": answer.text("model") or model}, True
        elif role != "tool" or not all(isinstance(block, ToolOutput) for block, _ in message.found):
            if role != "user" or replied:
                more = {"meta": True}
            role = "user"
        made.add(f"m{line}", role, message.found, source, message.extra, timestamp=stamp, **more)
    version = info.text("mini_version")
    return made.make_session(
        model=model,
        created=made.entries[0].timestamp if made.entries else None,
        updated=made.entries[-1].timestamp if made.entries else None,
        system=tuple(system),
        extra=fields.rest | {"info": info.rest} | ({"version": version} if version else {}),
    )


def _read_mini_message(raw: Any, names: dict[str, str]) -> ChatMessage | None:
    """A message with a role, or by OpenAI's Responses: a whole answer of several items, or an output."""
    if not isinstance(raw, dict):
        return None
    if raw.get("object") == "response" and isinstance(raw.get("output"), list):
        found = [part for message in read_chat(raw["output"], names) for part in message.found]
        return ChatMessage("assistant", found, {key: value for key, value in raw.items() if key != "output"})
    if isinstance(raw.get("role"), str) or raw.get("type") == "function_call_output":
        return read_message(raw, names)[0]
    return None


READER = Reader(NAME, "SWE-agent trajectory", partial(sniff_document, judge=_judge), read)
MINI_READER = Reader(MINI, "mini-swe-agent trajectory", partial(sniff_document, judge=_judge_mini), read_mini)
