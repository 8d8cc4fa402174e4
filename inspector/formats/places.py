"""The folders in which each harness stores its sessions, and the names of the files.

The folder may be set by an environment variable (`find_places`). Sources of the paths are the harnesses'
documentation and code, as of November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Place(NamedTuple):
    """A folder of one harness, below the one that the environment variable `variable` names, if there is one,
    else below `base` in the user's home. `pattern` is a glob that matches one file per session.
    """

    harness: str
    variable: str
    base: str
    folder: str
    pattern: str


PLACES = (
    Place("Claude Code", "CLAUDE_CONFIG_DIR", ".claude", "projects", "*/*.jsonl"),
    Place("Codex", "CODEX_HOME", ".codex", "sessions", "*/*/*/rollout-*.jsonl"),
    Place("Codex", "CODEX_HOME", ".codex", "sessions", "*/*/*/rollout-*.jsonl.zst"),
    Place("Codex", "CODEX_HOME", ".codex", "archived_sessions", "rollout-*.jsonl"),
    Place("pi", "PI_CODING_AGENT_DIR", ".pi/agent", "sessions", "*/*.jsonl"),
    Place("Gemini CLI", "", ".gemini", "tmp", "*/chats/session-*.jsonl"),
    Place("Gemini CLI", "", ".gemini", "tmp", "*/chats/session-*.json"),
    Place("Qwen Code", "", ".qwen", "projects", "*/chats/*.jsonl"),
    Place("Qwen Code", "", ".qwen", "tmp", "*/chats/*.jsonl"),
    Place("Kimi Code", "KIMI_CODE_HOME", ".kimi-code", "sessions", "*/*/agents/main/wire.jsonl"),
    Place("OpenHands", "", ".openhands", "conversations", "*/base_state.json"),
    Place("Copilot CLI", "", ".copilot", "session-state", "*/events.jsonl"),
    Place("Copilot CLI", "", ".copilot", "session-state", "*.jsonl"),
    *(
        Place(harness, "", f"{settings}/Code/User", folder, pattern)
        for harness, folder, pattern in (
            ("Cline", "globalStorage/saoudrizwan.claude-dev/tasks", "*/api_conversation_history.json"),
            ("VS Code", "workspaceStorage", "*/chatSessions/*.json"),
            ("VS Code", "workspaceStorage", "*/chatSessions/*.jsonl"),
        )
        for settings in (".config", "Library/Application Support", "AppData/Roaming")
    ),
)


def find_places(environment: Mapping[str, str], home: str | None) -> list[tuple[Place, str]]:
    """Return each place with its folder for this user; without `home`, only places set by a variable.

    >>> places = find_places({"CODEX_HOME": "/data/codex"}, "/home/ada")
    >>> [folder for place, folder in places if place.harness == "pi"]
    ['/home/ada/.pi/agent/sessions']
    >>> next(folder for place, folder in places if place.harness == "Codex")
    '/data/codex/sessions'
    """
    bases = [(place, environment.get(place.variable)) for place in PLACES]
    return [
        (place, f"{base or f'{home}/{place.base}'}/{place.folder}")
        for place, base in bases
        if base or home is not None
    ]
