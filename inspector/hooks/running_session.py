"""I/O: find a session while it runs. Nothing is written."""

from __future__ import annotations

import os
import re
from pathlib import Path

from .conversation import Conversation
from .payload import CLAUDE, HookError, is_session_id
from .state import HookState, find_state_folder
from .transcript import find_transcript, read_conversation


class RunningSession:
    """A session by its id, by the environment's id, or the newest session of the project's folder."""

    def __init__(self, session: str = "") -> None:
        self.folder = os.environ.get("CLAUDE_PROJECT_DIR") or str(Path.cwd())
        session = session or os.environ.get("CLAUDE_CODE_SESSION_ID", "")
        path = None if session else self._find_newest()
        self.session = path.stem if path is not None else session
        if not is_session_id(self.session):
            raise HookError(f"{self.folder}: there is no session of this folder; name one by its id")
        self.state = HookState(find_state_folder(), self.session)
        self.snapshot = self.state.read("snapshot.json")
        self.harness = str(self.snapshot.get("harness") or CLAUDE)
        path = path or find_transcript(str(self.snapshot.get("path") or ""), self.session, self.harness)
        if path is None:
            raise HookError(f"{self.session}: no file of this session was found")
        self.path: Path = path

    def _find_newest(self) -> Path | None:
        """Return the newest session of the folder: Claude Code names the folder of its files after it."""
        root = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "projects"
        files = root.joinpath(re.sub(r"[^A-Za-z0-9]", "-", self.folder)).glob("*.jsonl")
        return max(files, key=lambda file: file.stat().st_mtime, default=None)

    def read(self) -> Conversation:
        """Read the end of the session."""
        return read_conversation(self.path, self.harness)
