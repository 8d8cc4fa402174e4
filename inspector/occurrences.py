"""Facts as columns over the blocks of a file, so that a plan's fates reach all of them at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .blocks import BlockRef
from .facts import Fact, Facts
from .live import Bools, Ints
from .mentions import Pattern, make_pattern
from .session import Session


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Facts as columns: rows (int32, blocks of the file) first[i] … first[i+1] say fact i."""

    facts: tuple[Fact, ...]
    rows: Ints
    first: Ints
    patterns: dict[int, Pattern] = field(default_factory=dict)
    by_name: dict[str, list[Fact]] = field(default_factory=dict)

    def any(self, mask: Bools) -> Bools:
        """bool per fact: one of its rows is in the mask (bool over rows, the last False)."""
        sums = np.concatenate(([0], np.cumsum(mask[self.rows])))
        hit: Bools = sums[self.first[1:]] > sums[self.first[:-1]]
        return hit

    def share_tail(self, fact: Fact, tail: str) -> tuple[str, ...]:
        """Other files of the session that the same tail of a path may mean, not the tail alone."""
        return tuple(
            other.form
            for other in self.by_name.get(tail.rpartition("/")[2], ())
            if other.form not in (fact.form, tail)
            and ("/" + other.form.replace("\\", "/")).endswith("/" + tail)
        )

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
    start = session.tree.start
    rows = np.array(list(dict.fromkeys(rows.tolist())), np.int32)
    owners = np.searchsorted(start, rows, side="right") - 1
    return tuple(
        BlockRef(session.entries[i].id, row - int(start[i]))
        for i, row in zip(owners.tolist(), rows.tolist(), strict=True)
    )
