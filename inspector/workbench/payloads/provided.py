"""Payload of the text that context providers contribute: name, origin and tokens."""

from __future__ import annotations

from ...redaction.cut import cut_text
from ...session.session import Session
from ...tokens.ledger import Ledger
from .base_payload import Payload

AT_COMPOSE = "read again for every request"
_LONGEST = 120


class ProvidedPayload(Payload, frozen=True):
    """A contribution: its provider's name, origin ("" if unknown), time, and tokens."""

    name: str
    origin: str
    when: str
    tokens: int


def describe_provided(session: Session, ledger: Ledger) -> list[ProvidedPayload]:
    """Describe the contribution of each context provider."""
    first = ledger.head - len(session.provided)
    return [
        ProvidedPayload(
            cut_text(provided.name, _LONGEST),
            cut_text(provided.origin, _LONGEST),
            AT_COMPOSE,
            int(ledger.tokens[first + number]),
        )
        for number, provided in enumerate(session.provided)
    ]
