"""Keep system: instructions are never compacted."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...session.tree import ROLES
from ..base_rule import Rule
from ..table import VERBATIM, Claim, Decision, Table


class KeepSystem(Rule):
    """The system prompt, tools and provided context are resent as they are; system messages stay."""

    title: ClassVar[str] = "Keep system"
    phrase: ClassVar[str] = "system prompt, tools and provided context stay as they are"
    source: ClassVar[str] = "stud-cli wiki, Compaction and Memory 1.1.0, sections (S0-16, S0-22)"
    locked: ClassVar[bool] = True

    kind: Literal["keep-system"] = "keep-system"

    def rests(self, tokens: int, model: str | None) -> bool:
        """It keeps, and changes nothing."""
        return True

    def decide(self, table: Table) -> Decision:
        """Claim the blocks of system messages inside the conversation, on both sides."""
        live = table.live
        rows = (live.role == ROLES.index("system"))[live.position]
        claim = Claim(rows, VERBATIM)
        return Decision(older=claim, kept=claim)
