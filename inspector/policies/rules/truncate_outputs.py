"""Truncate outputs: a tool output that is too large keeps its beginning, or its beginning and its end."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import Block, ToolOutput
from ...session.tree import Ints
from ..base_rule import Rule
from ..part import LARGE
from ..shorten import TOOL_OUTPUT, output_lengths, replace_text
from ..table import TRUNCATED, Claim, Decision, Rewrite, Table

Form = Literal["head", "head+tail"]


class TruncateOutputs(Rule):
    """Every tool output longer than `limit` is shortened to it; nothing else is touched.

    A decision is made once for a call: `decided` names the calls already truncated and the limit that was
    in force, which stays in force for them (S2-16). `remember_decisions` gives the rule the next iteration
    goes on with.
    """

    title: ClassVar[str] = "Truncate outputs"
    phrase: ClassVar[str] = "tool outputs of more than {limit} characters keep their {form}"
    source: ClassVar[str] = (
        "seed 002, Micro (S2-4, S2-16); 30,000 characters is what Claude Code shows of a command's output "
        "(CLAUDE §2.5)"
    )

    kind: Literal["truncate-outputs"] = "truncate-outputs"
    limit: int = Field(30_000, ge=0, le=LARGE, description="Characters of text that one output may have")
    form: Form = Field("head", description="What is kept of a longer one")
    decided: dict[str, int] = Field(
        {}, description="Calls whose output was truncated before, and the limit it was truncated to"
    )

    def limit_of(self, call: str) -> int:
        """The limit in force for the output of a call."""
        return self.decided.get(call, self.limit)

    def decide(self, table: Table) -> Decision:
        """Claim the outputs over their limit, wherever the cut is."""
        rows = np.zeros(len(table.tokens), bool)
        rows[_find_rows(self, table)] = True
        key = ("truncate", self.limit, self.form, tuple(sorted(self.decided.items())))

        def make(block: Block, row: int) -> Block:
            if not isinstance(block, ToolOutput):
                return block
            text = block.text
            short = shorten(text, self.limit_of(block.call_id), self.form)
            return block if short == text else replace_text(block, short)

        claim = Claim(rows, TRUNCATED, rewrite=Rewrite(make, key))
        return Decision(older=claim, kept=claim)


def shorten(text: str, limit: int, form: Form = "head") -> str:
    """A text cut to `limit` characters, what is left out said in its place; as it is where that is no gain.

    Cut between code points, never inside one.

    >>> shorten("a" * 60, 40, "head+tail")
    'aaaaa\\n[… 50 characters left out …]\\naaaaa'
    """
    if len(text) <= limit:
        return text
    room = max(limit - len(_mark(len(text))), 0)
    head = room if form == "head" else room - room // 2
    tail = room - head
    cut = text[:head] + _mark(len(text) - head - tail) + (text[-tail:] if tail else "")
    return cut if len(cut) < len(text) else text


def _mark(left: int) -> str:
    return f"\n[… {left:,} characters left out …]\n"


def remember_decisions(rule: TruncateOutputs, table: Table) -> TruncateOutputs:
    """The rule with everything it decides in this context added to `decided`."""
    decided = {}
    for row in _find_rows(rule, table).tolist():
        block = table.block(row)
        if isinstance(block, ToolOutput):
            text, limit = block.text, rule.limit_of(block.call_id)
            if shorten(text, limit, rule.form) != text:
                decided[block.call_id] = limit
    return rule.model_copy(update={"decided": {**rule.decided, **decided}})


def _find_rows(rule: TruncateOutputs, table: Table) -> Ints:
    """int32: rows of outputs over their limit."""
    lengths = output_lengths(table)
    limits = np.full(len(lengths), rule.limit, np.int64)
    if rule.decided:
        for row in np.flatnonzero(table.kind == TOOL_OUTPUT).tolist():
            block = table.block(row)
            if isinstance(block, ToolOutput):
                limits[row] = rule.limit_of(block.call_id)
    return np.flatnonzero(lengths > limits).astype(np.int32)
