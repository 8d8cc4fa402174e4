"""Keep recent tokens: walk back from the end to the first message that fills the budget, as Flue does.

The defaults reproduce Flue at its pinned commit, including its quirks. Each setting is a difference in some
version of pi, so a fault of one version can be compared with its fix in another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from ...session.blocks import Number
from ...session.entries import Entry
from ...session.queries import since_compaction
from ...session.tree import Ints
from ...tokens.memo import Memo
from ..base_rule import Rule
from ..part import LARGE
from ..pi_estimate import Estimate, is_message, is_spoken, weigh_in_walk, weigh_message
from ..table import DROPPED, Claim, Decision, Table, find_start
from ..trigger import Measured, TailWeight, measure_usage


class KeepRecentTokens(Rule):
    """Cut so that the messages after it add up to about `tokens`, by the system's own estimate."""

    title: ClassVar[str] = "Keep recent tokens"
    phrase: ClassVar[str] = "keep about the last {tokens} tokens as they are"
    source: ClassVar[str] = "Flue dbaa9eff and pi 0.58.3 to 1.5.2, find cut point (FLUE §6, §13)"
    cuts: ClassVar[bool] = True
    removes: ClassVar[bool] = False

    kind: Literal["keep-recent-tokens"] = "keep-recent-tokens"
    tokens: Number = Field(
        20_000,
        description="Tokens kept after the cut, by an estimate of characters / 4",
        ge=-LARGE,
        le=LARGE,
        allow_inf_nan=False,
    )
    estimate: Estimate = Field(
        "flue", description="The estimate; pi counts bare summaries, and pictures since 1.5.2"
    )
    fresh_usage: bool = Field(
        False, description="Ignore usage that is zero or older than the last compaction (pi 1.5.2)"
    )
    skip_empty: bool = Field(False, description="Skip messages of zero tokens (pi 1.5.2)")
    fallback: Literal["first", "last"] = Field(
        "first",
        description="Outputs at the very end that fill the budget alone: cut at the first place, so that "
        "nothing is compacted, or at the last one before them (pi 1.5.2)",
    )
    summaries: bool = Field(False, description="The kept part may begin with the summary of a branch (pi)")
    step_back: bool = Field(
        False, description="Move the cut back over branch summaries and the harness' own words (pi 0.73.1)"
    )
    start: Literal["kept", "compaction"] = Field(
        "kept",
        description="Begin with what the compaction before kept, or only after that compaction, which loses "
        "what it kept (pi 0.58.3)",
    )
    again: bool = Field(
        True, description="Compact even without new messages since the last compaction (Flue)"
    )
    always: bool = Field(False, description="Compact even if the cut leaves nothing to summarise (pi 0.73.1)")

    def decide(self, table: Table) -> Decision:
        """Propose the walk's place, unless it is the start or not a message (FLUE §7.3, §9.2)."""
        start, n = find_start(table, self), len(table.live)
        lost = None
        if start > table.start:
            position = table.live.position
            lost = Claim((position >= table.start) & (position < start), DROPPED)
        if not n or (table.live.summary == 0 and not self.again and since_compaction(table.session) >= n):
            return Decision(why="There are no messages since the last compaction.", older=lost)
        walk = walk_back(table, self.tokens, self)
        if walk.first_kept <= start and not self.always:
            return Decision(why=self._explain(table, start), older=lost)
        entry = table.session.entries[table.live.entries[walk.first_kept]] if walk.first_kept < n else None
        if entry is not None and entry.kind != "message" and not self.summaries:
            why = "The walk back ended on a branch summary, and Flue keeps only from a message on."
            return Decision(why=why)
        return Decision(cut=walk.first_kept, older=lost)

    def _explain(self, table: Table, start: int) -> str:
        """Why the walk ends at the start."""
        tail = _tail(table, self.estimate)
        full, since = tail.reach(self.tokens), " since the last compaction" if start else ""
        if full is None or full > len(table.live) - start:
            return f"There is nothing to compact: the budget covers the whole context{since}."
        if not (valid_places(table, start) >= len(table.live) - full).any():
            return (
                "Nothing can be cut: the outputs at the very end fill the budget alone, and no valid cut "
                "point follows."
            )
        alone = " alone" if tail.weigh(full) - tail.weigh(full - 1) >= self.tokens else ""
        return (
            f"Nothing can be cut: the first message{since}{alone} fills the budget and is kept, and no "
            "valid cut point precedes it."
        )


PIN = KeepRecentTokens()

_TAILS: Memo[TailWeight] = Memo()
_PLACES: Memo[Ints] = Memo()


class TokenWalk(NamedTuple):
    """The end of the walk: the first entry kept, and the start of the turn that it splits (-1: none).

    Both are equal if pi 0.73.1 cuts at a shell command or a summary: it calls that a split turn with nothing
    before the cut.
    """

    first_kept: int
    turn_start: int


def valid_places(table: Table, first: int | None = None) -> Ints:
    """Return the valid positions of a cut: user and assistant messages from `start` on (FLUE §6.1).

    Shell commands, summaries and messages of the harness, which pi also counts, are user messages here.
    """
    start, role = table.start if first is None else first, table.live.role

    def find() -> Ints:
        return (np.flatnonzero((role[start:] == 0) | (role[start:] == 1)) + start).astype(np.int32)

    return _PLACES.of(table.moment, find, start)


def walk_back(table: Table, budget: Number, how: KeepRecentTokens = PIN) -> TokenWalk:
    """Walk back as Flue does (FLUE §6), with its quirks: a cut moves forward from a tool's output; if outputs
    at the very end fill the budget, the walk does not move; without a valid position the cut is at the
    beginning of the context."""
    start, n = find_start(table, how), len(table.live)
    valid = valid_places(table, start)
    if not len(valid):
        return TokenWalk(start, -1)
    cut = int(valid[0])
    full = _tail(table, how.estimate).reach(max(budget, 1) if how.skip_empty else budget)
    if full is not None and full <= n - start:
        after = int(np.searchsorted(valid, n - full))
        if after < len(valid):
            cut = int(valid[after])
        elif how.fallback == "last":
            cut = int(valid[-1])
    if how.step_back:
        cut = _step_back(table, cut, start)
    turn = int(table.split_start[cut])
    if how.step_back and cut < n and not is_spoken(table.session.entries[table.live.entries[cut]]):
        turn = max(turn, cut)
    return TokenWalk(cut, turn if turn >= start else -1)


def _step_back(table: Table, cut: int, start: int) -> int:
    """Move back over entries that are not messages, but not over the last compaction."""
    entries, live = table.session.entries, table.live
    barrier = since_compaction(table.session)
    while cut > start and cut != barrier and not is_message(entries[live.entries[cut - 1]]):
        cut -= 1
    return cut


def _tail(
    table: Table, estimate: Estimate, weigh: Callable[[Entry, Estimate], int] = weigh_in_walk
) -> TailWeight:
    if estimate == "flue":
        return table.tail("chars4_utf16")

    def make() -> TailWeight:
        return TailWeight(table.session, lambda entry: weigh(entry, estimate))

    return _TAILS.of(table.moment, make, estimate, weigh)


def find_walk(table: Table) -> KeepRecentTokens:
    """The rule by which a policy walks back, which says how it reads usage; others read it as Flue does."""
    walk = table.sibling("keep-recent-tokens")
    return walk if isinstance(walk, KeepRecentTokens) else PIN


def measure_context(table: Table, how: KeepRecentTokens = PIN) -> Measured:
    """How full the context is before a compaction, as the system measures it (FLUE §4, §13.2-3)."""
    session, tail = table.session, _tail(table, how.estimate, weigh_message)
    forgets = how.start == "compaction"
    since = since_compaction(session) if forgets or how.fresh_usage else 0
    return measure_usage(session, tail, since=since, empty=not how.fresh_usage, forget=forgets)
