"""Rows of a log that stand in one JSON document: an exporter's list of them, or an object around the list."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector import read_session


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


@pytest.mark.parametrize("deep", [False, True], ids=["beside", "above"])
def test_what_an_exporter_tells_besides_is_counted_and_not_lost(deep: bool) -> None:
    about: dict[str, Any] = {"title": "The sluice", "exported_at": "2026-04-02"}
    session = read_session({**about, "session": {"messages": ROWS}} if deep else {**about, "messages": ROWS})
    assert [entry.text for entry in session.entries] == SAID
    assert (session.format, session.records, session.unknown) == ("claude-code", 4, 1)
