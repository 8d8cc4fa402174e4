"""Session traces of the Hugging Face Hub, and DataClaw's rows: the samples as they are to be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.session.session import Session
from tests.shared import SHARED, needs_shared

TRACES = sorted((SHARED / "samples" / "hf-sts").glob("0[1-5]*.jsonl"))
CLAWS = SHARED / "samples" / "dataclaw"


def expected_of(file: Path) -> Any:
    return json.loads(file.with_suffix(".expected.json").read_text("utf-8"))


@needs_shared
@pytest.mark.parametrize("file", TRACES, ids=lambda file: file.stem)
def test_session_traces_are_read_line_by_line(file: Path) -> None:
    told, session = expected_of(file), open_session(file)
    assert (session.format, session.id) == (told["format"], told["session"]["id"])
    assert len(session.entries) == len(told["entries"])
    for entry, one in zip(session.entries, told["entries"], strict=True):
        assert (entry.sources[0].line, entry.role) == (one["line"], one["role"])
        calls = [b for b in entry.blocks if b.kind == "tool_call"]
        assert [(c.id, c.name, c.input) for c in calls] == [
            (c["id"], c["name"], c["input"]) for c in one.get("calls", ())
        ]
        words = "".join(b.text for b in entry.blocks if b.kind in ("text", "tool_output"))
        assert words == one["text"]
        if "answers" in one:
            assert [b.call_id for b in entry.blocks if b.kind == "tool_output"] == [one["answers"]]
    assert len(session.compactions) == told["compactions"] == 0
    assert any("upper bounds" in warning for warning in session.warnings)


@needs_shared
def test_a_line_of_another_type_is_counted_and_pi_reads_its_own() -> None:
    folder = SHARED / "samples" / "hf-sts"
    session = open_session(folder / "05-unknown-line.jsonl")
    assert [note.type for note in session.notes if not note.known] == ["event"]
    assert open_session(folder / "06-pi-with-harness.jsonl").format == "pi"


@needs_shared
@pytest.mark.parametrize("name", ["01-one-session", "02-two-sessions", "03-compacted-source"])
def test_a_call_of_dataclaw_has_its_own_output(name: str) -> None:
    file = CLAWS / f"{name}.jsonl"
    told = expected_of(file)["sessions"]
    for one in told:
        session = open_session(file, part=one["session"]["session_id"] if len(told) > 1 else None)
        check_dataclaw(session, one)


def check_dataclaw(session: Session, told: Any) -> None:
    assert (session.format, session.id, session.model) == (
        "dataclaw",
        told["session"]["session_id"],
        told["session"]["model"],
    )
    outputs = {b.call_id: b for e in session.entries for b in e.blocks if b.kind == "tool_output"}
    messages = [entry for entry in session.entries if entry.role != "tool"]
    for entry, one in zip(messages, told["entries"], strict=True):
        assert (entry.role, entry.timestamp) == (one["role"], one.get("timestamp"))
        assert "".join(b.text for b in entry.blocks if b.kind == "text") == one["text"]
        assert "".join(b.text for b in entry.blocks if b.kind == "reasoning") == one.get("reasoning", "")
        calls = [b for b in entry.blocks if b.kind == "tool_call"]
        for call, real in zip(calls, one.get("calls", ()), strict=True):
            assert (call.name, call.input) == (real["name"], real["input"])
            if real.get("output") is not None:
                assert outputs[call.id].text == real["output"]
                assert outputs[call.id].is_error == real["failed"]
    assert not session.compactions


def test_messages_of_an_api_are_not_taken_for_dataclaw() -> None:
    assert read_session([{"role": "user", "content": "Hello"}]).format != "dataclaw"
    claw = {
        "session_id": "s",
        "messages": [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "tool_uses": [{"tool": "Bash", "input": {"command": "ls"}}]},
        ],
    }
    session = read_session(json.dumps(claw).encode())
    assert [b.kind for e in session.entries for b in e.blocks] == ["text", "tool_call"]
