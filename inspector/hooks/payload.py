"""Parse the JSON object that a harness gives a hook, and identify the harness."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..errors import InspectorError

MOST_BYTES = 1_000_000
"""The longest input that is read; a longer one is answered with nothing."""
_SESSION = re.compile(r"(?!\.+$)[A-Za-z0-9._-]{1,128}")
CLAUDE, CODEX, OTHER = "claude-code", "codex", "other"


class HookError(InspectorError):
    """Settings, a pin or a running session cannot be had as asked; the message says why and what to do."""


class HookPayload(NamedTuple):
    """One event of a harness, and the whole object; a field that it lacks is ""."""

    harness: str
    event: str
    session: str
    transcript: str
    cwd: str
    fields: dict[str, Any]

    def text(self, name: str) -> str:
        """Return a field that is a text; "" for a missing one and for other types."""
        return _text(self.fields, name)


def parse_payload(data: bytes, environment: Mapping[str, str]) -> HookPayload | None:
    """Parse an event from stdin, with the environment variables.

    Returns:
        The event. None if there is nothing to answer: no object, no valid session id, a sub-agent's event.

    >>> event = b'{"hook_event_name": "PreCompact", "session_id": "s1", "turn_id": "t1"}'
    >>> parse_payload(event, {}).harness, parse_payload(b"[]", {})
    ('codex', None)
    """
    if len(data) > MOST_BYTES:
        return None
    fields = json.loads(data.decode("utf-8-sig"))
    session = _text(fields, "session_id") if isinstance(fields, dict) else ""
    if not is_session_id(session) or fields.get("agent_id"):
        return None
    harness = detect_harness(fields, environment)
    names = ("hook_event_name", "session_id", "transcript_path", "cwd")
    event, session, transcript, cwd = (_text(fields, name) for name in names)
    return HookPayload(harness, event, session, transcript, cwd, fields)


def is_session_id(text: str) -> bool:
    """Return whether a text is a session's id, which names a folder: letters, digits, ".", "_" and "-"."""
    return _SESSION.fullmatch(text) is not None


def detect_harness(fields: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """Identify the harness of an event: Claude Code, Codex or another one; "" if it is unclear.

    Several harnesses run the hooks that were installed for Claude Code, so its name alone is not proof.
    CLAUDECODE is not read: Codex started from Claude Code inherits it.
    """
    event, path = _text(fields, "hook_event_name"), _text(fields, "transcript_path").replace("\\", "/")
    if {"hookName", "clineVersion", "conversation_id"} & fields.keys():
        return OTHER  # Cline, Cursor
    if event == "PreCompress" or {"GEMINI_SESSION_ID", "QWEN_PROJECT_DIR"} & environment.keys():
        return OTHER  # Gemini CLI, Qwen Code
    if "turn_id" in fields or path.rpartition("/")[2].startswith("rollout-") or "/.codex/" in path:
        return CODEX
    if {"sessionId", "timestamp"} & fields.keys():
        return OTHER  # Copilot CLI
    own = environment.get("CLAUDE_CODE_SESSION_ID")
    if (own and own == _text(fields, "session_id")) or "/projects/" in path:
        return CLAUDE
    return ""


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
