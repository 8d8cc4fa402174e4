"""Bare messages, one a line: what opens as a conversation, what is left to others, what a line tells."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import ReadError, UnreadFormat
from inspector.formats.requests.message_lines import READER
from inspector.session.blocks import ToolCall, ToolOutput
from inspector.session.session import Session
from tests.recount.__main__ import compare

CASES = Path(__file__).parents[1] / "cases" / "formats"
ASKED = {"role": "user", "content": "Where does the ferry land?", "timestamp": "2026-05-01T08:00:00"}
SAID = {"role": "assistant", "content": "At the east quay.", "timestamp": "2026-05-01T08:00:02"}


def rows(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


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


def test_times_do_not_make_a_file_gptme_s() -> None:
    session = read_session(rows(ASKED, SAID))
    assert (session.format, session.warnings) == ("message-lines", ())
    assert [(entry.role, entry.text) for entry in session.entries] == [
        ("user", ASKED["content"]),
        ("assistant", SAID["content"]),
    ]


@pytest.mark.parametrize("mark", [{"pinned": True}, {"hide": True}, {"file_hashes": {"a.py": "9f"}}])
def test_what_only_gptme_writes_is_told_as_gptme_s(mark: dict[str, Any]) -> None:
    prompt = {"role": "system", "content": "Help.", "timestamp": "2026-05-01T07:59:59"} | mark
    with pytest.raises(UnreadFormat, match="gptme"):
        read_session(rows(prompt, ASKED, SAID))


def test_a_header_before_the_messages_is_kept_and_no_message() -> None:
    header = {"_type": "metadata", "key": "harbour"}
    session = read_session(rows(header, ASKED, SAID))
    assert len(session.entries) == 2 and session.extra["header"] == header
    assert [(note.type, note.known) for note in session.notes] == [("header", True)]


def test_a_row_without_a_role_among_the_messages_is_unknown() -> None:
    session = read_session(rows(*[ASKED, SAID] * 8, {"type": "tide", "level": 3}))
    assert [(note.type, note.known) for note in session.notes] == [("row of type tide", False)]


def test_an_output_that_names_no_call_answers_the_one_that_is_open() -> None:
    call = {"name": "look", "arguments": {"at": "quay"}}
    asked = {"role": "assistant", "content": "", "tool_calls": [{"id": "c9", "function": call}]}
    session = read_session(rows(ASKED, asked, {"role": "tool", "name": "look", "content": "fog"}, SAID))
    assert pairs_of(session) == {"c9": 1}


def test_a_reply_in_two_lines_is_charged_once() -> None:
    used = {"prompt_tokens": 900, "completion_tokens": 40}
    parts = [
        {"role": "assistant", "id": "r", "content": text, "usage": used} for text in ("At the", " quay.")
    ]
    session = read_session(rows(ASKED, *parts))
    assert [entry.usage and entry.usage.prompt for entry in session.entries] == [None, None, 900]


def test_items_of_a_reply_among_the_messages_are_one_reply(tmp_path: Path) -> None:
    """As a session of OpenAI's SDK is kept; what was thought begins the next reply."""
    thought = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "I look."}]}
    calls = [{"type": "function_call", "call_id": f"c{n}", "name": "look", "arguments": "{}"} for n in (1, 2)]
    answers = [{"type": "function_call_output", "call_id": f"c{n}", "output": "fog"} for n in (1, 2)]
    path = tmp_path / "items.jsonl"
    path.write_bytes(rows(ASKED, thought, *calls, *answers, thought, SAID, thought, SAID))
    session = open_session(path)
    assert [[block.kind for block in entry.blocks] for entry in session.entries] == [
        *(["text"], ["reasoning", "tool_call", "tool_call"], ["tool_output"], ["tool_output"]),
        *(["reasoning", "text"], ["reasoning", "text"]),
    ]
    assert pairs_of(session) == {"c1": 1, "c2": 1}
    assert [each for each in compare(path, session) if not each.same] == []


def test_rows_whose_type_is_who_speaks_are_messages(tmp_path: Path) -> None:
    """As Grok's CLI writes them."""
    call = {"id": "c", "name": "look", "arguments": '{"at": "quay"}'}
    path = tmp_path / "chat_history.jsonl"
    path.write_bytes(
        rows(
            {"type": "system", "content": "You watch the quay."},
            {"type": "user", "content": [{"type": "text", "text": "Is there fog?"}], "prompt_index": 0},
            {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"},
            {"type": "assistant", "content": "I look.", "tool_calls": [call], "model_id": "m-4"},
            {"type": "tool_result", "tool_call_id": "c", "content": "fog"},
            {"type": "assistant", "content": "Yes.", "model_id": "m-4"},
        )
    )
    session = open_session(path)
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant"]
    assert (session.model, pairs_of(session), len(session.system)) == ("m-4", {"c": 1}, 1)
    assert [each for each in compare(path, session) if not each.same] == []


@pytest.mark.parametrize("key", ["role", "type"])
def test_messages_within_a_message_are_read_and_outputs_that_are_nowhere_are_told(
    key: str, tmp_path: Path
) -> None:
    """Cursor's agent writes a `role` beside it; others cut Claude Code's rows down to a `type`."""
    used = {"type": "tool_use", "name": "look", "input": {"at": "quay"}}
    asked = [{"type": "text", "text": "<user_query>\nIs there fog?\n</user_query>"}]
    (path := tmp_path / "agent.jsonl").write_bytes(
        rows(
            {key: "user", "message": {"content": asked}},
            {key: "assistant", "message": {"content": [{"type": "text", "text": "I look."}, used]}},
            {
                key: "assistant",
                "message": {"content": "There is.", "usage": {"input_tokens": 5, "output_tokens": 2}},
            },
        )
    )
    session = open_session(path)
    assert [entry.role for entry in session.entries] == ["user", "assistant", "assistant"]
    assert session.format == "message-lines" and len(session.turns) == 1
    assert session.warnings == ("what 1 call of tools gave back is not in the file",)
    assert session.source.harness == ("Cursor" if key == "role" else None)
    assert [each for each in compare(path, session) if not each.same] == []


@pytest.mark.parametrize("mark", ["uuid", "session_id", "id"])
def test_rows_around_a_message_that_a_harness_named_are_left_to_it(mark: str) -> None:
    named = [{"type": role, mark: "x", "message": {"content": "Hi"}} for role in ("user", "assistant")]
    assert READER.sniff(rows(*named)) is not None


def test_calls_and_outputs_without_names_are_paired_in_their_order() -> None:
    """As CodeBuddy writes them, behind a row that begins the session."""
    begin = {"type": "session_start", "sessionId": "s", "cwd": "/quay", "timestamp": "2026-05-01T08:00:00"}
    call = {"type": "function_call", "name": "look", "arguments": {"at": "quay"}}
    answer = {"type": "function_call_result", "name": "look", "output": "fog"}
    session = read_session(rows(begin, ASKED, call, answer, call, answer, SAID))
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
    assert READER.sniff(rows(ASKED, value, SAID)) is not None
    with pytest.raises(ReadError):
        read_session(rows(ASKED, value, SAID))


def test_one_message_alone_is_no_conversation() -> None:
    assert READER.sniff(rows(ASKED)) is not None


def test_an_id_of_the_conversation_is_no_reply_s_and_each_reply_is_charged() -> None:
    used = {"usage": {"prompt_tokens": 10, "completion_tokens": 5}}
    session = read_session(
        rows(*[{**row, "id": "talk-7"} for row in (ASKED, SAID | used, ASKED, SAID | used)])
    )
    assert [entry.usage.tokens for entry in session.entries if entry.usage] == [15, 15]


def test_a_log_in_which_the_system_alone_speaks_is_no_conversation() -> None:
    logged = [{"type": "system", "content": words, "level": "info"} for words in ("up", "down", "up")]
    with pytest.raises(ReadError):
        read_session(rows(*logged))


def test_what_nobody_knows_in_a_system_prompt_is_not_lost() -> None:
    parts = [{"type": "text", "text": "Keep the weir.", "cache_control": {"type": "ephemeral"}}]
    session = read_session(rows({"role": "system", "content": parts}, ASKED, SAID))
    assert session.system[0].text == "Keep the weir."  # type: ignore[union-attr]
    assert session.extra["system"]["blocks"]["0"] == {"cache_control": {"type": "ephemeral"}}
    session = read_session(rows({"role": "system", "content": [*parts, {"type": "chart"}]}, ASKED, SAID))
    assert [block.kind for block in session.entries[0].blocks] == ["text", "unknown"]
    assert session.entries[0].meta and not session.system
