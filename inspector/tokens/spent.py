"""Collect the requests of a session: the tokens of each, and the model that is charged for it.

The input is the entries and sub-agents of a session with their recorded usage. The result is rows of tokens,
one for each request; a reply may take several. This module uses no prices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, NamedTuple

import numpy as np

from ..session.blocks import fields_of
from ..session.entries import MOST_TOKENS, Entry, StatedTotal, Terms, Usage
from ..session.queries import count_calls
from ..session.session import Session
from ..text import plural, printable
from .counter import Doubles, Longs, running_sums
from .counters import find_counter
from .models import is_same
from .prices import TTL
from .reported import is_snapshot, request_tokens, whole_tokens

REPLY, SUMMARY, SUBAGENT, RESULT, COPIED = range(5)
"""The origin of a request: the conversation, a summary, a sub-agent whose reply is in the file, a sub-agent
request that only the result of the call reports, or another session whose request was copied to this file."""
FIVE, HOUR, OUTPUT = 2, 3, 4
"""Columns of tokens after uncached input and cache reads: cache writes of both lifetimes, and output."""
SNAPSHOTS = "o200k_base"
"""The counter for replies whose usage was recorded while they were streamed."""


SumRow = tuple[str | None, int, list[int]]
"""Requests of one model that the file states only together: the model, their number, and their tokens in the
order of `Spending.tokens`."""


class Spending(NamedTuple):
    """One request that is charged.

    Attributes:
        whose: REPLY, SUMMARY, SUBAGENT, RESULT or COPIED.
        entry: index of the reply in the session's entries, -1 for a sub-agent's reply outside them.
        model: the model that is charged for it.
        tokens: uncached input, cache reads, cache writes for 5 minutes and for an hour, and output.
        stated_cost: cost of each kind of tokens and the total, as the file states them; NaN if it does not.
        split: the file reports the lifetime of cache writes.
        terms: other terms that change the price. Uses of tools are counted with a reply's last request.
    """

    whose: int
    entry: int
    model: str | None
    tokens: list[int]
    stated_cost: tuple[float, ...]
    split: bool
    terms: Terms | None


@dataclass
class Spent:
    """All requests in file order, and `sums` of requests that the file states only together.

    The output of `snapshots` replies was counted with `counter`: their usage reports `reported` tokens in
    total, `counted` is the sum of the counts. `more_calls` are calls of summarisers beyond one a row, if a
    compaction reports the sum of several.
    """

    requests: list[Spending] = field(default_factory=list)
    sums: list[SumRow] = field(default_factory=list)
    snapshots: int = 0
    reported: int = 0
    counted: int = 0
    counter: str = SNAPSHOTS
    more_calls: int = 0


def find_spent(session: Session, ttl: TTL, counter: str = SNAPSHOTS, *, counts: Longs | None = None) -> Spent:
    """Collect every request that the file reports.

    Args:
        session: The session.
        ttl: The lifetime assumed for cache writes without a reported one.
        counter: The counter for replies whose usage was recorded while they were streamed.
        counts: int64[n], the counts of this counter for the text of each entry, if they exist already.
    """
    spent = Spent(counter=counter)
    rows = list(_list_replies(session))
    counted_replies = _count_snapshots(session, rows, counter, counts)
    for (whose, at, entry, usage), counted in zip(rows, counted_replies, strict=True):
        first = len(spent.requests)
        fields = fields_of(usage)
        cost, requests = fields["cost"], fields["requests"]
        model = fields_of(entry)["model"] or (session.model if at >= 0 else None)
        if cost or not requests:
            parts = fields["input"] + fields["cache_read"] + fields["cache_write"]
            spent.more_calls += count_calls(entry) - 1 if whose == SUMMARY else 0
            requests = ()
            row, split = _split(fields, ttl, None if parts else request_tokens(usage))
            spent.requests.append(Spending(whose, at, model, row, _read_cost(usage), split, fields["terms"]))
        for request in requests:
            origin = SUMMARY if request.kind == "compaction" and whose != COPIED else whose
            terms = fields["terms"]
            if terms is not None and request is not requests[-1]:
                terms = terms.model_copy(update={"web_searches": 0, "other_tools": 0})
            row, split = _split(fields_of(request), ttl)
            charged = request.model or model
            spent.requests.append(Spending(origin, at, charged, row, _read_cost(usage), split, terms))
        if not counted or whose == COPIED:
            continue
        own = [request for request in spent.requests[first:] if request.whose == whose]
        reported = sum(request.tokens[OUTPUT] for request in own)
        if own and counted > reported:
            own[-1].tokens[OUTPUT] += counted - reported
            spent.snapshots, spent.reported = spent.snapshots + 1, spent.reported + reported
            spent.counted += counted
    spent.sums = list(_find_sums(session, spent, ttl))
    return spent


def describe_copied(session: Session, spent: Spent, money: Doubles, currency: str) -> Iterator[str]:
    """Describe the requests that were copied from other sessions, one sentence per session.

    Args:
        session: The session.
        spent: All its requests.
        money: float64[n], the cost of each request; NaN if it has no price.
        currency: The currency of `money`.
    """
    rows: dict[str, list[int]] = {}
    for row, request in enumerate(spent.requests):
        if request.whose == COPIED:
            rows.setdefault(session.entries[request.entry].copied_from or "", []).append(row)
    for origin, copies in rows.items():
        amounts = money[copies][np.isfinite(money[copies])]
        paid = f" ({currency} {amounts.sum():,.4f})" if len(amounts) else ""
        count = len({spent.requests[row].entry for row in copies})
        copied = plural(count, "request is copied", "requests are copied")
        yield f"{copied} from session {printable(origin, 60)}{paid}: charged there, not in this bill."


def covered_entries(session: Session, total: StatedTotal) -> range:
    """Return the indices of the entries that a stated total covers."""
    first = session.index.get(total.after or "", -1) + 1
    end = len(session.entries) if total.until is None else session.index.get(total.until, -1) + 1
    return range(first, end)


def _find_sums(session: Session, spent: Spent, ttl: TTL) -> Iterator[SumRow]:
    """Subtract the requests that are reported individually from the sums of the same model; yield the rest.

    The vendor does not document whether a sum includes the requests of compactions. They are subtracted if
    the sum is large enough.
    """
    rest: dict[str | None, tuple[int, Longs]] = {}
    for total in session.totals:
        if not total.usage.tokens:
            continue
        covered = covered_entries(session, total)
        remaining = np.array(_split(fields_of(total.usage), ttl)[0], np.int64)
        calls = total.requests or 0
        for compactions in (False, True):
            rows = [
                request.tokens
                for request in spent.requests
                if (request.whose == SUMMARY) == compactions
                and request.entry in covered
                and is_same(request.model, total.model)
            ]
            rest_of_sum = remaining - np.array(rows, np.int64).reshape(-1, len(remaining)).sum(axis=0)
            if not compactions or (rest_of_sum >= 0).all():
                remaining, calls = np.maximum(rest_of_sum, 0), calls - len(rows)
        if remaining.any():
            counted_calls, before = rest.get(total.model, (0, np.zeros_like(remaining)))
            rest[total.model] = counted_calls + max(calls, 1), before + remaining
    yield from ((model, calls, remaining.tolist()) for model, (calls, remaining) in rest.items())


ReplyRow = tuple[int, int, Entry, Usage]
"""The origin of a reply, its index or -1, its entry and its usage."""


def _list_replies(session: Session) -> Iterator[ReplyRow]:
    """Yield all replies whose usage is not empty."""
    entries = session.entries
    for at in session.tree.reports.tolist():
        entry = entries[at]
        fields = fields_of(entry)
        usage = fields["usage"]
        if _is_used(usage):
            talk = REPLY if fields["sidechain"] is None else SUBAGENT
            # A note with usage stands for a request whose reply is not in the file.
            whose = talk if fields["kind"] in ("message", "note") else SUMMARY
            yield whose if fields["copied_from"] is None else COPIED, at, entry, usage
    for agent in session.subagents:
        for whose, replies in ((SUBAGENT, agent.replies), (RESULT, agent.results)):
            for reply in replies:
                if reply.usage is not None and _is_used(reply.usage):
                    yield whose, -1, reply, reply.usage


def _is_used(usage: Usage) -> bool:
    fields = fields_of(usage)
    return (
        usage.tokens > 0
        or bool(fields["requests"])
        or (fields["cost"] is not None and _read_cost(usage)[-1] > 0)
    )


def _count_snapshots(
    session: Session, replies: Sequence[ReplyRow], counter: str, counts_by_entry: Longs | None
) -> list[int]:
    """Count the text of each reply whose usage may be incomplete; 0 for all others."""
    counts, texts = [0] * len(replies), list[str]()
    ends: list[tuple[int, int]] = []
    tree = session.tree
    answering = {*(np.searchsorted(tree.start, np.flatnonzero(tree.answers), "right") - 1).tolist()}
    for number, (_, at, reply, _) in enumerate(replies):
        if not is_snapshot(session, reply):
            continue
        if counts_by_entry is not None and at >= 0 and at not in answering:
            counts[number] = int(counts_by_entry[at])
        else:
            texts += [block.text for block in reply.blocks]
            ends.append((number, len(texts)))
    sums = running_sums(find_counter(counter).count(texts)).tolist() if texts else [0]
    first = 0
    for number, end in ends:
        counts[number], first = sums[end] - sums[first], end
    return counts


def _split(fields: Mapping[str, Any], ttl: TTL, prompt: int | None = None) -> tuple[list[int], bool]:
    """Return the tokens of a usage or a request, and whether the lifetime of cache writes is known.

    `prompt` is the size of the request if the fields do not split it.
    """
    fresh = fields["input"] if prompt is None else prompt
    row = fresh, read, written, output = fresh, fields["cache_read"], fields["cache_write"], fields["output"]
    plain = type(fresh) is type(read) is type(written) is type(output) is int
    if not plain or min(row) < 0 or max(row) > MOST_TOKENS:
        fresh, read, written, output = map(whole_tokens, row)
    hour = fields["cache_write_1h"]
    long = (written if ttl == "1h" else 0) if hour is None else min(whole_tokens(hour), written)
    return [fresh, read, written - long, long, output], hour is not None


def _read_cost(usage: Usage) -> tuple[float, ...]:
    """Return the cost that the file states, in the columns of tokens, and the total; NaN if it states none.

    Harnesses write a cost of 0 for tokens if they know no price. There may be a total without parts.
    """
    cost = usage.cost
    if cost is None:
        return _NO_COST
    parts = (cost.input, cost.cache_read, cost.cache_write, 0.0, cost.output)
    if not all(0 <= part <= MOST_TOKENS for part in (*parts, cost.total)):
        return _NO_COST
    if not any(parts):
        return (*_NO_COST[1:], cost.total if cost.total or not usage.tokens else nan)
    return (*parts, cost.amount)


_NO_COST = (nan,) * 6
