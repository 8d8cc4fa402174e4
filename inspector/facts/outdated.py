"""Find the facts that later work made out of date: rewritten commits, edited numbers, deleted files.

`replaced.py` finds what the user replaced in words. Here a tool did it: a rebase gave a commit another id, an
edit put another number behind a name, a command deleted a file. Such a fact is no loss if a summary leaves it
out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from ..session.blocks import BlockRef, ToolCall
from ..session.session import Session
from ..session.toolcalls.call_paths import names
from ..session.tree import Ints
from ..tokens.memo import Memo
from .commits import SHORTEST, is_commit
from .extract.collect import BY, KIND, OPERATIONS
from .facts import Facts
from .replaced import Replacement
from .things import find_slot

_TOOL = BY.index("tool")
_DELETED = OPERATIONS.index("deleted")
_ASSIGNED = re.compile(r"[\w.]+ = \S+")
_REWRITES = re.compile(r"\brebase\b|--amend\b|\bfilter-(?:branch|repo)\b")
"""What gives commits other ids."""
_TITLE = re.compile(r"[\])]?:? (?:\([^()\n]*\) )?(?P<title>[^\n]+)")
_LEAST = 3
"""Words of a title by which two commits are taken for one: "fix lint" can be many."""
_STEPS = names("pick reword edit squash fixup drop onto")
_OUTDATED: Memo[dict[int, Replacement]] = Memo(4)


def find_outdated(facts: Facts, session: Session) -> dict[int, Replacement]:
    """Return what took the place of facts on a session's path, by their numbers.

    Args:
        facts: The facts of the session's file.
        session: The session, up to the point in time of which is asked.

    >>> from inspector import read_session
    >>> call = {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "rm notes.md"}}
    >>> rows = [{"role": "user", "content": "Read notes.md."}, {"role": "assistant", "content": [call]}]
    >>> session = read_session(rows)
    >>> [(session.facts.every[number].form, each.how) for number, each in
    ...  find_outdated(session.facts, session).items()]
    [('notes.md', 'deleted')]
    """
    return _OUTDATED.of(facts, lambda: dict(_Later(facts, session).find()), session.leaf)


def read_edit(call: ToolCall) -> tuple[str, str]:
    """Return what an edit or a patch removes from files and what it adds.

    >>> read_edit(ToolCall(id="1", name="Edit", input={"old_string": "a = 1", "new_string": "a = 2"}))
    ('a = 1', 'a = 2')
    >>> read_edit(ToolCall(id="1", name="apply_patch", input={"patch": "@@\\n-a = 1\\n+a = 2"}))
    ('a = 1', 'a = 2')
    """
    removed, added = list[str](), list[str]()
    rest = [("", call.input)]
    while rest:
        key, value = rest.pop()
        if isinstance(value, dict):
            rest += value.items()
        elif isinstance(value, list):
            rest += [("", item) for item in value]
        elif isinstance(value, str) and key.casefold().startswith(("old", "new")):
            (removed if key.casefold().startswith("old") else added).append(value)
        elif isinstance(value, str) and "@@" in value:
            removed += [line[1:] for line in value.splitlines() if line.startswith("-")]
            added += [line[1:] for line in value.splitlines() if line.startswith("+")]
    return "\n".join(removed), "\n".join(added)


class _Later:
    """The occurrences of facts on a path, in its order."""

    def __init__(self, facts: Facts, session: Session) -> None:
        self.facts, self.session = facts, session
        self.place = session.path_index

    def find(self) -> Iterator[tuple[int, Replacement]]:
        yield from self._find_deleted()
        yield from self._find_edited()
        yield from self._find_rewritten()

    def _rows(self, numbers: Sequence[int]) -> Iterator[tuple[int, Ints]]:
        """The occurrences of some facts on the path, in its order."""
        facts = self.facts
        for number in numbers:
            rows = np.arange(*facts.offset[number : number + 2].tolist())
            rows = rows[self.place[facts.entry[rows]] >= 0]
            order = np.lexsort((facts.start[rows], facts.block[rows], self.place[facts.entry[rows]]))
            if len(rows):
                yield number, rows[order]

    def _ref(self, row: int) -> BlockRef:
        return BlockRef(self.session.entries[int(self.facts.entry[row])].id, int(self.facts.block[row]))

    def _text(self, row: int) -> str:
        block = self.session.entries[int(self.facts.entry[row])].blocks[int(self.facts.block[row])]
        return block.text

    def _words(self, row: int) -> str:
        return self._text(row)[int(self.facts.start[row]) : int(self.facts.end[row])]

    def _find_deleted(self) -> Iterator[tuple[int, Replacement]]:
        """Files whose last operation deleted them."""
        facts = self.facts
        deleted = np.unique(facts.fact[facts.operation == _DELETED])
        for number, rows in self._rows(deleted.tolist()):
            done = rows[facts.operation[rows] >= 0]
            if len(done) and facts.operation[done[-1]] == _DELETED:
                row = int(done[-1])
                yield number, Replacement(self._ref(row), self._words(row), "", "deleted")

    def _find_edited(self) -> Iterator[tuple[int, Replacement]]:
        """Numbers behind a name of which the last occurrence is in an edit that puts another one there."""
        facts = self.facts
        numbers = np.flatnonzero(facts.kind == KIND["number"]).tolist()
        assigned = [number for number in numbers if _ASSIGNED.fullmatch(facts.every[number].form)]
        slots: dict[str, list[int]] = {}
        for number in assigned:
            slots.setdefault(find_slot(facts.every[number].form), []).append(number)
        for members in slots.values():
            if len(members) < 2:
                continue
            rows = dict(self._rows(members))
            for number, mine in rows.items():
                call = self.session.entries[int(facts.entry[mine[-1]])].blocks[int(facts.block[mine[-1]])]
                removed, added = read_edit(call) if isinstance(call, ToolCall) else ("", "")
                if self._words(int(mine[-1])) not in removed:
                    continue
                ref = self._ref(int(mine[-1]))
                inside = [
                    (row, other)
                    for other, every in rows.items()
                    for row in every.tolist()
                    if other != number and self._ref(row) == ref and self._words(row) in added
                ]
                # An edit that adds more numbers of the name does not tell which one replaced it.
                if len(inside) == 1 and self._words(int(mine[-1])) not in added:
                    row, other = inside[0]
                    value = facts.every[other].form.rpartition("= ")[2]
                    yield number, Replacement(ref, self._words(row), value, "edited")

    def _find_rewritten(self) -> Iterator[tuple[int, Replacement]]:
        """Commits that a rebase or an amendment gave another id: the same title, told later."""
        facts = self.facts
        numbers = np.flatnonzero(facts.kind == KIND["id"]).tolist()
        commits = [number for number in numbers if is_commit(facts.every[number].form)]
        rewriting = self._find_rewriting() if commits else []
        if not rewriting:
            return
        titles: dict[str, dict[int, tuple[int, int]]] = {}
        for number, rows in self._rows(commits):
            for row in rows[facts.by[rows] == _TOOL].tolist():
                title = self._read_title(row)
                if title:  # the last place with the title is kept
                    titles.setdefault(title, {})[number] = int(self.place[facts.entry[row]]), row
        for told in titles.values():
            newest = max(told, key=lambda number: told[number])
            (at, row), form = told[newest], facts.every[newest].form
            for number, (last, _) in told.items():
                if any(last < step <= at for step in rewriting):
                    if facts.every[number].form[:SHORTEST] != form[:SHORTEST]:
                        yield number, Replacement(self._ref(row), form, form, "rewritten")

    def _find_rewriting(self) -> list[int]:
        """Return the places on the path of the calls that may give commits other ids."""
        return [
            at
            for at, entry in enumerate(self.session.entries[position] for position in self.session.path)
            if any(isinstance(block, ToolCall) and _REWRITES.search(block.text) for block in entry.blocks)
        ]

    def _read_title(self, row: int) -> str:
        """Return the title behind the id of a commit, as `git log --oneline` and `git commit` write it."""
        text, end = self._text(row), int(self.facts.end[row])
        found = _TITLE.match(text, end)
        words = found["title"].split() if found else []
        line = text[text.rfind("\n", 0, end) + 1 : end]
        # Two merges of one branch have the same title.
        if len(words) < _LEAST or words[0] == "Merge" or _STEPS & set(line.casefold().split()):
            return ""
        return " ".join(words)
