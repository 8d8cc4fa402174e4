"""When a policy compacts, and how far down it then goes."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

from pydantic import Field

from .rulebase import LARGE, Rule
from .session.blocks import Number

Measure = Literal["usage", "assembled", "chars4_utf16", "tiered", "messages"]
"""What is held against a threshold: the provider's word and an estimate of what came after, the counted
context, a published estimate of whole messages, or how many messages there are."""
Check = Literal["reply", "outputs", "request"]
"""When it is looked at: after a reply that leaves no call open, after the outputs of calls, or before every
request."""


class Trigger(Rule):
    """When a policy compacts. The first of these that is given decides.

    `tokens`: above so many (or messages, by that measure). `ratio`: from a share of the window on (S0-12),
    or with `strict` only above it. Otherwise above `window - reserve_tokens` (FLUE §5). `budget` stands in
    the window's place.
    """

    title: ClassVar[str] = "Trigger"
    phrase: ClassVar[str] = "compact when the context leaves less than {reserve_tokens} tokens free"

    kind: Literal["trigger"] = "trigger"
    reserve_tokens: Number = Field(
        16384,
        description="Tokens of the window kept free for the reply",
        ge=-LARGE,
        le=LARGE,
        allow_inf_nan=False,
    )
    ratio: float | None = Field(None, description="Share of the window that triggers instead", gt=0, le=1)
    strict: bool = Field(False, description="Only more than the share triggers, not the share itself")
    tokens: int | None = Field(
        None, description="A fixed size above which it triggers instead", ge=0, le=LARGE
    )
    budget: int | None = Field(None, description="Tokens that count as the window", ge=0, le=LARGE)
    measure: Measure = Field("usage", description="What is held against the threshold")
    check: Check = Field("reply", description="When it is looked at")

    @property
    def template(self) -> str:
        whole = "the window" if self.budget is None else "{budget} tokens"
        if self.tokens is not None:
            unit = "messages" if self.measure == "messages" else "tokens"
            return f"compact when the context holds more than {{tokens}} {unit}"
        if self.ratio is not None:
            return f"compact when the context fills {'more than ' if self.strict else ''}{{ratio}} of {whole}"
        return self.phrase

    @property
    def above(self) -> bool:
        """Whether only more than the threshold fires."""
        return self.strict or self.tokens is not None or self.ratio is None

    def base(self, window: Number) -> Number:
        """What counts as the window: the budget, if there is one. 0 when nothing tells."""
        return window if self.budget is None else self.budget

    def threshold(self, window: Number) -> Number:
        """The size at which it fires, or above which it does (`above`)."""
        if self.tokens is not None:
            return self.tokens
        base = self.base(window)
        return base * self.ratio if self.ratio is not None else base - self.reserve_tokens

    def fires(self, tokens: Number, window: Number) -> bool:
        """Whether a context of `tokens` triggers a compaction; never when the window is unknown (0)."""
        if not self.enabled or not (self.tokens is not None or self.base(window) > 0):
            return False
        threshold = self.threshold(window)
        return tokens > threshold if self.above else tokens >= threshold


class Target(Rule):
    """How far down a policy of several stages goes: it stops after the first stage that gets there.

    `tokens` decides if given, else `ratio` of what the trigger counts as the window.
    """

    title: ClassVar[str] = "Target"
    phrase: ClassVar[str] = "stop at the first stage that leaves at most {ratio} of the window or budget"

    kind: Literal["target"] = "target"
    ratio: float = Field(0.5, description="Share of the window that is low enough", gt=0, le=1)
    tokens: int | None = Field(None, description="A size that is low enough instead", ge=0, le=LARGE)

    @property
    def template(self) -> str:
        if self.tokens is not None:
            return "stop at the first stage that leaves at most {tokens} tokens"
        return self.phrase

    def limit(self, base: Number) -> int | None:
        """Tokens that are low enough, rounded down, where `base` counts as the window; None if that is 0."""
        if self.tokens is not None:
            return self.tokens
        return int(base * self.ratio) if base > 0 else None


class Verdict(NamedTuple):
    """Whether a trigger fires now. `fires` is None when nothing tells the size of the context."""

    fires: bool | None
    tokens: Number | None
    threshold: Number | None
    sentence: str
