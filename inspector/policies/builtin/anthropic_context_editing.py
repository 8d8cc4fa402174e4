"""The provider's own context editing and compaction, with the documented defaults (CLAUDE §4, §5.1).

Earlier thinking is cleared as the model does by default. If a request exceeds 100,000 input tokens, all tool
uses except the 3 newest are cleared; above 150,000 the provider summarises the conversation.
`context_management(policy, model)` returns the field of a request for this. Two choices are not documented:
all three see the same request, and summarising precedes clearing.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.clear_thinking import ClearThinking
from ..rules.clear_tool_outputs import ClearToolOutputs
from ..rules.keep_system import KeepSystem
from ..rules.summarise_all import SummariseAll
from ..trigger import Trigger

ANTHROPIC_CONTEXT_EDITING = Policy(
    name="anthropic-context-editing",
    title="Anthropic context editing",
    source="platform.claude.com, context editing and compaction, September 2026; types of anthropic 2.12.0",
    trigger=Trigger(tokens=150_000, measure="assembled", check="request"),
    harness=Harness(mode="auto", reset=False),
    rules=(
        KeepSystem(),
        SummariseAll(above=150_000, by="provider"),
        ClearThinking(),
        ClearToolOutputs(keep=3, trigger_tokens=100_000),
    ),
)
