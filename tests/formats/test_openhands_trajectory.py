"""OpenHands' trajectories of before its SDK, as a list of events and as an evaluation wrote them."""

from __future__ import annotations

import json
from typing import Any

from inspector import open_session, read_session
from inspector.session.blocks import ToolCall, ToolOutput
from tests.rows import CASES, dump

CASE = CASES / "openhands-trajectory.json"
EVENTS: list[dict[str, Any]] = json.loads(CASE.read_text("utf-8"))


def test_events_become_a_session() -> None:
    session = open_session(CASE)
    assert (session.format, session.model, session.records) == ("openhands-trajectory", "demo-1", len(EVENTS))
    assert session.unknown == 0 and not session.corrupt
    assert [block.text for block in session.system] == ["You keep a tide table."]
    assert [tool.name for tool in session.tools] == ["execute_bash"]
    said = [entry for entry in session.entries if entry.kind == "message"]
    roles = [entry.role for entry in said]
    assert roles == ["user", "user", "assistant", "tool", "tool", "assistant", "tool", "assistant"]
    assert [at for at, entry in enumerate(said) if entry.meta] == [1]
    assert session["e3"].text == "Never round a tide."
    assert len(session.turns) == 1


def test_actions_of_one_reply_are_one_entry_with_its_usage() -> None:
    session = open_session(CASE)
    reply = session["e4"]
    assert reply.text == "Two looks."
    calls = [block for block in reply.blocks if isinstance(block, ToolCall)]
    assert [(call.id, call.input) for call in calls] == [
        ("c1", {"command": "ls"}),
        ("c2", {"command": "cat nope"}),
    ]
    assert [source.line for source in reply.sources] == [5, 6]
    usage = [entry.usage for entry in session.entries if entry.usage]
    assert [(u.prompt, u.cache_read, u.output) for u in usage] == [(900, 0, 30), (1000, 850, 20), (700, 0, 9)]
    outputs = [b for entry in session.entries for b in entry.blocks if isinstance(b, ToolOutput)]
    assert [(b.call_id, b.is_error) for b in outputs] == [("c1", False), ("c2", True), ("c3", False)]


def test_a_condensation_forgets_from_the_first_to_the_last() -> None:
    session = open_session(CASE)
    ((name, boundary),) = session.boundaries
    assert (name, boundary.summary) == ("e11", "tide.py holds HEIGHT, in feet.")
    assert boundary.kept == ("e1", "e9", "e10")
    assert set(session.live_names) == {"e11", "e1", "e9", "e10", "e12"}
    # Or one by one: a reply of two actions goes with either of them.
    args = {"forgotten_event_ids": [5], "summary": "One look.", "summary_offset": 1}
    other = [*EVENTS[:11], {**EVENTS[11], "args": args}]
    assert "e4" not in read_session(other).boundaries[0][1].kept


def test_what_an_evaluation_wrote_opens_with_its_first_run() -> None:
    run = {"instance_id": "demo__tide-1", "instruction": "Metres.", "history": EVENTS, "error": None}
    session = read_session(dump(run))
    assert (session.id, len(session.entries)) == ("demo__tide-1", len(open_session(CASE).entries))
    several = read_session(dump(run, {**run, "instance_id": "demo__tide-2"}))
    assert several.id == "demo__tide-1"
    assert any("1 other run" in warning for warning in several.warnings)
    pairs = {**run, "history": [[EVENTS[1], EVENTS[8]], [EVENTS[9], EVENTS[10]]]}
    assert [entry.role for entry in read_session(pairs).entries] == ["user", "assistant", "tool"]
    assert len(read_session(dump(*EVENTS)).entries) == len(session.entries)


def test_an_action_of_before_function_calls_is_the_reply() -> None:
    args = {"command": "ls", "thought": "A look.", "hidden": False, "confirmation_state": "confirmed"}
    act = {"id": 2, "source": "agent", "action": "run", "args": args}
    seen = {"id": 3, "source": "agent", "observation": "run", "content": "tide.py", "cause": 2}
    session = read_session([EVENTS[1], act, {**seen, "extras": {"command": "ls", "exit_code": 2}}])
    reply, answer = session.entries[1:]
    assert reply.text == "A look."
    assert reply.blocks[1] == ToolCall(id="e2", name="run", input={"command": "ls"})
    (output,) = answer.blocks
    assert isinstance(output, ToolOutput) and output.call_id == "e2" and output.is_error
    assert len(session.live.pairs) == 1


def test_the_oldest_runs_number_their_actions_alone() -> None:
    said = {"id": 0, "source": "user", "action": "message", "args": {"content": "Which tide is highest?"}}
    nothing = {"observation": "null", "content": "", "extras": {}}
    act = {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "A look."}}
    seen = {"observation": "run", "content": "tide.py", "extras": {"command": "ls", "exit_code": 0}}
    run = {"instance_id": "demo__tide-1", "history": [[said, nothing], [act, seen]]}
    session = read_session(dump(run))
    assert (session.format, len(session.turns)) == ("openhands-trajectory", 1)
    reply, answer = (entry for entry in session.entries if entry.role in ("assistant", "tool"))
    (call,) = (block for block in reply.blocks if isinstance(block, ToolCall))
    (output,) = (block for block in answer.blocks if isinstance(block, ToolOutput))
    assert (call.input, output.text, output.call_id) == ({"command": "ls"}, "tide.py", call.id)
