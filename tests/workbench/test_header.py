"""What a session is called over the screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector import Workbench, open_session
from inspector.workbench.payloads.header import find_title


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Mend the tide table", "Mend the tide table"),
        (
            "<command-message>init is running…</command-message>\n<command-name>/init</command-name>",
            "init is running… /init",
        ),
        ("keep a < b and b > c", "keep a < b and b > c"),
        ("one two " * 20, "one two one two one two one two one two one two one two one…"),
    ],
)
def test_a_session_without_a_title_is_called_by_its_first_prompt(
    tmp_path: Path, said: str, title: str
) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": said}]}))
    assert find_title(open_session(path), path.name) == title


def test_a_session_that_says_nothing_of_itself_is_called_as_its_file(tmp_path: Path) -> None:
    """In a notebook and on an exported page; in a document the server gives the name."""
    path = tmp_path / "a quiet one.jsonl"
    rows = [{"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}]
    said = {"role": "assistant", "content": [], "model": "m"}
    rows.append({"type": "message", "id": "a", "parentId": None, "message": said})  # type: ignore[dict-item]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    workbench = Workbench(path)
    assert workbench._scene["header"]["title"] == "a quiet one.jsonl"
    workbench.close()
