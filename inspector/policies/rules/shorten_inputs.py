"""Shorten inputs: long texts that older calls wrote to files keep their first characters."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import TOOL_CALL, Block, ToolCall
from ...session.tree import Bools
from ...text import plural
from ..base_rule import Rule
from ..part import Count
from ..shorten import from_tools
from ..table import TRUNCATED, Claim, Decision, Rewrite, Table


class ShortenInputs(Rule):
    """Shorten texts of more than `limit` characters in the input of a call to their first `preview`.

    This applies to calls of `tools` before the newest messages, in contexts with a minimum number of
    messages. It runs before every request, and before the other steps of a compaction.
    """

    title: ClassVar[str] = "Shorten inputs of calls"
    phrase: ClassVar[str] = (
        "inputs of calls before the newest {newest} messages keep the first {preview} of a text of more than "
        "{limit} characters"
    )
    source: ClassVar[str] = "deepagents 0.7.32, truncate_args_settings"
    early: ClassVar[bool] = True

    kind: Literal["shorten-inputs"] = "shorten-inputs"
    limit: Count = Field(2_000, description="Maximum characters of one text of an input")
    preview: Count = Field(20, description="Characters to keep of a longer text")
    tools: tuple[str, ...] = Field(
        ("write_file", "edit_file"), description="Tools with calls to shorten; all by default"
    )
    newest: Count = Field(20, description="Number of newest messages that keep their calls")
    trigger_messages: Count = Field(20, description="Minimum number of messages in the context")

    def decide(self, table: Table) -> Decision:
        """Claim the calls with a long text, wherever the cut is."""
        n = len(table.live)
        if n < self.trigger_messages:
            some = plural(n, "message is", "messages are")
            return Decision(
                why=f"{some} fewer than the {self.trigger_messages:,} at which inputs are shortened."
            )
        rows: Bools = (table.kind == TOOL_CALL) & (table.live.position < n - self.newest)
        if self.tools:
            rows = from_tools(table, rows, self.tools)

        def make(block: Block, row: int) -> Block:
            if not isinstance(block, ToolCall) or not isinstance(block.input, dict):
                return block
            inputs = {name: self._shorten(value) for name, value in block.input.items()}
            return block if inputs == block.input else block.model_copy(update={"input": inputs})

        claim = Claim(
            np.asarray(rows), TRUNCATED, rewrite=Rewrite(make, (self.kind, self.limit, self.preview))
        )
        return Decision(older=claim, kept=claim)

    def _shorten(self, value: Any) -> Any:
        if not isinstance(value, str) or len(value) <= self.limit:
            return value
        short = f"{value[: self.preview]}[… {len(value) - self.preview:,} characters left out …]"
        return short if len(short) < len(value) else value
