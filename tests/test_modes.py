"""A written file has the permissions of its source, and a killed writer leaves no temporary file."""

from __future__ import annotations

import os
import stat
import sys
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
    reopen_session,
    save_compaction,
    save_plan,
    save_session,
    scan,
)
from inspector.cli import main
from inspector.files import FollowedFile, save_beside, save_export, write_beside
from inspector.planning.plan import Plan
from inspector.session.session import Session
from tests.claude_rows import Claude, dump

TALK = Claude()
for turn in range(8):
    TALK.say(f"Read src/part{turn}.py. " * 200).reply("It is read. " * 2_000, 2_000 * (turn + 1))
ROWS = dump(TALK.rows)

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
    source.write_bytes(ROWS)
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
    "page": lambda source, out: export_html(source, out / "page.html"),
    "save_plan": lambda source, out: save_plan(plan_of(open_session(source)), out / "s.plan.json"),
    "save_compaction": lambda source, out: save_compaction(
        compact(open_session(source), "flue"), out / "store"
    ),
    "scan": write_scan,
}


@pytest.mark.parametrize("permissions", [0o600, 0o644])
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


def test_a_file_that_is_replaced_grants_no_more_than_before_or_than_its_source(tmp_path: Path) -> None:
    session, target = open_session(make_source(tmp_path, 0o600)), tmp_path / "s.json"
    target.write_bytes(b"")
    save_session(session, target)
    assert mode(target) == 0o600


def test_a_session_of_an_archive_has_the_permissions_of_the_archive(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "both.zip", "w") as archive:
        archive.writestr("a.jsonl", ROWS)
        archive.writestr("b.jsonl", ROWS)
    (tmp_path / "both.zip").chmod(0o600)
    save_session(open_sessions(tmp_path / "both.zip")[0].open(), tmp_path / "a.json")
    save_session(open_session(tmp_path / "both.zip", part="b.jsonl"), tmp_path / "b.json")
    assert [mode(tmp_path / name) for name in ("a.json", "b.json")] == [0o600, 0o600]
