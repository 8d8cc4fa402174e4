"""Codex: files that begin in the middle, and pictures that a tool shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspector import open_session
from inspector.session.blocks import Document, Text
from inspector.session.session import Session
from tests.recount.__main__ import compare

Row = dict[str, Any]
META: Row = {
    "type": "session_meta",
    "payload": {"id": "t1", "timestamp": "2026-10-01T08:00:00Z", "cwd": "/w"},
}


def item(kind: str, **more: Any) -> Row:
    return {"type": "response_item", "payload": {"type": kind, **more}}


def said(role: str, *parts: str | Row) -> Row:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": part} if isinstance(part, str) else part for part in parts]
    return item("message", role=role, content=content)


def open_rows(folder: Path, *rows: Row) -> Session:
    file = folder / "rollout-1.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    session = open_session(file)
    assert session.format == "codex"
    assert all(each.same for each in compare(file, session))
    return session


def test_a_rollout_without_its_header_opens_and_says_so(tmp_path: Path) -> None:
    told = {"type": "turn_context", "payload": {"model": "gpt-5.5"}}
    session = open_rows(tmp_path, told, said("user", "Go on"), said("assistant", "Done."))
    assert (session.model, session.id, len(session.turns)) == ("gpt-5.5", "", 1)
    assert session.warnings == ("its header is not in the file: session id, model and folder may be unknown",)


def test_a_file_and_a_refusal_are_blocks_of_their_kind(tmp_path: Path) -> None:
    file = {"type": "input_file", "filename": "tide.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}
    refusal = {"type": "refusal", "refusal": "I cannot help with this."}
    session = open_rows(tmp_path, META, said("user", "Read it", file), said("assistant", refusal))
    asked, reply = session.entries
    assert asked.blocks[1] == Document(media_type="application/pdf", title="tide.pdf", data="JVBERi0=")
    assert reply.blocks == (Text(text="I cannot help with this."),)


def test_what_another_agent_sent_stands_in_the_context_once(tmp_path: Path) -> None:
    words = "Message Type: FINAL_ANSWER\nPayload:\nOne test fails."
    sent = {"author": "/root/tester", "recipient": "/root", "trigger_turn": False}
    older = {"type": "inter_agent_communication", "payload": {**sent, "content": words}}
    newer = item("agent_message", **sent, content=[{"type": "input_text", "text": words}])
    sealed = {
        "type": "inter_agent_communication",
        "payload": {**sent, "content": None, "encrypted_content": "x"},
    }
    empty = {"type": "inter_agent_communication", "payload": {}}
    asked, reply = said("user", "Run the tests"), said("assistant", "They run.")
    session = open_rows(tmp_path, META, asked, reply, older, said("assistant", "I mend it."))
    letter = session.entries[2]
    assert (letter.text, letter.meta, letter.extra["speaker"]) == (words, True, "agent")
    assert len(session.turns) == 1
    twice = open_rows(
        tmp_path, META, asked, reply, older, newer, sealed, empty, said("assistant", "I mend it.")
    )
    assert [entry.text for entry in twice.entries] == ["Run the tests", "They run.", words, "", "I mend it."]
    assert twice.records == 8
