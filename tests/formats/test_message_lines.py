"""Bare messages, one a line: what opens as a conversation, what is left to others, what a line tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import ReadError
from inspector.formats.requests.message_lines import READER
from inspector.session.blocks import ToolCall, ToolOutput
from inspector.session.session import Session
from tests.rows import CASES, dump

ASKED = {"role": "user", "content": "Where does the ferry land?", "timestamp": "2026-05-01T08:00:00"}
SAID = {"role": "assistant", "content": "At the east quay.", "timestamp": "2026-05-01T08:00:02"}


def pairs_of(session: Session) -> dict[str, int]:
    """How many outputs answer each call that is made."""
    blocks = [block for entry in session.entries for block in entry.blocks]
    answers = Counter(block.call_id for block in blocks if isinstance(block, ToolOutput))
    return {block.id: answers[block.id] for block in blocks if isinstance(block, ToolCall)}


def test_what_each_line_tells_is_in_its_entry() -> None:
    session = open_session(CASES / "message-lines.jsonl")
    assert [block.text for block in session.system] == [
        "You keep the lighthouse log. Answer in one sentence."
    ]
    assert [entry.role for entry in session.entries] == [
        *("user", "assistant", "tool", "assistant", "user", "user", "assistant", "tool", "assistant")
    ]
    assert [session.entries[session.path[turn.first]].id for turn in session.turns] == ["u1", "u2"]
    assert pairs_of(session) == {"c1": 1, "c2": 1}
    # 1,772,431,210 s and 1,772,431,214,000 ms since 1970 are ten and fourteen seconds past six.
    assert [entry.timestamp for entry in session.entries[1:4]] == [
        *("2026-03-02T06:00:09Z", "2026-03-02T06:00:10.000Z", "2026-03-02T06:00:14.000Z")
    ]
    replies = [entry for entry in session.entries if entry.role == "assistant"]
    assert [(entry.usage.prompt, entry.usage.output) for entry in replies if entry.usage] == [
        *((420, 18), (470, 21), (520, 25), (550, 9))
    ]
    assert {entry.model for entry in replies} == {"deep-3"} and session.model == "deep-3"
    assert [entry.text for entry in session.entries if entry.meta] == ["The watch changes at 06:30."]


def test_an_output_that_names_no_call_answers_the_one_that_is_open() -> None:
    call = {"name": "look", "arguments": {"at": "quay"}}
    asked = {"role": "assistant", "content": "", "tool_calls": [{"id": "c9", "function": call}]}
    session = read_session(dump(ASKED, asked, {"role": "tool", "name": "look", "content": "fog"}, SAID))
    assert pairs_of(session) == {"c9": 1}


def test_calls_and_outputs_without_names_are_paired_in_their_order() -> None:
    """As CodeBuddy writes them, behind a row that begins the session."""
    begin = {"type": "session_start", "sessionId": "s", "cwd": "/quay", "timestamp": "2026-05-01T08:00:00"}
    call = {"type": "function_call", "name": "look", "arguments": {"at": "quay"}}
    answer = {"type": "function_call_result", "name": "look", "output": "fog"}
    session = read_session(dump(begin, ASKED, call, answer, call, answer, SAID))
    assert list(pairs_of(session).values()) == [1, 1]
    assert session.unknown == 0 and session.extra["header"] == begin


@pytest.mark.parametrize(
    "value",
    [
        {"role": "robot", "content": "x"},
        {"role": "user", "content": 7},
        {"role": "user"},
        {"role": "user", "content": "x", "parentId": "a"},
        {"role": "user", "content": "x", "message_id": "a"},
        {"role": "_usage", "content": "x"},
        {"type": "message", "text": "x"},
    ],
    ids=["role", "content", "nothing said", "a tree", "Vibe's", "Kimi's", "no role"],
)
def test_lines_that_are_not_all_bare_messages_are_left_to_others(value: dict[str, Any]) -> None:
    assert READER.sniff(dump(ASKED, value, SAID)) is not None
    with pytest.raises(ReadError):
        read_session(dump(ASKED, value, SAID))


CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "quay"}'}}
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "Look at the quay."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "fog"},
    {"role": "assistant", "content": "There is fog."},
]
CHAIN: list[dict[str, Any]] = [
    {"type": "system", "content": "You keep the log."},
    {"type": "human", "content": "Look at the quay."},
    {"type": "ai", "content": "", "tool_calls": [{"id": "c1", "name": "look", "args": {"at": "quay"}}]},
    {"type": "tool", "tool_call_id": "c1", "content": "fog", "name": "look"},
    {
        "type": "ai",
        "content": "There is fog.",
        "response_metadata": {"model_name": "deep-3"},
        "usage_metadata": {"input_tokens": 70, "output_tokens": 5, "total_tokens": 75},
    },
]


def stored(message: dict[str, Any]) -> dict[str, Any]:
    """A message as LangChain's `messages_to_dict` writes it."""
    return {"type": message["type"], "data": message}


def constructed(message: dict[str, Any]) -> dict[str, Any]:
    """A message as LangChain's `dumps` writes it."""
    name = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage", "system": "SystemMessage"}
    path = ["langchain", "schema", "messages", name[message["type"]]]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": message}


def check_talk(session: Session) -> None:
    assert (session.format, session.unknown) == ("message-lines", 0)
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant"]
    assert session.entries[1].blocks[-1] == ToolCall(id="c1", name="look", input={"at": "quay"})
    assert [entry.text for entry in session.entries[::3]] == ["Look at the quay.", "There is fog."]
    assert pairs_of(session) == {"c1": 1}


@pytest.mark.parametrize("field", ["message", "payload"])
def test_a_message_in_a_field_of_each_line_is_read_and_the_rest_is_stored(field: str) -> None:
    times = [f"2026-05-01T08:00:0{number}Z" for number in range(4)]
    lines = [
        {"ts": time, "seq": number, field: message}
        for number, (time, message) in enumerate(zip(times, TALK, strict=True))
    ]
    session = read_session(dump(*lines))
    check_talk(session)
    assert [entry.timestamp for entry in session.entries] == times
    assert [entry.extra["seq"] for entry in session.entries] == [0, 1, 2, 3]


def test_a_speaker_beside_the_message_needs_no_role_inside() -> None:
    lines = [{"type": message["role"], "message": message} for message in (TALK[0], TALK[3])]
    session = read_session(dump(*lines))
    assert [(entry.role, entry.text) for entry in session.entries] == [
        *(("user", "Look at the quay."), ("assistant", "There is fog."))
    ]


def test_a_line_of_another_event_is_counted_beside_messages_in_a_field() -> None:
    lines = [{"event": "said", "payload": message} for message in TALK]
    session = read_session(dump(*lines, {"event": "closed", "payload": {"code": 0}}))
    assert (len(session.entries), session.unknown) == (4, 1)
    assert [(note.type, note.known) for note in session.notes] == [("row of event closed", False)]


@pytest.mark.parametrize("shape", [dict, stored, constructed])
@pytest.mark.parametrize("wrapped", [False, True])
def test_messages_of_langchain_may_be_lines(shape: Callable[[Any], Any], wrapped: bool) -> None:
    lines = [shape(message) for message in CHAIN]
    session = read_session(dump(*([{"n": 1, "item": line} for line in lines] if wrapped else lines)))
    check_talk(session)
    assert [block.text for block in session.system] == ["You keep the log."]
    (usage,) = [entry.usage for entry in session.entries if entry.usage]
    assert (usage.prompt, usage.output, session.entries[3].model) == (70, 5, "deep-3")


@pytest.mark.parametrize(
    "lines",
    [
        # Two messages in a line, messages under two names, two conversations, a tree, requests.
        [{"asked": TALK[0], "said": TALK[3]}] * 3,
        [{"asked": TALK[0]}, {"said": TALK[3]}],
        [{"session_id": "a", "message": TALK[0]}, {"session_id": "b", "message": TALK[3]}],
        [{"parent_id": None, "message": TALK[0]}, {"parent_id": "m1", "message": TALK[3]}],
    ],
)
def test_lines_that_may_be_no_conversation_name_a_way_out(lines: list[dict[str, Any]]) -> None:
    with pytest.raises(ReadError, match=r"read_session\(\[.*format= names one of inspector.formats.READERS"):
        read_session(dump(*lines))
