"""What a session or a plan is asked and a module on a floor above answers: `session.facts`, `plan.trace`.

Imports point down, so the answers are handed in from above: `inspector` itself sets them, and their modules
are imported when the first is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

answers: dict[str, Callable[[Any], Any]] = {}
"""What answers, by the name of what is asked."""


def ask(name: str, value: Any) -> Any:
    """What is known above of a value."""
    return answers[name](value)
