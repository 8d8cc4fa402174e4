"""A rollout of Codex's and a request of OpenAI's: read again they are the same context, losses counted."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import open_demo, open_session
from inspector.cli import main
from inspector.demo import read_demo
from inspector.errors import EditError
from inspector.formats.exports.writers import PATH_FORMATS, export_session
from inspector.formats.readers import read_session
from inspector.session.blocks import Text
from inspector.session.entries import Boundary, Entry, Usage
from inspector.session.session import Session
from inspector.testing import check_reader
from tests.formats.test_every_format import BY_NAME, FILES
from tests.formats.test_writers import CONTENT, shown
from tests.strategies import sessions

READ_AS = {"openai": "request-log"}
formats = st.sampled_from(sorted(PATH_FORMATS))


def again(session: Session, format: Any) -> tuple[Session, dict[str, int]]:
    exported = export_session(session, format)
    back = read_session(bytes(exported), "x", READ_AS.get(format, format))
    return back, {loss.name: loss.times for loss in exported.losses}


@given(sessions(least=1), formats)
def test_what_comes_back_otherwise_is_counted_and_nothing_else_is(session: Session, format: str) -> None:
    with suppress(EditError):
        back, losses = again(session, format)
        counted = sum(times for name, times in losses.items() if name in CONTENT)
        assert (counted == 0) == (shown(back) == shown(session))


def compacted() -> Session:
    boundary = Boundary(kept=("b",), summary="so far")
    usage = Usage(input=20, cache_read=100, cache_write=3, output=7)
    rows = (
        Entry(id="a", blocks=(Text(text="one"),)),
        Entry(id="b", parent="a", role="assistant", blocks=(Text(text="two"),), usage=usage),
        Entry(id="s", parent="b", kind="compaction", blocks=(Text(text="so far"),), boundary=boundary),
        Entry(id="c", parent="s", blocks=(Text(text="three"),)),
    )
    return Session(format="demo", id="s1", entries=rows, leaf="c")


def test_a_compaction_stays_one_in_a_rollout_and_its_history_with_it() -> None:
    session = compacted()
    back, losses = again(session, "codex")
    assert losses == {"copies": 1}, "what was kept is said again after the summary"
    assert [block.text for _, block in shown(back)] == ["so far", "two", "three"]
    ((name, boundary),) = back.boundaries
    assert (boundary.summary, back[name].text) == ("so far", "so far")
    assert [entry.text for entry in back.entries][:2] == ["one", "two"]
    assert [entry.usage.tokens for entry in back.entries if entry.usage is not None] == [130]
    assert back.entries[1].usage == session["b"].usage


def test_a_request_holds_the_context_alone() -> None:
    exported = export_session(compacted(), "openai")
    body = json.loads(exported)
    assert [message["content"] for message in body["messages"]] == ["so far", "two", "three"]
    # The user's first words, and the compaction's own place among what was before it.
    assert {loss.name: loss.times for loss in exported.losses} == {"history": 2, "copies": 1, "usage": 1}


def test_a_request_names_the_model_of_the_session_or_none() -> None:
    asked = {"role": "user", "content": "Hi."}
    named = read_session({"model": "gpt-4o", "messages": [asked]}, format="request-log")
    assert json.loads(export_session(named, "openai")) == {"model": "gpt-4o", "messages": [asked]}
    assert json.loads(export_session(read_session([asked]), "openai")) == {"messages": [asked]}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_session_of_any_harness_goes_to_codex_with_its_context(path: Path) -> None:
    session = open_session(path)
    back, losses = again(session, "codex")
    if not losses.keys() & CONTENT:
        assert shown(back) == shown(session)
    # A rollout has no place for a picture, a document, or reasoning that nobody sealed, and an output that
    # shares a message with words (as Cline sends them) comes back in one of its own: they are counted.
    mixed = any(
        entry.role == "user" and {block.kind for block in entry.blocks} > {"tool_output"}
        for entry in session.entries
    )
    assert losses.keys() & CONTENT <= {"image", "document", "reasoning"} | ({"role"} if mixed else set())
    if FILES.index(path) % 6 == 0:
        check_reader(BY_NAME["codex"], [bytes(export_session(session, "codex"))])


def test_the_command_converts_to_a_new_file_and_tells_the_losses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, to = tmp_path / "session.jsonl", tmp_path / "rollout.jsonl"
    path.write_bytes(read_demo())
    assert main(["convert", str(path), "codex", str(to)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == str(to)
    assert told[1:] == [loss.sentence for loss in export_session(open_demo(), "codex").losses]
    back = open_session(to)
    assert back.format == "codex"
    assert [b.text for role, b in shown(back) if b.kind == "text"] == [
        b.text for role, b in shown(open_demo()) if b.kind == "text"
    ]
    written = to.read_bytes()
    assert main(["convert", str(path), "pi", str(to)]) == 1
    assert "is not written over" in capsys.readouterr().err
    assert main(["convert", str(path), "word", str(tmp_path / "x")]) == 2
    assert "there are flue, pi, claude-code, codex, openai" in capsys.readouterr().err
    assert (to.read_bytes(), path.read_bytes()) == (written, read_demo())
    first = open_demo().entries[open_demo().path[0]].id
    assert main(["convert", str(path), "openai", str(tmp_path / "one.json"), "--at", first]) == 0
    assert len(json.loads((tmp_path / "one.json").read_bytes())["messages"]) == 1
