"""Keep the newest reasoning: it stays only in the model's last messages, independent of the cut."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import REASONING
from ...session.tree import ASSISTANT
from ..base_rule import Rule
from ..open_loop import find_open_loop
from ..part import Count
from ..table import DROPPED, Claim, Decision, Table


class KeepNewestReasoning(Rule):
    """Reasoning of all but the last `replies` messages of the assistant is dropped."""

    title: ClassVar[str] = "Keep the newest reasoning"
    phrase: ClassVar[str] = "reasoning of all but the assistant's last {replies} messages is dropped"
    source: ClassVar[str] = "inspect_ai 0.3.285, CompactionEdit, keep_thinking_turns (PEERS §1)"

    kind: Literal["keep-newest-reasoning"] = "keep-newest-reasoning"
    replies: Count = Field(1, description="Number of the assistant's messages that keep their reasoning")
    loop: bool = Field(
        True, description="Keep all reasoning of a running tool loop, as some providers require"
    )

    def decide(self, table: Table) -> Decision:
        """Claim the reasoning of earlier messages, on both sides of the cut."""
        replies = np.flatnonzero(table.live.role == ASSISTANT)
        first = int(replies[-self.replies]) if 0 < self.replies <= len(replies) else len(table.live)
        if self.replies > len(replies):
            first = 0
        if self.loop:
            first = min(first, find_open_loop(table))
        claim = Claim((table.kind == REASONING) & (table.live.position < first), DROPPED)
        return Decision(older=claim, kept=claim)
