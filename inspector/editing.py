"""A policy's edits at the wire as the `context_management` of an Anthropic request, and back.

Names and shapes are those of `anthropic` 2.12.0 (`BetaContextManagementConfigParam`); defaults, the order
and the least trigger of a compaction are the documentation's (CLAUDE §4, §5.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from .errors import PolicyError
from .policy import Policy, Rule, Stage
from .rules.clear_thinking import ClearThinking, default_keep
from .rules.clear_tool_outputs import ClearToolOutputs
from .rules.summarise_all import SummariseAll

Json = dict[str, Any]

THINKING, TOOL_USES, COMPACT = "clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112"
EDITS = {"clear_thinking": THINKING, "clear_tool_uses": TOOL_USES, "compact": COMPACT}
"""Every edit, by the name a stud-cli provider entry gives it (STUD §6)."""
BETAS = {THINKING: "context-management-2025-06-27", TOOL_USES: "context-management-2025-06-27"} | {
    COMPACT: "compact-2026-01-12"
}
"""The beta header each edit asks for."""
LEAST_TRIGGER, DEFAULT_TRIGGER = 50_000, 150_000
"""Input tokens: the lowest trigger a compaction may have, and the one it has by itself (CLAUDE §5.1)."""
CLEARING_TRIGGER = 100_000
"""Input tokens above which tool uses are cleared by default (CLAUDE §4)."""


def context_management(policy: Policy, model: str | None = None) -> Json | None:
    """The request field that has the provider do what the policy does at the wire; None if that is nothing.

    Clearing of thinking comes first, as the API wants it. With a `model` its default is spelt out.

    >>> context_management(Policy(name="mine", rules=(ClearThinking(),)), "claude-haiku-4-5")
    {'edits': [{'type': 'clear_thinking_20251015', 'keep': {'type': 'thinking_turns', 'value': 1}}]}
    """
    rules = [rule for rule in policy.rules if rule.enabled]
    edits = [_thinking(rule, model) for rule in rules if isinstance(rule, ClearThinking)]
    edits += [_tool_uses(rule) for rule in rules if isinstance(rule, ClearToolOutputs)]
    edits += [_compact(r) for r in rules if isinstance(r, SummariseAll) and r.by == "provider"]
    return {"edits": edits} if edits else None


def list_betas(management: Json | None) -> list[str]:
    """The beta headers that a `context_management` asks for."""
    edits = (management or {}).get("edits", ())
    return list(dict.fromkeys(BETAS[edit["type"]] for edit in edits))


def _thinking(rule: ClearThinking, model: str | None) -> Json:
    keep = default_keep(model) if rule.keep is None else rule.keep
    if keep is None:
        return {"type": THINKING}
    return {"type": THINKING, "keep": {"type": "all"} if keep == "all" else _amount("thinking_turns", keep)}


def _tool_uses(rule: ClearToolOutputs) -> Json:
    edit: Json = {"type": TOOL_USES}
    if rule.trigger_tokens is not None or rule.trigger_uses is not None:
        tokens = rule.trigger_tokens is not None
        unit = "input_tokens" if tokens else "tool_uses"
        edit["trigger"] = _amount(unit, rule.trigger_tokens if tokens else rule.trigger_uses)
    edit["keep"] = _amount("tool_uses", rule.keep)
    if rule.clear_at_least is not None:
        edit["clear_at_least"] = _amount("input_tokens", rule.clear_at_least)
    if rule.exclude_tools:
        edit["exclude_tools"] = list(rule.exclude_tools)
    inputs = rule.clear_inputs
    edit["clear_tool_inputs"] = inputs if isinstance(inputs, bool) else list(inputs)
    return edit


def _compact(rule: SummariseAll) -> Json:
    above = DEFAULT_TRIGGER if rule.above is None else rule.above
    return {"type": COMPACT, "trigger": _amount("input_tokens", max(above, LEAST_TRIGGER))}


def _amount(unit: str, value: int | None) -> Json:
    return {"type": unit, "value": value}


def read_context_management(value: Any) -> tuple[Rule, ...]:
    """The rules that a `context_management` asks for, with its defaults; in the order core rules want.

    Takes the API's `{"edits": [...]}` and a stud-cli provider entry's `contextManagement`, which names edits
    as in `EDITS`, each with its settings or just true. Raises `PolicyError` for what is neither.
    """
    rules = [_read_edit(name, settings) for name, settings in _list_edits(value)]
    return tuple(sorted(rules, key=lambda rule: not isinstance(rule, SummariseAll)))


def _list_edits(value: Any) -> Iterator[tuple[str, Json]]:
    if not isinstance(value, Mapping):
        raise PolicyError("context_management", "an object is needed")
    named: Any = value.get("edits")
    if named is None:
        given = [(EDITS.get(name, name), settings) for name, settings in value.items()]
        named = [
            {"type": name, **(settings if isinstance(settings, Mapping) else {})} for name, settings in given
        ]
        named = [
            edit for edit, (_, settings) in zip(named, given, strict=True) if settings not in (False, None)
        ]
    if not isinstance(named, list | tuple):
        raise PolicyError("context_management", "edits: a list is needed")
    for edit in named:
        name = edit.get("type") if isinstance(edit, Mapping) else None
        if name not in BETAS:
            raise PolicyError("context_management", f"there is no edit {name!r}", BETAS)
        yield str(name), dict(edit)


def _read_edit(name: str, edit: Json) -> Rule:
    try:
        if name == THINKING:
            return ClearThinking.model_validate(_given(keep=_value(edit.get("keep"))))
        if name == COMPACT:
            above = _value(edit.get("trigger"))
            return SummariseAll.model_validate(
                {"by": "provider", "above": DEFAULT_TRIGGER if above is None else above}
            )
        trigger = edit.get("trigger") or _amount("input_tokens", CLEARING_TRIGGER)
        knob = "trigger_uses" if trigger.get("type") == "tool_uses" else "trigger_tokens"
        return ClearToolOutputs.model_validate(
            _given(
                keep=_value(edit.get("keep")),
                clear_at_least=_value(edit.get("clear_at_least")),
                exclude_tools=edit.get("exclude_tools"),
                clear_inputs=edit.get("clear_tool_inputs"),
                **{knob: trigger.get("value")},
            )
        )
    except (ValidationError, AttributeError) as error:
        raise PolicyError("context_management", f"{name}: {error}") from None


def _value(amount: Any) -> Any:
    """The number in `{"type": …, "value": 3}`; "all" of `{"type": "all"}`; anything else as it is."""
    if not isinstance(amount, Mapping):
        return amount
    return "all" if amount.get("type") == "all" else amount.get("value")


def _given(**settings: Any) -> Json:
    return {name: value for name, value in settings.items() if value is not None}


def with_context_management(policy: Policy, rules: Iterable[Rule]) -> Policy:
    """The policy with edits at the wire beside its own rules, which decide first (S0-51 to S0-53)."""
    added = tuple(rules)
    kinds = {rule.kind for rule in added}
    own = tuple(rule for rule in policy.rules if rule.kind not in kinds)
    update: Json = {"rules": (*own, *added)}
    if policy.stages:
        names = tuple(rule.kind for rule in added)
        update["stages"] = (*policy.stages, Stage(name="wire", rules=names))
    return policy.model_copy(update=update)
