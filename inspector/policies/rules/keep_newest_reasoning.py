"""Keep the newest reasoning: what the model thought stays in its last messages only, wherever the cut is."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import KINDS
from ...session.tree import ASSISTANT
from ..base_rule import Rule
from ..part import LARGE
from ..table import DROPPED, Claim, Decision, Table

TEXT, REASONING, TOOL_OUTPUT = (KINDS.index(kind) for kind in ("text", "reasoning", "tool_output"))


class KeepNewestReasoning(Rule):
    """Reasoning of all but the last `replies` messages of the assistant is dropped."""

    title: ClassVar[str] = "Keep the newest reasoning"
    phrase: ClassVar[str] = "reasoning of all but the assistant's last {replies} messages is dropped"
    source: ClassVar[str] = "inspect_ai 0.3.285, CompactionEdit, keep_thinking_turns (PEERS §1)"

    kind: Literal["keep-newest-reasoning"] = "keep-newest-reasoning"
    replies: int = Field(1, ge=0, le=LARGE, description="Messages of the assistant that keep their reasoning")
    loop: bool = Field(
        True, description="A tool loop still running keeps all of it, as some providers want it back whole"
    )

    def decide(self, table: Table) -> Decision:
        """Claim the reasoning of earlier messages, on both sides of the cut."""
        replies = np.flatnonzero(table.live.role == ASSISTANT)
        first = int(replies[-self.replies]) if 0 < self.replies <= len(replies) else len(table.live)
        if self.replies > len(replies):
            first = 0
        if self.loop:
            first = min(first, _find_loop(table))
        claim = Claim((table.kind == REASONING) & (table.live.position < first), DROPPED)
        return Decision(older=claim, kept=claim)


def _find_loop(table: Table) -> int:
    """The live position where the loop begins that the context ends in; n when it ends in none.

    Neighbours of one side are one message to a provider, and one that answers a call goes on with the loop.
    """
    live = table.live
    n = len(live)
    answering = np.bincount(live.position[table.kind == TOOL_OUTPUT], minlength=n) > 0
    said = np.bincount(live.position[(table.kind != TEXT) | (table.tokens > 0)], minlength=n) > 0
    first, answers, heard = n, False, False
    for position in range(n - 1, -1, -1):
        if not said[position]:
            continue
        if live.role[position] == ASSISTANT:
            if not answers:
                break
            first, heard = position, False
        else:
            answers = bool(answering[position]) or (heard and answers)
            heard = True
    return first
