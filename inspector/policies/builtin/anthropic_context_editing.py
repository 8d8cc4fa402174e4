"""The provider's own context editing and compaction, with the documented defaults (CLAUDE §4, §5.1).

Earlier thinking is cleared as the model does by default, tool uses but for the 3 newest once a request
exceeds 100,000 input tokens, and a conversation over 150,000 is summarised by the provider.
`context_management(policy, model)` says the same in a request. Not documented, and chosen here: the three
look at one and the same request, and summarising goes before clearing.
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
