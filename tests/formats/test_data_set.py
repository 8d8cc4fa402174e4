"""Rows of data sets, and files of many documents: each opens alone, and none is another's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, open_sessions, read_session
from inspector.errors import SeveralSessions
from inspector.session.blocks import ToolCall, ToolOutput
from tests.rows import CASES, dump

SYSTEM = {"role": "system", "content": "Keep the weir."}


def talk(*said: str, system: bool = False, **more: Any) -> dict[str, Any]:
    roles = ("user", "assistant") * len(said)
    messages = [{"role": role, "content": words} for role, words in zip(roles, said, strict=False)]
    return {"messages": [SYSTEM, *messages] if system else messages, **more}


def test_a_row_of_sharegpt_is_a_conversation_whose_outputs_answer_their_calls() -> None:
    session = open_session(CASES / "data-set.json")
    assert (session.id, len(session.turns), [each.text for each in session.system]) == (
        *("harbour-17", 2, ["You answer the harbour's questions."]),
    )
    assert [entry.role for entry in session.entries] == [
        *("user", "assistant", "tool", "assistant", "user", "assistant")
    ]
    (call,), (output,) = session.entries[1].blocks, session.entries[2].blocks
    assert isinstance(call, ToolCall) and isinstance(output, ToolOutput)
    assert (call.name, call.input) == ("tide_table", {"pier": "north", "hour": 12})
    assert (output.call_id, output.name) == (call.id, "tide_table")
    assert [tool.name for tool in session.tools] == ["tide_table"]
    assert session.extra["source"] == "made for this test" and session.entries[3].extra["weight"] == 1


def test_turns_that_are_the_json_of_a_list_in_a_text_are_read() -> None:
    """As SWE-smith's trajectories hold them."""
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    messages = [
        {"role": "system", "content": "Mend it."},
        {"role": "user", "content": [{"type": "text", "text": "The gate sticks."}]},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "content": "gate.py", "tool_call_ids": ["c"]},
    ]
    row = {"messages": json.dumps(messages), "instance_id": "gate__7", "resolved": True, "model": "m"}
    session = read_session(row)
    assert (session.format, session.id, session.model) == ("data-set", "gate__7", "m")
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool"]
    (output,) = session.entries[2].blocks
    assert isinstance(output, ToolOutput) and output.call_id == "c" and session.extra["resolved"] is True


@pytest.mark.parametrize("listed", [False, True], ids=["lines", "a list"])
@pytest.mark.parametrize("system", [False, True], ids=["plain", "with a prompt"])
def test_whole_conversations_in_one_file_are_as_many_sessions(
    listed: bool, system: bool, tmp_path: Path
) -> None:
    talks = [
        talk("Is it high?", "No.", system=system, id=1),
        talk("Is it shut?", "Yes.", system=system, id=2),
    ]
    data = json.dumps(talks).encode() if listed else dump(*talks)
    (path := tmp_path / "talks.jsonl").write_bytes(data)
    found = open_sessions(path)
    assert [one.name for one in found] == ["1", "2"]
    assert [[entry.text for entry in one.open().entries] for one in found] == [
        ["Is it high?", "No."],
        ["Is it shut?", "Yes."],
    ]
    with pytest.raises(SeveralSessions, match="a list of conversations of 2 sessions"):
        open_session(path)
    assert open_session(path, part="2").entries[0].text == "Is it shut?"


@pytest.mark.parametrize("listed", [False, True], ids=["lines", "a list"])
def test_several_trajectories_of_atif_in_one_file_are_as_many_sessions(listed: bool, tmp_path: Path) -> None:
    one = json.loads((CASES / "atif.json").read_text("utf-8"))
    runs = [one, one | {"session_id": "run-2"}]
    (path := tmp_path / "runs.jsonl").write_bytes(json.dumps(runs).encode() if listed else dump(*runs))
    found = open_sessions(path)
    assert [(each.name, each.format) for each in found] == [(one["session_id"], "atif"), ("run-2", "atif")]
    alone = read_session(one)
    assert [len(each.open().entries) for each in found] == [len(alone.entries)] * 2
