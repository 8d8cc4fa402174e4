"""Claude Code as the program does it: the newest reply stays behind the summary, files are attached again.

Source: Claude Code 2.1.332, run offline against a service of ours; no source was read (`python -m
tests.conformance harnesses PATH`). It keeps free what a reply may have, at most 20,000 tokens, and 13,000
more (`trigger.reserve_tokens`); with CLAUDE_CODE_MAX_OUTPUT_TOKENS=8000 that is 21,000. With
CLAUDE_AUTOCOMPACT_PCT_OVERRIDE it is `trigger.ratio` of the window less 20,000.
CLAUDE_CODE_AUTO_COMPACT_WINDOW is `trigger.budget`.

`/rewind`, "summarize from here", is `keep-root.messages` up to the chosen prompt, with
`summarise-all.replies` 0 and `re-attach.enabled` false; "up to here" is a cut at the chosen prompt.

Not reproduced: the attachments that a file records no text of (tools, agents, the environment); with nothing
kept they precede the summary there. CLAUDE.md is part of what is resent.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.keep_root import KeepRoot
from ..rules.keep_system import KeepSystem
from ..rules.re_attach import ReAttach
from ..rules.summarise_all import SummariseAll
from ..trigger import Trigger

CLAUDE_CODE = Policy(
    name="claude-code",
    title="Claude Code",
    version="2.1.332",
    source="Claude Code 2.1.332, run against a loopback service: window - 20,000 - 13,000",
    trigger=Trigger(
        reserve_tokens=33_000,
        at_least=True,
        measure="assembled",
        check="request",
        never_for=("claude-sonnet-4-5", "claude-haiku-4-5"),
    ),
    harness=Harness(retries=2, reset=False, dialect="claude-code"),
    rules=(
        KeepSystem(),
        KeepRoot(enabled=False),
        ReAttach(),
        SummariseAll(replies=1, refused_replies=2, behind=True),
    ),
)
