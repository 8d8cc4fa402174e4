"""What other harnesses would read: our readers find the same context in it, and every loss has a name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inspector.errors import EditError
from inspector.formats.exports.linearize import SENTENCES, find_twigs
from inspector.formats.exports.writers import FORMATS, export_session
from inspector.formats.readers import read_session
from inspector.planning.assemble import live_context
from inspector.session.blocks import Block, Document, Image, Text, ToolCall, ToolOutput, Unknown
from inspector.session.entries import Boundary, Entry, Provided, Tool
from inspector.session.session import Session
from inspector.summaries.compaction import compact
from inspector.tokens.ledger import count_tokens
from tests.conformance.flue import parse
from tests.shared import SHARED, needs_shared
from tests.strategies import sessions
from tests.summaries.test_compaction import turns, write
from tests.test_laws import LENGTH

HELD = ("image", "document", "unknown")
CONTENT = {"role", "text", "summary", "reasoning", "tool_call", "tool_output", "added", *HELD}


def shown(session: Session) -> list[tuple[str, Any]]:
    """Role and block of the context, without what is only told about an output."""
    pieces = live_context(session, count_tokens(session, LENGTH)).pieces
    return [
        (
            piece.role,
            piece.block.model_copy(update={"name": None, "status": None, "artifact": None})
            if isinstance(piece.block, ToolOutput)
            else piece.block,
        )
        for piece in pieces
    ]


def again(session: Session, format: Any) -> tuple[Session, dict[str, int]]:
    exported = export_session(session, format)
    return read_session(exported, "x", format), {loss.name: loss.times for loss in exported.losses}


def is_plain(block: Block, format: str) -> bool:
    """Whether every format in question has a form for this block."""
    if isinstance(block, ToolOutput):
        return all(is_plain(part, format) for part in block.parts)
    if isinstance(block, Unknown):
        return False
    if isinstance(block, Image | Document) and format != "claude-code":
        return isinstance(block, Image) and block.data is not None
    # The API's content has no numbers beyond 64 bits; what a call was given may hold any.
    return not isinstance(block, ToolCall) or isinstance(block.input, dict)


formats = st.sampled_from(sorted(FORMATS))


@given(sessions(least=1), formats)
def test_any_session_reads_back_to_its_context_and_what_does_not_is_counted(
    session: Session, format: str
) -> None:
    if not shown(session):
        with suppress(EditError):
            assert shown(again(session, format)[0]) == []
        return
    back, losses = again(session, format)
    mine, theirs = shown(session), shown(back)
    differ = sum(a != b for a, b in zip(mine, theirs, strict=False)) if len(mine) == len(theirs) else None
    counted = sum(times for name, times in losses.items() if name in CONTENT)
    assert (counted == 0) == (mine == theirs)
    assert differ is None or counted >= differ or len(mine) > len(theirs)


@given(sessions(least=1, orderly=True), formats)
def test_what_every_format_has_a_form_for_comes_back_as_it_was(session: Session, format: str) -> None:
    assume(shown(session))
    back, losses = again(session, format)
    mine, theirs = shown(session), shown(back)
    assert len(mine) == len(theirs)
    for (role, block), (role_back, block_back) in zip(mine, theirs, strict=True):
        if is_plain(block, format) and "summary" not in losses:
            assert block_back == block
        if not (isinstance(block, ToolOutput) and format != "claude-code"):
            assert role_back == role


@given(sessions(least=2, orderly=True), formats)
def test_a_transition_is_exported_with_the_context_it_promised(session: Session, format: str) -> None:
    done = compact(session, "claude-code", write, ledger=count_tokens(session, LENGTH))
    assume(done.done and shown(done.after))
    back, losses = again(done.after, format)
    if not CONTENT & losses.keys():
        assert shown(back) == shown(done.after)
    # Only the words around a summary, and what a format has no block for, may come back otherwise.
    assert not losses.keys() & {"text", "reasoning", "tool_call", "added"}


def ends(session: Session) -> dict[str, list[str]]:
    """The texts of each branch beside the path, by its last entry: from where it leaves the path on."""
    twigs = {twig.entry.id: twig for twig in find_twigs(session)}
    inner = {twig.parent for twig in twigs.values()}
    out = {}
    for name in twigs.keys() - inner:
        at: str | None = name
        texts: list[str] = []
        while at in twigs:
            texts.insert(0, twigs[at].entry.text)
            at = twigs[at].parent
        out[name] = texts
    return out


@given(sessions(least=2, orderly=True), st.sampled_from(["flue", "pi"]))
def test_other_branches_come_back_where_they_were(session: Session, format: str) -> None:
    """As many as there were, each with its texts; a branch that a format cannot hold is counted."""
    assume(shown(session))
    back, losses = again(session, format)
    assert "branches" not in losses
    mine, theirs = ends(session), ends(back)
    assert len(mine) == len(theirs)
    names = {name.split(".")[0] for name in theirs}
    assert {name.split(".")[0] for name in mine} == names


@given(sessions(least=2, orderly=True), formats)
def test_other_branches_change_nothing_on_the_path(session: Session, format: str) -> None:
    """The same context with and without them, and no entry lost that is not counted."""
    assume(shown(session))
    path = tuple(session.entries[i] for i in session.path)
    alone = Session(**{**{name: getattr(session, name) for name in Session.model_fields}, "entries": path})
    back, losses = again(session, format)
    assert shown(back) == shown(again(alone, format)[0])
    held = {twig.entry.id for twig in find_twigs(session)} & set(back.index)
    assert len(held) + losses.get("branches", 0) >= len(find_twigs(session))


def test_a_written_summary_of_flue_goes_on_in_flue_without_a_loss() -> None:
    session = turns("one", "two", "three").model_copy(update={"format": "flue"})
    done = compact(session, "flue", write, edits={"settings": {"keep-recent-tokens.tokens": 50}})
    back, losses = again(done.after, "flue")
    assert losses == {}
    boundary, told = back[done.entry or ""].boundary, done.after[done.entry or ""].boundary
    assert boundary is not None
    assert told is not None
    assert (boundary.summary, boundary.first_kept) == (told.summary, told.first_kept)
    assert (boundary.tokens_before, boundary.files_read) == (told.tokens_before, told.files_read)
    assert back[done.entry or ""].usage == done.after[done.entry or ""].usage


def holed() -> Session:
    """A session with a head, an aside, a branch and odd kept entries: others have no place for some."""
    boundary = Boundary(kept=("a", "c"), summary="so far")
    entries = (
        *(
            Entry(id=name, parent=up, blocks=(Text(text=name),))
            for name, up in zip("abc", (None, *"ab"), strict=True)
        ),
        Entry(id="left", parent="a", blocks=(Text(text="elsewhere"),)),
        Entry(id="aside", sidechain="agent", role="assistant", blocks=(Text(text="hm"),)),
        Entry(id="note", parent="c", role="other", kind="note", blocks=(Unknown(type="label", raw={}),)),
        Entry(id="sum", parent="note", kind="compaction", blocks=(Text(text="so far"),), boundary=boundary),
        Entry(id="d", parent="sum", blocks=(Text(text="d"), Image(url="https://example.org/a.png"))),
    )
    head = {"system": (Text(text="be kind"),), "tools": (Tool(name="read"),)}
    provided = (Provided(name="memory", text="m"),)
    return Session(format="demo", entries=entries, leaf="d", provided=provided, **head)


def test_every_loss_is_named_and_counted() -> None:
    session = holed()
    head = {"sidechains": 1, "records": 1, "system": 1, "tools": 1, "provided": 1}
    assert again(session, "claude-code")[1] == head
    assert again(session, "flue")[1] == {**head, "copies": 2, "summary": 1, "image": 1}
    back, losses = again(session, "pi")
    assert losses == {**head, "copies": 2, "summary": 1, "image": 1}
    assert [block.text for _, block in shown(back)][1:4] == ["a", "c", "d"]
    told = [loss.sentence for loss in export_session(session, "pi").losses]
    assert "2 kept entries are written again after the compaction, which can only keep a range" in told
    assert set(losses) <= set(SENTENCES)


def test_a_format_that_there_is_not_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(EditError, match="flue, pi, claude-code"):
        export_session(turns("one"), "word")  # type: ignore[arg-type]


def vectors() -> Iterator[tuple[str, Session]]:
    folder = SHARED / "vectors/flue"
    for file in sorted(folder.glob("handcrafted/*.json")):
        yield file.stem, parse(json.loads(file.read_text("utf-8"))["input"]["session"])
    for line in (folder / "fuzz.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        yield case["id"], parse(case["input"]["session"])


@needs_shared
def test_flues_own_sessions_come_back_from_flue_with_the_same_context() -> None:
    count = 0
    for name, session in vectors():
        if shown(session):
            back, losses = again(session, "flue")
            assert shown(back) == shown(session), name
            assert not CONTENT & losses.keys(), name
            count += 1
    assert count > 200
