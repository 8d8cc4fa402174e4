"""A file is recognised by its first bytes as what opening it finds in the whole file."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.demo import read_demo
from inspector.errors import SeveralSessions
from inspector.files import BEGINNING
from inspector.formats.parts import recognise_beginning
from tests.rows import CASES

LONG = "The tide tables of the harbour. " * 20_000
assert len(LONG) < BEGINNING < 2 * len(LONG)

ROWS = [json.loads(line) for line in read_demo().splitlines()[:20]]
MESSAGE = next(row for row in ROWS if row["type"] == "user")
TALK: list[Any] = [{"role": role, "content": LONG} for role in ("user", "assistant", "user", "assistant")]
CLAUDE = json.loads((CASES / "claude-ai.json").read_text("utf-8"))


def lines(rows: list[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


SESSIONS = {
    "lines": lines([*ROWS, *({**ROWS[-1], "uuid": f"more{n}", "note": LONG} for n in range(3))]),
    "a first line longer than the beginning": lines([{**ROWS[0], "note": 2 * LONG}, *ROWS[1:]]),
    "one line without an end": json.dumps({**MESSAGE, "note": 2 * LONG}).encode(),
    "messages": json.dumps(TALK).encode(),
    "a request": json.dumps({"model": "demo-2", "messages": TALK}, indent=1).encode(),
    "rows in a list": json.dumps([*ROWS, {**ROWS[-1], "note": 2 * LONG}]).encode(),
    "rows in an object": json.dumps({"title": "Tides", "messages": [*ROWS, {"note": 2 * LONG}]}).encode(),
}


@pytest.mark.parametrize("content", SESSIONS.values(), ids=SESSIONS)
def test_a_long_session_is_recognised_without_its_end(content: bytes) -> None:
    assert len(content) > BEGINNING
    file = BytesIO(content)
    assert recognise_beginning(file) == read_session(content).format
    assert file.tell() < len(content)


@pytest.mark.parametrize("path", sorted(CASES.iterdir()), ids=lambda path: path.name)
def test_a_short_session_is_recognised_if_it_can_be_opened(path: Path) -> None:
    expected = open_session(path).format
    with path.open("rb") as file:
        assert recognise_beginning(file) == expected


@pytest.mark.parametrize("note", ["", LONG], ids=["short", "long"])
def test_several_sessions_are_not_one(note: str, tmp_path: Path) -> None:
    export = tmp_path / "conversations.json"
    export.write_text(json.dumps([{**CLAUDE, "uuid": f"c-{n}", "note": note} for n in range(4)]))
    with pytest.raises(SeveralSessions):
        open_session(export)
    with export.open("rb") as file:
        assert recognise_beginning(file) == ""


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"{}", b"7", b'{"half": ', b"Dear diary,\n", b"\x00\xff" * 99, b"PK\3\4 broken"),
        json.dumps({"name": "tide", "version": "1.0.0", "scripts": {"build": LONG, "test": LONG}}).encode(),
        lines([{"high": "06:12", "note": LONG}] * 4),
        2 * LONG.encode(),
    ],
    ids=lambda content: f"{len(content)}-{content[:12]!r}",
)
def test_other_files_are_not_recognised(content: bytes) -> None:
    assert recognise_beginning(BytesIO(content)) == ""
