"""opencode's exports, beside counts of their parts that share no code with the reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session
from inspector.session.blocks import Reasoning, ToolOutput
from tests.recount.__main__ import compare
from tests.rows import CASES

CASE = CASES / "opencode.json"


def test_an_export_becomes_a_session() -> None:
    session = open_session(CASE)
    assert (session.id, session.title, session.cwd, session.model) == ("ses_1", "Reading", "/w", "demo-1")
    assert session.extra["version"] == "1.18.33"
    prompt, added = session["msg_01"], session["msg_01/added"]
    assert (prompt.text, prompt.meta, added.meta) == ("Read a.py; leave b.py alone.", False, True)
    assert session["msg_02"].blocks[0] == Reasoning(text="Look.")
    failed = session["msg_04/results"].blocks[0]
    assert isinstance(failed, ToolOutput) and failed.is_error and failed.text == "no such file"


def test_each_step_is_a_request_and_the_sum_of_a_message_is_not_counted_beside() -> None:
    session = open_session(CASE)
    first, second = session["msg_02"].usage, session["msg_02/2"].usage
    assert first is not None and second is not None
    assert (first.prompt, first.output, first.total) == (100, 15, 115)
    assert (second.prompt, second.cache_read, second.output) == (140, 110, 6)
    assert [entry.id for entry in session.entries][2:5] == ["msg_02", "msg_02/results", "msg_02/2"]


def test_a_compaction_counts_when_its_summary_was_finished() -> None:
    session = open_session(CASE)
    compactions = [(name, each) for name, each in session.boundaries if each.kind == "compact"]
    ((name, boundary),) = compactions
    assert (name, boundary.trigger, boundary.first_kept) == ("msg_06", "auto", "msg_03")
    assert boundary.summary == "## Goal\na.py prints 1; b.py stays."
    assert sorted(note.type for note in session.notes) == ["compaction", "compaction", "unfinished summary"]
    live = [live for live in session.live_names if not live.startswith("cleared")]
    assert live == ["msg_06", "msg_03", "msg_04", "msg_04/results", "msg_09", "msg_10"]


def test_what_was_reverted_is_recorded_and_what_was_cleared_is_marked() -> None:
    session = open_session(CASE)
    assert "msg_11" in session.index and "msg_11" not in session.live_names
    micro = [each for _, each in session.boundaries if each.kind == "micro"]
    assert [each.cleared for each in micro] == [("c1",)]
    assert len(session.at("msg_12").turns) == 4


def make_next(**more: Any) -> dict[str, Any]:
    """A session in opencode's next form: a prompt, a call, a compaction, and what came after it."""

    def tell(number: int, kind: str, **fields: Any) -> dict[str, Any]:
        return {"id": f"msg_{number}", "type": kind, "time": {"created": number * 1_000}, **fields}

    model = {"id": "demo-1", "providerID": "demo"}
    call = {"type": "tool", "id": "c1", "name": "read", "time": {"created": 2_100, "pruned": 4_500}}
    call["state"] = {"status": "completed", "input": {"path": "a.py"}, "structured": {}}
    call["state"]["content"] = [{"type": "text", "text": "print(1)"}]
    failed = {"type": "tool", "id": "c2", "name": "read", "time": {"created": 2_200}}
    failed["state"] = {"status": "error", "input": {}, "content": [], "error": {"message": "no such file"}}
    tokens = {"input": 90, "output": 5, "reasoning": 2, "cache": {"read": 10, "write": 0}}
    said = [{"type": "reasoning", "id": "r", "text": "Look."}, {"type": "text", "id": "t", "text": "I read."}]
    reply: dict[str, Any] = {"agent": "build", "model": model, "finish": "tool-calls", "tokens": tokens}
    messages = [
        tell(0, "model-switched", model=model),
        tell(1, "user", text="Read a.py."),
        tell(2, "assistant", content=[*said, call, failed], **reply),
        tell(3, "synthetic", sessionID="ses_1", text="The plan is on."),
        tell(4, "shell", callID="s", command="ls", output="a.py"),
        tell(5, "compaction", reason="auto", summary="a.py prints 1.", recent="[User]: Read a.py.", **more),
        tell(6, "user", text="Go on."),
        tell(7, "assistant", content=[{"type": "text", "id": "t", "text": "Done."}], **reply),
        tell(8, "riddle"),
    ]
    return {
        "info": {"id": "ses_1", "title": "Reading", "location": {"directory": "/w"}},
        "messages": messages,
    }


@pytest.mark.parametrize("told", ["%s", '{"data": %s}', "Exporting session: ses_1\n%s"])
def test_messages_of_the_next_form_become_a_session(told: str, tmp_path: Path) -> None:
    path = tmp_path / "next.json"
    path.write_text(told % json.dumps(make_next()))
    session = open_session(path)
    assert (session.format, session.title, session.model) == ("opencode", "Reading", "demo-1")
    assert session.cwd == "/w"
    assert len(session.at("msg_4").turns) == 1 and len(session.turns) == 2
    assert [(session[name].text, session[name].meta) for name in ("msg_3", "msg_4")] == [
        ("The plan is on.", True),
        ("ls\na.py", True),
    ]
    answers = [block for block in session["msg_2/results"].blocks if isinstance(block, ToolOutput)]
    assert [(each.text, each.is_error) for each in answers] == [("print(1)", False), ("no such file", True)]
    usage = session["msg_2"].usage
    assert usage is not None and (usage.prompt, usage.cache_read, usage.output) == (100, 10, 7)
    kinds = {each.kind: (name, each) for name, each in session.boundaries}
    assert kinds["micro"][1].cleared == ("c1",)
    name, boundary = kinds["compact"]
    assert (name, boundary.trigger) == ("msg_5", "auto")
    assert session["msg_5"].text == "a.py prints 1.\n[User]: Read a.py."
    assert session.live_names == ["msg_5", "msg_6", "msg_7"]
    assert [(note.type, note.known) for note in session.notes] == [
        ("model-switched", True),
        ("message of type riddle", False),
    ]
    assert [str(each) for each in compare(path, session) if not each.same] == []
