"""Convert a policy's edits at the wire to the `context_management` of an Anthropic request.

Names and shapes are those of `anthropic` 2.12.0 (`BetaContextManagementConfigParam`); the order and the least
trigger of a compaction are the documentation's (CLAUDE §4, §5.1).
"""

from __future__ import annotations

from typing import Any

from ..errors import PolicyError
from ..formats.sealed import THRESHOLD
from ..policies.policy import Policy
from ..policies.registry import find_policy
from ..policies.rules.clear_thinking import ClearThinking, default_keep
from ..policies.rules.clear_tool_outputs import ClearToolOutputs
from ..policies.rules.summarise_all import SummariseAll
from ..tokens.models import is_of_another

Json = dict[str, Any]

THINKING, TOOL_USES, COMPACT = "clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112"
BETAS = {THINKING: "context-management-2025-06-27", TOOL_USES: "context-management-2025-06-27"} | {
    COMPACT: THRESHOLD
}
"""The beta header that each edit requires."""
LEAST_TRIGGER = 50_000
"""Lowest number of input tokens that can trigger a compaction (CLAUDE §5.1)."""
TOKENS, USES, TURNS, ALL = "input_tokens", "tool_uses", "thinking_turns", "all"


def context_management(policy: str | Policy | Json, model: str | None = None) -> Json | None:
    """Return the request field that makes the provider edit the context as the policy does, or None.

    Clearing of thinking comes first, as the API requires; triggers are always written out, and with a `model`
    also the thinking that it keeps. Raises `PolicyError` for a setting that a request cannot express: an edit
    without a trigger or with two, or a compaction below 50,000 tokens. Models of other providers have no such
    field.

    >>> context_management(Policy(name="mine", rules=(ClearThinking(),)), "claude-haiku-4-5")
    {'edits': [{'type': 'clear_thinking_20251015', 'keep': {'type': 'thinking_turns', 'value': 1}}]}
    """
    policy = find_policy(policy)
    if is_of_another(model):
        return None
    rules = [rule for rule in policy.rules if rule.enabled]
    edits = [_thinking(rule, model) for rule in rules if isinstance(rule, ClearThinking)]
    edits += [_tool_uses(policy.name, rule) for rule in rules if isinstance(rule, ClearToolOutputs)]
    edits += [_compact(policy.name, r) for r in rules if isinstance(r, SummariseAll) and r.by == "provider"]
    return {"edits": edits} if edits else None


def list_betas(management: Json | None) -> list[str]:
    """Return the beta headers that a `context_management` requires."""
    edits = (management or {}).get("edits", ())
    return list(dict.fromkeys(BETAS[edit["type"]] for edit in edits))


def _thinking(rule: ClearThinking, model: str | None) -> Json:
    keep = default_keep(model) if rule.keep is None else rule.keep
    if keep is None:
        return {"type": THINKING}
    return {"type": THINKING, "keep": _amount(TURNS, keep) if isinstance(keep, int) else {"type": ALL}}


def _tool_uses(policy: str, rule: ClearToolOutputs) -> Json:
    limits = [(TOKENS, rule.trigger_tokens), (USES, rule.trigger_uses)]
    triggers = [_amount(unit, value) for unit, value in limits if value is not None]
    if len(triggers) != 1:
        knobs = f"{rule.kind}.trigger_tokens and {rule.kind}.trigger_uses"
        both = "are both set, and a request has one trigger"
        none = "are not set, and no request can clear always; the least is 0 of either"
        raise PolicyError(policy, f"{knobs} {both if triggers else none}")
    edit: Json = {"type": TOOL_USES, "trigger": triggers[0], "keep": _amount(USES, rule.keep)}
    if rule.clear_at_least is not None:
        edit["clear_at_least"] = _amount(TOKENS, rule.clear_at_least)
    if rule.exclude_tools:
        edit["exclude_tools"] = list(rule.exclude_tools)
    inputs = rule.clear_inputs
    edit["clear_tool_inputs"] = inputs if isinstance(inputs, bool) else list(inputs)
    return edit


def _compact(policy: str, rule: SummariseAll) -> Json:
    if rule.above is None or rule.above < LEAST_TRIGGER:
        was = "is not set" if rule.above is None else f"is {rule.above:,}"
        least = f"the lowest trigger of a provider's compaction is {LEAST_TRIGGER:,} tokens"
        raise PolicyError(policy, f"{rule.kind}.above {was}; {least}")
    return {"type": COMPACT, "trigger": _amount(TOKENS, rule.above)}


def _amount(unit: str, value: int) -> Json:
    return {"type": unit, "value": value}
