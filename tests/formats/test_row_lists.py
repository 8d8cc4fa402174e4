"""Rows of a log that stand in one JSON document: an exporter's list of them, or an object around the list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, read_session
from inspector.errors import ReadError

CASES = Path(__file__).parents[1] / "cases" / "formats"
LOGS = ("codex.jsonl", "qwen.jsonl", "copilot-cli.jsonl", "gemini-cli.log.jsonl")


def row(number: int, role: str, text: str, **more: Any) -> dict[str, Any]:
    before = f"u{number - 1}" if number > 1 else None
    names = {"type": role, "uuid": f"u{number}", "parentUuid": before, "sessionId": "s1"}
    told = {"timestamp": f"2026-04-01T10:00:0{number}Z", "message": {"role": role, "content": text}}
    return names | told | more


ROWS = [row(1, "user", "Is the sluice shut?"), row(2, "assistant", "It is."), row(3, "user", "Open it.")]
SAID = ["Is the sluice shut?", "It is.", "Open it."]


@pytest.mark.parametrize("name", ["messages", "transcript", "rows"])
def test_rows_in_an_object_are_the_session_they_are_as_lines(name: str) -> None:
    lines = b"\n".join(json.dumps(each).encode() for each in ROWS)
    assert read_session({name: ROWS}) == read_session(lines)


@pytest.mark.parametrize("end", ["\n]\n", "\n", ",\n"], ids=["whole", "cut off", "cut off behind a comma"])
def test_a_list_with_each_row_on_a_line_of_its_own_loses_none(end: str) -> None:
    """Rows that end with a comma are items of the list, not broken lines."""
    session = read_session("[\n" + ",\n".join(json.dumps(each) for each in ROWS) + end)
    assert [entry.text for entry in session.entries] == SAID
    assert (session.format, session.records, session.corrupt) == ("claude-code", 3, ())


@pytest.mark.parametrize("deep", [False, True], ids=["beside", "above"])
def test_what_an_exporter_tells_besides_is_counted_and_not_lost(deep: bool) -> None:
    about: dict[str, Any] = {"title": "The sluice", "exported_at": "2026-04-02"}
    session = read_session({**about, "session": {"messages": ROWS}} if deep else {**about, "messages": ROWS})
    assert [entry.text for entry in session.entries] == SAID
    assert (session.format, session.records, session.unknown) == ("claude-code", 4, 1)


@pytest.mark.parametrize("file", LOGS)
def test_logs_of_other_harnesses_open_in_an_object_too(file: str, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (CASES / file).read_bytes().splitlines()]
    (path := tmp_path / "export.json").write_text(json.dumps({"events": lines}, indent=1))
    alone, found = open_session(CASES / file), open_session(path)
    assert found.format == alone.format
    assert [entry.model_dump(exclude={"sources"}) for entry in found.entries] == [
        entry.model_dump(exclude={"sources"}) for entry in alone.entries
    ]


def test_rows_that_tell_their_time_and_no_session_are_claude_code_s() -> None:
    """Exporters tell the session once, around them; a row that names none before it follows the last."""
    bare = [{k: v for k, v in each.items() if k not in ("sessionId", "parentUuid")} for each in ROWS]
    session = read_session({"sessionId": "s1", "messages": bare})
    assert [(entry.id, entry.parent) for entry in session.entries] == [
        ("u1", None),
        ("u2", "u1"),
        ("u3", "u2"),
    ]


def test_an_object_that_a_reader_knows_is_left_as_it_is() -> None:
    for path in sorted(CASES.glob("*.json")):
        assert open_session(path).format == path.name.partition(".")[0], path


def test_a_table_of_rows_that_are_no_session_is_refused() -> None:
    with pytest.raises(ReadError):
        read_session({f"list{number}": [{"type": "user", "n": number}] for number in range(5000)})
