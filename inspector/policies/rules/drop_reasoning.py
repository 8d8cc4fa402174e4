"""Drop reasoning: remove the model's reasoning before the cut; its text and calls stay."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import REASONING, TOOL_CALL
from ...session.tree import Bools
from ..base_rule import Rule
from ..shorten import tool_of
from ..table import DROPPED, Claim, Decision, Table


class DropReasoning(Rule):
    """Drop reasoning before the cut: all of it, or only the reasoning of steps that call certain tools, or
    of certain stages of a state machine.

    A message that has only reasoning is dropped with it, so no message is empty. The last turn keeps its
    reasoning: a provider requires the complete reasoning of a running loop (CLAUDE §8).
    """

    title: ClassVar[str] = "Drop reasoning"
    phrase: ClassVar[str] = "reasoning before the cut is dropped"
    source: ClassVar[str] = (
        "stud-cli wiki, Compaction and Memory 1.1.0, retention rules (S0-33, S0-34, S0-43)"
    )

    kind: Literal["drop-reasoning"] = "drop-reasoning"
    tools: tuple[str, ...] = Field((), description="Only in steps that call one of these tools")
    stages: tuple[str, ...] = Field((), description="Only in entries that name one of these as their stage")

    @property
    def template(self) -> str:
        disposable = self.tools or self.stages
        return "disposable reasoning before the cut is dropped" if disposable else self.phrase

    def decide(self, table: Table) -> Decision:
        """Claim the older reasoning of all turns but the last."""
        live = table.live
        turn = live.turn[live.position]
        rows: Bools = (table.kind == REASONING) & (turn < (turn.max() if len(turn) else 0))
        if self.tools or self.stages:
            rows &= _in_steps(self.tools, table) | _in_stages(self.stages, table, rows)
        return Decision(older=Claim(rows, DROPPED))


def _in_steps(tools: tuple[str, ...], table: Table) -> Bools:
    """bool[m]: the block's step calls one of these tools."""
    step = table.live.step[table.live.position]
    calls = np.flatnonzero(table.kind == TOOL_CALL).tolist() if tools else []
    return np.isin(step, step[[row for row in calls if tool_of(table, row) in tools]])


def _in_stages(stages: tuple[str, ...], table: Table, rows: Bools) -> Bools:
    """bool[m]: those of `rows` in an entry whose own record names one of these stages."""
    out = np.zeros(len(rows), bool)
    if stages:
        entries, live = table.session.entries, table.live
        for row in np.flatnonzero(rows).tolist():
            out[row] = entries[live.entries[live.position[row]]].extra.get("stage") in stages
    return out
