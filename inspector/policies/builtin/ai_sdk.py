"""Vercel AI SDK, pruneMessages, and Mastra's ToolCallFilter: parts of older messages go without a
placeholder.

Source: the npm packages ai 7.0.173 and @mastra/core 1.71.0, run on the messages of golden vectors (`python -m
tests.conformance harnesses PATH`). Neither triggers by itself: the user calls `pruneMessages`, usually before
each step, and the filter runs on every request. The documentation of AI SDK prunes above 100,000 tokens.

Said differently here: calls without a result and results without a call are left out, as no provider takes
them; a message that is left empty is never sent.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.keep_system import KeepSystem
from ..rules.prune_parts import PrunedCalls, PruneParts
from ..trigger import Trigger

AI_SDK_PRUNE = Policy(
    name="ai-sdk-prune",
    title="Vercel AI SDK, pruneMessages",
    version="7.0.173",
    source=(
        "npm ai 7.0.173, pruneMessages with reasoning 'before-last-message' and toolCalls "
        "'before-last-2-messages'; 100,000 tokens as in its documentation (Apache-2.0)"
    ),
    trigger=Trigger(tokens=100_000, measure="assembled", check="request"),
    harness=Harness(mode="manual", recover=False, reset=False),
    rules=(KeepSystem(), PruneParts(reasoning=1, calls=(PrunedCalls(newest=2),))),
)

MASTRA_TOOL_CALL_FILTER = Policy(
    name="mastra-tool-call-filter",
    title="Mastra, ToolCallFilter",
    version="1.71.0",
    source="@mastra/core 1.71.0, ToolCallFilter by default: on every request all calls (Apache-2.0)",
    trigger=Trigger(tokens=0, measure="assembled", check="request"),
    harness=Harness(recover=False, reset=False),
    rules=(KeepSystem(), PruneParts(calls=(PrunedCalls(),), unit="steps")),
)
