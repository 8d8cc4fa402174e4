"""SWE-agent's and mini-swe-agent's trajectories, beside counts that share no code with the readers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import ReadError
from tests.shared import SHARED

CASES = Path(__file__).parents[1] / "cases" / "formats"
CASE, MINI = CASES / "swe-agent.traj.json", CASES / "mini-swe-agent.json"
REAL = sorted((SHARED / "sessions").glob("swe-agent/*.traj"))


def test_a_history_becomes_a_session_and_another_agents_part_of_it_stands_apart() -> None:
    session = open_session(CASE)
    assert [block.text for block in session.system] == ["You repair programs."]
    assert (session["m2"].meta, session["m3"].meta, session["m3"].opens_turn) == (True, False, True)
    assert session["m5"].role == "tool" and session["m5"].blocks[0].text.startswith("1: line 1")
    assert session["m4"].extra["step"] == {"execution_time": 0.5, "state": {"open_file": "a.py"}}
    assert [entry.id for entry in session.entries if entry.sidechain == "reviewer"] == ["m9", "m10"]
    assert [session.entries[at].id for at in session.path][-1] == "m8"
    assert all(entry.usage is None for entry in session.entries)
    assert session.extra["info"]["model_stats"]["tokens_sent"] == 300


def test_an_output_that_was_sent_shorter_counts_as_cleared_from_then_on() -> None:
    session = open_session(CASE)
    ((name, boundary),) = session.boundaries
    assert (boundary.kind, boundary.cleared) == ("micro", ("c1",))
    assert session.index["m7"] < session.index[name] < session.index["m8"]
    whole: dict[str, Any] = json.loads(CASE.read_text("utf-8"))
    whole["trajectory"][2]["query"][4] = whole["history"][4]
    assert not read_session(whole).boundaries


def test_words_that_were_sent_shorter_and_are_no_output_are_told_of() -> None:
    document: dict[str, Any] = json.loads(CASE.read_text("utf-8"))
    for messages in (document["history"], document["trajectory"][2]["query"]):
        messages[4] |= {"role": "user"}
        del messages[4]["tool_call_ids"]
    session = read_session(document)
    assert session.warnings == ("1 message was sent shorter than in its history; the history is shown",)
    assert session["m5"].meta and session["m5"].text.endswith("8: line 8")


def test_minis_messages_become_a_session_with_the_usage_of_each_answer() -> None:
    session = open_session(MINI)
    assert (session.model, session.extra["version"]) == ("demo-1", "2.0.1")
    usages = [entry.usage for entry in session.entries if entry.usage is not None]
    assert [(each.input, each.cache_read, each.output) for each in usages] == [(50, 0, 8), (32, 48, 9)]
    assert session["m3"].timestamp == "2026-01-01T10:00:05.500Z"
    assert [entry.meta for entry in session.entries] == [False, False, True, False, False]
    assert [note.type for note in session.notes] == ["system prompt", "exit"]
    assert session["m6"].role == "tool" and len(session.turns) == 1


def test_minis_answers_by_the_responses_interface_are_whole_messages_with_their_outputs() -> None:
    reply = {
        "object": "response",
        "model": "demo-2",
        "output": [
            {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "Look first."}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"command": "ls"}'},
        ],
        "usage": {"input_tokens": 50, "output_tokens": 8, "input_tokens_details": {"cached_tokens": 20}},
        "extra": {"cost": 0.25, "timestamp": 1_767_261_600.0},
    }
    session = read_session(
        {
            "trajectory_format": "mini-swe-agent-1.1",
            "info": {"mini_version": "2.1.0"},
            "messages": [
                {"role": "system", "content": "You repair programs."},
                {"role": "user", "content": "Repair it."},
                reply,
                {"type": "function_call_output", "call_id": "c1", "output": "a.py", "extra": {}},
                {"object": "something else"},
            ],
        }
    )
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool"]
    assert [block.kind for block in session["m3"].blocks] == ["reasoning", "text", "tool_call"]
    assert (session["m3"].model, session["m3"].timestamp) == ("demo-2", "2026-01-01T10:00:00.000Z")
    usage = session["m3"].usage
    assert usage is not None and usage.cost is not None
    assert (usage.input, usage.cache_read, usage.output, usage.cost.total) == (30, 20, 8, 0.25)
    assert (session["m4"].blocks[0].text, len(session.live.orphans)) == ("a.py", 0)
    assert (session.unknown, len(session.corrupt)) == (0, 1)


def test_a_plain_list_of_messages_is_not_taken_for_minis() -> None:
    with pytest.raises(ReadError):
        read_session([{"role": "user", "content": "Hello"}], format="mini-swe-agent")


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_a_real_history_holds_what_it_holds(path: Path) -> None:
    session = open_session(path)
    history = json.loads(path.read_text("utf-8"))["history"]
    roles = Counter(message["role"] for message in history)
    mine = Counter(entry.role for entry in session.entries if entry.kind == "message")
    assert mine["assistant"] == roles["assistant"]
    assert mine["tool"] + mine["user"] == roles["tool"] + roles["user"]
    calls = [call for message in history for call in message.get("tool_calls") or ()]
    made = [block for entry in session.entries for block in entry.blocks if block.kind == "tool_call"]
    assert len(made) == len(calls)
    assert (session.records, session.unknown) == (len(history), 0)
    assert not len(session.live.orphans)


@pytest.mark.parametrize("words", ["COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT"])
def test_a_bare_list_of_messages_is_mini_s_where_its_prompt_says_how_a_run_ends(words: str) -> None:
    messages = [
        {"role": "system", "content": "You can use a computer."},
        {"role": "user", "content": f"Count a.py. When done: `echo {words}`"},
        {"role": "assistant", "content": "I count.\n```bash\nwc -l a.py\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\n3 a.py\n</output>"},
        {"role": "assistant", "content": "Three."},
    ]
    session = read_session(messages)
    assert (session.format, len(session.turns), len(session.entries)) == ("mini-swe-agent", 1, 4)
    assert [entry.meta for entry in session.entries] == [False, False, True, False]
    messages[1]["content"] = "Count a.py."
    assert read_session(messages).format == "request-log"


def test_a_run_without_a_history_is_the_messages_of_its_last_step() -> None:
    asked = [{"role": "system", "content": "Solve it."}, {"role": "user", "content": "The issue"}]
    first = {"query": asked, "response": "I look.", "action": "ls", "observation": "a.py"}
    seen = [{"role": "assistant", "content": "I look."}, {"role": "user", "content": "a.py"}]
    last = {"query": [*asked, *seen], "response": "Done.", "action": "submit", "observation": "sent"}
    session = read_session({"trajectory": [first, last], "info": {}})
    assert session.format == "swe-agent" and len(session.turns) == 1
    assert [entry.text for entry in session.entries] == ["The issue", "I look.", "a.py", "Done.", "sent"]


@pytest.mark.parametrize("more", [{}, {"history": []}, {"history": None}])
def test_a_run_whose_steps_tell_nothing_of_what_was_sent_is_its_steps(
    more: dict[str, Any], tmp_path: Path
) -> None:
    steps = [
        {"action": "ls", "observation": "a.py", "response": "I look.\n```\nls\n```", "thought": "I look."},
        {"action": "submit", "observation": "", "response": "", "thought": "Done.", "state": "{}"},
    ]
    (path := tmp_path / "run.traj").write_text(json.dumps({"trajectory": steps, "info": {}, **more}))
    session = open_session(path)
    assert [(entry.role, entry.text, entry.meta) for entry in session.entries] == [
        ("assistant", "I look.\n```\nls\n```", False),
        ("user", "a.py", True),
        ("assistant", "Done.\n\nsubmit", False),
    ]
    assert session.warnings == ("it kept no history: what was asked, and the prompt, are not in the file",)


@pytest.mark.parametrize(
    "document",
    [
        {"trajectory": [], "history": []},
        {"trajectory": [1, 2, 3]},
        {"trajectory": ["a"], "history": []},
        {"trajectory": [{"x": 1}], "history": []},
    ],
)
def test_an_object_that_shows_no_message_and_no_step_is_not_claimed(document: dict[str, Any]) -> None:
    with pytest.raises(ReadError) as caught:
        read_session(document)
    assert ("swe-agent", "recognised") not in caught.value.tried
    assert "swe-agent" not in str(caught.value)
