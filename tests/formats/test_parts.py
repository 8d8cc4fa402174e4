"""Files with several sessions: listed, one of them named, and never unpacked beyond the limits."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import random
import tarfile
import zipfile
from pathlib import Path

import pytest

from inspector import open_session, open_sessions, read_session
from inspector.cli import main
from inspector.errors import EditError, ReadError, SeveralSessions
from inspector.files import FollowedFile
from tests.shared import SHARED, needs_shared


def row(said: str) -> bytes:
    message = {"role": "user", "content": said}
    return json.dumps({"type": "user", "uuid": said, "parentUuid": None, "message": message}).encode() + b"\n"


FILES = {"one/a.jsonl": row("ebb"), "notes.txt": b"nothing", "b.jsonl": row("flood") + row("slack")}


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("one")
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(files: dict[str, bytes], mode: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
        link = tarfile.TarInfo("link.jsonl")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("both.zip", zipped(FILES), "a zip archive"),
        ("both.tar", tarred(FILES), "a tar archive"),
        ("both.tar.gz", tarred(FILES, "w:gz"), "a tar archive"),
    ],
)
def test_an_archive_of_several_is_listed_and_one_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, kind: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    found = open_sessions(path)
    assert [one.name for one in found] == ["one/a.jsonl", "b.jsonl"]
    assert {one.format for one in found} == {"claude-code"}
    assert [one.size for one in found] == [len(FILES["one/a.jsonl"]), len(FILES["b.jsonl"])]
    assert [one.name for one in found.others] == ["notes.txt"]
    assert found[1].open().records == found["b.jsonl"].open().records == 2
    assert open_session(path, part="one/a.jsonl").entries[0].text == "ebb"
    with pytest.raises(SeveralSessions) as caught:
        open_session(path)
    assert str(caught.value) == (
        f"{path} is {kind} of 2 sessions: 'one/a.jsonl', 'b.jsonl' — name one by part=, "
        "or list them with open_sessions"
    )
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(SeveralSessions):
        FollowedFile(path)
    with pytest.raises(EditError, match=r"there are 'one/a\.jsonl', 'b\.jsonl'"):
        open_session(path, part="c.jsonl")
    assert read_session(content, part="one/a.jsonl") == open_session(path, part="one/a.jsonl")
    with pytest.raises(SeveralSessions, match=f"data is {kind} of 2 sessions"):
        read_session(content)
    assert main(["show", str(path), "--part", "b.jsonl"]) == 0
    assert "Session(claude-code, 2 records" in capsys.readouterr().out
    assert main(["show", str(path)]) == 1
    assert list(tmp_path.iterdir()) == [path], "nothing is unpacked to the disk"


def test_what_becomes_far_larger_than_it_is_packed_is_no_session_and_takes_no_other_with_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "bomb.zip"
    path.write_bytes(zipped({"bomb.jsonl": bytes(40 << 20), "a.jsonl": row("ebb")}))
    found = open_sessions(path)
    assert [one.name for one in found] == ["a.jsonl"]
    assert "larger than 200 times its size" in found.others[0].problem


def test_a_gzip_file_of_many_members_costs_no_more_than_its_bytes(tmp_path: Path) -> None:
    """Empty members of 20 bytes, as in a log that something flushes all the time: 50,000 of them.

    A copy of the mebibyte that follows each member would be 50 GB for this file of 1 MB.
    """
    path = tmp_path / "members.jsonl.gz"
    first, last = row("ebb"), row("flood")
    path.write_bytes(gzip.compress(first) + gzip.compress(b"") * 50_000 + gzip.compress(last))
    assert open_session(path) == read_session(first + last)
    # Members larger than the pieces in which they are unpacked, and one that is cut short.
    many = b"".join(row(f"said {number} {random.Random(number).random()}") for number in range(20_000))
    path.write_bytes(gzip.compress(first) + gzip.compress(many) + gzip.compress(last))
    assert len(open_session(path).entries) == 20_002
    path.write_bytes(gzip.compress(first) + gzip.compress(last)[:-9])
    assert open_session(path) == read_session(first + last)


def test_an_archive_of_too_many_files_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(10_001):
            archive.writestr(str(number), b"")
    path.write_bytes(out.getvalue())
    for open_it in (open_session, open_sessions):
        with pytest.raises(ReadError, match="more than 10,000 files"):
            open_it(path)
    path.write_bytes(tarred({str(number): b"" for number in range(10_001)}))
    with pytest.raises(ReadError, match="more than 10,000 files"):
        open_sessions(path)


def test_an_archive_in_an_archive_and_a_broken_one_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"in.zip": zipped(FILES), "a.jsonl": row("ebb"), "../../b.jsonl": row("flood")}))
    found = open_sessions(path)
    assert [one.name for one in found] == ["a.jsonl", "../../b.jsonl"]
    assert "it is a zip archive" in found.others[0].problem
    whole = zipped(FILES)
    for end in range(0, len(whole), 37):
        path.write_bytes(whole[:end])
        with pytest.raises(ReadError):
            open_sessions(path)


def test_the_samples_of_a_log_are_its_sessions(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("header.json", json.dumps({"version": 2, "eval": {"task": "tides"}}))
        for number in (1, 2):
            said = [{"role": "user", "content": f"count to {number}"}]
            sample = {"id": number, "epoch": 1, "messages": said, "events": []}
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
    path.write_bytes(out.getvalue())
    found = open_sessions(path)
    assert [one.name for one in found] == ["1_epoch_1.json", "2_epoch_1.json"]
    assert [one.open().entries[0].text for one in found] == ["count to 1", "count to 2"]
    assert open_session(path).entries[0].text == "count to 1", "the first, and a warning tells of the other"
    assert open_session(path, part="2_epoch_1.json").entries[0].text == "count to 2"


@needs_shared
def test_the_first_sample_of_a_real_log_is_the_session_that_opens_without_a_name() -> None:
    path = next((SHARED / "sessions").rglob("log_formats.eval"))
    found = open_sessions(path)
    assert found[0].open().entries == open_session(path).entries
    assert len({one.open().id for one in found}) == len(found)
