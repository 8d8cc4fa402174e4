"""Which harness wrote a session, in which version, with which model, and where: as its file says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..text import printed

HARNESSES: dict[str, str | None] = {
    "claude-code": "Claude Code",
    "claude-stream-json": "Claude Code",
    "codex": "Codex",
    "gemini-cli": "Gemini CLI",
    "qwen": "Qwen Code",
    "copilot-cli": "Copilot CLI",
    "kimi": "Kimi Code",
    "cline": "Cline",
    "flue": "Flue",
    "inspect": "Inspect",
    "openhands": "OpenHands",
    "openhands-trajectory": "OpenHands",
    "swe-agent": "SWE-agent",
    "vscode-chat": "VS Code chat",
    "pydantic-ai": "Pydantic AI",
    "ai-sdk": "AI SDK",
    "claude-ai": "Claude.ai",
    "chatgpt": "ChatGPT",
    "langgraph": "LangGraph",
    "atif": None,
    "anthropic-messages": None,
    "request-log": None,
    "message-lines": None,
    "data-set": None,
    "traces": None,
}
"""What people call the harness of a format. None where a file of it may be of any; others are called as the
format is."""


FILE_MODE = "file_mode"
"""The attribute of a session with the permissions of its files. It is not a field of the manifest."""


def file_mode_of(session: object) -> int | None:
    """Return the permissions that all files of a session grant; None for a session without files.

    Files written from the session get the same permissions.
    """
    mode: int | None = vars(session).get(FILE_MODE)
    return mode


class Provenance(NamedTuple):
    """What a file says of its own making; None is what it does not say.

    >>> Provenance("Codex", "0.140.0", "gpt-5.5", None)
    Codex 0.140.0, gpt-5.5
    >>> Provenance(None, None, None, "/work")
    harness unknown, in /work
    """

    harness: str | None
    version: str | None
    model: str | None
    cwd: str | None

    @printed
    def __repr__(self) -> str:
        name = " ".join(part for part in (self.harness or "harness unknown", self.version) if part)
        return ", ".join(
            [name, *([self.model] if self.model else []), *([f"in {self.cwd}"] if self.cwd else [])]
        )


def find_provenance(format: str, model: str | None, cwd: str | None, extra: Mapping[str, Any]) -> Provenance:
    """That of a session of this format. A reader of another package puts its "harness" into `extra`."""
    told, version = extra.get("harness"), extra.get("version")
    return Provenance(
        harness=told if isinstance(told, str) and told else HARNESSES.get(format, format),
        version=version if isinstance(version, str) and version else None,
        model=model or None,
        cwd=cwd or None,
    )
