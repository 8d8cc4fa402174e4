"""What a session is called over the screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import Workbench, export_html, open_session
from inspector.workbench.payloads.header import find_title
from tests.shared import SHARED, needs_shared

CODEX = Path(__file__).parents[1] / "cases" / "formats" / "codex.jsonl"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Mend the tide table", "Mend the tide table"),
        (
            "<command-message>init is running…</command-message>\n<command-name>/init</command-name>",
            "/init",
        ),
        (
            "<command-message>fix</command-message><command-name>/fix</command-name><command-args>it</command-args>",
            "/fix it",
        ),
        ("<system-reminder>Mind the todos.</system-reminder>\nMend the tide table", "Mend the tide table"),
        (
            "should we close https://example.org/" + "a" * 60,
            f"should we close https://example.org/{'a' * 23}…",
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


def test_words_of_the_harness_before_a_prompt_are_no_title() -> None:
    """Codex opens with its permissions and the instructions of the folder, as the user's own messages."""
    session = open_session(CODEX)
    first, second, third = (session.entries[i].text for i in session.path[:3])
    assert first.startswith("<permissions instruc") and second.startswith("# AGENTS.md instruct")
    assert find_title(session) == third == "Add a function area to src/shapes.py; the unit is cm2."


def test_a_message_of_the_model_is_no_title(tmp_path: Path) -> None:
    path = tmp_path / "begins late.json"
    path.write_text(json.dumps({"messages": [{"role": "assistant", "content": "I go on."}]}))
    assert find_title(open_session(path), path.name) == "begins late.json"


@needs_shared
def test_what_copilot_puts_into_a_message_is_no_title() -> None:
    session = open_session(SHARED / "sessions" / "copilot-cli--agentv" / "copilot-2-551l.jsonl")
    said = next(entry.text for entry in session.entries if entry.role == "user")
    assert said.startswith("<current_datetime>") and "investigate why i get" in said
    assert find_title(session).startswith("investigate why i get")


def test_an_exported_page_has_the_title_though_the_first_prompt_is_not_in_it(tmp_path: Path) -> None:
    """It was summarised before the moment that the page shows; the page holds no other word of it."""
    prompt = "Mend the tide table and then the long list of harbours that nobody has looked at for years"
    rows: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}
    ]
    said: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": prompt}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "model": "m"},
    ]
    for number, message in enumerate([*said, None, {"role": "user", "content": "What is next?"}]):
        row: dict[str, Any] = {"id": f"e{number}", "parentId": f"e{number - 1}" if number else None}
        if message is None:
            done = {"summary": "The table was mended.", "firstKeptEntryId": f"e{number}", "tokensBefore": 40}
            rows.append({"type": "compaction", **row, **done})
        else:
            rows.append({"type": "message", **row, "message": message})
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    workbench = Workbench(path)
    workbench.at = "e3"
    page = export_html(workbench, tmp_path / "page.html").path.read_text()
    workbench.close()
    title = "Mend the tide table and then the long list of harbours that…"
    assert f"<h1>{title}</h1>" in page, page[page.index("<h1>") :][:200]
    assert "nobody has looked" not in page
    assert "not on this page" not in page.split("<script", 1)[0]


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
