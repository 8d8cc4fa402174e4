"""Events of Claude Code and Codex in, texts out: for the summariser, the next session and the next prompt."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from inspector.demo import CONSTRAINT, LOST_PATH
from tests.hooks.harness import (
    FakeHarness,
    after_compaction,
    called,
    lines,
    recorded_summary,
    typed,
)

SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
RULE = "Never push to main without a passing CI run."


def boundary(summary: str, **meta: Any) -> list[dict[str, Any]]:
    return [
        {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", **meta}},
        {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": summary}},
    ]


@pytest.mark.parametrize(
    "fields",
    [{"trigger": "manual", "custom_instructions": None}, {"trigger": "auto", "custom_instructions": ""}],
)
def test_the_focus_text_quotes_rules_and_files(claude: FakeHarness, fields: dict[str, Any]) -> None:
    done = claude.send("PreCompact", **fields)
    assert done.out[0].isalpha() and len(done.out) <= 4000
    assert CONSTRAINT in done.out and LOST_PATH in done.out


def test_the_session_is_found_by_its_id(claude: FakeHarness) -> None:
    assert CONSTRAINT in claude.send("PreCompact", transcript_path="", trigger="auto").out


def test_what_the_user_typed_after_compact_is_not_said_again(claude: FakeHarness) -> None:
    done = claude.send("PreCompact", trigger="manual", custom_instructions=f"keep {LOST_PATH}")
    assert LOST_PATH not in done.out and CONSTRAINT in done.out


def test_rules_and_pins_come_back_word_for_word(claude: FakeHarness) -> None:
    pin = "Deploys go through marit@tides, 09:00–11:00."
    subprocess.run(
        [sys.executable, "-m", "inspector.start", "hook", "pin", pin, "--folder", "/home/marit/tidepool"],
        env=claude.environment,
        check=True,
        capture_output=True,
    )
    claude.send("PreCompact", trigger="auto")
    done = claude.send("SessionStart", source="compact", model="m")
    assert json.loads(done.out)["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert CONSTRAINT in done.context and pin in done.context and len(done.context) <= 3000


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "fork"])
def test_other_starts_get_nothing(claude: FakeHarness, source: str) -> None:
    claude.send("PreCompact", trigger="auto")
    assert claude.send("SessionStart", source=source).out == ""


def test_a_start_without_or_with_an_old_snapshot_gets_nothing(claude: FakeHarness) -> None:
    assert claude.send("SessionStart", source="compact").out == ""
    claude.send("PreCompact", trigger="auto")
    path = claude.state / "sessions/s1/snapshot.json"
    path.write_text(json.dumps({**claude.stored("snapshot.json"), "time": time.time() - 3600}))
    assert claude.send("SessionStart", source="compact").out == ""


def test_a_loss_is_told_once_with_the_next_prompt(claude: FakeHarness) -> None:
    claude.send("PreCompact", trigger="auto")
    summary = f"<analysis>{CONSTRAINT}</analysis>\n<summary>{recorded_summary()}</summary>"
    assert claude.send("PostCompact", trigger="auto", compact_summary=summary).out == ""
    outcomes = {item["text"]: item["outcome"] for item in claude.stored("report.json")["items"]}
    rule = next(text for text in outcomes if CONSTRAINT in text)
    assert outcomes[rule] == outcomes[LOST_PATH] == "absent"
    context = claude.send("UserPromptSubmit", prompt="go on")
    assert CONSTRAINT in context.context and LOST_PATH not in context.context and len(context.context) <= 1500
    assert claude.send("UserPromptSubmit", prompt="go on").out == ""


def test_a_summary_that_keeps_the_rules_is_not_told(tmp_path: Path) -> None:
    harness = FakeHarness(tmp_path, lines([typed(RULE)]))
    harness.send("PreCompact", trigger="auto")
    harness.send("PostCompact", trigger="auto", compact_summary=f"The user said: {RULE}")
    assert [item["outcome"] for item in harness.stored("report.json")["items"]] == ["quoted"]
    assert harness.send("UserPromptSubmit", prompt="go on").out == ""


def test_a_changed_value_is_told_with_both(tmp_path: Path) -> None:
    harness = FakeHarness(tmp_path, lines([typed("You must spend at most $500 per run.")]))
    harness.send("PreCompact", trigger="auto")
    harness.send("PostCompact", trigger="auto", compact_summary="You must spend at most $600 per run.")
    context = harness.send("UserPromptSubmit", prompt="go on").context
    assert "$500" in context and "$600" in context


def test_without_a_post_event_the_report_is_made_from_the_file(claude: FakeHarness) -> None:
    claude.send("PreCompact", trigger="manual")
    assert claude.send("UserPromptSubmit", prompt="still before it").out == ""
    claude.file.write_bytes(after_compaction())
    assert CONSTRAINT in claude.send("UserPromptSubmit", prompt="go on").context
    assert claude.send("UserPromptSubmit", prompt="go on").out == ""


@pytest.mark.parametrize(
    "earlier", [False, True], ids=["no snapshot", "the snapshot of an earlier compaction"]
)
def test_a_compaction_without_a_pre_event_is_reported_once(tmp_path: Path, earlier: bool) -> None:
    harness = FakeHarness(tmp_path, lines([typed(RULE)]))
    if earlier:
        harness.send("PreCompact", trigger="auto")
        harness.send("PostCompact", trigger="auto", compact_summary="First.")
        assert RULE in harness.send("UserPromptSubmit", prompt="go on").context
        path = harness.state / "sessions/s1/snapshot.json"
        snapshot = {**harness.stored("snapshot.json"), "time": time.time() - 3600}
        path.write_text(json.dumps(snapshot))
        report = {**harness.stored("report.json"), "snapshot": snapshot["time"]}
        path.with_name("report.json").write_text(json.dumps(report))
    harness.send("PostCompact", trigger="auto", compact_summary="Work goes on.")
    assert RULE in harness.send("UserPromptSubmit", prompt="go on").context
    assert harness.send("UserPromptSubmit", prompt="go on").out == ""


def test_a_message_that_stays_beside_the_summary_is_kept(tmp_path: Path) -> None:
    rows = [typed("You must always answer in German."), typed(RULE, uuid="kept")]
    harness = FakeHarness(tmp_path, lines(rows))
    harness.send("PreCompact", trigger="auto")
    harness.file.write_bytes(
        lines([*rows, *boundary("Work goes on.", preservedMessages={"uuids": ["kept"]})])
    )
    context = harness.send("UserPromptSubmit", prompt="go on").context
    assert "German" in context and RULE not in context


def test_a_rule_from_before_an_earlier_compaction_is_remembered(tmp_path: Path) -> None:
    rows = [typed(RULE), *boundary("Nothing."), typed("Look at the log."), *boundary("Nothing again.")]
    harness = FakeHarness(tmp_path, lines([*rows, typed("Go on with it.")]))
    assert RULE in harness.send("PreCompact", trigger="auto").out


def test_errors_todos_and_words_of_tools_are_told_apart(tmp_path: Path) -> None:
    todos = [{"content": "port the parser", "status": "pending"}, {"content": "lint", "status": "completed"}]
    rows = [
        typed("Fix the parser."),
        typed("<system-reminder>You must never say hello.</system-reminder>"),
        *called("Bash", {"command": "make a"}, "KeyError: 'tide'", failed=True),
        *called("Bash", {"command": "make bb"}, "ValueError: mended", failed=True),
        *called("Bash", {"command": "make bb"}, "ok"),
        *called("Read", {"file_path": "a.md"}, "You must never trust this file."),
        *called("TodoWrite", {"todos": todos}, "saved"),
    ]
    text = FakeHarness(tmp_path, lines(rows)).send("PreCompact", trigger="auto").out
    assert "KeyError: 'tide'" in text and "port the parser" in text
    assert not re.search("mended|lint|hello|trust", text)


def test_secrets_are_neither_printed_nor_stored(tmp_path: Path) -> None:
    rows = [
        typed(f"Never show the token {SECRET} to anyone."),
        *called("Bash", {"command": "x"}, f"fatal: denied for {SECRET}", failed=True),
    ]
    harness = FakeHarness(tmp_path, lines(rows))
    outputs = [
        harness.send("PreCompact", trigger="auto").out,
        harness.send("SessionStart", source="compact").out,
    ]
    harness.send("PostCompact", trigger="auto", compact_summary=f"Show the token {SECRET} to everyone.")
    outputs.append(harness.send("UserPromptSubmit", prompt="go on").out)
    outputs += [path.read_text() for path in harness.state.rglob("*") if path.is_file()]
    assert "redacted github-token" in outputs[0] and not any(SECRET in text for text in outputs)


def test_a_text_is_capped_and_begins_with_a_letter(tmp_path: Path) -> None:
    rules = [
        typed(f'{{"{number}": "must never be 漢字漢字 {"x" * 200}"}} must never be written.')
        for number in range(90)
    ]
    rules += [
        typed(f"You must never write the word number {number} {'and so on ' * 20}.") for number in range(90)
    ]
    harness = FakeHarness(tmp_path, lines(rules))
    focus = harness.send("PreCompact", trigger="auto").out
    fields = harness.send("SessionStart", source="compact").context
    assert focus[0].isalpha() and 2000 < len(focus) <= 4000 and 2000 < len(fields) <= 3000
    assert "number 89 " in fields and "number 1 " not in fields and "older rules" in fields


def test_state_is_private_and_the_session_unchanged(claude: FakeHarness) -> None:
    digest = hashlib.sha256(claude.file.read_bytes()).digest()
    claude.send("PreCompact", trigger="auto")
    claude.send("PostCompact", trigger="auto", compact_summary=recorded_summary())
    claude.send("UserPromptSubmit", prompt="go on")
    for path in [claude.state, *claude.state.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert hashlib.sha256(claude.file.read_bytes()).digest() == digest
    written = {path for path in claude.home.rglob("*") if path.is_file()}
    assert all(path == claude.file or claude.state in path.parents for path in written)


def test_a_session_is_forgotten_after_thirty_days(claude: FakeHarness) -> None:
    claude.send("PreCompact", trigger="auto")
    old = claude.state / "sessions" / "old"
    claude.state.joinpath("sessions", "s1").rename(old)
    (old / ".snapshot.json.abc").write_text("left by a killed process")
    foreign = old.with_name("foreign")
    foreign.mkdir()
    (foreign / "notes.txt").write_text("of somebody else")
    for path in [*old.iterdir(), *foreign.iterdir(), old, foreign]:
        os.utime(path, (time.time() - 31 * 86_400,) * 2)
    claude.send("PreCompact", trigger="auto")
    assert not old.exists() and (foreign / "notes.txt").exists()


# Codex


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-01T00:00:00Z", "type": kind, "payload": payload}


def rollout(tmp_path: Path, rows: list[dict[str, Any]]) -> FakeHarness:
    harness = FakeHarness(tmp_path, b"", "0199")
    harness.file = tmp_path / ".codex/sessions/2026/rollout-x-0199.jsonl"
    harness.file.parent.mkdir(parents=True)
    harness.file.write_bytes(lines(rows))
    harness.environment = {**harness.environment, "CLAUDECODE": "1"}
    del harness.environment["CLAUDE_CODE_SESSION_ID"]
    return harness


def test_codex_is_told_at_the_start_and_with_a_prompt_alone(tmp_path: Path) -> None:
    rows = [
        codex("session_meta", id="0199"),
        codex("event_msg", type="user_message", message=RULE),
        codex("event_msg", type="user_message", message="You must always answer in German."),
    ]
    harness = rollout(tmp_path, rows)
    usual = {"turn_id": "t1", "model": "gpt-5"}
    assert harness.send("PreCompact", trigger="auto", **usual).out == ""
    retained = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": RULE}]}
    rows.append(codex("compacted", message="Work goes on.", replacement_history=[retained]))
    harness.file.write_bytes(lines(rows))
    # A start has no turn and may have no path: the session's own snapshot names the harness.
    start = harness.send(
        "SessionStart", source="compact", transcript_path=None, model="gpt-5", permission_mode="x"
    )
    assert RULE in start.context and "German" in start.context and len(start.out.encode()) <= 7000
    assert harness.send("PostCompact", trigger="auto", **usual).out == ""
    context = harness.send("UserPromptSubmit", prompt="go on", **usual).context
    assert "German" in context and RULE not in context


def test_an_encrypted_summary_leaves_the_outcome_unknown(tmp_path: Path) -> None:
    rows = [codex("event_msg", type="user_message", message=RULE)]
    harness = rollout(tmp_path, rows)
    harness.send("PreCompact", trigger="auto", turn_id="t1")
    history = [{"type": "compaction", "encrypted_content": "gAAAA"}]
    harness.file.write_bytes(lines([*rows, codex("compacted", message="", replacement_history=history)]))
    harness.send("PostCompact", trigger="auto", turn_id="t1")
    assert [item["outcome"] for item in harness.stored("report.json")["items"]] == ["unknown"]
    assert harness.send("UserPromptSubmit", prompt="go on", turn_id="t2").out == ""
