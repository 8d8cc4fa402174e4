"""Point at large outputs: replace a long tool output by a line that names its call and its position."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import TOOL_OUTPUT, Block, ToolOutput
from ...session.tree import ASSISTANT, Bools
from ..base_rule import Rule
from ..part import Count
from ..pointers import call_of, find_calls, point_at
from ..shorten import Form, find_bare_errors, text_lengths
from ..table import POINTER, Claim, Decision, Rewrite, Table


class PointLargeOutputs(Rule):
    """Replace each tool output before the cut that is longer than `characters` by a pointer.

    The call and the status stay. An output without a call is text and is left to other rules. The fixed form
    replaces an output only if the pointer is shorter, and never replaces a pointer.
    """

    title: ClassVar[str] = "Point at large outputs"
    phrase: ClassVar[str] = "tool outputs of more than {characters} characters become a pointer"
    source: ClassVar[str] = "mini-claude-code 60a3bef, pointers (TIERED §3.1)"

    kind: Literal["point-large-outputs"] = "point-large-outputs"
    characters: Count = Field(600, description="Maximum UTF-16 units of an output")
    recent: bool = Field(
        False, description="Also after the cut, if the model has already answered the output"
    )
    form: Form = Field("fixed", description="Without the published defects, or exactly as published")

    def decide(self, table: Table) -> Decision:
        """Claim long outputs, with the pointer each becomes."""
        rows = (table.kind == TOOL_OUTPUT) & (text_lengths(table) > self.characters)
        if self.form == "compat" and rows.any():
            rows = rows & ~find_bare_errors(table)
        if not rows.any():
            return Decision()

        def make(block: Block, row: int) -> Block:
            if not isinstance(block, ToolOutput) or not block.call_id:
                return block
            # As published, the latest call of that id names the output, even if it answers another one.
            compat = self.form == "compat"
            call = find_calls(table).get(block.call_id) if compat else call_of(table, block, row)
            return point_at(block, call, self.form)

        rewrite = Rewrite(make, ("point-large-outputs", self.form, table.session.leaf))
        kept_claim = Claim(rows & _answered(table), POINTER, rewrite=rewrite) if self.recent else None
        return Decision(older=Claim(rows, POINTER, rewrite=rewrite), kept=kept_claim)


def _answered(table: Table) -> Bools:
    """Blocks after which the assistant spoke again: it has seen them once."""
    assistant_positions = np.flatnonzero(table.live.role == ASSISTANT)
    last = int(assistant_positions[-1]) if len(assistant_positions) else 0
    answered: Bools = table.live.position < last
    return answered
