"""Fold calls: older calls with their results become one line of the assistant's each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from ...session.blocks import REASONING, TOOL_CALL, TOOL_OUTPUT, Block, Text, ToolOutput
from ..base_rule import Rule
from ..groups import find_calling, find_groups, in_open_loop
from ..part import Count
from ..shorten import tool_of
from ..table import DROPPED, TRUNCATED, Claim, Decision, Rewrite, Table

CUT = "... [truncated]"


class FoldCalls(Rule):
    """Of all but the `keep` newest groups that call a tool, a text names each tool with its result.

    The text has at most `limit` characters. The assistant's text and reasoning between the calls are dropped.
    A call without a result stays as it is.
    """

    title: ClassVar[str] = "Fold calls"
    phrase: ClassVar[str] = "calls before the newest {keep} become a line each, of at most {limit} characters"
    source: ClassVar[str] = "agent-framework-core 1.23.0, ToolResultCompactionStrategy"

    kind: Literal["fold-calls"] = "fold-calls"
    keep: Count = Field(4, description="Groups of calls, the newest, that stay")
    limit: Count = Field(4_096, description="Characters of one line")

    def fold(self, table: Table) -> Mapping[int, Block | None]:
        """The rows of folded groups: the first call as the text, None for all other rows."""
        groups, live = find_groups(table), table.live
        called = list(dict.fromkeys(groups[find_calling(table, groups)].tolist()))
        older = called[: len(called) - self.keep] if self.keep else called
        going_on = {*groups[in_open_loop(table)].tolist()}
        of_group: dict[int, list[int]] = {group: [] for group in older if group not in going_on}
        for row, group in enumerate(groups[live.position].tolist()):
            if group in of_group:
                of_group[group].append(row)
        out: dict[int, Block | None] = {}
        for rows in of_group.values():
            answered = [row for row in rows if table.kind[row] == TOOL_OUTPUT]
            calls = [row for row in rows if table.kind[row] == TOOL_CALL]
            if answered and calls:
                out |= dict.fromkeys(rows)
                out[calls[0]] = Text(text=self._write(table, answered))
        return out

    def _write(self, table: Table, rows: list[int]) -> str:
        results = (f"{tool_of(table, row)}: {_read(table.block(row))}" for row in rows)
        line = f"[Tool results: {'; '.join(results)}]"
        return line if len(line) <= self.limit else f"{line[: max(self.limit - len(CUT) - 1, 0)]}{CUT}]"

    def decide(self, table: Table) -> Decision:
        """Claim the groups, on both sides of the cut."""
        folded = self.fold(table)
        if not folded:
            return Decision(why="There is nothing to fold.")
        rows = table.mask(folded)
        thoughts = rows & (table.kind == REASONING)
        rewrite = Rewrite(lambda block, row: folded.get(row, block))
        claims = Claim(thoughts, DROPPED), Claim(rows & ~thoughts, TRUNCATED, rewrite=rewrite)
        return Decision(older=claims, kept=claims)


def _read(block: Block) -> str:
    return block.text if isinstance(block, ToolOutput) else ""
