"""What every part of a policy is made of: named settings with a sentence that says what they do."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import Field, model_validator

from ..session.blocks import Value

LARGE = 10**12
"""No setting in tokens goes beyond this, either way; a published negative one stays possible."""


class Rule(Value):
    """Base of all retention rules. `kind` names the rule in JSON and in settings ("<kind>.<knob>")."""

    title: ClassVar[str] = ""
    phrase: ClassVar[str] = ""
    """One clause for the rule panel; `{knob}` marks where a value stands."""
    source: ClassVar[str] = ""
    """Who published the rule, and where."""
    locked: ClassVar[bool] = False
    """A rule that no setting can switch off."""
    wire: ClassVar[bool] = False
    """The provider does it, to the request alone; what is stored stays as it is (S0-37)."""
    projection: ClassVar[bool] = False
    """A view the harness takes at every request; what is stored stays as it is (S2-14, S2-20)."""
    cuts: ClassVar[bool] = False
    """It says where the cut stands; a policy has use for one such rule at a time."""
    keeps: ClassVar[bool] = False
    """It claims blocks to stay as they are, so it goes before rules that change any."""
    takes: ClassVar[bool] = False
    """It takes whatever is left before the cut; of two such rules the second finds nothing."""

    kind: str
    enabled: bool = Field(True, description="Whether the rule takes part")

    @model_validator(mode="after")
    def _stay_on(self) -> Self:
        if self.locked and not self.enabled:
            raise ValueError(f"rule {self.kind!r} cannot be switched off")
        return self

    @property
    def by_provider(self) -> bool:
        """Whether the provider makes its edits itself: those break no binding of reasoning (CLAUDE §8)."""
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

    @property
    def template(self) -> str:
        """The clause that says what the rule does as it is set now."""
        return self.phrase

    @property
    def sentence(self) -> str:
        """The rule in words, with its knobs' values."""
        return self.template.format(**self.model_dump())
