"""The interface of token counters, and the arithmetic that several of them share.

The counters themselves are in `counters/`, one per file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import CounterError
from ..session.blocks import Image
from ..session.entries import Entry
from ..session.session import Session
from ..session.tree import Ints

Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]


def running_sums(values: NDArray[Any]) -> Longs:
    """int64[n+1]: the sum before each value, and of all.

    >>> running_sums(np.array([3, 4])).tolist()
    [0, 3, 7]
    """
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


def find_quantiles(values: Doubles, weights: Longs, *shares: float) -> list[float]:
    """Return the values at these shares of the weight.

    >>> find_quantiles(np.array([3.0, 1.0, 2.0]), np.array([1, 1, 2]), 0.5, 1)
    [2.0, 3.0]
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    quantiles: list[float] = values[order][np.searchsorted(reached, np.array(shares) * reached[-1])].tolist()
    return quantiles


class Calibration(NamedTuple):
    """How a counter was fitted to a provider's reported usage.

    One counted token stands for `factor` reported ones; over the replies it lies between `low` (p10) and
    `high` (p90), with replies weighted by their tokens. `replies` is the number of replies used, `counted`
    the base counter's tokens in them. With `fitted` False the factor is 1. `why` says what was missing.
    """

    model: str | None
    factor: float = 1.0
    low: float = 1.0
    high: float = 1.0
    replies: int = 0
    counted: int = 0
    fitted: bool = False
    why: str = ""


@dataclass(frozen=True, eq=False)
class Counter:
    """A way to count tokens.

    count   texts -> int32, one number per text; any `str` is counted, lone surrogates too
    about   a sentence: the source of the numbers
    image   image, model, inside a tool output? -> tokens, or None if no cost is published
    weigh   entry -> tokens of the whole message, for measures that round or charge once per message
    fit     session, and of each entry (int64) text tokens, picture tokens and blocks whose cost is not known
            -> this counter, fitted

    >>> words = Counter("words", "Words", lambda texts: np.array([len(t.split()) for t in texts], np.int32))
    >>> words.count(["to be or not", ""]).tolist()
    [4, 0]
    """

    name: str
    title: str
    count: Callable[[Sequence[str]], Ints]
    about: Callable[[], str] | None = None
    image: Callable[[Image, str | None, bool], int | None] = lambda image, model, in_tool: None
    weigh: Callable[[Entry], int] | None = None
    fit: Callable[[Session, Longs, Longs, Longs], tuple[Counter, Calibration]] | None = None

    @property
    def source(self) -> str:
        """The source of the numbers, as a sentence."""
        return self.about() if self.about is not None else self.title

    def entry_weights(self, session: Session) -> Ints:
        """int32, one weight per entry of the file. Raises `CounterError` for a counter of texts only."""
        if self.weigh is None:
            raise CounterError(self.name, "it counts texts and has no measure of its own for a whole message")
        return np.fromiter(map(self.weigh, session.entries), np.int32, len(session.entries))

    def __repr__(self) -> str:
        return f"Counter({self.name!r})"
