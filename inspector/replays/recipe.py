"""The expression that makes a replay again."""

from __future__ import annotations

from ..planning.plan_words import last_leaf, shorten_policy
from ..policies.policy import Policy
from ..policies.registry import POLICIES, find_settings
from ..session.session import Session
from ..tokens.models import window_of
from .scenario import Scenario


def write_recipe(session: Session, policy: Policy, scenario: Scenario, window: int) -> str:
    """Return a Python expression with the name `session`, without default arguments.

    >>> from inspector import open_demo, replay
    >>> replay(open_demo(), "flue", {"turn_cap": 3}, settings={"trigger.ratio": 0.5}, window=90_000).recipe
    "replay(session, 'flue', {'turn_cap': 3}, settings={'trigger.ratio': 0.5}, window=90000)"
    """
    settings = find_settings(policy, POLICIES)
    is_published = settings is not None
    moved = session.leaf != last_leaf(session)
    parts = [f"session.at({session.leaf!r})" if moved else "session"]
    parts.append(repr(policy.name if is_published else shorten_policy(policy)))
    happens = scenario.model_dump(mode="json", exclude_defaults=True)
    parts += [repr(happens)] if happens else []
    parts += [f"settings={settings!r}"] if settings else []
    parts += [f"window={window}"] if window != (window_of(session).tokens or 0) else []
    return f"replay({', '.join(parts)})"
