"""What context providers contribute, as a moment tells it: who, read from what, and its tokens."""

from __future__ import annotations

from ...redaction.cut import cut_text
from ...session.session import Session
from ...tokens.ledger import Ledger
from .base_payload import Payload

AT_COMPOSE = "read anew for every request, when it is composed"
_LONGEST = 120


class ProvidedPayload(Payload, frozen=True):
    """A contribution: its provider's name, the origin it reads, "" where unknown, when, and its tokens."""

    name: str
    origin: str
    when: str
    tokens: int


def describe_provided(session: Session, ledger: Ledger) -> list[ProvidedPayload]:
    """What each context provider contributes."""
    first = ledger.head - len(session.provided)
    return [
        ProvidedPayload(
            cut_text(one.name, _LONGEST),
            cut_text(one.origin, _LONGEST),
            AT_COMPOSE,
            int(ledger.tokens[first + number]),
        )
        for number, one in enumerate(session.provided)
    ]
