"""What a session's requests took, each with the model that is charged for it.

In go the entries and sub-agents of a session with the usage their file tells, out come rows of tokens, ready
to be charged: one for each request that a reply took (CLAUDE §5.1). Nothing here knows a price.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, NamedTuple

import numpy as np

from ..session.blocks import fields_of
from ..session.entries import MOST_TOKENS, Entry, StatedTotal, Terms, Usage
from ..session.session import Session
from ..text import plural, printable
from .counter import Longs
from .counters import find_counter
from .models import is_same
from .prices import TTL, Doubles
from .reported import is_snapshot, request_tokens, whole_tokens

REPLY, SUMMARY, SUBAGENT, RESULT, COPIED = range(5)
"""Whose request it was: the conversation's, a summariser's, a sub-agent's whose reply is in the file, one
that only the result of the call tells of, or one of another session that this file holds a copy of."""
FIVE, HOUR, OUTPUT = 2, 3, 4
"""Columns of tokens: after fresh ones and those read from the cache, those written to it, and the reply."""
SNAPSHOTS = "o200k_base"
"""What counts a reply whose usage was written down while it was still streaming."""


class SumRow(NamedTuple):
    """Requests of one model that the file states only together; tokens are in the order of `Spent.tokens`."""

    model: str | None
    calls: int
    tokens: list[int]


@dataclass
class Spent:
    """Requests in file order, as lists of the same length.

    Attributes:
        whose: REPLY, SUMMARY, SUBAGENT or RESULT.
        entry: position of the reply in the session's entries, -1 for a sub-agent beside them.
        model: the model that is charged for it.
        tokens: fresh, read from the cache, written to it for five minutes, for an hour, and the reply's.
        given: what the file says the same cost, and the total; NaN if it does not.
        untold: the file does not tell how long what was written lives.
        terms: what else changes the price. Uses of tools count at the last request of a reply.
        sums: requests that the file states only together.
        snapshots: replies whose output was counted by `counter`: `reported` tokens, `counted` as so many.
        split: some usage tells how long cache writes live.
    """

    whose: list[int] = field(default_factory=list)
    entry: list[int] = field(default_factory=list)
    model: list[str | None] = field(default_factory=list)
    tokens: list[list[int]] = field(default_factory=list)
    given: list[tuple[float, ...]] = field(default_factory=list)
    untold: list[bool] = field(default_factory=list)
    terms: list[Terms | None] = field(default_factory=list)
    sums: list[SumRow] = field(default_factory=list)
    snapshots: int = 0
    reported: int = 0
    counted: int = 0
    split: bool = False
    counter: str = SNAPSHOTS


def find_spent(session: Session, ttl: TTL, counter: str = SNAPSHOTS, *, known: Longs | None = None) -> Spent:
    """Every request that is told in the file. `ttl` is what cache writes are taken for that are not told, and
    `counter` counts replies whose usage was written down while they streamed; `known` (int64[n]) is what it
    counted for the text of each entry already."""
    spent = Spent(counter=counter)
    rows = list(_list_replies(session))
    counts = _count_snapshots(session, rows, counter, known)
    for (whose, at, entry, usage), counted in zip(rows, counts, strict=True):
        first = len(spent.tokens)
        fields = fields_of(usage)
        cost, requests = fields["cost"], fields["requests"]
        model = fields_of(entry)["model"] or (session.model if at >= 0 else None)
        given = _UNTOLD if cost is None else _given(usage)
        if cost or not requests:
            parts = fields["input"] + fields["cache_read"] + fields["cache_write"]
            spent.whose.append(whose)
            spent.entry.append(at)
            spent.model.append(model)
            spent.tokens.append(_split(fields, ttl, None if parts else request_tokens(usage)))
            spent.given.append(given)
            spent.untold.append(fields["cache_write_1h"] is None)
            spent.terms.append(fields["terms"])
            spent.split |= fields["cache_write_1h"] is not None
            requests = ()
        for request in requests:
            spent.whose.append(SUMMARY if request.kind == "compaction" and whose != COPIED else whose)
            spent.entry.append(at)
            spent.model.append(request.model or model)
            spent.tokens.append(_split(fields_of(request), ttl))
            spent.given.append(given)
            spent.untold.append(request.cache_write_1h is None)
            spent.terms.append(_at_most_once(fields["terms"], request is requests[-1]))
            spent.split |= request.cache_write_1h is not None
        if not counted or whose == COPIED:
            continue
        own = [row for row in range(first, len(spent.tokens)) if spent.whose[row] == whose]
        said = sum(spent.tokens[row][OUTPUT] for row in own)
        if own and counted > said:
            spent.tokens[own[-1]][OUTPUT] += counted - said
            spent.snapshots, spent.reported = spent.snapshots + 1, spent.reported + said
            spent.counted += counted
    spent.sums = list(_find_sums(session, spent, ttl))
    return spent


def tell_copied(session: Session, spent: Spent, money: Doubles, currency: str) -> Iterator[str]:
    """What a file holds copies of, by the session that was charged for it.

    Args:
        session: The session.
        spent: All its requests.
        money: float64[n], what each of them cost; NaN if it has no price.
        currency: The currency of `money`.
    """
    rows: dict[str, list[int]] = {}
    for row, (whose, at) in enumerate(zip(spent.whose, spent.entry, strict=True)):
        if whose == COPIED:
            rows.setdefault(session.entries[at].copied_from or "", []).append(row)
    for origin, mine in rows.items():
        known = money[mine][np.isfinite(money[mine])]
        paid = f" ({currency} {known.sum():,.4f})" if len(known) else ""
        count = len({spent.entry[row] for row in mine})
        copied = plural(count, "request is copied", "requests are copied")
        yield f"{copied} from session {printable(origin, 60)}{paid}: charged there, not in this bill."


def _at_most_once(terms: Terms | None, last: bool) -> Terms | None:
    """The terms of one of a reply's requests: the uses of tools count for the last one alone."""
    if terms is None or last:
        return terms
    return terms.model_copy(update={"web_searches": 0, "other_tools": 0})


def covered_entries(session: Session, total: StatedTotal) -> range:
    """Positions of the entries that a stated total covers."""
    first = session.index.get(total.after or "", -1) + 1
    end = len(session.entries) if total.until is None else session.index.get(total.until, -1) + 1
    return range(first, end)


def _find_sums(session: Session, spent: Spent, ttl: TTL) -> Iterator[SumRow]:
    """What the sums of a file hold beyond the requests of the same model that it reports one by one.

    Whether a sum includes the requests of compactions is not published: they count as included if they fit.
    """
    rest: dict[str | None, tuple[int, Longs]] = {}
    for total in session.totals:
        if not total.usage.tokens:
            continue
        covered = covered_entries(session, total)
        left = np.array(_split(fields_of(total.usage), ttl), np.int64)
        calls = total.requests or 0
        for compactions in (False, True):
            rows = [
                tokens
                for whose, at, model, tokens in zip(
                    spent.whose, spent.entry, spent.model, spent.tokens, strict=True
                )
                if (whose == SUMMARY) == compactions and at in covered and is_same(model, total.model)
            ]
            less = left - np.array(rows, np.int64).reshape(-1, len(left)).sum(axis=0)
            if not compactions or (less >= 0).all():
                left, calls = np.maximum(less, 0), calls - len(rows)
        if left.any():
            known, before = rest.get(total.model, (0, np.zeros_like(left)))
            rest[total.model] = known + max(calls, 1), before + left
    yield from (SumRow(model, calls, left.tolist()) for model, (calls, left) in rest.items())


Told = tuple[int, int, Entry, Usage]


def _list_replies(session: Session) -> Iterator[Told]:
    """Whose reply, its position, the entry and its usage, of all that took anything."""
    entries = session.entries
    for at in session.tree.reports.tolist():
        entry = entries[at]
        fields = fields_of(entry)
        usage = fields["usage"]
        if _took(usage):
            talk = REPLY if fields["sidechain"] is None else SUBAGENT
            # A note with usage is a request whose reply is not in the file.
            whose = talk if fields["kind"] in ("message", "note") else SUMMARY
            yield whose if fields["copied_from"] is None else COPIED, at, entry, usage
    for agent in session.subagents:
        for whose, replies in ((SUBAGENT, agent.replies), (RESULT, agent.results)):
            for reply in replies:
                if reply.usage is not None and _took(reply.usage):
                    yield whose, -1, reply, reply.usage


def _took(usage: Usage) -> bool:
    fields = fields_of(usage)
    return (
        usage.tokens > 0 or bool(fields["requests"]) or (fields["cost"] is not None and _given(usage)[-1] > 0)
    )


def _count_snapshots(
    session: Session, replies: Sequence[Told], counter: str, known: Longs | None
) -> list[int]:
    """What each reply says, counted, where its usage may tell less: 0 where it is told in full."""
    counts = [0] * len(replies)
    texts: list[str] = []
    ends: list[tuple[int, int]] = []
    tree = session.tree
    answering = {*(np.searchsorted(tree.start, np.flatnonzero(tree.answers), "right") - 1).tolist()}
    lengths = None if known is None else known.tolist()
    for number, (_, at, reply, _) in enumerate(replies):
        if not is_snapshot(session, reply):
            continue
        if lengths is not None and at >= 0 and at not in answering:
            counts[number] = lengths[at]
        else:
            texts += [block.text for block in reply.blocks]
            ends.append((number, len(texts)))
    sums = np.cumsum([0, *(find_counter(counter).count(texts).tolist() if texts else ())]).tolist()
    first = 0
    for number, end in ends:
        counts[number], first = sums[end] - sums[first], end
    return counts


def _split(fields: Mapping[str, Any], ttl: TTL, prompt: int | None = None) -> list[int]:
    """A row of tokens, of the fields of a usage or of one of its requests; `prompt` is the size of a request
    that they do not tell by its parts."""
    fresh = fields["input"] if prompt is None else prompt
    row = fresh, read, written, output = fresh, fields["cache_read"], fields["cache_write"], fields["output"]
    plain = type(fresh) is type(read) is type(written) is type(output) is int
    if not plain or min(row) < 0 or max(row) > MOST_TOKENS:
        fresh, read, written, output = map(whole_tokens, row)
    hour = fields["cache_write_1h"]
    long = (written if ttl == "1h" else 0) if hour is None else min(whole_tokens(hour), written)
    return [fresh, read, written - long, long, output]


def _given(usage: Usage) -> tuple[float, ...]:
    """What the file says it cost, as the columns of tokens and the total; NaN where it does not.

    Nothing at all for tokens is what is written where no price is known. A total may stand alone.
    """
    cost = usage.cost
    if cost is None:
        return _UNTOLD
    parts = (cost.input, cost.cache_read, cost.cache_write, 0.0, cost.output)
    if not all(0 <= part <= MOST_TOKENS for part in (*parts, cost.total)):
        return _UNTOLD
    if not any(parts):
        return (*_UNTOLD[1:], cost.total if cost.total or not usage.tokens else nan)
    return (*parts, cost.total or sum(parts))


_UNTOLD = (nan,) * 6
