"""What a session's requests took, each with the model that is charged for it.

In go the entries and sub-agents of a session with the usage their file tells, out come rows of tokens, ready
to be charged: one for each request that a reply took (CLAUDE §5.1). Nothing here knows a price.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import nan

from ..session.blocks import build
from ..session.entries import MOST_TOKENS, Entry, Request, Usage
from ..session.session import Session
from .counters import find_counter
from .prices import TTL
from .reported import is_snapshot, request_tokens, whole_tokens

REPLY, SUMMARY, SUBAGENT, RESULT = range(4)
"""Whose request it was: the conversation's, a summariser's, a sub-agent's whose reply is in the file, or one
that only the result of the call tells of."""
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


def find_spent(session: Session, ttl: TTL, counter: str = SNAPSHOTS) -> Spent:
    """Every request that is told in the file. `ttl` is what cache writes are taken for that are not told, and
    `counter` counts replies whose usage was written down while they streamed."""
    spent = Spent(counter=counter)
    rows = list(_list_replies(session))
    counts = _count_snapshots(session, [entry for _, _, entry, _ in rows], counter)
    for (whose, at, entry, usage), counted in zip(rows, counts, strict=True):
        first = len(spent.tokens)
        requests = () if usage.cost else usage.requests
        for request in requests or (_whole(usage),):
            spent.whose.append(SUMMARY if request.kind == "compaction" else whose)
            spent.entry.append(at)
            spent.model.append(request.model or entry.model or (session.model if at >= 0 else None))
            spent.tokens.append(_split(request, usage, ttl))
            spent.given.append(_given(usage))
            spent.untold.append(request.cache_write_1h is None)
            spent.split |= request.cache_write_1h is not None
        if not counted:
            continue
        own = [row for row in range(first, len(spent.tokens)) if spent.whose[row] == whose]
        said = sum(spent.tokens[row][OUTPUT] for row in own)
        if own and counted > said:
            spent.tokens[own[-1]][OUTPUT] += counted - said
            spent.snapshots, spent.reported = spent.snapshots + 1, spent.reported + said
            spent.counted += counted
    return spent


def _list_replies(session: Session) -> Iterator[tuple[int, int, Entry, Usage]]:
    """Whose reply, its position, the entry and its usage, of all that took anything."""
    for at, entry in enumerate(session.entries):
        if entry.usage is not None and _took(entry.usage):
            talk = REPLY if entry.sidechain is None else SUBAGENT
            # A note with usage is a request whose reply is not in the file.
            yield talk if entry.kind in ("message", "note") else SUMMARY, at, entry, entry.usage
    for agent in session.subagents:
        for whose, replies in ((SUBAGENT, agent.replies), (RESULT, agent.results)):
            for reply in replies:
                if reply.usage is not None and _took(reply.usage):
                    yield whose, -1, reply, reply.usage


def _took(usage: Usage) -> bool:
    return usage.tokens > 0 or bool(usage.requests) or _total(usage) > 0


def _count_snapshots(session: Session, replies: Sequence[Entry], counter: str) -> list[int]:
    """What each reply says, counted, where its usage may tell less: 0 where it is told in full."""
    texts = [[b.text for b in reply.blocks] if is_snapshot(session, reply) else [] for reply in replies]
    flat = [text for each in texts for text in each]
    counts = iter(find_counter(counter).count(flat).tolist() if flat else ())
    return [sum(next(counts) for _ in each) for each in texts]


def _whole(usage: Usage) -> Request:
    """A usage as the one request it was. Of a total alone it is what the output leaves."""
    return build(
        Request,
        kind="message",
        model=None,
        input=usage.input if usage.prompt else request_tokens(usage),
        output=usage.output,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
        cache_write_1h=usage.cache_write_1h,
    )


def _split(request: Request, usage: Usage, ttl: TTL) -> list[int]:
    written, hour = whole_tokens(request.cache_write), request.cache_write_1h
    long = (written if ttl == "1h" else 0) if hour is None else min(whole_tokens(hour), written)
    fresh, read, output = (whole_tokens(part) for part in (request.input, request.cache_read, request.output))
    return [fresh, read, written - long, long, output]


def _total(usage: Usage) -> float:
    return _given(usage)[-1]


def _given(usage: Usage) -> tuple[float, ...]:
    """What the file says it cost, as the columns of tokens and the total; NaN where it does not.

    Nothing at all for tokens is what is written where no price is known. A total may stand alone.
    """
    cost = usage.cost
    parts = (cost.input, cost.cache_read, cost.cache_write, 0.0, cost.output) if cost else ()
    if cost is None or not all(0 <= part <= MOST_TOKENS for part in (*parts, cost.total)):
        return (nan,) * 6
    if not any(parts):
        return (*(nan,) * 5, cost.total if cost.total or not usage.tokens else nan)
    return (*parts, cost.total or sum(parts))
