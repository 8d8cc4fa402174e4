"""Words are found wherever they stand on the main path, in any case, and said to stand where they do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.session.blocks import Text
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.workbench.payloads.search import find_text
from tests.strategies import sessions
from tests.telling import use


def talk(*entries: Entry, **fields: Any) -> Session:
    """Entries e0, e1, … that follow each other."""
    linked = tuple(
        entry.model_copy(update={"id": f"e{i}", "parent": f"e{i - 1}" if i else None})
        for i, entry in enumerate(entries)
    )
    return Session(**{"format": "demo", "entries": linked, "leaf": linked[-1].id} | fields)


def say(role: str, text: str, **fields: Any) -> Entry:
    return Entry(id="", role=role, blocks=(Text(text=text),), **fields)


def find(session: Session, query: str, at: str | None = None, limit: int = 200) -> dict[str, Any]:
    history = trace_history(session, count_tokens(session, "chars4_utf16"))
    return find_text(session if at is None else session.at(at), history, query, limit)


def marked(hit: dict[str, Any]) -> list[str]:
    """The marked parts of a preview, cut as a browser cuts: in UTF-16 units."""
    units = hit.preview.encode("utf-16-le")
    spans = hit.spans
    return [units[2 * a : 2 * b].decode("utf-16-le") for a, b in zip(spans[::2], spans[1::2], strict=True)]


@pytest.fixture(scope="module")
def compacted() -> Session:
    """Two turns about a lighthouse, a compaction that keeps neither, and one turn after it."""
    summary = say("user", "a lighthouse was read", kind="compaction", boundary=Boundary())
    return talk(
        say("user", "open the LIGHTHOUSE"),
        *use(1, "Read", "class Lighthouse: ...", file_path="src/Lighthouse.py"),
        say("assistant", "done"),
        summary,
        say("user", "and the lighthouse now?"),
        say("assistant", "still there"),
    )


def test_all_stretches_are_searched_and_the_given_moment_comes_first(compacted: Session) -> None:
    found = find(compacted, "lighthouse")
    assert [(hit.ref, hit.row) for hit in found.hits] == [
        *(("e4/0", 0), ("e5/0", 1)),
        *(("e0/0", -1), ("e1/0", -1), ("e2/0", -1)),
    ]
    assert found.total == 5
    assert [hit.at for hit in found.hits] == ["e6", "e6", "e3", "e3", "e3"]
    before = find(compacted, "lighthouse", at="e3")
    assert [hit.row for hit in before.hits] == [0, 1, 2, -1, -1]
    assert [hit.at for hit in before.hits] == ["e3", "e3", "e3", "e6", "e6"]


def test_a_moment_on_another_branch_is_searched_too() -> None:
    root, branch, main = say("user", "go"), say("assistant", "needle there"), say("assistant", "none here")
    links = ((root, "a", None), (branch, "b", "a"), (main, "c", "a"))
    entries = tuple(entry.model_copy(update={"id": name, "parent": up}) for entry, name, up in links)
    session = Session(format="demo", entries=entries, leaf="c")
    (hit,) = find(session, "needle", at="b").hits
    assert (hit.ref, hit.row, hit.at, hit.turn) == ("b/0", 1, "b", 0)
    assert find(session, "needle").total == 0, "no moment of the main path has it"


@given(session=sessions(), data=st.data())
def test_every_hit_holds_the_words_and_every_block_with_them_is_a_hit(session: Session, data: Any) -> None:
    texts = [block.text for entry in session.entries for block in entry.blocks if block.text.strip()]
    text = data.draw(st.sampled_from(texts or ["word"]))
    start = data.draw(st.integers(0, max(0, len(text) - 1)))
    query = text[start : start + data.draw(st.integers(1, 6))]
    found = find(session, query, limit=10_000)
    needle = query.strip().casefold()
    path = [session.entries[i] for i in session.path]
    wanted = {
        f"{entry.id}/{number}"
        for entry in path
        if entry.kind not in ("micro", "note")
        for number, block in enumerate(entry.blocks)
        if needle and (needle in block.text.casefold() or query.strip() in (entry.id, f"{entry.id}/{number}"))
    }
    assert {hit.ref for hit in found.hits} == wanted
    assert found.total == len(found.hits)
    for hit in found.hits:
        assert all(part for part in marked(hit))
        entry = session[hit.ref.rpartition("/")[0]]
        if hit.row >= 0:
            live = session.live
            assert session.entries[live.entries[live.position[hit.row]]].id == entry.id
