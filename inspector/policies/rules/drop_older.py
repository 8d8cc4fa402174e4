"""Drop older: what stands before the cut goes, and nothing takes its place."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from ..base_rule import Rule
from ..table import DROPPED, Claim, Decision, Table


class DropOlder(Rule):
    """Everything before the cut that no rule before this one keeps is left out."""

    title: ClassVar[str] = "Drop older"
    phrase: ClassVar[str] = "everything before the cut is left out"
    source: ClassVar[str] = (
        "langchain-core 1.7.2, trim_messages; inspect_ai 0.3.285, trim_messages (PEERS §1)"
    )
    takes: ClassVar[bool] = True

    kind: Literal["drop-older"] = "drop-older"

    def decide(self, table: Table) -> Decision:
        """Claim every older block."""
        return Decision(older=Claim(np.ones(len(table.tokens), bool), DROPPED))
