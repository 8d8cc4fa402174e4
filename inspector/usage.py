"""How full the context is by the provider's own word, with an estimate for what came after (FLUE §4).

In goes a session and per-entry weights of a published estimate, out comes one measurement.
"""

from __future__ import annotations

from typing import NamedTuple

from .blocks import Number
from .live import Ints
from .session import Session


class Measured(NamedTuple):
    """Tokens in the context: what the last usable usage says, plus the estimate of what follows it.

    `last` is the live position that usage came from, or None when everything is estimated.
    """

    tokens: Number
    usage_tokens: Number
    trailing_tokens: Number
    last: int | None


def measure_usage(session: Session, weights: Ints) -> Measured:
    """Measure the context at the leaf. `weights` is int32[n] over the live entries.

    A reply that was aborted or failed is passed over; one whose usage is all zero is not (FLUE §4).
    """
    live = session.live
    for position in range(len(live) - 1, -1, -1):
        entry = session.entries[live.entries[position]]
        if entry.role != "assistant" or entry.kind != "message" or entry.usage is None:
            continue
        if entry.stop_reason in ("aborted", "error"):
            continue
        trailing = int(weights[position + 1 :].sum())
        return Measured(entry.usage.tokens + trailing, entry.usage.tokens, trailing, position)
    total = int(weights.sum())
    return Measured(total, 0, total, None)
