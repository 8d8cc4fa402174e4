"""A secret at the end of a shortened text is redacted in everything that is written or sent.

Each session has a token that a line, a title or a sentence of limited length cuts off at another character.
No more may remain than the first few characters, which all tokens of the service share.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import (
    ClaudeSummariser,
    compact,
    count_tokens,
    export_html,
    lint,
    make_plan,
    open_plan,
    open_session,
    save_compaction,
    save_plan,
    scan,
    sessions,
)
from inspector.cli import main
from inspector.facts.lint.codes import REPORTS
from tests.exported import unpack_page

TOKEN = "gh" + "p_" + "Ab3dEf6hIj9lMn2pQr5tUv8xYz1Bc4De6Fg7"
PASSWORD = "Orchid7!kettle-Moss42"
"""Recognised as a secret only by an assignment in another message."""
PUBLIC = 7
"""Largest number of characters of a secret that may remain."""


def write(path: Path, padding: int, secret: str = TOKEN, **first: Any) -> Path:
    """Write a Claude Code session in which every kind of text is long enough to be cut inside the secret."""
    words = f"{'y' * padding} {secret} is for this and {'nothing else ' * 30}"
    rows: list[dict[str, Any]] = []
    for turn in range(14):
        call = {"type": "tool_use", "id": f"t{turn}", "name": "Bash", "input": {"command": f"run {words}"}}
        output = {
            "type": "tool_result",
            "tool_use_id": f"t{turn}",
            "is_error": True,
            "content": f"Error: {words}",
        }
        for role, content in (
            ("user", f"Never commit {words}." if turn else f"export DB_PASSWORD={secret}\n{words}"),
            ("assistant", [call]),
            ("user", [output]),
            ("assistant", [{"type": "text", "text": f"It failed, {words} {'again ' * 900}"}]),
        ):
            name = f"u{len(rows)}"
            rows.append(
                {
                    "type": role,
                    "uuid": name,
                    "parentUuid": f"u{len(rows) - 1}" if rows else None,
                    "sessionId": "s",
                    "message": {"role": role, "content": content},
                    **first,
                }
            )
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def leaked(text: str, secret: str = TOKEN) -> str:
    """Return the longest piece of the secret in a text."""
    pieces = (
        secret[at : at + size] for size in range(len(secret), 0, -1) for at in range(len(secret) - size + 1)
    )
    return next((piece for piece in pieces if piece in text), "")


# An error is cut at 100 characters, a prompt at 200, so the cuts fall on all characters of the token.
PADDINGS = [*range(52, 93), *range(146, 187, 2)]


@pytest.mark.parametrize(
    ("secret", "paddings"),
    [*((TOKEN, PADDINGS[start::4]) for start in range(4)), (PASSWORD, PADDINGS[::3])],
)
def test_no_piece_is_saved_or_sent_with_a_compaction(
    tmp_path: Path, secret: str, paddings: list[int]
) -> None:
    for padding in paddings:
        session = open_session(write(tmp_path / "s.jsonl", padding, secret))
        done = compact(session, "pi")
        folder = tmp_path / f"{padding}"
        save_compaction(done, folder)
        for file in sorted(folder.rglob("*.json")):
            assert len(leaked(file.read_text(), secret)) <= PUBLIC, (padding, file.name)
        again = make_plan(done.after, count_tokens(done.after, "chars4_utf16"), "pi", {"cut": "end"})
        sent = ClaudeSummariser("claude-opus-4-5").preview(again).requests
        assert sent
        assert len(leaked(json.dumps([request.body for request in sent]), secret)) <= PUBLIC, padding


def write_edits(path: Path, padding: int) -> Path:
    """Write a session that creates a file with a path that a finding cuts, followed by further turns."""
    file = f"src/{'y' * padding}/{TOKEN}/a.py"
    rows: list[dict[str, Any]] = []
    for turn in range(8):
        call = {"type": "tool_use", "id": f"t{turn}", "name": "Write" if not turn else "Bash"}
        arguments = {"file_path": file, "content": "x = 1"} if not turn else {"command": "ls"}
        for role, content in (
            ("user", f"Go on with step {turn}."),
            ("assistant", [{**call, "input": arguments}]),
            ("user", [{"type": "tool_result", "tool_use_id": f"t{turn}", "content": "done"}]),
            ("assistant", [{"type": "text", "text": "That is done."}]),
        ):
            name, parent = f"u{len(rows)}", f"u{len(rows) - 1}" if rows else None
            message = {"role": role, "content": content}
            rows.append(
                {"type": role, "uuid": name, "parentUuid": parent, "sessionId": "s", "message": message}
            )
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.mark.parametrize("padding", [3, *range(70, 120, 3)])
def test_no_piece_is_in_a_report_of_lint(
    tmp_path: Path, padding: int, capsys: pytest.CaptureFixture[str]
) -> None:
    session = open_session(path := write_edits(tmp_path / "s.jsonl", padding))
    findings = lint(session, "inspect-trim")
    assert "CI006" in findings.counts
    for name in REPORTS:
        main(["lint", str(path), "--policy", "inspect-trim", "--format", name])
        assert len(leaked(capsys.readouterr().out)) <= PUBLIC, name


def test_no_piece_is_on_a_page(tmp_path: Path) -> None:
    for padding in (31, 46, 77, 104, 117, 188):
        export_html(write(tmp_path / "s.jsonl", padding), tmp_path / "page.html", replace=True)
        html = (tmp_path / "page.html").read_text("utf-8")
        assert len(leaked(html + json.dumps(unpack_page(html)[0]))) <= PUBLIC, padding


def test_no_piece_is_in_the_list_of_sessions(tmp_path: Path) -> None:
    """The index on disk stores titles and prompts; the list cuts the titles once more."""
    home = tmp_path / "home"
    folder = home / ".claude" / "projects" / "p"
    folder.mkdir(parents=True)
    for padding in (0, 20, 25, 30, 45, 55, 60, 150, 165, 180, 190):
        write(folder / f"{padding}.jsonl", padding)
    listed = sessions(home=str(home), index=str(tmp_path / "index"), seconds=600)
    assert len(listed) == 11 and not any(session.problem for session in listed)
    assert len(leaked(repr(listed) + repr(list(listed)))) <= PUBLIC
    assert len(leaked((tmp_path / "index").read_bytes().decode("latin-1"))) <= PUBLIC


def test_a_secret_for_a_name_is_in_no_plan_and_no_row(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", 40, sessionId=f"run {TOKEN}")
    session = open_session(path)
    assert TOKEN in session.id
    plan = make_plan(session, count_tokens(session), "pi", {"cut": "end"})
    saved = save_plan(plan, tmp_path / "s.plan.json")
    assert len(leaked(saved.read_text())) <= PUBLIC
    assert open_plan(saved, path).after == plan.after
    rows = scan(path, "pi", into=tmp_path / "rows.jsonl", workers=0)
    assert [row["error"] for row in rows] == [None] * len(rows)
    assert len(leaked((tmp_path / "rows.jsonl").read_text())) <= PUBLIC
