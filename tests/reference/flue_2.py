"""What Flue 2.0.3 takes its budgets from: the model's window, and the most it may answer."""

from __future__ import annotations

import math

from inspector.session.blocks import Number


def derive_defaults(window: Number, max_tokens: Number) -> tuple[Number, Number]:
    """Reserve and keep-recent tokens that Flue 2.0.3 derives from a model (FLUE §13.1); not in the pin.

    >>> derive_defaults(32_768, 16_384)
    (10922, 8000)
    """
    reserve = min(20_000, max_tokens) if max_tokens > 0 else 20_000
    if window > 0 and 2 * reserve >= window:
        reserve = max(1024, math.floor(window / 3))
    return reserve, 8000
