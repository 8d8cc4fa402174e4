"""Session -> CutPoints: the valid cut points, and for every other place the rule that forbids a cut.

A cut at place p keeps the live entries p, p+1, … as they are and compacts all entries before them. There are
n + 1 places for n live entries; the last keeps nothing. Each rule marks all places at which it forbids a cut;
a place is valid if no rule marks it. The first rule that marks a place gives the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import EditError, expect
from .session.live import Live
from .session.session import Session
from .session.tree import ROLES, Bools, Ints

END = "end"
"""The name of the last place, which keeps nothing."""


class CutPoint(NamedTuple):
    """The verdict on one place. `entry` is the first entry kept, or "end"."""

    place: int
    entry: str
    legal: bool
    rule: str | None
    sentence: str
    splits_turn: bool


class CutRule(NamedTuple):
    """A reason to forbid a cut: `forbid` returns bool[n+1], `sentence` explains it to the user."""

    name: str
    sentence: str
    forbid: Callable[[Session, Live], Bools]


def _mark(live: Live, places: Sequence[int] | NDArray[np.integer]) -> Bools:
    """bool[n+1]: True at these places."""
    out = np.zeros(len(live) + 1, bool)
    out[places] = True
    return out


def _prior_compaction(session: Session, live: Live) -> Bools:
    return _mark(live, range(min(2, len(live) + 1)) if live.summary == 0 else [])


def _batches(live: Live) -> tuple[Ints, Ints, Ints]:
    """Per assistant entry with answered calls: its position, and those of its first and last output."""
    calls, outputs = live.position[live.pairs].T
    first, last = np.full(len(live), len(live), np.int32), np.full(len(live), -1, np.int32)
    np.minimum.at(first, calls, outputs)
    np.maximum.at(last, calls, outputs)
    where = np.flatnonzero(last >= 0)
    return where.astype(np.int32), first[where], last[where]


def _between(size: int, after: Ints, upto: Ints) -> Bools:
    """True at every place in (after, upto], for all the intervals given."""
    steps = np.bincount(after + 1, minlength=size + 1) - np.bincount(upto + 1, minlength=size + 1)
    return np.cumsum(steps[:size]) > 0


def _orphan_output(session: Session, live: Live) -> Bools:
    call, first, _ = _batches(live)
    return _between(len(live) + 1, call, first)


def _inside_batch(session: Session, live: Live) -> Bools:
    _, first, last = _batches(live)
    return _between(len(live) + 1, first, last)


def _lone_output(session: Session, live: Live) -> Bools:
    return _mark(live, np.flatnonzero(live.role == ROLES.index("tool")))


def _open_loop(session: Session, live: Live) -> Bools:
    """Places after the first reply of a tool loop that still waits for its next reply, if it reasons."""
    first, reasons = _find_open_loop(session, live)
    return _mark(live, range(first + 1, len(live)) if first is not None and reasons else [])


def _find_open_loop(session: Session, live: Live) -> tuple[int | None, bool]:
    """Find the beginning of the tool loop at the end of the context, and whether it has reasoning.

    The loop is as the provider sees it: adjacent messages of one role are one message, and a user's message
    with an answer to a call continues the loop. Calls at the end that still run count as answered.
    """
    first, reasons, has_tool_reply = None, False, False
    last = int(live.position[live.pending].max()) if len(live.pending) else -1
    answers = last >= 0 and not any(_says(session, live, at) for at in range(last + 1, len(live)))
    for position in range(len(live) - 1, -1, -1):
        blocks = session.entries[live.entries[position]].blocks
        if not _says(session, live, position):
            continue  # it is not sent
        if live.role[position] == ROLES.index("assistant"):
            if not answers:
                break
            first, has_tool_reply = position, False
            reasons |= any(b.kind == "reasoning" and bool(b.signature or b.encrypted) for b in blocks)
        else:
            answers = any(b.kind == "tool_output" for b in blocks) or (has_tool_reply and answers)
            has_tool_reply = True
    return first, reasons


def _says(session: Session, live: Live, position: int) -> bool:
    """Return whether a live entry has content that is sent."""
    blocks = session.entries[live.entries[position]].blocks
    return any(block.kind != "text" or bool(block.text.strip()) for block in blocks)


def _unknown_role(session: Session, live: Live) -> Bools:
    return _mark(live, np.flatnonzero(live.role == ROLES.index("other")))


CUT_RULES: tuple[CutRule, ...] = (
    CutRule(
        "nothing-before",
        "There are no messages before this place, so there is nothing to compact.",
        lambda _, live: _mark(live, [0]),
    ),
    CutRule(
        "prior-compaction",
        "Only the previous compaction's summary is before this place, so there is nothing new to compact.",
        _prior_compaction,
    ),
    CutRule(
        "orphan-output",
        "The model would see a tool's output without the call that asked for it "
        "(400: unexpected tool_use_id found in tool_result blocks).",
        _orphan_output,
    ),
    CutRule(
        "inside-batch",
        "These outputs answer calls made side by side in one message; they go together "
        "(400: unexpected tool_use_id found in tool_result blocks).",
        _inside_batch,
    ),
    CutRule(
        "lone-output",
        "This output answers no call that is still in the context, so nothing can begin with it.",
        _lone_output,
    ),
    CutRule(
        "open-loop",
        "The reply is still being worked on: the provider wants its reasoning and tool calls back whole "
        "(400: thinking blocks in the latest assistant message cannot be modified).",
        _open_loop,
    ),
    CutRule("unknown-role", "This record's role is unknown, so it cannot open a context.", _unknown_role),
    CutRule(
        "before-start",
        "The messages to compact begin here or later, so there is nothing to compact before this place.",
        lambda _, live: _mark(live, []),  # see `CutPoints.since`
    ),
)
"""Every reason to forbid a cut, in the order they are given (CLAUDE §7.1-2, §8; FLUE §6-7)."""


PAIRS = ("orphan-output", "inside-batch", "lone-output")
"""The rules that are about calls and their outputs: such a cut is valid where pairs are kept whole."""
_BEFORE_START = [rule.name for rule in CUT_RULES].index("before-start")
_STARTS = [rule.name in ("nothing-before", "prior-compaction", "unknown-role") for rule in CUT_RULES]
"""Whether a range may begin at an invalid cut, by rule: the blocks before the range do not change."""


@dataclass(frozen=True, eq=False)
class CutPoints:
    """Columns over the n + 1 places of a session's live view.

    legal   bool[n+1]   no rule forbids a cut here
    reason  int32[n+1]  index into CUT_RULES, -1 where legal
    splits  bool[n+1]   a cut here leaves one turn on both sides
    """

    session: Session
    legal: Bools
    reason: Ints
    splits: Bools

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The first entry kept at each place, "end" for the last."""
        return (*self.session.live_names, END)

    def __len__(self) -> int:
        return len(self.legal)

    def __getitem__(self, place: int | str) -> CutPoint:
        """Return the verdict on a place, by its number or the first entry that it keeps ("end" keeps none).

        Raises `EditError` for an entry that is not in the context, `IndexError` for a number beyond the last.
        """
        if isinstance(place, str):
            if place not in self.ids:
                names = f"{self.ids[0]} to {self.ids[-2]}" if len(self) > 1 else "none"
                raise EditError("cut", place, f"no such entry in this context (its entries: {names})")
            place = self.ids.index(place)
        place = range(len(self))[place]
        reason = int(self.reason[place])
        rule = CUT_RULES[reason] if reason >= 0 else None
        legal = "Valid cut point" + (", inside a turn." if self.splits[place] else ".")
        live_entries = self.session.live.entries
        return CutPoint(
            place,
            self.session.entries[live_entries[place]].id if place < len(live_entries) else END,
            rule is None,
            rule.name if rule else None,
            rule.sentence if rule else legal,
            bool(self.splits[place]),
        )

    def __iter__(self) -> Iterator[CutPoint]:
        return (self[place] for place in range(len(self)))

    @cached_property
    def starts(self) -> Bools:
        """bool[n+1]: the messages to compact may begin at this place, and those before it stay."""
        out: Bools = (self.reason < 0) | np.array(_STARTS)[self.reason]
        out[-1] = False
        return out

    def since(self, start: int) -> CutPoints:
        """The same if only messages from the place `start` on are compacted: no cut is valid up to it."""
        if not start:
            return self
        legal, reason = self.legal.copy(), self.reason.copy()
        legal[: start + 1], reason[: start + 1] = False, _BEFORE_START
        return CutPoints(self.session, legal, reason, self.splits)

    def allow_after_summary(self) -> CutPoints:
        """The same, with a cut right behind an earlier summary."""
        live, place = self.session.live, 1
        others = (rule for rule in CUT_RULES if rule.forbid is not _prior_compaction)
        if live.summary != 0 or any(rule.forbid(self.session, live)[place] for rule in others):
            return self
        legal, reason = self.legal.copy(), self.reason.copy()
        legal[place], reason[place] = True, -1
        return CutPoints(self.session, legal, reason, self.splits)

    def nearest(self, place: int) -> int | None:
        """Return the valid cut point nearest to `place`, the earlier of two; None if no cut is valid."""
        legal = np.flatnonzero(self.legal)
        return int(legal[np.argmin(np.abs(legal - place))]) if len(legal) else None

    def __repr__(self) -> str:
        return f"CutPoints({int(self.legal.sum())} valid of {len(self)} places)"


def find_cuts(session: Session) -> CutPoints:
    """Check every place of the session's live view. Takes linear time in its blocks.

    >>> from inspector import read_session
    >>> call = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    >>> answer = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}
    >>> cuts = find_cuts(read_session([{"role": "user", "content": "What is here?"},
    ...                                {"role": "assistant", "content": [call]},
    ...                                {"role": "user", "content": [answer]}]))
    >>> [(cut.entry, cut.rule) for cut in cuts]
    [('m1', 'nothing-before'), ('m2', None), ('m3', 'orphan-output'), ('end', None)]
    """
    expect("find_cuts", session=(session, Session))
    live = session.live
    reason = np.full(len(live) + 1, -1, np.int32)
    for code, rule in enumerate(CUT_RULES):
        reason[(reason < 0) & rule.forbid(session, live)] = code
    splits = np.zeros(len(live) + 1, bool)
    splits[1:-1] = ~live.opens[1:] & (live.turn[1:] == live.turn[:-1])
    if live.summary == 0 and len(splits) > 1:
        splits[1] = False
    return CutPoints(session, reason < 0, reason, splits)
