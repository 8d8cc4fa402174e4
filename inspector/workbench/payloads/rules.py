"""A policy's rules as the rule panel shows them: sentences, knobs from the rules' own schema, and prices.

The input is a plan, the result are plain values. No code depends on a particular rule, so custom rules have a
panel too.
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
from ...policies.settings_file import read_settings
from ...redaction.cut import cut_text
from ...text import printable
from .base_payload import Payload
from .gauge import describe_fill
from .played import LessonStep, find_outside_changes, first_rule, play_plan, say_cut
from .sections import format_tokens

MOST_CHARS = 120
WHERE_RECORDED = "compact as recorded in the file"
"""What is said in place of the trigger of what the file records."""
KnobType = Literal["integer", "number", "boolean", "choice", "python"]
Setting = int | float | bool | str | None
_TYPES: dict[str, KnobType] = {"integer": "integer", "number": "number", "boolean": "boolean"}


class Knob(Payload, frozen=True, kw_only=True):
    """A setting of a rule: a number with its limits, or a choice with its `choices`.

    A "python" value (a list, a mapping, free text) is read-only on the screen and set from Python. A
    `nullable` value may be none. `words` is the value in a sentence, and `was` the published policy's value
    in words, if it differs.
    """

    name: str
    label: str
    value: Setting
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
    """A rule, or another decision next to the rules; a value replaces "{knob}" in its `sentence`.

    `source` says who published it. A `locked` rule cannot be switched off. `delta` is the change of the total
    tokens by the rule (the deltas of all rules add up to the plan's change), null if it does not act; `words`
    are then shown instead. `note` explains its effect here. For a rule added by an edit, `added` lists the
    settings to remove with it. `number` is 0 for an entry that is not a rule.
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
    """A rule that could be added: `changes` are the settings that add it, `instead` the rules it replaces.

    `delta` is the change of the context in tokens, null if unknown; `refused` says why it cannot be added, or
    is "".
    """

    kind: str
    title: str
    sentence: str = ""
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
    """The trigger, the target, every rule, the harness, and the other decisions.

    A `sentence` holds `{knob}` at the place of that control. For a rule added by an edit, `added` lists the
    settings to remove with it. `first_rule` is the index of the first rule.
    """
    policy, added, was = plan.policy, find_added(plan), _find_published(plan)
    played = list(play_plan(plan))
    outside = find_outside_changes(plan, played)
    steps = {step.rule: step for step in played}
    head = policy.parts[: first_rule(policy)]
    shown = [_describe(part, number, was) for number, part in enumerate(head, 1)]
    if policy.name == RECORDED.name:
        shown[0] = replace(shown[0], sentence=WHERE_RECORDED)
    for number, rule in enumerate(policy.rules, len(head) + 1):
        step = steps.pop(number - 1, None)
        delta = None if step is None else step.after - step.before
        described_rule = _describe(rule, number, was, delta, added.get(rule.kind, UNSET))
        code = number - len(head) - 1
        notes = [] if step is None else [say_cut(plan, code), _split(delta or 0, outside[step.rule])]
        note = "; ".join(filter(None, notes))
        shown.append(replace(described_rule, words=_instead(plan, code, delta), note=note))
    shown.append(_describe(policy.harness, 0, was))
    return [*shown, *(_describe_step(step) for step in steps.values())]


def _split(delta: int, outside: int) -> str:
    """Say how many of a rule's tokens are not in the file; "" if none are.

    >>> _split(-5_000, -1_300), _split(-5_000, 0)
    ('1.3k of these tokens are not in the file', '')
    """
    if not outside or (delta < 0) != (outside < 0):
        return ""
    return f"{format_tokens(abs(outside))} of these tokens are not in the file"


def _describe_step(step: LessonStep) -> RulePayload:
    """List the decisions without a rule: a pin, or the other half of a call."""
    rule_texts = (f"beside{step.rule}", step.title, step.sentence, "", True, True)
    return RulePayload(*rule_texts, step.after - step.before, [], 0)


def _instead(plan: Plan, code: int, delta: int | None) -> str:
    """Return the text shown instead of a rule's tokens; "" if the tokens are shown."""
    rule, decision = plan.policy.rules[code], plan.decisions[code]
    if not rule.enabled:
        return "off"
    if delta is None:
        return "not needed"
    if delta != 0 or decision.appendix is None or not plan.summarises:
        return ""
    # Its tokens are counted with the summary that they are added to.
    writers = (i for i, other in enumerate(plan.decisions) if other.summary is not None)
    writer = next((i for i in writers if plan.decisions[i].summary is plan.spec), None)
    return "" if writer is None else f"in {writer + first_rule(plan.policy) + 1}"


def _find_published(plan: Plan) -> dict[str, PolicyPart]:
    """Return the parts of the published policy by kind; empty if no setting was changed."""
    if not plan.edits.settings:
        return {}
    published = _find_known(plan)
    return {} if published is None else {part.kind: part for part in published.parts}


def _find_known(plan: Plan) -> Policy | None:
    """Return the published policy of this name, the recorded one, or None."""
    try:
        return find_policy(plan.policy.name)
    except PolicyError:
        return None


def find_added(plan: Plan) -> dict[str, list[str]]:
    """Return the kinds of the rules that the edits have added to the named policy.

    Each has the settings to remove together with the rule: its own, and the switches of the rules that it
    replaced, unless another rule replaces them now.
    """
    settings = plan.edits.settings
    switched = {key.removesuffix(".enabled") for key in settings if key.endswith(".enabled")}
    if not switched:
        return {}
    base_policy = _find_known(plan) or plan.policy
    was_on = {rule.kind: rule.enabled for rule in base_policy.rules}
    off = [rule for rule in plan.policy.rules if was_on.get(rule.kind) and not rule.enabled]
    out = {}
    for rule in plan.policy.rules:
        if rule.kind in switched and rule.kind not in was_on:
            own = [key for key in settings if key.startswith(f"{rule.kind}.")]
            on = [other for other in plan.policy.rules if other.enabled and other is not rule]
            back = (
                candidate
                for candidate in off
                if rule.rivals(candidate) and not any(candidate.rivals(other) for other in on)
            )
            out[rule.kind] = [*own, *(f"{candidate.kind}.enabled" for candidate in back)]
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
    rule_texts = (rule.kind, rule.label, rule.wording, rule.source, rule.enabled, rule.locked)
    return RulePayload(*rule_texts, delta, knobs, number, added=added)


@cache
def _schema(model: type[PolicyPart]) -> dict[str, dict[str, Any]]:
    """Return the JSON schema of a rule's knobs. Cached, since a drag needs it for every plan."""
    properties: dict[str, dict[str, Any]] = model.model_json_schema()["properties"]
    return properties


def _is_free(schema: dict[str, Any]) -> bool:
    """Lists, mappings and free text, which are shown as they are and can only be set from Python."""
    options = schema.get("anyOf", [schema])
    return any(
        option.get("type") in ("array", "object")
        or (option.get("type") == "string" and not {"enum", "const"} & option.keys())
        for option in options
    )


def _knob(rule: PolicyPart, name: str, published: PolicyPart | None) -> Knob:
    knob, value = _default_knob(type(rule), name), getattr(rule, name)
    was: Any = UNSET if published is None else getattr(published, name, UNSET)
    previous_value = UNSET if was is UNSET or was == value else _say(was)
    if knob.type == "python":
        return replace(knob, value=_write(value), words=_write(value), was=previous_value)
    tokens = "token" in name and f"{{{name}}} tokens" not in rule.template
    return replace(knob, value=value, unit="tokens" if tokens else "", words=_say(value), was=previous_value)


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
    """Return a knob at its default, shared by all rules of its class."""
    schema = _schema(model)[name]
    default = model.model_fields[name].get_default(call_default_factory=True)
    label, description = name.replace("_", " "), schema.get("description", "")
    if _is_free(schema):
        text = _write(default)
        return Knob(name=name, label=label, value=text, description=description, type="python")
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
        description=description,
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
    """Offer every kind of rule that the policy lacks and that can be added later.

    Rules that change something come first. `changes` has the switch of the rule and the switches of the rules
    that it replaces.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> offers = offer_rules(make_plan(session, count_tokens(session), "keep-recent-turns")).rules
    >>> one = next(offer for offer in offers if offer.kind == "drop-older")
    >>> one.changes, one.instead
    ({'drop-older.enabled': True, 'summarise-older.enabled': False}, 'Summarise older')
    """
    # A summary is written for one plan, so all plans are compared without it, except the recorded one.
    plan = _try(plan, {})
    has = {rule.kind for rule in plan.policy.rules}
    rules = [rule for rule in list_rules() if kind_of(rule) not in has and not rule.locked]
    offers = [_offer(plan, rule) for rule in rules]
    ordered = sorted(offers, key=lambda offer: (offer.refused != "", offer.delta == 0, offer.delta or 0))
    return RulesReply(ordered, _find_numbers(plan))


def _find_numbers(plan: Plan) -> list[str]:
    """The keys of the numbers in sentences that, halved or raised by half, would change the plan."""
    numbers = []
    parts = [part for part in plan.policy.parts if part.enabled and part is not plan.policy.harness]
    for part in parts:
        for name in _SLOT.findall(part.template):
            knob = _knob(part, name, None)
            if knob.type in ("integer", "number") and _matters(plan, part.kind, knob):
                numbers.append(f"{part.kind}.{name}")
                break
    return numbers


_SLOT = re.compile(r"\{(\w+)\}")


def _matters(plan: Plan, kind: str, knob: Knob) -> bool:
    value = knob.value
    if value is None:
        return False
    for factor in (0.5, 1.5):
        scaled = float(value) * factor
        other = max(round(scaled), 1) if knob.type == "integer" or float(value).is_integer() else scaled
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
    """Return what the screen shows of a plan: the verdict and headroom, the cut, and every retention."""
    outcome = plan.outcome
    view_key = (outcome.rule.tobytes(), outcome.tokens.tobytes(), plan.after, plan.place)
    return (plan.verdict.fires, describe_fill(plan), *view_key)


def _offer(plan: Plan, offered: type[Rule]) -> RuleOffer:
    kind = kind_of(offered)
    offer = RuleOffer(kind=kind, title=cut_text(offered.title or kind, MOST_WORDS))
    try:
        # Added disabled, so that it does not conflict with other rules yet.
        added = plan.policy.add(kind, enabled=False).rules
        rule = next(rule for rule in added if rule.kind == kind)
        rivals = [other for other in plan.policy.rules if other.enabled and rule.rivals(other)]
        changes = {f"{kind}.enabled": True, **{f"{other.kind}.enabled": False for other in rivals}}
        tried = _try(plan, changes)
    except InspectorError as error:
        return replace(offer, refused=cut_text(str(error), MOST_WORDS))
    instead = " and ".join(other.label for other in rivals)
    sentence = cut_text(rule.sentence, MOST_WORDS)
    return replace(offer, sentence=sentence, instead=instead, changes=changes, delta=tried.after - plan.after)


def _try(plan: Plan, changes: Mapping[str, Any]) -> Plan:
    edits = plan.edits.model_copy(update={"settings": {**plan.edits.settings, **changes}})
    return plan.with_edits(edits)


class SettingsFileReply(Payload, frozen=True):
    """The settings of the rules in a settings.json, by their names, and a sentence about the file."""

    settings: dict[str, Any]
    sentence: str


def read_settings_file(policy: Policy, name: str, text: str) -> SettingsFileReply:
    """Read the thresholds in a text. Raises `PolicyError` for a value that the policy does not take."""
    name = cut_text(name, 60)
    settings = read_settings({name: text})
    policy.configured(settings)
    words = ", ".join(f"{key} = {'off' if share is None else share}" for key, share in settings.items())
    return SettingsFileReply(settings, f"{name}: {words or 'it sets no thresholds'}.")
