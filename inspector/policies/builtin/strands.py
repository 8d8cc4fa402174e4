"""Strands, SummarizingConversationManager: after a refusal the oldest part of the messages becomes a summary.

Source: strands-agents 1.62.0 (Apache-2.0), run on the messages of golden vectors (`python -m
tests.conformance harnesses PATH`). Its proactive compression, off there too, is `trigger.enabled`, at 0.7
of the window. Not reproduced: pinned messages, and that too few messages are an error after a refusal.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.keep_recent_share import KeepRecentShare
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..trigger import Trigger

STRANDS_SUMMARIZING = Policy(
    name="strands-summarizing",
    title="Strands, summarizing",
    version="1.62.0",
    source="strands-agents 1.62.0, SummarizingConversationManager: 0.3 of the messages, 10 stay (Apache-2.0)",
    trigger=Trigger(enabled=False, ratio=0.7, measure="assembled", check="request"),
    harness=Harness(retries=0, reset=False),
    rules=(
        KeepSystem(),
        KeepRecentShare(share=0.7, measure="messages", least=True, lowest=10, keep_last=False),
        SummariseOlder(split_turns=False, limited=False),
    ),
)
