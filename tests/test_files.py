"""The door to files: what is opened stays as it was, what is saved is whole or not there."""

from __future__ import annotations

import json
import os
import stat
import tracemalloc
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from inspector import files
from inspector.files import FollowedFile, open_session, save_session, session_schema
from inspector.formats import incremental
from inspector.formats.exports.writers import ALL_FORMATS, Format, export_session
from inspector.formats.incremental import LARGE
from inspector.formats.json_document import HEAD
from inspector.formats.readers import read_session
from inspector.session.blocks import Text
from inspector.session.entries import Entry
from inspector.session.session import Session
from tests.strategies import sessions

ROWS = (
    b'{"type": "user", "uuid": "u1", "parentUuid": null, "message": {"content": "half \\ud83d a pair"}}\n'
    b'{"type": "assistant", "uuid": "a1", "parentUuid": "u1", "message": {"id": "m", "content": []}}\n'
)


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(ROWS)
    return path


def test_a_file_is_opened_by_its_content_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "notes.png"
    path.write_bytes(ROWS)
    assert open_session(path).format == "claude-code"
    assert open_session(str(path), format="claude-code").records == 2


def test_a_file_that_is_not_there_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_session(tmp_path / "nowhere.jsonl")


def test_a_file_cut_short_while_it_is_written_opens_but_for_its_last_line(transcript: Path) -> None:
    transcript.write_bytes(ROWS[:-9])
    session = open_session(transcript)
    assert [entry.id for entry in session.entries] == ["u1"]
    assert session.corrupt[0].offset == ROWS.index(b"\n") + 1
    transcript.write_bytes(ROWS)
    assert not open_session(transcript).corrupt


def test_corrupt_lines_are_found_at_their_offsets(transcript: Path) -> None:
    content = b"{broken\n" + ROWS + b"\xff\xff\n\n[1\n"
    transcript.write_bytes(content)
    session = open_session(transcript)
    assert [content[bad.offset :].splitlines()[0] for bad in session.corrupt] == [
        b"{broken",
        b"\xff\xff",
        b"[1",
    ]
    assert [bad.line for bad in session.corrupt] == [1, 4, 6]
    assert session.records == 5


# Saving

VALIDATOR = jsonschema.Draft202012Validator(session_schema())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(session=sessions())
def test_any_session_is_the_same_after_it_was_saved_and_opened(tmp_path: Path, session: Session) -> None:
    path = tmp_path / "any.session.json"
    save_session(session, path)
    assert open_session(path) == session
    VALIDATOR.validate(json.loads(path.read_text("ascii")))


def demo(words: str = "hi") -> Session:
    return Session(format="demo", entries=(Entry(id="1", blocks=(Text(text=words),)),), leaf="1")


def test_saving_replaces_a_manifest_and_keeps_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    save_session(demo(), path)
    path.chmod(0o640)
    save_session(demo("again"), path)
    assert open_session(path) == demo("again")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_saving_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    save_session(demo(), tmp_path / "s.json")
    (tmp_path / "link").symlink_to("s.json")
    save_session(demo("again"), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert open_session(tmp_path / "s.json") == demo("again")


def test_a_transcript_is_never_written_over(transcript: Path) -> None:
    with pytest.raises(FileExistsError, match="not a session manifest"):
        save_session(demo(), transcript)
    assert transcript.read_bytes() == ROWS


def test_a_failed_save_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.json"
    save_session(demo(), path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_session(demo("x" * 10_000), path)
    assert open_session(path) == demo()
    assert list(tmp_path.iterdir()) == [path]


def test_a_reader_never_sees_half_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.json"
    save_session(demo(), path)
    seen: list[Session] = []
    sync = os.fsync

    def look(handle: int) -> None:
        seen.append(open_session(path))
        sync(handle)

    monkeypatch.setattr(os, "fsync", look)
    save_session(demo("new"), path)
    assert seen == [demo(), demo("new")]


def write_large(path: Path) -> bytes:
    """A file of more than `LARGE` bytes whose session is small: results of tools are told a second time."""
    told = "word " * 8_000
    rows = [
        {"type": "user", "uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None, "sessionId": "s"}
        | {"message": {"role": "user", "content": f"Prompt {n}"}, "toolUseResult": told}
        for n in range(900)
    ]
    content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    assert len(content) > LARGE
    path.write_bytes(content)
    return content


def test_a_large_file_of_lines_is_never_whole_in_memory(tmp_path: Path) -> None:
    content = write_large(path := tmp_path / "large.jsonl")
    tracemalloc.start()
    try:
        session = open_session(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert session == read_session(content)
    assert peak < len(content) / 2


def test_a_large_file_of_lines_is_read_on_from_where_it_stood(tmp_path: Path) -> None:
    content = write_large(path := tmp_path / "large.jsonl")
    tail = FollowedFile(path)
    assert tail.poll() is None
    last = b'{"type": "user", "uuid": "v", "parentUuid": "u899", "message": {"content": "And one'
    with path.open("ab") as file:
        file.write(last)
    grown = tail.poll()
    assert grown is not None and grown == read_session(content + last)
    with path.open("ab") as file:
        file.write(b' more"}}\n')
    grown = tail.poll()
    assert grown is not None and len(grown.entries) == 901
    assert grown == open_session(path)


def small_pieces(monkeypatch: pytest.MonkeyPatch, large: int = HEAD) -> None:
    """What is large, and a piece of it, as small as can be."""
    monkeypatch.setattr(files, "LARGE", large)
    monkeypatch.setattr(files, "FIRST", HEAD + 50_000)
    monkeypatch.setattr(incremental, "PIECE", 1000)


@pytest.mark.parametrize(
    "end",
    [
        b"",
        b"\n",
        b"\n" * 5,
        ROWS[:20],
        ROWS.rstrip(b"\n"),
        ROWS.replace(b"\n", b"\r\n"),
        b'{"type": "user", "uuid": "w", "parentUuid": null, "message": {"content": "%s"}}\n' % (b"w " * 9000),
        b"no JSON\n" + ROWS,
    ],
    ids=["nothing", "a-line-end", "blanks", "unfinished", "no-line-end", "crlf", "many-pieces", "corrupt"],
)
def test_what_is_read_in_pieces_is_what_is_read_at_once(
    end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = b"word " * 400
    row = b'{"type": "user", "uuid": "u%d", "parentUuid": null, "message": {"content": "%d %s"}}\n'
    content = b"".join(row % (n, n, words) for n in range(600)) + end
    (path := tmp_path / "talk.jsonl").write_bytes(content)
    small_pieces(monkeypatch)
    assert open_session(path) == read_session(content)
    tail = FollowedFile(path)
    with path.open("ab") as file:
        file.write(b"\n" + ROWS.replace(b'1"', b'9"'))
    tail.poll()
    assert tail.session == read_session(path.read_bytes())


KEY = "sk-ant-api03-" + "Zk3vQ9" * 14 + "AA"
PASSWORD = "hunter2-Tr0ub4dor"


def secretive() -> Session:
    """A key in the user's words, in a call and in its output, and a password in a URL and in the prompt."""
    function = {"name": "bash", "arguments": json.dumps({"command": f"curl -H {KEY}"})}
    calls = [{"id": "c1", "type": "function", "function": function}]
    return read_session(
        [
            {"role": "system", "content": f"DATABASE_URL=postgres://app:{PASSWORD}@db.example/app"},
            {"role": "user", "content": f"My key is {KEY}, use it."},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c1", "content": f"token: {KEY}"},
            {"role": "assistant", "content": "Done."},
        ]
    )


@pytest.mark.parametrize("format", sorted(ALL_FORMATS))
def test_an_export_holds_no_secret_if_it_is_asked_to(format: Format) -> None:
    said, clean = (export_session(secretive(), format, redact=redact) for redact in (False, True))
    assert KEY.encode() in said
    assert KEY.encode() not in clean
    assert PASSWORD.encode() not in clean
    assert b"Done." in clean


def test_a_manifest_holds_no_secret_if_it_is_asked_to(tmp_path: Path) -> None:
    save_session(secretive(), tmp_path / "said.json")
    assert KEY in (tmp_path / "said.json").read_text("utf-8")
    save_session(secretive(), tmp_path / "clean.json", redact=True)
    text = (tmp_path / "clean.json").read_text("utf-8")
    assert KEY not in text and PASSWORD not in text
    again = open_session(tmp_path / "clean.json")
    assert [entry.role for entry in again.entries] == [entry.role for entry in secretive().entries]
