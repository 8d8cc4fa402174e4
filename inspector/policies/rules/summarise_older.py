"""Summarise older: summarise everything before the cut, a split turn's beginning separately."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import REASONING
from ...session.tree import Bools
from ..base_rule import Rule
from ..groups import find_groups, measure_entries
from ..part import LARGE, Count
from ..table import DROPPED, SUMMARISED, Claim, Decision, Effort, Summary, Table


class SummariseOlder(Rule):
    """Replace everything before the cut by one summary from the session's own model.

    The summary may have `share` of the trigger's reserved tokens, the beginning of a split turn
    `prefix_share`, each at most `cap` tokens (FLUE §10.3: 16,384 gives 13,107 and 8,192). A trigger by a
    share of the window reserves at most the rest of the window. The other settings
    are differences of pi's versions (FLUE §13.2-3). With `per` "turn" there is one model call and one
    message for each older turn, including the beginning of a split turn, also in the recorded compaction.
    """

    title: ClassVar[str] = "Summarise older"
    phrase: ClassVar[str] = "everything before the cut becomes one summary"
    source: ClassVar[str] = "Flue dbaa9eff, prepare and compact (FLUE §7, §10); stud-cli wiki (S0-18)"
    takes: ClassVar[bool] = True

    kind: Literal["summarise-older"] = "summarise-older"
    per: Literal["session", "turn"] = Field(
        "session", description="One summary for everything older, or one for each older turn"
    )
    split_turns: bool = Field(True, description="Summarise the beginning of a turn that the cut splits apart")
    share: float = Field(
        0.8, ge=0, le=100, description="Length of the summary, as a share of the trigger's reserve"
    )
    prefix_share: float = Field(0.5, ge=0, le=100, description="The same for the beginning of a split turn")
    cap: int = Field(16_000, ge=0, description="Maximum tokens of every summary")
    limited: bool = Field(
        True, description="Ask for that length; otherwise only the model's own limit counts"
    )
    effort: Effort = Field(
        "high",
        description="Reasoning asked of the summariser: high, high for the history only, as in the session",
    )
    thinking: bool = Field(True, description="Show the model's reasoning to the summariser")
    whole_characters: bool = Field(
        False, description="Shorten a tool's output between characters, never inside one"
    )
    keep_previous: bool = Field(
        False,
        description="When only the beginning of a turn is written up, the summary before stays in front of "
        "it; otherwise it is lost",
    )
    strict: bool = Field(
        False, description="A reply that was cut off or calls a tool counts as a failure, not as a summary"
    )

    behind: bool = Field(False, description="The summary follows what stays before the cut, if anything does")
    shown: Count | None = Field(
        None,
        description="Tokens that the summariser is shown, the oldest first; what does not fit stays as it is",
    )
    supersede: bool = Field(
        True, description="An earlier summary is summarised too; otherwise it stays before the new one"
    )

    @property
    def template(self) -> str:
        if self.per == "turn":
            return "each older turn becomes a message of its own, a summary of it"
        return self.phrase

    def decide(self, table: Table) -> Decision:
        """Claim every older block. Reasoning that the summariser is not shown is dropped."""
        reserve = table.trigger.reserved(table.window)
        shares = self.share, self.prefix_share
        limit, prefix = (min(math.floor(s * reserve), self.cap) if self.limited else LARGE for s in shares)
        rows, at = np.ones(len(table.tokens), bool), len(table.live) if self.behind else 0
        if not self.supersede and table.start:
            rows, at = table.live.position >= table.start, table.start
        if self.shown is not None:
            rows, at = _find_fitting(table, self.shown)
        shown = rows if self.thinking else rows & (table.kind != REASONING)
        return Decision(
            older=(Claim(shown, SUMMARISED), Claim(rows, DROPPED)),
            summary=Summary(
                at=at,
                max_tokens=limit,
                prefix_max_tokens=prefix,
                split_turns=self.split_turns,
                per_turn=self.per == "turn",
                limited=self.limited,
                effort=self.effort,
                thinking=self.thinking,
                whole_characters=self.whole_characters,
                keep_previous=self.keep_previous,
                strict=self.strict,
            ),
        )


def _find_fitting(table: Table, limit: int) -> tuple[Bools, int]:
    """bool[m]: the oldest messages that fit together in the limit; and the position of the first of them.

    Calls stay with their results. What is too large for the limit at the beginning is passed over.
    """
    groups = find_groups(table)
    sizes = measure_entries(table, "agent-framework")
    chosen, room, first = np.zeros(len(table.live), bool), float(limit), 0
    for group in dict.fromkeys(groups[table.since :].tolist()):
        members = groups == group
        size = float(sizes[members].sum())
        if size > room:
            if chosen.any():
                break
            continue
        if not chosen.any():
            first = int(members.argmax())
        chosen |= members
        room -= size
    return chosen[table.live.position], first
