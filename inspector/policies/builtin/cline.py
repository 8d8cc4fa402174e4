"""Cline's two strategies. Agentic: the newest messages stay, never less than the newest prompt, the rest is
summarised. Basic asks no model: the user's words and the newest answers stay, the rest is named in notices.

Source: @cline/core 0.0.86 (Apache-2.0), run on the messages of golden vectors (`python -m tests.conformance
harnesses PATH`). The window is what Cline calls the input limit, or 128,000 if it is unknown. Cline compacts
only if `compaction.enabled` is set.

Basic is used instead when the summariser fails or the provider refuses; then half of the request may remain
(`keep-prompts.amount`). Messages that survived it are never cut again (`keep-prompts.frozen`). Not
reproduced: adjacent prompts are merged; notices are left out if they do not fit, and prompts are shortened
if they alone exceed the target; the real tokens of the last request, which hold the estimate up; the
smaller target, half of the input limit, of models with a short output (`keep-prompts.amount`).
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.keep_prompts import KeepPrompts
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

CLINE_BASIC = Policy(
    name="cline-basic",
    title="Cline, basic",
    version="0.0.86",
    source="@cline/core 0.0.86, basic: 0.7 of the trigger stays, at 0.9 of the input limit (Apache-2.0)",
    trigger=CLINE.trigger,
    harness=Harness(retries=0, reset=False),
    rules=(KeepSystem(), KeepPrompts()),
)
