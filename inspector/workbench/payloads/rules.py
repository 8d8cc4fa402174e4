"""A policy's rules as the rule panel shows them: sentences, knobs from the rules' own schema, and prices.

In goes a plan, out come plain values. Nothing here knows a particular rule, so a rule of one's own gets
its panel for free.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import numpy as np
from msgspec import UNSET, UnsetType, field
from msgspec.structs import replace

from ...errors import InspectorError
from ...planning.plan import Plan
from ...policies.base_rule import Rule
from ...policies.part import PolicyPart
from ...policies.policy import Policy
from ...policies.registry import list_policies
from ...policies.rules import kind_of, list_rules
from ...text import printable
from .base_payload import Payload

MOST_CHARS = 120
KnobType = Literal["integer", "number", "boolean", "choice", "python"]
Setting = int | float | bool | str | None
_TYPES: dict[str, KnobType] = {"integer": "integer", "number": "number", "boolean": "boolean"}


class Knob(Payload, frozen=True, kw_only=True):
    """A setting of a rule: a number has its limits, a choice its `choices`.

    A "python" value (a list, a mapping, free text) is shown as it is written and set from Python alone. A
    `nullable` value may be none.
    """

    name: str
    label: str
    value: Setting
    default: Setting
    description: str
    type: KnobType
    nullable: bool | UnsetType = UNSET
    minimum: int | float | None = None
    maximum: int | float | None = None
    choices: list[Setting] | None = None
    unit: str = ""


class RulePayload(Payload, frozen=True):
    """A rule, or what stands beside the rules; a control belongs where its `sentence` has "{knob}".

    `source` says who published it. No setting can switch a `locked` one off. `delta` is what the context is
    longer by with it (tokens), null where it changes nothing. A policy that has it by an edit has in `added`
    the settings that go when it is removed.
    """

    kind: str
    title: str
    sentence: str
    source: str
    enabled: bool
    locked: bool
    delta: int | None
    knobs: list[Knob]
    added: list[str] | UnsetType = UNSET


class RuleOffer(Payload, frozen=True, kw_only=True):
    """A rule that the policy could have: `changes` are the settings that add it, `instead` what then goes.

    `delta` is what the context is longer by (tokens), null where that is not known; `refused` says why it
    cannot be had, "" where it can.
    """

    kind: str
    title: str
    sentence: str = ""
    source: str
    instead: str = ""
    changes: dict[str, bool] = field(default_factory=dict)
    delta: int | None = None
    refused: str = ""


class RulesReply(Payload, frozen=True):
    """Every rule that the policy could have."""

    rules: list[RuleOffer]


def describe_rules(plan: Plan) -> list[RulePayload]:
    """The trigger, the target, every rule, and the harness: what each says, what can be set, what it changes.

    A `sentence` holds `{knob}` where the control for that knob belongs; what an edit has added has in
    "added" the settings that go when it is removed. `first_rule` says where rules begin.
    """
    policy, added = plan.policy, find_added(plan)
    shown = [_describe(part, None) for part in policy.parts[: first_rule(policy)]]
    for code, rule in enumerate(policy.rules):
        # Where nothing is said of it, it is the policy's own.
        shown.append(_describe(rule, _delta(plan, code), added.get(rule.kind, UNSET)))
    return [*shown, _describe(policy.harness, None)]


def find_added(plan: Plan) -> dict[str, list[str]]:
    """The kinds of the rules that the edits have added to the policy as it is known by its name.

    With each are the settings that go with it when it is removed: its own, and the switches of the rules that
    it took the place of, but for one whose place another holds now.
    """
    settings = plan.edits.settings
    switched = {key.removesuffix(".enabled") for key in settings if key.endswith(".enabled")}
    if not switched:
        return {}
    known = next((policy for policy in list_policies() if policy.name == plan.policy.name), plan.policy)
    was_on = {rule.kind: rule.enabled for rule in known.rules}
    off = [rule for rule in plan.policy.rules if was_on.get(rule.kind) and not rule.enabled]
    out = {}
    for rule in plan.policy.rules:
        if rule.kind in switched and rule.kind not in was_on:
            own = [key for key in settings if key.startswith(f"{rule.kind}.")]
            on = [other for other in plan.policy.rules if other.enabled and other is not rule]
            back = (one for one in off if rule.rivals(one) and not any(one.rivals(other) for other in on))
            out[rule.kind] = [*own, *(f"{one.kind}.enabled" for one in back)]
    return out


def first_rule(policy: Policy) -> int:
    """How many other things stand before the rules in what `describe_rules` gives."""
    return 1 if policy.target is None else 2


def _describe(rule: PolicyPart, delta: int | None, added: list[str] | UnsetType = UNSET) -> RulePayload:
    knobs = [_knob(rule, name) for name in type(rule).model_fields if name not in ("kind", "enabled")]
    return RulePayload(
        rule.kind, rule.title, rule.template, rule.source, rule.enabled, rule.locked, delta, knobs, added
    )


@cache
def _schema(model: type[PolicyPart]) -> dict[str, dict[str, Any]]:
    """What a rule's knobs may be, as JSON schema. A drag asks for it with every plan."""
    properties: dict[str, dict[str, Any]] = model.model_json_schema()["properties"]
    return properties


def _is_free(schema: dict[str, Any]) -> bool:
    """Lists, mappings and free text: shown as they are, and set from Python alone."""
    options = schema.get("anyOf", [schema])
    return any(
        option.get("type") in ("array", "object")
        or (option.get("type") == "string" and not {"enum", "const"} & option.keys())
        for option in options
    )


def _knob(rule: PolicyPart, name: str) -> Knob:
    knob, value = _default_knob(type(rule), name), getattr(rule, name)
    if knob.type == "python":
        return replace(knob, value=_write(value))
    tokens = "token" in name and f"{{{name}}} tokens" not in rule.template
    return replace(knob, value=value, unit="tokens" if tokens else "")


@cache
def _default_knob(model: type[PolicyPart], name: str) -> Knob:
    """What a knob is in every rule of its class, at its default."""
    schema = _schema(model)[name]
    default = model.model_fields[name].get_default(call_default_factory=True)
    label, said = name.replace("_", " "), schema.get("description", "")
    if _is_free(schema):
        told = _write(default)
        return Knob(name=name, label=label, value=told, default=told, description=said, type="python")
    options = schema.get("anyOf", [schema])
    nullable = any(option.get("type") == "null" for option in options)
    first: dict[str, Any] = next((option for option in options if option.get("type") != "null"), {})
    kinds = {option.get("type") for option in options}
    kind = "number" if "number" in kinds else _TYPES.get(str(first.get("type")), "choice")
    lowest = next((o[k] for o in options for k in ("minimum", "exclusiveMinimum") if k in o), None)
    return Knob(
        name=name,
        label=label,
        value=default,
        default=default,
        description=said,
        type="choice" if "enum" in first else kind,
        nullable=nullable,
        minimum=lowest,
        maximum=next((o["maximum"] for o in options if "maximum" in o), None),
        choices=first.get("enum"),
    )


def _write(value: Any) -> str:
    """A list, mapping or text in a few words; a long one is cut.

    >>> _write(("Read", "Bash")), _write(()), _write(None)
    ('Read, Bash', 'none', 'none')
    """
    if value is None or (isinstance(value, tuple | list | dict | str | frozenset | set) and not value):
        return "none"
    if isinstance(value, tuple | list) and all(isinstance(item, str) for item in value):
        text = ", ".join(value)
    else:
        text = value if isinstance(value, str) else repr(value)
    return printable(text if len(text) <= MOST_CHARS else text[: MOST_CHARS - 1] + "…")


def _delta(plan: Plan, code: int) -> int | None:
    """Tokens the rule adds or takes at this plan's cut; None when it leaves what it claims as it is."""
    if not plan.policy.rules[code].enabled:
        return None
    decision = plan.decisions[code]
    added = 0
    if plan.summarises and plan.place is not None:
        if decision.appendix is not None and plan.checkpoint is None:
            added = int(decision.appendix.cost[plan.place])
        if decision.summary is not None and plan.checkpoint is not None:
            # One text, whatever is in it.
            added = plan.summary_tokens
        elif decision.summary is not None:
            others = [d.appendix for d in plan.decisions if d.appendix is not None]
            added = plan.summary_tokens - sum(int(a.cost[plan.place]) for a in others)
    mine = plan.outcome.rule == code
    saved = int((plan.outcome.tokens[mine].astype(np.int64) - plan.table.tokens[mine]).sum())
    return added + saved if added or saved else None


MOST_WORDS = 300


def offer_rules(plan: Plan) -> RulesReply:
    """Every kind of rule that the policy does not have, but those that stand in a policy from the beginning.

    Those that change something come first. `changes` are its switch, and those of rules that it takes the
    place of.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> offers = offer_rules(make_plan(session, count_tokens(session), "keep-recent-turns")).rules
    >>> one = next(offer for offer in offers if offer.kind == "drop-older")
    >>> one.changes, one.instead
    ({'drop-older.enabled': True, 'summarise-older.enabled': False}, 'Summarise older')
    """
    # A summary is written for one plan: all are compared with a stand-in in its place.
    plan = plan.with_summary(None)
    has = {rule.kind for rule in plan.policy.rules}
    rules = [rule for rule in list_rules() if kind_of(rule) not in has and not rule.locked]
    offers = [_offer(plan, rule) for rule in rules]
    return RulesReply(sorted(offers, key=lambda offer: (offer.refused != "", offer.delta == 0)))


def _offer(plan: Plan, offered: type[Rule]) -> RuleOffer:
    kind = kind_of(offered)
    offer = RuleOffer(kind=kind, title=printable(offered.title or kind, MOST_WORDS), source=offered.source)
    try:
        # Switched off, it is no rule's rival yet.
        added = plan.policy.add(kind, enabled=False).rules
        rule = next(rule for rule in added if rule.kind == kind)
        rivals = [other for other in plan.policy.rules if other.enabled and rule.rivals(other)]
        changes = {f"{kind}.enabled": True, **{f"{other.kind}.enabled": False for other in rivals}}
        tried = _try(plan, changes)
    except InspectorError as error:
        return replace(offer, refused=printable(str(error), MOST_WORDS))
    instead = " and ".join(other.title or other.kind for other in rivals)
    said = printable(rule.sentence, MOST_WORDS)
    return replace(offer, sentence=said, instead=instead, changes=changes, delta=tried.after - plan.after)


def _try(plan: Plan, changes: dict[str, bool]) -> Plan:
    edits = plan.edits.model_copy(update={"settings": {**plan.edits.settings, **changes}})
    return plan.with_edits(edits)
