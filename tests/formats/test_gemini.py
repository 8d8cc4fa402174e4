"""Gemini CLI's chats, as documents and as lines, and Qwen Code's, beside counts of their rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspector import open_session, read_session
from inspector.session.blocks import Image, Reasoning, Text, ToolOutput
from inspector.session.session import Session
from tests.recount.__main__ import compare
from tests.rows import CASES, dump, load

LOG = load(CASES / "gemini-cli.log.jsonl")


def test_a_document_becomes_a_session() -> None:
    session = open_session(CASES / "gemini-cli.json")
    assert (session.id, session.model, session.created) == (
        "g-1",
        "gemini-2.5-pro",
        "2026-01-01T00:00:00.000Z",
    )
    assert [entry.role for entry in session.entries] == ["user", "assistant", "tool", "assistant", "user"]
    reply, results = session.entries[1:3]
    assert reply.blocks[0] == Reasoning(text="Reading\nOne file.")
    assert [block.kind for block in reply.blocks] == ["reasoning", "text", "tool_call"]
    (output,) = results.blocks
    assert output == ToolOutput(
        call_id="read-1", name="read_file", parts=(Text(text="hello"),), status="success"
    )
    picture = session.entries[4].blocks[1]
    assert isinstance(picture, Image) and (picture.width, picture.height) == (1, 1)
    assert [note.type for note in session.notes] == ["info"]


def test_a_row_with_a_known_id_replaces_the_earlier_one() -> None:
    session = open_session(CASES / "gemini-cli.log.jsonl")
    assert [source.line for source in session["m2"].sources] == [3, 4]
    assert session["m2"].usage is not None


def test_what_was_rewound_is_recorded_and_gone_from_the_line() -> None:
    session = read_session(dump(*LOG[:10]))
    assert [entry.id for entry in session.entries][-3:] == ["m4", "m5", "m6"]
    assert session.live_names == ["m1", "m2", "m2/results", "m6"]
    unknown = read_session(dump(*LOG[:7], {"$rewindTo": "nowhere"}, LOG[9]))
    assert unknown.live_names == ["m6"]


def test_messages_that_a_patch_removes_are_recorded_and_gone_from_the_line(tmp_path: Path) -> None:
    about = {"sessionId": "s", "projectHash": "h", "startTime": "2026-08-01T10:00:00Z"}
    asked = [
        {"id": f"{kind[0]}{n}", "timestamp": "t", "type": kind, "content": f"{kind} {n}"}
        for n in (1, 2)
        for kind in ("user", "gemini")
    ]
    last = {"id": "u3", "timestamp": "t", "type": "user", "content": "user 3"}
    (path := tmp_path / "session-a.jsonl").write_bytes(
        dump(about, *asked, {"$patch": {"removeIds": ["u2", "g1"]}}, last)
    )
    session = open_session(path)
    assert [entry.text for entry in session.entries] == [row["content"] for row in [*asked, last]]
    assert [session.entries[at].id for at in session.path] == ["u1", "g2", "u3"]
    assert session.unknown == 0
    assert [each for each in compare(path, session) if not each.same] == []
    strange = read_session(dump(about, *asked, {"$patch": {"title": "x"}}))
    assert (len(strange.path), strange.unknown) == (4, 1)


def test_outputs_that_became_shorter_are_a_micro_compaction() -> None:
    session = read_session(dump(*LOG[:12]))
    ((name, boundary),) = session.boundaries
    assert (boundary.kind, boundary.cleared) == ("micro", ("read-1",))
    assert session["m2/results"].blocks[0].text == "hello " * 200
    assert session.live.cleared.sum() == 1
    assert session[name].sources[0].line == 11


def test_a_state_snapshot_is_a_compaction_that_keeps_what_it_repeats() -> None:
    session = open_session(CASES / "gemini-cli.log.jsonl")
    name, boundary = session.boundaries[-1]
    assert boundary.kind == "compact" and boundary.kept == ("m7",)
    assert session.live_names == [name, "m7", "c2", "m8", "m9"]
    assert len(session.turns) == 3
    assert [entry.id for entry in session.entries if not entry.sources] == ["m2/results", "c2"]


# Qwen Code


def test_qwens_lines_hold_googles_parts() -> None:
    session = open_session(CASES / "qwen.jsonl")
    assert (session.id, session.cwd, session.extra["version"]) == ("q-1", "/w", "0.5.0")
    assert [entry.role for entry in session.entries[:4]] == ["user", "assistant", "tool", "assistant"]
    assert session["q2"].blocks[0] == Reasoning(text="thinking of it")
    assert session["q5"].parent == "q3" and session["q3"].aliases == ()
    assert sum(entry.usage.tokens for entry in session.entries if entry.usage) == 915 + 953 + 262


def test_qwens_lines_without_links_follow_each_other() -> None:
    rows = load(CASES / "qwen.jsonl")
    said = [row for row in rows if row.get("type") in ("user", "assistant") and "agentName" not in row][:3]
    for row in said:
        del row["parentUuid"]
    session = read_session("".join(json.dumps(row) + "\n" for row in said).encode())
    assert len(session.path) == len(session.entries) == 3


def test_what_qwen_compressed_is_a_compaction_where_its_line_holds_the_result() -> None:
    session = open_session(CASES / "qwen.jsonl")
    ((name, boundary),) = session.boundaries
    assert (boundary.tokens_before, boundary.tokens_after) == (953, 200)
    assert session.live_names == [name, "q6.1", "q7", "q8"]
    rows = load(CASES / "qwen.jsonl")
    del rows[5]["systemPayload"]
    without = read_session(dump(*rows))
    ((name, boundary),) = without.boundaries
    assert boundary.summary is None and boundary.extra == {"unreadable": True}
    assert without.live_names == ["q6", "q7", "q8"] and without.records == len(rows)
    rows[5]["systemPayload"] = {"info": {"compressionStatus": 1, "triggerReason": "manual"}}
    assert read_session(dump(*rows)).boundaries[0][1].trigger == "manual" and boundary.trigger is None
    rows[5]["systemPayload"] = {"info": {"compressionStatus": 3}}
    assert not read_session(dump(*rows)).boundaries


def masked_chat() -> list[dict[str, Any]]:
    """A chat of 2026 whose histories hold turns: words as parts, calls among them, answers apart."""
    answer = {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "line " * 100}}}
    call = {"id": "c1", "name": "read_file", "args": {"path": "a"}, "status": "success", "result": [answer]}
    asked = {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a"}}}
    used = {"input": 100, "output": 5, "cached": 0, "thoughts": 0, "tool": 0, "total": 105}
    said = [
        {"id": "u1", "type": "user", "content": [{"text": "Read a, never b."}]},
        {"id": "g1", "type": "gemini", "content": "", "toolCalls": [call], "tokens": used, "model": "demo-1"},
        {"id": "g2", "type": "gemini", "content": "It is long.", "tokens": used, "model": "demo-1"},
    ]
    turns = [
        said[0],
        {**said[1], "content": [asked]},
        {"id": "f1", "type": "user", "content": [answer]},
        {**said[2], "content": [{"text": "It is long."}]},
    ]
    about = {"sessionId": "s", "projectHash": "p"}
    return [about, *said, {"$set": {"messages": turns}}]


def read_rows(rows: list[dict[str, Any]], path: Path) -> Session:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    session = open_session(path)
    assert [str(figure) for figure in compare(path, session) if not figure.same] == []
    return session


def test_turns_that_a_compression_keeps_are_kept_and_not_said_again(tmp_path: Path) -> None:
    rows = masked_chat()
    history = rows.pop()["$set"]["messages"]
    snapshot = {
        "id": "s1",
        "type": "user",
        "content": [{"text": "<state_snapshot>Never b.</state_snapshot>"}],
    }
    again = {**history[3], "content": [{"text": "It is very long."}]}
    rows += [
        {"$set": {"messages": [snapshot, *history[1:3], again]}},
        {"id": "u2", "type": "user", "content": "Go"},
    ]
    session = read_rows(rows, tmp_path / "chat.jsonl")
    ((_, boundary),) = session.boundaries
    assert boundary.kept == ("g1", "g1/results")
    # One in other words is another message, and was no request of its own.
    assert [entry.usage for entry in session.entries if entry.text == "It is very long."] == [None]
