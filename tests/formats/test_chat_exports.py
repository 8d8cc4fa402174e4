"""Exports of Claude.ai and ChatGPT: one conversation, and the list of several."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, open_sessions, read_session
from inspector.errors import EmptySession, SeveralSessions
from inspector.files import BEGINNING
from inspector.session.blocks import Document, Reasoning, ToolOutput
from tests.rows import CASES

CLAUDE, CHATGPT = CASES / "claude-ai.json", CASES / "chatgpt.json"


def load(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return document


def test_a_conversation_of_claude_ai_becomes_a_session_and_what_was_said_again_a_branch() -> None:
    session = open_session(CLAUDE)
    assert (session.id, session.title, session.created) == ("c-1", "Tides", "2026-01-01T10:00:00Z")
    assert session["h1"].blocks[1] == Document(title="table.txt", text="06:12 12:30")
    assert [entry.role for entry in session.entries][:4] == ["user", "assistant", "tool", "assistant"]
    assert session["a1"].blocks[0] == Reasoning(text="Search.")
    answer = session["a1/2"].blocks[0]
    assert isinstance(answer, ToolOutput) and (answer.text, answer.is_error) == ("06:12", False)
    assert session.live_names == ["h1", "a1", "a1/2", "a1/3", "h3", "a3"]
    assert {"h2", "a2"} <= set(session.index)


def test_chatgpts_context_is_the_path_to_the_current_node() -> None:
    session = open_session(CHATGPT)
    assert (session.id, session.title, session.model) == ("g-1", "Moon", "demo-2")
    assert session.live_names == ["u1", "t1", "a2", "x", "a3", "u3", "a4"]
    assert {"a1", "u2"} <= set(session.index)
    assert session["t1"].blocks[0] == Reasoning(text="Look it up.")
    assert session["x"].role == "tool" and session["x"].blocks[0].text == "Full tonight."
    assert session["a4"].timestamp == "2026-01-01T10:00:00.000Z"
    other = load(CHATGPT) | {"current_node": "u2"}
    assert read_session(other).live_names == ["u1", "a1", "u2"]


def test_a_circle_of_nodes_loses_nothing_and_does_not_hang() -> None:
    document = load(CHATGPT)
    document["mapping"]["u1"]["parent"] = "a4"
    session = read_session(document)
    assert session.records == len(document["mapping"])


@pytest.mark.parametrize(("path", "title"), [(CLAUDE, "name"), (CHATGPT, "title")], ids=["claude", "chatgpt"])
@pytest.mark.parametrize("packed", [False, True], ids=["json", "zip"])
def test_several_conversations_open_as_a_list_and_one_is_named(
    path: Path, title: str, packed: bool, tmp_path: Path
) -> None:
    key = "uuid" if path is CLAUDE else "conversation_id"
    first, second = load(path) | {title: "One", key: "1"}, load(path) | {title: "Two", key: "2"}
    # Longer than what tells a file of another kind.
    third = load(path) | {title: "Two", key: "3", "padding": "x" * (BEGINNING + 9)}
    place = tmp_path / "conversations.json"
    place.write_text(json.dumps([first, second, third]), "utf-8")
    if packed:
        with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
            archive.write(place, "conversations.json")
        place = tmp_path / "export.zip"
    assert [one.name for one in open_sessions(place)] == ["One", "2", "3"]
    with pytest.raises(SeveralSessions, match="One"):
        open_session(place)
    assert open_session(place, part="3").id == "3"
    assert open_sessions(place)["One"].open().title == "One"


def test_of_several_read_as_bytes_the_first_that_says_anything_is_taken_and_the_others_are_told_of() -> None:
    silent = {"uuid": "0", "name": "", "chat_messages": []}
    session = read_session([silent, load(CLAUDE)])
    assert session.id == "c-1"
    assert session.warnings == ("1 other conversation is in the file and not read; open_sessions lists them",)
    assert read_session([silent, load(CLAUDE)], part=load(CLAUDE)["name"]).id == "c-1"
    with pytest.raises(EmptySession):
        read_session([silent])


def test_the_message_that_claude_ai_names_as_its_leaf_ends_the_conversation() -> None:
    names = ("uuid", "parent_message_uuid", "sender", "text")
    said = ("m1", None, "human", "hi"), ("m2", "m1", "assistant", "yes"), ("m3", "m1", "assistant", "no")
    messages = [dict(zip(names, row, strict=True)) for row in said]
    session = read_session({"uuid": "c", "current_leaf_message_uuid": "m2", "chat_messages": messages})
    assert session.live_names == ["m1", "m2"] and len(session.entries) == 3


def test_what_a_person_told_chatgpt_of_themselves_is_words_that_open_no_turn() -> None:
    hidden = {"is_user_system_message": True, "is_visually_hidden_from_conversation": True}
    told = {"user_profile": "A sailor.", "user_instructions": "Be brief."}
    told |= {"content_type": "user_editable_context"}
    known = {"content_type": "model_editable_context", "model_set_context": "They sail at night."}
    rows = [
        ("user", told, hidden),
        ("assistant", known, {}),
        ("user", {"content_type": "text", "parts": ["Which tide is next?"]}, {}),
        ("assistant", {"content_type": "citable_code_output", "output_str": "High."}, {}),
    ]
    nodes = {}
    for at, (role, content, about) in enumerate(rows):
        message = {"id": f"n{at}", "author": {"role": role}, "content": content, "metadata": about}
        links = {"parent": f"n{at - 1}" if at else None, "children": []}
        nodes[f"n{at}"] = {"id": f"n{at}", "message": message, **links}
    chat = {"title": "Tides", "mapping": nodes, "current_node": "n3", "conversation_id": "c"}
    session = read_session(json.dumps([chat]).encode())
    assert [(entry.meta, entry.text) for entry in session.entries] == [
        (True, "A sailor.\n\nBe brief."),
        (False, "They sail at night."),
        (False, "Which tide is next?"),
        (False, "High."),
    ]
    assert (len(session.turns), session.unknown) == (1, 0)
