"""Flue 2.0.3 (commit bf86b872, August 2026): the pin's planner with other budgets. Source: FLUE §13.1.

Held to golden vectors of the real functions: the same plans as the pin's in every case, its defects included.
Satisfies S4-29, S4-30, S4-37 to S4-41, S4-71 and S4-74: switching the trigger off leaves overflow recovery
on, and a /compact exists. 2.0.3 still deletes a complete reply if its input exceeds the window, and repeats
the request; 2.1.0 keeps it and retries only after errors, as with `harness.silent_overflow` off.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.carry_file_operations import CarryFileOperations
from ..rules.keep_recent_tokens import KeepRecentTokens
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..trigger import Trigger

FLUE_2 = Policy(
    name="flue-2",
    title="Flue 2 (August 2026)",
    version="2.0.3",
    source="withastro/flue at bf86b872, v2.0.3 (Apache-2.0)",
    trigger=Trigger(reserve_tokens=20_000),
    harness=Harness(retries=0, silent_overflow=True, reset=False, dialect="flue-2"),
    rules=(KeepSystem(), KeepRecentTokens(tokens=8_000), CarryFileOperations(), SummariseOlder()),
)
