"""Where a session comes from, as far as its file says it, and never further."""

from __future__ import annotations

import json

import pytest

from inspector import Session, count_tokens, open_session, read_session
from inspector.tokens.history import trace_history
from inspector.workbench.payloads.header import describe_header
from tests.rows import CASES


@pytest.mark.parametrize(
    ("file", "harness", "version", "model", "cwd"),
    [
        ("codex.jsonl", "Codex", "0.140.0", "gpt-5.5", "/w"),
        ("copilot-cli.jsonl", "Copilot CLI", "1.0.64", "claude-sonnet-4.6", "/w"),
        ("opencode.json", "opencode", "1.18.33", "demo-1", "/w"),
        ("gemini-cli.json", "Gemini CLI", None, "gemini-2.5-pro", None),
        ("request-log.chat.json", None, None, "gpt-5", None),
    ],
)
def test_a_session_says_who_wrote_it_where_its_file_does(
    file: str, harness: str | None, version: str | None, model: str | None, cwd: str | None
) -> None:
    """The figures stand in the files; that of one whose file names none is None, and never guessed."""
    source = open_session(CASES / file).source
    assert (source.harness, source.version, source.model, source.cwd) == (harness, version, model, cwd)
    said = repr(source)
    assert all(part in said for part in (version, model, cwd) if part)
    assert (harness or "harness unknown") in said
    assert "None" not in said


def test_a_reader_of_another_package_names_its_harness() -> None:
    assert Session(format="lines").source == ("lines", None, None, None)
    assert Session(format="lines", extra={"harness": "Lines 2000"}).source.harness == "Lines 2000"
    assert Session(format="lines", extra={"harness": 7, "version": 2}).source == ("lines", None, None, None)


def test_the_header_tells_it_to_who_points_at_the_title() -> None:
    session = open_session(CASES / "codex.jsonl")
    header = describe_header(session, trace_history(session, count_tokens(session)))
    assert header.about.endswith("Codex 0.140.0, gpt-5.5, in /w")
    assert header.about.startswith(f"{header.title} · ")
    assert header.harness == "Codex 0.140.0"
    row = {"type": "user", "uuid": "u", "parentUuid": None, "message": {"content": "Hi"}}
    plain = read_session(json.dumps(row))
    about = describe_header(plain, trace_history(plain, count_tokens(plain))).about
    assert about == "Hi · Claude Code"
