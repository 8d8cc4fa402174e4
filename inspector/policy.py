"""What a policy is: data. A trigger, and an ordered tuple of rules; JSON carries it, the widget edits it.

A `Rule` subclass in `rules/` adds its knobs as pydantic fields; their descriptions and bounds are what
the rule panel shows. `Edits` are what a hand changed on top of a policy: the cut, pins, settings.
"""

from __future__ import annotations

from typing import Any, Literal, Self, get_args

from pydantic import Field, SerializeAsAny, ValidationError, model_validator

from .blocks import Value
from .conduct import Conduct
from .errors import EditError, PolicyError
from .lint import check_thresholds
from .rulebase import LARGE, Rule
from .trigger import Target, Trigger, Verdict

__all__ = [
    "LARGE",
    "Edits",
    "Policy",
    "Reason",
    "Rule",
    "Stage",
    "Target",
    "Trigger",
    "Verdict",
    "read_edits",
]

Reason = Literal["auto", "manual", "overflow"]
"""Why a compaction is planned: the harness' own check, the user's /compact, or a provider's refusal."""


class Stage(Value):
    """A stage of a policy: the kinds of rules that take part from it on, and for which reasons it runs."""

    name: str
    rules: tuple[str, ...]
    reasons: tuple[Reason, ...] = ("auto", "manual", "overflow")


class Policy(Value):
    """A named trigger with its rules. The first rule that claims a block decides its fate.

    With `stages` the rules named in one take part only from that stage on, and what a later stage decides
    stands over an earlier one's decision. A `target` ends the stages as soon as it is met. Rules in no stage
    always take part and come first.
    """

    name: str
    title: str = ""
    source: str = ""
    trigger: Trigger = Trigger()
    target: Target | None = None
    conduct: Conduct = Conduct()
    stages: tuple[Stage, ...] = ()
    rules: tuple[SerializeAsAny[Rule], ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        kinds = [rule.kind for rule in self.rules]
        if len(set(kinds)) < len(kinds):
            raise PolicyError(self.name, "rules: two of one kind cannot be told apart by their settings")
        names = [stage.name for stage in self.stages]
        if len(set(names)) < len(names):
            raise PolicyError(self.name, "stages: two of one name cannot be told apart")
        for stage in self.stages:
            if unknown := [kind for kind in stage.rules if kind not in kinds]:
                raise PolicyError(
                    self.name, f"stage {stage.name!r} names {unknown[0]!r}, no rule of it", kinds
                )
            if not stage.reasons:
                raise PolicyError(self.name, f"stage {stage.name!r} runs for no reason", get_args(Reason))
        return self

    @property
    def parts(self) -> tuple[Rule, ...]:
        """Everything that has settings: the trigger, the target if there is one, the harness, the rules."""
        target = () if self.target is None else (self.target,)
        return (self.trigger, *target, self.conduct, *self.rules)

    def configured(self, settings: dict[str, Any]) -> Self:
        """This policy with settings "<kind>.<knob>" applied. Raises `PolicyError` naming what is wrong."""
        if not settings:
            return self
        owners = {rule.kind: rule for rule in self.parts}
        for key, value in settings.items():
            kind, _, knob = key.partition(".")
            if kind not in owners:
                raise PolicyError(self.name, f"it has no rule {kind!r}", owners)
            owners[kind] = _set(self.name, owners[kind], knob, value)
        update: dict[str, Any] = {"rules": tuple(owners[rule.kind] for rule in self.rules)}
        update |= {name: owners[name] for name in ("trigger", "target", "conduct") if name in owners}
        changed = self.model_copy(update=update)
        trigger = changed.trigger
        share = trigger.ratio if trigger.tokens is None and trigger.enabled else None
        check_thresholds(self.name, changed.conduct, share)
        return changed


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


def check_window(window: object) -> None:
    """Raise `PolicyError` unless it is a number of tokens, or None where the session tells."""
    if window is not None and (not isinstance(window, int) or isinstance(window, bool) or window < 0):
        raise PolicyError("window", f"{window!r} is no number of tokens; 0 says that it is unknown")


def check_reason(reason: str) -> None:
    """Raise `PolicyError` unless it is one of those a compaction is planned for."""
    if reason not in get_args(Reason):
        raise PolicyError("reason", f"{reason!r} is none", get_args(Reason))


def read_edits(edits: Edits | dict[str, Any] | None) -> Edits:
    """Edits as they are or from their JSON form. Raises `EditError` naming what is wrong."""
    if isinstance(edits, Edits):
        return edits
    try:
        return Edits.model_validate(edits or {})
    except ValidationError as error:
        first = error.errors()[0]
        raise EditError("edit", ".".join(map(str, first["loc"])), first["msg"]) from None
