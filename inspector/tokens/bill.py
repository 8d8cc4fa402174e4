"""A bill: requests with their tokens and money, its lines, and how it is printed.

`cost.py` makes bills; nothing here knows a price table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..session.entries import Cost
from ..session.tree import Ints
from ..text import plural, printed
from .counter import Longs
from .prices import Doubles, Price

KINDS = ("input", "cache read", "cache write 5m", "cache write 1h", "output")
"""The kinds of tokens that are paid for: fresh ones, those of the cache, and the reply."""
WRITE = "cache write"
"""The line for both kinds of cache writes, if the usage does not say how long they live."""
COMPACTION = "compaction"
"""The line of a bill for the requests of a summariser (S1-31, S4-66)."""
SUBAGENTS, RESULTS = "sub-agents", "sub-agents' last replies"
"""The lines for requests of sub-agents: those whose replies are in the file, and last ones, which only the
result of the call reports."""
WHOLE = "cost told as a whole"
"""The line for requests whose cost the file states as a whole, not by kind of tokens."""
SUMS = "stated as a sum"
"""How the lines are marked for requests whose usage the file states only as a sum over all of them."""
SEARCHES = "web searches"
"""The line for searches of the provider's, which are paid by the piece."""
STATED = "stated total beyond these"
"""The line for the difference between the total that the file states and the lines before."""
UNKNOWN = "unknown"
"""How the lines begin for requests without a price, and for those that the file does not report."""


class Charged(NamedTuple):
    """Requests and what they cost.

    tokens  int64[k, 5]    in the order of KINDS
    money   float64[k, 6]  the same, then the total; NaN where there is no price
    """

    tokens: Longs
    money: Doubles


class BillLine(NamedTuple):
    """One line of a bill: how many requests, their tokens, and money.

    `money` is None if there is no price, `tokens` if the file does not report them.
    """

    name: str
    calls: int
    tokens: int | None
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


class Sum(NamedTuple):
    """Requests of one model that the file states as a sum: how many, and their charge (one row)."""

    name: str
    calls: int
    charged: Charged


def no_requests() -> Charged:
    """No rows."""
    return Charged(np.zeros((0, len(KINDS)), np.int64), np.zeros((0, len(KINDS) + 1)))


@dataclass(frozen=True, eq=False, repr=False)
class Bill:
    """What requests cost: k requests of the conversation, and apart from them those of others.

    Attributes:
        requests: one row per request; of a recorded session, per reply.
        summaries: requests of a summariser, `calls` of them.
        resets: steps that rewrite a part of the prefix.
        prices: the prices used.
        notes: sentences on prices, on what was assumed, and on what is not in the bill.
        estimated: tokens are counted, not reported.
        entry: int32[k], of a recorded session: the position of each reply in `session.entries`.
        counted: replies whose output was counted, because less is reported than they say.
        subagents: requests of sub-agents; `results` are last replies that only the call's result reports.
        sums: requests that the file states only as sums. They are in no row of `requests`.
        searches: web searches, paid by the piece; `searched` is the row of their money.
        stated: the difference between the total that the file states and all other rows (one row or none).
        covered: requests without a price whose cost is in the stated total.
        split: the usage tells how long what was written to the cache lives.
        silent_replies: replies of a file that reports no usage of any; `silent_subagents` and
            `silent_compactions` count those of which at least some requests are not reported.

    >>> from inspector.tokens.cost import price_steps
    >>> opus = Price(model="mine", input=5, output=25, source="an example")
    >>> bill: Bill = price_steps([10_000, 12_000], [0, 10_000], [500, 500], opus)
    >>> bill.read.tolist(), bill.written.tolist(), round(bill.cost.total, 3)
    ([0, 10000], [10000, 2000], 0.105)
    """

    requests: Charged
    summaries: Charged
    calls: int = 0
    resets: tuple[Reset, ...] = ()
    prices: tuple[Price, ...] = ()
    notes: tuple[str, ...] = ()
    estimated: bool = False
    entry: Ints | None = None
    counted: int = 0
    subagents: Charged = field(default_factory=no_requests)
    results: Charged = field(default_factory=no_requests)
    sums: tuple[Sum, ...] = ()
    searches: int = 0
    searched: Charged = field(default_factory=no_requests)
    stated: Charged = field(default_factory=no_requests)
    covered: int = 0
    split: bool = False
    silent_replies: int = 0
    silent_subagents: int = 0
    silent_compactions: int = 0

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
        written: Longs = self.requests.tokens[:, 2:4].sum(axis=1)
        return written

    @property
    def output(self) -> Longs:
        """int64[k]: tokens of the reply."""
        return self.requests.tokens[:, 4]

    @property
    def money(self) -> Doubles:
        """float64[k]: what each request and its reply cost, NaN where there is no price."""
        return self.requests.money[:, -1]

    @cached_property
    def lines(self) -> tuple[BillLine, ...]:
        """The kinds of tokens of the requests; sub-agents and a summariser's calls, if there were any; sums,
        searches and a stated total; what has no price if other requests have one; what is not reported."""
        known, rest = _part(self.requests)
        lines = _list_kinds(known, self.split) if len(self) or self.estimated else []
        whole = np.isnan(known.money[:, 0]) & np.isfinite(known.money[:, -1])
        if whole.any():
            lines.append(BillLine(WHOLE, int(whole.sum()), None, float(known.money[whole, -1].sum())))
        unpriced, calls = [rest], len(rest)
        for name, group, asked in (
            (SUBAGENTS, self.subagents, None),
            (RESULTS, self.results, None),
            (COMPACTION, self.summaries, self.calls),
        ):
            known, rest = _part(group)
            unpriced, calls = [*unpriced, rest], calls + len(rest)
            if count := len(known.tokens) if asked is None else asked:
                lines.append(BillLine(name, count - len(rest) * (asked is not None), *_sum(known)))
        lines += [BillLine(f"{one.name}, {SUMS}", one.calls, *_sum(one.charged)) for one in self.sums]
        if self.searches:
            lines.append(BillLine(SEARCHES, self.searches, 0, _add(self.searched.money[:, -1])))
        if len(self.stated.money):
            lines.append(BillLine(STATED, 0, None, _add(self.stated.money[:, -1])))
        if calls:
            tokens = sum(int(each.sum()) for each in unpriced)
            lines.append(BillLine(f"{UNKNOWN}: no price", calls, tokens, None))
        for name, count in (
            ("replies", self.silent_replies),
            ("sub-agents", self.silent_subagents),
            ("compactions", self.silent_compactions),
        ):
            if count:
                lines.append(BillLine(f"{UNKNOWN}: {name}", count, None, None))
        return tuple(lines)

    @cached_property
    def cost(self) -> Cost | None:
        """All that has a price. None if something has to be paid and nothing has a price, and of a recorded
        session that reports no usage."""
        money = np.concatenate([group.money for group in self._groups])
        known = money[np.isfinite(money[:, -1])]
        if not len(known) and (len(money) or not self.estimated):
            return None
        fresh, read, minutes, hour, output, total = np.nansum(known, axis=0).tolist()
        return Cost(input=fresh, output=output, cache_read=read, cache_write=minutes + hour, total=total)

    @property
    def _groups(self) -> tuple[Charged, ...]:
        sums = (one.charged for one in self.sums)
        paid = self.requests, self.subagents, self.results, self.summaries
        return (*paid, *sums, self.searched, self.stated)

    @property
    def unpriced(self) -> int:
        """Requests that have tokens and no price."""
        return sum(
            int((group.tokens.any(axis=1) & ~np.isfinite(group.money[:, -1])).sum()) for group in self._groups
        )

    @property
    def has_unknown(self) -> bool:
        """Whether some requests have no price, or are not reported."""
        silent = self.silent_replies or self.silent_subagents or self.silent_compactions
        return bool(self.unpriced > self.covered or silent)

    @property
    def tokens(self) -> int:
        """All tokens of all lines."""
        return sum(line.tokens or 0 for line in self.lines)

    @property
    def currency(self) -> str:
        return self.prices[0].currency if self.prices else "USD"

    def __len__(self) -> int:
        return len(self.requests.tokens)

    @printed
    def __repr__(self) -> str:
        return _draw(self)


def _part(group: Charged) -> tuple[Charged, Longs]:
    """The requests that have a price, and the tokens of the others; all in one where none has."""
    known = np.isfinite(group.money[:, -1])
    if not known.any():
        known[:] = True
    return Charged(group.tokens[known], group.money[known]), group.tokens[~known]


def _sum(group: Charged) -> tuple[int, float | None]:
    return int(group.tokens.sum()), _add(group.money[:, -1])


def _list_kinds(group: Charged, split: bool) -> list[BillLine]:
    """A line for each kind of tokens; one for all cache writes, unless they are split."""
    columns = [(name, [at]) for at, name in enumerate(KINDS)]
    if not split:
        columns[2:4] = [(WRITE, [2, 3])]
    return [
        BillLine(
            name,
            int(group.tokens[:, at].any(axis=1).sum()),
            int(group.tokens[:, at].sum()),
            _add(group.money[:, at].sum(axis=1)),
        )
        for name, at in columns
    ]


def _add(money: Doubles) -> float | None:
    known = money[np.isfinite(money)]
    return float(known.sum()) if len(known) or not len(money) else None


def _draw(bill: Bill) -> str:
    """The bill as a small table, its prices with source and date below it."""
    said = "estimate: tokens are counted, not reported" if bill.estimated else "usage as reported"
    if bill.counted:
        said += f", {plural(bill.counted, 'reply', 'replies')} counted"
    asked = int(bill.requests.tokens.any(axis=1).sum()) + sum(one.calls for one in bill.sums)
    apart = len(bill.subagents.tokens) + len(bill.results.tokens)
    total = BillLine(
        "total known" if bill.has_unknown and bill.cost is not None else "total",
        asked + apart + bill.calls,
        bill.tokens,
        None if bill.cost is None else bill.cost.total,
    )
    table = [("", "calls", "tokens", bill.currency)]
    for name, calls, tokens, money in (*bill.lines, total):
        counted = "?" if tokens is None else f"{tokens:,}"
        table.append((name, f"{calls:,}", counted, "?" if money is None else f"{money:,.4f}"))
    wide = [max(len(row[at]) for row in table) for at in range(4)]
    lines = [f"Bill: {plural(asked, 'request')} ({said})"]
    for name, *figures in table:
        cells = (f"{figure:>{width}}" for figure, width in zip(figures, wide[1:], strict=True))
        lines.append(f"  {name:<{wide[0]}}  " + "  ".join(cells))
    if bill.resets:
        steps = ", ".join(str(reset.step) for reset in bill.resets[:8]) + ", …" * (len(bill.resets) > 8)
        lines.append(f"  prefix resets: {len(bill.resets):,}, at step {steps}")
    if bill.unpriced:
        lines.append(f"  without a price: {bill.unpriced:,}")
    return "\n".join([*lines, *(f"  {note}" for note in bill.notes)])
