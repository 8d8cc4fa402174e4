"""An Anthropic request's `context_management`, and a stud-cli provider entry's, read back into rules.

What `inspector.wire.context_management` writes has to say what the rules say: the tests read it back.
Defaults are the documentation's (CLAUDE §4, §5.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from inspector.errors import PolicyError
from inspector.policies.base_rule import Rule
from inspector.policies.policy import Policy
from inspector.policies.registry import find_policy
from inspector.policies.rules.clear_thinking import ClearThinking
from inspector.policies.rules.clear_tool_outputs import ClearToolOutputs
from inspector.policies.rules.summarise_all import SummariseAll
from inspector.wire.context_management import (
    ALL,
    BETAS,
    COMPACT,
    LEAST_TRIGGER,
    THINKING,
    TOKENS,
    TOOL_USES,
    TURNS,
    USES,
    Json,
)

EDITS = {"clear_thinking": THINKING, "clear_tool_uses": TOOL_USES, "compact": COMPACT}
"""Every edit, by the name a stud-cli provider entry gives it (STUD §6)."""
DEFAULT_TRIGGER = 150_000
"""Input tokens above which a provider compacts by itself (CLAUDE §5.1)."""
CLEARING_TRIGGER = 100_000
"""Input tokens above which tool uses are cleared by default (CLAUDE §4)."""
FIELDS: dict[str, dict[str, tuple[str, ...]]] = {
    THINKING: {"keep": (TURNS, ALL)},
    TOOL_USES: {
        "trigger": (TOKENS, USES),
        "keep": (USES,),
        "clear_at_least": (TOKENS,),
        "exclude_tools": (),
        "clear_tool_inputs": (),
    },
    COMPACT: {"trigger": (TOKENS,), "pause_after_compaction": (), "instructions": ()},
}
"""What each edit can be told, with the types of those fields that are amounts (CLAUDE §4, §5.1)."""


def read_context_management(value: Any) -> tuple[Rule, ...]:
    """The rules that a `context_management` asks for, with its defaults; in the order core rules want.

    Takes the API's `{"edits": [...]}` and a stud-cli provider entry's `contextManagement`, which names edits
    as in `EDITS`, each with its settings or just true. A compaction's `instructions` and
    `pause_after_compaction` change no plan and are left out. Raises `PolicyError` naming the field for
    anything that is neither.
    """
    rules: dict[str, Rule] = {}
    for name, settings in _list_edits(value):
        if name in rules:
            raise _fault(f"{name}: two edits of one type")
        rules[name] = _read_edit(name, settings)
    return tuple(sorted(rules.values(), key=lambda rule: not isinstance(rule, SummariseAll)))


def _fault(reason: str, known: Iterable[str] = ()) -> PolicyError:
    return PolicyError("context_management", reason, known)


def _list_edits(value: Any) -> Iterator[tuple[str, Json]]:
    """The edits that are on, each as its type and its fields."""
    if not isinstance(value, Mapping):
        raise _fault("an object is needed")
    if "edits" not in value:
        for key, settings in value.items():
            name = _known(EDITS.get(key, key) if isinstance(key, str) else key)
            if not isinstance(settings, Mapping | bool | None):
                raise _fault(f"{key}: an object, true or false is needed")
            if settings is not None and settings is not False:
                yield name, {"type": name} if settings is True else {"type": name, **settings}
        return
    if beside := [key for key in value if key != "edits"]:
        raise _fault(f"{_cut(beside[0])}: no field of it", ["edits"])
    if not isinstance(value["edits"], list | tuple):
        raise _fault("edits: a list is needed")
    for number, edit in enumerate(value["edits"]):
        if not isinstance(edit, Mapping):
            raise _fault(f"edits[{number}]: an object is needed")
        yield _known(edit.get("type")), dict(edit)


def _known(name: Any) -> str:
    if not isinstance(name, str) or name not in BETAS:
        raise _fault(f"there is no edit {_cut(name)}", BETAS)
    return name


def _read_edit(name: str, edit: Json) -> Rule:
    if edit["type"] != name:
        raise _fault(f"{name}: its type is {_cut(edit['type'])}")
    for field in edit:
        if field != "type" and field not in FIELDS[name]:
            raise _fault(f"{name}: {_cut(field)} is no field of it", FIELDS[name])
    told = {field: edit[field] for field in edit if field != "type" and edit[field] is not None}
    amounts = {
        field: _read_amount(f"{name}: {field}", told[field], units)
        for field, units in FIELDS[name].items()
        if units and field in told
    }
    value: Json = {field: amount for field, (_, amount) in amounts.items()}
    if name == THINKING:
        return _make(name, ClearThinking, {"keep": "keep"}, value)
    if name == COMPACT:
        return _make(name, SummariseAll, {"above": "trigger"}, {"trigger": _read_trigger(name, told, value)})
    unit = amounts["trigger"][0] if "trigger" in amounts else TOKENS
    value = {"trigger": CLEARING_TRIGGER, **value}
    value |= {field: _read_tools(f"{name}: {field}", told[field]) for field in told if field not in value}
    trigger = "trigger_uses" if unit == USES else "trigger_tokens"
    knobs = {"keep": "keep", "clear_at_least": "clear_at_least", "exclude_tools": "exclude_tools"}
    knobs |= {trigger: "trigger", "clear_inputs": "clear_tool_inputs"}
    return _make(name, ClearToolOutputs, knobs, value)


def _read_amount(field: str, amount: Any, units: tuple[str, ...]) -> tuple[str, int | str]:
    """The type and the number of `{"type": …, "value": 3}`; of `{"type": "all"}` "all"."""
    if amount == ALL and ALL in units:
        return ALL, ALL
    if not isinstance(amount, Mapping):
        raise _fault(f"{field}: an object with a type is needed, not {_cut(amount)}")
    unit, number = amount.get("type"), amount.get("value")
    if not isinstance(unit, str) or unit not in units:
        raise _fault(f"{field}: type: {_cut(unit)} is none", units)
    known = ("type",) if unit == ALL else ("type", "value")
    if odd := [key for key in amount if key not in known]:
        raise _fault(f"{field}: {_cut(odd[0])} is no field of it", known)
    if unit == ALL:
        return ALL, ALL
    if not isinstance(number, int) or isinstance(number, bool):
        raise _fault(f"{field}: value: a whole number is needed, not {_cut(number)}")
    return unit, number


def _read_trigger(name: str, told: Json, value: Json) -> int:
    """A compaction's trigger; what else it may be told is checked and left out."""
    if not isinstance(told.get("instructions", ""), str):
        raise _fault(f"{name}: instructions: a text is needed")
    if not isinstance(told.get("pause_after_compaction", False), bool):
        raise _fault(f"{name}: pause_after_compaction: true or false is needed")
    above: int = value.get("trigger", DEFAULT_TRIGGER)
    if above < LEAST_TRIGGER:
        raise _fault(f"{name}: trigger: value: {above:,} is less than {LEAST_TRIGGER:,}, the least there is")
    return above


def _read_tools(field: str, tools: Any) -> bool | tuple[str, ...]:
    """Names of tools, or for the inputs a plain yes or no."""
    plain = field.endswith("clear_tool_inputs")
    if plain and isinstance(tools, bool):
        return tools
    if not isinstance(tools, list | tuple) or not all(isinstance(tool, str) for tool in tools):
        raise _fault(f"{field}: {'true, false or ' if plain else ''}a list of tools' names is needed")
    return tuple(tools)


def _make(name: str, model: type[Rule], knobs: Mapping[str, str], value: Json) -> Rule:
    """The rule whose `knobs` stand for those fields; what is not given stays as it is by default."""
    given = {knob: value[field] for knob, field in knobs.items() if field in value}
    if model is SummariseAll:
        given["by"] = "provider"
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        knob = str(first["loc"][0])
        raise _fault(f"{name}: {knobs.get(knob, knob)}: {first['msg']}") from None


def _cut(value: Any) -> str:
    """A value as a message shows it: on one line, and not all of a long one."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def with_context_management(policy: str | Policy | Json, rules: Iterable[Rule]) -> Policy:
    """The policy with edits at the wire beside its own rules (S0-51 to S0-53).

    They stand in no stage, so the provider makes them at every request; one of a kind that the policy has at
    the wire already takes its place. Raises `PolicyError` where a compaction would take the place of the
    policy's own, by its harness: one policy has one rule of a kind.
    """
    policy, added = find_policy(policy), tuple(rules)
    kinds = {rule.kind for rule in added}
    for rule in policy.rules:
        if rule.kind in kinds and rule.enabled and not rule.by_provider:
            raise PolicyError(
                policy.name,
                f"its own {rule.kind!r} is done by the harness, and the provider's would take its place; "
                f"leave that edit out, or switch the rule off first ({rule.kind}.enabled)",
            )
    own = tuple(rule for rule in policy.rules if rule.kind not in kinds)
    left = [
        stage.model_copy(update={"rules": tuple(kind for kind in stage.rules if kind not in kinds)})
        for stage in policy.stages
    ]
    stages = tuple(new for new, old in zip(left, policy.stages, strict=True) if new.rules or not old.rules)
    fields = {name: getattr(policy, name) for name in type(policy).model_fields}
    return type(policy)(**{**fields, "rules": (*own, *added), "stages": stages})
