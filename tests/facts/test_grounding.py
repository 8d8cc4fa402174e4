"""What a summary may name though no message says it word for word, and what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.facts.grounding import Sources, check_grounding, ground_recorded
from inspector.facts.mentions import SearchText, find_folders
from inspector.formats.manifest import dump_manifest
from inspector.formats.readers import read_session
from inspector.redaction.clean import clean_session, look_through
from inspector.redaction.redact import Redactor
from inspector.session.blocks import Text, ToolOutput
from inspector.session.entries import Boundary, Entry, Note, Source, Usage
from inspector.session.session import Session
from tests.shared import SHARED, needs_shared, open_shared
from tests.test_cuts import build, say, user
from tests.work import limit_work


def summarised(text: str, *after: Entry, said: str = "go") -> Session:
    """Something said, then a recorded compaction whose summary is this text."""
    entry = Entry(id="", kind="compaction", blocks=(Text(text=text),), boundary=Boundary(summary=text))
    return build(user(said), say("done"), entry, *after)


def marks(session: Session) -> list[str]:
    (found,) = ground_recorded(session)
    return [mark.words for mark in found.unfounded]


def test_the_file_of_the_session_itself_is_no_invention() -> None:
    """A harness ends the summary with where its transcript stands."""
    name = "1284c080-f9cd-45f8-9942-ff58f5c517e5"
    text = f"Read the full transcript at: /home/ann/.app/{name}.jsonl or /home/ann/.app/{name}-b.jsonl"
    session = summarised(text)
    assert len(marks(session)) == 2
    assert marks(session.model_copy(update={"id": name})) == [f"/home/ann/.app/{name}-b.jsonl"]


@pytest.mark.parametrize(
    "said",
    [
        "see https://example.org/app/pull/136 please",
        "https://example.org/app/-/merge_requests/136",
        "gh pr view 136 --json title",
        'it said {"number": 136, "title": "x"}',
        "merge PR 136 now",
        "it is #136",
    ],
)
def test_the_number_of_an_issue_counts_however_it_was_written(said: str) -> None:
    assert marks(summarised("Created PR #136.", said=said)) == []
    assert marks(summarised("Created PR #137.", said=said)) == ["#137"]


def test_any_other_number_is_no_issue() -> None:
    assert marks(summarised("Created PR #136.", said="136 passed, /pull/1365, id=136")) == ["#136"]


COMMAND = (
    "<command-name>/compact</command-name>\n<command-message>compact</command-message>\n"
    "<command-args>mind the staging bucket above all</command-args>"
)


def test_what_the_compaction_was_asked_for_with_is_a_source() -> None:
    """Claude Code writes the command down behind the compaction that it made."""
    text = 'The user said "mind the staging bucket above all".'
    assert marks(summarised(text, user("go on"), say())) == ["mind the staging bucket above all"]
    assert marks(summarised(text, user(COMMAND), say())) == []
    # What is said from the next reply on was not known when the summary was written.
    assert marks(summarised(text, user("go on"), say(), user(COMMAND), say())) != []


def test_a_command_behind_one_compaction_is_no_source_of_an_earlier_one() -> None:
    text = 'The user said "mind the staging bucket above all".'
    first, second = (
        Entry(id="", kind="compaction", blocks=(Text(text=words),), boundary=Boundary(summary=words))
        for words in (text, "All is well.")
    )
    session = build(user("go"), say("done"), first, second, user(COMMAND), say())
    assert [len(found.unfounded) for found in ground_recorded(session)] == [1, 0]


def queue(line: int, kind: str = "queue-operation") -> Note:
    return Note(type=kind, known=True, source=Source(line, 0, 1))


@pytest.mark.parametrize(
    ("note", "unread"), [(queue(2), True), (queue(9), False), (queue(2, "progress"), False)]
)
def test_a_quote_is_named_with_care_where_messages_were_queued_that_nobody_reads(
    note: Note, unread: bool
) -> None:
    session = summarised('The user said "are there any tests yet". 4,711 of them.')
    entries = tuple(
        entry.model_copy(update={"sources": (Source(line, 0, 1),)})
        for line, entry in zip((1, 3, 5), session.entries, strict=True)
    )
    session = session.model_copy(update={"entries": entries, "notes": (note,)})
    session = Session.model_construct(**{name: getattr(session, name) for name in Session.model_fields})
    (found,) = ground_recorded(session)
    quote, number = found.unfounded
    assert (quote.what, quote.unread) == ("quote", unread)
    assert ("Messages queued there are not read." in quote.sentence) is unread
    assert not number.unread


QUEUED = (Path(__file__).parents[1] / "cases" / "facts" / "queued.jsonl").read_bytes()


def test_what_a_user_queued_before_the_compaction_is_a_source_and_what_came_later_is_none() -> None:
    """The summary quotes two queued messages; the second was queued when it had been written."""
    session = read_session(QUEUED, "queued.jsonl")
    assert [item["line"] for item in session.extra["queued"]] == [2, 7]
    assert session.extra["queued"][0]["text"] == "are there any tests for it yet, by the way?"
    (found,) = ground_recorded(session)
    assert [(mark.words, mark.unread) for mark in found.unfounded] == [
        ("ship it today without any of them", False)
    ]


def test_queued_words_are_an_entry_where_they_were_delivered_and_no_record_more() -> None:
    """Eight lines: four entries of a line, one compaction of two, and the two lines of what was queued."""
    session = read_session(QUEUED, "queued.jsonl")
    assert session.records == len(QUEUED.splitlines()) == 8
    assert [note.type for note in session.notes] == ["queue-operation"] * 2
    assert (session.unknown, session.corrupt) == (0, ())
    delivered = [entry for entry in session.entries if "tests for it" in entry.text]
    assert [(entry.kind, entry.parent, entry.sources[0].line) for entry in delivered] == [
        ("message", "u1", 3),
        ("compaction", "a1", 5),
    ]
    assert all("ship it today" not in entry.text for entry in session.entries if entry.kind == "message")


def test_queued_words_outlast_a_saved_manifest() -> None:
    session = read_session(QUEUED, "queued.jsonl")
    again = read_session(dump_manifest(session).encode(), "queued.json")
    assert again == session
    assert ground_recorded(again) == ground_recorded(session)


def test_queued_words_are_redacted_and_leave_with_the_entries_that_are_not_shown() -> None:
    session = read_session(QUEUED, "queued.jsonl")
    every = range(len(session.entries))
    redactor = Redactor()
    look_through(session, every, redactor)
    assert [(found.kind, found.where) for found in redactor.findings if found.grade == "secret"] == [
        ("github-token", ("extra",))
    ]
    assert "ghp_" not in dump_manifest(clean_session(session, every, redactor))
    assert "ship it today" in dump_manifest(clean_session(session, every, redactor))
    part = clean_session(session, every[-1:], redactor)
    assert "queued" not in part.extra
    assert "ship it today" not in dump_manifest(part)


def test_a_path_named_like_a_session_needs_its_id() -> None:
    assert check_grounding("at /tmp/x.jsonl", Sources(["go"], own="")) != ()
    assert check_grounding("at /tmp/x.jsonl", Sources(["go"], own="x")) == ()


def test_a_text_that_is_one_run_of_slashes_names_few_folders() -> None:
    run = "a/" * 200_000
    assert len(SearchText(run).folders) == 64
    assert list(find_folders("/usr/lib/x.py")) == ["/usr", "/usr/lib"]


def test_what_a_summary_repeats_is_searched_once() -> None:
    """100,000 times over 2 MB would be five minutes."""
    sources = Sources(["nothing of it " * 150_000])
    with limit_work():
        grounding = check_grounding("abcdef1 and src/b.py, " * 100_000, sources)
    assert [mark.words for mark in grounding] == ["src/b.py", "abcdef1"]


@pytest.mark.parametrize(
    "name", ["fmt.Printf", "m.includes", "assert.True", "Node.js", "transport/client.Fetch"]
)
def test_an_expression_with_a_dot_is_no_path(name: str) -> None:
    """A name with a dot is a path with a suffix that files have, or in a folder."""
    assert marks(summarised(f"It calls {name} twice.")) == []


@pytest.mark.parametrize("name", ["ghost.py", "src/ghost.py", "docs/ghost.weird", "/etc/ghost/x.conf"])
def test_a_path_that_nothing_names_is_one(name: str) -> None:
    assert marks(summarised(f"It changed {name} twice.")) == [name]


def test_what_was_said_before_the_file_begins_makes_nothing_without_ground() -> None:
    """The first reply answers 137,000 tokens of which a line is in the file."""
    late = Entry(id="", role="assistant", blocks=(Text(text="done"),), usage=Usage(input=137_000, output=9))
    summary = Entry(id="", kind="compaction", blocks=(Text(text="Fixed src/ghost.py."),), boundary=Boundary())
    (found,) = ground_recorded(build(user("go on"), late, summary))
    assert (found.unfounded, found.whole, found.read) == ((), False, True)
    early = late.model_copy(update={"usage": Usage(input=17_000, output=9)})
    (found,) = ground_recorded(build(user("go on"), early, summary))
    assert ([line.words for line in found.unfounded], found.whole) == (["src/ghost.py"], True)


def test_a_small_request_whose_beginning_is_missing_makes_nothing_without_ground() -> None:
    """What no large request gives away, an entry does: it follows one, or answers one, that is not there."""
    late = Entry(id="b", parent="a", role="assistant", blocks=(Text(text="done"),), usage=Usage(input=9_000))
    told = (Text(text="Fixed src/ghost.py."),)
    summary = Entry(id="c", parent="b", kind="compaction", blocks=told, boundary=Boundary())
    answer = ToolOutput(call_id="c0", parts=(Text(text="ok"),))
    for first, whole in (
        (Entry(id="a", blocks=(Text(text="go on"),)), True),
        (Entry(id="a", parent="gone", blocks=(Text(text="go on"),)), False),
        (Entry(id="a", role="tool", blocks=(answer,)), False),
    ):
        (found,) = ground_recorded(Session(format="demo", entries=(first, late, summary), leaf="c"))
        assert ([line.words for line in found.unfounded], found.whole) == (["src/ghost.py"] * whole, whole)


@needs_shared
@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
def test_a_session_whose_first_lines_are_cut_off_has_no_line_without_ground(
    tmp_path: Path, share: float
) -> None:
    file = SHARED / "sessions" / "claude-code--entireio-cli" / "cc-2auto-1519l.jsonl"
    lines = file.read_text("utf-8").splitlines(keepends=True)
    rest = tmp_path / "rest.jsonl"
    first = next(n for n, line in enumerate(lines) if '"compact_boundary"' in line)
    rest.write_text("".join(lines[int(first * share) :]), "utf-8")
    groundings = ground_recorded(open_shared(rest))
    assert [(found.whole, found.unfounded == ()) for found in groundings][:1] == [(False, True)]
    assert all(found.whole for found in groundings[1:])
