"""pi's compaction at 1.5.2, and the settings that make it 0.73.1 or 0.58.3. Source: FLUE §13.2-3.

Tested against golden vectors of the real functions. Satisfies S4-26 to S4-30 and S4-36 to S4-49 with its own
estimate, and fixes faults of the pinned Flue: outputs at the very end no longer stop the walk, the summary is
not lost if only the beginning of a turn is summarised, and zero or stale usage is ignored. A complete reply
is kept even if its input exceeds the window: pi compacts after it and does not repeat the request
(`harness.recover` is for failures, and for an empty reply that was cut off in a full window).

Not reproduced, because a plan does not show it: the provider's retries, cache writes, hooks, overrides of
models. pi does not check for an unknown window; here a trigger never fires without one.
"""

from __future__ import annotations

from typing import Any

from ..harness import Harness
from ..part import LARGE
from ..policy import Policy
from ..rules.carry_file_operations import CarryFileOperations
from ..rules.keep_recent_tokens import KeepRecentTokens
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..trigger import Trigger

PI = Policy(
    name="pi",
    title="pi 1.5.2",
    version="1.5.2",
    source="@earendil-works/pi-coding-agent 1.5.2 (MIT)",
    trigger=Trigger(reserve_tokens=16_384, check="outputs"),
    harness=Harness(reset=False, dialect="pi"),
    rules=(
        KeepSystem(),
        KeepRecentTokens(
            tokens=20_000,
            estimate="pi-1.5.2",
            fresh_usage=True,
            skip_empty=True,
            fallback="last",
            summaries=True,
            again=False,
        ),
        CarryFileOperations(nested=True),
        SummariseOlder(
            limited=False,
            effort="session",
            thinking=False,
            whole_characters=True,
            keep_previous=True,
            strict=True,
        ),
    ),
)

_PI_0_73_1: dict[str, Any] = {
    "trigger.check": "reply",
    "keep-recent-tokens.estimate": "pi-0.73.1",
    "keep-recent-tokens.fresh_usage": False,
    "keep-recent-tokens.skip_empty": False,
    "keep-recent-tokens.fallback": "first",
    "keep-recent-tokens.step_back": True,
    "keep-recent-tokens.always": True,
    "carry-file-operations.nested": False,
    "summarise-older.limited": True,
    "summarise-older.cap": LARGE,
    "summarise-older.thinking": True,
    "summarise-older.whole_characters": False,
    "summarise-older.keep_previous": False,
    "summarise-older.strict": False,
}
VERSIONS: dict[str, dict[str, Any]] = {
    "1.5.2": {},
    "0.73.1": _PI_0_73_1,
    "0.58.3": _PI_0_73_1 | {"keep-recent-tokens.start": "compaction", "summarise-older.effort": "history"},
}
"""Settings that make `PI` another version of itself: `make_plan(session, ledger, "pi", {"settings": …})`."""
