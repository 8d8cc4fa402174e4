"""The sessions of a machine: made-up homes with real files in them, listed by the product's own doors."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from inspector import open_session, price_session, sessions
from inspector.cli import main
from inspector.demo import read_demo
from inspector.library import FoundSessions

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


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps rights elsewhere")
def test_the_index_is_for_its_owner_alone(home: Path) -> None:
    list_all(home)
    assert (home / "index.sqlite").stat().st_mode & 0o077 == 0


def test_links_are_not_followed(home: Path, tmp_path: Path) -> None:
    secret = write(tmp_path, "elsewhere/secret.jsonl", small("a secret"), 9_000_000)
    (home / ".claude/projects/-tidepool/link.jsonl").symlink_to(secret)
    assert [one.path.name for one in list_all(home)] == ["small.jsonl", "demo.jsonl", "broken.jsonl"]


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
