"""The sessions of a machine: made-up homes with real files in them, listed by the product's own doors."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from inspector import open_session, price_session, sessions
from inspector.cli import main
from inspector.demo import read_demo
from inspector.formats.places import PLACES, find_places
from inspector.library import FoundSessions, dump_found, find_files
from tests.shared import SHARED, needs_shared

SAID = "draw <b>the</b> & tide"


def write(home: Path, where: str, content: bytes, when: float) -> Path:
    path = home / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (when, when))
    return path


def small(said: str = SAID) -> bytes:
    row = {"type": "user", "uuid": "a1", "parentUuid": None, "sessionId": "s", "cwd": "/home/ada/tide pool"}
    return json.dumps({**row, "message": {"role": "user", "content": said}}).encode() + b"\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    write(home, ".claude/projects/-tidepool/demo.jsonl", read_demo(), 2_000_000)
    write(home, ".claude/projects/-tide-pool/small.jsonl", small(), 3_000_000)
    write(home, ".pi/agent/sessions/p/broken.jsonl", b"\x89PNG\r\n\x1a\n....", 1_000_000)
    write(home, ".claude/settings.jsonl", small(), 4_000_000)
    return home


PATIENT = 600
"""Seconds to read a few small files; even a busy machine reads them all in this time."""


def list_all(home: Path, *, seconds: float = PATIENT) -> FoundSessions:
    return sessions(home=home, index=home / "index.sqlite", seconds=seconds)


def test_they_are_listed_newest_first_with_what_each_file_says(home: Path) -> None:
    found = list_all(home)
    assert [one.path.name for one in found] == ["small.jsonl", "demo.jsonl", "broken.jsonl"]
    tide, demo, broken = found
    session = open_session(demo.path)
    assert (demo.turns, demo.compactions) == (21, 1)
    bill = price_session(session).cost
    assert bill is not None
    assert demo.cost == pytest.approx(bill.total)
    assert (demo.harness, demo.title, demo.size) == ("Claude Code", session.title, len(read_demo()))
    assert (tide.title, tide.prompt, tide.project) == (SAID, SAID, "/home/ada/tide pool")
    assert tide.turns == 1
    assert tide.cost is None
    assert broken.problem
    assert "PNG" in broken.problem
    (newest,) = sessions(1, home=home, index=home / "i", seconds=PATIENT)
    assert newest.path.name == "small.jsonl"
    assert demo.open().leaf == session.leaf


def test_what_a_transcript_says_is_text_in_the_table(home: Path) -> None:
    html = list_all(home)._repr_html_()
    assert "draw &lt;b&gt;the&lt;/b&gt; &amp; tide" in html
    assert "<b>" not in html
    assert SAID in repr(list_all(home))


@pytest.mark.parametrize("name", ["a**b", "*", "[", "..", "a\0b"])
def test_a_sub_agents_file_that_names_an_odd_session_is_listed_beside_the_others(
    home: Path, name: str
) -> None:
    row = {**json.loads(small()), "isSidechain": True, "sessionId": name, "agentId": "q"}
    write(home, ".claude/projects/-tide-pool/agent-q.jsonl", json.dumps(row).encode(), 3_500_000)
    assert [one.path.name for one in list_all(home)] == [
        "agent-q.jsonl", "small.jsonl", "demo.jsonl", "broken.jsonl"
    ]  # fmt: skip


def test_a_second_listing_reads_only_what_has_changed(home: Path) -> None:
    before = list_all(home)
    same, other = before[0].path, before[1].path
    # As long as before and of the same time: it is not read again, or the other words would be told.
    write(home, str(same.relative_to(home)), small("x" * len(SAID)), 3_000_000)
    write(home, str(other.relative_to(home)), small("another one"), 2_500_000)
    after = list_all(home)
    assert after[0] == before[0]
    assert after[1].title == "another one"
    assert [one.path for one in after] == [one.path for one in before]


def test_what_there_was_no_time_for_is_said_and_read_the_next_time(home: Path) -> None:
    assert {one.problem for one in list_all(home, seconds=0)} == {"not read yet"}
    assert [one.turns for one in list_all(home)] == [1, 21, 0]


@pytest.mark.parametrize("content", [b"", b"no data base at all" * 100, "foreign"])
def test_an_index_that_is_broken_or_foreign_is_made_anew(home: Path, content: bytes | str) -> None:
    index = home / "index.sqlite"
    if isinstance(content, str):
        with sqlite3.connect(index) as data:
            data.execute("create table files (name text)")
        data.close()
    else:
        index.write_bytes(content)
    assert [one.turns for one in list_all(home)] == [1, 21, 0]
    assert [one.turns for one in list_all(home, seconds=0)] == [1, 21, 0], "it is kept"


def test_it_is_done_without_an_index_that_cannot_be_written(home: Path) -> None:
    (home / "taken").write_bytes(b"a file, no folder")
    listed = sessions(home=home, index=home / "taken" / "index", seconds=PATIENT)
    assert [session.turns for session in listed] == [1, 21, 0]


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps rights elsewhere")
def test_the_index_is_for_its_owner_alone(home: Path) -> None:
    list_all(home)
    assert (home / "index.sqlite").stat().st_mode & 0o077 == 0


def test_links_are_not_followed(home: Path, tmp_path: Path) -> None:
    secret = write(tmp_path, "elsewhere/secret.jsonl", small("a secret"), 9_000_000)
    (home / ".claude/projects/-tidepool/link.jsonl").symlink_to(secret)
    assert [one.path.name for one in list_all(home)] == ["small.jsonl", "demo.jsonl", "broken.jsonl"]


def test_a_folder_that_is_a_link_is_not_entered(home: Path, tmp_path: Path) -> None:
    write(tmp_path, "elsewhere/secret.jsonl", small("a secret"), 9_000_000)
    (home / ".claude/projects/-linked").symlink_to(tmp_path / "elsewhere")
    assert [one.path.name for one in list_all(home)] == ["small.jsonl", "demo.jsonl", "broken.jsonl"]
    assert not any("-linked" in str(path) for path in find_files(home))


def test_a_place_that_is_a_link_itself_is_where_it_leads(home: Path, tmp_path: Path) -> None:
    """People keep their settings elsewhere; the harness itself follows this link."""
    shutil.move(home / ".claude", tmp_path / "dotfiles")
    (home / ".claude").symlink_to(tmp_path / "dotfiles")
    listed = list_all(home)
    assert [session.path.name for session in listed] == ["small.jsonl", "demo.jsonl", "broken.jsonl"]
    assert listed[0].path.parents[2] == tmp_path / "dotfiles"


ODD_ROWS = [
    '{"evil": 1}',
    '{"title": 1',
    '{"title": 1}',
    '{"project": null}',
    '{"turns": "many"}',
    '{"cost": "much"}',
    '{"problem": {}}',
    '{"within": 5}',
    '{"sought": 5}',
]


@pytest.mark.parametrize("facts", ["no JSON", "[]", "[" * 50_000, *ODD_ROWS])
def test_a_row_of_the_index_that_means_nothing_is_read_anew(home: Path, facts: str) -> None:
    before = list_all(home)
    with sqlite3.connect(home / "index.sqlite") as data:
        data.execute("update files set facts = ?", (facts,))
    data.close()
    assert list(list_all(home)) == list(before)


def test_an_index_of_another_version_is_read_anew_and_a_plain_file_counts_before_its_packed_one(
    home: Path,
) -> None:
    list_all(home)
    with sqlite3.connect(home / "index.sqlite") as data:
        data.execute("update files set version = '0.0.1'")
    data.close()
    assert {one.problem for one in list_all(home, seconds=0)} == {"not read yet"}
    for ending in ("", ".zst"):
        write(home, f".codex/sessions/2026/01/02/rollout-a.jsonl{ending}", b"x", 5_000_000)
    names = [one.path.name for one in list_all(home)]
    assert names[0] == "rollout-a.jsonl"
    assert len(names) == 4


def test_a_variable_moves_a_place(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = tmp_path / "moved"
    shutil.move(home / ".claude", moved)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(moved))
    for name in ("CODEX_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(name, raising=False)
    listed = sessions(index=tmp_path / "index", seconds=PATIENT)
    assert [session.path.name for session in listed] == ["small.jsonl", "demo.jsonl", "broken.jsonl"]
    assert listed[0].path.is_relative_to(moved)


def test_the_command_lists_them(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    for name in ("CODEX_HOME", "PI_CODING_AGENT_DIR", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    sessions(
        seconds=PATIENT
    )  # fills the index, so that the command need not read files within its time limit
    assert main(["sessions"]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[-1] == "3 sessions, 1 that cannot be opened."
    assert main(["sessions", "--json", "--newest", "2"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["turns"], row["cost"] is None) for row in rows] == [(1, True), (21, False)]


@needs_shared
def test_real_sessions_are_listed_as_they_open(tmp_path: Path) -> None:
    files = sorted((SHARED / "sessions").glob("claude-code--*/cc-*.jsonl"))[:4]
    for number, file in enumerate(files):
        write(tmp_path, f".claude/projects/-p/{file.name}", file.read_bytes(), 1_000_000 + number)
    listed = sessions(home=tmp_path, index=tmp_path / "index", seconds=PATIENT)
    for file, session in zip(reversed(files), listed, strict=True):
        assert session.path.name == file.name
        assert session.turns == len(open_session(file).turns)


# Names, locks and users of any kind


NAMES = [
    b"caf\xe9.jsonl",
    b"\xff\xfe.jsonl",
    "naïve 日本.jsonl".encode(),
    b"esc\x1b[31m.jsonl",
    b"a\nb.jsonl",
]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="their file systems hold names of text alone")
@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_any_name_is_listed_and_known_again(home: Path, name: bytes) -> None:
    place = os.fsencode(home / ".claude/projects/-tidepool") + b"/" + name
    with open(place, "wb") as file:
        file.write(small("as named"))
    os.utime(place, (5_000_000, 5_000_000))
    for seconds in (PATIENT, 0.0):  # the second time from the index
        first, *others = list_all(home, seconds=seconds)
        assert (os.fsencode(first.path), first.title, first.problem) == (place, "as named", "")
        assert [other.turns for other in others] == [1, 21, 0]
    assert first.open().turns
    row = json.loads(dump_found(first))
    assert os.fsencode(row["path"]) == place


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="their file systems hold names of text alone")
def test_a_folder_of_any_name_is_listed_by_the_command(home: Path) -> None:
    folder = os.fsencode(home / ".claude/projects") + b"/-caf\xe9"
    os.mkdir(folder)
    with open(folder + b"/s.jsonl", "wb") as file:
        file.write(small("in a folder"))
    done = subprocess.run(
        [sys.executable, "-m", "inspector.cli", "sessions"],
        env={**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "in a folder" in done.stdout


@pytest.mark.parametrize("lock", ["begin exclusive", "begin immediate"])
def test_an_index_that_another_program_holds_is_neither_used_nor_changed(home: Path, lock: str) -> None:
    list_all(home)
    index = home / "index.sqlite"
    before = index.read_bytes()
    write(home, ".claude/projects/-tidepool/new.jsonl", small("new"), 5_000_000)
    with closing(sqlite3.connect(index, isolation_level=None)) as other:
        other.execute(lock)
        assert [session.title for session in list_all(home)][:2] == ["new", SAID]
        other.execute("rollback")
    assert index.read_bytes() == before
    assert [session.turns for session in list_all(home)] == [1, 1, 21, 0]


def test_an_index_that_is_only_being_created_is_left_to_its_creator(home: Path) -> None:
    with closing(sqlite3.connect(home / "index.sqlite", isolation_level=None)) as other:
        other.execute("begin exclusive")
        other.execute("create table files (path blob primary key)")
        assert [session.turns for session in list_all(home)] == [1, 21, 0]
        other.execute("commit")
        assert [name for (name,) in other.execute("select name from sqlite_master where type = 'table'")] == [
            "files"
        ]


def test_listings_side_by_side_all_end_well(home: Path) -> None:
    """Each process reads for longer than SQLite waits for a lock."""
    for number in range(24):
        write(home, f".claude/projects/-p/s{number}.jsonl", read_demo(), 5_000_000 + number)
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    command = [sys.executable, "-m", "inspector.cli", "sessions", "--json"]
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in running:
        output, errors = process.communicate()
        assert (process.returncode, errors, len(output.splitlines())) == (0, b"", 27)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such users")
@pytest.mark.parametrize("command", [["sessions"], ["sessions", "--json"], ["scan", "--policy", "flue"]])
def test_a_user_without_a_home_has_no_sessions_and_no_traceback(tmp_path: Path, command: list[str]) -> None:
    """Containers run under a user id that the system does not know, without HOME."""
    code = (
        "import pwd, sys\n"
        "def unknown(user): raise KeyError(user)\n"
        "pwd.getpwuid = unknown\n"
        "from inspector.cli import main\n"
        f"sys.exit(main({command}))"
    )
    names = ("PATH", "PYTHONPATH")
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={name: value for name, value in os.environ.items() if name in names},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == [], "nothing is written into the working folder"
    if command == ["sessions"]:
        assert done.stdout == "No session was found in the places where harnesses keep them.\n"


def test_a_user_without_a_home_has_the_places_that_variables_name(home: Path) -> None:
    assert find_places({"CLAUDE_CONFIG_DIR": f"{home}/.claude"}, None) == [
        (PLACES[0], f"{home}/.claude/projects")
    ]
