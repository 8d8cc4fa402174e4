"""What requests cost: tokens fresh, read from the cache and written to it, and money for each.

In go columns over the steps of a session, as a replay has them, or a session with the usage it recorded; out
comes a `Bill`. A request that only adds to the one before keeps its cached prefix whole. A compaction is the
one real reset: what it leaves behind the first place it rewrote is written to the cache again (CLAUDE §9).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import floor, isfinite, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InspectorError, expect
from ..session.entries import MOST_TOKENS, Cost
from ..session.session import Session
from ..session.tree import Bools, Ints
from ..text import plural, printed
from .cache_rebuilds import find_among, tell_cache_rebuilds
from .counter import Longs
from .prices import MILLION, PRICES, TTL, Doubles, Price, Priced, check_ttl, find_price
from .spent import REPLY, RESULT, SNAPSHOTS, SUBAGENT, SUMMARY, Spent, find_spent, tell_copied

KINDS = ("input", "cache read", "cache write 5m", "cache write 1h", "output")
"""The kinds of tokens that are paid for: fresh ones, those of the cache, and the reply."""
WRITE = "cache write"
"""The line of a bill for both of its kinds, where nothing tells how long what was written lives."""
COMPACTION = "compaction"
"""The line of a bill for the requests of a summariser (S1-31, S4-66)."""
SUBAGENTS, RESULTS = "sub-agents", "sub-agents' last replies"
"""The lines for requests of sub-agents: those whose replies the file holds, and last ones, of which only the
result of the call tells."""
WHOLE = "cost told as a whole"
"""The line for requests of which the file tells the cost, and not what each kind of tokens cost."""
UNKNOWN = "unknown"
"""How the lines begin for what has no price, and for what the file does not tell of."""


class Charged(NamedTuple):
    """Requests and what they cost.

    tokens  int64[k, 5]    in the order of KINDS
    money   float64[k, 6]  the same, then the total; NaN where there is no price
    """

    tokens: Longs
    money: Doubles


class BillLine(NamedTuple):
    """One line of a bill: how many requests, their tokens, and money.

    Without a price `money` is None, and so are the `tokens` of what the file does not tell of.
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


def _no_requests() -> Charged:
    return Charged(np.zeros((0, len(KINDS)), np.int64), np.zeros((0, len(KINDS) + 1)))


@dataclass(frozen=True, eq=False, repr=False)
class Bill:
    """What k requests cost, and apart from them the `calls` of a summariser and those of sub-agents.

    `prices` are those that were used. `estimated`: tokens are counted, not reported. `entry` int32[k]: for
    a recorded session, the position of each reply in `session.entries`. So many replies were `counted`,
    because what is reported is less than they say. `results` are last replies of
    `subagents` of which the file tells in the result of the call alone. `split`: the usage tells how long
    what was written to the cache lives. Of `silent_subagents` and `silent_compactions` the file does not
    tell, at least of some requests.

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
    subagents: Charged = field(default_factory=_no_requests)
    results: Charged = field(default_factory=_no_requests)
    split: bool = False
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
        """The kinds of tokens of the requests; then sub-agents and a summariser's calls, if there were any;
        then what has no price where other requests have one, and what the file does not tell of."""
        known, rest = _part(self.requests)
        lines = _list_kinds(known, self.split)
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
        if calls:
            tokens = sum(int(each.sum()) for each in unpriced)
            lines.append(BillLine(f"{UNKNOWN}: no price", calls, tokens, None))
        for name, count in (("sub-agents", self.silent_subagents), ("compactions", self.silent_compactions)):
            if count:
                lines.append(BillLine(f"{UNKNOWN}: {name}", count, None, None))
        return tuple(lines)

    @cached_property
    def cost(self) -> Cost | None:
        """All that has a price; None where there is something to pay and no price."""
        money = np.concatenate([group.money for group in self._groups])
        known = money[np.isfinite(money[:, -1])]
        if len(money) and not len(known):
            return None
        fresh, read, minutes, hour, output, total = np.nansum(known, axis=0).tolist()
        return Cost(input=fresh, output=output, cache_read=read, cache_write=minutes + hour, total=total)

    @property
    def _groups(self) -> tuple[Charged, ...]:
        return self.requests, self.subagents, self.results, self.summaries

    @property
    def unpriced(self) -> int:
        """Requests that have tokens and no price."""
        return sum(
            int((group.tokens.any(axis=1) & ~np.isfinite(group.money[:, -1])).sum()) for group in self._groups
        )

    @property
    def has_unknown(self) -> bool:
        """Whether there is something that has no price, or of which the file does not tell."""
        return bool(self.unpriced or self.silent_subagents or self.silent_compactions)

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
    """A line for each kind of tokens; one for those written to the cache, where they are not told apart."""
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
    asked = int(bill.requests.tokens.any(axis=1).sum())
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
    asking, reading, writing, answering = _table(_split(call) for call in calls).T
    if ttl is not None:
        check_ttl(ttl)
    asked = _place(sent - read - written, read, written, output, ttl or "5m")
    at_resets = np.flatnonzero(reset).tolist()
    return Bill(
        _charge(asked, price),
        _charge(_place(asking, reading, writing, answering, ttl or "5m"), price),
        sum(call.calls for call in calls),
        resets=tuple(
            Reset(i, int(cached[i]), int(before[i] - cached[i]), int(sent[i] - cached[i])) for i in at_resets
        ),
        prices=(price,) if price else (),
        notes=(price.note if price else "No price is given, so only tokens are counted.",),
        estimated=estimated,
    )


def price_session(
    session: Session,
    price: Price | None = None,
    *,
    table: Mapping[str, Price] = PRICES,
    ttl: TTL = "5m",
    counter: str = SNAPSHOTS,
) -> Bill:
    """The bill of a recorded session by its own usage: one row per reply in the file, every branch of it.

    What the file says a reply cost is taken as it stands; else its model's price in `table`. A `price` is
    charged for every row instead, whatever the file says. `ttl` says how long a cache entry was to live
    where the usage does not tell. A reply that took several requests is charged for each (CLAUDE §5.1); of
    one whose usage was written down while it streamed, what it says is counted by `counter` where that is
    more.

    Usage that a compaction reports is the line of that name (S1-31, S4-66), and sub-agents have theirs.
    Raises `InspectorError` for prices in several currencies, or another `ttl` than "5m" and "1h".

    >>> from inspector.session.entries import Entry, Usage
    >>> reply = Entry(id="a", role="assistant", model="claude-opus-4-5", usage=Usage(input=1000, output=200))
    >>> price_session(Session(format="demo", entries=(reply,), leaf="a")).cost.total
    0.01
    """
    expect("price_session", session=(session, Session), price=(price, Price, None), table=(table, Mapping))
    return price_spent(session, find_spent(session, check_ttl(ttl), counter), price, table, ttl)


def price_spent(
    session: Session,
    spent: Spent,
    price: Price | None = None,
    table: Mapping[str, Price] = PRICES,
    ttl: TTL = "5m",
) -> Bill:
    """The same bill, of requests that are known already."""
    tokens = np.array(spent.tokens, np.int64).reshape(-1, len(KINDS))
    given = np.array(spent.given, np.float64).reshape(-1, len(KINDS) + 1)
    told = np.isfinite(given[:, -1]) & (price is None)
    money = np.where(told[:, None], given, nan)
    prices: list[Price] = []
    notes: list[str] = []
    for model in sorted(set(spent.model), key=str):
        mine = np.array([each == model for each in spent.model]) & ~told
        if mine.any():
            found = find_price(model, table) if price is None else Priced(price, price.note)
            money[mine] = _charge(tokens[mine], found.price).money
            prices += [found.price] if found.price and found.price not in prices else []
            notes += [found.note] if found.note not in notes else []
    if len({each.currency for each in prices}) > 1:
        raise InspectorError("one bill in several currencies: give one price for all of it as price=")
    whose, entry = np.array(spent.whose, np.int8), np.array(spent.entry, np.int32)
    groups = [Charged(tokens[whose == group], money[whose == group]) for group in range(4)]
    requests, at = _join(groups[REPLY], entry[whose == REPLY])
    silent = _count_silent(session, entry[whose == SUMMARY].tolist())
    return Bill(
        requests,
        groups[SUMMARY],
        len(groups[SUMMARY].tokens),
        prices=tuple(prices),
        notes=(
            *_say_told(told),
            *notes,
            *_say_guessed(spent, tokens, ~told, ttl),
            *_say_silent(*silent),
            *tell_copied(session, spent, money[:, -1], prices[0].currency if prices else "USD"),
            *tell_cache_rebuilds(find_among(session, spent, price, table)),
        ),
        entry=at,
        counted=spent.snapshots,
        subagents=groups[SUBAGENT],
        results=groups[RESULT],
        split=spent.split,
        silent_subagents=silent[0],
        silent_compactions=silent[1],
    )


def _join(group: Charged, entry: Ints) -> tuple[Charged, Ints]:
    """The requests of each reply added up, and the position of the reply."""
    at, row = np.unique(entry, return_inverse=True)
    tokens, money = np.zeros((len(at), len(KINDS)), np.int64), np.zeros((len(at), len(KINDS) + 1))
    np.add.at(tokens, row, group.tokens)
    np.add.at(money, row, group.money)
    return Charged(tokens, money), at


def _count_silent(session: Session, summaries: list[int]) -> tuple[int, int]:
    """Sub-agents and compactions that the file tells no usage of. A reply may report its compaction's."""
    recorded = (session.entries[at] for at in session.tree.bounded.tolist())
    untold = sum(
        entry.boundary is not None and entry.boundary.kind == "compact" and entry.usage is None
        for entry in recorded
        if entry.copied_from is None
    )
    reported = sum(session.entries[at].kind == "message" for at in summaries)
    return sum(agent.silent for agent in session.subagents), max(untold - reported, 0)


def _say_told(told: Bools) -> Iterator[str]:
    if told.any():
        yield f"{int(told.sum()):,} of {len(told):,} at the cost the file gives."


def _say_guessed(spent: Spent, tokens: Longs, charged: Bools, ttl: TTL) -> Iterator[str]:
    """What of the tokens the file does not tell, and what they are taken for."""
    untold = np.array(spent.untold, bool) & charged & tokens[:, 2:4].any(axis=1)
    if untold.any() and not spent.split:
        yield f"Cache writes are charged as {ttl} ones: the file does not tell."
    elif untold.any():
        requests = plural(int(untold.sum()), "request tells", "requests tell")
        yield f"{requests} not how long cache writes live: charged as {ttl} ones."
    if spent.snapshots:
        yield (
            f"{plural(spent.snapshots, 'reply reports', 'replies report')} fewer output tokens than the text "
            f"has, as of a moment while it streamed: {spent.reported:,}, counted as {spent.counted:,} "
            f"({spent.counter})."
        )


def _say_silent(subagents: int, compactions: int) -> Iterator[str]:
    if subagents:
        runs = plural(subagents, "run of sub-agents is", "runs of sub-agents are")
        yield f"{runs} told without requests that were made, so that cost is not in the bill."
    if compactions:
        told = plural(compactions, "recorded compaction tells", "recorded compactions tell")
        yield f"{told} no usage, so that cost is not in the bill."


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
    expect("break_even", rewritten=(rewritten, float), saved=(saved, float))
    expect("break_even", summary_cost=(summary_cost, float), price=(price, Price, None))
    if not all(value >= 0 for value in (rewritten, saved, summary_cost)):
        raise InspectorError("break-even: rewritten, saved and summary_cost cannot be below 0")
    check_ttl(ttl)
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
            each.dtype.kind in "iu" and int(each.min()) >= 0 and int(each.max()) <= MOST_TOKENS
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
    """int64[k, 4]: fresh, read, written and output tokens."""
    return np.array(list(rows), np.int64).reshape(-1, 4)


def _split(call: SummaryCall) -> tuple[int, int, int, int]:
    fresh = call.sent - call.cached - call.written
    if min(fresh, call.cached, call.written, call.output, call.calls) < 0:
        raise InspectorError(f"the summary at step {call.step} has parts below 0 or more than was sent")
    return fresh, call.cached, call.written, call.output


def _place(fresh: ArrayLike, read: ArrayLike, written: ArrayLike, output: ArrayLike, ttl: TTL) -> Longs:
    """int64[k, 5]: the columns in the order of KINDS, what was written to live as long as `ttl` says."""
    none = np.zeros_like(np.asarray(written))
    minutes, hour = (written, none) if ttl == "5m" else (none, written)
    return np.stack([fresh, read, minutes, hour, output], axis=1).astype(np.int64)


def _charge(tokens: Longs, price: Price | None) -> Charged:
    if price is None:
        return Charged(tokens, np.full((len(tokens), len(KINDS) + 1), nan))
    base, reply = price.rates(tokens[:, :4].sum(axis=1))
    cached = (base * price.read, base * price.write_5m, base * price.write_1h)
    money = tokens * np.stack([base, *cached, reply], axis=1) / MILLION
    return Charged(tokens, np.column_stack([money, money.sum(axis=1)]))
