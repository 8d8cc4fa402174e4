"""What Claude Code puts into the context again right after it has compacted it, by what the file shows.

The harness attaches files again that it read or changed last, and the rows of the transcript do not say so.
Published is that up to five recently read files come back when a session goes on from its summary (Claude
Code documentation, sessions, read in 2026). What each held is told by the calls before the compaction; that
large files are left out, and what comes beside files, is fitted to the requests after recorded compactions of
versions 2.1.7 to 2.1.49.

After three of thirteen such compactions (versions 2.1.17 and 2.1.19) next to nothing came back, though the
files touched last were like those of the others. Nothing in their files tells them apart: neither what was
changed or read in part, nor a limit that is counted in the provider's tokens, nor one to which larger files
are shortened. Newer versions keep a row for each attachment, and then nothing is guessed (`WeighedPath`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..session.blocks import ToolCall
from ..session.session import Session
from ..session.tree import Ints
from .ledger import Ledger

FILES = 5
"""Files that come back at most."""
LARGEST = 6_500
"""Counted tokens of a file, its lines numbered, above which it did not come back."""
BESIDE = 2_000
"""Counted tokens that came back beside files, as a rule: a plan, tasks, reminders."""
UNSEEN = 12_000
"""The provider's tokens that came back where the file does not hold what stood before: the middle of 13
compactions of the same versions, from 524 to 21,546."""
MOST = 24_000
"""The provider's tokens above which nothing was attached again after any compaction looked at."""
SHARE = 0.8
"""How many compactions attached anything at all: of the others nothing in the file tells which they are."""
ATTACHING = frozenset({"claude-code"})
"""Formats of harnesses that do so."""

READS, WRITES, EDITS = "Read", "Write", ("Edit", "MultiEdit")


class Reattached(NamedTuple):
    """Expected tokens by the ledger's counter, and the files they are of, the last one touched first."""

    tokens: int
    files: tuple[str, ...]


@dataclass
class _File:
    """A file as calls tell it, in counted tokens: of all of it, of a line, and of what was read in part."""

    whole: float = 0
    line: float = 0
    lines: int = 0
    part: float = 0
    changed: bool = False

    @property
    def size(self) -> float:
        """Tokens that come back: all of a file that was read whole or changed, the part of another."""
        whole = self.whole or self.line * self.lines
        if self.changed or self.whole:
            return whole if whole <= LARGEST else 0
        return self.part if self.part <= LARGEST else 0


def find_reattached(session: Session, ledger: Ledger, path: Ints, first: int, end: int) -> Reattached:
    """What is attached again after a compaction at path position `end`, whose stretch began at `first`."""
    if session.format not in ATTACHING:
        return Reattached(0, ())
    files: dict[str, _File] = {}
    asked: dict[str, tuple[str, Mapping[str, Any], float]] = {}
    for position in path[first:end].tolist():
        entry, row = session.entries[position], int(ledger.start[position])
        for number, block in enumerate(entry.blocks):
            if isinstance(block, ToolCall) and isinstance(block.input, Mapping):
                name = block.input.get("file_path")
                if isinstance(name, str) and block.name in (READS, WRITES, *EDITS):
                    asked[block.id] = block.name, block.input, float(ledger.tokens[row + number])
            elif block.kind == "tool_output" and block.call_id in asked and not block.is_error:
                tool, given, call = asked.pop(block.call_id)
                name = str(given["file_path"])
                file = files[name] = files.pop(name, _File())
                _touch(file, tool, given, call, float(ledger.tokens[row + number]))
    last = tuple(reversed(files))[:FILES]
    # What was read, planned and listed stood in the context before.
    most = int(ledger.entry_tokens[path[first:end]].sum())
    return Reattached(min(round(sum(files[name].size for name in last)) + BESIDE, most), last)


def _touch(file: _File, tool: str, given: Mapping[str, Any], call: float, output: float) -> None:
    """What one call and its output tell of a file."""
    if tool == WRITES:
        file.whole, file.changed = call, True
    elif tool in EDITS:
        file.changed = True
        if file.whole:
            file.whole = max(file.whole + _growth(given, call), 1)
    elif given.get("offset") is None and given.get("limit") is None:
        file.whole = output
    else:
        start, count = (_whole(given.get(key)) for key in ("offset", "limit"))
        file.part = output
        file.lines = max(file.lines, start + count)
        file.line = max(file.line, output / count) if count else file.line


def _growth(given: Mapping[str, Any], call: float) -> float:
    """Tokens by which a change makes a file longer, by its share of the call."""
    texts = (given.get(key) for key in ("old_string", "new_string"))
    old, new = (len(text) if isinstance(text, str) else 0 for text in texts)
    return call * (new - old) / max(new + old, 1)


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
