"""Summarise all: the whole conversation becomes one summary, and the next request begins with it."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.tree import ASSISTANT
from ...text import plural
from ..base_rule import Rule
from ..part import Count
from ..table import SUMMARISED, Claim, Decision, Summary, Table


class SummariseAll(Rule):
    """Cut at the last valid cut point, and summarise everything older in a separate model call.

    If `by` is "provider", the request asks for the provider's own compaction. `above` is a threshold of this
    rule; /compact by the user and a refused request ignore it.
    """

    title: ClassVar[str] = "Summarise all"
    phrase: ClassVar[str] = "the whole conversation becomes one summary"
    source: ClassVar[str] = (
        "seed 002, Auto and Reactive (S2-5, S2-9); Anthropic, compaction, compact_20260112 (CLAUDE §5.1)"
    )
    cuts: ClassVar[bool] = True
    takes: ClassVar[bool] = True

    kind: Literal["summarise-all"] = "summarise-all"
    max_tokens: Count = Field(16_000, description="Maximum tokens of the summary")
    above: Count | None = Field(None, description="Minimum tokens of the context; none always summarises")
    replies: Count = Field(
        0, description="Messages of the assistant, the newest, that stay with all that follows them"
    )
    refused_replies: Count | None = Field(None, description="The same after a refusal; none set: as many")
    behind: bool = Field(False, description="The summary follows what stays before the cut, if anything does")
    by: Literal["harness", "provider"] = Field("harness", description="Who writes the summary")

    @property
    def by_provider(self) -> bool:
        return self.by == "provider"

    @property
    def template(self) -> str:
        description = "the provider summarises the whole conversation" if self.by_provider else self.phrase
        if self.replies:
            description += ", except the newest {replies} messages of the assistant and what follows"
        return (
            description if self.above is None else f"{description} once it holds more than {{above}} tokens"
        )

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
        count = self.replies if self.refused_replies is None or table.reason != "overflow" else None
        if replies := self.refused_replies if count is None else count:
            speaking = np.flatnonzero(table.live.role == ASSISTANT)
            before = legal[legal <= speaking[-replies]] if len(speaking) > replies else legal[:0]
            # A tail of only the first exchange is not kept.
            cut = int(before[-1]) if len(before) else cut
        return Decision(
            cut=cut,
            older=Claim(np.ones(len(table.tokens), bool), SUMMARISED),
            summary=Summary(self.max_tokens, at=cut if self.behind else 0),
        )
