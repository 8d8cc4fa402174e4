"""Budget outputs: the newest outputs of tools stay whole; what does not fit is saved, and its ends shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import TOOL_OUTPUT, Block, Text, ToolOutput
from ...text import utf16_length, utf16_slice
from ...tokens.memo import Memo
from ..base_rule import Rule
from ..part import Count
from ..table import POINTER, Claim, Decision, Rewrite, Table

ASCII_TOKENS, OTHER_TOKENS = 0.25, 1.3
"""Tokens of a character in Gemini CLI's estimate, counted in UTF-16 units."""
COARSE = 100_000
"""A text of more units is estimated by its length / 4."""
HEAD = 0.2
"""Share of the shown characters that comes from the beginning."""

_SHORTENED: Memo[Mapping[int, Block]] = Memo(8)


class BudgetOutputs(Rule):
    """Sum up outputs from the newest back; an output beyond the budget becomes a pointer.

    An output that is short enough to be shown whole stays. Pointers and shortened outputs count against the
    budget too.
    """

    title: ClassVar[str] = "Budget for outputs"
    phrase: ClassVar[str] = (
        "outputs beyond {tokens} tokens are saved to a file, and {characters} characters of each are shown"
    )
    source: ClassVar[str] = "Gemini CLI 02b2885c, chatCompressionService.ts (PEERS §1)"

    names_files: ClassVar[bool] = True

    kind: Literal["budget-outputs"] = "budget-outputs"
    tokens: Count = Field(
        50_000, description="Tokens of tool outputs that stay whole, by Gemini CLI's estimate"
    )
    characters: Count = Field(
        40_000, description="Characters shown of an output that does not fit, by both ends"
    )

    def shorten(self, table: Table) -> Mapping[int, Block]:
        """The outputs that become pointers, by live row."""
        return _SHORTENED.of(table.moment, lambda: self._walk(table), self)

    def _walk(self, table: Table) -> dict[int, Block]:
        out: dict[int, Block] = {}
        used = 0
        for row in np.flatnonzero(table.kind == TOOL_OUTPUT)[::-1].tolist():
            block = table.block(row)
            assert isinstance(block, ToolOutput)
            tokens = estimate(block.text)
            if used + tokens > self.tokens and (text := self._show(block)) is not None:
                out[row] = block.model_copy(update={"parts": (Text(text=text),)})
                tokens = estimate(text)
            used += tokens
        return out

    def _show(self, output: ToolOutput) -> str | None:
        """The replacement of an output; None if it is short enough to be shown whole."""
        text = output.text
        size = utf16_length(text)
        if size <= self.characters:
            return None
        head = int(self.characters * HEAD)
        tail = self.characters - head
        where = output.artifact or f"tool-outputs/{output.call_id}.txt"
        return (
            f"[Output of {size:,} characters; the first {head:,} and the last {tail:,} are shown. "
            f"All of it: {where}]\n{utf16_slice(text, 0, head)}\n\n"
            f"[{size - head - tail:,} characters left out]\n\n{utf16_slice(text, size - tail, size)}"
        )

    def decide(self, table: Table) -> Decision:
        """Claim the outputs on the side that is kept; older ones go wherever the other rules send them."""
        shortened = self.shorten(table)
        rewrite = Rewrite(lambda block, row: shortened[row])
        return Decision(kept=Claim(table.mask(shortened), POINTER, rewrite=rewrite))


def estimate(text: str) -> int:
    """Tokens of a text as Gemini CLI estimates them, rounded down.

    >>> estimate("abcdefgh"), estimate("日本語")
    (2, 3)
    """
    units = utf16_length(text)
    if units > COARSE:
        return units // 4
    ascii_units = units if text.isascii() else sum(char < "\x80" for char in text)
    return int(ascii_units * ASCII_TOKENS + (units - ascii_units) * OTHER_TOKENS)
