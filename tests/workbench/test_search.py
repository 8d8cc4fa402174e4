"""Words are found wherever they stand on the main path, in any case, and said to stand where they do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.workbench.payloads.search import SearchReply, find_text
from tests.strategies import sessions

SAY = ("user", "assistant")


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
    call = ToolCall(id="t1", name="Read", input={"file_path": "src/Lighthouse.py"})
    answer = ToolOutput(call_id="t1", parts=(Text(text="class Lighthouse: ..."),))
    summary = say("user", "a lighthouse was read", kind="compaction", boundary=Boundary())
    return talk(
        say("user", "open the LIGHTHOUSE"),
        Entry(id="", role="assistant", blocks=(call,)),
        Entry(id="", role="tool", blocks=(answer,)),
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


def test_the_moment_of_a_hit_holds_its_block(compacted: Session) -> None:
    for hit in find(compacted, "lighthouse").hits:
        entry, _, block = hit.ref.rpartition("/")
        live = compacted.at(hit.at).live
        assert compacted.index[entry] in live.entries, hit
        assert int(block) == 0


def test_inputs_of_tools_are_searched_as_json_and_labels_name_the_call(compacted: Session) -> None:
    [hit] = find(compacted, '"file_path":"src/lighthouse.py"').hits
    assert (hit.label, hit.turn) == ("Read(src/Lighthouse.py)", 0)
    assert marked(hit) == ['"file_path":"src/Lighthouse.py"']
    output = next(hit for hit in find(compacted, "class ").hits if hit.ref == "e2/0")
    assert output.label == "Read(src/Lighthouse.py)", "an output is named by its call"


@pytest.mark.parametrize(
    ("text", "query", "spans"),
    [
        ("die Straße, die STRASSE", "strasse", ["Straße", "STRASSE"]),
        ("a ﬁle and a file", "file", ["ﬁle", "file"]),
        ("🦊🦊 fuchs 🦊", "fuchs", ["fuchs"]),
        ("🦊🦊 fuchs 🦊", "🦊", ["🦊", "🦊", "🦊"]),
        ("İstanbul istanbul", "stanbul", ["stanbul", "stanbul"]),
        ("Ärger und ÄRGER", "ärger", ["Ärger", "ÄRGER"]),
        ("日本語の説明", "語の", ["語の"]),
        ("x.*y and x.*Y", "X.*Y", ["x.*y", "x.*Y"]),
    ],
)
def test_spans_mark_the_words_as_they_stand_in_any_script(text: str, query: str, spans: list[str]) -> None:
    [hit] = find(talk(say("user", text)), query).hits
    assert marked(hit) == spans


def test_a_letter_that_folds_to_two_is_shown_once_and_marked_once() -> None:
    (hit,) = find(talk(say("user", "Straße")), "s").hits
    assert hit.preview == "Straße" and marked(hit) == ["S", "ß"]
    (hit,) = find(talk(say("user", "sßs!")), "ss").hits
    assert hit.preview == "sßs!" and "".join(marked(hit)) == "sßs"


def test_a_moment_on_another_branch_is_searched_too() -> None:
    root, branch, main = say("user", "go"), say("assistant", "needle there"), say("assistant", "none here")
    links = ((root, "a", None), (branch, "b", "a"), (main, "c", "a"))
    entries = tuple(entry.model_copy(update={"id": name, "parent": up}) for entry, name, up in links)
    session = Session(format="demo", entries=entries, leaf="c")
    (hit,) = find(session, "needle", at="b").hits
    assert (hit.ref, hit.row, hit.at, hit.turn) == ("b/0", 1, "b", 0)
    assert find(session, "needle").total == 0, "no moment of the main path has it"


def test_a_preview_is_one_safe_line_around_the_first_match() -> None:
    text = "far\n" * 500 + "here \x1b[31m\u202e is the NEEDLE\n\n\tand a needle " + "on\n" * 500
    [hit] = find(talk(say("user", text)), "needle").hits
    assert marked(hit) == ["NEEDLE", "needle"]
    assert "\n" not in hit.preview and "\x1b" not in hit.preview and "\u202e" not in hit.preview
    assert hit.preview.startswith("…") and hit.preview.endswith("…")
    assert len(hit.preview) < 300


def test_the_name_of_a_block_or_an_entry_finds_it_first(compacted: Session) -> None:
    assert find(compacted, "e2/0").hits[0].ref == "e2/0"
    named = find(compacted, "e3")
    assert [hit.ref for hit in named.hits] == ["e3/0"]
    assert (named.hits[0].preview, named.hits[0].spans) == ("done", [])


@pytest.mark.parametrize("query", ["", "   ", "nowhere at all"])
def test_nothing_is_found_for_nothing(compacted: Session, query: str) -> None:
    assert find(compacted, query) == SearchReply(query, [], 0)


def test_no_more_hits_than_asked_for_but_all_are_counted(compacted: Session) -> None:
    found = find(compacted, "e", limit=2)
    assert (len(found.hits), found.total) == (2, 7)


def test_sidechains_are_not_on_the_main_path() -> None:
    main = talk(say("user", "ask"), say("assistant", "needle"))
    side = Entry(id="s0", role="user", blocks=(Text(text="needle"),), sidechain="a")
    session = main.model_copy(update={"entries": (*main.entries, side)})
    assert [hit.ref for hit in find(session, "needle").hits] == ["e1/0"]


@settings(max_examples=60, deadline=None)
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
