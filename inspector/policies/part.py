"""Base class of the parts of a policy: named settings with a sentence that describes them."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from ..session.blocks import Value

LARGE = 10**12
"""No setting in tokens goes beyond this, either way; a published negative one stays possible."""
Count = Annotated[int, Field(ge=0, le=LARGE)]
"""A number of tokens, characters, messages or turns."""
Share = Annotated[float, Field(ge=0, le=1)]
"""A part of a whole, from 0 to 1."""

_COUNTED = re.compile(r"\{(\w+)\}(?: user)? (?:turn|token|message|character|event|file)s\b")


class PolicyPart(Value):
    """Base of the trigger, the target, the harness and all rules, with settings "<kind>.<knob>"."""

    title: ClassVar[str] = ""
    phrase: ClassVar[str] = ""
    """One clause for the rule panel; `{knob}` is replaced by the value of a setting."""
    source: ClassVar[str] = ""
    """Who published it, and where."""
    locked: ClassVar[bool] = False
    """No setting can switch it off."""

    kind: str
    enabled: bool = Field(True, description="Whether the rule is enabled")

    @model_validator(mode="after")
    def _stay_on(self) -> Self:
        if self.locked and not self.enabled:
            raise ValueError(f"rule {self.kind!r} cannot be switched off")
        return self

    @property
    def by_provider(self) -> bool:
        """Whether the provider makes its edits itself: those break no binding of reasoning (CLAUDE §8)."""
        return False

    @property
    def label(self) -> str:
        """Its name wherever it is shown."""
        return self.title or self.kind

    @property
    def template(self) -> str:
        """The clause that says what it does as it is set now."""
        return self.phrase

    @property
    def wording(self) -> str:
        """The template with nouns in the singular where their number is 1."""
        return _COUNTED.sub(
            lambda found: found[0][:-1] if getattr(self, found[1], None) == 1 else found[0], self.template
        )

    @property
    def sentence(self) -> str:
        """The same in words, with the values of its settings."""
        return self.wording.format(**self.model_dump())
