"""Read trajectories of SWE-agent and mini-swe-agent: the history of a run, and the action of each step.

Source: FORMATS §11. SWE-agent writes the whole history, and with each step the messages that were sent: an
output that was sent shorter than in the history counts as cleared from then on. Several agents may share a
history: the one with the most messages is the session, the others are sidechains. SWE-agent records only
total tokens, so replies have no usage. mini-swe-agent stores the provider's response, including usage, with
each reply. Its first versions wrote only the list of messages, which is recognised by the text that the
prompt asks the model to print at the end. For a run without a history, the messages of its last step are
read. Neither harness compacts.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...session.blocks import Text, ToolOutput
from ...session.entries import Source
from ...session.session import Session
from ..json_document import (
    Fields,
    document_reader,
    find_lack,
    iso_seconds,
    list_objects,
    placed,
    refuse,
)
from ..recording import Json, Reading, make_cost
from ..requests.chat_messages import INSTRUCTIONS, ChatMessage, read_chat, read_chat_usage, read_message

NAME, MINI = "swe-agent", "mini-swe-agent"
ENDS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
"""Texts that mini-swe-agent's prompts ask the model to print when it is done."""


def _judge(value: Any) -> str | None:
    """Return None for an object with a `trajectory` of steps and a `history` of messages, else the reason."""
    if lack := find_lack(value, trajectory=list):
        return lack
    steps, history = value["trajectory"], value.get("history")
    if isinstance(history, list) and history:
        return (
            None
            if all("role" in Fields(message).rest for message in history[:3])
            else "its `history` has no roles"
        )
    # Only the beginning of a large file is checked, and the history comes after the steps.
    shaped = all({"action", "observation", "response"} <= set(Fields(step).rest) for step in steps[:3])
    shaped = shaped or all(_find_query(Fields(step).rest) is not None for step in steps[:3])
    return None if steps and shaped else "it has no list `history` of messages"


def is_bare_mini(value: Any) -> bool:
    """Return whether a bare list of messages is a run of mini-swe-agent, by the text of its prompt."""
    first = value[:2] if isinstance(value, list) else []
    roles = [Fields(message).rest.get("role") for message in first]
    words = [Fields(message).rest.get("content") for message in first]
    return roles == ["system", "user"] and any(
        isinstance(text, str) and any(mark in text for mark in ENDS) for text in words
    )


def _judge_mini(value: Any) -> str | None:
    """Return None for an object with messages in mini-swe-agent's format, else the reason."""
    if is_bare_mini(value):
        return None
    if not isinstance(value, dict):
        return "not a JSON object"
    if isinstance(value.get("messages"), list) and str(value.get("trajectory_format")).startswith(MINI):
        return None
    info = value.get("info")
    if isinstance(info, dict) and "mini_version" in info and "trajectory" not in value:
        return None
    return "it has no messages in mini-swe-agent's `trajectory_format`"


def _read(document: Any) -> Session:
    """Read SWE-agent's whole history. Raises `ReadError`, or `EmptySession` if it contains no messages."""
    history = document.get("history") if isinstance(document, dict) else None
    steps = document.get("trajectory") if isinstance(document, dict) else None
    warning = ""
    if not history and isinstance(steps, list) and (converted := _make_history(steps)):
        history, warning = converted
    if not isinstance(document, dict) or not isinstance(history, list):
        raise refuse("it has no list `history`")
    run = _Run(history, steps if isinstance(steps, list) else [], document)
    run.warnings += [warning] if warning else []
    return run.read(placed(history))


def _make_history(steps: list[Any]) -> tuple[list[Json], str] | None:
    """Return the messages of a run without a history, and a warning if some are missing.

    They are the messages sent at the last step, its reply and the observation. If no step records the sent
    messages, they are each step's reply and observation.
    """
    valid_steps = list_objects(steps)
    if not valid_steps:
        return None
    query = _find_query(valid_steps[-1])
    if query is not None:
        return [*list_objects(query), *_read_step(valid_steps[-1])], ""
    messages = [message for step in valid_steps for message in _read_step(step)]
    warning = "it has no history: the prompts and the messages sent to the model are not in the file"
    return (messages, warning) if messages else None


def _read_step(step: Json) -> list[Json]:
    fields = Fields(step)
    reply = fields.text("response") or "\n\n".join(
        text for name in ("thought", "action") if (text := fields.text(name))
    )
    observation = fields.text("observation")
    return [
        *([{"role": "assistant", "content": reply}] if reply else []),
        *([{"role": "user", "content": observation}] if observation else []),
    ]


class _Run(Reading):
    """State while a history is read message by message and compared with the messages sent at each step."""

    format = NAME

    def __init__(self, history: list[Any], steps: list[Any], document: Json) -> None:
        super().__init__()
        self.document = Fields(document, "trajectory", "history")
        self.ends: dict[str, str] = {}
        self.shortened = 0
        self.replied = False
        agent_counts = Counter(Fields(raw).text("agent") or "" for raw in history)
        self.main = agent_counts.most_common(1)[0][0] if agent_counts else ""
        self.steps = list_objects(steps)
        self.sent = {len(query): query for step in self.steps if (query := _find_query(step)) is not None}
        self.replies = {
            text: step for step in reversed(self.steps) if (text := Fields(step).text("response"))
        }
        self.main_messages: list[tuple[str, ChatMessage]] = []
        self.cleared: set[str] = set()

    def take(self, source: Source, raw: Any) -> None:
        if not isinstance(raw, dict) or not isinstance(raw.get("role"), str):
            self.spoil("a message without a role")
            return
        agent = Fields(raw).text("agent") or ""
        main = agent == self.main
        if main:
            self._clear(self.sent.get(len(self.main_messages)))
        answered = raw.get("tool_call_ids")
        message_json = (
            raw
            if not answered
            else {**raw, "tool_call_id": answered[0] if isinstance(answered, list) else ""}
        )
        message, _ = read_message(message_json, self.names)
        extra = {key: value for key, value in message.extra.items() if key not in ("agent", "tool_call_ids")}
        if message.role in INSTRUCTIONS and main and not self.ends.get(agent):
            self.system.append(Text(text=message.text))
            self.note("system prompt")
            self.main_messages.append(("", message))
            return
        role = message.role
        more: Json = {"sidechain": None if main else agent or "other", "parent": self.ends.get(agent)}
        if role == "assistant":
            self.replied = True
            step = Fields(self.replies.get(message.text))
            step_details = {key: step.rest[key] for key in ("execution_time", "state") if key in step.rest}
            extra |= {"step": step_details} if step_details else {}
        elif role != "tool" or not all(isinstance(block, ToolOutput) for block, _ in message.parsed_blocks):
            # After the first reply, user messages are from the environment; demonstrations are not typed.
            if role != "user" or raw.get("is_demo") or (self.replied and agent in self.ends):
                more["meta"] = True
            role = "user"
        entry = self.add(f"m{source.line}", role, message.parsed_blocks, extra, **more)
        self.ends[agent] = entry.id
        if main:
            self.main_messages.append((entry.id, message))

    def _clear(self, query: list[Any] | None) -> None:
        """Compare the messages sent before a reply with the history: outputs may have become shorter."""
        if query is None:
            return
        calls: list[str] = []
        for (name, before), raw in zip(self.main_messages, query, strict=False):
            if not name or not isinstance(raw, dict) or name in self.cleared:
                continue
            answered = raw.get("tool_call_ids")
            call = answered[0] if isinstance(answered, list) and answered else raw.get("tool_call_id")
            after, _ = read_message(raw if call is None else {**raw, "tool_call_id": call}, {})
            was, now = (_find_words(message) for message in (before, after))
            if len(now) >= len(was):
                continue
            self.cleared.add(name)
            block = before.parsed_blocks[0][0] if before.parsed_blocks else None
            if isinstance(block, ToolOutput):
                calls.append(block.call_id)
            else:
                self.shortened += 1
        if calls:
            end = self.ends.get(self.main)
            name = f"cleared-{len(self.entries) + 1}"
            self.ends[self.main] = self.clear(name, calls, parent=end, source=None).id

    def finish(self) -> Session:
        short = "{} sent shorter than in its history; the history is shown"
        self.warn(self.shortened, short, "message was", "messages were")
        name = self.document.text("environment")
        leaf, extra = self.ends.get(self.main), self.document.rest
        return self.make_session(id=name or "", leaf=leaf, extra=extra)


def _find_words(message: ChatMessage) -> str:
    """Return the text of a message and of its outputs."""
    return "\n".join(
        block.text.strip()
        for block, _ in message.parsed_blocks
        if isinstance(block, ToolOutput) or block.kind == "text"
    )


def _find_query(step: Json) -> list[Any] | None:
    for key in ("query", "messages"):
        if isinstance(step.get(key), list) and step[key]:
            return list(step[key])
    return None


def _read_mini(document: Any) -> Session:
    """Read mini-swe-agent's messages. Raises `ReadError`, or `EmptySession` if there are none."""
    if is_bare_mini(document):
        document = {"messages": document}
    messages = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(messages, list):
        raise refuse("it has no list `messages`")
    recording = Reading(MINI)
    replied = False
    fields = Fields(document, "messages")
    info = Fields(fields.object("info"))
    config = Fields(info.rest.get("config"))
    model = Fields(config.rest.get("model")).text("model_name")
    for source, raw in placed(messages):
        recording.source = source
        message = _read_mini_message(raw, recording.names)
        if message is None:
            recording.spoil("a message without a role")
            continue
        if message.role == "exit":
            recording.note("exit")
            continue
        about = Fields(message.extra.get("extra"))
        recording.time = iso_seconds(about.number("timestamp"))
        if message.role in INSTRUCTIONS and not recording.entries:
            recording.system.append(Text(text=message.text))
            recording.note("system prompt")
            continue
        more: Json = {}
        role = message.role
        if role == "assistant":
            answer = Fields(about.rest.get("response") or message.extra)
            usage = read_chat_usage(answer.rest.get("usage"))
            if usage is not None:
                usage = usage.model_copy(update={"cost": make_cost(about.rest.get("cost"))})
            more, replied = {"usage": usage, "model": answer.text("model") or model}, True
        elif role != "tool" or not all(isinstance(block, ToolOutput) for block, _ in message.parsed_blocks):
            if role != "user" or replied:
                more = {"meta": True}
            role = "user"
        name = f"m{source.line}"
        recording.add(name, role, message.parsed_blocks, message.extra, **more)
    version = info.text("mini_version")
    return recording.make_session(
        model=model,
        created=recording.entries[0].timestamp if recording.entries else None,
        updated=recording.entries[-1].timestamp if recording.entries else None,
        extra=fields.rest | {"info": info.rest} | ({"version": version} if version else {}),
    )


def _read_mini_message(raw: Any, names: dict[str, str]) -> ChatMessage | None:
    """Read a message with a role, or of OpenAI's Responses API: a response of several items, or an output."""
    if not isinstance(raw, dict):
        return None
    if raw.get("object") == "response" and isinstance(raw.get("output"), list):
        parsed_blocks = [
            part for message in read_chat(raw["output"], names) for part in message.parsed_blocks
        ]
        return ChatMessage(
            "assistant", parsed_blocks, {key: value for key, value in raw.items() if key != "output"}
        )
    if isinstance(raw.get("role"), str) or raw.get("type") == "function_call_output":
        return read_message(raw, names)[0]
    return None


READER = document_reader(NAME, "SWE-agent trajectory", _judge, _read)
MINI_READER = document_reader(MINI, "mini-swe-agent trajectory", _judge_mini, _read_mini)
