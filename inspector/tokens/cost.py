"""Compute the cost of requests: uncached, cached and output tokens, and the money for each.

The input is either columns over the steps of a replay, or a recorded session with its usage; the result is a
`Bill`. A request that only extends the previous one reuses the whole cached prefix. After a compaction, the
tokens from the first rewritten position on are written to the cache again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import floor, isfinite, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InspectorError, expect
from ..session.entries import MOST_TOKENS, StatedTotal, Terms
from ..session.session import Session
from ..session.tree import ASSISTANT, MESSAGE, Bools, Ints
from ..text import plural, printable
from .bill import KINDS, SEARCHES, STATED, Bill, BillLine, Charged, Sum
from .cache_rebuilds import describe_cache_rebuilds, find_among
from .counter import Doubles, Longs
from .prices import MILLION, PRICES, SEARCH, TTL, Price, Priced, check_ttl, find_factor, find_price
from .spent import REPLY, RESULT, SUBAGENT, SUMMARY, Spent, covered_entries, describe_copied, find_spent


class SummaryCall(NamedTuple):
    """The requests that wrote a summary at one step, with the sums of their tokens.

    They are charged as uncached input, because they are sent only once.
    """

    step: int
    sent: int
    output: int
    calls: int = 1


def price_steps(
    sent: ArrayLike,
    cached: ArrayLike,
    output: ArrayLike,
    price: Price | None,
    *,
    summaries: Iterable[SummaryCall] = (),
) -> Bill:
    """The bill of requests, one per step.

    sent    int[k]  tokens of the request, 0 if none was sent
    cached  int[k]  of which an unchanged prefix of the request before
    output  int[k]  tokens of the reply

    Every request is taken to end in a cache breakpoint and to come before the cache expires: its prefix is
    read, the rest is written for five minutes, and what is shorter than the price's `minimum` is neither.
    That is the most a cache gives. Without a price the tokens are still counted. Raises `InspectorError` for
    columns of different lengths.

    >>> opus = Price(model="mine", input=5, output=25, source="an example")
    >>> bill = price_steps([10_000, 12_000, 6_000], [0, 10_000, 4_000], [500, 500, 500], opus)
    >>> bill.read.tolist(), bill.written.tolist()
    ([0, 10000, 4000], [10000, 2000, 2000])
    >>> bill
    Bill: 3 requests (estimate: tokens are counted, not reported)
                   calls  tokens     USD
      input            0       0  0.0000
      cache read       2  14,000  0.0070
      cache write      3  14,000  0.0875
      output           3   1,500  0.0375
      total            3  29,500  0.1320
      mine: USD 5 in, 25 out per million tokens, cache read x0.1, write x1.25 (5m) or x2 (1h) (an example)
    """
    sent, cached, output = _check(sent=sent, cached=cached, output=output)
    if (cached > sent).any():
        at = int((cached > sent).argmax())
        raise InspectorError(f"step {at}: {cached[at]:,} of {sent[at]:,} tokens cannot be cached")
    least = (price.minimum or 0) if price else 0
    read, calls = np.where(cached >= least, cached, 0), tuple(summaries)
    written, none = np.where(sent >= least, sent - read, 0), np.zeros_like(sent)
    charged = np.stack([sent - read - written, read, written, none, output], axis=1)
    writing = np.array([(call.sent, 0, 0, 0, call.output) for call in calls], np.int64).reshape(
        -1, len(KINDS)
    )
    if (writing < 0).any():
        raise InspectorError("the tokens of a summary are not negative")
    return Bill(
        _charge(charged, price),
        _charge(writing, price),
        sum(call.calls for call in calls),
        prices=(price,) if price else (),
        notes=(price.note if price else "No price is given, so only tokens are counted.",),
        estimated=True,
    )


def price_session(
    session: Session,
    price: Price | None = None,
    *,
    table: Mapping[str, Price] = PRICES,
    ttl: TTL = "5m",
) -> Bill:
    """The bill of a recorded session by its own usage: one row per reply in the file, every branch of it.

    The recorded cost of a reply is used if there is one; else its model's price in `table`. With a `price`,
    every row is charged by it instead. `ttl` is the time to live of a cache entry for usage that does not
    report it. A reply with several requests is charged for each. If the usage was recorded during streaming,
    the text of the reply is counted too, and the larger number is used.

    Usage that a compaction reports is the line of that name (S1-31, S4-66), and sub-agents have theirs.
    Raises `InspectorError` for prices in several currencies, or another `ttl` than "5m" and "1h".

    >>> from inspector.session.entries import Entry, Usage
    >>> reply = Entry(id="a", role="assistant", model="claude-opus-4-5", usage=Usage(input=1000, output=200))
    >>> price_session(Session(format="demo", entries=(reply,), leaf="a")).cost.total
    0.01
    """
    expect("price_session", session=(session, Session), price=(price, Price, None), table=(table, Mapping))
    return price_spent(session, find_spent(session, check_ttl(ttl)), price, table, ttl)


def price_spent(
    session: Session,
    spent: Spent,
    price: Price | None = None,
    table: Mapping[str, Price] = PRICES,
    ttl: TTL = "5m",
) -> Bill:
    """Return the bill of `price_session` for requests that were collected before."""
    requests = spent.requests
    tokens = np.array([request.tokens for request in requests], np.int64).reshape(-1, len(KINDS))
    stated_costs = np.array([request.stated_cost for request in requests]).reshape(-1, len(KINDS) + 1)
    is_stated = np.isfinite(stated_costs[:, -1]) & (price is None)
    money = np.where(is_stated[:, None], stated_costs, nan)
    prices: dict[str | None, Priced] = {}
    terms = _Terms(price is not None)
    sums = []
    models = {request.model for request in requests} | {other for other, *_ in spent.sums}
    for model in sorted(models, key=str):
        rows = np.array([request.model == model for request in requests], bool) & ~is_stated
        summed = [row for row in spent.sums if row[0] == model]
        if not (rows.any() or summed):
            continue
        priced = find_price(model, table) if price is None else Priced(price, price.note)
        prices[model] = priced
        money[rows] = _charge(tokens[rows], priced.price).money
        for row in np.flatnonzero(rows).tolist():
            money[row] *= terms.take(model, requests[row].terms, priced.price)
        for _, calls, row_tokens in summed:
            name = printable(model or "unnamed model", 60)
            sums.append(Sum(name, calls, _charge(np.array([row_tokens], np.int64), priced.price, calls)))
    used = list(dict.fromkeys(priced.price for priced in prices.values() if priced.price))
    if len({price.currency for price in used}) > 1:
        raise InspectorError("one bill in several currencies: give one price for all of it as price=")
    whose = np.array([request.whose for request in requests], np.int8)
    entry = np.array([request.entry for request in requests], np.int32)
    groups = [Charged(tokens[whose == group], money[whose == group]) for group in range(4)]
    replies, at = _join(groups[REPLY], entry[whose == REPLY])
    amounts = [BillLine(SEARCHES, terms.searches, 0, terms.searches * SEARCH)] if terms.searches else []
    totals = [total for total in session.totals if total.usage.cost is not None] if price is None else []
    compared, covered = list[str](), 0
    if totals:
        beyond, covered, note = _compare_stated(session, totals, entry, money, tokens)
        amounts.append(BillLine(STATED, 0, None, beyond))
        compared.append(note)
    silent = _count_silent(session, spent)
    stated = f"Cost stated by the file: {int(is_stated.sum()):,} of {len(is_stated):,} requests."
    return Bill(
        replies,
        groups[SUMMARY],
        len(groups[SUMMARY].tokens) + spent.more_calls,
        prices=tuple(used),
        notes=(
            *([stated] if is_stated.any() else ()),
            *dict.fromkeys(priced.note for priced in prices.values()),
            *map(_describe_sum, sums),
            *terms.notes(),
            *compared,
            *_describe_gaps(spent, tokens, ~is_stated, ttl, silent),
            *describe_copied(session, spent, money[:, -1], used[0].currency if used else "USD"),
            *describe_cache_rebuilds(find_among(session, spent, price, table)),
        ),
        entry=at,
        counted=spent.snapshots,
        subagents=groups[SUBAGENT],
        results=groups[RESULT],
        sums=tuple(sums),
        amounts=tuple(amounts),
        covered=covered,
        split=any(request.split for request in requests),
        silent=silent,
    )


class _Terms:
    """Collect what usages report in addition to tokens: searches, and terms without a published price.

    With a price given by the caller (`own`), none of them is charged and all are listed.
    """

    def __init__(self, own: bool) -> None:
        self.own, self.searches, self.others = own, 0, 0
        self.unknown, self.applied = Counter[str](), Counter[float]()

    def take(self, model: str | None, terms: Terms | None, price: Price | None) -> float:
        """Count the terms of one request, and return the multiplier of its price."""
        if terms is None:
            return 1.0
        self.others += terms.other_tools
        if self.own or price is None or price.currency != "USD":
            named = ((name, getattr(terms, name)) for name in ("speed", "service_tier", "inference_geo"))
            self.unknown.update(f"{name} {word}" for name, word in named if word)
            if terms.web_searches:
                self.unknown["web searches"] += terms.web_searches
            return 1.0
        self.searches += terms.web_searches
        times, unknown = find_factor(model, terms)
        self.unknown.update(unknown)
        self.applied.update([times] if times != 1 else ())
        return times

    def notes(self) -> Iterator[str]:
        """Yield sentences about multiplied prices and about terms that are not in the bill."""
        for times, count in sorted(self.applied.items()):
            what = f"{plural(count, 'request')} charged x{times:.3g}"
            yield f"{what} for what the usage reports (batch, fast mode, region)."
        for name, count in self.unknown.items():
            if name == "web searches":
                yield f"{plural(count, 'web search', 'web searches')} not in the bill."
            else:
                what = f"{plural(count, 'request')} with {printable(name, 60)}"
                yield f"{what}: charged as standard, the difference is not in the bill."
        if self.others:
            yield f"{plural(self.others, 'use')} of other server tools: their price is not in the bill."


def _compare_stated(
    session: Session, totals: list[StatedTotal], entry: Ints, money: Doubles, tokens: Longs
) -> tuple[float, int, str]:
    """Compare the total cost that the file states for its runs with the sum of their requests.

    Returns the difference, the number of requests without a price that the total includes, and a sentence.
    """
    total = float(sum(total.usage.cost.total for total in totals if total.usage.cost is not None))
    inside = np.isin(entry, [at for stated in totals for at in covered_entries(session, stated)])
    priced = np.isfinite(money[:, -1])
    itemised = float(money[inside & priced, -1].sum())
    note = (
        f"The file states USD {total:,.4f} as the total of its runs; the requests in it add up to "
        f"{itemised:,.4f}."
    )
    return total - itemised, int((inside & ~priced & tokens.any(axis=1)).sum()), note


def _describe_sum(total: Sum) -> str:
    fresh, read, minutes, hour, output = total.charged.tokens[0].tolist()
    return (
        f"{total.name}: {plural(total.calls, 'request')} stated only as a sum, {fresh:,} input, {read:,} "
        f"cache read, {minutes + hour:,} cache write and {output:,} output tokens."
    )


def _join(group: Charged, entry: Ints) -> tuple[Charged, Ints]:
    """Add up the requests of each reply. Return the sums and the indices of the replies."""
    at, row = np.unique(entry, return_inverse=True)
    tokens, money = np.zeros((len(at), len(KINDS)), np.int64), np.zeros((len(at), len(KINDS) + 1))
    np.add.at(tokens, row, group.tokens)
    np.add.at(money, row, group.money)
    return Charged(tokens, money), at


def _count_silent(session: Session, spent: Spent) -> tuple[int, int, int]:
    """Count replies, sub-agents and compactions whose usage is neither reported nor part of a stated total.

    Replies are counted only if no reply outside the totals reports usage; a reply that was read from a local
    cache used no request. The usage of a compaction may be reported by a reply.
    """
    entries, paid = session.entries, {request.entry for request in spent.requests}
    summed = {at for total in session.totals for at in covered_entries(session, total)}
    tree = session.tree
    replies = [
        at
        for at in np.flatnonzero((tree.role == ASSISTANT) & (tree.sort == MESSAGE)).tolist()
        if at not in summed and entries[at].sidechain is None and entries[at].extra.get("cache") != "read"
    ]
    # A harness writes an error of the API as a reply that is text alone; no request was answered.
    answered = (
        entries[at].error is None or any(block.kind != "text" for block in entries[at].blocks)
        for at in replies
    )
    compactions = (entries[at] for at in tree.bounded.tolist() if at not in summed)
    unreported = sum(
        entry.boundary is not None
        and entry.boundary.kind == "compact"
        and entry.usage is None
        and entry.copied_from is None
        for entry in compactions
    )
    by_reply = sum(
        entries[request.entry].kind == "message" and request.whose == SUMMARY for request in spent.requests
    )
    return (
        0 if paid.intersection(replies) else sum(answered),
        sum(agent.silent for agent in session.subagents),
        max(unreported - by_reply, 0),
    )


def _describe_gaps(
    spent: Spent, tokens: Longs, charged: Bools, ttl: TTL, silent: tuple[int, int, int]
) -> Iterator[str]:
    """Yield sentences about figures that the file does not report, and the values assumed instead."""
    split = np.array([request.split for request in spent.requests], bool)
    assumed = ~split & charged & tokens[:, 2:4].any(axis=1)
    if assumed.any() and not split.any():
        yield f"Cache writes are charged as {ttl} writes: the file does not report their lifetime."
    elif assumed.any():
        requests = plural(int(assumed.sum()), "request does", "requests do")
        yield f"{requests} not report the lifetime of cache writes: charged as {ttl} writes."
    if spent.snapshots:
        yield (
            f"{plural(spent.snapshots, 'reply reports', 'replies report')} fewer output tokens than the text "
            f"has, because the usage was recorded during streaming: {spent.reported:,}, counted as "
            f"{spent.counted:,} ({spent.counter})."
        )
    replies, subagents, compactions = silent
    if replies:
        count = plural(replies, "reply reports", "replies report")
        yield f"{count} no usage, so the cost is unknown."
    if subagents:
        runs = plural(subagents, "run of sub-agents is", "runs of sub-agents are")
        yield f"{runs} recorded without some requests, so that cost is not in the bill."
    if compactions:
        count = plural(compactions, "recorded compaction reports", "recorded compactions report")
        yield f"{count} no usage, so that cost is not in the bill."


class BreakEven(NamedTuple):
    """When a rewritten prefix pays for itself, in tokens' worth at the price of a fresh one.

    `once` is the cost of the rewrite, `each` the saving of every later request. `requests` is their quotient,
    infinite if nothing is saved.
    """

    requests: float
    once: float
    each: float

    @property
    def needed(self) -> int | None:
        """The first whole number of requests by which it has paid off, None for never."""
        return floor(self.requests) + 1 if isfinite(self.requests) else None


def break_even(
    rewritten: float, saved: float, summary_cost: float = 0, price: Price | None = None
) -> BreakEven:
    """After how many requests a compaction has paid for itself, counted from the first one after it.

    It rewrites R tokens (`rewritten`: all that remain after the first edited place, its summary too), which
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
    write, read = (1.25, 0.1) if price is None else (price.write_5m, price.read)
    once = max(write - read, 0.0) * rewritten + summary_cost
    saved_per_use = read * saved
    # Rounded, so that 11.499999999999998 is not one request less than 11.5.
    return BreakEven(round(once / saved_per_use, 9) if saved_per_use else float("inf"), once, saved_per_use)


def _check(**columns: ArrayLike) -> list[Longs]:
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    if len({array.shape for array in arrays.values()}) != 1:
        lengths = ", ".join(f"{name} {array.size}" for name, array in arrays.items())
        raise InspectorError(f"columns over the same steps differ in length: {lengths}")
    for name, array in arrays.items():
        whole = array.size == 0 or (
            array.dtype.kind in "iu" and int(array.min()) >= 0 and int(array.max()) <= MOST_TOKENS
        )
        if array.ndim != 1 or not whole:
            raise InspectorError(f"{name} is not a column of numbers of tokens, whole and not below 0")
    return [array.astype(np.int64) for array in arrays.values()]


def _charge(tokens: Longs, price: Price | None, calls: int = 1) -> Charged:
    """Compute the cost of each row.

    A row may be the sum of `calls` requests. If the price depends on the size of a request, the mean size is
    used.
    """
    if price is None:
        return Charged(tokens, np.full((len(tokens), len(KINDS) + 1), nan))
    base, reply = price.rates(tokens[:, :4].sum(axis=1) / calls)
    cached = (base * price.read, base * price.write_5m, base * price.write_1h)
    money = tokens * np.stack([base, *cached, reply], axis=1) / MILLION
    return Charged(tokens, np.column_stack([money, money.sum(axis=1)]))
