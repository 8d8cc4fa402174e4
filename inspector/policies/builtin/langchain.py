"""LangChain's three ways: SummarizationMiddleware, trim_messages and ClearToolUsesEdit.

Source: langchain 1.5.2 and langchain-core 1.8.4 (MIT), run on the messages of golden vectors (`python -m
tests.conformance harnesses PATH`). `tests/policies/test_peers.py` runs the ones that are installed on the
same messages and compares what they keep. The middleware has no trigger of its own; the policy uses the
trigger of deepagents. A list of triggers is `trigger.also`, a dict of them `trigger.also` with `trigger.join`
"all", each with its own threshold.

Differences: pairs stay whole, but the real cut may leave an output without its call (the published default
of trim_messages; issue 38352 of the middleware). If trim_messages finds no message of the user within its
tokens it keeps nothing; here the last turn stays. An output shorter than its placeholder stays.

Not reproduced: LangChain's estimate scaled by usage and with 3.3 characters per token for Claude; the
ledger's counter is used instead (`trigger.measure` and `keep-recent-share.measure` "langchain" select the
unscaled estimate). The summariser of LangChain reads only the last 4,000 tokens of the messages, and after a
refusal their beginning and end. `clear_at_least` is `drop-old-outputs.enough`: clearing stops as soon as
enough tokens are gone.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.clear_tool_outputs import DropOldOutputs
from ..rules.drop_older import DropOlder
from ..rules.keep_recent_share import KeepRecentShare
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..trigger import Trigger

LANGCHAIN_SUMMARIZATION = Policy(
    name="langchain-summarization",
    title="LangChain, SummarizationMiddleware",
    version="1.5.2",
    source="langchain 1.5.2, SummarizationMiddleware with keep=('messages', 20); trigger of deepagents (MIT)",
    trigger=Trigger(ratio=0.85, measure="assembled", check="request"),
    harness=Harness(recover=False, retries=2, reset=False),
    rules=(
        KeepSystem(),
        KeepRecentShare(amount=20, measure="messages", snap="call"),
        SummariseOlder(split_turns=False, limited=False),
    ),
)

LANGCHAIN_TRIM = Policy(
    name="langchain-trim",
    title="LangChain, trim_messages",
    version="langchain-core 1.7.2",
    source=(
        "langchain-core 1.7.2, trim_messages with strategy='last', start_on='human', include_system=True; "
        "max_tokens has no default there (MIT)"
    ),
    trigger=Trigger(tokens=20_000, measure="chars4_utf16", check="request"),
    harness=Harness(recover=False, reset=False),
    rules=(
        KeepSystem(),
        KeepRecentShare(
            amount=20_000, measure="tokens", keep_last=False, snap="words", empty=False, with_system=True
        ),
        DropOlder(),
    ),
)

LANGCHAIN_CLEAR = Policy(
    name="langchain-clear",
    title="LangChain, ClearToolUsesEdit",
    version="1.5.2",
    source="langchain 1.5.2, ContextEditingMiddleware with ClearToolUsesEdit(trigger=100_000, keep=3) (MIT)",
    trigger=Trigger(tokens=100_000, measure="chars4_utf16", check="request"),
    harness=Harness(recover=False, reset=False),
    rules=(KeepSystem(), DropOldOutputs(keep=3, nearest_call=True)),
)
