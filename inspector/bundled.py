from __future__ import annotations

from .session import Session


def open_bundled() -> Session:
    """Placeholder until the story is written."""
    return Session(format="claude-code")
