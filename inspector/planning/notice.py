"""The text and the cost of a notice, for every place of the cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..policies.table import COUNTED, Notice, Table
from ..session.tree import Bools, Ints
from ..text import utf16_length
from ..tokens.counter import Longs
from ..tokens.counters import find_counter
from ..tokens.rows import SECTIONS, SECTIONS_OF_ROLES
from .fates import SideFates


@dataclass(frozen=True, eq=False)
class PlacedNotice:
    """A rule's notice over a table.

    `before` is the older side after the earlier stages, `entry_sizes` (int64[n]) the size of its entries by
    the policy's own measure.
    """

    notice: Notice
    table: Table
    before: SideFates
    entry_sizes: Longs

    @property
    def role(self) -> str:
        return self.notice.role

    @cached_property
    def entries(self) -> Bools:
        """bool[n]: the live entries it reports if they are older than the cut."""
        reported: Bools = self.notice.entries & (np.arange(len(self.notice.entries)) >= self.table.since)
        return reported

    @property
    def _repeats(self) -> bool:
        """Whether a cut at the end repeats everything, which has no meaning if the beginning stays."""
        return self.notice.echo and not self.table.since

    @cached_property
    def _sums(self) -> tuple[Longs, Longs]:
        """int64[n+1] each: entries left out before each place, and their size."""
        n = len(self.entries)
        sums = np.zeros((2, n + 1), np.int64)
        np.cumsum(self.entries, out=sums[0, 1:])
        np.cumsum(np.where(self.entries, self.entry_sizes, 0), out=sums[1, 1:])
        if self._repeats:
            # The published slice is empty there: "the last 0" names everything.
            sums[:, n] = 0
        return sums[0], sums[1]

    def appears(self, place: int) -> bool:
        """Whether there is a notice at this place: anything is left out, or everything repeated."""
        return bool(self._sums[0][place]) or self.echoes(place)

    def echoes(self, place: int) -> bool:
        """Whether everything is repeated after the notice."""
        return self._repeats and place == len(self.entries)

    def text(self, place: int) -> str:
        """The notice of a cut at `place`."""
        return self.notice.write(int(self._sums[0][place]), int(self._sums[1][place]))

    @cached_property
    def _texts(self) -> tuple[Ints, list[str]]:
        """Places with a notice, and its text at each."""
        places = [place for place in range(len(self._sums[0])) if self.appears(place)]
        return np.array(places, np.int64), [self.text(place) for place in places]

    @cached_property
    def cost(self) -> Ints:
        """int32[n+1]: its tokens by the ledger's counter; 0 without a notice."""
        return self._price(self.table.ledger.count_texts)

    @cached_property
    def sections(self) -> Longs:
        """int64[n+1, s]: its tokens by section: those of its own as a message of its role, repeated blocks in
        their own sections."""
        out = np.zeros((len(self.cost), len(SECTIONS)), np.int64)
        out[:, SECTIONS.index(SECTIONS_OF_ROLES.get(self.role, "unknown"))] = self.cost
        if self._repeats:
            out[-1] += np.bincount(self.table.section, self.before.tokens, len(SECTIONS)).astype(np.int64)
        return out

    @cached_property
    def weight(self) -> Longs:
        """int64[n+1]: its size by the policy's own measure, repetitions included."""
        measure = self.table.trigger.measure
        if measure in COUNTED:
            out = self.cost.astype(np.int64)
        elif measure == "messages":
            out = (self.cost > 0).astype(np.int64)
        else:
            counter = find_counter(measure)
            out = self._price(counter.count).astype(np.int64)
            if measure == "tiered":
                out[out > 0] += max(-(-utf16_length(self.role) // 4), 1)
        if self._repeats:
            out[-1] += int(self.entry_sizes.sum())
        return out

    def _price(self, count: Callable[[Sequence[str]], Ints]) -> Ints:
        places, texts = self._texts
        out = np.zeros(len(self._sums[0]), np.int32)
        if len(places):
            out[places] = count(texts)
        return out
