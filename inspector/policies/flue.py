"""Flue's compaction at commit dbaa9effa305561c627c6836559f8a0cbce67875 (@flue/runtime 0.5.3).

Held to golden vectors of the real functions (`python -m tests.conformance flue`). Source: FLUE §2-8, §10.
"""

from __future__ import annotations

import math

from ..blocks import Number
from ..policy import Policy, Trigger
from ..rules.carry_file_operations import CarryFileOperations
from ..rules.keep_recent_tokens import KeepRecentTokens
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder

FLUE = Policy(
    name="flue",
    title="Flue (May 2026)",
    source="withastro/flue at dbaa9eff, as shipped in @flue/runtime 0.5.3 (Apache-2.0)",
    trigger=Trigger(reserve_tokens=16_384),
    rules=(KeepSystem(), KeepRecentTokens(tokens=20_000), CarryFileOperations(), SummariseOlder()),
)


def derive_defaults(window: Number, max_tokens: Number) -> tuple[Number, Number]:
    """Reserve and keep-recent tokens that Flue 2.0.3 derives from a model (FLUE §13.1); not in the pin.

    >>> derive_defaults(32_768, 16_384)
    (10922, 8000)
    """
    reserve = min(20_000, max_tokens) if max_tokens > 0 else 20_000
    if window > 0 and 2 * reserve >= window:
        reserve = max(1024, math.floor(window / 3))
    return reserve, 8000
