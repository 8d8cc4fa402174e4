"""Prune parts: reasoning and calls with their results leave older messages, without a placeholder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import REASONING, TOOL_CALL, TOOL_OUTPUT, UNKNOWN, Block, Value
from ...session.tree import ASSISTANT, Bools, Ints
from ...text import plural
from ..base_rule import Rule
from ..part import Count
from ..shorten import tool_of
from ..table import DROPPED, Claim, Decision, Table

REQUEST, RESPONSE = "tool-approval-request", "tool-approval-response"


class PrunedCalls(Value):
    """Calls that go: all but the calls of the `newest` messages or steps, of the `tools` named, or of every
    tool."""

    newest: Count = Field(0)
    tools: tuple[str, ...] = ()


class PruneParts(Rule):
    """Remove calls and their results by the id of the call; an id in the newest messages stays everywhere.

    Each item of `calls` is applied separately to the original messages. Reasoning is removed if everything
    after it in its step was removed. Empty messages are not sent. The rule needs no cut.
    """

    title: ClassVar[str] = "Prune parts"
    source: ClassVar[str] = "Vercel AI SDK 7.0.173, pruneMessages; Mastra core 1.71.0, ToolCallFilter"

    kind: Literal["prune-parts"] = "prune-parts"
    reasoning: Count | None = Field(
        None, description="Number of newest messages that keep their reasoning; all by default"
    )
    calls: tuple[PrunedCalls, ...] = Field(
        (), description="Calls to remove with their results, by tool, except in the newest messages"
    )
    unit: Literal["messages", "steps"] = Field(
        "messages",
        description="Whether the newest messages are counted, or the newest steps that call a tool",
    )

    @property
    def template(self) -> str:
        clauses = [
            f"{_name(item.tools)} go, except in the newest {plural(item.newest, self.unit[:-1])}"
            if item.newest
            else f"{_name(item.tools)} go"
            for item in self.calls
        ]
        if self.reasoning is not None:
            exception = f", except in the newest {plural(self.reasoning, 'message')}"
            clauses.append(f"reasoning goes{exception if self.reasoning else ''}")
        return ("; ".join(clauses) or "no part goes").replace("{", "{{").replace("}", "}}")

    def decide(self, table: Table) -> Decision:
        """Claim the parts that go, on both sides of the cut."""
        rows = np.zeros(len(table.tokens), bool)
        calls = _find_calls(table)
        for item in self.calls:
            rows |= self._prune(table, calls, item)
        rows |= _find_led_nowhere(table, rows)
        if self.reasoning is not None:
            older = table.live.position < len(table.live) - self.reasoning
            rows |= (table.kind == REASONING) & older
        if not rows.any():
            return Decision(why="There is nothing to prune.")
        claim = Claim(rows, DROPPED)
        return Decision(older=claim, kept=claim)

    def _prune(self, table: Table, calls: dict[int, str], item: PrunedCalls) -> Bools:
        first = len(table.live) - item.newest
        if self.unit == "steps":
            steps = np.unique(table.live.position[table.kind == TOOL_CALL])
            first = (
                int(steps[-item.newest]) if 0 < item.newest <= len(steps) else (0 if item.newest else first)
            )
        newest_ids = {call for row, call in calls.items() if table.live.position[row] >= first}
        tools = {calls[row]: tool_of(table, row) for row in calls if table.kind[row] != UNKNOWN}
        rows = np.zeros(len(table.tokens), bool)
        for row, call in calls.items():
            rows[row] = call not in newest_ids and (not item.tools or tools.get(call) in item.tools)
        return rows


def _name(tools: tuple[str, ...]) -> str:
    return f"calls of {', '.join(tools)} with their results" if tools else "calls with their results"


def _find_calls(table: Table) -> dict[int, str]:
    """The id of the call that each call, result and approval is about, by row."""
    calls: dict[int, str] = {}
    requests: dict[Any, str] = {}
    for row in np.flatnonzero(np.isin(table.kind, (TOOL_CALL, TOOL_OUTPUT, UNKNOWN))).tolist():
        block = table.block(row)
        call = _call_of(block, requests)
        if call:
            calls[row] = call
    return calls


def _call_of(block: Block, requests: dict[Any, str]) -> str:
    if block.kind == "tool_call":
        return block.id
    if block.kind == "tool_output":
        return block.call_id
    raw = getattr(block, "raw", None)
    if not isinstance(raw, dict):
        return ""
    approval = str(raw.get("approvalId"))
    if raw.get("type") == REQUEST and isinstance(raw.get("toolCallId"), str):
        requests[approval] = raw["toolCallId"]
    return requests.get(approval, "") if raw.get("type") in (REQUEST, RESPONSE) else ""


def _find_led_nowhere(table: Table, rows: Bools) -> Bools:
    """bool[m]: reasoning of the assistant that is followed, up to the next, by nothing but parts that go."""
    out = np.zeros(len(rows), bool)
    ours = (table.live.role == ASSISTANT)[table.live.position] if len(rows) else out
    for group, after in _groups(table, np.flatnonzero((table.kind == REASONING) & ours).astype(np.int32)):
        if len(after) and rows[after].all():
            out[group] = True
    return out


def _groups(table: Table, thoughts: Ints) -> Iterator[tuple[range, range]]:
    """Runs of reasoning within a message, and the rows after each up to the next run."""
    live, done = table.live, -1
    for row in thoughts.tolist():
        if row < done:
            continue
        message = int(live.start[int(live.position[row]) + 1])
        end = next((i for i in range(row, message) if table.kind[i] != REASONING), message)
        done = next((i for i in range(end, message) if table.kind[i] == REASONING), message)
        yield range(row, end), range(end, done)
