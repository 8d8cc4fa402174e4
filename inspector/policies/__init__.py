"""Published strategies, one file each: data built from rules, citing their source."""

from __future__ import annotations

from typing import Any

from ..errors import PolicyError
from ..policy import Policy
from ..rules import read_policy
from .flue import FLUE
from .keep_recent_turns import KEEP_RECENT_TURNS

POLICIES: tuple[Policy, ...] = (KEEP_RECENT_TURNS, FLUE)
"""Every built-in policy, the plainest first."""


def names_of_policies() -> list[str]:
    """The built-in policies' names, in order."""
    return [policy.name for policy in POLICIES]


def find_policy(policy: str | Policy | dict[str, Any]) -> Policy:
    """A policy by name, as it is, or from its JSON form. Raises `PolicyError` when there is none."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, dict):
        return read_policy(policy)
    for known in POLICIES:
        if known.name == policy:
            return known
    raise PolicyError(str(policy), "no such policy", names_of_policies())
