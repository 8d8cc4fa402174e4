"""Retention rules, one kind per file: its knobs as a model, and one pure function over columns.

To add one, write a file and add a line here. Other packages add theirs through the entry point group
`inspector.rules`, each naming a `RuleKind`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from ...errors import PolicyError
from ..rule import Rule
from ..table import Decision, Table
from . import (
    budget_outputs,
    carry_file_operations,
    clear_thinking,
    clear_tool_outputs,
    collapse,
    condense_middle,
    dedupe_reads,
    drop_last_replies,
    drop_middle,
    drop_older,
    drop_oldest_turns,
    drop_reasoning,
    keep_newest_reasoning,
    keep_pairs,
    keep_recent_messages,
    keep_recent_share,
    keep_recent_tokens,
    keep_recent_turns,
    keep_root,
    keep_system,
    keep_user_words,
    point_large_outputs,
    shorten_user_words,
    snip_everything,
    snip_long_text,
    spill_outputs,
    summarise_all,
    summarise_older,
    truncate_outputs,
)


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
    RuleKind(keep_pairs.KeepPairs, keep_pairs.decide),
    RuleKind(keep_root.KeepRoot, keep_root.decide),
    RuleKind(keep_recent_messages.KeepRecentMessages, keep_recent_messages.decide),
    RuleKind(point_large_outputs.PointLargeOutputs, point_large_outputs.decide),
    RuleKind(snip_long_text.SnipLongText, snip_long_text.decide),
    RuleKind(snip_everything.SnipEverything, snip_everything.decide),
    RuleKind(drop_middle.DropMiddle, drop_middle.decide),
    RuleKind(budget_outputs.BudgetOutputs, budget_outputs.decide),
    RuleKind(condense_middle.CondenseMiddle, condense_middle.decide),
    RuleKind(drop_last_replies.DropLastReplies, drop_last_replies.decide),
    RuleKind(drop_older.DropOlder, drop_older.decide),
    RuleKind(keep_newest_reasoning.KeepNewestReasoning, keep_newest_reasoning.decide),
    RuleKind(keep_recent_share.KeepRecentShare, keep_recent_share.decide),
    RuleKind(keep_user_words.KeepUserWords, keep_user_words.decide),
    RuleKind(shorten_user_words.ShortenUserWords, shorten_user_words.decide),
    RuleKind(drop_reasoning.DropReasoning, drop_reasoning.decide),
    RuleKind(clear_tool_outputs.DropOldOutputs, clear_tool_outputs.decide),
    RuleKind(dedupe_reads.DedupeReads, dedupe_reads.decide),
    RuleKind(spill_outputs.SpillOutputs, spill_outputs.decide),
    RuleKind(drop_oldest_turns.DropOldestTurns, drop_oldest_turns.decide),
    RuleKind(truncate_outputs.TruncateOutputs, truncate_outputs.decide),
    RuleKind(summarise_all.SummariseAll, summarise_all.decide),
    RuleKind(collapse.Collapse, collapse.decide),
    RuleKind(clear_thinking.ClearThinking, clear_thinking.decide),
    RuleKind(clear_tool_outputs.ClearToolOutputs, clear_tool_outputs.decide),
)
"""Every built-in kind of rule."""


RESERVED = ("trigger", "target", "conduct")
"""What else has settings in a policy, and so no rule may be called."""
GROUP = "inspector.rules"
_own: dict[str, RuleKind] = {}


@cache
def _brought() -> tuple[RuleKind, ...]:
    """What other packages bring; a package that cannot be loaded, or brings no rule, is left out."""
    found = []
    for point in entry_points(group=GROUP):
        try:
            kind = point.load()
        except Exception:
            continue
        if isinstance(kind, RuleKind):
            found.append(kind)
    return tuple(found)


def list_rules() -> tuple[RuleKind, ...]:
    """Every kind of rule: the built-in ones, those of other packages, and those of one's own."""
    return (*RULES, *_brought(), *_own.values())


def add_rule(kind: RuleKind) -> None:
    """Make a kind of rule known for as long as this process runs; its own earlier form is replaced.

    Raises `PolicyError` for the name of a built-in kind, and for one that no setting could name.
    """
    check_kind(kind.name)
    if any(kind.name == rule.name for rule in RULES):
        raise PolicyError(kind.name, "a built-in kind of rule has this name")
    _own[kind.name] = kind


def check_kind(kind: Any) -> None:
    """Raise `PolicyError` unless a rule can have that name: settings are "<kind>.<knob>"."""
    if not isinstance(kind, str) or not re.fullmatch(r"[^\s.]+", kind):
        raise PolicyError(f"{kind}", "a rule's name is one word without dots, such as 'keep-recent-turns'")
    if kind in RESERVED:
        raise PolicyError(kind, "another part of every policy has this name", RESERVED)


def find_rule(kind: str) -> RuleKind:
    """The kind of that name. Raises `PolicyError` when there is none."""
    for rule in list_rules():
        if rule.name == kind:
            return rule
    raise PolicyError(kind, "no such kind of rule", [rule.name for rule in list_rules()])


def decide(rule: Rule, table: Table) -> Decision:
    """What a rule answers for this context."""
    return find_rule(rule.kind).decide(rule, table)
