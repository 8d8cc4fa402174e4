"""Find the policy of the harness that wrote a session."""

from __future__ import annotations

from ..session.session import Session
from .policy import Policy
from .registry import find_policy, names_of_policies

_NAMES = {"stud": "stud-wiki-1.1"}
"""The policy of a harness, by its format, if it has another name."""


def find_own_policy(session: Session) -> Policy | None:
    """Return the policy of the harness that wrote a session; None if there is none for it.

    >>> from inspector import open_demo
    >>> policy = find_own_policy(open_demo())
    >>> policy and policy.name
    'claude-code'
    """
    name = _NAMES.get(session.format, session.format)
    return find_policy(name) if name in names_of_policies() else None
