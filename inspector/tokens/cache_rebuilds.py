"""Find why the prompt cache was rebuilt (expiry, another model, a compaction, a new prefix), and the cost.

From a session with reported usage, list the requests that read much less from the cache than the request
before left in it. A cache entry expires five minutes, or one hour if it was written for an hour, after its
last use. A change of a prefix without a compaction is not in the file: the system prompt, tools, or earlier
text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

import numpy as np

from ..errors import expect
from ..session.session import Session
from ..session.tree import COMPACTION
from ..text import plural
from .models import find_claude, is_same
from .prices import MILLION, PRICES, Price, find_price
from .spent import FIVE, HOUR, REPLY, Spent, find_spent

Cause = Literal["expired", "model", "compaction", "prefix", "untold"]
CAUSES: dict[Cause, str] = {
    "expired": "because it had expired",
    "model": "by a change of model",
    "compaction": "by a compaction",
    "prefix": "by a changed prefix",
    "untold": "for an unknown reason",
}
"""Each rebuild has one, with the words for it. A compaction and another model rebuild the cache whatever the
time, so they come before "expired"; "prefix" is what is left. Other makers than Anthropic promise no life of
a cache entry and no hit: there both are "untold"."""
LEAST_TOKENS, LEAST_SHARE = 1_024, 0.05
"""Less than this that is not read again is not a rebuild: the shortest prefix that is cached, and the last
blocks of a request, which harnesses leave outside their cache marks."""
LIFETIMES = {FIVE: 300.0, HOUR: 3_600.0}
"""Seconds that a cache entry lives, by the column it was written in."""
FRESH, READ = 0, 1


class CacheRebuild(NamedTuple):
    """A request that had to write again what the one before it had left in the cache.

    `entry` is the reply. `left` tokens were in the cache, `read` of them were read, `again` were sent again;
    after a compaction these are the summary and what else is new. `cost` is what they cost above reading as
    many, in `currency`, by the list price of the model; None if it has none.
    `gap` is seconds since the reply before; None if the file records no times.

    >>> from inspector.session.entries import Entry, Usage
    >>> written = Usage(cache_write=100_000)
    >>> one, other = (Entry(id=i, parent=p, role="assistant", model="claude-opus-4-5", usage=written)
    ...               for i, p in (("a", None), ("b", "a")))
    >>> rebuild: CacheRebuild = find_cache_rebuilds(
    ...     Session(format="demo", entries=(one, other), leaf="b")
    ... )[0]
    >>> rebuild.entry, rebuild.cause, rebuild.left, rebuild.read, rebuild.again
    ('b', 'prefix', 100000, 0, 100000)
    """

    entry: str
    cause: Cause
    left: int
    read: int
    again: int
    cost: float | None
    currency: str
    gap: float | None


def find_cache_rebuilds(session: Session) -> list[CacheRebuild]:
    """Every request of the conversation that rebuilt its cache, in file order; sub-agents' are left out.

    The list is empty if the file reports no cache usage. Of a reply with several requests the last one
    counts.

    >>> from inspector.session.entries import Entry, Usage
    >>> turns = [
    ...     Entry(id="a", role="user", timestamp="2026-01-01T10:00:00Z"),
    ...     Entry(id="b", parent="a", role="assistant", timestamp="2026-01-01T10:01:00Z",
    ...           model="claude-opus-4-5", usage=Usage(input=10, cache_write=100_000, output=5)),
    ...     Entry(id="c", parent="b", role="user", timestamp="2026-01-01T10:31:00Z"),
    ...     Entry(id="d", parent="c", role="assistant", timestamp="2026-01-01T10:32:00Z",
    ...           model="claude-opus-4-5", usage=Usage(input=10, cache_write=101_000, output=5)),
    ... ]
    >>> found = find_cache_rebuilds(Session(format="demo", entries=tuple(turns), leaf="d"))
    >>> [(one.entry, one.cause, one.again, one.gap, round(one.cost, 3)) for one in found]
    [('d', 'expired', 100000, 1800.0, 0.575)]
    """
    expect("find_cache_rebuilds", session=(session, Session))
    return find_among(session, find_spent(session, "5m"))


def find_among(
    session: Session, spent: Spent, price: Price | None = None, table: Mapping[str, Price] = PRICES
) -> list[CacheRebuild]:
    """Find the cache rebuilds among collected requests, at the given price or the prices of a table."""
    last: dict[int, tuple[list[int], str | None]] = {}
    for request in spent.requests:
        usage = session.entries[request.entry].usage if request.whose == REPLY else None
        # Sums over several requests do not describe one cache state.
        if usage is not None and usage.request >= usage.prompt:
            last[request.entry] = request.tokens, request.model
    models = {model for _, model in last.values()}
    prices = {model: price or find_price(model, table).price for model in models}
    return list(_find(session, last, prices))


def sum_cache_rebuilds(rebuilds: Iterable[CacheRebuild]) -> dict[Cause, tuple[int, int, float | None]]:
    """Return {cause: (times, tokens sent again, their cost)}; the cost is None if one of them has none.

    >>> expired = CacheRebuild("e9", "expired", 90_000, 0, 90_000, 0.5, "USD", 900.0)
    >>> sum_cache_rebuilds([expired, expired._replace(entry="e20", again=10_000, cost=0.25)])
    {'expired': (2, 100000, 0.75)}
    """
    sums: dict[Cause, tuple[int, int, float | None]] = {}
    for rebuild in rebuilds:
        times, tokens, cost = sums.get(rebuild.cause, (0, 0, 0.0))
        total = None if cost is None or rebuild.cost is None else cost + rebuild.cost
        sums[rebuild.cause] = times + 1, tokens + rebuild.again, total
    return {cause: sums[cause] for cause in CAUSES if cause in sums}


def describe_cache_rebuilds(rebuilds: Sequence[CacheRebuild]) -> Iterator[str]:
    """Yield one sentence about the rebuilds, if there are any."""
    if not rebuilds:
        return
    parts = [
        f"{times:,} {CAUSES[cause]} ({_describe_again(tokens, cost, rebuilds[0].currency)})"
        for cause, (times, tokens, cost) in sum_cache_rebuilds(rebuilds).items()
    ]
    yield f"The cache was rebuilt {plural(len(rebuilds), 'time')}: {'; '.join(parts)}"


def describe_rebuild(rebuild: CacheRebuild) -> str:
    """One rebuild as a sentence, with its cause and its price.

    >>> describe_rebuild(CacheRebuild("a", "expired", 9_000, 0, 8_000, 0.046, "USD", 400.0))
    'Cache rebuilt because it had expired: 8,000 tokens sent again, USD 0.05 above reading them'
    """
    again = _describe_again(rebuild.again, rebuild.cost, rebuild.currency)
    return f"Cache rebuilt {CAUSES[rebuild.cause]}: {again}"


def _describe_again(tokens: int, cost: float | None, currency: str) -> str:
    money = "" if cost is None else f", {currency} {cost:.2f} above reading them"
    return f"{tokens:,} tokens sent again{money}"


def _find(
    session: Session,
    last: Mapping[int, tuple[list[int], str | None]],
    prices: Mapping[str | None, Price | None],
) -> Iterator[CacheRebuild]:
    entries, parent, chain = session.entries, session.tree.parent, session.tree.chain.tolist()
    replies = sorted(last)
    compactions = np.flatnonzero(session.tree.sort == COMPACTION)
    earlier, compacts = np.searchsorted(compactions, replies).tolist(), {*compactions.tolist()}
    for number, at in enumerate(replies):
        requested = parent[at]
        near = replies[number - 1] if number else -1
        # Nothing branches off between them, as nearly everywhere.
        plain = chain[at] <= near and earlier[number] == earlier[number - 1]
        before, compacted = (near, None) if plain else _find_before(session, last, compacts, requested)
        if before is None and compacted is not None:
            # A compaction often begins a new root: the reply before it in the file left what was cached.
            place = bisect_left(replies, compacted)
            before = replies[place - 1] if place else None
        if before is None:
            continue
        (was, former), (now, model) = last[before], last[at]
        cached = was[READ] + was[FIVE] + was[HOUR]
        missing = cached - now[READ]
        if missing <= max(LEAST_TOKENS, LEAST_SHARE * cached):
            continue
        again = min(missing, now[FRESH] + now[FIVE] + now[HOUR])
        if again < LEAST_TOKENS:
            continue
        sent = at if requested is None or requested == before else requested
        gap = _seconds(entries[before].timestamp, entries[sent].timestamp)
        lifetime = LIFETIMES[HOUR if was[HOUR] else FIVE]
        cause: Cause = "prefix"
        if compacted is not None:
            cause = "compaction"
        elif model and former and not is_same(model, former):
            cause = "model"
        elif find_claude(model or former) is None:
            cause = "untold"
        elif gap is not None and gap >= lifetime:
            cause = "expired"
        cost, currency = None, ""
        if (price := prices[model]) is not None:
            cost, currency = _above_reading(price, again, now), price.currency
        yield CacheRebuild(entries[at].id, cause, cached, now[READ], again, cost, currency, gap)


def _find_before(
    session: Session, replies: Collection[int], compactions: Collection[int], at: int | None
) -> tuple[int | None, int | None]:
    """Find the nearest reply from this entry upwards, and the first compaction after it on the way.

    In a file with a cycle of parents, the search ends when an entry is visited twice.
    """
    compacted: int | None = None
    visited: set[int] = set()
    while at is not None and at not in replies:
        if at in visited:
            return None, compacted
        visited.add(at)
        if at in compactions:
            compacted = at
        at = session.tree.parent[at]
    return at, compacted


def _above_reading(price: Price, again: int, now: Sequence[int]) -> float:
    """Return the cost of sending tokens again above that of reading them, in the proportions of `now`."""
    sent = now[FRESH] + now[FIVE] + now[HOUR]
    base = float(price.rates(sent + now[READ])[0])
    rate = (now[FRESH] + now[FIVE] * price.write_5m + now[HOUR] * price.write_1h) / sent if sent else 0.0
    return round(again * base * (rate - price.read) / MILLION, 6)


def _seconds(start: str | None, end: str | None) -> float | None:
    """Return the seconds between two times of a file; None if one is missing or invalid."""
    try:
        return (datetime.fromisoformat(end or "") - datetime.fromisoformat(start or "")).total_seconds()
    except (ValueError, TypeError):
        return None
