"""Keep system: instructions are never compacted."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.tree import SYSTEM
from ..base_rule import Rule
from ..table import VERBATIM, Claim, Decision, Table


class KeepSystem(Rule):
    """The system prompt, tools and provided context are resent as they are; system messages stay."""

    title: ClassVar[str] = "Keep system"
    phrase: ClassVar[str] = "system prompt, tools and provided context stay as they are"
    source: ClassVar[str] = "stud-cli wiki, Compaction and Memory 1.1.0, sections (S0-16, S0-22)"
    locked: ClassVar[bool] = True

    kind: Literal["keep-system"] = "keep-system"
    leading: bool = Field(False, description="Only system messages before all others stay")

    def rests(self, tokens: int, model: str | None) -> bool:
        """It keeps, and changes nothing."""
        return True

    def decide(self, table: Table) -> Decision:
        """Claim the blocks of system messages inside the conversation, on both sides."""
        live = table.live
        entries = live.role == SYSTEM
        if self.leading:
            entries = np.logical_and.accumulate(entries)
        claim = Claim(entries[live.position], VERBATIM)
        return Decision(older=claim, kept=claim)
