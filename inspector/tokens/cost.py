"""What requests cost: tokens fresh, read from the cache and written to it, and money for each.

In go columns over the steps of a session, as a replay has them, or a session with the usage it recorded; out
comes a `Bill`. A request that only adds to the one before keeps its cached prefix whole. A compaction is the
one real reset: what it leaves behind the first place it rewrote is written to the cache again (CLAUDE §9).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import floor, isfinite, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InspectorError
from ..session.entries import Cost, Usage
from ..session.session import Session
from ..session.tree import Ints
from ..text import plural
from .counter import Longs
from .prices import PRICES, TTL, Doubles, Price, Priced, find_price
from .reported import MOST, request_tokens, whole_tokens

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


class BillLine(NamedTuple):
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
    def lines(self) -> tuple[BillLine, ...]:
        """The kinds of tokens of the requests; then the summariser's calls, if there were any."""
        tokens, money = self.requests
        lines = [
            BillLine(name, int((tokens[:, at] > 0).sum()), int(tokens[:, at].sum()), _add(money[:, at]))
            for at, name in enumerate(KINDS)
        ]
        if self.calls:
            summed = int(self.summaries.tokens.sum())
            lines.append(BillLine(COMPACTION, self.calls, summed, _add(self.summaries.money[:, 4])))
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
    total = BillLine("total", asked + bill.calls, bill.tokens, None if bill.cost is None else bill.cost.total)
    table = [("", "calls", "tokens", bill.currency)]
    for name, calls, tokens, money in (*bill.lines, total):
        table.append((name, f"{calls:,}", f"{tokens:,}", "?" if money is None else f"{money:,.4f}"))
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


class SummaryCall(NamedTuple):
    """What summarising took at one step: requests, their tokens together, and those of the replies.

    Of `sent`, `cached` tokens were read from the cache; the rest is charged as fresh, since nobody sends it
    twice. A summariser that writes cache entries tells them as `written`, also a part of `sent`.
    """

    step: int
    sent: int
    output: int
    cached: int = 0
    written: int = 0
    calls: int = 1


def price_steps(
    sent: ArrayLike,
    cached: ArrayLike,
    output: ArrayLike,
    price: Price | None,
    *,
    minimum: int | None = None,
    summaries: Iterable[SummaryCall] = (),
    ttl: TTL | None = "5m",
    head: int | None = None,
    estimated: bool = True,
) -> Bill:
    """The bill of requests, one per step.

    sent    int[k]  tokens of the request, 0 where none was sent
    cached  int[k]  of which an unchanged prefix of the request before
    output  int[k]  tokens of the reply

    Every request is taken to end in a cache breakpoint and to come before the cache expires: its prefix is
    read, the rest is written, and what is shorter than `minimum` (the price's own when None) is neither.
    That is the most a cache gives. `head`: tokens in front of the messages, when the only other breakpoint is
    there, so that a reset reads no more than these. `ttl` None: no cache is used. Without a price the
    tokens are counted all the same. Raises `InspectorError` for columns that do not fit each other.

    >>> opus = Price(model="mine", input=5, output=25, source="an example")
    >>> bill = price_steps([10_000, 12_000, 6_000], [0, 10_000, 4_000], [500, 500, 500], opus)
    >>> bill.read.tolist(), bill.written.tolist(), bill.resets
    ([0, 10000, 4000], [10000, 2000, 2000], (Reset(step=2, kept=4000, lost=8000, rewritten=2000),))
    >>> bill
    Bill: 3 requests (estimate: tokens are counted, not reported)
                   calls  tokens     USD
      input            0       0  0.0000
      cache read       2  14,000  0.0070
      cache write      3  14,000  0.0875
      output           3   1,500  0.0375
      total            3  29,500  0.1320
      prefix resets: 1, at step 2
      mine: USD 5 in, 25 out per million tokens, cache read x0.1, write x1.25 (5m) or x2 (1h) (an example)
    """
    sent, cached, output = _check(sent=sent, cached=cached, output=output)
    if (cached > sent).any():
        at = int((cached > sent).argmax())
        raise InspectorError(f"step {at}: {cached[at]:,} of {sent[at]:,} tokens cannot be cached")
    before = _before(sent)
    # A request that is all prefix, as after a rewind, has nothing to process again.
    reset = (cached < before) & (cached < sent)
    if head is not None:
        cached = np.where(reset, np.minimum(cached, head), cached)
    least = minimum if minimum is not None else (price.minimum or 0) if price else 0
    read = np.where((cached >= least) & (ttl is not None), cached, 0)
    written = np.where((sent >= least) & (ttl is not None), sent - read, 0)
    calls = tuple(summaries)
    asked = np.stack([sent - read - written, read, written, output], axis=1)
    at_resets = np.flatnonzero(reset).tolist()
    return Bill(
        _charge(asked, price, ttl or "5m"),
        _charge(_table(_split(call) for call in calls), price, ttl or "5m"),
        sum(call.calls for call in calls),
        resets=tuple(
            Reset(i, int(cached[i]), int(before[i] - cached[i]), int(sent[i] - cached[i])) for i in at_resets
        ),
        prices=(price,) if price else (),
        notes=(price.note if price else "No price is given, so only tokens are counted.",),
        estimated=estimated,
    )


def price_session(
    session: Session, price: Price | None = None, *, table: Mapping[str, Price] = PRICES, ttl: TTL = "5m"
) -> Bill:
    """The bill of a recorded session by its own usage: one row per reply in the file, every branch of it.

    What the file says a reply cost is taken as it stands; else its model's price in `table`. A `price` is
    charged for every row instead, whatever the file says. Files do not tell how long a cache entry was to
    live: `ttl` says it for all of them. Usage that a compaction reports is the line of that name (S1-31,
    S4-66). Raises `InspectorError` for prices in several currencies.

    >>> from inspector.session.entries import Entry
    >>> reply = Entry(id="a", role="assistant", model="claude-opus-4-5", usage=Usage(input=1000, output=200))
    >>> price_session(Session(format="demo", entries=(reply,), leaf="a")).cost.total
    0.01
    """
    rows = [at for at, entry in enumerate(session.entries) if entry.usage is not None and _spent(entry.usage)]
    usages = [usage for at in rows if (usage := session.entries[at].usage) is not None]
    models = [session.entries[at].model or session.model for at in rows]
    tokens = _table(_used(usage) for usage in usages)
    given = np.array([_given(usage) for usage in usages], np.float64).reshape(-1, 5)
    told = np.isfinite(given[:, 4]) & (price is None)
    money = np.where(told[:, None], given, nan)
    prices: list[Price] = []
    notes: list[str] = []
    for model in sorted(set(models), key=str):
        mine = np.array([each == model for each in models]) & ~told
        if mine.any():
            found = find_price(model, table) if price is None else Priced(price, price.note)
            money[mine] = _charge(tokens[mine], found.price, ttl).money
            prices += [found.price] if found.price and found.price not in prices else []
            notes += [found.note] if found.note not in notes else []
    if len({each.currency for each in prices}) > 1:
        raise InspectorError("one bill in several currencies: give one price for all of it as price=")
    if told.any():
        notes.insert(0, f"{int(told.sum()):,} of {len(rows):,} at the cost the file gives.")
    if prices and tokens[~told, 2].any():
        notes.append(f"Cache writes are charged as {ttl} ones: the file does not tell.")
    silent = sum(
        entry.boundary is not None and entry.boundary.kind == "compact" and entry.usage is None
        for entry in session.entries
    )
    if silent:
        compactions = plural(silent, "recorded compaction tells", "recorded compactions tell")
        notes.append(f"{compactions} no usage, so that cost is not in the bill.")
    summary = np.array([session.entries[at].kind != "message" for at in rows], bool)
    return Bill(
        Charged(tokens[~summary], money[~summary]),
        Charged(tokens[summary], money[summary]),
        int(summary.sum()),
        prices=tuple(prices),
        notes=tuple(notes),
        entry=np.array(rows, np.int32)[~summary],
    )


class BreakEven(NamedTuple):
    """When a rewritten prefix pays for itself, in tokens' worth at the price of a fresh one.

    `once` is what the rewrite costs, `each` what every request saves from then on. `requests` is where they
    are equal, infinite when nothing is saved.
    """

    requests: float
    once: float
    each: float

    @property
    def needed(self) -> int | None:
        """The first whole number of requests by which it has paid off, None for never."""
        return floor(self.requests) + 1 if isfinite(self.requests) else None

    @property
    def note(self) -> str:
        """The same as a sentence."""
        if self.needed is None:
            return "It never pays for itself: nothing is saved by later requests."
        return (
            f"It pays for itself from request {self.needed:,} on: {self.once:,.0f} tokens' worth once, "
            f"{self.each:,.0f} saved by each."
        )


def break_even(
    rewritten: float, saved: float, summary_cost: float = 0, price: Price | None = None, *, ttl: TTL = "5m"
) -> BreakEven:
    """After how many requests a compaction has paid for itself, counted from the first one after it.

    It rewrites R tokens (`rewritten`: what stays behind the first place it edited, its summary too), which
    are written to the cache instead of read from it, once; and S tokens (`saved`) are no longer read by
    every request: n > (write - read) R / (read S) + summary / (read S), with the usual prices n > 11.5 R / S
    + summary / (0.1 S) (CLAUDE §9). `summary_cost` is in tokens' worth at the price of a fresh one:
    `price.worth(money)` turns money into that. A higher price of long requests is left out. Raises
    `InspectorError` for figures below 0.

    >>> break_even(20_000, 100_000).needed, break_even(20_000, 100_000, summary_cost=30_000).needed
    (3, 6)
    """
    if not all(value >= 0 for value in (rewritten, saved, summary_cost)):
        raise InspectorError("break-even: rewritten, saved and summary_cost cannot be below 0")
    write, read = (1.25 if ttl == "5m" else 2.0, 0.1) if price is None else (price.write(ttl), price.read)
    once = max(write - read, 0.0) * rewritten + summary_cost
    each = read * saved
    # Rounded, so that 11.499999999999998 is not one request less than 11.5.
    return BreakEven(round(once / each, 9) if each else float("inf"), once, each)


def _check(**columns: ArrayLike) -> list[Longs]:
    found = {name: np.asarray(values) for name, values in columns.items()}
    if len({each.shape for each in found.values()}) != 1:
        lengths = ", ".join(f"{name} {each.size}" for name, each in found.items())
        raise InspectorError(f"columns over the same steps differ in length: {lengths}")
    for name, each in found.items():
        whole = each.size == 0 or (
            each.dtype.kind in "iu" and int(each.min()) >= 0 and int(each.max()) <= MOST
        )
        if each.ndim != 1 or not whole:
            raise InspectorError(f"{name} is no column of numbers of tokens: whole and not below 0")
    return [each.astype(np.int64) for each in found.values()]


def _before(sent: Longs) -> Longs:
    """Tokens of the request before each one, 0 for the first and where none was sent."""
    asked = np.flatnonzero(sent)
    before = np.zeros_like(sent)
    before[asked[1:]] = sent[asked[:-1]]
    return before


def _table(rows: Iterable[tuple[int, int, int, int]]) -> Longs:
    """int64[k, 4], in the order of KINDS."""
    return np.array(list(rows), np.int64).reshape(-1, 4)


def _split(call: SummaryCall) -> tuple[int, int, int, int]:
    fresh = call.sent - call.cached - call.written
    if min(fresh, call.cached, call.written, call.output, call.calls) < 0:
        raise InspectorError(f"the summary at step {call.step} has parts below 0 or more than was sent")
    return fresh, call.cached, call.written, call.output


def _spent(usage: Usage) -> bool:
    return usage.tokens > 0 or _given(usage)[4] > 0


def _used(usage: Usage) -> tuple[int, int, int, int]:
    fresh = whole_tokens(usage.input) if usage.prompt else request_tokens(usage)
    parts = (usage.cache_read, usage.cache_write, usage.output)
    read, written, output = (whole_tokens(part) for part in parts)
    return fresh, read, written, output


def _given(usage: Usage) -> tuple[float, ...]:
    """What the file says it cost, in the order of KINDS and the total; NaN where it does not."""
    cost = usage.cost
    parts = (cost.input, cost.cache_read, cost.cache_write, cost.output) if cost else ()
    if cost is None or not all(0 <= part <= MOST for part in (*parts, cost.total)):
        return nan, nan, nan, nan, nan
    return (*parts, cost.total or sum(parts))


def _charge(tokens: Longs, price: Price | None, ttl: TTL) -> Charged:
    if price is None:
        return Charged(tokens, np.full((len(tokens), 5), nan))
    fresh, read, written, output = tokens.T
    charges = price.charge(fresh, read, written, output, ttl)
    return Charged(tokens, np.stack([*charges, charges.total], axis=1))
