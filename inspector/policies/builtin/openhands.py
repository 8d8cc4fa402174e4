"""OpenHands' condenser: the first two events and the newest half stay, between them a summary.

Source: openhands-sdk 1.58.0, LLMSummarizingCondenser (MIT); PEERS §1. `tests/policies/test_peers.py` runs the
real one on the same events and compares what it forgets, if the package can be installed (Python >= 3.12).

Differences: a message is one unit, so the user's text is removed together with outputs in the same record.
The trigger counts messages, and parallel calls as one; the rule itself counts events.

Not reproduced: litellm's token counts (the ledger's counter is used); retries of the full reset with shorter
events (5 times, factor 0.8). The condenser of the default agent has other settings:
`condense-middle.events` 80, `condense-middle.first` 4.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.condense_middle import CondenseMiddle
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..trigger import Trigger

OPENHANDS = Policy(
    name="openhands",
    title="OpenHands, LLMSummarizingCondenser",
    version="1.58.0",
    source="openhands-sdk 1.58.0: max_size 240, keep_first 2, minimum_progress 0.1 (MIT)",
    trigger=Trigger(tokens=240, measure="messages", check="request"),
    harness=Harness(retries=0, reset=False),
    rules=(
        KeepSystem(),
        CondenseMiddle(events=240, first=2, progress=0.1),
        SummariseOlder(split_turns=False, limited=False),
    ),
)
