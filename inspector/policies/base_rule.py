"""What every retention rule is: settings, and what it decides for a context with them.

A new kind of rule goes into a file of its own in `rules/`, and into the list in its `__init__`.
"""

from __future__ import annotations

from typing import ClassVar

from ..errors import PolicyError
from .part import PolicyPart
from .table import Decision, Table


class Rule(PolicyPart):
    """Base of all retention rules. `kind` names the rule in JSON and in settings ("<kind>.<knob>").

    A subclass gives `kind` a default, adds its settings as fields, and decides.

    >>> from typing import Literal
    >>> from inspector.policies.table import Decision, Table
    >>> class CutAtTheEnd(Rule):
    ...     kind: Literal["cut-at-the-end"] = "cut-at-the-end"
    ...
    ...     def decide(self, table: Table) -> Decision:
    ...         return Decision(cut=len(table.live))
    >>> CutAtTheEnd().kind
    'cut-at-the-end'
    """

    wire: ClassVar[bool] = False
    """The provider does it, to the request alone; what is stored stays as it is (S0-37)."""
    early: ClassVar[bool] = False
    """The harness does it before every request, whatever the policy's trigger and target say (S2-48)."""
    last_resort: ClassVar[bool] = False
    """It runs if the rules before it left too much, on the messages that they protect too (TIERED §4)."""
    projection: ClassVar[bool] = False
    """A view the harness takes at every request; what is stored stays as it is (S2-14, S2-20)."""
    cuts: ClassVar[bool] = False
    """It says where the cut stands; a policy has use for one such rule at a time."""
    keeps: ClassVar[bool] = False
    """It claims blocks to stay as they are, so it goes before rules that change any."""
    names_files: ClassVar[bool] = False
    """Its pointers name files that hold the outputs; deciding does not write them."""
    takes: ClassVar[bool] = False
    """It takes whatever is left before the cut; of two such rules the second finds nothing."""

    def decide(self, table: Table) -> Decision:
        """What the rule claims in this context, and where it would cut. Pure: it may be asked at any time.

        Raises `PolicyError` here, where a subclass has not said what it decides.
        """
        raise PolicyError(self.kind, "this rule has no method decide(table)")

    def is_needed(self, characters: int) -> bool:
        """Whether an early rule can have anything to do before a request, when tools gave so many characters
        since the one before."""
        return characters > 0

    def rests(self, tokens: int, model: str | None) -> bool:
        """Whether it certainly changes nothing of a request of at most so many tokens to a model.

        Where all rules that edit requests in flight say so, a replay plans no edit; False has it planned.
        """
        return False

    @property
    def by_provider(self) -> bool:
        return self.wire

    @property
    def rank(self) -> int:
        """Where it stands among rules that know nothing of each other: the particular before the general.

        0 cannot be switched off, 1 keeps, 2 changes something, 3 takes the rest, 4 is done by the provider.
        """
        if self.locked:
            return 0
        return 4 if self.wire else 3 if self.takes else 1 if self.keeps else 2

    def rivals(self, other: Rule) -> str:
        """Why the two cannot both take part, "" where they can."""
        if self.cuts and other.cuts:
            return "both say where the cut stands"
        return "both take everything before the cut" if self.takes and other.takes else ""
