"""The facts as columns over the blocks of a session, and which of them are one under two names.

In go the facts of a session, out come `Occurrences`: the rows of the file for each fact, and its aliases: a
file by the end of its path, a commit by an id of another length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from operator import and_
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..session.blocks import BlockRef
from ..session.session import Session
from ..session.toolcalls.canonical_path import names
from ..session.tree import Bools, Ints, Tree
from .commits import sort_commits
from .extract.collect import KIND, OPERATIONS
from .facts import Fact, Facts
from .indexed_text import SaidBefore
from .mentions import FactPattern, is_rooted, make_pattern
from .path_index import find_beginning, find_longest, read_backwards
from .things import find_slot

T = TypeVar("T")
_ONLY_NAMED = {-1, OPERATIONS.index("listed")}
# Names that are common at the root of a project as well as in its folders.
_COMMON = names(
    "README.md CHANGELOG.md CONTRIBUTING.md CLAUDE.md AGENTS.md GEMINI.md TODO.md package.json tsconfig.json "
    "package-lock.json yarn.lock pnpm-lock.yaml go.mod go.sum Cargo.toml Cargo.lock pyproject.toml setup.py "
    "requirements.txt Makefile Dockerfile index.js index.ts index.html main.go main.py __init__.py mod.rs "
    "conftest.py .gitignore .env"
)
_REFS: WeakKeyDictionary[Tree, dict[int, BlockRef]] = WeakKeyDictionary()


def is_only_named(fact: Fact) -> bool:
    """Whether no tool took a file's name for its path."""
    start, end = fact.facts.offset[fact.number : fact.number + 2].tolist()
    return set(fact.facts.operation[start:end].tolist()) <= _ONLY_NAMED


def _may_be_short(fact: Fact) -> bool:
    """Whether a file may be meant by the end of its path: no tool took that for a path, and it is no name
    that many folders, or the first, have."""
    form = fact.form
    return (
        is_only_named(fact)
        and not is_rooted(form)
        and form not in _COMMON
        and ("/" in form or "." in form[1:])
    )


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Facts as columns: rows (int32, blocks of the file) first[i] … first[i+1] say fact i."""

    facts: tuple[Fact, ...]
    rows: Ints
    first: Ints
    patterns: dict[Fact, FactPattern] = field(default_factory=dict)
    by_name: dict[str, list[Fact]] = field(default_factory=dict)

    @cached_property
    def kind(self) -> NDArray[np.uint8]:
        """uint8 per fact: index into KINDS; words that are no fact are looked up as a symbol is."""
        return np.array([KIND.get(fact.kind, KIND["symbol"]) for fact in self.facts], np.uint8)

    def rows_of(self, number: int) -> Ints:
        """The rows that say a fact."""
        rows: Ints = self.rows[self.first[number] : self.first[number + 1]]
        return rows

    def find_form(self, form: str) -> list[int]:
        """The numbers of the facts with a form, however its words are spaced."""
        return self._by_words.get(" ".join(form.split()), [])

    @cached_property
    def _by_words(self) -> dict[str, list[int]]:
        by_words: dict[str, list[int]] = {}
        for number, fact in enumerate(self.facts):
            by_words.setdefault(" ".join(fact.form.split()), []).append(number)
        return by_words

    def make_said(self, says: Callable[[str], bool]) -> SaidBefore:
        """Return what was said as a fact anywhere, or in a context (`Remaining.says`)."""
        forms = self._forms
        return SaidBefore(lambda words: words.casefold() in forms or says(words))

    @cached_property
    def _forms(self) -> frozenset[str]:
        return frozenset(fact.form.casefold() for fact in self.facts)

    def is_latest(self, fact: Fact) -> bool:
        """Whether a number is the one that was said last of its name or unit."""
        return self._latest.get(find_slot(fact.form), fact) is fact

    @cached_property
    def _latest(self) -> dict[str, Fact]:
        """The number that was said last, by name or unit."""
        latest: dict[str, tuple[int, Fact]] = {}
        for number, fact in enumerate(self.facts):
            if fact.kind == "number":
                rows = self.rows_of(number)
                last = int(rows.max(initial=-1))
                slot = find_slot(fact.form)
                if slot not in latest or latest[slot][0] <= last:
                    latest[slot] = last, fact
        return {slot: fact for slot, (_, fact) in latest.items()}

    def by_place(self, find: Callable[[Facts], Mapping[int, T]]) -> dict[int, T]:
        """Return what is pairs of facts by their numbers, by their places in the columns instead."""
        if self.facts and self.facts is self.facts[0].facts.every:
            return dict(find(self.facts[0].facts))
        owners = {id(fact.facts): fact.facts for fact in self.facts}
        results = {owner: find(facts) for owner, facts in owners.items()}
        pairs = ((place, results[id(fact.facts)].get(fact.number)) for place, fact in enumerate(self.facts))
        return {place: item for place, item in pairs if item is not None}

    def any(self, mask: Bools) -> Bools:
        """bool per fact: one of its rows is in the mask (bool over rows, the last False)."""
        facts, rows = self._by_row
        hit = np.zeros(len(self.facts), bool)
        runs = np.flatnonzero(np.diff(mask, prepend=False, append=False)).reshape(-1, 2)
        for start, end in np.searchsorted(rows, runs).tolist():  # a context is a few runs of blocks
            hit[facts[start:end]] = True
        return hit

    @cached_property
    def _by_row(self) -> tuple[Ints, Ints]:
        """The facts and the rows that say them, in the order of the rows."""
        facts = np.repeat(np.arange(len(self.facts), dtype=np.int32), np.diff(self.first))
        order = np.argsort(self.rows, kind="stable")
        return facts[order], self.rows[order]

    @cached_property
    def _by_end(self) -> dict[str, tuple[list[str], list[Fact]]]:
        """The files of each name by the ends of their paths, in order as they are read backwards."""
        by_name: dict[str, tuple[list[str], list[Fact]]] = {}
        for name, facts in self.by_name.items():
            ends = sorted((read_backwards(fact.form), at) for at, fact in enumerate(facts))
            by_name[name] = [end for end, _ in ends], [facts[at] for _, at in ends]
        return by_name

    def find_ending(self, end: str) -> list[Fact]:
        """The files whose path ends so, in whole parts, or is the same; in the order they are first said."""
        ends, facts = self._by_end.get(end.rpartition("/")[2], ([], []))
        return sorted(facts[find_beginning(ends, read_backwards(end))], key=lambda fact: fact.number)

    def share_tail(self, fact: Fact, tail: str, is_known: Bools) -> tuple[str, ...]:
        """Other known files (`is_known`, bool per fact) that the same tail of a path may mean."""
        ending = self.find_ending(tail)
        return tuple(
            other.form for other in ending if is_known[other.number] and other.form not in (fact.form, tail)
        )

    def aliases(self, is_known: Bools) -> dict[int, int]:
        """Map shorter names of facts to the longer names of the same facts, among the known ones
        (`is_known`).

        A file's name is a shorter name of another if it ends the path of that one only and no tool call has
        it; as soon as both are known they are one file. A commit's id is a shorter one if only one longest id
        begins with it."""
        out, flags = dict[int, int](), is_known.tolist()
        for commits in self._commits:
            numbers = [(form, number) for form, number in commits.items() if flags[number]]
            longest = find_longest([form for form, _ in numbers])
            out |= {numbers[short][1]: numbers[whole][1] for short, whole in longest.items()}
        for ends, places, short in self._shortened:
            some = [at for at, number in enumerate(places) if flags[number]]
            longest = find_longest([ends[at] for at in some], [short[at] for at in some])
            out |= {places[some[at]]: places[some[whole]] for at, whole in longest.items()}
        return out

    @cached_property
    def _shortened(self) -> list[tuple[list[str], list[int], list[bool]]]:
        """The files of each name of which one may be another's shorter name: the ends of their paths, their
        numbers, and whether each may be short."""
        groups = []
        for ends, facts in self._by_end.values():
            begins = [two.startswith(end) for end, two in pairwise(ends)]
            short = [_may_be_short(fact) for fact in facts] if any(begins) else []
            if any(map(and_, begins, short)):
                groups.append((ends, [fact.number for fact in facts], short))
        return groups

    @cached_property
    def _commits(self) -> list[dict[str, int]]:
        """Groups of several commit ids that begin alike, in alphabetical order, with their places."""
        ids = {fact.form: at for at, fact in enumerate(self.facts) if fact.kind == "id"}
        return [{form: ids[form] for form in forms} for forms in sort_commits(ids).values() if len(forms) > 1]

    def pick(self, numbers: Iterable[int]) -> Occurrences:
        """Some of the facts alone."""
        unique = list(dict.fromkeys(numbers))
        rows = [self.rows_of(number) for number in unique]
        first = np.cumsum([0, *map(len, rows)], dtype=np.int32)
        every = np.concatenate([np.zeros(0, np.int32), *rows])
        return Occurrences(tuple(self.facts[number] for number in unique), every, first, self.patterns)

    def pattern(self, index: int, session: Session) -> FactPattern:
        """How fact `index` is looked up; made once, for all that were picked of the same facts too."""
        fact = self.facts[index]
        if fact not in self.patterns:
            self.patterns[fact] = make_pattern(fact, session)
        return self.patterns[fact]


def find_occurrences(facts: Facts, session: Session) -> Occurrences:
    """The facts as columns over the blocks of the session they were found in."""
    by_name: dict[str, list[Fact]] = {}
    for fact in facts.by_kind("file"):
        by_name.setdefault(fact.form.replace("\\", "/").rpartition("/")[2], []).append(fact)
    rows = (session.tree.start[facts.entry] + facts.block).astype(np.int32)
    return Occurrences(facts.every, rows, facts.offset, by_name=by_name)


def refer(session: Session, rows: Iterable[int]) -> tuple[BlockRef, ...]:
    """The references of rows of the file, each once, in their order."""
    # Every plan asks for the same ones again.
    cached = _REFS.setdefault(session.tree, {})
    unique = dict.fromkeys(rows)
    new = [row for row in unique if row not in cached]
    if new:
        start = session.tree.start
        owners = np.searchsorted(start, np.array(new, np.int32), side="right") - 1
        for i, row in zip(owners.tolist(), new, strict=True):
            cached[row] = BlockRef(session.entries[i].id, row - int(start[i]))
    return tuple([cached[row] for row in unique])
