"""Drop oldest turns: a sliding window of whole turns, as the request shows it."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...text import plural
from ..base_rule import Rule
from ..part import LARGE
from ..table import DROPPED, Claim, Decision, Table


class DropOldestTurns(Rule):
    """Leave the turns before the last `turns` out of the request.

    This is a view of the request: the stored messages stay as they are. An earlier summary is not a turn and
    stays.
    """

    title: ClassVar[str] = "Drop oldest turns"
    phrase: ClassVar[str] = "nothing before the last {turns} turns is sent"
    source: ClassVar[str] = "seed 002, Snip (S2-3, S2-13, S2-14); without a number of turns"
    projection: ClassVar[bool] = True
    cuts: ClassVar[bool] = True

    kind: Literal["drop-oldest-turns"] = "drop-oldest-turns"
    turns: int = Field(
        10, ge=1, le=LARGE, description="Number of whole turns to send, including the current one"
    )

    def decide(self, table: Table) -> Decision:
        """Propose the beginning of the N-th last turn, and claim older blocks."""
        live = table.live
        opens = np.flatnonzero(live.opens)
        if self.turns >= len(opens):
            turns = plural(len(opens), "turn")
            return Decision(why=f"There is nothing to drop: the context holds {turns}.")
        places = opens[: len(opens) - self.turns + 1]
        legal = places[table.cuts.legal[places]]
        if not len(legal):
            return Decision(why="There is nothing to drop before the turns that are kept.")
        place = int(legal[-1])
        rows = live.position >= table.start
        if table.sibling("summarise-all") is not None:
            # A later cut of another rule does not change the beginning of the window.
            rows &= live.position < place
        return Decision(cut=place, older=Claim(rows, DROPPED))

    def is_needed(self, characters: int, turns: int) -> bool:
        return turns > 0
