"""What a session is called over the screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector import open_session
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
