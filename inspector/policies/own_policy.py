"""Find the policy of the harness that wrote a session."""

from __future__ import annotations

from ..session.provenance import HARNESSES
from ..session.session import Session
from .policy import Policy
from .registry import find_policy, names_of_policies

_NAMES = {"stud": "stud-wiki-1.1"}
"""The policy of a harness, by its format, if it has another name."""


def find_own_policy(session: Session) -> Policy | None:
    """Return the policy of the harness that wrote a session, or None.

    >>> from inspector import open_demo
    >>> policy = find_own_policy(open_demo())
    >>> policy and policy.name
    'claude-code'
    """
    registered, harness = names_of_policies(), session.source.harness
    # A harness may write several formats, and a format may hold the sessions of any.
    alike = [name for name, called in HARNESSES.items() if called is not None and called == harness]
    names = (_NAMES.get(session.format, session.format), *alike, harness)
    return next((find_policy(name) for name in names if name is not None and name in registered), None)
