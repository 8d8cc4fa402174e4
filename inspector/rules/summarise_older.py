"""Summarise older: what stands before the cut is written up once, a split turn's beginning apart."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ..policy import Rule
from ..table import SUMMARISED, Claim, Decision, Summary, Table


class SummariseOlder(Rule):
    """Everything before the cut becomes one summary, written by the session's own model.

    A summary may be `share` of the trigger's reserve long, a split turn's beginning `prefix_share` of it,
    neither more than `cap` tokens (FLUE §10.3: 16,384 gives 13,107 and 8,192).
    """

    title: ClassVar[str] = "Summarise older"
    phrase: ClassVar[str] = "everything before the cut becomes one summary"
    source: ClassVar[str] = "Flue dbaa9eff, prepare and compact (FLUE §7, §10); stud-cli wiki (S0-18)"

    kind: Literal["summarise-older"] = "summarise-older"
    split_turns: bool = Field(True, description="Summarise the beginning of a turn that the cut splits apart")
    share: float = Field(
        0.8, ge=0, le=100, description="Length of the summary, as a share of the trigger's reserve"
    )
    prefix_share: float = Field(0.5, ge=0, le=100, description="The same for the beginning of a split turn")
    cap: int = Field(16_000, ge=0, description="Tokens that no summary may exceed")


def decide(rule: SummariseOlder, table: Table) -> Decision:
    """Claim every older block."""
    reserve = table.trigger.reserve_tokens
    return Decision(
        older=Claim(np.ones(len(table.tokens), bool), SUMMARISED),
        summary=Summary(
            max_tokens=min(math.floor(rule.share * reserve), rule.cap),
            prefix_max_tokens=min(math.floor(rule.prefix_share * reserve), rule.cap),
            split_turns=rule.split_turns,
        ),
    )
