"""A session's whole life as columns: how full the context was at every step, compactions included.

The unit is the step: one request with its tool outputs. In go a session and its ledger, out comes a
`History` over the path from the root to the leaf, through every recorded compaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ..session.entries import is_tokens
from ..session.live import index_path, join_stretches, list_kept
from ..session.session import Session
from ..session.tree import ASSISTANT, COMPACTION, MESSAGE, MICRO, NOTE, Bools, Ints
from .counter import Longs, running_sums
from .ledger import CLEARED_TEXT, Ledger
from .memo import Memo
from .models import SYNTHETIC, strips_thinking
from .reported import context_tokens, is_snapshot

_ALONG: Memo[Longs] = Memo()


class Segment(NamedTuple):
    """A segment between two recorded compactions. `at` is its last entry; `tokens` the size of the context
    there.

    The size is the last usage the provider reported in the segment plus the tokens counted after it; if it
    reported none, all tokens are counted.
    """

    first_step: int
    last_step: int
    first_turn: int
    last_turn: int
    at: str
    tokens: int


class CompactionMark(NamedTuple):
    """A recorded compaction on the path: the step it happened before, and the file's own figures."""

    step: int
    entry: str
    kind: Literal["compact", "micro"]
    trigger: str | None
    before: int | None
    after: int | None


@dataclass(frozen=True, eq=False)
class History:
    """Columns over k steps of the path, and what was found along it.

    path       int32[p]  path position -> position in `session.entries`
    step       int32[p]  path position -> step
    turn       int32[k]  turn of each step, 0-based
    estimated  int64[k]  tokens in the context at the end of the step, by the ledger's counter
    reported   int64[k]  the same by the provider's last usage in the step, or -1
    """

    path: Ints
    step: Ints
    turn: Ints
    estimated: Longs
    reported: Longs
    segments: tuple[Segment, ...]
    marks: tuple[CompactionMark, ...]

    @property
    def fullest(self) -> Segment | None:
        """The segment that ends with the most tokens; the last of equals."""
        return max(reversed(self.segments), key=lambda segment: segment.tokens, default=None)

    def passes(self, session: Session) -> bool:
        """Whether the leaf of a session with these entries is on this path."""
        path = session.path
        return bool(path) and len(path) <= len(self.path) and int(self.path[len(path) - 1]) == path[-1]

    def steps_of(self, session: Session) -> Ints:
        """int32[s]: positions of a context's s steps among these, in ascending order. -1 off the path."""
        live = session.live
        first = np.flatnonzero(np.diff(live.step, prepend=-1))
        if not self.passes(session):
            return np.full(len(first), -1, np.int32)
        where = np.zeros(len(session.entries), np.int32)
        where[self.path] = self.step
        # A recorded summary precedes the kept entries although it was written after them.
        return np.minimum.accumulate(where[live.entries[first]][::-1])[::-1]


def trace_history(session: Session, ledger: Ledger) -> History:
    """Walk the path once. Linear in its entries."""
    tree, entries, path = session.tree, session.entries, session.trail
    role, sort, opens = tree.role[path], tree.sort[path], tree.opens[path]
    begins = opens | (role == ASSISTANT) | (sort == COMPACTION)
    begins[:1] = True
    step = np.cumsum(begins, dtype=np.int32) - 1
    last = np.append(np.flatnonzero(begins), len(path))[1:] - 1
    turn = np.maximum(np.cumsum(opens, dtype=np.int32)[begins] - 1, 0)
    cuts = np.flatnonzero(sort == COMPACTION).tolist()
    full = count_along(session, ledger, path, cuts)
    estimated = full[last]
    reported = np.full(len(turn), -1, np.int64)
    reply_tokens = np.full(len(path), -1, np.int64)
    replies = (role == ASSISTANT) & (sort == MESSAGE) & np.isin(path, tree.reports)
    for at in np.flatnonzero(replies).tolist():
        entry = entries[path[at]]
        words = int(ledger.entry_tokens[path[at]]) if is_snapshot(session, entry) else 0
        if (tokens := context_tokens(entry.usage, words)) > 0:
            reported[step[at]] = tokens
            reply_tokens[at] = -1 if entry.cut_short else tokens
    segments = []
    for first, end in zip([0, *cuts], [*cuts, len(path)], strict=True):
        if end > first:
            a, b = int(step[first]), int(step[end - 1])
            most = _measure(reply_tokens[first:end], full[first:end])
            segments.append(Segment(a, b, int(turn[a]), int(turn[b]), entries[path[end - 1]].id, most))
    bounded = ((at, entries[path[at]]) for at in np.flatnonzero(np.isin(path, tree.bounded)).tolist())
    marks = [
        CompactionMark(
            int(step[at]),
            entry.id,
            mark.kind,
            mark.trigger,
            _int(mark.tokens_before),
            _int(mark.tokens_after),
        )
        for at, entry in bounded
        if (mark := entry.boundary) is not None
    ]
    return History(
        path=path,
        step=step,
        turn=turn,
        estimated=estimated,
        reported=reported,
        segments=tuple(segments),
        marks=tuple(marks),
    )


def _measure(reply_tokens: Longs, full: Longs) -> int:
    """Tokens at the end of a stretch: as last reported, and what is counted since."""
    replies = np.flatnonzero(reply_tokens > 0)
    if not len(replies):
        return int(full[-1])
    last = replies[-1]
    return max(int(reply_tokens[last] + full[-1] - full[last]), 0)


def find_strips(session: Session, path: Ints) -> Bools:
    """bool[p+1]: the model that reads the first n entries of the path is not shown earlier reasoning."""
    models = session.tree.models
    written = np.array([model != SYNTHETIC for model in models] + [False])[session.tree.model[path]]
    last = np.maximum.accumulate(np.append(0, np.where(written, np.arange(1, len(path) + 1), 0)))
    strips = np.array(list(map(strips_thinking, (*models, session.model))))
    return np.asarray(strips[np.append(-1, session.tree.model[path])[last]], bool)


def count_along(session: Session, ledger: Ledger, path: Ints, cuts: list[int], ahead: bool = False) -> Longs:
    """int64[p]: tokens in the context after each entry of the path; `cuts` are path positions of compactions.

    It grows entry by entry. A compaction starts it again from what was kept; from where outputs were cleared,
    they count as what stands for them. With `ahead` each context is as the model of the next entry reads it.
    No later entry changes a size, so a path that the ledger's own begins with is counted with that, once.
    """
    whole = ledger.session
    if session.model != whole.model or not np.array_equal(path, whole.trail[: len(path)]):
        return _count_along(session, ledger, path, cuts, ahead)
    ends = np.flatnonzero(whole.tree.sort[whole.trail] == COMPACTION).tolist()
    along = _ALONG.of(ledger, lambda: _count_along(whole, ledger, whole.trail, ends, ahead), ahead)
    return along[: len(path)]


def _count_along(session: Session, ledger: Ledger, path: Ints, cuts: list[int], ahead: bool) -> Longs:
    sort = session.tree.sort[path]
    weight = np.where(np.isin(sort, (MICRO, NOTE)), 0, ledger.entry_tokens[path])
    strips = find_strips(session, path)
    strips = np.append(strips[2:], strips[-1:]) if ahead else strips[1:]
    grown, where = running_sums(weight), index_path(path, len(session.entries))
    compacted = set(cuts)
    position, since, less = find_emptied(session, ledger, path)
    base, saved = np.zeros(len(path), np.int64), np.zeros(len(path), np.int64)
    for at, end in zip([0, *cuts], [*cuts, len(path)], strict=True):
        spans = list_kept(session.tree, session.entries, path, where, at) if at in compacted else []
        remaining = sum(int(grown[b] - grown[a]) for a, b in spans)
        rows = [np.arange(*np.searchsorted(position, span)) for span in spans]
        older = np.concatenate([np.zeros(0, int), *rows])
        here = np.concatenate([older, np.arange(*np.searchsorted(position, (at, end)))])
        remaining -= int(less[older[since[older] < at]].sum())
        here = here[(since[here] >= at) & (since[here] < end)]
        np.add.at(saved, since[here], less[here])
        base[at:end] = remaining - grown[at] - np.cumsum(saved[at:end])
        if strips[at:end].any():
            base[at:end] -= np.where(strips[at:end], _strip(session, ledger, path, spans, at, end), 0)
    return np.asarray(ledger.head_tokens + base + grown[1:], np.int64)


def _strip(
    session: Session, ledger: Ledger, path: Ints, spans: list[tuple[int, int]], at: int, end: int
) -> Longs:
    """int64[end - at]: reasoning of earlier turns that is in the context after each entry and not counted."""
    turns = np.where(session.tree.opens[path], np.arange(len(path)), -1)
    last = np.maximum.accumulate(turns)[at:end]
    standing = np.zeros(len(path), bool)
    standing[at:end] = True
    for first, stop in spans:
        standing[first:stop] = True
    before = running_sums(np.where(standing, ledger.reasoning_tokens[path], 0))
    return np.where(last >= 0, before[np.maximum(last, 0)], 0)


def find_emptied(session: Session, ledger: Ledger, path: Ints) -> tuple[Longs, Longs, Longs]:
    """Outputs on the path that were cleared on it, in their order.

    int64 each: the path position of the output, the one from which it is empty, and the tokens that saved.
    """
    tree, nothing = session.tree, np.zeros(0, np.int64)
    first = np.full(len(tree.calls), len(path), np.int64)
    for at in np.flatnonzero(np.isin(path, tree.bounded)).tolist()[::-1]:
        boundary = session.entries[path[at]].boundary
        if boundary is not None and boundary.kind == "micro":
            first[[tree.calls[call] for call in boundary.cleared if call in tree.calls]] = at
    if not (first < len(path)).any():
        return nothing, nothing, nothing
    start, end = tree.start[path], tree.start[path + 1]
    position, rows = np.repeat(np.arange(len(path)), end - start), join_stretches(start, end)
    empty = tree.answers[rows] & (first[tree.call[rows]] < len(path))
    empty &= ~np.isin(tree.sort[path][position], (MICRO, NOTE))
    position, rows = position[empty], rows[empty]
    # The blocks of the head come first in a ledger.
    tokens = ledger.tokens[rows + ledger.head].astype(np.int64)
    less = tokens - int(ledger.count_texts([CLEARED_TEXT])[0])
    return position, np.maximum(position, first[tree.call[rows]]), less


def _int(value: float | None) -> int | None:
    return int(value) if value is not None and is_tokens(value) else None
