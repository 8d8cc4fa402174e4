"""How sure a share is that was measured on some sessions: an interval by resampling whole sessions.

Facts of one session are no independent draws: what loses one path loses its neighbours. So sessions are
drawn, with replacement, and the share is worked out anew from each draw (the percentile bootstrap).
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
    """A share with the bounds between which 95 % of the draws fall; all None where nothing was measured,
    the bounds None where there is only one session."""

    share: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.share is None:
            return ""
        if self.low is None or self.high is None:
            return f"{self.share:.0%}"
        return f"{self.share:.0%} ({self.low:.0%}–{self.high:.0%})"


def resample_difference(one: Shares, other: Shares) -> Interval:
    """How much more of the facts the first keeps than the second, over the sessions that both have.

    Each of the two is {session: (part, whole)}. A draw takes the same sessions for both, so what makes a
    session hard for all is not taken for a difference. The bounds are None with fewer than two sessions.

    >>> print(resample_difference({"a": (9, 10), "b": (8, 10)}, {"a": (5, 10), "b": (6, 10)}))
    30% (20%–40%)
    """
    names = sorted(name for name in one.keys() & other.keys() if one[name][1] and other[name][1])
    if not names:
        return Interval(None, None, None)
    first, second = (np.array([shares[name] for name in names], np.float64) for shares in (one, other))
    pooled = first.sum(axis=0), second.sum(axis=0)
    share = float(pooled[0][0] / pooled[0][1] - pooled[1][0] / pooled[1][1])
    if len(names) < 2:
        return Interval(share, None, None)
    chosen = _draw(len(names))
    drawn = [chosen @ each[:, 0] / (chosen @ each[:, 1]) for each in (first, second)]
    low, high = np.quantile(drawn[0] - drawn[1], [(1 - WIDTH) / 2, (1 + WIDTH) / 2]).tolist()
    return Interval(share, low, high)


def _draw(count: int) -> NDArray[np.int64]:
    """How often each session is in each draw."""
    return np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), size=DRAWS)


def resample_share(part: Sequence[float], whole: Sequence[float]) -> Interval:
    """The share of the sums, of `part` in `whole`, a number of each for every session.

    The draws are the same every time.

    >>> print(resample_share([10, 0, 30], [20, 20, 40]))
    50% (0%–75%)
    >>> print(resample_share([5], [10]))
    50%
    """
    kept, stood = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    if not stood.sum():
        return Interval(None, None, None)
    share = float(kept.sum() / stood.sum())
    count = int((stood > 0).sum())
    if count < 2:
        return Interval(share, None, None)
    kept, stood = kept[stood > 0], stood[stood > 0]
    chosen = _draw(count)
    drawn = (chosen @ kept) / (chosen @ stood)
    low, high = np.quantile(drawn, [(1 - WIDTH) / 2, (1 + WIDTH) / 2]).tolist()
    return Interval(share, low, high)
