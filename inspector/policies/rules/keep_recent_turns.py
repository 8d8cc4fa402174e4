"""Keep recent turns: the last N turns stay verbatim."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...text import plural
from ..base_rule import Rule
from ..part import LARGE
from ..table import Decision, Table


class KeepRecentTurns(Rule):
    """The cut falls where the last `turns` turns begin."""

    title: ClassVar[str] = "Keep recent turns"
    phrase: ClassVar[str] = "keep the last {turns} turns as they are"
    source: ClassVar[str] = "stud-cli wiki, Compaction and Memory 1.1.0, recent window (S0-17, S0-24)"
    cuts: ClassVar[bool] = True

    kind: Literal["keep-recent-turns"] = "keep-recent-turns"
    turns: int = Field(
        4, ge=0, le=LARGE, description="Whole turns kept after the cut, the current one among them"
    )

    def decide(self, table: Table) -> Decision:
        """Propose the place where the N-th last turn begins, or the nearest legal place before it."""
        opens = np.flatnonzero(table.live.opens)
        if self.turns > len(opens):
            held = plural(len(opens), "turn")
            return Decision(why=f"There is nothing to compact: the context holds {held}.")
        start = int(opens[-self.turns]) if self.turns else len(table.live)
        legal = np.flatnonzero(table.cuts.legal[: start + 1])
        if not len(legal):
            return Decision(why="There is nothing to compact before the turns that are kept.")
        return Decision(cut=int(legal[-1]))
