"""Snip long text: messages before the cut keep their beginning and end."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...session.blocks import Block, Text, ToolOutput
from ..base_rule import Rule
from ..part import Count
from ..shorten import Form, snip, text_lengths
from ..table import TRUNCATED, Claim, Decision, Rewrite, Table


class SnipLongText(Rule):
    """Shorten text of more than `characters` before the cut to a head and a tail, from every speaker.

    Tool outputs are not text, except outputs without a call. The fixed form leaves at most `characters`.
    """

    title: ClassVar[str] = "Snip long text"
    phrase: ClassVar[str] = "text of more than {characters} characters keeps its beginning and end"
    source: ClassVar[str] = "mini-claude-code 60a3bef, snip (TIERED §3.2)"

    kind: Literal["snip-long-text"] = "snip-long-text"
    characters: Count = Field(2000, description="Maximum UTF-16 units of a text")
    form: Form = Field("fixed", description="Without the published defects, or exactly as published")

    def decide(self, table: Table) -> Decision:
        """Claim long texts, with what is left of each."""
        # The summary of an earlier compaction is all there is of what it stands for.
        rows = (text_lengths(table) > self.characters) & (table.live.position >= table.start)

        def make(block: Block, row: int) -> Block:
            if not isinstance(block, Text) and (not isinstance(block, ToolOutput) or block.call_id):
                return block
            text = snip(block.text, self.characters, self.form)
            if text == block.text:
                return block
            changed = {"text": text} if isinstance(block, Text) else {"parts": (Text(text=text),)}
            return block.model_copy(update=changed)

        rewrite = Rewrite(make, ("snip-long-text", self.form, self.characters))
        return Decision(older=Claim(rows, TRUNCATED, rewrite=rewrite))
