"""Keep recent turns: the last N turns stay verbatim."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...text import plural
from ..base_rule import Rule
from ..part import Count
from ..table import Decision, Table


class KeepRecentTurns(Rule):
    """Cut at the beginning of the last `turns` turns.

    With `summary_again` an earlier summary that is all there is before them is compacted again if it exceeds
    that share of the trigger's reserve: a small one stays, so that this ends.
    """

    title: ClassVar[str] = "Keep recent turns"
    phrase: ClassVar[str] = "keep the last {turns} turns unchanged"
    source: ClassVar[str] = "stud-cli wiki, Compaction and Memory 1.1.0, recent window (S0-17, S0-24)"
    cuts: ClassVar[bool] = True
    removes: ClassVar[bool] = False

    kind: Literal["keep-recent-turns"] = "keep-recent-turns"
    turns: Count = Field(4, description="Number of whole turns after the cut, including the current one")

    summary_again: float | None = Field(
        None,
        ge=0,
        le=100,
        description="Share of the trigger's reserve above which an earlier summary is compacted again, "
        "even if it is all there is before the kept turns",
    )

    def decide(self, table: Table) -> Decision:
        """Propose the beginning of the N-th last turn, or the nearest valid cut point before it."""
        opens = np.flatnonzero(table.live.opens)
        if self.turns > len(opens) and self.takes_summary(table):
            return Decision(cut=table.start)
        if self.turns > len(opens):
            turns = plural(len(opens), "turn")
            return Decision(why=f"There is nothing to compact: the context holds {turns}.")
        start = int(opens[-self.turns]) if self.turns else len(table.live)
        legal = np.flatnonzero(table.cuts.legal[: start + 1])
        if not len(legal):
            return Decision(why="There is nothing to compact before the turns that are kept.")
        return Decision(cut=int(legal[-1]))

    def takes_summary(self, table: Table) -> bool:
        """Whether an earlier summary is long enough to be compacted though nothing else is older."""
        if self.summary_again is None or not table.start or table.sibling("summarise-older") is None:
            return False
        size = int(table.tokens[table.live.position < table.start].sum())
        return size > self.summary_again * table.trigger.reserved(table.window)
