"""opencode: the newest turns stay within a budget, everything older becomes one summary.

Source: opencode-ai 1.18.33, the real program run on the sessions of golden vectors (`python -m
tests.conformance harnesses PATH`). `compaction.prune` is `drop-old-outputs.enabled`; it is off there too.

opencode reserves the longest output of the model, or 20,000 tokens of an input limit, if the model's data
contain it (`trigger.reserve_tokens`). A session contains neither, so 20,000 is used. Not reproduced: in
opencode the summary is the assistant's answer to a short fixed question, and a refused prompt is sent again.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.clear_tool_outputs import DropOldOutputs
from ..rules.keep_recent_share import KeepRecentShare
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..trigger import Trigger

OPENCODE = Policy(
    name="opencode",
    title="opencode",
    version="1.18.33",
    source="opencode-ai 1.18.33: a quarter of what is usable stays, from 2,000 to 15,000 tokens (MIT)",
    trigger=Trigger(reserve_tokens=20_000, at_least=True, check="request"),
    harness=Harness(reset=False),
    rules=(
        KeepSystem(),
        KeepRecentShare(
            share=0.25,
            of="threshold",
            measure="ai-sdk",
            lowest=2_000,
            highest=15_000,
            keep_last=False,
            not_all=True,
        ),
        DropOldOutputs(
            enabled=False, keep_tokens=40_000, turns=2, clear_at_least=20_001, exclude_tools=("skill",)
        ),
        SummariseOlder(split_turns=False, limited=False),
    ),
)
