"""A written file has the permissions of its source, and a killed writer leaves no temporary file."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from inspector import (
    compact,
    count_tokens,
    export_html,
    make_plan,
    open_session,
    open_sessions,
    read_session,
    reopen_session,
    save_compaction,
    save_plan,
    save_session,
    scan,
)
from inspector.cli import main
from inspector.corpus import save_scan
from inspector.demo import read_demo
from inspector.files import FollowedFile, save_beside, save_export, write_beside
from inspector.formats.whole_file import remove_stale, write_whole
from inspector.planning.plan import Plan
from inspector.session.session import Session
from inspector.summaries.store import undo_compaction
from tests.work import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")


@pytest.fixture(autouse=True)
def usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def make_source(folder: Path, permissions: int) -> Path:
    source = folder / "s.jsonl"
    source.write_bytes(read_demo())
    source.chmod(permissions)
    return source


def plan_of(session: Session) -> Plan:
    return make_plan(session, count_tokens(session, "chars4_utf16"), "flue", {"cut": "end"})


def write_scan(source: Path, out: Path) -> None:
    scan(source, "flue", into=out / "rows.jsonl", workers=0)


WRITERS: dict[str, Callable[[Path, Path], object]] = {
    "save_session": lambda source, out: save_session(open_session(source), out / "s.session.json"),
    "save_session, earlier": lambda source, out: save_session(
        open_session(source).at(open_session(source).entries[9].id), out / "s.session.json"
    ),
    "save_session, followed": lambda source, out: save_session(FollowedFile(source).session, out / "s.json"),
    "save_export": lambda source, out: save_export(open_session(source), out / "r.jsonl", "codex"),
    "convert": lambda source, out: main(["convert", str(source), "codex", str(out / "r.jsonl")]),
    "reopen": lambda source, out: reopen_session(source, to=out / "again.jsonl"),
    "page": lambda source, out: export_html(source, out / "page.html", policies=["flue"]),
    "save_plan": lambda source, out: save_plan(plan_of(open_session(source)), out / "s.plan.json"),
    "save_compaction": lambda source, out: save_compaction(
        compact(open_session(source), "flue"), out / "store"
    ),
    "undo": lambda source, out: (
        save_compaction(compact(open_session(source), "flue"), out / "store"),
        undo_compaction(out / "store"),
    ),
    "scan": write_scan,
    "save_scan": lambda source, out: save_scan(scan(source, "flue", workers=0), out / "rows.jsonl"),
}


@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o644])
@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_has_the_permissions_of_its_source(tmp_path: Path, writer: str, permissions: int) -> None:
    out = tmp_path / "out"
    out.mkdir()
    WRITERS[writer](make_source(tmp_path, permissions), out)
    written = [path for path in out.rglob("*") if path.is_file() and path.name != ".lock"]
    assert written
    assert {path.name: oct(mode(path)) for path in written} == {
        path.name: oct(permissions) for path in written
    }


def test_what_is_written_beside_a_session_has_its_permissions(tmp_path: Path) -> None:
    source = make_source(tmp_path, 0o600)
    assert mode(save_beside(plan_of(open_session(source)), str(source))) == 0o600
    assert mode(write_beside("new.jsonl", b"{}", str(source))) == 0o600


def test_of_several_sources_the_strictest_counts(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_bytes(read_demo())
    second.write_text(json.dumps([{"role": "user", "content": "Ship it."}]))
    first.chmod(0o640)
    second.chmod(0o604)
    scan([first, second], "flue", into=tmp_path / "rows.jsonl", workers=0)
    assert mode(tmp_path / "rows.jsonl") == 0o600


def test_a_file_that_is_replaced_grants_no_more_than_before_or_than_its_source(tmp_path: Path) -> None:
    session, target = open_session(make_source(tmp_path, 0o600)), tmp_path / "s.json"
    target.write_bytes(b"")
    save_session(session, target)
    assert mode(target) == 0o600


def test_a_session_of_an_archive_has_the_permissions_of_the_archive(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "both.zip", "w") as archive:
        archive.writestr("a.jsonl", read_demo())
        archive.writestr("b.jsonl", read_demo())
    (tmp_path / "both.zip").chmod(0o600)
    save_session(open_sessions(tmp_path / "both.zip")[0].open(), tmp_path / "a.json")
    save_session(open_session(tmp_path / "both.zip", part="b.jsonl"), tmp_path / "b.json")
    assert [mode(tmp_path / name) for name in ("a.json", "b.json")] == [0o600, 0o600]


def test_a_session_of_no_file_is_written_as_the_system_has_it(tmp_path: Path) -> None:
    save_session(read_session([{"role": "user", "content": "Hi"}]), tmp_path / "s.json")
    (tmp_path / "usual").write_bytes(b"")
    assert mode(tmp_path / "s.json") == mode(tmp_path / "usual") == 0o644


WRITING = """
import sys
from pathlib import Path
from inspector.files import write_whole
print("ready", flush=True)
while True:
    write_whole(Path(sys.argv[1]), b"x" * 30_000_000, 0o600)
"""


def test_a_killed_writer_leaves_no_litter_after_the_next_write(tmp_path: Path) -> None:
    """Until the next write, its temporary file is as private as the file it was to become."""
    # A kill between two writes leaves nothing, so several writers are killed.
    count = 0
    for _ in range(20):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITING, str(tmp_path / "big")], stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        with writer.stdout:
            writer.stdout.readline()
            end = time.monotonic() + PATIENCE
            while not (files := list(tmp_path.glob(".*.tmp"))):
                assert time.monotonic() < end, "the writer writes nothing"
            writer.send_signal(signal.SIGKILL)
            writer.wait()
        remaining = [path for path in files if path.exists()]
        count += len(remaining)
        assert all(mode(path) == 0o600 for path in remaining)
        if count >= 2:
            break
    assert count
    session = open_session(make_source(tmp_path, 0o600))
    save_session(session, tmp_path / "other.json")
    assert not list(tmp_path.glob(".*.tmp"))


def test_a_writer_that_lives_keeps_its_temporary_file(tmp_path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITING, str(tmp_path / "big")], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    try:
        writer.stdout.readline()
        for _ in range(30):
            write_whole(tmp_path / "small", b"x")
            remove_stale(tmp_path)
            assert writer.poll() is None, "the other writer lost its file"
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()
