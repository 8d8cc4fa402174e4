"""What a session's requests took, each with the model that is charged for it.

In go the entries and sub-agents of a session with the usage their file tells, out come rows of tokens, ready
to be charged: one for each request that a reply took (CLAUDE §5.1). Nothing here knows a price.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np

from ..session.blocks import fields_of
from ..session.entries import MOST_TOKENS, Entry, Usage
from ..session.session import Session
from ..text import plural, printable
from .counter import Longs
from .counters import find_counter
from .prices import TTL, Doubles
from .reported import is_snapshot, request_tokens, whole_tokens

REPLY, SUMMARY, SUBAGENT, RESULT, COPIED = range(5)
"""Whose request it was: the conversation's, a summariser's, a sub-agent's whose reply is in the file, one
that only the result of the call tells of, or one of another session that this file holds a copy of."""
FIVE, HOUR, OUTPUT = 2, 3, 4
"""Columns of tokens: after fresh ones and those read from the cache, those written to it, and the reply."""
SNAPSHOTS = "o200k_base"
"""What counts a reply whose usage was written down while it was still streaming."""


@dataclass
class Spent:
    """Requests in file order, as lists of the same length.

    `tokens` are fresh, read from the cache, written to it for five minutes, for an hour, and the reply's.
    `given` is what the file says the same cost, and the total; NaN where it does not. `entry` is the
    position of the reply in the session's entries, -1 for a sub-agent beside them. `untold`: the file does
    not tell how long what was written lives. `reported` and `counted` are output tokens of the replies
    that were counted, `snapshots` of them.
    """

    whose: list[int] = field(default_factory=list)
    entry: list[int] = field(default_factory=list)
    model: list[str | None] = field(default_factory=list)
    tokens: list[list[int]] = field(default_factory=list)
    given: list[tuple[float, ...]] = field(default_factory=list)
    untold: list[bool] = field(default_factory=list)
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
            spent.split |= fields["cache_write_1h"] is not None
            requests = ()
        for request in requests:
            spent.whose.append(SUMMARY if request.kind == "compaction" and whose != COPIED else whose)
            spent.entry.append(at)
            spent.model.append(request.model or model)
            spent.tokens.append(_split(fields_of(request), ttl))
            spent.given.append(given)
            spent.untold.append(request.cache_write_1h is None)
            spent.split |= request.cache_write_1h is not None
        if not counted or whose == COPIED:
            continue
        own = [row for row in range(first, len(spent.tokens)) if spent.whose[row] == whose]
        said = sum(spent.tokens[row][OUTPUT] for row in own)
        if own and counted > said:
            spent.tokens[own[-1]][OUTPUT] += counted - said
            spent.snapshots, spent.reported = spent.snapshots + 1, spent.reported + said
            spent.counted += counted
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
