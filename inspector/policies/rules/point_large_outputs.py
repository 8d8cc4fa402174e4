"""Point at large outputs: a long tool output becomes a line that says whose it was and where it is."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import KINDS, Block, ToolOutput
from ...session.tree import ASSISTANT, Bools
from ..base_rule import Rule
from ..part import LARGE
from ..pointers import call_of, find_calls, point_at
from ..shorten import Form, find_bare_errors, text_lengths
from ..table import POINTER, Claim, Decision, Rewrite, Table

TOOL_OUTPUT = KINDS.index("tool_output")


class PointLargeOutputs(Rule):
    """Tool outputs longer than `characters` before the cut are replaced by a pointer, each judged alone.

    Call and output stay paired, and the status stays. An output that names no call is text and is left to
    other rules. The fixed form points only where that is shorter, and never at a pointer.
    """

    title: ClassVar[str] = "Point at large outputs"
    phrase: ClassVar[str] = "tool outputs of more than {characters} characters become a pointer"
    source: ClassVar[str] = "mini-claude-code 60a3bef, pointers (TIERED §3.1)"

    kind: Literal["point-large-outputs"] = "point-large-outputs"
    characters: int = Field(600, ge=0, le=LARGE, description="UTF-16 units an output may have")
    recent: bool = Field(
        False, description="After the cut too, where the model has answered the output already"
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
            # As published, the latest call of that id names the output, whichever it answers.
            compat = self.form == "compat"
            call = find_calls(table).get(block.call_id) if compat else call_of(table, block, row)
            return point_at(block, call, self.form)

        rewrite = Rewrite(make, ("point-large-outputs", self.form, table.session.leaf))
        kept = Claim(rows & _answered(table), POINTER, rewrite=rewrite) if self.recent else None
        return Decision(older=Claim(rows, POINTER, rewrite=rewrite), kept=kept)


def _answered(table: Table) -> Bools:
    """Blocks after which the assistant spoke again: it has seen them once."""
    spoken = np.flatnonzero(table.live.role == ASSISTANT)
    last = int(spoken[-1]) if len(spoken) else 0
    answered: Bools = table.live.position < last
    return answered
