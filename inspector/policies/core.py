"""Core compaction: the rules of a policy that lists none, its modes, and the contract of profiles.

Source: stud-cli wiki, Compaction and Memory 1.1.0. Core is on by default (S0-56), its modes are in one key of
a profile (S0-76), and no extension replaces it (S0-4, S0-68).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from .base_rule import Rule
from .rules.clear_tool_outputs import DropOldOutputs
from .rules.drop_reasoning import DropReasoning
from .rules.keep_recent_turns import KeepRecentTurns
from .rules.keep_system import KeepSystem
from .rules.summarise_older import SummariseOlder
from .trigger import Trigger

Mode = Literal["summarise", "drop-reasoning", "outputs-first", "drop-old-outputs"]

SWITCHES: dict[Mode, tuple[str, ...]] = {
    "summarise": ("summarise-older",),
    "drop-reasoning": ("drop-reasoning", "summarise-older"),
    "outputs-first": ("drop-old-outputs", "summarise-older"),
    "drop-old-outputs": ("drop-old-outputs",),
}
"""Compaction modes and the rules that take part in them (S0-76). The last calls no model (S0-75); the one
before drops old outputs and summarises only if that leaves too much (S0-19)."""
SWITCHED = ("drop-reasoning", "drop-old-outputs", "summarise-older")
"""The rules that a mode switches."""

AT_80 = Trigger(ratio=0.8, measure="assembled", check="request")
"""When core compacts by itself: before a request that fills 80 % of the window (S0-12)."""

CONTRACT = "Compaction and Memory 1.1.0"
"""The contract of a profile that conforms to the wiki page of that name, contractVersion 1.1.0 (S0-1)."""
_TERMS = frozenset({"keep-system", "keep-recent-turns", *SWITCHED})


def core_rules(turns: int = 4) -> tuple[Rule, ...]:
    """Core's rules, with `turns` recent turns kept; those that are switched off are modes.

    >>> [rule.kind for rule in core_rules() if rule.enabled]
    ['keep-system', 'keep-recent-turns', 'summarise-older']
    """
    return (
        KeepSystem(),
        KeepRecentTurns(turns=turns, summary_again=0.25),
        DropReasoning(enabled=False),
        DropOldOutputs(enabled=False),
        SummariseOlder(split_turns=False),
    )


def keeps_contract(contract: str, engine: str, rules: Iterable[Rule]) -> bool:
    """Return whether core compacts, with exactly its own rules. Edits by the provider do not matter.

    >>> keeps_contract(CONTRACT, "core", core_rules(2)), keeps_contract(CONTRACT, "tool", core_rules(2))
    (True, False)
    """
    kinds = {rule.kind for rule in rules if not rule.wire}
    return contract == CONTRACT and engine == "core" and kinds == _TERMS
