"""The door to files: what is opened stays as it was, what is saved is whole or not there."""

from __future__ import annotations

import gc
import json
import os
import stat
import tracemalloc
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from inspector import files
from inspector.errors import EmptySession, ReadError
from inspector.files import FollowedFile, open_session, save_session, session_schema
from inspector.formats import incremental
from inspector.formats.exports.writers import ALL_FORMATS, Format, export_session
from inspector.formats.incremental import LARGE
from inspector.formats.json_document import HEAD
from inspector.formats.readers import read_session
from inspector.paths import open_regular
from inspector.session.blocks import Text, ToolCall
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


def test_opening_changes_nothing(transcript: Path) -> None:
    transcript.chmod(0o444)
    before = transcript.stat()
    open_session(transcript)
    after = transcript.stat()
    assert transcript.read_bytes() == ROWS
    assert (after.st_mtime_ns, after.st_mode, after.st_ino) == (
        before.st_mtime_ns,
        before.st_mode,
        before.st_ino,
    )
    assert list(transcript.parent.iterdir()) == [transcript]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"words", "it is plain text"),
        (b"\xff\xd8\xff\xe0", "it is a JPEG picture"),
        (b"null", "it is one JSON value"),
    ],
)
def test_what_is_no_session_is_an_error_that_names_the_file_and_says_what_it_is(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "some.txt"
    path.write_bytes(content)
    with pytest.raises(ReadError) as caught:
        open_session(path)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).endswith(message)
    # Why each reader refused it is there for who asks, and is no part of the sentence.
    assert not any(name in str(caught.value).removeprefix(str(path)) for name, _ in caught.value.tried)


def test_a_session_without_a_word_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b'{"type": "summary", "summary": "A title", "leafUuid": "x"}\n')
    with pytest.raises(EmptySession, match=r"empty\.jsonl was recognised as claude-code"):
        open_session(path)


def test_a_folder_is_no_session(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="it is a folder"):
        open_session(tmp_path)


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


def test_sources_point_at_the_bytes_of_the_record(transcript: Path) -> None:
    for entry in open_session(transcript).entries:
        [source] = entry.sources
        assert json.loads(ROWS[source.offset :][: source.size])["uuid"] == entry.id


# Saving

VALIDATOR = jsonschema.Draft202012Validator(session_schema())


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(session=sessions())
def test_any_session_is_the_same_after_it_was_saved_and_opened(tmp_path: Path, session: Session) -> None:
    path = tmp_path / "any.session.json"
    save_session(session, path)
    assert open_session(path) == session
    VALIDATOR.validate(json.loads(path.read_text("ascii")))


def test_a_transcript_is_the_same_after_it_was_saved_and_opened(transcript: Path, tmp_path: Path) -> None:
    session = open_session(transcript)
    save_session(session, tmp_path / "saved.json")
    again = open_session(tmp_path / "saved.json")
    assert again == session
    assert again.entries[0].text == "half \ud83d a pair"
    assert [again.entries[i] for i in again.path] == [session.entries[i] for i in session.path]


def test_deep_input_is_saved(tmp_path: Path) -> None:
    value: object = 1
    for _ in range(400):
        value = [value]
    entry = Entry(id="e", role="assistant", blocks=(ToolCall(id="t", name="x", input=value),))
    session = Session(format="demo", entries=(entry,), leaf="e")
    save_session(session, tmp_path / "deep.json")
    assert open_session(tmp_path / "deep.json") == session


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


def test_a_new_file_has_the_usual_rights(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    save_session(demo(), tmp_path / "s.json")
    assert (tmp_path / "s.json").stat().st_mode == (tmp_path / "usual").stat().st_mode


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


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="this user may write anywhere")
def test_a_place_that_cannot_be_written_is_the_usual_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(PermissionError):
        save_session(demo(), tmp_path / "s.json")
    tmp_path.chmod(0o755)


def test_what_is_told_of_a_failed_save_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere" / "s.json", tmp_path / ("x" * 300)):
        with pytest.raises(OSError) as raised:
            save_session(demo(), path)
        assert raised.value.filename == str(path)


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


def test_the_schema_is_a_schema() -> None:
    schema = session_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["properties"]["manifest"]["const"] == "session-manifest/1"
    assert schema["description"] == "A transcript of any format, in one shape."
    assert ">>>" in (Session.__doc__ or "") and ">>>" not in json.dumps(schema)


def test_a_file_that_is_followed_is_read_without_garbage_collection(transcript: Path) -> None:
    begun: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            begun.append(info["generation"])

    before = gc.get_threshold()
    gc.callbacks.append(note)
    try:
        transcript.write_bytes(b"".join(ROWS.replace(b'1"', b'%d"' % n) for n in range(500)))
        gc.set_threshold(50, 1, 1)
        FollowedFile(transcript)
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(note)
    assert gc.isenabled()
    assert len(begun) < 20, "its rows alone would have begun some hundred"


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


def test_a_large_document_is_read_as_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [{"role": ("user", "assistant")[n % 2], "content": f"{n} " + "word " * 400} for n in range(800)]
    content = json.dumps({"model": "claude-opus-4-5", "messages": said}, indent=1).encode()
    (path := tmp_path / "request.json").write_bytes(content)
    small_pieces(monkeypatch)
    assert len(content) > HEAD + 50_000
    assert open_session(path) == read_session(content)


@pytest.mark.parametrize("large", [HEAD, 1 << 40], ids=["in-pieces", "at-once"])
def test_a_large_rollout_has_its_sub_agents(
    large: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where they are named is known once all of it was read."""
    small_pieces(monkeypatch, large)
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "word " * 500}]}
    said = [{"type": "response_item", "payload": message}] * 900
    own = [
        {"type": "session_meta", "payload": {"id": MAIN, "cwd": "/app"}},
        *said,
        {
            "type": "event_msg",
            "payload": {"type": "collab_agent_spawn_end", "new_thread_id": AGENT, "call_id": "c1"},
        },
    ]
    other = [{"type": "session_meta", "payload": {"id": AGENT, "cwd": "/app"}}, *said[:2]]
    for name, rows in ((MAIN, own), (AGENT, other)):
        lines = (json.dumps({"timestamp": "2026-11-26T10:00:00Z", **row}) + "\n" for row in rows)
        (tmp_path / f"rollout-2026-{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    session = open_session(tmp_path / f"rollout-2026-{MAIN}.jsonl")
    assert (len(session.entries), [side.id for side in session.subagents]) == (900, [AGENT])


MAIN, AGENT = "019a0000-0000-7000-8000-000000000001", "019a0000-0000-7000-8000-000000000002"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_that_takes_the_place_of_a_checked_file_is_refused_without_waiting(tmp_path: Path) -> None:
    """Nobody writes to the pipe: a plain open would wait for ever."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(ReadError, match="it is a named pipe"):
        open_regular(tmp_path / "pipe.jsonl")
    (tmp_path / "a.jsonl").write_bytes(b"{}")
    with open_regular(tmp_path / "a.jsonl") as file:
        assert file.read() == b"{}"


KEY = "sk-ant-api03-" + "Zk3vQ9" * 14 + "AA"
PASSWORD = "hunter2-Tr0ub4dor"


def secretive() -> Session:
    """A key in the user's words, in a call and in its output, and a password in a URL and in the prompt."""
    return read_session(
        [
            {"role": "system", "content": f"DATABASE_URL=postgres://app:{PASSWORD}@db.example/app"},
            {"role": "user", "content": f"My key is {KEY}, use it."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "bash", "arguments": json.dumps({"command": f"curl -H {KEY}"})},
                    }
                ],
            },
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
