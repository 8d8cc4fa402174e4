"""Retention rules, one kind per file: a class with its knobs as fields and one pure method over columns.

To add one, write a file and add a line here. Other packages add theirs through the entry point group
`inspector.rules`, each naming a subclass of `Rule`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from ...errors import PolicyError
from ..base_rule import Rule
from . import (
    budget_outputs,
    carry_file_operations,
    clear_thinking,
    clear_tool_outputs,
    collapse,
    condense_middle,
    dedupe_reads,
    drop_groups,
    drop_last_replies,
    drop_middle,
    drop_older,
    drop_oldest_turns,
    drop_reasoning,
    fold_calls,
    keep_listed,
    keep_newest_reasoning,
    keep_pairs,
    keep_prompts,
    keep_recent_messages,
    keep_recent_share,
    keep_recent_tokens,
    keep_recent_turns,
    keep_root,
    keep_system,
    keep_user_words,
    point_large_outputs,
    prune_parts,
    re_attach,
    shorten_inputs,
    shorten_user_words,
    snip_everything,
    snip_long_text,
    spill_outputs,
    summarise_all,
    summarise_older,
    truncate_outputs,
)

RULES: tuple[type[Rule], ...] = (
    keep_system.KeepSystem,
    keep_recent_turns.KeepRecentTurns,
    keep_recent_tokens.KeepRecentTokens,
    carry_file_operations.CarryFileOperations,
    summarise_older.SummariseOlder,
    keep_pairs.KeepPairs,
    keep_listed.KeepListed,
    keep_root.KeepRoot,
    keep_recent_messages.KeepRecentMessages,
    point_large_outputs.PointLargeOutputs,
    snip_long_text.SnipLongText,
    snip_everything.SnipEverything,
    drop_middle.DropMiddle,
    budget_outputs.BudgetOutputs,
    condense_middle.CondenseMiddle,
    drop_last_replies.DropLastReplies,
    drop_older.DropOlder,
    keep_newest_reasoning.KeepNewestReasoning,
    keep_recent_share.KeepRecentShare,
    keep_user_words.KeepUserWords,
    shorten_user_words.ShortenUserWords,
    drop_reasoning.DropReasoning,
    clear_tool_outputs.DropOldOutputs,
    dedupe_reads.DedupeReads,
    prune_parts.PruneParts,
    fold_calls.FoldCalls,
    drop_groups.DropGroups,
    re_attach.ReAttach,
    keep_prompts.KeepPrompts,
    shorten_inputs.ShortenInputs,
    spill_outputs.SpillOutputs,
    drop_oldest_turns.DropOldestTurns,
    truncate_outputs.TruncateOutputs,
    summarise_all.SummariseAll,
    collapse.Collapse,
    clear_thinking.ClearThinking,
    clear_tool_outputs.ClearToolOutputs,
)
"""Every built-in kind of rule."""


RESERVED = ("trigger", "target", "harness", "conduct")
"""Names of other groups of settings in a policy, which no rule may have. Before 0.2 the harness was called
"conduct"."""
GROUP = "inspector.rules"
_own: dict[str, type[Rule]] = {}


@cache
def _from_packages() -> tuple[type[Rule], ...]:
    """The rules of other packages; a package that cannot be loaded, or has no rule, is left out."""
    rules = []
    for point in entry_points(group=GROUP):
        try:
            rules.append(check_rule(point.load()))
        except Exception:
            continue
    return tuple(rules)


def list_rules() -> tuple[type[Rule], ...]:
    """Every kind of rule: the built-in ones, those of other packages, and the user's own.

    >>> [kind_of(rule) for rule in list_rules()][:3]
    ['keep-system', 'keep-recent-turns', 'keep-recent-tokens']
    """
    return (*RULES, *_from_packages(), *_own.values())


def is_own(rule: type[Rule]) -> bool:
    """Whether only this process knows it: another one finds the built-in rules and those of packages.

    >>> is_own(RULES[0])
    False
    """
    return rule not in RULES and rule not in _from_packages()


def kind_of(rule: type[Rule]) -> str:
    """The kind that a class of rules is named by in JSON and in settings."""
    return str(rule.model_fields["kind"].default)


def add_rule(rule: type[Rule]) -> None:
    """Register a kind of rule for this process; it replaces an earlier version of itself.

    Raises `PolicyError` if the class is not a subclass of `Rule` with a `decide` method, or if its name is
    a built-in kind or cannot be the name of a setting.

    >>> from typing import Literal
    >>> class KeepLastTurns(find_rule("keep-recent-turns")):
    ...     kind: Literal["keep-last-turns"] = "keep-last-turns"
    >>> add_rule(KeepLastTurns)
    >>> find_rule("keep-last-turns")(turns=2).sentence
    'keep the last 2 turns unchanged'
    """
    kind = kind_of(check_rule(rule))
    if any(kind == kind_of(built_in) for built_in in RULES):
        raise PolicyError.of_rule(kind, "a built-in kind of rule has this name")
    _own[kind] = rule


def check_rule(rule: Any) -> type[Rule]:
    """The class itself. Raises `PolicyError` unless it is a subclass of `Rule` with a kind and a decision."""
    if not isinstance(rule, type) or not issubclass(rule, Rule):
        raise PolicyError("", f"a subclass of Rule is needed, not {rule!r:.60}")
    kind = rule.model_fields["kind"]
    if kind.is_required():
        raise PolicyError.of_rule(rule.__name__, "its field `kind` needs a default, which names the rule")
    check_kind(kind.default)
    if rule.decide is Rule.decide:
        raise PolicyError.of_rule(kind.default, "it needs a method decide(table), which returns a Decision")
    return rule


def check_kind(kind: Any) -> None:
    """Raise `PolicyError` unless a rule can have that name: settings are "<kind>.<knob>"."""
    if not isinstance(kind, str) or not re.fullmatch(r"[^\s.]+", kind):
        raise PolicyError.of_rule(
            f"{kind}", "a rule's name is one word without dots, such as 'keep-recent-turns'"
        )
    if kind in RESERVED:
        raise PolicyError.of_rule(kind, "another part of every policy has this name", RESERVED)


def find_rule(kind: str) -> type[Rule]:
    """Return the rule class of that kind. Raises `PolicyError` if it does not exist.

    >>> find_rule("keep-recent-turns")(turns=2).sentence
    'keep the last 2 turns unchanged'
    """
    rules = {kind_of(rule): rule for rule in reversed(list_rules())}
    if kind not in rules:
        raise PolicyError.of_rule(kind, "no such kind of rule", [kind_of(rule) for rule in list_rules()])
    return rules[kind]
