"""DOOR: find a session while it runs, and estimate its next compaction. Nothing is written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

from ..text import plural
from .conversation import Conversation
from .payload import CLAUDE, HookError, is_session_id
from .snapshot import find_rules
from .state import HookState, find_state_folder
from .transcript import find_transcript, read_conversation

_GROWTH = 10


class ContextStatus(NamedTuple):
    """The size of a context and its next compaction; None for what is unknown.

    Attributes:
        tokens: The tokens of the last request.
        threshold: The tokens at which the harness compacts.
        source: The source of the threshold.
        turns: Turns until then, at the median growth of the last turns.
        rules: Clear rules that the user typed, and that a summary may lose.
    """

    tokens: int
    threshold: int | None
    source: str
    turns: int | None
    rules: int

    def line(self, share: float | None = None) -> str:
        """Return one line; `share` is the used part of the window in percent, if the harness states it."""
        if share is None and self.threshold:
            share = 100 * self.tokens / self.threshold
        size = f"{share:.0f} %" if share is not None else f"{self.tokens:,} tokens"
        parts = [f"ctx {size}"] if share is not None or self.tokens else []
        if self.turns is not None:
            parts.append(f"compacts in ≈ {plural(self.turns, 'turn')}")
        return " · ".join([*parts, *[f"{plural(self.rules, 'rule')} at risk"] * bool(self.rules)])


def estimate_status(
    talk: Conversation, environment: Mapping[str, str], *, tokens: int = 0, window: int = 0
) -> ContextStatus:
    """Estimate when a session will be compacted, with the sizes that a harness states, if it does."""
    tokens = tokens or (talk.sizes[-1] if talk.sizes else 0)
    stated = environment.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "")
    share = environment.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "")
    size = int(stated) if stated.isdecimal() else window or talk.window
    threshold, source = size or None, "the window"
    if size and (stated.isdecimal() or share.isdecimal()):
        threshold, source = size * int(share if share.isdecimal() else 100) // 100, "the environment"
    elif talk.before:
        threshold, source = talk.before, "the size at the last compaction"
    sizes = talk.sizes[-_GROWTH - 1 :]
    growth = [after - before for before, after in pairwise(sizes) if after > before]
    turns = None
    if threshold and growth and tokens:
        turns = max(0, -(-(threshold - tokens) // max(1, round(median(growth)))))
    return ContextStatus(tokens, threshold, source, turns, len(find_rules(talk)))


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
