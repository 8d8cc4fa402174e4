"""Find the facts that later work made out of date: rewritten commits and edited numbers.

`replaced.py` finds what the user replaced in words. Here a tool did it: a rebase gave a commit another id, or
an edit put another number behind a name. Such a fact is no loss if a summary leaves it out. Nothing is
out of date unless the calls and their outputs prove it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain

import numpy as np

from ..session.blocks import Block, BlockRef, ToolCall, ToolOutput
from ..session.session import Session
from ..session.tree import Ints
from ..tokens.memo import Memo
from .commits import SHORTEST, is_commit
from .extract.collect import BY, KIND
from .facts import Facts
from .replaced import Replacement
from .settled import find_path, read_edit
from .things import find_slot

_TOOL = BY.index("tool")
_ASSIGNED = re.compile(r"[\w.]+ = \S+")
_GIT = r"(?:^|[;&|(]|\n)\s*git\s+(?:-[cC]\s+\S+\s+)?"
_REST = r"[^\n;|&]*"
_REWRITES = re.compile(
    rf"{_GIT}(?:rebase\b|pull\b{_REST}--rebase\b|commit\b{_REST}--amend\b|filter-(?:branch|repo)\b)"
    rf"(?!{_REST}--(?:abort|quit|help|skip)\b)"
)
"""A Git command that gives commits other ids."""
_RESTORES = re.compile(rf"{_GIT}(?:checkout|restore|reset|stash|pull|merge|switch|revert)\b")
"""A Git command that may bring back an earlier state of files."""
_LINE = re.compile(r"^[\s*|/\\]*$|^\[[^\]\n]+ $")
"""The text before a commit's id on the lines of `git log --oneline` and of `git commit`."""
_TITLE = re.compile(r"\]? (?:\((?:HEAD|tag:|[\w./-]+/)[^()\n]*\) )?(?P<title>[^\n]+)")
_LEAST = 3
"""Words of a title by which two commits are taken for one: "fix lint" can be many."""
_SLOTS: Memo[list[list[int]]] = Memo(1)
_OUTDATED: Memo[dict[int, Replacement]] = Memo(4)


def find_outdated(facts: Facts, session: Session) -> dict[int, Replacement]:
    """Return what took the place of facts on a session's path, by their numbers.

    Args:
        facts: The facts of the session's file.
        session: The session, up to the point in time that is asked about.

    >>> from inspector import read_session
    >>> given = {"file_path": "limits.py", "old_string": "most = 20", "new_string": "most = 50"}
    >>> call = {"type": "tool_use", "id": "1", "name": "Edit", "input": given}
    >>> done = {"type": "tool_result", "tool_use_id": "1", "content": "The file was updated."}
    >>> answers = [("assistant", [call]), ("user", [done])]
    >>> rows = [{"role": role, "content": content} for role, content in (("user", "Go on."), *answers)]
    >>> session = read_session(rows)
    >>> [(session.facts.every[number].form, each.value, each.how)
    ...  for number, each in find_outdated(session.facts, session).items()]
    [('most = 20', '50', 'edited')]
    """
    return _OUTDATED.of(facts, lambda: dict(_LaterWork(facts, session).find()), session.leaf)


class _LaterWork:
    """The occurrences of facts on a path, in its order, and the calls that changed them."""

    def __init__(self, facts: Facts, session: Session) -> None:
        self.facts, self.session, self.index = facts, session, session.path_index
        self.calls = facts.calls.at(session)

    def find(self) -> Iterator[tuple[int, Replacement]]:
        yield from self._find_edited()
        yield from self._find_rewritten()

    def _rows(self, numbers: Sequence[int]) -> Iterator[tuple[int, Ints]]:
        """Yield the occurrences of facts on the path, in its order, for each fact that has some."""
        facts = self.facts
        for number in numbers:
            rows = np.arange(*facts.offset[number : number + 2].tolist())
            rows = rows[self.index[facts.entry[rows]] >= 0]
            order = np.lexsort((facts.start[rows], facts.block[rows], self.index[facts.entry[rows]]))
            if len(rows):
                yield number, rows[order]

    def _block(self, row: int) -> Block:
        return self.session.entries[int(self.facts.entry[row])].blocks[int(self.facts.block[row])]

    def _ref(self, row: int) -> BlockRef:
        return BlockRef(self.session.entries[int(self.facts.entry[row])].id, int(self.facts.block[row]))

    def _words(self, row: int) -> str:
        return self._block(row).text[int(self.facts.start[row]) : int(self.facts.end[row])]

    @cached_property
    def _paths(self) -> dict[str, str]:
        """The path of each call that names one, by the call's id."""
        blocks = (block for position in self.session.path for block in self.session.entries[position].blocks)
        return {block.id: find_path(block) for block in blocks if isinstance(block, ToolCall)}

    def _is_in_file(self, row: int, path: str) -> bool:
        """Whether an occurrence is in a call or an output about a file, or in prose."""
        block = self._block(row)
        if isinstance(block, ToolCall):
            return find_path(block) == path
        return not isinstance(block, ToolOutput) or self._paths.get(block.call_id) == path

    def _edit(self, row: int) -> tuple[str, str, str] | None:
        """Return what the edit with an occurrence does, if one has it."""
        call = self._block(row)
        return read_edit(call) if isinstance(call, ToolCall) else None

    def _find_slots(self) -> list[list[int]]:
        """Return the numbers of each name that has several, one of them in an edit."""
        facts = self.facts
        slots: dict[str, list[int]] = {}
        for number in np.flatnonzero(facts.kind == KIND["number"]).tolist():
            if _ASSIGNED.fullmatch(facts.every[number].form):
                slots.setdefault(find_slot(facts.every[number].form), []).append(number)
        offset = facts.offset.tolist()
        several = (
            (members, chain(*(range(*offset[at : at + 2]) for at in members))) for members in slots.values()
        )
        return [members for members, rows in several if len(members) > 1 and any(map(self._edit, rows))]

    def _find_edited(self) -> Iterator[tuple[int, Replacement]]:
        """Yield numbers behind a name whose last occurrence is in an edit that puts another one there."""
        facts = self.facts
        for members in _SLOTS.of(facts, self._find_slots):
            rows = dict(self._rows(members))
            for number, own_rows in rows.items():
                last = int(own_rows[-1])
                edit, words = self._edit(last), self._words(last)
                if edit is None or words not in edit[1] or words in edit[2]:
                    continue
                here, at = self._ref(last), int(self.index[facts.entry[last]])
                beside = (
                    (other, row) for other in rows for row in rows[other].tolist() if self._ref(row) == here
                )
                added = {other: row for other, row in beside if self._words(row) in edit[2]}
                # If an edit adds several numbers of the name, the replacement is unknown.
                if (
                    len(added) == 1
                    and self.calls.has_worked(here)
                    and all(self._is_in_file(row, edit[0]) for row in own_rows.tolist())
                    and not any(to[0] > at and _RESTORES.search(line) for to, _, line in self.calls.commands)
                ):
                    ((other, row),) = added.items()
                    value = facts.every[other].form.rpartition("= ")[2]
                    yield number, Replacement(here, self._words(row), value, "edited")

    def _find_rewritten(self) -> Iterator[tuple[int, Replacement]]:
        """Yield commits that a rebase or an amendment gave another id: the same title occurs later."""
        facts = self.facts
        numbers = np.flatnonzero(facts.kind == KIND["id"]).tolist()
        commits = [number for number in numbers if is_commit(facts.every[number].form)]
        commands = self.calls.commands if commits else ()
        steps = [at for (at, _), _, command in commands if _REWRITES.search(command)]
        if not steps:
            return
        titles: dict[str, dict[int, tuple[int, int]]] = {}
        for number, rows in self._rows(commits):
            for row in rows[facts.by[rows] == _TOOL].tolist():
                title = self._read_title(row)
                if title:  # the last occurrence with the title is kept
                    titles.setdefault(title, {})[number] = int(self.index[facts.entry[row]]), row
        for last_rows in titles.values():
            newest = max(last_rows, key=lambda number: last_rows[number])
            (at, row), form = last_rows[newest], facts.every[newest].form
            for number, (last, _) in last_rows.items():
                is_other = facts.every[number].form[:SHORTEST] != form[:SHORTEST]
                if is_other and any(last < step <= at for step in steps):
                    yield number, Replacement(self._ref(row), form, form, "rewritten")

    def _read_title(self, row: int) -> str:
        """Return the title after the id of a commit, as `git log --oneline` and `git commit` print it."""
        text = self._block(row).text
        start, end = int(self.facts.start[row]), int(self.facts.end[row])
        match = _TITLE.match(text, end)
        words = match["title"].split() if match else []
        before = text[text.rfind("\n", 0, start) + 1 : start]
        # Two merges of one branch have the same title.
        if len(words) < _LEAST or words[0] == "Merge" or _LINE.match(before) is None:
            return ""
        return " ".join(words)
