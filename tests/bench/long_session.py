"""One long session, made here, in the shapes that are compared: ours, LangChain's messages, pi's entries.

A user asks, the model calls a tool and reads its output a few times, then answers. Sizes are those of
coding agents: most messages are short, a few outputs are long; about 40 MB of text in 100,000 messages.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from bench_count import WORDS, make_lines

from inspector.session.blocks import Block, Text, ToolCall, ToolOutput, build
from inspector.session.entries import Entry, Usage
from inspector.session.session import Session

SIZE = 100_000
FILES = 3_000


class Call(NamedTuple):
    """A tool call, and its answer."""

    id: str
    name: str
    input: dict[str, str]


class Message(NamedTuple):
    """One message. An assistant's may carry a call, a tool's answers the call before it."""

    role: str
    text: str
    call: Call | None = None


def make_messages(size: int = SIZE) -> list[Message]:
    """The messages, the same each time."""
    chance = random.Random(42)
    lines = make_lines(chance, 4_000)
    files = [f"src/{chance.choice(WORDS)}/{chance.choice(WORDS)}_{i}.py" for i in range(FILES)]
    messages: list[Message] = []
    while len(messages) < size:
        messages.append(Message("user", f"{len(messages)}: {_words(chance, 8, 60)}"))
        for _ in range(chance.randrange(2, 9)):
            call = _make_call(chance, files, len(messages))
            said = _words(chance, 10, 60) if chance.random() < 0.5 else ""
            output = "\n".join(chance.choices(lines, k=_length(chance)))
            messages += (Message("assistant", said, call), Message("tool", output, call))
        messages.append(Message("assistant", _words(chance, 20, 120)))
    return messages[:size]


def _words(chance: random.Random, least: int, most: int) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randrange(least, most)))


def _length(chance: random.Random) -> int:
    """Lines of an output: 8 in the middle, 90 in one of a hundred."""
    return min(1 + int(chance.lognormvariate(1.8, 1.0)), 400)


def _make_call(chance: random.Random, files: list[str], number: int) -> Call:
    name = chance.choice(("read", "read", "edit", "bash", "grep"))
    path = chance.choice(files)
    inputs = {
        "read": {"path": path},
        "edit": {"path": path, "old": _words(chance, 5, 30), "new": _words(chance, 5, 30)},
        "bash": {"command": f"pytest -q {path}"},
        "grep": {"pattern": chance.choice(WORDS), "path": "src"},
    }
    return Call(f"call_{number}", name, inputs[name])


def make_session(messages: list[Message]) -> Session:
    """The messages as a session, one entry each."""
    entries = tuple(
        build(
            Entry,
            id=f"e{i}",
            parent=f"e{i - 1}" if i else None,
            role=message.role,
            blocks=_blocks(message),
            usage=_usage(message, i) if message.role == "assistant" else None,
        )
        for i, message in enumerate(messages)
    )
    leaf = entries[-1].id if entries else None
    return build(Session, format="manifest", model="claude-opus-4-6", entries=entries, leaf=leaf)


def _usage(message: Message, number: int) -> Usage:
    """As a provider reports it, of a context that fills up and starts again."""
    return build(Usage, input=4, cache_read=20_000 + number % 1000 * 150, output=len(message.text) // 4 + 30)


def _blocks(message: Message) -> tuple[Block, ...]:
    text, call = build(Text, text=message.text), message.call
    if call is None:
        return (text,)
    if message.role == "tool":
        return (build(ToolOutput, call_id=call.id, name=call.name, parts=(text,)),)
    asked = build(ToolCall, id=call.id, name=call.name, input=call.input)
    return (text, asked) if message.text else (asked,)


def make_langchain(messages: list[Message]) -> list[Any]:
    """The messages as langchain-core's."""
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    def convert(message: Message) -> Any:
        call = message.call
        if message.role == "user":
            return HumanMessage(message.text)
        if call is None:
            return AIMessage(message.text)
        if message.role == "tool":
            return ToolMessage(message.text, tool_call_id=call.id, name=call.name)
        return AIMessage(message.text, tool_calls=[{"id": call.id, "name": call.name, "args": call.input}])

    return [convert(message) for message in messages]


def make_pi(messages: list[Message]) -> Iterator[dict[str, Any]]:
    """The messages as entries of a pi session."""
    for i, message in enumerate(messages):
        text = {"type": "text", "text": message.text}
        said: dict[str, Any] = {"role": message.role, "content": [text]}
        if message.role == "tool" and message.call is not None:
            said |= {"role": "toolResult", "toolCallId": message.call.id, "toolName": message.call.name}
        elif message.call is not None:
            number, name, given = message.call
            asked = {"type": "toolCall", "id": number, "name": name, "arguments": given}
            said["content"] = [text, asked] if message.text else [asked]
        yield {"type": "message", "id": f"e{i}", "parentId": f"e{i - 1}" if i else None, "message": said}
