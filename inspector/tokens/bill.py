"""The data type of a bill: requests with their tokens and money, the lines of the bill, and its text form.

`cost.py` computes bills. This module uses no price table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..session.entries import Cost
from ..session.tree import Ints
from ..text import plural, printed, text_table
from .counter import Doubles, Longs
from .prices import Price

KINDS = ("input", "cache read", "cache write 5m", "cache write 1h", "output")
"""The kinds of tokens that are paid for: uncached input, cache reads and writes, and output."""
WRITE = "cache write"
"""The line for both kinds of cache writes, if the usage does not report their lifetime."""
COMPACTION = "compaction"
"""The line for the requests that wrote summaries (S1-31, S4-66)."""
SUBAGENTS, RESULTS = "sub-agents", "sub-agents' last replies"
"""The lines for requests of sub-agents: replies that are in the file, and last replies that only the result
of the call reports."""
WHOLE = "cost stated as a whole"
"""The line for requests whose cost the file states as one amount, not by kind of tokens."""
SUMS = "stated as a sum"
"""The mark of lines for requests whose usage the file states only as a sum."""
SEARCHES = "web searches"
"""The line for web searches run by the provider, which are charged per search."""
STATED = "stated total beyond these"
"""The line for the difference between the total that the file states and the lines before it."""
UNKNOWN = "unknown"
"""The first word of lines for requests without a price, and for requests that the file does not report."""


class Charged(NamedTuple):
    """Requests and their cost.

    tokens  int64[k, 5]    in the order of KINDS
    money   float64[k, 6]  in the order of KINDS, then the total; NaN without a price
    """

    tokens: Longs
    money: Doubles


class BillLine(NamedTuple):
    """One line of a bill: the number of requests, their tokens, and their cost.

    `money` is None without a price. Without reported tokens, `tokens` is None too.
    """

    name: str
    calls: int
    tokens: int | None
    money: float | None


class Sum(NamedTuple):
    """Requests of one model that the file states as a sum: their number, and their total cost (one row)."""

    name: str
    calls: int
    charged: Charged


def no_requests() -> Charged:
    """Return a table without rows."""
    return Charged(np.zeros((0, len(KINDS)), np.int64), np.zeros((0, len(KINDS) + 1)))


@dataclass(frozen=True, eq=False, repr=False)
class Bill:
    """The cost of a session: k requests of the conversation, and separately those of others.

    Attributes:
        requests: one row per request; of a recorded session, per reply.
        summaries: requests that wrote summaries; `calls` is their number.
        prices: the prices used.
        notes: sentences about prices, assumptions, and costs that are not in the bill.
        estimated: tokens are counted, not reported.
        entry: int32[k], for a recorded session: the index of each reply in `session.entries`.
        counted: number of replies whose output was counted, because the usage reports less than their text.
        subagents: requests of sub-agents; `results` are last replies that only the call's result reports.
        sums: requests that the file states only as sums. They are not rows of `requests`.
        amounts: lines of costs without requests: web searches, and the difference between the total that
            the file states and all other rows.
        covered: requests without a price whose cost is in the stated total.
        split: the usage reports the lifetime of cache writes.
        silent: number of replies of a file that reports no usage at all, and of sub-agents and compactions
            with unreported requests.

    >>> from inspector.tokens.cost import price_steps
    >>> opus = Price(model="mine", input=5, output=25, source="an example")
    >>> bill: Bill = price_steps([10_000, 12_000], [0, 10_000], [500, 500], opus)
    >>> bill.read.tolist(), bill.written.tolist(), round(bill.cost.total, 3)
    ([0, 10000], [10000, 2000], 0.105)
    """

    requests: Charged
    summaries: Charged
    calls: int = 0
    prices: tuple[Price, ...] = ()
    notes: tuple[str, ...] = ()
    estimated: bool = False
    entry: Ints | None = None
    counted: int = 0
    subagents: Charged = field(default_factory=no_requests)
    results: Charged = field(default_factory=no_requests)
    sums: tuple[Sum, ...] = ()
    amounts: tuple[BillLine, ...] = ()
    covered: int = 0
    split: bool = False
    silent: tuple[int, int, int] = (0, 0, 0)

    @property
    def fresh(self) -> Longs:
        """int64[k]: uncached input tokens of each request."""
        return self.requests.tokens[:, 0]

    @property
    def read(self) -> Longs:
        """int64[k]: tokens read from the cache."""
        return self.requests.tokens[:, 1]

    @property
    def written(self) -> Longs:
        """int64[k]: tokens written to the cache."""
        written: Longs = self.requests.tokens[:, 2:4].sum(axis=1)
        return written

    @property
    def output(self) -> Longs:
        """int64[k]: tokens of the reply."""
        return self.requests.tokens[:, 4]

    @property
    def money(self) -> Doubles:
        """float64[k]: cost of each request with its reply; NaN without a price."""
        return self.requests.money[:, -1]

    @cached_property
    def lines(self) -> tuple[BillLine, ...]:
        """The lines of the bill.

        First the requests by kind of tokens; then sub-agents, compactions, sums, searches and the rest of a
        stated total, if there are any; last requests without a price and those that are not reported.
        """
        priced, rest = _split_priced(self.requests)
        lines = _list_kinds(priced, self.split) if len(self) or self.estimated else []
        whole = np.isnan(priced.money[:, 0]) & np.isfinite(priced.money[:, -1])
        if whole.any():
            lines.append(BillLine(WHOLE, int(whole.sum()), None, float(priced.money[whole, -1].sum())))
        unpriced, calls = [rest], len(rest)
        for name, group, number in (
            (SUBAGENTS, self.subagents, None),
            (RESULTS, self.results, None),
            (COMPACTION, self.summaries, self.calls),
        ):
            priced, rest = _split_priced(group)
            unpriced, calls = [*unpriced, rest], calls + len(rest)
            if count := len(priced.tokens) if number is None else number:
                lines.append(BillLine(name, count - len(rest) * (number is not None), *_sum(priced)))
        lines += [BillLine(f"{total.name}, {SUMS}", total.calls, *_sum(total.charged)) for total in self.sums]
        lines += self.amounts
        if calls:
            tokens = sum(int(array.sum()) for array in unpriced)
            lines.append(BillLine(f"{UNKNOWN}: no price", calls, tokens, None))
        silent = zip(("replies", "sub-agents", "compactions"), self.silent, strict=True)
        lines += [BillLine(f"{UNKNOWN}: {name}", count, None, None) for name, count in silent if count]
        return tuple(lines)

    @cached_property
    def cost(self) -> Cost | None:
        """The sum over all requests that have a price.

        None if no request has a price, and for a recorded session that reports no usage.
        """
        rows = np.full((len(self.amounts), len(KINDS) + 1), np.nan)
        rows[:, -1] = [amount.money for amount in self.amounts]
        money = np.concatenate([*(group.money for group in self._groups), rows])
        priced = money[np.isfinite(money[:, -1])]
        if not len(priced) and (len(money) or not self.estimated):
            return None
        fresh, read, minutes, hour, output, total = np.nansum(priced, axis=0).tolist()
        return Cost(input=fresh, output=output, cache_read=read, cache_write=minutes + hour, total=total)

    @property
    def _groups(self) -> tuple[Charged, ...]:
        sums = (total.charged for total in self.sums)
        return (self.requests, self.subagents, self.results, self.summaries, *sums)

    @property
    def unpriced(self) -> int:
        """Number of requests that have tokens but no price."""
        groups = self._groups
        return sum(int((tokens.any(axis=1) & ~np.isfinite(money[:, -1])).sum()) for tokens, money in groups)

    @property
    def has_unknown(self) -> bool:
        """Whether some requests have no price or are not reported."""
        return self.unpriced > self.covered or any(self.silent)

    @property
    def tokens(self) -> int:
        """Sum of the tokens of all lines."""
        return sum(line.tokens or 0 for line in self.lines)

    @property
    def currency(self) -> str:
        return self.prices[0].currency if self.prices else "USD"

    def __len__(self) -> int:
        return len(self.requests.tokens)

    @printed
    def __repr__(self) -> str:
        return _draw(self)


def _split_priced(group: Charged) -> tuple[Charged, Longs]:
    """Return the requests that have a price, and the tokens of the others.

    If no request has a price, all are returned as the first part.
    """
    priced = np.isfinite(group.money[:, -1])
    if not priced.any():
        priced[:] = True
    return Charged(group.tokens[priced], group.money[priced]), group.tokens[~priced]


def _sum(group: Charged) -> tuple[int, float | None]:
    return int(group.tokens.sum()), _add(group.money[:, -1])


def _list_kinds(group: Charged, split: bool) -> list[BillLine]:
    """Return one line per kind of tokens; a single line for all cache writes, unless they are split."""
    kinds = [(name, [column]) for column, name in enumerate(KINDS)]
    if not split:
        kinds[2:4] = [(WRITE, [2, 3])]
    return [
        BillLine(
            name,
            int(group.tokens[:, columns].any(axis=1).sum()),
            int(group.tokens[:, columns].sum()),
            _add(group.money[:, columns].sum(axis=1)),
        )
        for name, columns in kinds
    ]


def _add(money: Doubles) -> float | None:
    amounts = money[np.isfinite(money)]
    return float(amounts.sum()) if len(amounts) or not len(money) else None


def _draw(bill: Bill) -> str:
    """Format the bill as a table, followed by the prices with their source and date."""
    basis = "estimate: tokens are counted, not reported" if bill.estimated else "usage as reported"
    if bill.counted:
        basis += f", {plural(bill.counted, 'reply', 'replies')} counted"
    requests = int(bill.requests.tokens.any(axis=1).sum()) + sum(group.calls for group in bill.sums)
    elsewhere = len(bill.subagents.tokens) + len(bill.results.tokens)
    total = BillLine(
        "total known" if bill.has_unknown and bill.cost is not None else "total",
        requests + elsewhere + bill.calls,
        bill.tokens,
        None if bill.cost is None else bill.cost.total,
    )
    table = [("", "calls", "tokens", bill.currency)]
    for name, calls, tokens, money in (*bill.lines, total):
        counted = "?" if tokens is None else f"{tokens:,}"
        table.append((name, f"{calls:,}", counted, "?" if money is None else f"{money:,.4f}"))
    lines = [f"Bill: {plural(requests, 'request')} ({basis})"]
    lines += [f"  {line}" for line in text_table(table, (1, 2, 3))]
    if bill.unpriced:
        lines.append(f"  without a price: {bill.unpriced:,}")
    return "\n".join([*lines, *(f"  {note}" for note in bill.notes)])
