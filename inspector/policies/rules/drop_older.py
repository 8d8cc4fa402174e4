"""Drop older: remove everything before the cut without a replacement."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.tree import SYSTEM
from ..base_rule import Rule
from ..notices import write_notice
from ..table import DROPPED, Claim, Decision, Notice, Table


class DropOlder(Rule):
    """Everything before the cut that no rule before this one keeps is left out."""

    title: ClassVar[str] = "Drop older"
    phrase: ClassVar[str] = "everything before the cut is left out"
    source: ClassVar[str] = (
        "langchain-core 1.7.2, trim_messages; inspect_ai 0.3.285, trim_messages (PEERS §1)"
    )
    takes: ClassVar[bool] = True

    kind: Literal["drop-older"] = "drop-older"
    notice: bool = Field(False, description="A message at the cut says how much was left out")

    def decide(self, table: Table) -> Decision:
        """Claim every older block."""
        claim = Claim(np.ones(len(table.tokens), bool), DROPPED)
        if not self.notice:
            return Decision(older=claim)
        root = max(getattr(table.sibling("keep-root"), "messages", 0), table.start)
        entries = (table.live.role != SYSTEM) & (np.arange(len(table.live)) >= root)
        return Decision(older=claim, notice=Notice("user", entries, write_notice))
