"""Summarise all: the whole conversation becomes one summary, and the next request begins with it."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...text import plural
from ..base_rule import Rule
from ..part import LARGE
from ..table import SUMMARISED, Claim, Decision, Summary, Table


class SummariseAll(Rule):
    """The cut falls at the end, or where the last place before it is legal; everything older becomes one
    summary by a model call of its own.

    With `by` the provider it is the provider's own compaction, asked for in the request. `above` is a
    threshold of the rule's own; the user's /compact and a refused request pass it.
    """

    title: ClassVar[str] = "Summarise all"
    phrase: ClassVar[str] = "the whole conversation becomes one summary"
    source: ClassVar[str] = (
        "seed 002, Auto and Reactive (S2-5, S2-9); Anthropic, compaction, compact_20260112 (CLAUDE §5.1)"
    )
    cuts: ClassVar[bool] = True
    takes: ClassVar[bool] = True

    kind: Literal["summarise-all"] = "summarise-all"
    max_tokens: int = Field(16_000, ge=0, le=LARGE, description="Tokens that the summary may have")
    above: int | None = Field(
        None, ge=0, le=LARGE, description="Summarises only a context of more tokens; none always does"
    )
    behind: bool = Field(False, description="The summary follows what stays before the cut, if anything does")
    by: Literal["harness", "provider"] = Field("harness", description="Who writes the summary")

    @property
    def by_provider(self) -> bool:
        return self.by == "provider"

    @property
    def template(self) -> str:
        said = "the provider summarises the whole conversation" if self.by_provider else self.phrase
        return said if self.above is None else f"{said} once it holds more than {{above}} tokens"

    def decide(self, table: Table) -> Decision:
        """Propose the last place there is, and claim everything before it."""
        if self.above is not None and table.reason == "auto":
            beyond = table.moment.beyond
            size = beyond + int(table.tokens.sum())
            if size <= self.above:
                some = plural(size, "token is", "tokens are")
                return Decision(why=f"{some} not more than the {self.above:,} that are summarised.")
        legal = np.flatnonzero(table.cuts.legal)
        if not len(legal):
            return Decision(why="There is nothing to summarise.")
        cut = int(legal[-1])
        return Decision(
            cut=cut,
            older=Claim(np.ones(len(table.tokens), bool), SUMMARISED),
            summary=Summary(self.max_tokens, at=cut if self.behind else 0),
        )
