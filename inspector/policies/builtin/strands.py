"""Strands: the summarizing and the sliding-window manager, and the context manager "auto".

Source: strands-agents 1.62.0 (Apache-2.0), run on the messages of golden vectors (`python -m
tests.conformance harnesses PATH`). The proactive compression of the managers, off there too, is
`trigger.enabled`, at 0.7 of the window for the summarizing one. After a refusal the sliding window shortens
the outputs of the oldest message that holds any, and drops messages only if none of them is long.

The context manager's other presets are settings: "agentic" is `truncate-outputs.limit` 32,000 and
`target.ratio` 1; `proactive_summarization` keeps 0.7 of the messages at 0.7 of the window;
`stale_tool_cleanup` is `drop-old-outputs.enabled`; `overflow_protection`, at 1, has `drop-older.enabled` for
the summary.

Different here: its summary is joined to the assistant's message that follows it, here it is a message before
that one. Not reproduced: pinned messages; that too few messages are an error after a refusal; the oldest
fifth that goes without a summary if the summariser fails.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy, Stage
from ..rules.clear_tool_outputs import DropOldOutputs
from ..rules.drop_older import DropOlder
from ..rules.keep_recent_share import KeepRecentShare
from ..rules.keep_root import KeepRoot
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..rules.truncate_outputs import TruncateOutputs
from ..trigger import Target, Trigger

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

STRANDS_SLIDING_WINDOW = Policy(
    name="strands-sliding-window",
    title="Strands, sliding window",
    version="1.62.0",
    source="strands-agents 1.62.0, SlidingWindowConversationManager: the newest 40 stay (Apache-2.0)",
    trigger=Trigger(tokens=40, measure="joined", check="reply"),
    harness=Harness(retries=0, reset=False),
    stages=(
        Stage(name="oldest outputs", rules=("truncate-outputs",), reasons=("overflow",), enough=True),
        Stage(name="window", rules=("keep-recent-share", "drop-older")),
    ),
    rules=(
        KeepSystem(),
        TruncateOutputs(limit=400, preview=200, tail=200, oldest=True),
        KeepRecentShare(amount=40, measure="joined", drop=2, keep_last=False, snap="words-or-call"),
        DropOlder(),
    ),
)

STRANDS_CONTEXT_MANAGER = Policy(
    name="strands-context-manager",
    title="Strands, context manager",
    version="1.62.0",
    source=(
        'strands-agents 1.62.0, context_manager="auto": outputs over 1,500 tokens keep 750; at 0.85 of the '
        "window a summary, the newest 4 messages stay (Apache-2.0)"
    ),
    trigger=Trigger(tokens=0, measure="strands", check="request"),
    target=Target(ratio=0.85, below=True),
    harness=Harness(retries=0, reset=False),
    stages=(
        Stage(name="summary", rules=("keep-root", "keep-recent-share", "drop-older", "summarise-older")),
    ),
    rules=(
        KeepSystem(),
        TruncateOutputs(limit=6_000, preview=1_800, tail=1_200),
        DropOldOutputs(enabled=False, keep_steps=5, only_longer=False),
        KeepRoot(messages=1),
        KeepRecentShare(amount=4, measure="joined", keep_last=False, snap="forwards"),
        DropOlder(enabled=False, notice=True),
        SummariseOlder(split_turns=False, limited=False, behind=True),
    ),
)
