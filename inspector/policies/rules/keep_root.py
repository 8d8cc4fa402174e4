"""Keep root: the first messages, which set the task, stay verbatim."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ..base_rule import Rule
from ..part import LARGE
from ..table import VERBATIM, Claim, Decision, Table


class KeepRoot(Rule):
    """The first `messages` messages stay as they are on either side of the cut, a recorded summary too."""

    title: ClassVar[str] = "Keep root"
    phrase: ClassVar[str] = "keep the first {messages} messages unchanged"
    source: ClassVar[str] = "mini-claude-code 60a3bef, root task (TIERED §3)"
    keeps: ClassVar[bool] = True
    removes: ClassVar[bool] = False

    kind: Literal["keep-root"] = "keep-root"
    messages: int = Field(
        1, ge=-LARGE, le=LARGE, description="Messages kept at the beginning; less than 0 is 0"
    )

    def decide(self, table: Table) -> Decision:
        """Claim the blocks of the first messages."""
        claim = Claim(table.live.position < max(self.messages, table.start), VERBATIM)
        return Decision(older=claim, kept=claim)
