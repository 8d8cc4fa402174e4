"""Rows of data sets, and files of many documents: each opens alone, and none is another's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, open_sessions, read_session
from inspector.errors import SeveralSessions
from inspector.session.blocks import ToolCall, ToolOutput

CASES = Path(__file__).parents[1] / "cases" / "formats"
SYSTEM = {"role": "system", "content": "Keep the weir."}


def rows(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


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


def test_turns_whose_words_stand_in_text_are_read() -> None:
    """As Nebius' runs of SWE-agent hold them: the prompt stands beside an empty text."""
    turns = [
        {"role": "system", "text": None, "system_prompt": "Mend it.", "mask": False},
        {"role": "user", "text": "The gate sticks.", "system_prompt": None, "mask": False},
        {"role": "ai", "text": "I look.", "system_prompt": None, "mask": False},
    ]
    session = read_session({"instance_id": "i", "model_name": "m", "trajectory": turns})
    assert [block.text for block in session.system] == ["Mend it."]
    assert [(entry.role, entry.text) for entry in session.entries] == [
        ("user", "The gate sticks."),
        ("assistant", "I look."),
    ]


@pytest.mark.parametrize("listed", [False, True], ids=["lines", "a list"])
@pytest.mark.parametrize("system", [False, True], ids=["plain", "with a prompt"])
def test_whole_conversations_in_one_file_are_as_many_sessions(
    listed: bool, system: bool, tmp_path: Path
) -> None:
    talks = [
        talk("Is it high?", "No.", system=system, id=1),
        talk("Is it shut?", "Yes.", system=system, id=2),
    ]
    data = json.dumps(talks).encode() if listed else rows(*talks)
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


def test_conversations_that_go_on_from_each_other_are_one_session() -> None:
    grown = [talk("Is it high?", "No."), talk("Is it high?", "No.", "Is it shut?", "Yes.")]
    session = read_session(rows(*grown))
    assert (session.format, len(session.entries), len(session.turns)) == ("request-log", 4, 2)


def test_requests_without_their_replies_are_one_session() -> None:
    asked = [talk("Is it high?", system=True), talk("Is it high?", "No.", "Is it shut?", system=True)]
    assert read_session(rows(*asked)).format == "request-log"


def test_a_line_that_cannot_be_read_is_among_the_others(tmp_path: Path) -> None:
    (path := tmp_path / "talks.jsonl").write_bytes(rows(talk("a", "b"), talk("c", "d")) + b'{"messages": [\n')
    found = open_sessions(path)
    assert (len(found), [one.name for one in found.others]) == (2, ["line 3"])


def test_empty_rows_do_not_keep_the_others_from_opening(tmp_path: Path) -> None:
    row = json.loads((CASES / "data-set.json").read_text("utf-8"))
    (path := tmp_path / "rows.jsonl").write_bytes(
        rows(row, {"id": "none", "conversations": []}, row | {"id": "b"})
    )
    found = open_sessions(path)
    assert [one.name for one in found] == ["harbour-17", "b"] and [one.name for one in found.others] == [
        "none"
    ]
    path.write_bytes(rows(talk("a", "b", id="x"), {"id": "none", "messages": []}, talk("c", "d", id="y")))
    found = open_sessions(path)
    assert [one.name for one in found] == ["x", "y"] and [one.name for one in found.others] == ["none"]


@pytest.mark.parametrize("listed", [False, True], ids=["lines", "a list"])
def test_several_trajectories_of_atif_in_one_file_are_as_many_sessions(listed: bool, tmp_path: Path) -> None:
    one = json.loads((CASES / "atif.json").read_text("utf-8"))
    runs = [one, one | {"session_id": "run-2"}]
    (path := tmp_path / "runs.jsonl").write_bytes(json.dumps(runs).encode() if listed else rows(*runs))
    found = open_sessions(path)
    assert [(each.name, each.format) for each in found] == [(one["session_id"], "atif"), ("run-2", "atif")]
    alone = read_session(one)
    assert [len(each.open().entries) for each in found] == [len(alone.entries)] * 2


def test_a_list_of_one_trajectory_is_that_one() -> None:
    one = json.loads((CASES / "atif.json").read_text("utf-8"))
    assert read_session([one]) == read_session(one)


@pytest.mark.parametrize("name", ["history", "chat", "turns", "conversation", "messages"])
def test_turns_are_found_under_the_names_that_people_give_them(name: str) -> None:
    said = [
        {"role": "human", "content": "High?"},
        {"role": "ai", "content": "No.", "created_at": "2026-05-01"},
    ]
    session = read_session({"title": "The weir", name: said})
    assert [(entry.role, entry.text) for entry in session.entries] == [
        ("user", "High?"),
        ("assistant", "No."),
    ]
    assert (session.format, session.entries[1].timestamp) == ("data-set", "2026-05-01")


@pytest.mark.parametrize(
    "logged",
    [
        [talk("Is it high?", "No."), talk("Is it low?", "Yes."), talk("Is it high?", "No.", "Shut?", "Yes.")],
        [
            {"messages": [{"role": "system", "content": f"It is {hour} o'clock."}, *talk(*said)["messages"]]}
            for hour, said in ((8, ("Is it high?", "No.")), (9, ("Is it high?", "No.", "Shut?", "Yes.")))
        ],
    ],
    ids=["of two threads", "whose system prompt tells the time"],
)
def test_what_goes_on_from_any_row_before_is_a_log_of_requests(logged: list[Any]) -> None:
    session = read_session(rows(*logged))
    assert (session.format, len(session.turns)) == ("request-log", 2)


def test_conversations_that_stand_twice_in_a_large_data_set_do_not_make_it_a_log(tmp_path: Path) -> None:
    talks = [talk(f"What is {number}?", "A number.") for number in range(40)]
    (path := tmp_path / "talks.jsonl").write_bytes(
        rows(*talks, talks[39], talk(*["What is 0?", "A number."] * 2))
    )
    assert len(open_sessions(path)) == 42


def test_a_request_with_other_lists_beside_its_messages_is_left_to_its_readers() -> None:
    older = [{"role": "user", "content": "Once"}, {"role": "assistant", "content": "upon"}]
    session = read_session({"history": older, **talk("Is it high?", "No.")})
    assert (session.format, session.entries[0].text) == ("anthropic-messages", "Is it high?")


def test_every_row_of_many_that_share_an_id_can_be_named(tmp_path: Path) -> None:
    (path := tmp_path / "talks.jsonl").write_bytes(
        rows(*(talk(f"What is {number}?", "A number.", id="x") for number in range(1001)))
    )
    found = [one.name for one in open_sessions(path)]
    assert len(set(found)) == 1001
    assert open_session(path, part=found[7]).entries[0].text == "What is 7?"


def test_an_id_as_long_as_a_page_is_cut(tmp_path: Path) -> None:
    (path := tmp_path / "talks.jsonl").write_bytes(rows(*(talk(n, "A number.", id=n * 5000) for n in "ab")))
    with pytest.raises(SeveralSessions) as caught:
        open_session(path)
    assert len(str(caught.value)) < 1000


def test_rows_that_are_long_are_rows_of_a_data_set_too(tmp_path: Path) -> None:
    long = [{"from": ("human", "gpt")[turn % 2], "value": f"{turn} " + "word " * 1000} for turn in range(300)]
    (path := tmp_path / "long.jsonl").write_bytes(rows(*({"id": n, "conversations": long} for n in "ab")))
    assert path.stat().st_size > 2 << 20
    assert [one.name for one in open_sessions(path)] == ["a", "b"]
    assert len(open_session(path, part="b").entries) == 300


def test_what_a_turn_of_the_system_s_tells_besides_is_kept() -> None:
    said = [{"from": "human", "value": "Is it high?"}, {"from": "gpt", "value": "No."}]
    lead: dict[str, Any] = {"from": "system", "value": "Keep the weir.", "weight": 0}
    session = read_session({"conversations": [lead, *said]})
    assert (len(session.system), session.extra["system"]) == (1, {"weight": 0})
    lead = {"role": "system", "content": [{"type": "text", "text": "Keep the weir."}, {"type": "chart"}]}
    session = read_session({"conversations": [lead, *said]})
    assert [block.kind for block in session.entries[0].blocks] == ["text", "unknown"]
    assert session.entries[0].meta and len(session.turns) == 1
