"""Keep pairs: no call without its output, no output without its call."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ..base_rule import Rule
from ..shorten import Form
from ..table import Decision, Table


class KeepPairs(Rule):
    """Give a call and its output the same fate, as providers require.

    Every plan does this, also without the rule. The compat form does not: if other rules drop a call, its
    output stays. This reproduces a published defect (TIERED §4).
    """

    title: ClassVar[str] = "Keep pairs"
    phrase: ClassVar[str] = "calls and their outputs stay together"
    source: ClassVar[str] = "Anthropic Messages API (CLAUDE §7); mini-claude-code 60a3bef (TIERED §4)"
    locked: ClassVar[bool] = True

    kind: Literal["keep-pairs"] = "keep-pairs"
    form: Form = Field("fixed", description="Keep pairs together, or treat them exactly as published")

    @property
    def template(self) -> str:
        return self.phrase if self.form == "fixed" else "calls and their outputs are left as they fall"

    def rests(self, tokens: int, model: str | None) -> bool:
        """It claims nothing."""
        return True

    def decide(self, table: Table) -> Decision:
        """Claim nothing; only say whether pairs are kept."""
        return Decision(unpaired=self.form == "compat")
