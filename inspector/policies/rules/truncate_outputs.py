"""Truncate outputs: a tool output that is too large keeps its beginning, or its beginning and its end."""

from __future__ import annotations

import re
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import TOOL_OUTPUT, Block, Text, ToolOutput
from ...session.session import Session
from ...session.tree import COMPACTION, Bools, Ints
from ..base_rule import Rule
from ..part import Count
from ..shorten import from_tools, output_lengths, replace_text
from ..table import TRUNCATED, Claim, Decision, Rewrite, Table

Form = Literal["head", "head+tail"]
DECISIONS = "truncated"
"""The key of a boundary for the calls whose outputs a compaction truncated, each with the limit."""


class TruncateOutputs(Rule):
    """Shorten every tool output that is longer than `limit`.

    The limit of a call is decided once and does not change later (S2-16). A compaction records it in its
    boundary for later compactions; `decided` adds more. If a format cannot record it, truncated outputs are
    recognised by their mark.
    """

    title: ClassVar[str] = "Truncate outputs"
    phrase: ClassVar[str] = "tool outputs of more than {limit} characters keep their {form}"
    source: ClassVar[str] = (
        "seed 002, Micro (S2-4, S2-16); 30,000 characters is what Claude Code shows of a command's output "
        "(CLAUDE §2.5)"
    )

    kind: Literal["truncate-outputs"] = "truncate-outputs"
    limit: Count = Field(30_000, description="Maximum characters of text in one output")
    form: Form = Field("head", description="The part of a longer output to keep")
    preview: Count | None = Field(
        None, description="Characters to keep of a longer output, without its pictures; the limit by default"
    )
    tail: Count = Field(0, description="With a preview, characters to keep at the end")
    turns: Count = Field(0, description="Number of newest user messages; outputs after them stay")
    trailing: bool = Field(False, description="Only outputs that no other message follows")
    oldest: bool = Field(False, description="Only outputs of the oldest message that holds any")
    tools: tuple[str, ...] = Field((), description="Tools whose outputs are shortened; none named are all")
    decided: dict[str, int] = Field(
        {}, description="Calls whose output was truncated before, and the limit it was truncated to"
    )

    @property
    def template(self) -> str:
        shown = "the first {preview} and the last {tail}" if self.tail else "the first {preview}"
        keeps = f"tool outputs of more than {{limit}} characters keep {shown}"
        clause = self.phrase if self.preview is None else keeps
        where = " at the end of the context" if self.trailing else ""
        where += " of the oldest message with any" if self.oldest else ""
        where += " before the newest {turns} user messages" if self.turns else ""
        return clause.replace(" characters keep", f" characters{where} keep", 1)

    def decisions(self, table: Table) -> dict[str, int]:
        """The limits that were in force for the outputs of calls when they were truncated."""
        return {**read_decisions(table.session), **self.decided}

    def decide(self, table: Table) -> Decision:
        """Claim the outputs over their limit, wherever the cut is."""
        rows, decided = np.zeros(len(table.tokens), bool), self.decisions(table)
        rows[_find_rows(self, table, decided)] = True
        rows &= table.live.position < table.recent_turns(self.turns)
        if self.trailing:
            others = np.bincount(table.live.position[table.kind != TOOL_OUTPUT], minlength=len(table.live))
            rows &= table.live.position > max(np.flatnonzero(others), default=-1)
        if self.oldest:
            outputs = np.flatnonzero(table.kind == TOOL_OUTPUT).astype(np.int32)
            # All results of one step are one message.
            rows[outputs[~_of_first_step(table, outputs)]] = False
        if self.tools:
            rows = from_tools(table, rows, self.tools)
        key = ("truncate", self.limit, self.form, self.preview, self.tail, tuple(sorted(decided.items())))

        def make(block: Block, row: int) -> Block:
            if not isinstance(block, ToolOutput):
                return block
            text = block.text
            if self.preview is not None:
                end = text[len(text) - self.tail :] if self.tail else ""
                short = text[: self.preview] + _mark(len(text) - self.preview - self.tail) + end
                shorter = len(short) < _count_payload(block) and len(text) >= self.preview + self.tail
                return block.model_copy(update={"parts": (Text(text=short),)}) if shorter else block
            short = shorten(text, decided.get(block.call_id, self.limit), self.form)
            return block if short == text else replace_text(block, short)

        claim = Claim(rows, TRUNCATED, rewrite=Rewrite(make, key))
        return Decision(older=claim, kept=claim)

    def is_needed(self, characters: int, turns: int) -> bool:
        return characters > min([self.limit, *self.decided.values()])


def _of_first_step(table: Table, outputs: Ints) -> Bools:
    """Whether each of these outputs answers a call of the same message as the first."""
    calls = table.calls[outputs]
    positions = np.where(calls >= 0, table.live.position[calls], -1 - table.live.position[outputs])
    return np.asarray(positions == positions[:1])


def shorten(text: str, limit: int, form: Form = "head") -> str:
    """Shorten a text to `limit` characters, with a note about the omission; unchanged if that is not shorter.

    Cuts only between code points.

    >>> shorten("a" * 60, 40, "head+tail")
    'aaaaa\\n[… 50 characters left out …]\\naaaaa'
    """
    if len(text) <= max(limit, _LONGEST_MARK):
        return text
    room = max(limit - len(_mark(len(text))), 0)
    head = room if form == "head" else room - room // 2
    tail = room - head
    return text[:head] + _mark(len(text) - head - tail) + (text[-tail:] if tail else "")


def _count_payload(output: Block) -> int:
    """Characters of an output's text and of the data of its pictures."""
    parts = output.parts if isinstance(output, ToolOutput) else ()
    return len(output.text) + sum(len(p.data or p.url or "") for p in parts if p.kind == "image")


_LONGEST_MARK = 48
"""Characters that a mark is never longer than: what was cut to a mark alone is not cut again."""


def _mark(omitted: int) -> str:
    return f"\n[… {omitted:,} characters left out …]\n"


_MARK = re.compile(r"\n\[… [1-9][\d,]* characters left out …\]\n")


def is_shortened(text: str) -> bool:
    """Return whether `shorten` made a text: its mark is at the end, or in the middle.

    >>> [is_shortened(shorten("a" * 90, 60, form)) for form in ("head", "head+tail")]
    [True, True]
    """
    tails = ((match.start(), len(text) - match.end()) for match in _MARK.finditer(text))
    return any(tail == 0 or head - tail in (0, 1) for head, tail in tails)


def read_decisions(session: Session) -> dict[str, int]:
    """The limits that compactions on the path to the leaf have truncated the outputs of calls to."""
    limits: dict[str, int] = {}
    written = {*np.flatnonzero(session.tree.sort == COMPACTION).tolist()}
    for i in session.path if written else ():
        if i not in written:
            continue
        boundary = session.entries[i].boundary
        recorded = boundary.extra.get(DECISIONS) if boundary is not None else None
        if isinstance(recorded, dict):
            limits |= {call: limit for call, limit in recorded.items() if type(limit) is int}
    return limits


def remember_decisions(rule: TruncateOutputs, table: Table, rows: Bools) -> dict[str, int]:
    """The limits that outputs at these live rows were truncated to, by their calls: what is written down for
    the iterations to come (`read_decisions`)."""
    decided, limits = rule.decisions(table), {}
    for row in np.flatnonzero(rows).tolist():
        block = table.block(row)
        if isinstance(block, ToolOutput):
            limits[block.call_id] = decided.get(block.call_id, rule.limit)
    return limits


def _find_rows(rule: TruncateOutputs, table: Table, decided: dict[str, int]) -> Ints:
    """int32: rows of outputs over their limit."""
    lengths = output_lengths(table)
    if rule.preview is not None and (table.kind == TOOL_OUTPUT).any():
        lengths = lengths.copy()
        for row in np.flatnonzero(table.kind == TOOL_OUTPUT).tolist():
            lengths[row] = _count_payload(table.block(row))
    limits = np.full(len(lengths), rule.limit, np.int64)
    if decided:
        for row in np.flatnonzero(table.kind == TOOL_OUTPUT).tolist():
            block = table.block(row)
            if isinstance(block, ToolOutput):
                limits[row] = decided.get(block.call_id, rule.limit)
    rows = np.flatnonzero(lengths > limits).astype(np.int32)
    if rule.preview is not None:
        return rows
    again = [
        row for row in rows.tolist() if limits[row] == rule.limit and is_shortened(table.block(row).text)
    ]
    return rows[~np.isin(rows, again)]
