"""What a policy is: data. A trigger, and an ordered tuple of rules; JSON carries it, the widget edits it.

A `Rule` subclass in `rules/` adds its knobs as pydantic fields; their descriptions and bounds are what
the rule panel shows. `Edits` are what a hand changed on top of a policy: the cut, pins, settings.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

from pydantic import Field, SerializeAsAny, ValidationError

from .blocks import Number, Value
from .errors import EditError, PolicyError

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

    kind: str
    enabled: bool = Field(True, description="Whether the rule takes part")

    @property
    def template(self) -> str:
        """The clause that says what the rule does as it is set now."""
        return self.phrase

    @property
    def sentence(self) -> str:
        """The rule in words, with its knobs' values."""
        return self.template.format(**self.model_dump())


class Trigger(Rule):
    """When a policy compacts: above `window - reserve_tokens`, or from a share of the window on.

    A given `ratio` decides alone and fires at equality (S0-12); else `reserve_tokens` decides and only
    more than the rest of the window fires (FLUE §5).
    """

    title: ClassVar[str] = "Trigger"
    phrase: ClassVar[str] = "compact when the context leaves less than {reserve_tokens} tokens free"

    kind: str = "trigger"
    reserve_tokens: Number = Field(
        16384,
        description="Tokens of the window kept free for the reply",
        ge=-LARGE,
        le=LARGE,
        allow_inf_nan=False,
    )
    ratio: float | None = Field(None, description="Share of the window that triggers instead", gt=0, le=1)

    @property
    def template(self) -> str:
        return self.phrase if self.ratio is None else "compact when the context fills {ratio} of the window"

    def threshold(self, window: Number) -> Number:
        """Tokens of context at which it fires (a `ratio`) or above which it fires (a reserve)."""
        return window * self.ratio if self.ratio is not None else window - self.reserve_tokens

    def fires(self, tokens: Number, window: Number) -> bool:
        """Whether a context of `tokens` triggers a compaction; never when the window is unknown (0)."""
        if not self.enabled or not window > 0:
            return False
        if self.ratio is not None:
            return tokens >= self.threshold(window)
        return tokens > self.threshold(window)


class Policy(Value):
    """A named trigger with its rules. The first rule that claims a block decides its fate."""

    name: str
    title: str = ""
    source: str = ""
    trigger: Trigger = Trigger()
    rules: tuple[SerializeAsAny[Rule], ...] = ()

    def configured(self, settings: dict[str, Any]) -> Self:
        """This policy with settings "<kind>.<knob>" applied. Raises `PolicyError` naming what is wrong."""
        if not settings:
            return self
        owners = {rule.kind: rule for rule in (self.trigger, *self.rules)}
        for key, value in settings.items():
            kind, _, knob = key.partition(".")
            if kind not in owners:
                raise PolicyError(self.name, f"it has no rule {kind!r}", owners)
            owners[kind] = _set(self.name, owners[kind], knob, value)
        rules = tuple(owners[rule.kind] for rule in self.rules)
        return self.model_copy(update={"trigger": owners["trigger"], "rules": rules})


def _set(policy: str, rule: Rule, knob: str, value: Any) -> Rule:
    knobs = [name for name in type(rule).model_fields if name != "kind"]
    if knob not in knobs:
        raise PolicyError(policy, f"rule {rule.kind!r} has no setting {knob!r}", knobs)
    if knob == "enabled" and not value and rule.locked:
        raise PolicyError(policy, f"rule {rule.kind!r} cannot be switched off")
    try:
        return type(rule).model_validate({**rule.model_dump(), knob: value})
    except ValidationError as error:
        raise PolicyError(policy, f"{rule.kind}.{knob} = {value!r}: {error.errors()[0]['msg']}") from None


class Edits(Value):
    """What a hand changed on top of a policy.

    `cut` is the first entry to keep, or "end"; None lets the policy decide. `pins` are entries ("e40") or
    blocks ("e40/1") that stay verbatim wherever the cut is. `settings` are knobs, "<kind>.<knob>".
    """

    cut: str | None = None
    pins: tuple[str, ...] = ()
    settings: dict[str, Any] = Field(default_factory=dict)

    def __repr__(self) -> str:
        parts = [
            f"{name}={value!r}"
            for name, value in (("cut", self.cut), ("pins", self.pins), ("settings", self.settings))
            if value
        ]
        return f"Edits({', '.join(parts)})"


def read_edits(edits: Edits | dict[str, Any] | None) -> Edits:
    """Edits as they are or from their JSON form. Raises `EditError` naming what is wrong."""
    if isinstance(edits, Edits):
        return edits
    try:
        return Edits.model_validate(edits or {})
    except ValidationError as error:
        first = error.errors()[0]
        raise EditError("edit", ".".join(map(str, first["loc"])), first["msg"]) from None


class Verdict(NamedTuple):
    """Whether a trigger fires now. `fires` is None when nothing tells the size of the context."""

    fires: bool | None
    tokens: Number | None
    threshold: Number | None
    sentence: str
