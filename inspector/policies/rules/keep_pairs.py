"""Keep pairs: no call without its output, no output without its call."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ..base_rule import Rule
from ..shorten import Form
from ..table import Decision, Table


class KeepPairs(Rule):
    """A call and its output share one fate, as a provider wants it.

    Every plan does so, with this rule or without. The compat form does not: what other rules drop takes
    nothing with it, a published defect for policies that reproduce one (TIERED §4).
    """

    title: ClassVar[str] = "Keep pairs"
    phrase: ClassVar[str] = "calls and their outputs stay together"
    source: ClassVar[str] = "Anthropic Messages API (CLAUDE §7); mini-claude-code 60a3bef (TIERED §4)"
    locked: ClassVar[bool] = True

    kind: Literal["keep-pairs"] = "keep-pairs"
    form: Form = Field("fixed", description="Together, or left as they fall exactly as published")

    @property
    def template(self) -> str:
        return self.phrase if self.form == "fixed" else "calls and their outputs are left as they fall"

    def rests(self, tokens: int, model: str | None) -> bool:
        """It claims nothing."""
        return True

    def decide(self, table: Table) -> Decision:
        """Claim nothing; only say whether pairs are kept."""
        return Decision(unpaired=self.form == "compat")
