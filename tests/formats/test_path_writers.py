"""A rollout of Codex's, a chat of Gemini CLI's, an export of opencode's and a request of OpenAI's: read again
they are the same context, losses counted."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from inspector import open_demo, open_session
from inspector.cli import main
from inspector.demo import read_demo
from inspector.errors import EditError
from inspector.formats.readers import read_session
from inspector.formats.writers import PATH_FORMATS, export_session
from inspector.session.blocks import Text, ToolOutput
from inspector.session.entries import Boundary, Entry, Tool, Usage
from inspector.session.session import Session
from inspector.testing import check_reader
from tests.formats.test_every_format import BY_NAME, CASES, FILES
from tests.formats.test_writers import CONTENT, holed, shown
from tests.shared import SHARED
from tests.strategies import sessions
from tests.test_cuts import answer, build, call, say, user

READ_AS = {"openai": "request-log"}
formats = st.sampled_from(sorted(PATH_FORMATS))


def again(session: Session, format: Any) -> tuple[Session, dict[str, int]]:
    exported = export_session(session, format)
    back = read_session(bytes(exported), "x", READ_AS.get(format, format))
    return back, {loss.name: loss.times for loss in exported.losses}


@settings(max_examples=80, deadline=None)
@given(sessions(least=1), formats)
def test_what_comes_back_otherwise_is_counted_and_nothing_else_is(session: Session, format: str) -> None:
    with suppress(EditError):
        back, losses = again(session, format)
        counted = sum(times for name, times in losses.items() if name in CONTENT)
        assert (counted == 0) == (shown(back) == shown(session))


def bare(session: Session) -> list[Entry]:
    """The entries without their places in a file and without what their rows held besides."""
    return [entry.model_copy(update={"sources": (), "extra": {}}) for entry in session.entries]


HARNESSES = ("gemini-cli", "opencode")


@settings(max_examples=80, deadline=None)
@given(sessions(least=1), st.sampled_from(HARNESSES))
def test_what_was_written_once_is_written_again_as_it_was(session: Session, format: str) -> None:
    """What a format has no place for is gone after the first time: from then on every entry comes back."""
    with suppress(EditError):
        once, _ = again(session, format)
        assume(shown(once))
        twice, losses = again(once, format)
        assert not losses.keys() & CONTENT and "usage" not in losses
        assert bare(twice) == bare(once)
        assert (twice.id, twice.title, shown(twice)) == (once.id, once.title, shown(once))


@settings(max_examples=80, deadline=None)
@given(sessions(least=1, orderly=True), st.sampled_from(HARNESSES))
def test_text_and_calls_are_never_lost_to_a_harness(session: Session, format: str) -> None:
    assume(shown(session))
    back, losses = again(session, format)
    kinds = ("text", "tool_call")
    mine, theirs = (
        [
            (role, block)
            for role, block in shown(each)
            if block.kind in kinds and role in ("user", "assistant")
        ]
        for each in (session, back)
    )
    if not losses.keys() & {"summary", "role", "document", "unknown", "image", "tool_output", "reasoning"}:
        assert mine == theirs
    assert not losses.keys() & kinds


REAL = [
    path
    for folder in ("gemini-cli--entireio-cli", "opencode--generated")
    for path in sorted((SHARED / "sessions" / folder).glob("*.json"))
]
OWN = [*REAL, *(CASES / f"{name}.json" for name in HARNESSES)]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_a_harness_gets_its_own_session_back_entry_by_entry(path: Path) -> None:
    session = open_session(path)
    back, losses = again(session, session.format)
    on_path = [session.entries[i] for i in session.path]
    kept = {entry.id for entry in on_path}
    assert bare(back) == [entry for entry in bare(session) if entry.id in kept]
    assert losses.keys() <= {"records", "fields", "branches"}
    check_reader(BY_NAME[session.format], [bytes(export_session(session, session.format))])  # type: ignore[arg-type]


def test_a_compression_stands_in_a_chat_with_what_it_kept() -> None:
    """The user's words stay as they were; what was kept is told by the row that it has."""
    exported = export_session(compacted(), "gemini-cli")
    rows = [json.loads(line) for line in exported.splitlines()]
    assert [row.get("type") for row in rows[1:]] == ["user", "gemini", None, "user"]
    summary, kept = rows[3]["$set"]["messages"]
    assert summary["content"] == [{"text": "<state_snapshot>\nso far\n</state_snapshot>"}]
    assert kept == rows[2] and kept["tokens"]["total"] == 130
    back = read_session(bytes(exported), "x", "gemini-cli")
    assert [block.text for _, block in shown(back)][1:] == ["two", "three"]
    losses = {loss.name: loss.times for loss in exported.losses}
    assert losses == {"summary": 1, "usage": 1}, "no row tells what was written to the cache"


def test_a_compaction_stands_in_an_export_as_a_mark_and_its_answer() -> None:
    exported = export_session(compacted(), "opencode")
    messages = json.loads(exported)["messages"]
    mark, summary = messages[2:4]
    names = [message["info"]["id"] for message in messages]
    assert names == sorted(set(names)), "opencode sorts messages by their names"
    assert mark["parts"][0]["type"] == "compaction" and mark["parts"][0]["tail_start_id"] == names[1]
    assert summary["info"]["summary"] is True and summary["info"]["parentID"] == names[2]
    assert summary["info"]["finish"] == "stop"
    back, losses = again(compacted(), "opencode")
    assert shown(back) == shown(compacted())
    assert losses == {"usage": 1}, "an export says what a reply cost, and nobody knows"


@pytest.mark.parametrize("format", HARNESSES)
def test_a_kept_range_that_begins_inside_a_message_is_written_again(format: Any) -> None:
    session = build(user("go"), call("c1"), answer("c1"), say("done"))
    names = [entry.id for entry in session.entries]
    output = next(entry.id for entry in session.entries if entry.role == "tool")
    kept = tuple(names[names.index(output) :])
    summary = Entry(
        id="s",
        parent=names[-1],
        kind="compaction",
        blocks=(Text(text="<state_snapshot>so far"),),
        boundary=Boundary(kept=kept),
    )
    session = session.model_copy(update={"entries": (*session.entries, summary), "leaf": "s"})
    back, losses = again(session, format)
    assert losses["copies"] == len(kept)
    assert [block.text for _, block in shown(back)] == [block.text for _, block in shown(session)]


def test_emptied_outputs_are_marked_in_an_export_where_they_stand() -> None:
    micro = Boundary(kind="micro", cleared=("c1",))
    session = build(user("go"), call("c1"), answer("c1"), say("done"))
    cleared = Entry(id="m", parent=session.leaf, kind="micro", boundary=micro)
    later = Entry(id="z", parent="m", blocks=(Text(text="and now?"),))
    session = session.model_copy(update={"entries": (*session.entries, cleared, later), "leaf": "z"})
    back, losses = again(session, "opencode")
    assert losses == {} and shown(back) == shown(session)
    output = next(entry for entry in back.entries if entry.role == "tool").blocks[0]
    assert output.text != shown(back)[2][1].text, "the file still holds what was emptied"
    assert again(session, "gemini-cli")[1] == {"records": 1, "emptied": 1}


@pytest.mark.parametrize("format", ["codex", "openai"])
def test_words_calls_and_answers_come_back_with_prompt_and_tools(format: str) -> None:
    plain = build(user("go"), call("toolu_1"), answer("toolu_1"), say("done"), user("and now?"))
    tool = Tool(name="read", description="Reads.", input_schema={"type": "object"})
    session = plain.model_copy(
        update={"system": (Text(text="Be kind."),), "tools": (tool,), "model": "gpt-5"}
    )
    back, losses = again(session, format)
    assert losses == {}
    assert shown(back) == shown(session)
    assert (back.system, back.tools, back.model) == (session.system, session.tools, "gpt-5")


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


@pytest.mark.parametrize("format", ["codex", "openai"])
def test_what_has_no_place_is_counted(format: str) -> None:
    back, losses = again(holed(), format)
    assert {"sidechains", "records", "provided", "copies", "branches"} <= losses.keys()
    assert not {"system", "tools", "image", "summary"} & losses.keys(), "these have a place"
    assert [block.text for _, block in shown(back)][:4] == ["so far", "a", "c", "d"]


def test_a_failed_answer_is_one_in_a_rollout() -> None:
    session = build(user("go"), call("c1"), answer("c1"), say("ok"))
    at = next(at for at, entry in enumerate(session.entries) if entry.role == "tool")
    block = session.entries[at].blocks[0]
    assert isinstance(block, ToolOutput)
    failed = block.model_copy(update={"is_error": True})
    entries = list(session.entries)
    entries[at] = entries[at].model_copy(update={"blocks": (failed,)})
    session = session.model_copy(update={"entries": tuple(entries)})
    assert again(session, "codex")[1] == {}
    assert again(session, "openai")[1] == {"tool_output": 1}, "a message of a tool has no mark for it"


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
    check_reader(BY_NAME["codex"], [bytes(export_session(session, "codex"))])


@pytest.mark.parametrize("format", HARNESSES)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_session_of_any_harness_goes_to_gemini_and_opencode(path: Path, format: Any) -> None:
    session = open_session(path)
    back, losses = again(session, format)
    if not losses.keys() & CONTENT:
        assert shown(back) == shown(session)
    assert losses.keys() & CONTENT <= {"image", "document", "reasoning", "summary", "tool_output"}
    check_reader(BY_NAME[format], [bytes(export_session(session, format))])


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
    assert "there are flue, pi, claude-code, codex, gemini-cli, opencode, openai" in capsys.readouterr().err
    assert (to.read_bytes(), path.read_bytes()) == (written, read_demo())
    first = open_demo().entries[open_demo().path[0]].id
    assert main(["convert", str(path), "openai", str(tmp_path / "one.json"), "--at", first]) == 0
    assert len(json.loads((tmp_path / "one.json").read_bytes())["messages"]) == 1


@pytest.mark.parametrize(("format", "name"), [("gemini-cli", "chat.jsonl"), ("opencode", "export.json")])
def test_the_command_writes_what_a_harness_goes_on_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], format: Any, name: str
) -> None:
    path, to = tmp_path / "session.jsonl", tmp_path / name
    path.write_bytes(read_demo())
    assert main(["convert", str(path), format, str(to)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        loss.sentence for loss in export_session(open_demo(), format).losses
    ]
    back = open_session(to)
    assert back.format == format and len(back.boundaries) >= 1
    assert [b.text for _, b in shown(back) if b.kind == "tool_call"] == [
        b.text for _, b in shown(open_demo()) if b.kind == "tool_call"
    ]
    # A moment before its compaction is a chat without one.
    first = open_demo().entries[open_demo().path[3]].id
    assert main(["convert", str(path), format, str(tmp_path / f"early {name}"), "--at", first]) == 0
    assert not open_session(tmp_path / f"early {name}").boundaries
