"""Estimate the uncertainty of a share measured on some sessions, by resampling whole sessions.

Facts of one session are not independent draws: losing one path often means losing similar ones. So sessions
are drawn, with replacement, and the share is computed for each draw (the percentile bootstrap).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

DRAWS, SEED, WIDTH = 2000, 7, 0.95
Shares = Mapping[str, tuple[float, float]]
"""{session: (part, whole)}."""


class Interval(NamedTuple):
    """A share and the bounds of 95 % of the draws. All are None if nothing was measured; the bounds are None
    for a single session."""

    share: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.share is None:
            return ""
        if self.low is None or self.high is None:
            return f"{self.share:.0%}"
        return f"{self.share:.0%} ({self.low:.0%}–{self.high:.0%})"


def resample_difference(first: Shares, second: Shares) -> Interval:
    """Return how much more of the facts the first keeps than the second, over the sessions that both have.

    Both map sessions to (part, whole). A draw takes the same sessions for both, so that sessions that are
    hard for all do not appear as a difference. The bounds are None for fewer than two sessions.

    >>> print(resample_difference({"a": (9, 10), "b": (8, 10)}, {"a": (5, 10), "b": (6, 10)}))
    30% (20%–40%)
    """
    names = sorted(name for name in first.keys() & second.keys() if first[name][1] and second[name][1])
    if not names:
        return Interval(None, None, None)
    tables = [np.array([shares[name] for name in names], np.float64) for shares in (first, second)]
    sums, others = (table.sum(axis=0) for table in tables)
    return _resample(float(sums[0] / sums[1] - others[0] / others[1]), *tables)


def resample_share(part: Sequence[float], whole: Sequence[float]) -> Interval:
    """Return the sum of `part` as a share of the sum of `whole`; both have a number for every session.

    The draws are always the same.

    >>> print(resample_share([10, 0, 30], [20, 20, 40]))
    50% (0%–75%)
    >>> print(resample_share([5], [10]))
    50%
    """
    table = np.column_stack([np.asarray(part, np.float64), np.asarray(whole, np.float64)])
    parts, wholes = table.sum(axis=0)
    if not wholes:
        return Interval(None, None, None)
    return _resample(float(parts / wholes), table[table[:, 1] > 0])


def _resample(share: float, *tables: NDArray[np.float64]) -> Interval:
    """The interval of a share over a table (part and whole by session), or of the difference of two."""
    count = len(tables[0])
    if count < 2:
        return Interval(share, None, None)
    # How often each session occurs in each draw.
    chosen = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), size=DRAWS)
    drawn = [chosen @ table[:, 0] / (chosen @ table[:, 1]) for table in tables]
    bounds = [(1 - WIDTH) / 2, (1 + WIDTH) / 2]
    low, high = np.quantile(drawn[0] - drawn[1] if len(drawn) > 1 else drawn[0], bounds).tolist()
    return Interval(share, low, high)
