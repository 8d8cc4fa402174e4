"""DOOR: answer four questions about a session while it runs. Nothing is written, and secrets are redacted.

The status line, the MCP server, Jupyter AI and the magic `%compaction` all ask here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from ..text import printable
from .conversation import Conversation, read_row
from .payload import CLAUDE, HookError, is_session_id
from .report import find_lost
from .snapshot import clean_line, find_rules
from .state import HookState, find_state_folder, read_pins
from .transcript import find_transcript, iterate_rows, read_conversation

_GROWTH, _AROUND, _MOST_EXCERPT, _MOST_FOUND = 10, 20_000, 500, 10


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
        parts = (
            [f"ctx {share:.0f} %"]
            if share is not None
            else [f"ctx {self.tokens:,} tokens"] * bool(self.tokens)
        )
        if self.turns is not None:
            parts.append(f"compacts in ≈ {self.turns} turn{'s' * (self.turns != 1)}")
        if self.rules:
            parts.append(f"{self.rules} rule{'s' * (self.rules != 1)} at risk")
        return " · ".join(parts)


def estimate_status(
    talk: Conversation, environment: Mapping[str, str], *, tokens: int = 0, window: int = 0
) -> ContextStatus:
    """Estimate when a session will be compacted, with the sizes that a harness states, if it does."""
    tokens = tokens or (talk.sizes[-1] if talk.sizes else 0)
    stated = environment.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "")
    share = environment.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "")
    threshold, source = window or talk.window or None, "the window"
    if stated.isdecimal() or (threshold and share.isdecimal()):
        threshold = int(stated) if stated.isdecimal() else threshold
        threshold = threshold * int(share) // 100 if threshold and share.isdecimal() else threshold
        source = "the environment"
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

    @cached_property
    def talk(self) -> Conversation:
        """The session, read once."""
        return read_conversation(self.path, self.harness)

    def context_status(self) -> dict[str, Any]:
        """Return the size of the context and the estimated next compaction."""
        status = estimate_status(self.talk, os.environ)
        return {"session": self.session, **status._asdict(), "line": status.line()}

    def pinned(self) -> dict[str, list[str]]:
        """Return the pins of the folder and the clear rules that the user typed, word for word."""
        rules = [clean_line(rule["text"]) for rule in find_rules(self.talk)]
        return {"pins": read_pins(str(self.snapshot.get("cwd") or self.folder)), "rules": rules}

    def what_was_lost(self) -> dict[str, Any]:
        """Return what the summary of the last compaction left out or changed.

        Returns:
            `lost` of the hook's report, if a hook ran at the compaction; otherwise the losses in its file.
        """
        if report := self.state.read("report.json"):
            return {"session": self.session, "lost": find_lost(report), "items": report["items"]}
        lost = list(_trace_last(self.path)) if self.talk.boundary >= 0 else None
        note = "The session has no compaction." if lost is None else "No hook ran; read from the file."
        return {"session": self.session, "note": note, "lost": lost or [], "items": lost or []}

    def find_in_history(self, question: str, most: int = 5) -> list[dict[str, Any]]:
        """Find words in what was compacted away.

        Args:
            question: A few words. A text that has all of them next to each other comes first.
            most: How many excerpts to return, at most 10.

        Returns:
            Excerpts with the line of the file, who spoke and when; [] if no compaction replaced the words.
        """
        words = list(dict.fromkeys(re.findall(r"[\w./-]+", question.casefold())))
        raw = [word.encode() for word in words if word.isascii()]
        matches = list[tuple[float, int, str, dict[str, str]]]()
        if not words or self.talk.boundary < 0:
            return []
        for number, line in iterate_rows(self.path, self.talk.boundary):
            low = line.lower()
            if raw and not any(word in low for word in raw):
                continue
            speaker, texts = read_row(self.harness, line)
            for text in texts:
                folded = text.casefold()
                share = sum(word in folded for word in words) / len(words)
                if share >= 0.5:
                    share += question.casefold().strip() in folded
                    matches.append((share, number, text, speaker))
        matches.sort(key=lambda item: (-item[0], -item[1]))
        result = list[dict[str, Any]]()
        for share, number, text, speaker in matches:
            excerpt = _cut_excerpt(text, question.casefold().strip(), words)
            if excerpt and all(excerpt != other["excerpt"] for other in result):
                result.append({"line": number, **speaker, "share": min(share, 1.0), "excerpt": excerpt})
            if len(result) >= min(max(most, 1), _MOST_FOUND):
                break
        return result


def _trace_last(path: Path) -> Iterator[dict[str, str]]:
    """Yield what the last recorded compaction of a file lost, in the form of a report's items."""
    from ..facts.lint.check import LOSSES, check_trace
    from ..facts.trace import trace_recorded
    from ..files import open_session

    session = open_session(path)
    for trace in trace_recorded(session)[-1:]:
        for finding in check_trace(trace, session):
            if (one := finding.traced) is not None and finding.code in chain(*LOSSES.values()):
                kind = "rule" if one.fact.kind == "constraint" else one.fact.kind
                text, words = clean_line(one.fact.form), clean_line(one.words)
                yield {"kind": kind, "text": text, "outcome": one.outcome, "words": words}


def _cut_excerpt(text: str, question: str, words: list[str]) -> str:
    """Return the part of a text around the words, redacted first; "" if they are in a secret."""
    from ..redaction.cut import redact_text

    folded = text.casefold()
    at = max(folded.find(question), min((at for word in words if (at := folded.find(word)) >= 0), default=0))
    start = max(0, at - _AROUND)
    text = redact_text(text[start : at + _AROUND])
    folded = text.casefold()
    places = [at for word in (question, *words) if (at := folded.find(word)) >= 0]
    if not places:
        return ""
    start = max(0, places[0] - _MOST_EXCERPT // 3)
    part = text[start : start + _MOST_EXCERPT]
    return printable(f"{'…' * (start > 0)}{part.strip()}{'…' * (start + len(part) < len(text))}")
