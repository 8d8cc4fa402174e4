"""Clear tool outputs: only the newest keep their words, the older leave a placeholder.

Two kinds share one decision: the provider clears at the wire and the client keeps its history; or the
client itself empties outputs, and they stay so.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import TOOL_OUTPUT, Block, Text, ToolCall, ToolOutput
from ...session.tree import ASSISTANT, Bools
from ...text import join_words, plural
from ...tokens.memo import Memo
from ...tokens.models import is_of_another, refuse_context_editing
from ..base_rule import Rule
from ..part import Count, Share
from ..shorten import from_tools, output_lengths
from ..table import CLEARED, TRUNCATED, Claim, Decision, Rewrite, Table

_STUB_TOKENS: Memo[int] = Memo()

STUB = "[tool output left out]"
"""The text in place of a cleared output; the provider's wording is not documented (CLAUDE §4)."""


CONDENSED = "[tool output condensed by a model"


class Clearing(Rule):
    """The common settings of both kinds."""

    exclude_tools: tuple[str, ...] = Field((), description="Tools whose outputs are never cleared")
    clear_inputs: bool | tuple[str, ...] = Field(
        False, description="Whether the inputs of cleared calls are emptied too, or of which tools"
    )
    clear_at_least: Count | None = Field(
        None, description="Minimum tokens to clear; otherwise nothing is cleared"
    )
    trigger_tokens: Count | None = Field(
        None, description="Minimum tokens of the context; none always clears"
    )
    trigger_uses: Count | None = Field(None, description="Minimum number of tool uses; none always clears")

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
    keep: Count = Field(3, description="Number of newest tool uses that keep their outputs")

    def decide(self, table: Table) -> Decision:
        """Claim them on both sides of the cut."""
        if why := refuse_context_editing(table.session):
            return Decision(why=why, notes=(why,))
        return _clear(self, table)

    def rests(self, tokens: int, model: str | None) -> bool:
        return is_of_another(model) or super().rests(tokens, model)


class DropOldOutputs(Clearing):
    """Replace tool outputs before the cut by a stub; with `keep`, not those of the newest tool uses.

    Everything else stays. Nothing is summarised, so the result is deterministic (S0-75).
    """

    title: ClassVar[str] = "Drop old tool outputs"
    phrase: ClassVar[str] = "tool outputs before the cut are replaced by a stub"
    source: ClassVar[str] = "stud-cli wiki, Compaction and Memory 1.1.0, deterministic mode (S0-75)"

    kind: Literal["drop-old-outputs"] = "drop-old-outputs"
    keep: Count | None = Field(
        None, description="Number of newest tool uses that keep their outputs, before or after the cut"
    )
    keep_tokens: Count | None = Field(None, description="Tokens of newest outputs to keep, by characters / 4")
    turns: Count = Field(0, description="Number of newest user messages; outputs after them stay")
    keep_steps: Count | None = Field(
        None,
        description="Messages with results, the newest, that stay; then only results without an error go",
    )
    errors: bool = Field(False, description="With newest messages that stay, results with an error go too")
    share: Share | None = Field(
        None, description="Clear the oldest first, down to this share of the window, by characters / 4"
    )
    longer: Count = Field(0, description="Only outputs of more tokens, by characters / 4, go")
    condense: bool = Field(False, description="A model writes each output up; a mark stands for that")
    enough: Count | None = Field(
        None, description="Tokens after which, oldest first, no more is cleared; none clears all"
    )
    only_longer: bool = Field(True, description="Keep outputs that are not longer than the stub")
    nearest_call: bool = Field(
        False, description="Only outputs of calls in the assistant's message right before them are cleared"
    )

    @property
    def template(self) -> str:
        exceptions = []
        by = "a model's summary of each" if self.condense else "a stub"
        if self.keep:
            exceptions.append("those of the {keep} newest tool uses")
        if self.keep_steps is not None:
            newest = "the newest step" if self.keep_steps == 1 else "the {keep_steps} newest steps"
            exceptions.append(f"{'' if self.errors else 'errors and '}those of {newest}")
        if self.longer:
            exceptions.append("those of at most {longer} tokens")
        if self.keep_tokens is not None:
            exceptions.append("the newest ones within {keep_tokens} tokens")
        if self.turns:
            exceptions.append("those since the newest {turns} user messages")
        until = "" if self.share is None else ", oldest first, until at most {share} of the window is filled"
        if len(exceptions) == 1 and self.keep:
            what = f"outputs of all but the {{keep}} newest tool uses are replaced by {by}"
        else:
            what = f"tool outputs{'' if self.everywhere else ' before the cut'} are replaced by {by}"
            what += f", except {join_words(exceptions)}" if exceptions else ""
        return what + until + self.once

    @property
    def everywhere(self) -> bool:
        """Whether it says itself which outputs are old, wherever the cut is."""
        amounts = (self.keep, self.keep_tokens, self.keep_steps)
        return self.turns > 0 or any(amount is not None for amount in amounts)

    def decide(self, table: Table) -> Decision:
        """Claim them before the cut, or with `keep` on both sides."""
        return _clear(self, table)


def _clear(rule: ClearToolOutputs | DropOldOutputs, table: Table) -> Decision:
    """Claim the outputs that may go, and the calls whose inputs go with them."""
    if why := _not_yet(rule, table):
        return Decision(why=why)
    outputs = _find_outputs(rule, table)
    if isinstance(rule, DropOldOutputs):
        outputs = _limit(rule, table, outputs)
    rows = outputs | _find_inputs(rule, table, outputs)
    least = rule.clear_at_least
    if least is not None:
        emptied = [empty(table.block(row), row) for row in np.flatnonzero(rows).tolist()]
        gain = int(table.tokens[rows].sum()) - int(table.ledger.count_blocks(emptied).sum())
        if gain < least:
            some = plural(gain, "token")
            return Decision(why=f"{some} could be cleared, fewer than the {least:,} that must go.")
    claim = Claim(rows, CLEARED, rewrite=Rewrite(empty, key=("clear-tool-outputs",)))
    if getattr(rule, "condense", False):
        claim = Claim(rows, TRUNCATED, rewrite=Rewrite(condense, key=("condense-outputs",)))
    everywhere = not isinstance(rule, DropOldOutputs) or rule.everywhere
    return Decision(older=claim, kept=claim if everywhere else None)


def empty(block: Block, row: int) -> Block:
    """An output without its words, a call without its input; any other block as it is."""
    if isinstance(block, ToolOutput):
        return block.model_copy(update={"parts": (Text(text=STUB),)})
    if isinstance(block, ToolCall) and block.input:
        return block.model_copy(update={"input": {}})
    return block


def condense(block: Block, row: int) -> Block:
    """An output as a model wrote it up: a mark with its length, as what it wrote is not known."""
    if not isinstance(block, ToolOutput) or block.text.startswith(CONDENSED):
        return block
    text = f"{CONDENSED}: {len(block.text):,} characters]"
    return block.model_copy(update={"parts": (Text(text=text),)})


def _not_yet(rule: Clearing, table: Table) -> str:
    """Why the rule's own trigger is not reached; empty if it is reached or missing."""
    if isinstance(rule, DropOldOutputs) and rule.share is not None and not table.trigger.base(table.window):
        return "The model's window is not known, so no share of it is."
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
    if rule.keep_steps is not None:
        rows = rows & _find_old(rule.keep_steps, table, errors=rule.errors)
    if rule.longer:
        rows = rows & (output_lengths(table) > 4 * rule.longer)
    if rule.turns:
        rows = rows & (table.live.position < table.recent_turns(rule.turns))
    if rule.keep_tokens is not None:
        sizes = np.where(rows, -(-output_lengths(table) // 4), 0).astype(np.int64)
        rows = rows & (np.cumsum(sizes[::-1])[::-1] > rule.keep_tokens)
    if rule.share is not None:
        rows = _limit_by_window(rule.share, table, rows)
    if rule.enough is None:
        return rows
    candidates = np.flatnonzero(rows)
    stubs = table.ledger.count_blocks([empty(table.block(row), row) for row in candidates.tolist()])
    gone = np.cumsum(table.tokens[candidates] - stubs)
    out = np.zeros(len(rows), bool)
    out[candidates[: int(np.searchsorted(gone, rule.enough, "left")) + 1]] = True
    return out


def _limit_by_window(share: float, table: Table, rows: Bools) -> Bools:
    """Select the oldest of `rows` to clear until at most `share` of the window is filled."""
    lengths = output_lengths(table)
    size = float(table.moment.fractions("haystack").sum())
    out = np.zeros(len(rows), bool)
    for row in np.flatnonzero(rows).tolist():
        if size <= share * table.trigger.base(table.window):
            break
        out[row], size = True, size - (int(lengths[row]) - len(STUB)) / 4
    return out


def _find_old(keep: int, table: Table, *, errors: bool) -> Bools:
    """bool[m]: outputs of all but the newest messages with results; the results of a step are one message."""
    live, out = table.live, np.zeros(len(table.kind), bool)
    outputs = np.flatnonzero(table.kind == TOOL_OUTPUT)
    calls = table.calls[outputs]
    steps = np.where(calls >= 0, live.position[calls], live.position[outputs])
    older = np.unique(steps)[: len(np.unique(steps)) - keep]
    for row in outputs[np.isin(steps, older)].tolist():
        block = table.block(row)
        out[row] = isinstance(block, ToolOutput) and (errors or not block.is_error)
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
