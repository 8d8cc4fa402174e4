"""Drop last replies: leave out the model's last messages, so that the context ends with another role."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import DOCUMENT, TEXT
from ...session.tree import ASSISTANT
from ..base_rule import Rule
from ..part import Count
from ..table import DROPPED, Claim, Decision, Table


class DropLastReplies(Rule):
    """Drop the assistant's messages at the end: some providers reject a request that ends with one.

    They stay if there are no other messages, because a request needs at least one.
    """

    title: ClassVar[str] = "Drop last replies"
    source: ClassVar[str] = "inspect_ai 0.3.285, CompactionEdit (all of them) and trim_messages (one)"

    kind: Literal["drop-last-replies"] = "drop-last-replies"
    most: Count | None = Field(None, description="How many messages at most; empty for all")

    @property
    def template(self) -> str:
        if self.most is None:
            return "the assistant's messages at the very end are left out"
        return "at most {most} of the assistant's messages at the very end are left out"

    def decide(self, table: Table) -> Decision:
        """Claim the blocks of the last messages if they are the assistant's."""
        n = len(table.live)
        others = np.flatnonzero(table.live.role != ASSISTANT)
        first = int(others[-1]) + 1 if len(others) else 0
        if self.most is not None:
            first = max(first, n - self.most)
        says = (table.tokens > 0) | ((table.kind != TEXT) & (table.kind != DOCUMENT))
        if not says[table.live.role[table.live.position] != ASSISTANT].any():
            return Decision()
        return Decision(kept=Claim(table.live.position >= first, DROPPED))
