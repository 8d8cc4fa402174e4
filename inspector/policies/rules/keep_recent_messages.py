"""Keep recent messages: the last N messages stay verbatim."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ..base_rule import Rule
from ..groups import OPEN_LOOP
from ..part import LARGE
from ..shorten import Form
from ..table import VERBATIM, Claim, Decision, Table


class KeepRecentMessages(Rule):
    """Cut `messages` messages before the end, or at the nearest valid cut point before that.

    With `loops` the cut may be inside an unfinished tool loop: nothing may be dropped or summarised there,
    but outputs may be shortened. The compat form cuts anywhere, even between a call and its output. If there
    are only root and recent messages, it prevents all other rules of its stage from running (TIERED §3
    step 2).
    """

    title: ClassVar[str] = "Keep recent messages"
    phrase: ClassVar[str] = "keep the last {messages} messages unchanged"
    source: ClassVar[str] = "mini-claude-code 60a3bef, recent window (TIERED §3)"
    cuts: ClassVar[bool] = True
    removes: ClassVar[bool] = False
    keeps: ClassVar[bool] = True

    kind: Literal["keep-recent-messages"] = "keep-recent-messages"
    messages: int = Field(6, ge=-LARGE, le=LARGE, description="Messages kept at the end; less than 0 is 0")
    loops: bool = Field(
        False, description="May cut inside an open tool loop; only for rules that shorten in place"
    )
    form: Form = Field("fixed", description="Cut at a valid cut point, or exactly as published")

    def decide(self, table: Table) -> Decision:
        """Propose the place, and claim what comes after it."""
        n, messages = len(table.live), max(self.messages, 0)
        everything = Claim(np.ones(len(table.tokens), bool), VERBATIM)
        if self.form == "compat":
            root = getattr(table.sibling("keep-root"), "messages", 0)
            if n <= max(root, 0) + messages:
                return Decision(why="Root and recent messages are all there is.", older=everything)
            return Decision(cut=n - messages, unpaired=True)
        places = table.cuts.legal | (table.cuts.reason == OPEN_LOOP if self.loops else False)
        legal = np.flatnonzero(places[: max(n - messages, 0) + 1])
        if not len(legal):
            why = "There is nothing to compact before the messages that are kept."
            return Decision(why=why, kept=everything)
        return Decision(cut=int(legal[-1]), kept=everything)
