"""Base class of all retention rules: settings, and a decision for a context.

To add a rule, write a module in `rules/` and list its class in `rules/__init__.py`.
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
    """It proposes the cut; a policy can use one such rule at a time."""
    keeps: ClassVar[bool] = False
    """It claims blocks to stay as they are, so it goes before rules that change any."""
    names_files: ClassVar[bool] = False
    """Its pointers name files that hold the outputs; deciding does not write them."""
    removes: ClassVar[bool] = True
    """It takes something out of the context by itself, or shortens it; other rules only choose or add."""
    takes: ClassVar[bool] = False
    """It takes whatever is left before the cut; of two such rules the second finds nothing."""

    def decide(self, table: Table) -> Decision:
        """Return the rule's claims in this context, and its cut, without side effects.

        Raises `PolicyError` if a subclass does not override it.
        """
        raise PolicyError.of_rule(self.kind, "this rule has no method decide(table)")

    def is_needed(self, characters: int, turns: int) -> bool:
        """Whether an early rule may have to run before a request, if tools returned `characters` characters
        and `turns` turns began since the previous request."""
        return characters > 0

    def rests(self, tokens: int, model: str | None) -> bool:
        """Return whether the rule changes nothing in a request of at most `tokens` tokens to `model`.

        If all rules that edit requests in flight return True, a replay plans no edit.
        """
        return False

    @property
    def by_provider(self) -> bool:
        return self.wire

    @property
    def rank(self) -> int:
        """The position among independent rules: specific rules come before general ones.

        0 cannot be switched off, 1 keeps, 2 changes something, 3 takes the rest, 4 is done by the provider.
        """
        if self.locked:
            return 0
        return 4 if self.wire else 3 if self.takes else 1 if self.keeps else 2

    def rivals(self, other: Rule) -> str:
        """Why the two cannot both take part, "" if they can."""
        if self.cuts and other.cuts:
            return "both place the cut"
        return "both take everything before the cut" if self.takes and other.takes else ""
