"""The input and the answers of rules, as columns over the blocks of a live view.

A rule never edits anything: it proposes a place for the cut, or claims blocks, once for the side older
than the cut and once for the side that is kept. Because a claim depends on the side alone and not on the
exact cut, all valid cuts are planned at once (see `plan.py`). A rule that edits in place (truncates, points
at, clears) does the same: it may only change blocks older than the cut.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..cuts import CutPoints
from ..errors import CounterError
from ..session.blocks import Block
from ..session.live import Live
from ..session.queries import since_compaction
from ..session.session import Session
from ..session.tree import Bools, Ints
from ..tokens.counters import find_counter
from ..tokens.ledger import Ledger, clear_output
from ..tokens.memo import Memo
from ..tokens.moment import Moment
from .part import PolicyPart
from .trigger import Reason, TailWeight, Trigger

FATES = ("verbatim", "truncated", "pointer", "summarised", "dropped", "cleared")
"""The retention of a block. Verbatim, truncated, pointer and cleared blocks remain in the context."""
VERBATIM, TRUNCATED, POINTER, SUMMARISED, DROPPED, CLEARED = range(6)

Bytes = NDArray[np.uint8]

_TAILS: Memo[TailWeight] = Memo()
_SPLITS: Memo[Ints] = Memo()

COUNTED = ("usage", "assembled")
"""Measures that a plan follows by the ledger's counter: it has no other word for a context not sent yet."""


@dataclass(frozen=True, eq=False)
class Table:
    """The context being planned: n live entries, m blocks.

    tokens   int32[m]  by the ledger's counter
    section  uint8[m]  index into SECTIONS
    rules              the policy's, in their order
    trigger            when the policy compacts
    start    int       first live entry that may be compacted (1 after a recorded summary, or `since`)

    `given_window` is the caller's window of the model, which replaces the session's; `reason` is why a
    compaction is planned. `sealed` is the estimated size of the encrypted summary that the plan's
    placeholder stands for, None for any other summary. `since` is the live position before which everything
    stays, whatever the cut: 0 unless a suffix or a range is compacted.
    """

    session: Session
    moment: Moment
    rules: tuple[PolicyPart, ...]
    trigger: Trigger
    given_window: int | None = None
    reason: Reason = "auto"
    since: int = 0
    sealed: int | None = None
    # Columns of the moment. As attributes of the table they are quick to read, block by block.
    ledger: Ledger = field(init=False)
    live: Live = field(init=False)
    tokens: Ints = field(init=False)
    section: Bytes = field(init=False)

    def __post_init__(self) -> None:
        for name in ("ledger", "live", "tokens", "section"):
            object.__setattr__(self, name, getattr(self.moment, name))

    @cached_property
    def cuts(self) -> CutPoints:
        """Valid and invalid cut points; computed on first use, because not all rules need them.

        A policy may compact an earlier summary even if it is all there is before the cut.
        """
        takes = getattr(self.sibling("keep-recent-turns"), "takes_summary", None)
        cuts = self.moment.cuts.since(self.since)
        return cuts.allow_after_summary() if takes is not None and not self.since and takes(self) else cuts

    def recent_turns(self, turns: int) -> int:
        """The live position at which the newest turns begin: the end for none, 0 if there are fewer."""
        opens = np.flatnonzero(self.live.opens)
        return (int(opens[-turns]) if turns <= len(opens) else 0) if turns else len(self.live)

    def sibling(self, kind: str) -> PolicyPart | None:
        """The policy's rule of that kind, if it has one that is switched on."""
        return next((rule for rule in self.rules if rule.kind == kind and rule.enabled), None)

    def block(self, row: int) -> Block:
        """The block of a live row in its present form: an output that was emptied before is empty."""
        position = int(self.live.position[row])
        block = self.session.entries[self.live.entries[position]].blocks[self.live.block[row]]
        return clear_output(block) if self.live.cleared[row] else block

    def mask(self, rows: Iterable[int]) -> Bools:
        """bool[m]: whether a block is one of these rows."""
        out = np.zeros(len(self.tokens), bool)
        out[list(rows)] = True
        return out

    @cached_property
    def calls(self) -> Ints:
        """int32[m]: the row of the call that an output answers, -1 for everything else."""
        out = np.full(len(self.tokens), -1, np.int32)
        out[self.live.pairs[:, 1]] = self.live.pairs[:, 0]
        return out

    @property
    def kind(self) -> Bytes:
        """uint8[m]: index into KINDS, what each block is."""
        return self.moment.kind

    @cached_property
    def window(self) -> int:
        """Tokens of the model's window, 0 if unknown."""
        if self.given_window is not None:
            return self.given_window
        return self.moment.window.tokens or 0

    @property
    def start(self) -> int:
        return max(int(self.live.summary == 0), self.since)

    def weights(self, measure: str) -> Ints:
        """int32[n]: the size of live entries by a published estimate, such as "chars4_utf16"."""
        return self.moment.weights(measure)

    def weigh(self, measure: str, tokens: int) -> int:
        """The size of the whole context, of `tokens` counted tokens, by a policy's own measure."""
        if measure in COUNTED:
            return tokens
        return len(self.live) if measure == "messages" else int(self.weights(measure).sum())

    def tail(self, measure: str) -> TailWeight:
        """Sizes summed from the end. Raises `CounterError` for a measure without sizes of messages."""

        def make() -> TailWeight:
            counter = find_counter(measure)
            if counter.weigh is None:
                raise CounterError(measure, "it has no measure of its own for a whole message")
            return TailWeight(self.session, counter.weigh)

        return _TAILS.of(self.moment, make, measure)

    @property
    def split_start(self) -> Ints:
        """int32[n+1]: the first position of the turn that a cut at this place splits, -1 if it splits none.

        A cut at a user's message splits nothing; otherwise the nearest user message back to `start`
        begins the turn (FLUE §6.4). The last place splits nothing.
        """
        return _SPLITS.of(self.moment, lambda: _find_splits(self.live, self.start), self.start)


def _find_splits(live: Live, start: int) -> Ints:
    n = len(live)
    positions = np.arange(n, dtype=np.int32)
    user = live.role == 0
    nearest = np.maximum.accumulate(np.where(user, positions, np.int32(-1))) if n else positions
    out = np.full(n + 1, -1, np.int32)
    out[:n] = np.where(user | (nearest < start), np.int32(-1), nearest)
    return out


@dataclass(frozen=True, eq=False)
class Rewrite:
    """The rewriting of blocks by a claim.

    `make` takes the block after the earlier stages, and its live row. It returns the new block, the same
    object to leave it alone, or None to remove it (never a call or its output). `key` names everything else
    the result depends on, so that it can be cached from plan to plan; None disables the cache.
    """

    make: Callable[[Block, int], Block | None]
    key: Hashable = None


@dataclass(frozen=True, eq=False)
class Claim:
    """Blocks a rule decides on one side of the cut: bool[m], their fate, and int32[m] tokens after it.

    Without `tokens`, remaining blocks keep their tokens and removed ones have zero. With a `rewrite` the
    tokens are counted, and unchanged blocks are not claimed; `again` also rewrites blocks that an earlier
    stage has rewritten.
    """

    rows: Bools
    fate: int
    tokens: Ints | None = None
    rewrite: Rewrite | None = None
    again: bool = False


@dataclass(frozen=True, eq=False)
class Appendix:
    """Text that a rule adds to the summary. `price` gives the tokens it adds at each place: int32[n+1]."""

    price: Callable[[], Ints]
    lines: Callable[[int], list[str]]

    @cached_property
    def cost(self) -> Ints:
        """The price, asked once."""
        return self.price()


@dataclass(frozen=True, eq=False)
class Notice:
    """A message at the cut that says what was left out there.

    `entries` (bool[n]) are the live entries it reports if they are older than the cut; `write` returns its
    text from their number and their size after the earlier stages, by the policy's own measure.
    With `behind` it follows what stays, up to a message of the user's that nothing answers yet.
    With `echo`, a cut at the very end repeats everything after the notice: a published defect (TIERED §4).
    """

    role: str
    entries: Bools
    write: Callable[[int, int], str]
    echo: bool = False
    behind: bool = False


Effort = Literal["high", "history", "session"]
"""How hard a summariser is to think: `high`, only for the history, or as in the session."""


@dataclass(frozen=True, eq=False)
class Summary:
    """How the older side is summarised. Caps are the tokens a summariser may write.

    `at` is the live position before which the summary is placed, if older blocks remain before it.
    `per_turn` writes one message for each older turn instead of one for all. The fields below it are passed
    to the summariser, and have the names of the settings of `rules/summarise_older.py`.
    """

    max_tokens: int
    prefix_max_tokens: int = 0
    split_turns: bool = False
    at: int = 0
    per_turn: bool = False
    limited: bool = True
    effort: Effort = "high"
    thinking: bool = True
    whole_characters: bool = False
    keep_previous: bool = False
    strict: bool = False


@dataclass(frozen=True, eq=False)
class Decision:
    """A rule's answer. `cut` is a place, `why` the reason if it proposes none. Of several claims on one side,
    the first that names a block decides it.

    `unpaired` leaves call/output pairs as they fall, as some published systems do; every other decision
    keeps them whole.
    """

    cut: int | None = None
    why: str = ""
    older: Claim | tuple[Claim, ...] | None = None
    kept: Claim | tuple[Claim, ...] | None = None
    summary: Summary | None = None
    appendix: Appendix | None = None
    notice: Notice | None = None
    notes: tuple[str, ...] = field(default=())
    unpaired: bool = False


def find_start(table: Table, rule: Any = None) -> int:
    """The first live position that is written up or kept.

    The context begins there after a recorded summary, unless the policy begins only after the last compaction
    (FLUE §13.2). `rule` is the policy's `keep-recent-tokens` rule; None looks it up in the table.
    """
    how = getattr(rule if rule is not None else table.sibling("keep-recent-tokens"), "start", "kept")
    return max(since_compaction(table.session), table.since) if how == "compaction" else table.start
