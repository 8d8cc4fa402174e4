"""Session + ledger -> the requests on a path as the provider counted them, next to our own counts.

Each reply reports the size of its request. The growth of the requests beyond the counted tokens belongs to
the entries: the provider counts text by another tokenizer (`scale`), and reasoning is hidden. What is left of
a request belongs to no entry (`prediction.py`). Each recorded compaction begins a new stretch.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..session.blocks import REASONING
from ..session.live import index_path, list_kept
from ..session.queries import find_end
from ..session.session import Session
from ..session.tree import ASSISTANT, BRANCH_SUMMARY, COMPACTION, MESSAGE, Bools, Ints
from .counter import Longs, find_quantiles, running_sums
from .history import count_along, find_emptied
from .ledger import Ledger
from .memo import Memo
from .not_in_file import NOTHING, Part, share_tokens, spread_entries
from .reported import read_usages, whole_tokens
from .rows import SECTIONS

STEPS, TEXT, WIDEST = 5, 300, 4.0
"""A scale is fitted to at least 5 steps of 300 counted tokens each. No tokenizer's is above 4."""

ESTIMATED = 0.1
"""The error of a harness's own estimate, as a share of the request."""

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
    segment   int64[k]  number of compactions before the reply
    full      int64[p]  tokens counted for the context after each entry
    residual  int64[k]  what was reported for the request beyond what is counted for it
    expected  int64[p]  tokens of each entry beyond its counted ones, by the scale and by what a reply reports
                        as its output
    blocks    bool[p]   the entry has blocks
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
        expected = (self.scale.middle - 1) * self.tokens
        expected[self.at] = np.maximum(expected[self.at], self.output - self.tokens[self.at])
        self.blocks: Bools = np.diff(session.tree.start)[path] > 0
        self.expected: Longs = np.where(self.blocks, np.rint(expected), 0).astype(np.int64)
        self._freed: Longs = np.rint((self.scale.middle - 1) * self.emptied[2]).astype(np.int64)

    def rows(self, number: int) -> Ints:
        """Return the replies of a stretch."""
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

    def left(self, row: int) -> int:
        """Return what a request held beyond its counted tokens, without what was cleared after it."""
        place, since, _ = self.emptied
        later = (place < self.at[row]) & (since > self.at[row])
        return int(self.residual[row]) - int(self._freed[later].sum())

    @property
    def grown(self) -> Longs:
        """int64[p]: tokens of each entry beyond its counted ones.

        From the first to the last request of a stretch, a step (a reply and all up to the next one) has what
        the requests grew by. Its entries take what is expected of them; what is left is hidden reasoning of
        the reply, or without a fitted scale goes by counted tokens. All steps grew by no more than their
        stretch. Elsewhere the expected ones count.
        """
        return self._grow(0)

    @cached_property
    def _growth(self) -> tuple[Longs, Longs, set[int]]:
        """What is expected of each entry, its counted tokens, and the stretches that were made."""
        place, _, less = self.emptied
        grown, tokens = self.expected.copy(), np.where(self.blocks, self.tokens, 0)
        np.subtract.at(grown, place, self._freed)
        np.subtract.at(tokens, place, less)
        np.maximum(grown, 0, out=grown)
        return grown, tokens, set()

    def _grow(self, entry: int, last: int | None = None) -> Longs:
        """Return `grown`, made for the stretches from that of an entry to the `last` one.

        A context needs few of the many stretches of a long session."""
        grown, tokens, made = self._growth
        first = int(np.searchsorted(self.cuts, entry, side="right"))
        for number in range(first, (len(self.cuts) if last is None else last) + 1):
            if number in made:
                continue
            made.add(number)
            rows = self.rows(number)
            steps = np.maximum(np.diff(self.residual[rows]), 0)
            whole = max(self.left(int(rows[-1])) - int(self.residual[rows[0]]), 0) if len(steps) else 0
            if steps.sum() > whole:
                steps = share_tokens(steps, whole)
            for row, total in zip(rows.tolist(), steps.tolist(), strict=False):
                at = int(self.at[row])
                step = slice(at, int(self.at[row + 1]))
                more = total - int(grown[step].sum())
                if more < 0:
                    grown[step] = share_tokens(grown[step], total)
                elif self.scale.fitted and self.blocks[at]:
                    grown[at] += more
                else:
                    grown[step] += share_tokens(tokens[step], more)
        return grown

    def remainder(self, number: int) -> int:
        """Return the tokens of a stretch's last request that belong to no entry."""
        row, cut = int(self.rows(number)[-1]), self.cuts[number - 1] if number else 0
        session = self.session
        kept = list_kept(session.tree, session.entries, self.path, session.path_index, cut) if number else []
        spans = [(cut, int(self.at[row])), *kept]
        sums = running_sums(self._grow(min(begin for begin, _ in spans), number))
        return max(self.left(row) - sum(int(sums[end] - sums[begin]) for begin, end in spans), 0)

    def spread(self) -> Longs:
        """int64[m]: tokens of each of the m live blocks beyond the counted ones.

        They are no more than the last request of the stretch, and what is expected of the entries since."""
        session, live, ledger = self.session, self.session.live, self.ledger
        rows, tokens = ledger.live_rows(session), ledger.live_tokens(session)
        mute: Bools = (ledger.kind[rows] == REASONING) & (tokens == 0)
        at = self.where[live.entries]
        grown = self._grow(int(at.min(initial=len(self.path))))
        spread = spread_entries(grown[at], live, tokens, mute, self.scale.middle)
        if not len(row := self.rows(len(self.cuts))[-1:]):
            return spread
        most = max(self.left(int(row[0])), 0) + int(grown[self.at[row[0]] :].sum())
        return spread if spread.sum() <= most else share_tokens(spread, most)

    def read_estimate(self, number: int, system: int) -> Part:
        """Return what came with a compaction after which the harness estimates the conversation
        (`postTokens`): the estimate without the summary, what stays, and the attachments in the file.

        Args:
            number: Number of the compaction on the path, from 1 on.
            system: Tokens of the system prompt and tools, which are no part of the estimate.
        """
        compaction = self.session.entries[int(self.path[self.cuts[number - 1]])]
        boundary = compaction.boundary
        if boundary is None or boundary.tokens_after is not None:
            return NOTHING
        estimate = 0 if boundary.left is None else whole_tokens(boundary.left)
        if not estimate:
            return NOTHING
        end = self.where[self.session.index[find_end(self.session, compaction.id)]]
        head = self.ledger.head_sections[[SECTIONS.index("system"), SECTIONS.index("tools")]]
        in_context = int(self.full[end] - head.sum())
        tokens = max(estimate - round(self.scale.middle * in_context), 0)
        slack = round(ESTIMATED * (estimate + system))
        note = (
            f"Claude Code estimates {estimate:,} tokens of conversation after its compaction; {tokens:,} "
            "of them are not in the file, give or take a tenth of the request."
        )
        return Part(tokens, max(tokens - slack, 0), tokens + slack, (), note)

    def names(self, rows: Ints) -> tuple[str, ...]:
        """Return the ids of the first and the last of these replies."""
        ends = dict.fromkeys(rows[[0, -1]].tolist() if len(rows) else ())
        return tuple(self.session.entries[int(self.path[self.at[row]])].id for row in ends)
