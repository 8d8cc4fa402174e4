"""Gemini CLI's chat compression: outputs under a budget, the last 30 % of the characters, a state snapshot.

Source: google-gemini/gemini-cli at 02b2885cb824fecd2f9ed666aa6c7e397fc26384, chatCompressionService.ts with
tokenCalculation.ts and fileUtils.ts (Apache-2.0), read and not run; PEERS §1.

A result that is not smaller is discarded, and so is an empty snapshot. Not reproduced: the second pass (the
summariser checks its own snapshot); the model's message of thanks after it; the lower limit of shown
characters if the window is nearly full; and the fallback after a failed summary, which shortens outputs.
Messages of every format are measured as JSON in Gemini's format.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.budget_outputs import BudgetOutputs
from ..rules.keep_recent_share import KeepRecentShare
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..trigger import Trigger

GEMINI_CLI = Policy(
    name="gemini-cli",
    title="Gemini CLI, chat compression",
    version="02b2885c",
    source="google-gemini/gemini-cli at 02b2885c: half the window, 30 %, 50,000 of outputs (Apache-2.0)",
    trigger=Trigger(ratio=0.5, check="request"),
    harness=Harness(recover=False, retries=0, reset=False, adopt="smaller"),
    rules=(
        KeepSystem(),
        BudgetOutputs(tokens=50_000, characters=40_000),
        KeepRecentShare(share=0.3, measure="characters", keep_last=False, snap="turn"),
        SummariseOlder(split_turns=False, limited=False),
    ),
)
