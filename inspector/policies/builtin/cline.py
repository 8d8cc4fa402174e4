"""Cline's agentic strategy: the newest messages stay, never less than the newest prompt; the rest is
summarised.

Source: @cline/core 0.0.86 (Apache-2.0), run on the messages of golden vectors (`python -m tests.conformance
harnesses PATH`). The window is what Cline calls the input limit; 128,000 counts where nothing tells it. It
is off there unless `compaction.enabled` is set.

Not reproduced: the basic strategy, which calls no model, merges prompts and names dropped work in a
notice, and which stands in when the summariser fails or the provider refuses; the real tokens of the last
request, which hold the estimate up; the smaller target of models with a short output.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.keep_recent_share import KeepRecentShare
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..trigger import Trigger

CLINE = Policy(
    name="cline",
    title="Cline, agentic",
    version="0.0.86",
    source="@cline/core 0.0.86, agentic: 0.9 of the input limit, at most 20,000 tokens stay (Apache-2.0)",
    trigger=Trigger(ratio=0.9, unknown_window=128_000, measure="cline", check="request"),
    harness=Harness(recover=False, retries=0, reset=False),
    rules=(
        KeepSystem(),
        KeepRecentShare(
            share=0.7,
            of="threshold",
            measure="cline",
            highest=20_000,
            least=True,
            snap="backwards",
            newest_prompt=True,
        ),
        SummariseOlder(split_turns=False, limited=False),
    ),
)
