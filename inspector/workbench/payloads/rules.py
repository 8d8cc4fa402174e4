"""A policy's rules as the rule panel shows them: sentences, knobs from the rules' own schema, and prices.

In goes a plan, out come plain values. Nothing here knows a particular rule, so a rule of one's own gets
its panel for free.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from msgspec import UNSET, UnsetType, field
from msgspec.structs import replace

from ...errors import InspectorError, PolicyError
from ...planning.plan import Plan
from ...policies.base_rule import Rule
from ...policies.builtin.recorded import RECORDED
from ...policies.part import PolicyPart
from ...policies.policy import Policy
from ...policies.registry import find_policy
from ...policies.rules import kind_of, list_rules
from ...redaction.cut import cut_text
from ...text import printable
from .base_payload import Payload
from .gauge import describe_fill
from .played import LessonStep, first_rule, play_plan, say_cut

MOST_CHARS = 120
WHERE_RECORDED = "compact where the file records it"
"""What is said in place of the trigger of what the file records."""
KnobType = Literal["integer", "number", "boolean", "choice", "python"]
Setting = int | float | bool | str | None
_TYPES: dict[str, KnobType] = {"integer": "integer", "number": "number", "boolean": "boolean"}


class Knob(Payload, frozen=True, kw_only=True):
    """A setting of a rule: a number has its limits, a choice its `choices`.

    A "python" value (a list, a mapping, free text) is shown as it is written and set from Python alone. A
    `nullable` value may be none. `words` is the value as a sentence says it, and `was` the published
    policy's, in words, where that is another one.
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
    words: str = ""
    was: str | UnsetType = UNSET


class RulePayload(Payload, frozen=True):
    """A rule, or what stands beside the rules; a value belongs where its `sentence` has "{knob}".

    `source` says who published it. No setting can switch a `locked` one off. `delta` is what the context is
    longer by after it than before it (tokens of the total; those of all rules add up to the plan's change),
    null where it does not act, and `words` stand in the place of that number. `note` says what it
    does here. A policy that has it by an edit has in `added` the settings that go when it is removed.
    `number` is 0 for what is no rule.
    """

    kind: str
    title: str
    sentence: str
    source: str
    enabled: bool
    locked: bool
    delta: int | None
    knobs: list[Knob]
    number: int
    words: str = ""
    note: str = ""
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
    """Every rule that the policy could have; `numbers` are the keys of those settings in the sentences of its
    own rules that, changed by half, would change the plan: at most one of each rule."""

    rules: list[RuleOffer]
    numbers: list[str] = field(default_factory=list)


def describe_rules(plan: Plan) -> list[RulePayload]:
    """The trigger, the target, every rule, the harness, and what decided beside the rules.

    A `sentence` holds `{knob}` where the control for that knob belongs; what an edit has added has in
    "added" the settings that go when it is removed. `first_rule` says where rules begin.
    """
    policy, added, was = plan.policy, find_added(plan), _find_published(plan)
    steps = {step.rule: step for step in play_plan(plan)}
    head = policy.parts[: first_rule(policy)]
    shown = [_describe(part, number, was) for number, part in enumerate(head, 1)]
    if policy.name == RECORDED.name:
        shown[0] = replace(shown[0], sentence=WHERE_RECORDED)
    for number, rule in enumerate(policy.rules, len(head) + 1):
        step = steps.pop(number - 1, None)
        delta = None if step is None else step.after - step.before
        told = _describe(rule, number, was, delta, added.get(rule.kind, UNSET))
        code = number - len(head) - 1
        note = "" if step is None else say_cut(plan, code)
        shown.append(replace(told, words=_instead(plan, code, delta), note=note))
    shown.append(_describe(policy.harness, 0, was))
    return [*shown, *(_describe_step(step) for step in steps.values())]


def _describe_step(step: LessonStep) -> RulePayload:
    """What decided beside the rules: a pin, or the other half of a call."""
    said = (f"beside{step.rule}", step.title, step.sentence, "", True, True)
    return RulePayload(*said, step.after - step.before, [], 0)


def _instead(plan: Plan, code: int, delta: int | None) -> str:
    """What stands in the place of a rule's tokens; "" where they do."""
    rule, decision = plan.policy.rules[code], plan.decisions[code]
    if not rule.enabled:
        return "off"
    if delta is None:
        return "not needed"
    if delta != 0 or decision.appendix is None or not plan.summarises:
        return ""
    # What it adds is counted with the summary that it is added to.
    writers = (i for i, other in enumerate(plan.decisions) if other.summary is not None)
    writer = next((i for i in writers if plan.decisions[i].summary is plan.spec), None)
    return "" if writer is None else f"in {writer + first_rule(plan.policy) + 1}"


def _find_published(plan: Plan) -> dict[str, PolicyPart]:
    """The parts of the policy as it is known by its name, by kind; none where nothing is set."""
    if not plan.edits.settings:
        return {}
    known = _find_known(plan)
    return {} if known is None else {part.kind: part for part in known.parts}


def _find_known(plan: Plan) -> Policy | None:
    """The policy as it is known by its name, what the file records included; None where it is not."""
    try:
        return find_policy(plan.policy.name)
    except PolicyError:
        return None


def find_added(plan: Plan) -> dict[str, list[str]]:
    """The kinds of the rules that the edits have added to the policy as it is known by its name.

    With each are the settings that go with it when it is removed: its own, and the switches of the rules that
    it took the place of, but for one whose place another holds now.
    """
    settings = plan.edits.settings
    switched = {key.removesuffix(".enabled") for key in settings if key.endswith(".enabled")}
    if not switched:
        return {}
    known = _find_known(plan) or plan.policy
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


def _describe(
    rule: PolicyPart,
    number: int,
    published: dict[str, PolicyPart],
    delta: int | None = None,
    added: list[str] | UnsetType = UNSET,
) -> RulePayload:
    was = published.get(rule.kind)
    names = [name for name in type(rule).model_fields if name not in ("kind", "enabled")]
    knobs = [_knob(rule, name, was) for name in names]
    said = (rule.kind, rule.title, rule.template, rule.source, rule.enabled, rule.locked)
    return RulePayload(*said, delta, knobs, number, added=added)


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


def _knob(rule: PolicyPart, name: str, published: PolicyPart | None) -> Knob:
    knob, value = _default_knob(type(rule), name), getattr(rule, name)
    was: Any = UNSET if published is None else getattr(published, name, UNSET)
    told = UNSET if was is UNSET or was == value else _say(was)
    if knob.type == "python":
        return replace(knob, value=_write(value), words=_write(value), was=told)
    tokens = "token" in name and f"{{{name}}} tokens" not in rule.template
    return replace(knob, value=value, unit="tokens" if tokens else "", words=_say(value), was=told)


def _say(value: Any) -> str:
    """A value as a sentence says it.

    >>> _say(20_000), _say(0.75), _say(True), _say(None), _say("as_sent")
    ('20,000', '0.75', 'on', 'none', 'as sent')
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return f"{value:,}"
    return value.replace("_", " ") if isinstance(value, str) and value else _write(value)


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
    # A summary is written for one plan: all are compared without it. What the file records stays.
    plan = _try(plan, {})
    has = {rule.kind for rule in plan.policy.rules}
    rules = [rule for rule in list_rules() if kind_of(rule) not in has and not rule.locked]
    offers = [_offer(plan, rule) for rule in rules]
    ordered = sorted(offers, key=lambda offer: (offer.refused != "", offer.delta == 0, offer.delta or 0))
    return RulesReply(ordered, _find_numbers(plan))


def _find_numbers(plan: Plan) -> list[str]:
    """The keys of the numbers in sentences that, halved or raised by half, would change the plan."""
    found = []
    parts = [part for part in plan.policy.parts if part.enabled and part is not plan.policy.harness]
    for part in parts:
        for name in _SLOT.findall(part.template):
            knob = _knob(part, name, None)
            if knob.type in ("integer", "number") and _matters(plan, part.kind, knob):
                found.append(f"{part.kind}.{name}")
                break
    return found


_SLOT = re.compile(r"\{(\w+)\}")


def _matters(plan: Plan, kind: str, knob: Knob) -> bool:
    value = knob.value
    if value is None:
        return False
    for factor in (0.5, 1.5):
        wanted = float(value) * factor
        other = max(round(wanted), 1) if knob.type == "integer" or float(value).is_integer() else wanted
        if other == value:
            other = value + 1 if factor > 1 else value
        try:
            tried = _try(plan, {f"{kind}.{knob.name}": other})
        except InspectorError:
            continue
        if _state(tried) != _state(plan):
            return True
    return False


def _state(plan: Plan) -> tuple[object, ...]:
    """What a person sees of a plan: whether it fires and how much is left until then, the cut, every fate."""
    outcome = plan.outcome
    seen = (outcome.rule.tobytes(), outcome.tokens.tobytes(), plan.after, plan.place)
    return (plan.verdict.fires, describe_fill(plan), *seen)


def _offer(plan: Plan, offered: type[Rule]) -> RuleOffer:
    kind = kind_of(offered)
    offer = RuleOffer(kind=kind, title=cut_text(offered.title or kind, MOST_WORDS), source=offered.source)
    try:
        # Added disabled, so that it does not conflict with other rules yet.
        added = plan.policy.add(kind, enabled=False).rules
        rule = next(rule for rule in added if rule.kind == kind)
        rivals = [other for other in plan.policy.rules if other.enabled and rule.rivals(other)]
        changes = {f"{kind}.enabled": True, **{f"{other.kind}.enabled": False for other in rivals}}
        tried = _try(plan, changes)
    except InspectorError as error:
        return replace(offer, refused=cut_text(str(error), MOST_WORDS))
    instead = " and ".join(other.title or other.kind for other in rivals)
    sentence = cut_text(rule.sentence, MOST_WORDS)
    return replace(offer, sentence=sentence, instead=instead, changes=changes, delta=tried.after - plan.after)


def _try(plan: Plan, changes: Mapping[str, Any]) -> Plan:
    edits = plan.edits.model_copy(update={"settings": {**plan.edits.settings, **changes}})
    return plan.with_edits(edits)
