"""Google ADK, agno, Haystack and Microsoft Agent Framework.

Source: google-adk 2.13.0, agno 3.1.10, haystack-ai 3.4.1 (experimental compactors) and agent-framework-core
1.23.0 (Apache-2.0, MPL-2.0, Apache-2.0 and MIT), run on the messages of golden vectors (`python -m
tests.conformance harnesses PATH`).

ADK has no defaults: 100,000 tokens with 20 events, and 10 turns, are assumed here. With both it checks the
tokens first, and the turns only if the tokens do not trigger. It appends an event and deletes nothing;
summaries whose ranges only overlap are all kept.

Agent Framework compacts by itself only in its harness agent, and marks what it leaves out; its window is the
model's less the longest output. agno's compressed outputs are marks here, as a plan asks no model. Haystack
writes one summary of older turns and another of steps; here it is one. Not reproduced: a call of ADK that
runs long is known there by its id, here by its tool (`keep-recent-share.awaited`).
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy, Stage
from ..rules.clear_tool_outputs import DropOldOutputs
from ..rules.drop_groups import DropGroups
from ..rules.fold_calls import FoldCalls
from ..rules.keep_recent_share import KeepRecentShare
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..trigger import Trigger

_ADK = Harness(recover=False, retries=0, reset=False)

ADK_TOKENS = Policy(
    name="adk-tokens",
    title="Google ADK, token threshold",
    version="2.13.0",
    source="google-adk 2.13.0, token_threshold with event_retention_size (Apache-2.0)",
    trigger=Trigger(tokens=100_000, at_least=True, check="request"),
    harness=_ADK,
    rules=(
        KeepSystem(),
        KeepRecentShare(
            amount=20, measure="joined", least=True, keep_last=False, snap="backwards", awaited=()
        ),
        SummariseOlder(split_turns=False, limited=False),
    ),
)

ADK_WINDOW = Policy(
    name="adk-window",
    title="Google ADK, sliding window",
    version="2.13.0",
    source="google-adk 2.13.0, compaction_interval with overlap_size (Apache-2.0)",
    trigger=Trigger(tokens=10, at_least=True, measure="invocations"),
    harness=_ADK,
    rules=(
        KeepSystem(),
        KeepRecentShare(
            amount=0,
            measure="joined",
            least=True,
            keep_last=False,
            snap="backwards",
            awaited=(),
            outweigh=True,
        ),
        SummariseOlder(split_turns=False, limited=False, supersede=False),
    ),
)

AGNO_COMPACTION = Policy(
    name="agno-compaction",
    title="agno, Compaction",
    version="3.1.10",
    source="agno 3.1.10, Compaction: 150,000 tokens, 5 runs stay, at most half of the threshold (MPL-2.0)",
    trigger=Trigger(tokens=150_000, at_least=True, measure="agno", check="request"),
    harness=Harness(recover=False, retries=0, reset=False),
    rules=(
        KeepSystem(leading=True),
        KeepRecentShare(share=0.5, of="threshold", measure="agno", turns=5, snap="call", newest_turn=True),
        SummariseOlder(split_turns=False, limited=False, behind=True),
    ),
)

AGENT_FRAMEWORK = Policy(
    name="agent-framework",
    title="Microsoft Agent Framework",
    version="1.23.0",
    source=(
        "agent-framework-core 1.23.0, ContextWindowCompactionStrategy: above half of the window calls fold, "
        "above 0.8 the oldest groups go (MIT)"
    ),
    trigger=Trigger(ratio=0.5, strict=True, measure="agent-framework", check="request"),
    harness=Harness(recover=False, retries=0, reset=False),
    stages=(
        Stage(name="fold calls", rules=("fold-calls",)),
        Stage(name="oldest groups", rules=("drop-groups",)),
    ),
    rules=(FoldCalls(keep=4), DropGroups(ratio=0.8, share=0.5, measure="agent-framework")),
)

AGENT_FRAMEWORK_SUMMARY = Policy(
    name="agent-framework-summary",
    title="Microsoft Agent Framework, summary",
    version="1.23.0",
    source="agent-framework-core 1.23.0, SummarizationStrategy: above 6 messages about 4 stay (MIT)",
    trigger=Trigger(tokens=6, measure="said", check="request"),
    harness=Harness(recover=False, retries=0, reset=False),
    rules=(
        KeepSystem(),
        KeepRecentShare(amount=4, measure="said", least=True, snap="backwards"),
        SummariseOlder(split_turns=False, limited=False, shown=8_000),
    ),
)

AGNO_COMPRESSION = Policy(
    name="agno-compression",
    title="agno, CompressionManager",
    version="3.1.10",
    source="agno 3.1.10, CompressionManager: from 3 results on, each by a model call of its own (MPL-2.0)",
    trigger=Trigger(tokens=3, at_least=True, measure="outputs", check="request"),
    harness=Harness(recover=False, retries=0, reset=False),
    rules=(KeepSystem(), DropOldOutputs(keep=0, only_longer=False, condense=True)),
)

_HAYSTACK = Harness(recover=False, retries=0, reset=False, adopt="smaller")
_AT_07 = Trigger(ratio=0.7, measure="haystack", check="request")

HAYSTACK_WINDOW = Policy(
    name="haystack-window",
    title="Haystack, sliding window",
    version="3.4.1",
    source="haystack-ai 3.4.1, SlidingWindowCompactor: from 0.7 of the window down to 0.4 (Apache-2.0)",
    trigger=_AT_07,
    harness=_HAYSTACK,
    rules=(
        KeepSystem(leading=True),
        DropGroups(order="turns", share=0.4, measure="haystack", instead="notice"),
    ),
)

HAYSTACK_PRUNING = Policy(
    name="haystack-pruning",
    title="Haystack, tool-result pruning",
    version="3.4.1",
    source="haystack-ai 3.4.1, ToolResultPruningCompactor: results over 200 tokens, down to 0.4 (Apache-2.0)",
    trigger=_AT_07,
    harness=_HAYSTACK,
    rules=(
        KeepSystem(leading=True),
        DropOldOutputs(keep_steps=1, errors=True, share=0.4, longer=200, only_longer=False),
    ),
)

HAYSTACK_SUMMARY = Policy(
    name="haystack-summary",
    title="Haystack, summary",
    version="3.4.1",
    source="haystack-ai 3.4.1, SummarizationCompactor: down to 0.4, 1,024 for the summary (Apache-2.0)",
    trigger=_AT_07,
    harness=_HAYSTACK,
    rules=(
        KeepSystem(leading=True),
        DropGroups(order="turns", share=0.4, measure="haystack", overhead=1_024, instead="summary"),
    ),
)

MASTRA_TOKEN_LIMITER = Policy(
    name="mastra-token-limiter",
    title="Mastra, TokenLimiter",
    version="1.71.0",
    source="@mastra/core 1.71.0, TokenLimiter, best-fit; it has no default, 100,000 is assumed (Apache-2.0)",
    trigger=Trigger(tokens=0, measure="mastra", check="request"),
    harness=Harness(recover=False, reset=False),
    rules=(
        KeepSystem(),
        DropGroups(order="best-fit", amount=100_000, measure="mastra", overhead=24, newest=0),
    ),
)
