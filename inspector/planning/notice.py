"""A notice at every place of the cut: its text, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..policies.table import COUNTED, Notice, Table
from ..session.tree import Ints
from ..text import utf16_length
from ..tokens.counter import Longs
from ..tokens.counters import find_counter
from .fates import SideFates


@dataclass(frozen=True, eq=False)
class PlacedNotice:
    """A rule's notice over a table.

    `before` is the older side as the stages before left it, `left` (int64[n]) weighs its entries by the
    policy's own measure.
    """

    given: Notice
    table: Table
    before: SideFates
    left: Longs

    @property
    def role(self) -> str:
        return self.given.role

    @cached_property
    def _sums(self) -> tuple[Longs, Longs]:
        """int64[n+1] each: entries left out before each place, and their weight."""
        n = len(self.given.entries)
        sums = np.zeros((2, n + 1), np.int64)
        np.cumsum(self.given.entries, out=sums[0, 1:])
        np.cumsum(np.where(self.given.entries, self.left, 0), out=sums[1, 1:])
        if self.given.echo:
            # The published slice is empty there: "the last 0" names everything.
            sums[:, n] = 0
        return sums[0], sums[1]

    def stands(self, place: int) -> bool:
        """Whether anything is left out at this place, or everything repeated."""
        return bool(self._sums[0][place]) or self.echoes(place)

    def echoes(self, place: int) -> bool:
        """Whether everything stands once more after the notice."""
        return self.given.echo and place == len(self.given.entries)

    def text(self, place: int) -> str:
        """The notice of a cut at `place`."""
        return self.given.write(int(self._sums[0][place]), int(self._sums[1][place]))

    @cached_property
    def _texts(self) -> tuple[Ints, list[str]]:
        """Places where it stands, and its text there."""
        places = [place for place in range(len(self._sums[0])) if self.stands(place)]
        return np.array(places, np.int64), [self.text(place) for place in places]

    @cached_property
    def cost(self) -> Ints:
        """int32[n+1]: its tokens by the ledger's counter; 0 where it does not stand."""
        return self._price(self.table.ledger.count_texts)

    @cached_property
    def weight(self) -> Longs:
        """int64[n+1]: what it weighs by the policy's own measure, repetitions included."""
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
        if self.given.echo:
            out[-1] += int(self.left.sum())
        return out

    def _price(self, count: Callable[[Sequence[str]], Ints]) -> Ints:
        places, texts = self._texts
        out = np.zeros(len(self._sums[0]), np.int32)
        if len(places):
            out[places] = count(texts)
        return out
