"""Keep recent messages: the last N messages stay verbatim."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...cuts import CUT_RULES
from ..base_rule import Rule
from ..part import LARGE
from ..shorten import Form
from ..table import VERBATIM, Claim, Decision, Table

OPEN_LOOP = [rule.name for rule in CUT_RULES].index("open-loop")


class KeepRecentMessages(Rule):
    """The cut falls `messages` messages before the end, or at the nearest legal place before that.

    With `loops` it may stand inside a tool loop that still goes on: nothing may be dropped or summarised
    there, but outputs may be shortened. The compat form cuts anywhere, between a call and its output too, and
    where root and recent messages are all there is it keeps every other rule of its stage from doing anything
    (TIERED §3 step 2).
    """

    title: ClassVar[str] = "Keep recent messages"
    phrase: ClassVar[str] = "keep the last {messages} messages as they are"
    source: ClassVar[str] = "mini-claude-code 60a3bef, recent window (TIERED §3)"
    cuts: ClassVar[bool] = True
    keeps: ClassVar[bool] = True

    kind: Literal["keep-recent-messages"] = "keep-recent-messages"
    messages: int = Field(6, ge=-LARGE, le=LARGE, description="Messages kept at the end; less than 0 is 0")
    loops: bool = Field(
        False, description="May cut inside an open tool loop; only for rules that shorten in place"
    )
    form: Form = Field("fixed", description="Cut where a provider allows it, or exactly as published")

    def decide(self, table: Table) -> Decision:
        """Propose the place, and claim what comes after it."""
        n, kept = len(table.live), max(self.messages, 0)
        everything = Claim(np.ones(len(table.tokens), bool), VERBATIM)
        if self.form == "compat":
            root = getattr(table.sibling("keep-root"), "messages", 0)
            if n <= max(root, 0) + kept:
                return Decision(why="Root and recent messages are all there is.", older=everything)
            return Decision(cut=n - kept, unpaired=True)
        places = table.cuts.legal | (table.cuts.reason == OPEN_LOOP if self.loops else False)
        legal = np.flatnonzero(places[: max(n - kept, 0) + 1])
        if not len(legal):
            why = "There is nothing to compact before the messages that are kept."
            return Decision(why=why, kept=everything)
        return Decision(cut=int(legal[-1]), kept=everything)
