"""What a bill is: tokens and money of requests as columns, and what they add up to.

`cost.py` writes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .counter import Longs
from .prices import Doubles, Price
from .session.session import Cost
from .session.tree import Ints

KINDS = ("input", "cache read", "cache write", "output")
"""The kinds of tokens that are paid for: fresh ones, those of the cache, and the reply."""
COMPACTION = "compaction"
"""The line of a bill for the requests of a summariser (S1-31, S4-66)."""


class Charged(NamedTuple):
    """Requests and what they cost.

    tokens  int64[k, 4]    in the order of KINDS
    money   float64[k, 5]  the same, then the total; NaN where there is no price
    """

    tokens: Longs
    money: Doubles


class Line(NamedTuple):
    """One line of a bill: the requests with such tokens, the tokens, and money, None without a price."""

    name: str
    calls: int
    tokens: int
    money: float | None


class Reset(NamedTuple):
    """A step whose request parts from the one before, so that what follows is processed again.

    `kept` tokens at its front are the same, `lost` tokens of the one before are not there any more, and
    `rewritten` tokens come after those kept, what is new at this step among them.
    """

    step: int
    kept: int
    lost: int
    rewritten: int


@dataclass(frozen=True, eq=False, repr=False)
class Bill:
    """What k requests cost, and the `calls` of a summariser apart from them.

    `prices` are those that were used. `estimated`: tokens are counted, not reported. `entry` int32[k]: for
    a recorded session, the position of each reply in `session.entries`.
    """

    requests: Charged
    summaries: Charged
    calls: int = 0
    resets: tuple[Reset, ...] = ()
    prices: tuple[Price, ...] = ()
    notes: tuple[str, ...] = ()
    estimated: bool = False
    entry: Ints | None = None

    @property
    def fresh(self) -> Longs:
        """int64[k]: tokens of each request at the full price."""
        return self.requests.tokens[:, 0]

    @property
    def read(self) -> Longs:
        """int64[k]: tokens read from the cache."""
        return self.requests.tokens[:, 1]

    @property
    def written(self) -> Longs:
        """int64[k]: tokens written to the cache."""
        return self.requests.tokens[:, 2]

    @property
    def output(self) -> Longs:
        """int64[k]: tokens of the reply."""
        return self.requests.tokens[:, 3]

    @property
    def money(self) -> Doubles:
        """float64[k]: what each request and its reply cost, NaN where there is no price."""
        return self.requests.money[:, 4]

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The kinds of tokens of the requests; then the summariser's calls, if there were any."""
        tokens, money = self.requests
        lines = [
            Line(name, int((tokens[:, at] > 0).sum()), int(tokens[:, at].sum()), _add(money[:, at]))
            for at, name in enumerate(KINDS)
        ]
        if self.calls:
            summed = int(self.summaries.tokens.sum())
            lines.append(Line(COMPACTION, self.calls, summed, _add(self.summaries.money[:, 4])))
        return tuple(lines)

    @cached_property
    def cost(self) -> Cost | None:
        """All that has a price, the summaries too; None where there is something to pay and no price."""
        money = np.concatenate([self.requests.money, self.summaries.money])
        known = money[np.isfinite(money[:, 4])]
        if len(money) and not len(known):
            return None
        fresh, read, written, output, total = known.sum(axis=0).tolist()
        return Cost(input=fresh, output=output, cache_read=read, cache_write=written, total=total)

    @property
    def unpriced(self) -> int:
        """Requests that have tokens and no price."""
        return sum(
            int((table.tokens.any(axis=1) & ~np.isfinite(table.money[:, 4])).sum())
            for table in (self.requests, self.summaries)
        )

    @property
    def tokens(self) -> int:
        """All tokens of all lines."""
        return sum(line.tokens for line in self.lines)

    @property
    def currency(self) -> str:
        return self.prices[0].currency if self.prices else "USD"

    def __len__(self) -> int:
        return len(self.requests.tokens)

    def __repr__(self) -> str:
        return _draw(self)


def _add(money: Doubles) -> float | None:
    known = money[np.isfinite(money)]
    return float(known.sum()) if len(known) or not len(money) else None


def _draw(bill: Bill) -> str:
    """The bill as a small table, its prices with source and date below it."""
    said = "estimate: tokens are counted, not reported" if bill.estimated else "usage as reported"
    asked = int(bill.requests.tokens.any(axis=1).sum())
    total = Line("total", asked + bill.calls, bill.tokens, None if bill.cost is None else bill.cost.total)
    table = [("", "calls", "tokens", bill.currency)]
    for name, calls, tokens, money in (*bill.lines, total):
        table.append((name, f"{calls:,}", f"{tokens:,}", "?" if money is None else f"{money:,.4f}"))
    wide = [max(len(row[at]) for row in table) for at in range(4)]
    lines = [f"Bill: {asked:,} request{'' if asked == 1 else 's'} ({said})"]
    for name, *figures in table:
        cells = (f"{figure:>{width}}" for figure, width in zip(figures, wide[1:], strict=True))
        lines.append(f"  {name:<{wide[0]}}  " + "  ".join(cells))
    if bill.resets:
        steps = ", ".join(str(reset.step) for reset in bill.resets[:8]) + ", …" * (len(bill.resets) > 8)
        lines.append(f"  prefix resets: {len(bill.resets):,}, at step {steps}")
    if bill.unpriced:
        lines.append(f"  without a price: {bill.unpriced:,}")
    return "\n".join([*lines, *(f"  {note}" for note in bill.notes)])
