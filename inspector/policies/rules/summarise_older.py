"""Summarise older: what stands before the cut is written up once, a split turn's beginning apart."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ..base_rule import Rule
from ..part import LARGE
from ..table import SUMMARISED, Claim, Decision, Effort, Summary, Table


class SummariseOlder(Rule):
    """Everything before the cut becomes one summary, written by the session's own model.

    A summary may be `share` of the trigger's reserve long, a split turn's beginning `prefix_share` of it,
    neither more than `cap` tokens (FLUE §10.3: 16,384 gives 13,107 and 8,192). The knobs after that are what
    pi's versions do otherwise (FLUE §13.2-3). With `per` turn a model is asked once for each older turn, the
    split one's beginning like any other, and each answer is a message of its own, also in what is recorded.
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
    cap: int = Field(16_000, ge=0, description="Tokens that no summary may exceed")
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

    @property
    def template(self) -> str:
        if self.per == "turn":
            return "each older turn becomes a message of its own, a summary of it"
        return self.phrase

    def decide(self, table: Table) -> Decision:
        """Claim every older block."""
        reserve = table.trigger.reserve_tokens
        shares = self.share, self.prefix_share
        limit, prefix = (min(math.floor(s * reserve), self.cap) if self.limited else LARGE for s in shares)
        return Decision(
            older=Claim(np.ones(len(table.tokens), bool), SUMMARISED),
            summary=Summary(
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
