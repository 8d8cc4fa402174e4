"""CrewAI: above 0.85 of the window everything but the system messages becomes one message of the user.

Source: crewai 1.15.30 (MIT), run on the messages of golden vectors (`python -m tests.conformance harnesses
PATH`). It measures (characters + 3) / 4 of all contents together. System messages precede the summary.
Not reproduced: the messages are written up in chunks, four at a time; a call that nothing answers is written
up too.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.keep_system import KeepSystem
from ..rules.summarise_all import SummariseAll
from ..trigger import Trigger

CREWAI = Policy(
    name="crewai",
    title="CrewAI",
    version="1.15.30",
    source="crewai 1.15.30: respect_context_window, above 0.85 of the window (MIT)",
    trigger=Trigger(ratio=0.85, strict=True, measure="chars4_utf16", check="request"),
    harness=Harness(retries=0, reset=False),
    rules=(KeepSystem(), SummariseAll(behind=True)),
)
