"""A file that is eight times as long takes about eight times as long to read, and not sixty-four times."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session
from tests.work import count_calls, limit_work

TIMES = 8
"""How much longer the long file is; what grows with its square would take this often as long again."""


def attached_first(count: int) -> Iterator[Any]:
    """What the harness attaches before the words of one conversation after the other."""
    for number in range(count):
        yield attachment(f"a{number}", None)
        yield said(f"u{number}", None)


def attached_at_one_place(count: int) -> Iterator[Any]:
    """Branches that all hang off the first words, each with an attachment."""
    yield said("u", None)
    for number in range(count):
        yield attachment(f"a{number}", "u")
        yield said(f"u{number}", "u")


def attachment(name: str, parent: str | None) -> dict[str, Any]:
    told = {"type": "hook_success", "content": "welcome"}
    return {"type": "attachment", "uuid": name, "parentUuid": parent, "sessionId": "s", "attachment": told}


def of_one_reply(count: int) -> Iterator[Any]:
    """One reply in as many rows, and an answer whose row comes as often."""
    for number in range(count):
        told = {"id": "m", "role": "assistant", "content": [{"type": "text", "text": f"part {number}"}]}
        row = {"type": "assistant", "uuid": f"u{number}", "sessionId": "s", "message": told}
        yield row | {"parentUuid": f"u{number - 1}" if number else None}
    yield said("u", f"u{count - 1}")
    for _ in range(count):
        yield said("u", f"u{count - 1}")


def said(name: str, parent: str | None) -> dict[str, Any]:
    message = {"role": "user", "content": "go"}
    return {"type": "user", "uuid": name, "parentUuid": parent, "sessionId": "s", "message": message}


def unnamed(count: int) -> Iterator[Any]:
    """Requests of many agents, each a conversation that nothing names."""
    for number in range(count):
        system = {"role": "system", "content": f"You are agent {number}. " + "Be brief. " * 20}
        asked = {"role": "user", "content": f"task {number} " * 10}
        reply = {"role": "assistant", "content": f"done {number} " * 10}
        yield {"model": "m", "messages": [system, asked], "response": {"choices": [{"message": reply}]}}


def named(count: int) -> Iterator[Any]:
    for number, request in enumerate(unnamed(count)):
        yield {"custom_id": f"c{number}", **request}


def in_traces(count: int) -> Iterator[Any]:
    """Calls that each have a trace of their own."""
    for number in range(count):
        lists = [[{"role": role, "parts": [{"type": "text", "content": f"{role} {number}"}]}]
                 for role in ("user", "assistant")]  # fmt: skip
        keys = ("gen_ai.input.messages", "gen_ai.output.messages")
        told = {key: json.dumps(each) for key, each in zip(keys, lists, strict=True)}
        yield {"span_id": f"s{number}", "trace_id": f"t{number}", "start_time": number, "attributes": told}


def of_one_id(count: int) -> Iterator[Any]:
    """Messages that all tell the id of their conversation."""
    for number in range(count):
        yield {"id": "talk", "role": ("user", "assistant")[number % 2], "content": f"words {number}"}


def unanswered_calls(count: int) -> Iterator[Any]:
    """Calls, and as many outputs that name a tool that nobody called."""
    yield {"role": "user", "content": "go"}
    for number in range(count):
        call = {"id": f"c{number}", "function": {"name": "look", "arguments": "{}"}}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
    for _ in range(count):
        yield {"role": "tool", "name": "listen", "content": "nothing"}


def undone(count: int) -> Iterator[Any]:
    """Prompts of Kimi Code's, all but the first of which are taken back one by one."""
    for number in range(count):
        message = {"role": "user", "content": f"prompt {number}"}
        yield {"type": "context.append_message", "message": message}
    for _ in range(count - 1):
        yield {"type": "context.undo", "count": 1}


def undone_in_vain(count: int) -> Iterator[Any]:
    """Steps of Kimi Code's without a prompt, and as many undos that find none."""
    for number in range(count):
        message = {"role": "assistant", "content": f"reply {number}"}
        yield {"type": "context.append_message", "message": message}
    for _ in range(count):
        yield {"type": "context.undo", "count": 1}


def chatted(count: int) -> Iterator[Any]:
    """Messages of Gemini CLI's, each of which may be one that was said before."""
    yield {"sessionId": "s", "projectHash": "p"}
    for number in range(count):
        kind = "gemini" if number % 2 else "user"
        yield {"id": f"m{number}", "type": kind, "content": f"message {number}"}


def task(count: int) -> tuple[list[Any], list[Any]]:
    """A task of Roo Code's that is condensed at its end, and its screen with a request for each reply."""
    messages, screen = list[Any](), list[Any]()
    for number in range(count):
        words = "<task>\nMend it\n</task>" if not number else f"<feedback>\nmore {number}\n</feedback>"
        told = {"ts": 1_767_261_600_000 + number, "condenseParent": "c"}
        messages.append({"role": "user", "content": words, **told})
        messages.append({"role": "assistant", "content": f"reply {number}", **told})
        figures = json.dumps({"tokensIn": 5, "tokensOut": 2})
        row = {"type": "say", "say": "api_req_started", "text": figures}
        screen.append({**row, "conversationHistoryIndex": 2 * number})
    messages.append({"role": "user", "content": "Summary", "isSummary": True, "condenseId": "c"})
    return messages, screen


def of_lines(make: Callable[[int], Iterator[Any]]) -> Callable[[Path, int], Path]:
    def write(folder: Path, count: int) -> Path:
        path = folder / f"{count}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in make(count)))
        return path

    return write


def write_task(folder: Path, count: int) -> Path:
    place = folder / str(count)
    place.mkdir()
    messages, screen = task(count)
    (place / "ui_messages.json").write_text(json.dumps(screen))
    path = place / "api_conversation_history.json"
    path.write_text(json.dumps(messages))
    return path


def write_unanswered(folder: Path, count: int) -> Path:
    """A run of SWE-agent's in which nobody answers."""
    history = [
        {"role": "user", "content": f"demonstration {number}", "agent": "a"} for number in range(count)
    ]
    path = folder / f"{count}.traj"
    path.write_text(json.dumps({"trajectory": [], "history": history}))
    return path


@pytest.mark.parametrize(
    ("write", "count"),
    [
        pytest.param(of_lines(attached_first), 400, id="claude-code-first"),
        pytest.param(of_lines(attached_at_one_place), 400, id="claude-code-branches"),
        pytest.param(of_lines(of_one_reply), 600, id="claude-code-one-reply"),
        pytest.param(of_lines(unnamed), 120, id="request-log-unnamed"),
        pytest.param(of_lines(named), 200, id="request-log-named"),
        pytest.param(of_lines(in_traces), 200, id="traces"),
        pytest.param(of_lines(of_one_id), 400, id="message-lines-one-id"),
        pytest.param(of_lines(unanswered_calls), 400, id="message-lines-calls"),
        pytest.param(of_lines(undone), 400, id="kimi-undone"),
        pytest.param(of_lines(undone_in_vain), 400, id="kimi-undone-in-vain"),
        pytest.param(of_lines(chatted), 500, id="gemini"),
        pytest.param(write_task, 200, id="cline-task"),
        pytest.param(write_unanswered, 400, id="swe-agent"),
    ],
)
def test_what_reading_takes_grows_with_the_file(
    write: Callable[[Path, int], Path], count: int, tmp_path: Path
) -> None:
    short, long = write(tmp_path, count), write(tmp_path, count * TIMES)
    open_session(short)  # modules and caches are loaded now
    with limit_work():
        few, many = (count_calls(lambda path=path: open_session(path)) for path in (short, long))
    assert many < 2 * TIMES * few
