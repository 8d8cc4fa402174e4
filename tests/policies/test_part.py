"""What the knobs of a policy's parts are unless someone says otherwise, and what they refuse."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from inspector.errors import PolicyError
from inspector.policies.harness import Harness
from inspector.policies.part import LARGE, PolicyPart
from inspector.policies.policy import Policy
from inspector.policies.registry import configure_policy, find_policy
from inspector.policies.rules import RULES
from inspector.policies.trigger import Target, Trigger

PARTS: tuple[type[PolicyPart], ...] = (*RULES, Harness, Trigger, Target)
KINDS = {rule.model_fields["kind"].default for rule in RULES}
NUMBERS = [
    (part.model_fields["kind"].default, name, field)
    for part in PARTS
    for name, field in part.model_fields.items()
    if {int, float} & {field.annotation, *get_args(field.annotation)}
    and (field.default is None or type(field.default) in (int, float))
]
SHARES = ("ratio", "share", "warn", "require", "block", "progress", "recovery")
BELOW_NOTHING = {"keep-recent-messages.messages", "keep-root.messages", "keep-recent-tokens.tokens"}
BELOW_NOTHING |= {"trigger.reserve_tokens"}
"""What the published code takes a negative number for, and reads in its own way."""
AT_LEAST_ONE = {
    "collapse.turns",
    "drop-oldest-turns.turns",
    "condense-middle.events",
    "condense-middle.tokens",
}
"""Of these nothing at all would be no policy: the current turn always stays, half of no events is none."""
MOST = {"harness.recoveries": 100, "harness.retries": 100, "harness.breaker": 100, "harness.growth": 100}
MOST |= {"summarise-older.share": 100, "summarise-older.prefix_share": 100}
MOST |= {"keep-recent-turns.summary_again": 100}


def policy_with(kind: str) -> dict[str, Any]:
    return {"name": "mine", "rules": [{"kind": kind if kind in KINDS else "keep-system"}]}


def knob(policy: Policy, kind: str, name: str) -> Any:
    parts: dict[str, PolicyPart] = {rule.kind: rule for rule in policy.rules}
    parts |= {"trigger": policy.trigger, "harness": policy.harness, "target": policy.target or Target()}
    return getattr(parts[kind], name)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("trigger.reserve_tokens", 16_384),  # FLUE §5
        ("keep-recent-tokens.tokens", 20_000),  # FLUE §5
        ("summarise-older.share", 0.8),  # FLUE §10.3: of the reserve, at most 16,000 tokens
        ("summarise-older.prefix_share", 0.5),
        ("summarise-older.cap", 16_000),
        ("keep-root.messages", 1),  # TIERED §3
        ("keep-recent-messages.messages", 6),
        ("point-large-outputs.characters", 600),
        ("snip-long-text.characters", 2_000),
        ("snip-everything.characters", 2_000),  # TIERED §4
        ("keep-recent-turns.turns", 4),  # S0-24
        ("clear-tool-outputs.keep", 3),  # CLAUDE §4
        ("truncate-outputs.limit", 30_000),  # CLAUDE §2.5, BASH_MAX_OUTPUT_LENGTH
        ("spill-outputs.budget", 50_000),  # CLAUDE §2.5, results of more characters go to a file
        ("keep-user-words.tokens", 20_000),  # PEERS §1, Codex
        ("keep-recent-share.share", 0.3),  # PEERS §1, Gemini CLI
        ("budget-outputs.tokens", 50_000),
        ("condense-middle.events", 240),  # PEERS §1, OpenHands
        ("condense-middle.first", 2),
        ("condense-middle.progress", 0.1),
        ("keep-newest-reasoning.replies", 1),  # PEERS §1, inspect_ai
    ],
)
def test_a_knob_that_nobody_turns_is_as_published(setting: str, value: float) -> None:
    kind, _, name = setting.partition(".")
    assert knob(find_policy(policy_with(kind)), kind, name) == value


def accepts(kind: str, name: str, value: float) -> bool:
    policy = policy_with(kind) | ({"target": {}} if kind == "target" else {})
    try:
        return bool(knob(configure_policy(policy, {f"{kind}.{name}": value}), kind, name) == value)
    except PolicyError:
        return False


@pytest.mark.parametrize(
    ("kind", "name", "field"), NUMBERS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_number_is_refused_where_it_means_nothing(kind: str, name: str, field: FieldInfo) -> None:
    """Counts begin at nothing, shares that must fire above it; a share is one at most, a count is large."""
    setting = f"{kind}.{name}"
    above_nothing = kind in ("trigger", "harness", "target") and name in SHARES
    assert accepts(kind, name, -1) == (setting in BELOW_NOTHING)
    assert accepts(kind, name, 0) == (not above_nothing and setting not in AT_LEAST_ONE)
    most = MOST.get(setting, 1 if name in SHARES else LARGE)
    assert accepts(kind, name, 1)
    if setting != "summarise-older.cap":
        assert accepts(kind, name, most) and not accepts(kind, name, most + 1)
    # The part says so by itself, whoever looks at the policy after it.
    (part,) = (part for part in PARTS if part.model_fields["kind"].default == kind)
    for value in (-1, *([-0.5, 0] if above_nothing else [])):
        if setting not in BELOW_NOTHING:
            with pytest.raises(ValidationError):
                part.model_validate({name: value})
    if setting in BELOW_NOTHING:
        assert accepts(kind, name, -LARGE) and not accepts(kind, name, -LARGE - 1)


COUNTED = r"\{(\w+)\} (?:user )?(?:turn|message)s\b"


@pytest.mark.parametrize(
    ("part", "knob"),
    [(part, knob) for part in RULES for knob in re.findall(COUNTED, part.phrase)],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_noun_agrees_with_its_number_in_words_and_beside_a_field(part: type[PolicyPart], knob: str) -> None:
    one, two = (part.model_validate({knob: number}) for number in (1, 2))
    assert re.search(r"\b1 (?:user )?(?:turn|message)\b", one.sentence)
    assert re.search(rf"\{{{knob}\}} (?:user )?(?:turn|message)\b", one.wording)
    assert two.wording == two.template
