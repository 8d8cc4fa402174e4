"""OpenAI Agents SDK: the output trimmer, compaction by the Responses API, and compaction by the server
itself.

Source: openai-agents 0.24.0 (MIT), run on the messages of golden vectors (`python -m tests.conformance
harnesses PATH`). The service's summary is encrypted; its responses show that it keeps the user's messages.

Not reproduced: a compaction is delayed while a tool's output is not sent yet; a history that cannot be
restored is an error before the call. The package looks up windows by the name of the model; here the window
is the session's.
"""

from __future__ import annotations

from ..harness import Harness
from ..part import LARGE
from ..policy import Policy
from ..rules.keep_system import KeepSystem
from ..rules.keep_user_words import KeepUserWords
from ..rules.summarise_all import SummariseAll
from ..rules.summarise_older import SummariseOlder
from ..rules.truncate_outputs import TruncateOutputs
from ..trigger import Trigger

_NO_RECOVERY = Harness(recover=False, reset=False)

OPENAI_AGENTS_TRIMMER = Policy(
    name="openai-agents-trimmer",
    title="OpenAI Agents SDK, ToolOutputTrimmer",
    version="0.24.0",
    source=(
        "openai-agents 0.24.0, ToolOutputTrimmer: on every request, outputs of more than 500 characters "
        "before the last 2 user messages keep 200 (MIT)"
    ),
    trigger=Trigger(tokens=0, measure="assembled", check="request"),
    harness=_NO_RECOVERY,
    rules=(KeepSystem(), TruncateOutputs(limit=500, preview=200, turns=2)),
)

OPENAI_AGENTS_COMPACTION = Policy(
    name="openai-agents-compaction",
    title="OpenAI Agents SDK, compaction session",
    version="0.24.0",
    source="openai-agents 0.24.0, OpenAIResponsesCompactionSession: 10 items not the user's (MIT)",
    trigger=Trigger(tokens=10, at_least=True, measure="candidates"),
    harness=_NO_RECOVERY,
    rules=(KeepUserWords(tokens=LARGE), SummariseOlder(split_turns=False, limited=False)),
)

OPENAI_AGENTS_SERVER = Policy(
    name="openai-agents-server",
    title="OpenAI Agents SDK, server-side compaction",
    version="0.24.0",
    source=(
        "openai-agents 0.24.0, capability Compaction: compact_threshold is 0.9 of a known model's window, "
        "else 240,000 (MIT)"
    ),
    trigger=Trigger(ratio=0.9, whole=True, unknown_window=266_667, check="request"),
    harness=_NO_RECOVERY,
    rules=(SummariseAll(by="provider"),),
)
