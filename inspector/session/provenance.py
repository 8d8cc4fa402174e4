"""Identify the harness, version, model and folder of a session, as its file records them."""

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
    "deepseek-harness": "DeepSeek Harness",
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
    "hf-sts": None,
    "dataclaw": None,
    "traces": None,
}
"""The usual name of a format's harness; None if several harnesses write the format. Other formats have the
name of their harness."""


FILE_MODE = "file_mode"
"""The attribute of a session with the permissions of its files. It is not a field of the manifest."""


def file_mode_of(session: object) -> int | None:
    """Return the permissions that all files of a session grant; None for a session without files.

    Files written from the session get the same permissions.
    """
    mode: int | None = vars(session).get(FILE_MODE)
    return mode


class Provenance(NamedTuple):
    """The origin of a file, as it records it; None for what it does not record.

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
    """Return the provenance of a session. Readers of other packages put the harness into `extra`."""
    harness, version = extra.get("harness"), extra.get("version")
    return Provenance(
        harness=harness if isinstance(harness, str) and harness else HARNESSES.get(format, format),
        version=version if isinstance(version, str) and version else None,
        model=model or None,
        cwd=cwd or None,
    )
