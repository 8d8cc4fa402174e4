"""Session + ledger -> the requests on a path as the provider counted them, next to our own counts.

Each reply reports the size of its request. The growth of a step beyond the counted tokens belongs to its
entries: the provider counts text by another tokenizer (`scale`), and reasoning is hidden. What is left of a
request belongs to no entry (`prediction.py`). Each recorded compaction begins a new stretch.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..session.blocks import REASONING
from ..session.live import index_path, list_kept
from ..session.session import Session
from ..session.tree import ASSISTANT, BRANCH_SUMMARY, COMPACTION, MESSAGE, Bools, Ints
from .counter import Longs, find_quantiles
from .history import count_along, find_emptied
from .ledger import Ledger
from .memo import Memo
from .not_in_file import spread_entries
from .reported import read_usages

STEPS, TEXT, WIDEST = 5, 300, 4.0
"""A scale is fitted to at least 5 steps of 300 counted tokens each. No tokenizer's is above 4."""


Replies = tuple[Ints, Longs, Longs]
"""The k replies that report the size of their request: positions in `session.entries`, tokens of the request
and of the reply."""


class Scale(NamedTuple):
    """The provider's tokens for each counted one: the weighted median over steps, and its tenths."""

    middle: float = 1.0
    low: float = 1.0
    high: float = 1.0
    fitted: bool = False


_REPLIES: Memo[Replies] = Memo()


def find_replies(session: Session) -> Replies:
    """Find the replies that report usage. Failed replies, and those that no model wrote, are left out."""
    tree, at = session.tree, session.tree.reports
    prompt, output = read_usages(session)
    written = (tree.role[at] == ASSISTANT) & (tree.sort[at] == MESSAGE)
    sized = written & ~tree.short & (prompt > 0)
    return at[sized], prompt[sized], output[sized]


class RequestSizes:
    """The p entries of the path to a session's leaf, and its k replies that report the size of a request.

    at        int64[k]  path position of each reply
    cuts      list      path positions of the recorded compactions
    stretch   int64[k]  number of compactions before the reply
    full      int64[p]  tokens counted for the context after each entry
    residual  int64[k]  what was reported for the request beyond what is counted for it
    grown     int64[p]  tokens of each entry beyond its counted ones
    emptied             outputs that were cleared: place, since when, and the tokens that this saved
    """

    def __init__(self, session: Session, ledger: Ledger) -> None:
        self.session, self.ledger = session, ledger
        self.path = path = session.trail
        replies, prompt, output = _REPLIES.of(ledger, lambda: find_replies(ledger.session))
        self.where = index_path(path, len(session.entries)).astype(np.int64)
        rows = np.flatnonzero(self.where[replies] >= 0)
        rows = rows[np.argsort(self.where[replies[rows]], kind="stable")]
        self.at = self.where[replies[rows]]
        self.prompt, self.output = prompt[rows], output[rows]
        sort = session.tree.sort[path]
        self.cuts: list[int] = np.flatnonzero(sort == COMPACTION).tolist()
        self.segment = np.searchsorted(np.array(self.cuts, np.int64), self.at, side="right")
        self.full = count_along(session, ledger, path, self.cuts)
        asked = count_along(session, ledger, path, self.cuts, ahead=True)
        self.counted = np.where(self.at > 0, asked[np.maximum(self.at - 1, 0)], ledger.head_tokens)
        self.residual: Longs = self.prompt - self.counted
        counts = np.isin(sort, (MESSAGE, COMPACTION, BRANCH_SUMMARY))
        self.tokens = np.where(counts, ledger.entry_tokens[path], 0).astype(np.int64)
        self.scale = self.fit_scale()
        self.emptied = find_emptied(session, ledger, path)
        self._freed: Longs = np.rint((self.scale.middle - 1) * self.emptied[2]).astype(np.int64)
        self.grown = self._find_grown()

    def rows(self, number: int) -> Ints:
        """Return the replies of a segment."""
        return np.arange(*np.searchsorted(self.segment, (number, number + 1)), dtype=np.int32)

    def fit_scale(self, replies: int | None = None) -> Scale:
        """Fit the scale to the steps of the first `replies` that are mostly shown text.

        The tokens of a reply are those that it reports as its output, or the counted ones if they are more.
        """
        good, text, rest = self._find_fitting(replies)
        if good.sum() < STEPS:
            return Scale()
        values = find_quantiles(rest[good] / text[good], text[good], 0.5, 0.1, 0.9)
        middle, low, high = np.clip(values, 1.0, WIDEST).tolist()
        return Scale(middle, low, high, True)

    def _find_fitting(self, replies: int | None = None) -> tuple[Bools, Longs, Longs]:
        """Find the steps of the first `replies` that fit, with their counted and reported tokens."""
        at, segment = self.at[:replies], self.segment[:replies]
        own = self.tokens[at[:-1]]
        text = np.diff(self.counted[:replies]) - own
        rest = np.diff(self.prompt[:replies]) - np.maximum(self.output[:replies][:-1], own)
        return (segment[1:] == segment[:-1]) & (text >= TEXT) & (rest > 0), text, rest

    def known_along(self) -> Longs:
        """int64[p]: the tokens beyond the counted ones of the context after each entry of the first stretch,
        by the replies up to there alone, as `find_not_in_file` finds them at that leaf.

        Entries before the first report have what its request holds beyond them: prompt and tools were there.
        """
        out = np.zeros(len(self.path), np.int64)
        at = self.at[self.rows(0)]
        if len(at):
            out[: at[0]] = max(int(self.residual[0]), 0)
        good, text, rest = self._find_fitting(len(at))
        ratio = np.divide(rest, text, out=np.zeros(len(text)), where=good)
        order = np.argsort(np.where(good, ratio, np.inf), kind="stable")
        place, weight, more = np.argsort(order), np.zeros(len(good)), 0.0
        ends = [*at.tolist()[1:], self.cuts[0] if self.cuts else len(out)]
        for row, (i, end) in enumerate(zip(at.tolist(), ends, strict=False)):
            if row and good[row - 1]:
                weight[place[row - 1]] = text[row - 1]
                if np.count_nonzero(weight) >= STEPS:
                    reached = np.cumsum(weight)
                    middle = ratio[order[np.searchsorted(reached, reached[-1] * 0.5)]]
                    more = float(np.clip(middle, 1.0, WIDEST)) - 1
            if self.residual[row] < 0:
                continue
            grown = np.rint(more * self.tokens[i:end])
            grown[0] = np.rint(max(float(self.output[row] - self.tokens[i]), more * self.tokens[i]))
            out[i:end] = self.residual[row] + np.cumsum(grown).astype(np.int64)
        return out

    def _find_grown(self) -> Longs:
        """Divide what each step grew by over its entries.

        A step is a reply and all up to the next one. Its reply takes what it reports as output beyond its
        words, or what the scale leaves it; the rest goes by counted tokens. Before the first reply of a
        stretch, and from its last one on, the scale decides.
        """
        at, p, more = self.at, len(self.path), self.scale.middle - 1
        share = np.full(p, more)
        own, inside = np.zeros(p), np.zeros(p, bool)
        if len(at):
            since = self.emptied[1]
            freed = np.zeros(p + 1, np.int64)
            np.add.at(freed, since, self._freed)
            rest = self.residual + np.cumsum(freed)[np.maximum(at - 1, 0)]
            same = self.segment[1:] == self.segment[:-1]
            steps = np.where(same, np.maximum(np.diff(rest), 0), 0).astype(np.float64)
            n = len(self.cuts) + 1
            begin, end = (np.searchsorted(self.segment, np.arange(n), side) for side in ("left", "right"))
            whole = np.maximum(rest[end - 1] - rest[np.minimum(begin, len(at) - 1)], 0)
            total = np.bincount(self.segment[1:], steps, n)
            steps *= np.where(total > whole, whole / np.maximum(total, 1), 1.0)[self.segment[1:]]
            text = np.add.reduceat(self.tokens, at)
            least = np.maximum(self.output - self.tokens[at], 0).astype(np.float64)
            remainder = steps - more * text[:-1] if self.scale.fitted else np.zeros(len(steps))
            hidden = np.where(text[:-1] > 0, np.minimum(np.maximum(least[:-1], remainder), steps), steps)
            step = np.searchsorted(at, np.arange(p), side="right") - 1
            inside = np.append(same, False)[step] & (step >= 0)
            share[inside] = np.append((steps - hidden) / np.maximum(text[:-1], 1), 0)[step[inside]]
            last = np.append(~same, True)
            own[at] = np.where(last, np.maximum(least - more * self.tokens[at], 0), np.append(hidden, 0))
        growth = share * self.tokens + own
        growth = np.where(inside, growth, np.rint(growth))  # so that every step adds up to its whole tokens
        grown: Longs = np.diff(np.floor(np.append(0, np.cumsum(growth)) + 0.5)).astype(np.int64)
        np.subtract.at(grown, self.emptied[0], self._freed)
        return np.maximum(grown, 0, out=grown)

    def spare(self, row: int) -> int:
        """Return the tokens of a request that are no entry's: below 0 if its entries were smaller then."""
        first = max((cut for cut in self.cuts if cut < self.at[row]), default=0)
        tree, entries, sums = self.session.tree, self.session.entries, self._sums
        after_cut = self.segment[row] > 0
        kept_spans = list_kept(tree, entries, self.path, self.session.path_index, first) if after_cut else []
        spans = [(first, int(self.at[row])), *kept_spans]
        return int(self.residual[row]) - sum(int(sums[end] - sums[begin]) for begin, end in spans)

    @cached_property
    def _sums(self) -> Longs:
        """int64[p+1]: `grown` before each entry."""
        return np.append(0, np.cumsum(self.grown))

    def remainder(self, number: int) -> int:
        """Return the tokens of a stretch's last request that belong to no entry."""
        row = int(self.rows(number)[-1])
        place, since, _ = self.emptied
        later = (place < self.at[row]) & (since > self.at[row])  # these outputs were not cleared yet
        return max(self.spare(row) - int(self._freed[later].sum()), 0)

    def spread(self) -> Longs:
        """int64[m]: tokens of each of the m live blocks beyond the counted ones."""
        session, live, ledger = self.session, self.session.live, self.ledger
        if not len(self.at):
            return np.zeros(len(live.position), np.int64)
        rows, tokens = ledger.live_rows(session), ledger.live_tokens(session)
        mute: Bools = (ledger.kind[rows] == REASONING) & (tokens == 0)
        return spread_entries(self.grown[self.where[live.entries]], live, tokens, mute, self.scale.middle)

    def names(self, rows: Ints) -> tuple[str, ...]:
        """Return the ids of the first and the last of these replies."""
        ends = dict.fromkeys(rows[[0, -1]].tolist() if len(rows) else ())
        return tuple(self.session.entries[int(self.path[self.at[row]])].id for row in ends)
