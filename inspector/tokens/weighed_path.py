"""Session + ledger -> Outside: the path to a leaf as the provider weighed it, beside what is counted.

From one reply to the next the provider's usage tells what each step weighed on its own scale: its tokenizer,
and reasoning nobody sees. What a step weighed more than is counted belongs to its entries. What the first
request weighed more belongs to no step: it is the fixed part, and in a file that begins in the middle unseen
history too. Each recorded compaction begins a new stretch, fitted anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..session.blocks import KINDS
from ..session.live import Live
from ..session.queries import find_end, is_sealed
from ..session.session import Session
from ..session.tree import ASSISTANT, BRANCH_SUMMARY, COMPACTION, MESSAGE, MICRO, TOOL, Bools, Ints
from ..text import plural
from .counter import Longs
from .history import count_along, find_emptied, list_kept
from .ledger import Ledger
from .memo import Memo
from .outside import NOTHING, Outside, Part
from .reattached import ATTACHING, MOST, SHARE, UNSEEN, Reattached, find_reattached
from .reported import read_usages, whole_tokens

SEEN = (MESSAGE, COMPACTION, BRANCH_SUMMARY)
REASONING = KINDS.index("reasoning")
MISSING = 3
"""Outputs without their calls from which on rows must have been lost: one or two are where a file begins."""
STEPS, TEXT = 5, 300
"""The least it takes to fit the scale: so many steps, each with so many counted tokens beside the reply."""
WIDEST = 4.0
"""A scale beyond this is no tokenizer's."""
DRIFT = 0.05
"""The part of the fixed tokens by which they differ, at most, between stretches where both are told."""
MIDDLE = 100_000
"""Tokens of a first request that no system prompt has: the file does not hold how the session began."""

EXCEEDING = 0.1
"""The part by which more may be counted than reported before a screen has to say so."""
TOLD = 0.1
"""The part of a request by which the conversation that Claude Code tells of after a compaction may be off: it
counts by an estimate of its own."""
UNFITTED = 0.7
"""By how much a counted token may weigh more where no steps tell the scale: as with the newest tokenizers."""
NEXT_TO_NOTHING = 1_000
"""Tokens attached again that are no file's."""


class Typical(NamedTuple):
    """Fixed tokens where nothing in the file tells them: as a rule, at least and at most."""

    tokens: int
    least: int
    most: int


TYPICAL = {"claude-code": Typical(40_000, 15_000, 60_000)}
"""First requests of public Claude Code sessions, versions 2.1.7 to 2.1.210: from 17 to 51 thousand, in the
middle 41."""
ELSEWHERE = Typical(8_000, 1_000, 40_000)
"""Other harnesses: pi's first request held 2.6 thousand; none is published."""
SEALED = Typical(2_200, 0, 6_000)
"""A summary that only its provider can read: the first requests after three compactions of Codex held 2,157
to 3,131 tokens more than those before."""


class Replies(NamedTuple):
    """Replies that tell the size of their request: k rows. `at` are positions in `session.entries`."""

    at: Ints
    prompt: Longs
    output: Longs
    cached: Longs


class Scale(NamedTuple):
    """The provider's tokens to each counted one, and between which shares of the text it lies."""

    middle: float = 1.0
    low: float = 1.0
    high: float = 1.0
    fitted: bool = False


_REPLIES: Memo[Replies] = Memo()
_OUTSIDE: Memo[Outside] = Memo(64)
_AFTER_FIRST: Memo[Part] = Memo()
_SHOWS: Memo[bool] = Memo()
_NOT_LOOKED = Reattached(0, ())


def find_replies(session: Session) -> Replies:
    """Replies whose usage is told: neither those that failed, nor those that no model wrote."""
    tree, at = session.tree, session.tree.reports
    prompt, output, cached = read_usages(session)
    # What a harness wrote in a model's name counts as a note there.
    written = (tree.role[at] == ASSISTANT) & (tree.sort[at] == MESSAGE)
    sized = written & ~tree.short & (prompt > 0)
    return Replies(at[sized], prompt[sized], output[sized], cached[sized])


def find_outside(session: Session, ledger: Ledger) -> Outside:
    """What is not in the file, of the context at the session's leaf. Kept with the ledger.

    What is told on the path to the leaf is used, and nothing later; but for a file that begins in the middle,
    where the first request after the first recorded compaction tells what every request holds.

    >>> from inspector import count_tokens, open_demo
    >>> session = open_demo()
    >>> outside = find_outside(session, count_tokens(session))
    >>> sum(part.tokens for part in outside.parts.values()) == outside.tokens > outside.fixed.tokens > 0
    True
    """
    ledger.check(session)
    return _OUTSIDE.of(ledger, lambda: WeighedPath(session, ledger).outside, session.leaf)


class WeighedPath:
    """The p entries of the path to a session's leaf, and its k replies that tell the size of a request.

    at        int64[k]  path position of each reply
    cuts      list      path positions of the recorded compactions
    stretch   int64[k]  how many of them stand before the reply
    residual  int64[k]  what was reported for its request beyond what is counted for it
    grown     int64[p]  what each entry weighs beyond what is counted for it
    emptied             outputs that were cleared, as `find_emptied` returns them
    """

    def __init__(self, session: Session, ledger: Ledger) -> None:
        self.session, self.ledger = session, ledger
        self.path = path = session.trail
        told = _REPLIES.of(ledger, lambda: find_replies(ledger.session))
        self._where = np.full(len(session.entries), -1, np.int64)
        self._where[path] = np.arange(len(path))
        mine = np.flatnonzero(self._where[told.at] >= 0)
        mine = mine[np.argsort(self._where[told.at[mine]], kind="stable")]
        self.at = self._where[told.at[mine]]
        self.prompt, self.output, self.cached = told.prompt[mine], told.output[mine], told.cached[mine]
        sort = session.tree.sort[path]
        self.cuts: list[int] = np.flatnonzero(sort == COMPACTION).tolist()
        self.stretch = np.searchsorted(np.array(self.cuts, np.int64), self.at, side="right")
        self.full = full = count_along(session, ledger, path, self.cuts)
        self.counted = np.where(self.at > 0, full[np.maximum(self.at - 1, 0)], ledger.head_tokens)
        self.residual: Longs = self.prompt - self.counted
        self.tokens = np.where(np.isin(sort, SEEN), ledger.entry_tokens[path], 0).astype(np.int64)
        self.scale = self.fit_scale()
        self.grown: Longs = np.rint((self.scale.middle - 1) * self.tokens).astype(np.int64)
        place, since, less = find_emptied(session, ledger, path)
        self.emptied = place, since, np.rint((self.scale.middle - 1) * less).astype(np.int64), less
        for number in range(len(self.cuts) + 1):
            self._grow(number)

    def rows(self, number: int) -> Ints:
        """Which replies stand in a stretch."""
        return np.flatnonzero(self.stretch == number).astype(np.int32)

    # -- what each step weighed -----------------------------------------------------------------------------

    def fit_scale(self, replies: int | None = None) -> Scale:
        """The weighted median over steps of mostly shown text, and its tenths; of the first `replies` alone.

        A reply's own tokens are those it reports of its output, where that is more than is counted.
        """
        at, stretch = self.at[:replies], self.stretch[:replies]
        same = stretch[1:] == stretch[:-1]
        own = self.tokens[at[:-1]]
        text = np.diff(self.counted[:replies]) - own
        rest = np.diff(self.prompt[:replies]) - np.maximum(self.output[:replies][:-1], own)
        good = same & (text >= TEXT) & (rest > 0)
        if good.sum() < STEPS:
            return Scale()
        ratio, weight = rest[good] / text[good], text[good]
        order = np.argsort(ratio, kind="stable")
        reached = np.cumsum(weight[order])
        at = np.searchsorted(reached, reached[-1] * np.array([0.5, 0.1, 0.9]))
        middle, low, high = np.clip(ratio[order][at], 1.0, WIDEST).tolist()
        return Scale(middle, low, high, True)

    def _grow(self, number: int) -> None:
        """Put what each step of a stretch weighed more than counted on its entries.

        Entries before the first reply of a stretch, and from the last one on, weigh what the scale says; the
        last reply at least what it reports of its output.
        """
        rows, first = self.rows(number), self.cuts[number - 1] if number else 0
        place, since, gone, _ = self.emptied
        if len(rows):
            at = self.at[rows]
            mine = since >= first
            released = np.zeros(len(self.path) + 1, np.int64)
            np.add.at(released, since[mine], gone[mine])
            rest = self.residual[rows] + np.cumsum(released)[np.maximum(at - 1, 0)]
            self._lay(rows, at, _fit_steps(rest))
            last = int(at[-1])
            self.grown[last] = max(int(self.output[rows[-1]] - self.tokens[last]), int(self.grown[last]))
        end = self.cuts[number] if number < len(self.cuts) else len(self.path)
        mine = (since >= first) & (since < end)
        np.subtract.at(self.grown, place[mine], gone[mine])
        np.maximum(self.grown, 0, out=self.grown)

    def _lay(self, rows: Ints, at: Longs, steps: Longs) -> None:
        """Spread what each step weighed more over its entries: int64, one fewer than replies.

        First what its reply wrote beyond its words: as it reports, or as the scale leaves it where reasoning
        is sealed. The rest goes by counted tokens.
        """
        if len(at) < 2:
            return
        begin, end = at[:-1], at[1:]
        inside = slice(int(at[0]), int(at[-1]))
        sums = np.add.reduceat(self.tokens, begin)
        sums[-1] = self.tokens[begin[-1] : end[-1]].sum()
        own = np.maximum(self.output[rows[:-1]] - self.tokens[begin], 0)
        plain = np.rint((self.scale.middle - 1) * sums).astype(np.int64)
        own = np.where(self._sealed[begin], np.maximum(own, steps - plain), own)
        own = np.where(sums > 0, np.minimum(own, steps), steps)
        share = np.divide(steps - own, sums, out=np.zeros(len(sums)), where=sums > 0)
        reached = np.cumsum(self.tokens[inside] * np.repeat(share, end - begin))
        self.grown[inside] = np.diff(np.rint(reached).astype(np.int64), prepend=0)
        self.grown[begin] += own

    @cached_property
    def _sealed(self) -> Bools:
        """bool[p]: the entry holds reasoning without words."""
        ledger = self.ledger
        mute = (ledger.kind == REASONING) & (ledger.tokens == 0)
        sums = np.concatenate(([0], np.cumsum(mute)))[ledger.start]
        return np.asarray(np.diff(sums) > 0)[self.path]

    # -- what belongs to no step ----------------------------------------------------------------------------

    @cached_property
    def begins_in_the_middle(self) -> bool:
        """Whether the file does not hold how the session began.

        The first entry's parent is not in it, or that entry answers somebody, or no system prompt is as large
        as the first request.
        """
        if not len(self.path):
            return False
        root = self.session.entries[int(self.path[0])]
        if root.parent is not None and root.parent not in self.session.index:
            return True
        told = self.residual[self.rows(0)[:1]]
        large = bool(len(told) and told[0] > MIDDLE)
        return large or self.session.tree.role[self.path[0]] in (ASSISTANT, TOOL)

    def remainder(self, number: int) -> int:
        """What the last request of a stretch weighed beyond its entries, and what was withheld of them.

        As long as no step weighed less than is counted that is so of all its requests.
        """
        row = int(self.rows(number)[-1])
        before = int(self.at[row]) - 1
        name = self.session.entries[int(self.path[before])].id if before >= 0 else None
        live = self.session.at(name).live.entries
        place, since, gone, _ = self.emptied
        # Outputs that were emptied later stood in full.
        whole = int(gone[(place < self.at[row]) & (since > self.at[row])].sum())
        return max(int(self.residual[row] - self.grown[self._where[live]].sum()) - whole, 0)

    def spare(self, row: int) -> int:
        """Tokens that a request holds beyond what was in the context for it: below 0, something weighed less
        than its steps tell."""
        cuts = [cut for cut in self.cuts if cut < self.at[row]]
        first = cuts[-1] if cuts else 0
        sums, lasting = self._sums
        live = int(sums[self.at[row]] - sums[first])
        for begin, end in list_kept(self.session, self.path, self._places, first) if cuts else ():
            live += int(lasting[end] - lasting[begin])
        return int(self.residual[row]) - live

    @cached_property
    def _places(self) -> dict[int, int]:
        return {entry: at for at, entry in enumerate(self.path.tolist())}

    @cached_property
    def _sums(self) -> tuple[Longs, Longs]:
        """int64[p+1] each: what was grown before each entry; and the same without summaries."""
        summary = self.session.tree.sort[self.path] == COMPACTION
        parts = self.grown, np.where(summary, 0, self.grown)
        sums, lasting = (np.append(0, np.cumsum(part)) for part in parts)
        return sums, lasting

    def reattached(self, number: int) -> Reattached:
        """What the harness is expected to attach again after the compaction that begins a stretch."""
        first = self.cuts[number - 2] if number > 1 else 0
        return find_reattached(self.session, self.ledger, self.path, first, self.cuts[number - 1])

    @cached_property
    def outside(self) -> Outside:
        """The parts, of the context at the leaf."""
        here, m = len(self.cuts), len(self.session.live.position)
        rows = self.rows(here)
        told = int(rows[-1]) if len(rows) else -1
        size, counted = (int(self.prompt[told]), int(self.counted[told])) if told >= 0 else (0, 0)
        name = self._name(told) if told >= 0 else None
        if len(self.at) and self.residual[-1] < 0:
            return Outside(
                spread=np.zeros(m, np.int64),
                reported=size,
                counted=counted,
                entry=name,
                exceeds=True,
                overcounted=max(1 - int(self.prompt[-1]) / int(self.counted[-1]), 0.0),
                warnings=(*self._warn_exceeding(), *self._warn_missing()),
            )
        fixed, earlier = self._begin()
        attached = NOTHING
        seen: list[int] = []
        for number in range(1, here + 1):
            earlier = NOTHING
            fixed, attached = self._go_on(number, fixed, seen)
        spread = self._spread() if len(self.at) else np.zeros(m, np.int64)
        withheld, slack = int(spread.sum()), self._slack(told)
        note = "what the steps weighed more than is counted for them"
        more = Part(withheld, max(withheld - slack, 0), withheld + slack, self._names(rows), note)
        warnings = self._warn(fixed, earlier, attached)
        scale = self.scale.middle
        fixed, more, earlier, attached = (part.within() for part in (fixed, more, earlier, attached))
        return Outside(fixed, more, earlier, attached, spread, size, counted, name, scale, False, warnings)

    @property
    def earlier(self) -> int:
        """Tokens of history from before the file, as they stood before the first recorded compaction."""
        return self._begin()[1].tokens

    def _begin(self) -> tuple[Part, Part]:
        """Fixed and earlier of the first stretch."""
        rows = self.rows(0)
        if not len(rows):
            # A file that begins with a compaction holds no request that was not cut.
            usual = TYPICAL.get(self.session.format)
            bounded = self.cuts or (len(self.path) and self.session.tree.sort[self.path[0]] == MICRO)
            if usual is None or not bounded:
                return NOTHING, NOTHING
            return Part(*usual, (), "as a rule; nothing in the file tells it"), NOTHING
        rest, names = self.remainder(0), self._names(rows[:1])
        usual = TYPICAL.get(self.session.format, ELSEWHERE)
        if not self.begins_in_the_middle or rest <= usual.tokens:
            return Part(rest, rest, rest, names, "what the first request weighed beyond its entries"), NOTHING
        ledger = self.ledger
        fixed = _AFTER_FIRST.of(ledger, lambda: _find_after_first(ledger))
        if not fixed.tokens:
            fixed = self._guess_fixed(rows, usual)
        tokens, low, high = (min(value, rest) for value in fixed[:3])
        fixed = Part(tokens, low, high, fixed.replies, fixed.note)
        note = "what the first request weighed beyond that"
        return fixed, Part(rest - tokens, rest - high, rest - low, names, note)

    def _guess_fixed(self, rows: Ints, usual: Typical) -> Part:
        """Fixed tokens that nothing tells: as a rule, but no fewer than what stays in the cache when all else
        has expired, which is the system prompt and the tools."""
        cold = self.cached[rows][1:] < self.prompt[rows][:-1] // 2
        least = self.cached[rows][1:][cold & (self.cached[rows][1:] > 0)]
        if not len(least) or self.session.format not in TYPICAL:
            return Part(usual.tokens, usual.least, usual.most, (), "as a rule; nothing in the file tells it")
        low = int(least.min())
        note = "as a rule, and no fewer than the prefix that stays in the cache"
        return Part(max(usual.tokens, low), low, max(usual.most, low), (), note)

    def _go_on(self, number: int, fixed: Part, seen: list[int]) -> tuple[Part, Part]:
        """Fixed and attached of a stretch after a recorded compaction. `seen` grows: what was attached."""
        rows, attaches = self.rows(number), self._attaches(number)
        again = _NOT_LOOKED
        if number == len(self.cuts) or not fixed.replies:
            # Of the stretches before, what was attached is reported.
            again = self.reattached(number)
        expected = _expect(self.scale.middle * again.tokens, seen)
        if number == 1 and not len(self.rows(0)):
            expected = UNSEEN
        files = plural(len(again.files), "file")
        if not len(rows) and (left := self._left(number)):
            return fixed, self._attach(number, left, fixed)
        if not len(rows) and not attaches and self._is_sealed(number):
            before = int(np.mean(seen)) if seen else SEALED.tokens
            most = max(SEALED.most, before)
            note = f"Only the provider can read the summary: about {before:,} tokens, at most {most:,}."
            return fixed, Part(before, SEALED.least, most, (), note)
        if not len(rows):
            drift = round(DRIFT * fixed.tokens) if fixed.certain else 0
            fixed = fixed._replace(low=fixed.low - drift, high=fixed.high + drift)
            if not attaches:
                return fixed, NOTHING
            most = max(MOST, expected)
            note = (
                f"After a compaction Claude Code attaches again what it read last ({files} here), a plan and "
                f"its tasks; the file does not show them. About {expected:,} tokens, at most {most:,}."
            )
            return fixed, Part(expected, 0, most, (), note)
        names, rest = self._names(rows[:1]), self.remainder(number)
        note = "what the first request after the last compaction weighed beyond its entries"
        if not attaches and self._is_sealed(number) and fixed.replies:
            tokens = min(fixed.tokens, rest)
            seen.append(rest - tokens)
            note = "the summary, which only the provider can read"
            fixed = Part(tokens, tokens, tokens, fixed.replies, fixed.note)
            return fixed, Part(rest - tokens, rest - tokens, rest - tokens, names, note)
        if not attaches:
            return Part(rest, rest, rest, names, note), NOTHING
        if not fixed.replies:
            # Of the two only the sum is told.
            tokens = max(rest - expected, min(rest, TYPICAL[self.session.format].least))
            low = max(rest - MOST, min(rest, TYPICAL[self.session.format].least))
            fixed = Part(tokens, min(low, tokens), rest, names, note)
        else:
            tokens = min(fixed.tokens, rest)
            fixed = Part(tokens, tokens, tokens, fixed.replies, fixed.note)
        more = rest - fixed.tokens
        seen.append(more)
        note = f"what Claude Code attached again ({files} touched last)"
        return fixed, Part(more, rest - fixed.high, rest - fixed.low, names, note)

    def _is_sealed(self, number: int) -> bool:
        return is_sealed(self.session.entries[int(self.path[self.cuts[number - 1]])])

    def _left(self, number: int) -> int:
        """Tokens of the conversation that a compaction left, where the harness tells them: `postTokens`."""
        boundary = self.session.entries[int(self.path[self.cuts[number - 1]])].boundary
        told = boundary.extra.get("postTokens") if boundary is not None else None
        return whole_tokens(told) if isinstance(told, int | float) and not isinstance(told, bool) else 0

    def _attach(self, number: int, left: int, fixed: Part) -> Part:
        """Attached tokens where the harness tells what it left: that beyond the summary, what was kept, and
        what the file shows to be attached."""
        stands = int(self.full[self._last_attached(number)]) - self.ledger.head_tokens
        tokens = max(left - round(self.scale.middle * stands), 0)
        slack = round(TOLD * (left + fixed.tokens))
        note = (
            f"Claude Code tells {left:,} tokens of conversation after its compaction; {tokens:,} of them are "
            "not in the file, give or take a tenth of the request."
        )
        return Part(tokens, max(tokens - slack, 0), tokens + slack, (), note)

    def _last_attached(self, number: int) -> int:
        """The path position of the last entry that came with a compaction: attached after it, or its own."""
        at = self.cuts[number - 1]
        end = find_end(self.session, self.session.entries[int(self.path[at])].id)
        return int(self._where[self.session.index[end]])

    def _attaches(self, number: int) -> bool:
        """Whether a harness that attaches files again made the compaction, and the file does not show them:
        it records the compaction, and nothing that was attached anywhere."""
        made = self.session.entries[int(self.path[self.cuts[number - 1]])]
        return self.session.format in ATTACHING and bool(made.sources) and not self._shows_attached

    @cached_property
    def _shows_attached(self) -> bool:
        """Whether the version that wrote the file keeps what the harness attaches as rows."""
        told = self.session.entries

        def look() -> bool:
            return bool(self.session.provided) or any(each.extra.get("way") == "attached" for each in told)

        return _SHOWS.of(self.ledger, look)

    def _slack(self, told: int) -> int:
        """Tokens by which what is withheld may be off: none where a reply told it and nothing went since."""
        wide = max(self.scale.high - self.scale.middle, self.scale.middle - self.scale.low)
        wide = wide if self.scale.fitted else UNFITTED
        if told < 0:
            live = self.session.live.entries
            return round(wide * int(self.tokens[self._where[live]].sum()))
        _, since, _, less = self.emptied
        return round(wide * int(less[since > int(self.at[told])].sum()))

    def _warn_exceeding(self) -> tuple[str, ...]:
        """A sentence where the last reply's request was counted much larger than it was reported."""
        told, counted = int(self.prompt[-1]), int(self.counted[-1])
        if counted <= (1 + EXCEEDING) * told:
            return ()
        said = (
            f"{counted:,} tokens are counted where {told:,} were reported: every size here is a counted one"
        )
        return (f"{said}, and may be {counted / told - 1:.0%} too large.",)

    def _warn(self, fixed: Part, earlier: Part, attached: Part) -> tuple[str, ...]:
        out = []
        if earlier.tokens:
            out.append(
                f"The file begins in the middle of its session: {earlier.tokens:,} tokens of history "
                f"({earlier.low:,} to {earlier.high:,}) are not in it. A compaction takes them too."
            )
        if fixed.high - fixed.low > 2 * DRIFT * fixed.tokens + 1:
            out.append(
                f"System prompt and tools are not told by this file: {fixed.low:,} to {fixed.high:,} tokens."
            )
        if not attached.certain and not attached.replies:
            out.append(attached.note)
        if len(self.at) and not self.scale.fitted and not len(self.rows(len(self.cuts))):
            out.append("Too few replies tell how the provider counts text: what is left is a guess.")
        return (*out, *self._warn_missing())

    def _warn_missing(self) -> tuple[str, ...]:
        """A sentence where outputs in the context answer calls that are not: rows of the file are missing."""
        lost = len(self.session.live.orphans)
        if lost < MISSING:
            return ()
        return (f"{lost:,} outputs answer calls that are not in the context: rows of the file are missing.",)

    # -- blocks ---------------------------------------------------------------------------------------------

    def _spread(self) -> Longs:
        """int64[m]: what each live block weighs beyond its count."""
        session, live, ledger = self.session, self.session.live, self.ledger
        rows, tokens = ledger.live_rows(session), ledger.live_tokens(session)
        mute: Bools = (ledger.kind[rows] == REASONING) & (tokens == 0)
        return spread_entries(self.grown[self._where[live.entries]], live, tokens, mute, self.scale.middle)

    def _name(self, row: int) -> str:
        return self.session.entries[int(self.path[self.at[row]])].id

    def _names(self, rows: Ints) -> tuple[str, ...]:
        ends = dict.fromkeys([int(rows[0]), int(rows[-1])]) if len(rows) else {}
        return tuple(self._name(row) for row in ends)


def _find_after_first(ledger: Ledger) -> Part:
    """Fixed tokens as the first request after a file's first compaction tells them, if one does."""
    path = WeighedPath(ledger.session, ledger)
    if not path.cuts or not len(path.rows(1)):
        return NOTHING
    rest, again = path.remainder(1), path.reattached(1).tokens
    attaches = ledger.session.format in ATTACHING
    expected = _expect(path.scale.middle * again, []) if attaches else 0
    least = min(rest, TYPICAL.get(ledger.session.format, ELSEWHERE).least)
    low = max(rest - MOST, least) if attaches else rest
    note = "told by the first request after the first recorded compaction"
    return Part(max(rest - expected, least), low, rest, path._names(path.rows(1)[:1]), note)


def _expect(files: float, seen: Sequence[int]) -> int:
    """Tokens that come back: by the `files` that were touched, and by what the session attached before.

    A session tells as much as its files do; one that attached next to nothing goes on so.
    """
    if not seen:
        return round(SHARE * files)
    before = sum(seen) / len(seen)
    return round(before if before < NEXT_TO_NOTHING else (files + before) / 2)


def _fit_steps(rest: Longs) -> Longs:
    """What each step weighed more, none below 0: together what was added since the first request."""
    steps = np.maximum(np.diff(rest), 0)
    whole = max(int(rest[-1] - rest[0]), 0)
    return share_tokens(steps, whole) if steps.sum() > whole else steps


def share_tokens(weights: Longs, tokens: int) -> Longs:
    """Whole tokens by weight, adding up to `tokens`; nothing where no weight is."""
    total = int(weights.sum())
    if total <= 0:
        return np.zeros(len(weights), np.int64)
    reached: Longs = np.rint(np.cumsum(weights.astype(np.float64)) * (tokens / total)).astype(np.int64)
    return reached - np.concatenate(([0], reached[:-1]))


def spread_entries(
    grown: Longs, live: Live, tokens: Ints, mute: Bools | None = None, scale: float = 1.0
) -> Longs:
    """int64[m]: what n live entries weigh beyond their count (`grown`, int64[n]), by block.

    In an entry, reasoning without words (`mute`, bool[m]) takes what the scale does not explain. The rest
    goes by counted tokens, and what rounding leaves stands with the first block.
    """
    n = len(live)
    if not grown.any():
        return np.zeros(len(live.position), np.int64)
    mute = np.zeros(len(tokens), bool) if mute is None else mute
    sums = np.bincount(live.position, tokens, n)
    count = np.bincount(live.position, mute, n)
    plain = np.where(count > 0, np.minimum(np.rint((scale - 1) * sums), grown), grown)
    plain = np.where(sums > 0, plain, 0)
    share = np.divide(plain, sums, out=np.zeros(n), where=sums > 0)[live.position]
    each = np.divide(grown - plain, count, out=np.zeros(n), where=count > 0)[live.position]
    out: Longs = np.floor(share * tokens + np.where(mute, each, 0)).astype(np.int64)
    left = grown - np.bincount(live.position, out, n).astype(np.int64)
    has = np.flatnonzero(np.diff(live.start) > 0)
    out[live.start[has]] += left[has]
    return out
