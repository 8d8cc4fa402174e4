"""I/O: print one line about the context for a harness's status line, below the user's own one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from typing import Any

from .context_status import estimate_status
from .conversation import INPUT
from .payload import CLAUDE, is_session_id
from .transcript import find_transcript, read_conversation

_SECONDS = 5.0


def run_status_line(words: list[str]) -> int:
    """Print the line of the session on stdin, after the output of the user's `--then COMMAND`; return 0."""
    data = sys.stdin.buffer.read(10_000_000)
    lines = list[str]()
    if words[:1] == ["--then"] and len(words) > 1:
        with suppress(OSError, subprocess.SubprocessError):
            # The user's own command line, which the harness would run by a shell as well.
            done = subprocess.run(words[1], shell=True, input=data, capture_output=True, timeout=_SECONDS)
            lines += done.stdout.decode("utf-8", "replace").rstrip("\n").split("\n")
    with suppress(Exception):
        lines.append(write_status_line(json.loads(data.decode("utf-8-sig"))))
    text = "\n".join(line for line in lines if line)
    with suppress(OSError):
        os.write(1, f"{text}\n".encode("utf-8", "replace") if text else b"")
    return 0


def write_status_line(fields: dict[str, Any]) -> str:
    """Return the line for the JSON that Claude Code gives its status line."""
    session, path = str(fields.get("session_id") or ""), str(fields.get("transcript_path") or "")
    if not is_session_id(session) or (file := find_transcript(path, session, CLAUDE)) is None:
        return ""
    context = fields.get("context_window") or {}
    usage = context.get("current_usage") or {}
    tokens = sum(int(usage.get(name) or 0) for name in INPUT)
    window = int(context.get("context_window_size") or 0)
    status = estimate_status(read_conversation(file, CLAUDE), os.environ, tokens=tokens, window=window)
    share = context.get("used_percentage")
    return status.line(float(share) if share is not None else None)
