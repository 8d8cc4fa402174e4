"""A session's life as a replay lives it: every entry the model was ever shown, compactions left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .counter import Longs
from .counters import find_counter
from .history import History, count_along
from .ledger import Ledger
from .live import UNSEEN, Bools, Ints
from .reported import is_tokens
from .session import Entry, Session
from .table import COUNTED
from .tree import ASSISTANT, COMPACTION, MESSAGE
from .trigger import Measure


@dataclass(frozen=True, eq=False)
class Life:
    """Columns over n entries of the path, in order.

    at       int32[n]  position in `session.entries`
    step     int32[n]  step of the history
    turn     int32[n]  turn of that step
    tokens   int64[n]  by the ledger's counter
    weight   int64[n]  by the policy's own measure
    hidden   int64[n]  what the last reply up to here reported beyond what is counted for the same context;
                       from the first recorded compaction on, what it was before that
    replies  bool[n]   the assistant speaks: a request was answered
    asks     bool[n]   the next entry is a reply: a request goes out after this one
    """

    session: Session
    at: Ints
    step: Ints
    turn: Ints
    tokens: Longs
    weight: Longs
    hidden: Longs
    replies: Bools
    asks: Bools

    def __len__(self) -> int:
        return len(self.at)

    def entry(self, number: int) -> Entry:
        """The n-th entry of the life."""
        return self.session.entries[int(self.at[number])]


def find_life(session: Session, ledger: Ledger, history: History, measure: Measure) -> Life:
    """The life on the path to the session's leaf."""
    tree, path = session.tree, history.path
    sort = tree.sort[path]
    full = count_along(session, ledger, path, np.flatnonzero(sort == COMPACTION).tolist())
    told = np.zeros(len(path), np.int64)
    said = np.zeros(len(path), bool)
    for i in np.flatnonzero((tree.role[path] == ASSISTANT) & (sort == MESSAGE)).tolist():
        entry = session.entries[path[i]]
        usage = entry.usage
        if usage is None or entry.stop_reason in ("aborted", "error"):
            continue
        if is_tokens(usage.tokens) and usage.tokens > 0:
            told[i], said[i] = round(usage.tokens) - full[i], True
    # Before the first reply nothing is reported; the first one's word stands for it.
    last = np.maximum.accumulate(np.where(said, np.arange(len(path)), -1)) if len(path) else said
    first = int(np.argmax(said)) if said.any() else -1
    hidden = np.where(last >= 0, told[np.maximum(last, 0)], told[first] if first >= 0 else 0)
    # After a recorded compaction a harness attaches files again, which a life without it never saw.
    compacted = np.flatnonzero(sort == COMPACTION)
    if len(compacted) and compacted[0]:
        hidden[compacted[0] :] = hidden[compacted[0] - 1]
    seen = np.flatnonzero(~np.isin(sort, UNSEEN))
    at = path[seen]
    replies = tree.role[at] == ASSISTANT
    tokens = ledger.entry_tokens[at].astype(np.int64)
    return Life(
        session=session,
        at=at,
        step=history.step[seen],
        turn=history.turn[history.step[seen]] if len(seen) else history.turn[:0],
        tokens=tokens,
        weight=weigh_entries(session, ledger, measure)[at] if measure not in COUNTED else tokens,
        hidden=hidden[seen].astype(np.int64),
        replies=replies,
        asks=np.append(replies[1:], False) if len(replies) else replies,
    )


def weigh_entries(session: Session, ledger: Ledger, measure: Measure) -> Longs:
    """int64, one per entry of the file: its weight by a measure that looks at messages alone."""
    if measure in COUNTED:
        return ledger.entry_tokens.astype(np.int64)
    if measure == "messages":
        return np.ones(len(session.entries), np.int64)
    counter = find_counter(measure)
    return ledger.remember(("weights", measure), lambda: counter.entry_weights(session)).astype(np.int64)
