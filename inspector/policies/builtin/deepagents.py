"""deepagents: LangChain's summary by shares of the window, and before it long inputs of calls that write
files.

Source: deepagents 0.7.32 with langchain 1.5.2 (MIT), run on the messages of golden vectors (`python -m
tests.conformance harnesses PATH`). A model without a profile is compacted at 170,000 tokens, 0.85 of the
200,000 that count as its window here, and keeps 6 messages (`keep-recent-share.amount`).

Not reproduced: the history and its pictures are written to files that the summary names; after a refusal
long outputs are written to files too (here 4,000 characters of them stay); the trigger may fire because of
the system prompt and tools alone; the tool that the model may call. Messages are only left out of requests
there, never removed.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy, Stage
from ..rules.keep_recent_share import KeepRecentShare
from ..rules.keep_system import KeepSystem
from ..rules.shorten_inputs import ShortenInputs
from ..rules.summarise_older import SummariseOlder
from ..rules.truncate_outputs import TruncateOutputs
from ..trigger import Trigger

DEEPAGENTS = Policy(
    name="deepagents",
    title="deepagents, SummarizationMiddleware",
    version="0.7.32",
    source="deepagents 0.7.32, create_summarization_middleware: 0.85 of the window, 0.10 of it stays (MIT)",
    trigger=Trigger(ratio=0.85, unknown_window=200_000, measure="assembled", check="request"),
    harness=Harness(recover=True, retries=2, reset=False),
    stages=(
        Stage(name="inputs", rules=("shorten-inputs",)),
        Stage(name="summary", rules=("keep-recent-share", "summarise-older")),
        Stage(name="outputs at the end", rules=("truncate-outputs",), reasons=("overflow",)),
    ),
    rules=(
        KeepSystem(),
        ShortenInputs(),
        KeepRecentShare(share=0.1, of="window", measure="langchain", snap="call"),
        SummariseOlder(split_turns=False, limited=False),
        TruncateOutputs(limit=4_000, trailing=True),
    ),
)
