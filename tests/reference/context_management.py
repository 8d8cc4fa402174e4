"""An Anthropic request's `context_management`, and a stud-cli provider entry's, read back into rules.

What `inspector.wire.context_management` writes has to say what the rules say: the tests read it back.
Defaults are the documentation's (CLAUDE §4, §5.1).
"""

from __future__ import annotations

from collections.abc import Iterable

from inspector.errors import PolicyError
from inspector.policies.base_rule import Rule
from inspector.policies.policy import Policy
from inspector.policies.registry import find_policy
from inspector.policies.rules.clear_thinking import ClearThinking
from inspector.policies.rules.clear_tool_outputs import ClearToolOutputs
from inspector.policies.rules.summarise_all import SummariseAll
from inspector.wire.context_management import COMPACT, THINKING, TOOL_USES, USES, Json

EDITS = {"clear_thinking": THINKING, "clear_tool_uses": TOOL_USES, "compact": COMPACT}
"""Every edit, by the name a stud-cli provider entry gives it (STUD §6)."""
DEFAULT_TRIGGER = 150_000
"""Input tokens above which a provider compacts by itself (CLAUDE §5.1)."""
CLEARING_TRIGGER = 100_000
"""Input tokens above which tool uses are cleared by default (CLAUDE §4)."""


def read_context_management(value: Json) -> tuple[Rule, ...]:
    """The rules that a `context_management` asks for, with its defaults; in the order core rules want.

    Takes the API's `{"edits": [...]}` and a stud-cli provider entry's `contextManagement`, which names edits
    as in `EDITS`, each with its settings or just true.
    """
    edits = value.get("edits")
    if edits is None:
        edits = [{"type": EDITS[name], **({} if own is True else own)} for name, own in value.items()]
    return tuple(
        sorted(map(_read_edit, edits), key=lambda rule: isinstance(rule, SummariseAll), reverse=True)
    )


def _read_edit(edit: Json) -> Rule:
    amounts = {
        name: field["value"] for name, field in edit.items() if isinstance(field, dict) and "value" in field
    }
    if edit["type"] == THINKING:
        keep = "all" if edit.get("keep", {}).get("type") == "all" else amounts.get("keep")
        return ClearThinking() if keep is None else ClearThinking(keep=keep)
    if edit["type"] == COMPACT:
        return SummariseAll(by="provider", above=amounts.get("trigger", DEFAULT_TRIGGER))
    uses = edit.get("trigger", {}).get("type") == USES
    settings = {name: amounts[name] for name in ("keep", "clear_at_least") if name in amounts}
    settings["trigger_uses" if uses else "trigger_tokens"] = amounts.get("trigger", CLEARING_TRIGGER)
    names = {"exclude_tools": "exclude_tools", "clear_tool_inputs": "clear_inputs"}
    return ClearToolOutputs.model_validate(
        settings | {names[name]: edit[name] for name in names if name in edit}
    )


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
