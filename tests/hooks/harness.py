"""A harness's side of a hook: a home, a session file, events on stdin."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.demo import read_demo

HOOK = [sys.executable, "-m", "inspector.start", "hook"]


def demo_rows() -> tuple[list[bytes], int]:
    """The rows of the demo session, and which of them is its compaction's boundary."""
    rows = read_demo().splitlines(keepends=True)
    return rows, next(at for at, row in enumerate(rows) if b'"subtype":"compact_boundary"' in row)


def before_compaction() -> bytes:
    rows, boundary = demo_rows()
    return b"".join(rows[:boundary])


def after_compaction() -> bytes:
    rows, boundary = demo_rows()
    return b"".join(rows[: boundary + 4])


def recorded_summary() -> str:
    rows, _ = demo_rows()
    return next(json.loads(row) for row in rows if b"isCompactSummary" in row)["message"]["content"]


def typed(text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "user", "uuid": text[:9], "message": {"role": "user", "content": text}, **fields}


def called(
    name: str, arguments: dict[str, Any], output: str, *, failed: bool = False
) -> list[dict[str, Any]]:
    """A call of a tool and its output, as two rows."""
    use = {"type": "tool_use", "id": f"c{name}{len(output)}", "name": name, "input": arguments}
    result = {"type": "tool_result", "tool_use_id": use["id"], "content": output, "is_error": failed}
    return [
        {"type": "assistant", "message": {"role": "assistant", "content": [use]}},
        {"type": "user", "message": {"role": "user", "content": [result]}},
    ]


def chain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with ids, each the child of the one before."""
    ids = [f"u{number}" for number in range(len(rows))]
    times = {"sessionId": "s1", "timestamp": "2026-11-01T00:00:00Z", "cwd": "/home/marit/tidepool"}
    return [
        {"parentUuid": parent, **times, **row, "uuid": name}
        for row, name, parent in zip(rows, ids, [None, *ids], strict=False)
    ]


def lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def context(self) -> str:
        """The text for the model, in the envelope of an event."""
        return json.loads(self.out)["hookSpecificOutput"]["additionalContext"]


class FakeHarness:
    """A home with a state folder and one session's file."""

    def __init__(self, folder: Path, data: bytes, session: str = "s1") -> None:
        self.home, self.session = folder, session
        self.state = folder / "state"
        self.file = folder / ".claude" / "projects" / "p" / f"{session}.jsonl"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(data)
        inherited = {
            name: os.environ[name] for name in ("PATH", "PYTHONPATH", "SYSTEMROOT") if name in os.environ
        }
        self.environment = {
            **inherited,
            "HOME": str(folder),
            "COMPACTION_INSPECTOR_STATE": str(self.state),
            "CLAUDE_CODE_SESSION_ID": session,
        }

    def payload(self, event: str, **fields: Any) -> dict[str, Any]:
        usual = {"session_id": self.session, "transcript_path": str(self.file), "cwd": "/home/marit/tidepool"}
        return {**usual, "hook_event_name": event, **fields}

    def give(self, data: bytes, **environment: str) -> Done:
        done = subprocess.run(
            HOOK, input=data, capture_output=True, env={**self.environment, **environment}, timeout=60
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def send(self, event: str, **fields: Any) -> Done:
        done = self.give(json.dumps(self.payload(event, **fields)).encode())
        assert (done.code, done.err) == (0, "")
        return done

    def start(self, event: str, **fields: Any) -> subprocess.Popen[bytes]:
        """A hook that has its event, and runs."""
        process = subprocess.Popen(
            HOOK, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(self.payload(event, **fields)).encode())
        process.stdin.flush()
        return process

    @property
    def log(self) -> list[str]:
        path = self.state / "hook.log"
        return path.read_text().splitlines() if path.exists() else []

    def stored(self, name: str) -> Any:
        return json.loads((self.state / "sessions" / self.session / name).read_text())
