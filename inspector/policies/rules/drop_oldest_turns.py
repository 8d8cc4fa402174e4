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
    """Turns before the last `turns` are left out of what is sent.

    It is a view made when a request is read: the stored messages stay as they are, and so they stand in the
    manifest (`stored_context`). An earlier summary is no turn and stays.
    """

    title: ClassVar[str] = "Drop oldest turns"
    phrase: ClassVar[str] = "nothing before the last {turns} turns is sent"
    source: ClassVar[str] = "seed 002, Snip (S2-3, S2-13, S2-14); how many turns is not told there"
    projection: ClassVar[bool] = True
    cuts: ClassVar[bool] = True

    kind: Literal["drop-oldest-turns"] = "drop-oldest-turns"
    turns: int = Field(10, ge=1, le=LARGE, description="Whole turns sent, the current one among them")

    def decide(self, table: Table) -> Decision:
        """Propose the place where the N-th last turn begins, and claim what is older."""
        live = table.live
        opens = np.flatnonzero(live.opens)
        if self.turns >= len(opens):
            held = plural(len(opens), "turn")
            return Decision(why=f"There is nothing to drop: the context holds {held}.")
        places = opens[: len(opens) - self.turns + 1]
        legal = places[table.cuts.legal[places]]
        if not len(legal):
            return Decision(why="There is nothing to drop before the turns that are kept.")
        place = int(legal[-1])
        rows = live.position >= table.start
        if table.sibling("summarise-all") is not None:
            # Where another rule cuts further on, the window still begins where it begins.
            rows &= live.position < place
        return Decision(cut=place, older=Claim(rows, DROPPED))
