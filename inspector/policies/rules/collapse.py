"""Collapse: older turns are shown folded, each can be unfolded, and nothing stored is changed."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from ...session.blocks import REASONING, Block, BlockRef, Text, ToolOutput
from ...session.tree import Bools
from ..base_rule import Rule
from ..part import LARGE, Count
from ..shorten import replace_text
from ..table import DROPPED, TRUNCATED, Claim, Decision, Rewrite, Table


class Collapse(Rule):
    """Fold every turn before the last `turns`: text and outputs to their first `shown` characters, reasoning
    to nothing. Calls stay.

    This is a view of the request. `Plan.segments` lists the folded turns; without it, or if a turn is in
    `expanded`, the originals are sent again.
    """

    title: ClassVar[str] = "Collapse older turns"
    phrase: ClassVar[str] = "turns before the last {turns} are folded to {shown} characters a block"
    source: ClassVar[str] = (
        "seed 002, Context Collapse (S2-7, S2-19, S2-20); without a size for the kept part, and without the "
        "size above which it folds: the target of 80 % is a choice made here"
    )
    projection: ClassVar[bool] = True

    kind: Literal["collapse"] = "collapse"
    turns: int = Field(4, ge=1, le=LARGE, description="Number of whole turns that stay unfolded")
    shown: Count = Field(200, description="Characters shown of a folded block")
    expanded: tuple[int, ...] = Field((), description="Turns, counted from 1, that are unfolded")

    def decide(self, table: Table) -> Decision:
        """Claim the blocks of folded turns, over what earlier stages made of them."""
        rows = find_folded(self, table)
        # Nothing of reasoning is shown, so it is dropped: it is never shortened (S0-20).
        thoughts = rows & (table.kind == REASONING)
        rewrite = Rewrite(lambda block, row: fold(block, self.shown), ("collapse", self.shown))
        claims = Claim(thoughts, DROPPED), Claim(rows & ~thoughts, TRUNCATED, rewrite=rewrite, again=True)
        return Decision(older=claims, kept=claims)


_WORTH = 48
"""Characters that folding has to spare: the note it leaves is shorter than that."""


class CollapsedSegment(NamedTuple):
    """A folded turn: its number from 1, the blocks that are folded, and their tokens unfolded."""

    turn: int
    refs: tuple[BlockRef, ...]
    tokens: int


def find_folded(rule: Collapse, table: Table) -> Bools:
    """bool[m]: blocks of the turns that are folded; an earlier summary is not a turn."""
    live = table.live
    opens = np.flatnonzero(live.opens)
    if rule.turns > len(opens):
        return np.zeros(len(table.tokens), bool)
    border = int(opens[-rule.turns])
    older = (live.position >= table.start) & (live.position < border)
    return older & ~np.isin(live.turn[live.position] + 1, rule.expanded)


def fold(block: Block, shown: int) -> Block:
    """The folded form of a block: shorter, or unchanged if nothing is gained."""
    if isinstance(block, Text | ToolOutput):
        text = block.text
        short = f"{text[:shown].rstrip()} [… folded: {len(text):,} characters]"
        # What is folded already is never worth folding again.
        if len(text) > shown + _WORTH:
            return Text(text=short) if isinstance(block, Text) else replace_text(block, short)
    return block


def find_segments(table: Table, folded: Bools) -> tuple[CollapsedSegment, ...]:
    """The ledger of what is folded, turn by turn, from the live rows that are."""
    live = table.live
    rows = np.flatnonzero(folded)
    turn = live.turn[live.position[rows]]
    out = []
    numbers, first = np.unique(turn, return_index=True)
    for number, turn_rows in zip(numbers.tolist(), np.split(rows, first[1:]), strict=False):
        refs = tuple(table.session.live_refs(turn_rows))
        out.append(CollapsedSegment(number + 1, refs, int(table.tokens[turn_rows].sum())))
    return tuple(out)
