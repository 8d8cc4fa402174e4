"""Retention rules, one kind per file: its knobs as a model, and one pure function over columns.

To add one, write a file and add a line here. Other packages add theirs through the entry point group
`inspector.rules`, each naming a `RuleKind`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from pydantic import ValidationError

from ..errors import PolicyError
from ..policy import Policy, Rule, Trigger
from ..table import Decision, Table
from . import carry_file_operations, keep_recent_tokens, keep_recent_turns, keep_system, summarise_older


class RuleKind(NamedTuple):
    """A kind of rule: the model of its knobs, and the function that decides."""

    model: type[Rule]
    decide: Callable[[Any, Table], Decision]

    @property
    def name(self) -> str:
        return str(self.model.model_fields["kind"].default)


RULES: tuple[RuleKind, ...] = (
    RuleKind(keep_system.KeepSystem, keep_system.decide),
    RuleKind(keep_recent_turns.KeepRecentTurns, keep_recent_turns.decide),
    RuleKind(keep_recent_tokens.KeepRecentTokens, keep_recent_tokens.decide),
    RuleKind(carry_file_operations.CarryFileOperations, carry_file_operations.decide),
    RuleKind(summarise_older.SummariseOlder, summarise_older.decide),
)
"""Every built-in kind of rule."""


def find_rule(kind: str) -> RuleKind:
    """The kind of that name. Raises `PolicyError` when there is none."""
    for rule in RULES:
        if rule.name == kind:
            return rule
    raise PolicyError(kind, "no such kind of rule", [rule.name for rule in RULES])


def decide(rule: Rule, table: Table) -> Decision:
    """What a rule answers for this context."""
    return find_rule(rule.kind).decide(rule, table)


def read_policy(data: dict[str, Any]) -> Policy:
    """A policy from its JSON form. Raises `PolicyError` naming the field that is wrong."""
    name = str(data.get("name", "policy"))
    given = data.get("rules", ())
    if not isinstance(given, list | tuple) or not all(isinstance(item, dict) for item in given):
        raise PolicyError(name, "rules: a list of objects is needed")
    kinds = [str(item.get("kind")) for item in given]
    if len(set(kinds)) < len(kinds):
        raise PolicyError(name, "rules: two of one kind cannot be told apart by their settings")
    try:
        rules = tuple(
            find_rule(kind).model.model_validate(item) for kind, item in zip(kinds, given, strict=True)
        )
        trigger = Trigger.model_validate(data.get("trigger", {}))
        return Policy.model_validate({**data, "rules": rules, "trigger": trigger})
    except ValidationError as error:
        first = error.errors()[0]
        raise PolicyError(name, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
