"""Facts as columns over the blocks of a file, so that a plan's fates reach all of them at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .facts import Fact, Facts
from .facts.columns import KINDS
from .mentions import Pattern, make_pattern
from .session.blocks import BlockRef
from .session.session import Session
from .session.tree import Bools, Ints, Tree

_REFS: WeakKeyDictionary[Tree, dict[int, BlockRef]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Facts as columns: rows (int32, blocks of the file) first[i] … first[i+1] say fact i."""

    facts: tuple[Fact, ...]
    rows: Ints
    first: Ints
    patterns: dict[int, Pattern] = field(default_factory=dict)
    by_name: dict[str, list[Fact]] = field(default_factory=dict)

    @cached_property
    def kind(self) -> NDArray[np.uint8]:
        """uint8 per fact: index into KINDS."""
        return np.array([KINDS.index(fact.kind) for fact in self.facts], np.uint8)

    def any(self, mask: Bools) -> Bools:
        """bool per fact: one of its rows is in the mask (bool over rows, the last False)."""
        sums = np.concatenate(([0], np.cumsum(mask[self.rows])))
        hit: Bools = sums[self.first[1:]] > sums[self.first[:-1]]
        return hit

    def share_tail(self, fact: Fact, tail: str, known: Bools) -> tuple[str, ...]:
        """Other `known` files (bool per fact) that the same tail of a path may mean, not the tail alone."""
        return tuple(
            other.form
            for other in self.by_name.get(tail.rpartition("/")[2], ())
            if known[other.number]
            and other.form not in (fact.form, tail)
            and ("/" + other.form.replace("\\", "/")).endswith("/" + tail)
        )

    def pick(self, numbers: Iterable[int]) -> Occurrences:
        """Some of the facts alone."""
        mine = list(dict.fromkeys(numbers))
        rows = [self.rows[self.first[number] : self.first[number + 1]] for number in mine]
        first = np.cumsum([0, *map(len, rows)], dtype=np.int32)
        every = np.concatenate([np.zeros(0, np.int32), *rows])
        return Occurrences(tuple(self.facts[number] for number in mine), every, first)

    def pattern(self, index: int, session: Session) -> Pattern:
        """How fact `index` is looked up; made once."""
        if index not in self.patterns:
            self.patterns[index] = make_pattern(self.facts[index], session)
        return self.patterns[index]


def find_occurrences(facts: Facts, session: Session) -> Occurrences:
    """The facts as columns over the blocks of the session they were found in."""
    by_name: dict[str, list[Fact]] = {}
    for fact in facts.by_kind("file"):
        by_name.setdefault(fact.form.replace("\\", "/").rpartition("/")[2], []).append(fact)
    rows = (session.tree.start[facts.entry] + facts.block).astype(np.int32)
    return Occurrences(tuple(facts.values()), rows, facts.offset, by_name=by_name)


def refer(session: Session, rows: Ints) -> tuple[BlockRef, ...]:
    """The references of rows of the file, each once, in their order."""
    # Every plan asks for the same ones again.
    known = _REFS.setdefault(session.tree, {})
    wanted = dict.fromkeys(rows.tolist())
    new = [row for row in wanted if row not in known]
    if new:
        start = session.tree.start
        owners = np.searchsorted(start, np.array(new, np.int32), side="right") - 1
        for i, row in zip(owners.tolist(), new, strict=True):
            known[row] = BlockRef(session.entries[i].id, row - int(start[i]))
    return tuple([known[row] for row in wanted])
