"""Tiered compaction of mini-claude-code at 60a3bef (June 2026): shrink, then snip, then drop the middle.

Two policies: `mini-claude-code-compat` reproduces the published functions exactly and is tested against their
golden vectors (`python -m tests.conformance tiered`); `mini-claude-code` does the same without the defects
listed in TIERED §11. Source: TIERED §2-5.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy, Stage
from ..rules.drop_middle import DropMiddle
from ..rules.keep_pairs import KeepPairs
from ..rules.keep_recent_messages import KeepRecentMessages
from ..rules.keep_root import KeepRoot
from ..rules.keep_system import KeepSystem
from ..rules.point_large_outputs import PointLargeOutputs
from ..rules.snip_everything import SnipEverything
from ..rules.snip_long_text import SnipLongText
from ..trigger import Target, Trigger

BUDGET = 24_000
SOURCE = "wusijian007/mini-claude-code at 60a3bef, PR #18 (no licence; written from its behaviour alone)"
# It acts by itself and tries once more when the provider refuses; no model is ever asked to summarise.
HARNESS = Harness(
    mode="auto",
    recover=True,
    recover_output=True,
    recoveries=1,
    retries=0,
    reset=False,
    adopt="smaller",
    dialect="mini-claude-code",
)

# Half of the budget by itself; after a refusal 70 % of the context, or of the budget if that is less.
TARGET = Target(ratio=0.5, recovery=0.7)


def _trigger(measure: str) -> Trigger:
    settings = {"budget": BUDGET, "ratio": 0.75, "strict": True, "measure": measure, "check": "outputs"}
    return Trigger.model_validate(settings)


MINI_CLAUDE_CODE = Policy(
    name="mini-claude-code",
    title="mini-claude-code (June 2026)",
    version="60a3bef",
    source=SOURCE,
    # Calls, system prompt and tools are counted, although the estimate leaves them out (TIERED §11 h).
    trigger=_trigger("assembled"),
    target=TARGET,
    harness=HARNESS,
    stages=(
        Stage(
            name="shrink",
            rules=("keep-recent-messages", "point-large-outputs", "snip-long-text"),
            reasons=("auto",),
        ),
        Stage(name="snip everything", rules=("point-large-outputs", "snip-everything")),
        Stage(name="drop the middle", rules=("drop-middle",)),
    ),
    rules=(
        KeepSystem(),
        KeepRoot(messages=1),
        KeepRecentMessages(messages=6, loops=True),
        PointLargeOutputs(characters=600, recent=True),
        SnipLongText(characters=2000),
        SnipEverything(characters=2000),
        DropMiddle(),
    ),
)

MINI_CLAUDE_CODE_COMPAT = Policy(
    name="mini-claude-code-compat",
    title="mini-claude-code (June 2026), as published",
    version="60a3bef",
    source=SOURCE,
    trigger=_trigger("tiered"),
    target=TARGET,
    harness=HARNESS,
    stages=(
        Stage(
            name="shrink",
            rules=("keep-root", "keep-recent-messages", "point-large-outputs", "snip-long-text"),
            reasons=("auto",),
        ),
        Stage(name="snip everything", rules=("snip-everything",)),
        Stage(name="drop the middle", rules=("drop-middle",)),
    ),
    rules=(
        KeepSystem(),
        KeepPairs(form="compat"),
        KeepRoot(messages=1),
        KeepRecentMessages(messages=6, form="compat"),
        PointLargeOutputs(characters=600, form="compat"),
        SnipLongText(characters=2000, form="compat"),
        SnipEverything(characters=2000, form="compat"),
        DropMiddle(first=1, last=6, form="compat"),
    ),
)
