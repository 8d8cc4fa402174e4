"""Say of a lost file what was done to it, and whether it is a folder."""

from __future__ import annotations

import re

from ...session.blocks import ToolCall
from ...tokens.memo import Memo
from ..facts import Facts, Occurrence
from ..traced import TracedFact

_FOLDERS: Memo[frozenset[str]] = Memo()
CHANGED = ("created", "edited", "deleted")
_COPIES_ALL = re.compile(
    r"(?i)\b(?:cp|copy-item|rsync|xcopy|robocopy)\s[^;&|\n]*?-(?:\w*[ra]|-recur)\w*\b[^;&|\n]*$"
)
"""The beginning of a command that copies a folder with all that is in it, up to a path in it."""
_MOVES = re.compile(r"(?i)\b(?:mv|move|move-item|rename-item)\s[^;&|\n]*$")
"""The beginning of a command that moves or renames, up to a path in it."""


def list_mentions(traced: TracedFact) -> list[Occurrence]:
    """Return the occurrences of a fact before the compaction that it was traced through."""
    refs = set(traced.said)
    return [mention for mention in traced.fact.said if mention.ref in refs]


def _list_folders(facts: Facts) -> frozenset[str]:
    """Return the folders above the files of a session."""
    paths = (fact.form for fact in facts.every if fact.kind == "file")
    return frozenset(path[:at] for path in paths for at, char in enumerate(path) if char == "/")


def is_folder(traced: TracedFact) -> bool:
    """Whether a path is known to name a folder: another path goes on in it, or all in it was copied."""
    facts = traced.fact.facts
    if traced.fact.form.rstrip("/") in _FOLDERS.of(facts, lambda: _list_folders(facts)):
        return True
    for mention in list_mentions(traced):
        block = traced.scene.session.block(mention.ref)
        if isinstance(block, ToolCall) and mention.operation in CHANGED:
            if block.text[mention.end : mention.end + 1] == "/" or _COPIES_ALL.search(
                block.text[: mention.start]
            ):
                return True
    return False


def name_change(traced: TracedFact, change: Occurrence) -> str:
    """Return what was done to a file: what a command moves is not created by it."""
    block = traced.scene.session.block(change.ref)
    moves = isinstance(block, ToolCall) and _MOVES.search(block.text[: change.start])
    return "moved" if moves and change.operation == "created" else change.operation or ""
