"""Snip everything: every long text and tool output keeps its beginning and its end, the newest too."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import TEXT, TOOL_OUTPUT, Block, ToolOutput
from ..base_rule import Rule
from ..part import Count
from ..pointers import call_of, is_pointer
from ..shorten import Form, find_bare_errors, replace_text, snip, text_lengths
from ..table import TRUNCATED, Claim, Decision, Rewrite, Table


class SnipEverything(Rule):
    """Shorten text and tool outputs of more than `characters` to a head and a tail, in the whole context.

    A pointer stays as it is. The compat form shortens pointers too, and shortens again what an earlier stage
    has shortened.
    """

    title: ClassVar[str] = "Snip everything"
    phrase: ClassVar[str] = "everything of more than {characters} characters keeps its beginning and end"
    source: ClassVar[str] = "mini-claude-code 60a3bef, legacy compaction (TIERED §4)"
    last_resort: ClassVar[bool] = True

    kind: Literal["snip-everything"] = "snip-everything"
    characters: Count = Field(2000, description="Maximum UTF-16 units of a text or output")
    form: Form = Field("fixed", description="Without the published defects, or exactly as published")

    def decide(self, table: Table) -> Decision:
        """Claim long texts and outputs on both sides, with what is left of each."""
        compat = self.form == "compat"
        # A block that an earlier stage rewrote may be longer than the original.
        rows = np.isin(table.kind, (TEXT, TOOL_OUTPUT)) if compat else text_lengths(table) > self.characters
        rows = rows & (table.live.position >= table.start)
        if compat:
            rows &= ~find_bare_errors(table)

        def make(block: Block, row: int) -> Block:
            if not compat and isinstance(block, ToolOutput) and is_pointer(block, call_of(table, block, row)):
                return block
            text = snip(block.text, self.characters, self.form)
            if text == block.text:
                return block
            if isinstance(block, ToolOutput):
                return replace_text(block, text)
            return block.model_copy(update={"text": text})

        rewrite = Rewrite(make, ("snip-everything", self.form, self.characters, table.session.leaf))
        claim = Claim(rows, TRUNCATED, rewrite=rewrite, again=compat)
        return Decision(older=claim, kept=claim, unpaired=compat)
