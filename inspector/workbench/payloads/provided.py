"""What context providers contribute, as a moment tells it: who, read from what, and its tokens."""

from __future__ import annotations

from typing import Any

from ...session.session import Session
from ...text import printable
from ...tokens.ledger import Ledger

AT_COMPOSE = "read anew for every request, when it is composed"
_LONGEST = 120


def describe_provided(session: Session, ledger: Ledger) -> list[dict[str, Any]]:
    """Each contribution: its provider's name, the origin it reads, "" where unknown, when, and its tokens."""
    first = ledger.head - len(session.provided)
    return [
        {
            "name": printable(one.name, _LONGEST),
            "origin": printable(one.origin, _LONGEST),
            "when": AT_COMPOSE,
            "tokens": int(ledger.tokens[first + at]),
        }
        for at, one in enumerate(session.provided)
    ]
