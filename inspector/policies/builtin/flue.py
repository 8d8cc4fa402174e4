"""Flue's compaction at commit dbaa9effa305561c627c6836559f8a0cbce67875 (@flue/runtime 0.5.3).

Held to golden vectors of the real functions (`python -m tests.conformance flue`). Source: FLUE §2-8, §10-11.
Satisfies S4-26 to S4-31 and S4-36 to S4-49.

Known defects are reproduced: tool outputs at the very end that fill the budget stop the walk (FLUE §6), so a
larger budget can keep less, which is the only exception to S4-73; a cut right after a turn's first message
loses the previous summary (FLUE §10.3); a complete reply is treated as an overflow and deleted if its input
exceeds the window (FLUE §11). `enabled: false` also disables overflow recovery, against S4-74. A policy
with two has `harness.one_switch` off.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.carry_file_operations import CarryFileOperations
from ..rules.keep_recent_tokens import KeepRecentTokens
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..trigger import Trigger

FLUE = Policy(
    name="flue",
    title="Flue (May 2026)",
    version="dbaa9eff",
    source="withastro/flue at dbaa9eff, as shipped in @flue/runtime 0.5.3 (Apache-2.0)",
    trigger=Trigger(reserve_tokens=16_384),
    harness=Harness(retries=0, silent_overflow=True, one_switch=True, reset=False, dialect="flue"),
    rules=(KeepSystem(), KeepRecentTokens(tokens=20_000), CarryFileOperations(), SummariseOlder()),
)
