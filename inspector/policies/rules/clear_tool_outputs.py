"""Clear tool outputs: only the newest keep their words, the older leave a placeholder.

Two kinds share one decision: the provider clears at the wire and the client keeps its history; or the
client itself empties outputs, and they stay so.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import Block, Text, ToolCall, ToolOutput
from ...session.tree import ASSISTANT, Bools
from ...text import plural
from ...tokens.memo import Memo
from ..base_rule import Rule
from ..part import LARGE
from ..shorten import TOOL_OUTPUT, from_tools, output_lengths
from ..table import CLEARED, Claim, Decision, Rewrite, Table

_STUB_TOKENS: Memo[int] = Memo()

STUB = "[tool output left out]"
"""What stands for an output that is cleared here; the provider's wording is not documented (CLAUDE §4)."""


class Clearing(Rule):
    """What both kinds can be told."""

    exclude_tools: tuple[str, ...] = Field((), description="Tools whose outputs are never cleared")
    clear_inputs: bool | tuple[str, ...] = Field(
        False, description="Whether the inputs of cleared calls are emptied too, or of which tools"
    )
    clear_at_least: int | None = Field(
        None, ge=0, le=LARGE, description="Tokens that must go; when fewer can, nothing is cleared"
    )
    trigger_tokens: int | None = Field(
        None, ge=0, le=LARGE, description="Clears only a context of more tokens; none clears always"
    )
    trigger_uses: int | None = Field(
        None, ge=0, le=LARGE, description="Clears only after more tool uses; none clears always"
    )

    def rests(self, tokens: int, model: str | None) -> bool:
        """As long as its own trigger of tokens is not reached."""
        return self.trigger_tokens is not None and tokens <= self.trigger_tokens

    @property
    def template(self) -> str:
        return self.phrase + self.once

    @property
    def once(self) -> str:
        """From when on it clears, as the end of a sentence; empty when it always does."""
        waits = []
        if self.trigger_tokens is not None:
            waits.append("the context holds more than {trigger_tokens} tokens")
        if self.trigger_uses is not None:
            waits.append("there were more than {trigger_uses} tool uses")
        return f" once {' and '.join(waits)}" if waits else ""


class ClearToolOutputs(Clearing):
    """Outputs of all but the `keep` newest tool uses are emptied in the request, by the provider.

    Oldest first, and all that may be cleared at once. Only what is sent changes: history keeps every word.
    """

    title: ClassVar[str] = "Clear tool outputs in the request"
    phrase: ClassVar[str] = "the provider clears outputs of all but the {keep} newest tool uses"
    source: ClassVar[str] = "Anthropic, context editing, clear_tool_uses_20250919 (CLAUDE §4)"
    wire: ClassVar[bool] = True

    kind: Literal["clear-tool-outputs"] = "clear-tool-outputs"
    keep: int = Field(3, ge=0, le=LARGE, description="Tool uses, the newest, whose outputs stay")

    def decide(self, table: Table) -> Decision:
        """Claim them on both sides of the cut."""
        return _clear(self, table)


class DropOldOutputs(Clearing):
    """Tool outputs before the cut leave a stub, or with `keep` those of all but so many newest tool uses.

    Calls stay, everything else does: nothing is summarised and nothing left to chance (S0-75).
    """

    title: ClassVar[str] = "Drop old tool outputs"
    phrase: ClassVar[str] = "tool outputs before the cut leave a stub"
    source: ClassVar[str] = "stud-cli wiki, Compaction and Memory 1.1.0, deterministic mode (S0-75)"

    kind: Literal["drop-old-outputs"] = "drop-old-outputs"
    keep: int | None = Field(
        None, ge=0, le=LARGE, description="Tool uses, the newest, whose outputs stay wherever the cut is"
    )
    keep_tokens: int | None = Field(
        None, ge=0, le=LARGE, description="Tokens of outputs, the newest, that stay, by characters / 4"
    )
    turns: int = Field(0, ge=0, le=LARGE, description="User messages, the newest, from which on outputs stay")
    enough: int | None = Field(
        None,
        ge=0,
        le=LARGE,
        description="Tokens after which, oldest first, no more is cleared; none clears all",
    )
    only_longer: bool = Field(True, description="An output that is no longer than the stub stays")
    nearest_call: bool = Field(
        False, description="Only outputs of calls in the assistant's message right before them are cleared"
    )

    @property
    def template(self) -> str:
        exceptions = []
        if self.keep is not None:
            exceptions.append("of the {keep} newest tool uses")
        if self.keep_tokens is not None:
            exceptions.append("the newest with {keep_tokens} tokens")
        if self.turns:
            exceptions.append("from the {turns} newest user messages on")
        if not exceptions:
            return self.phrase + self.once
        if len(exceptions) == 1 and self.keep is not None:
            return "outputs of all but the {keep} newest tool uses leave a stub" + self.once
        return f"tool outputs leave a stub, except those {' and those '.join(exceptions)}" + self.once

    @property
    def everywhere(self) -> bool:
        """Whether it says itself which outputs are old, wherever the cut is."""
        return self.keep is not None or self.keep_tokens is not None or self.turns > 0

    def decide(self, table: Table) -> Decision:
        """Claim them before the cut, or with `keep` on both sides."""
        return _clear(self, table)


def _clear(rule: ClearToolOutputs | DropOldOutputs, table: Table) -> Decision:
    """Claim the outputs that may go, and the calls whose inputs go with them."""
    why = _not_yet(rule, table)
    if why:
        return Decision(why=why)
    outputs = _find_outputs(rule, table)
    if isinstance(rule, DropOldOutputs):
        outputs = _limit(rule, table, outputs)
    rows = outputs | _find_inputs(rule, table, outputs)
    least = rule.clear_at_least
    if least is not None:
        gain = _gain(table, rows)
        if gain < least:
            some = plural(gain, "token")
            return Decision(why=f"{some} could be cleared, fewer than the {least:,} that must go.")
    claim = Claim(rows, CLEARED, rewrite=Rewrite(empty, key=("clear-tool-outputs",)))
    everywhere = not isinstance(rule, DropOldOutputs) or rule.everywhere
    return Decision(older=claim, kept=claim if everywhere else None)


def empty(block: Block, row: int) -> Block:
    """An output without its words, a call without its input; any other block as it is."""
    if isinstance(block, ToolOutput):
        return block.model_copy(update={"parts": (Text(text=STUB),)})
    if isinstance(block, ToolCall) and block.input:
        return block.model_copy(update={"input": {}})
    return block


def _not_yet(rule: Clearing, table: Table) -> str:
    """Why the rule's own trigger is not reached; empty when it is, or when there is none."""
    if rule.trigger_tokens is not None:
        beyond = table.moment.beyond
        size = beyond + int(table.tokens.sum())
        if size <= rule.trigger_tokens:
            some = plural(size, "token is", "tokens are")
            return f"{some} not more than the {rule.trigger_tokens:,} from which outputs clear."
    if rule.trigger_uses is not None and len(table.live.pairs) <= rule.trigger_uses:
        uses = len(table.live.pairs)
        some = plural(uses, "tool use is", "tool uses are")
        return f"{some} not more than the {rule.trigger_uses:,} from which outputs clear."
    return ""


def _find_outputs(rule: ClearToolOutputs | DropOldOutputs, table: Table) -> Bools:
    """bool[m]: outputs that may be cleared and cost more than the stub does."""
    rows: Bools = (table.kind == TOOL_OUTPUT) & ~table.live.cleared
    if rule.keep:
        rows[table.live.pairs[-rule.keep :, 1]] = False
    if getattr(rule, "only_longer", True):
        stub = ToolOutput(call_id="", parts=(Text(text=STUB),))
        rows &= table.tokens > _STUB_TOKENS.of(
            table.ledger, lambda: int(table.ledger.count_blocks([stub])[0])
        )
    return rows & ~from_tools(table, rows, rule.exclude_tools)


def _limit(rule: DropOldOutputs, table: Table, rows: Bools) -> Bools:
    """Those of `rows` that are cleared until enough is gone, with the call in the right place."""
    if rule.nearest_call:
        live = table.live
        speaks = np.where(live.role == ASSISTANT, np.arange(len(live)), -1)
        nearest = np.maximum.accumulate(speaks) if len(live) else speaks
        calls = table.calls
        rows = rows & (calls >= 0) & (live.position[calls] == nearest[live.position])
    if rule.turns:
        opens = np.flatnonzero(table.live.opens)
        first = int(opens[-rule.turns]) if len(opens) >= rule.turns else 0
        rows = rows & (table.live.position < first)
    if rule.keep_tokens is not None:
        sizes = np.where(rows, -(-output_lengths(table) // 4), 0).astype(np.int64)
        rows = rows & (np.cumsum(sizes[::-1])[::-1] > rule.keep_tokens)
    if rule.enough is None:
        return rows
    candidates = np.flatnonzero(rows)
    stubs = table.ledger.count_blocks([empty(table.block(row), row) for row in candidates.tolist()])
    gone = np.cumsum(table.tokens[candidates] - stubs)
    out = np.zeros(len(rows), bool)
    out[candidates[: int(np.searchsorted(gone, rule.enough, "left")) + 1]] = True
    return out


def _find_inputs(rule: Clearing, table: Table, outputs: Bools) -> Bools:
    """bool[m]: the calls of cleared outputs whose inputs are emptied."""
    rows = np.zeros(len(outputs), bool)
    if rule.clear_inputs is not False:
        calls = table.calls[outputs]
        rows[calls[calls >= 0]] = True
    if isinstance(rule.clear_inputs, tuple):
        rows = from_tools(table, rows, rule.clear_inputs)
    return rows


def _gain(table: Table, rows: Bools) -> int:
    """Tokens that go when these rows are emptied."""
    left = table.ledger.count_blocks([empty(table.block(row), row) for row in np.flatnonzero(rows).tolist()])
    return int(table.tokens[rows].sum()) - int(left.sum())
