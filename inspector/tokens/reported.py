"""Usage that the provider reported, compared with counted tokens.

In goes a session, out come its replies' usage as columns.
"""

from __future__ import annotations

import numpy as np

from ..session.blocks import Number, fields_of
from ..session.entries import MOST_TOKENS, Entry, Usage, is_tokens
from ..session.session import Session
from .counter import Longs


def whole_tokens(value: Number) -> int:
    """Reported tokens as a whole number; 0 for what can be none."""
    return round(value) if is_tokens(value) else 0


def read_usages(session: Session) -> tuple[Longs, Longs]:
    """Return two arrays int64[k] for the entries that report usage (`Tree.reports`).

    The arrays are tokens of the request and of the reply. They add up to the context after the reply, which
    is the reported total if there is one.

    >>> usages = [Usage(input=10, cache_read=90, output=2.5), Usage(total=100, output=10**400)]
    >>> entries = tuple(Entry(id=str(at), usage=usage) for at, usage in enumerate(usages))
    >>> read_usages(Session(format="demo", entries=entries))
    (array([100,   0]), array([2, 0]))
    """
    table = session.tree.usages
    prompt, total = table[:, 0] + table[:, 1] + table[:, 2], session.tree.totals
    # Rows with invalid figures, or with a total that is not the sum of the parts, are read one by one.
    plain = ((table >= 0) & (table < _FAR)).all(axis=1) & (prompt > 0)
    plain &= (total == 0) | (total == prompt + table[:, 3])
    columns = [np.rint(np.where(plain, column, 0)).astype(np.int64) for column in (prompt, table[:, 3])]
    for at in np.flatnonzero(~plain).tolist():
        usage = session.entries[session.tree.reports[at]].usage or Usage()
        sent = request_tokens(usage)
        whole = whole_tokens(usage.total or 0)
        replied = max(whole - sent, 0) if whole and sent else whole_tokens(usage.output)
        columns[0][at], columns[1][at] = sent, replied
    return columns[0], columns[1]


_FAR = MOST_TOKENS / 4
"""Three figures below it add up to a number of tokens, without rounding."""


def is_snapshot(session: Session, reply: Entry) -> bool:
    """Whether a reply's usage was recorded while it streamed, so that its output may be too small.

    Claude Code writes a row for each block as it comes; only the row that ended the reply says why it ended.

    >>> reply = Entry(id="a", role="assistant", usage=Usage(output=1))
    >>> is_snapshot(Session(format="claude-code"), reply), is_snapshot(Session(format="pi"), reply)
    (True, False)
    """
    fields = fields_of(reply)
    if fields["stop_reason"] is not None or session.format != _STREAMED or fields["usage"] is None:
        return False
    return bool(fields["role"] == "assistant" and fields["kind"] == "message")


_STREAMED = "claude-code"


def request_tokens(usage: Usage | None) -> int:
    """Return the tokens of the request that a reply answered (`Usage.request`).

    >>> request_tokens(Usage(input=10, cache_read=90, output=5)), request_tokens(Usage(total=100, output=5))
    (100, 95)
    """
    if usage is None:
        return 0
    return whole_tokens(usage.request)


def context_tokens(usage: Usage | None, counted: int = 0) -> int:
    """Return the tokens of the context after a reply, including the reply.

    `counted` are the counted tokens of the reply, for usage that may report fewer (`is_snapshot`).

    >>> context_tokens(Usage(input=10, cache_read=90, output=5)), context_tokens(None)
    (105, 0)
    >>> context_tokens(Usage(input=10, output=5), counted=70)
    80
    """
    if usage is None:
        return 0
    return whole_tokens(usage.tokens) + (max(counted - whole_tokens(usage.output), 0) if usage.tokens else 0)


def add_usage(session: Session, since: str | None = None) -> Usage:
    """The usage of every reply and compaction on the path after an entry: all of it for None (FLUE §11.1).

    Sample the leaf before a call and ask with it after: only the path counts, however few messages
    remain on it (S4-70). Replies on an abandoned branch are not counted: an
    under-count of what was billed (S4-68, S4-69). `total` and `cost` are None if no usage reports one.

    >>> from inspector import compact, open_demo
    >>> from inspector.planning.summary_jobs import Reply
    >>> session = open_demo()
    >>> reply = Reply(text="So far: a calendar.", usage=Usage(input=900, output=100))
    >>> add_usage(compact(session, "claude-code", lambda job, session: reply).after, session.leaf).tokens
    1000
    """
    usages = (
        entry.usage
        for entry in session.path_since(since)
        if entry.usage is not None and (entry.role == "assistant" or entry.kind == "compaction")
    )
    return sum(usages, start=Usage())
