"""Codex CLI's local compaction: the user's newest words stay, everything else becomes a handoff summary.

Source: openai/codex at 0100b103625752f6a10c21b79a8c423761dc4c6a, codex-rs/core/src/compact.rs (Apache-2.0),
read and not run; PEERS §1. It is the path for providers other than OpenAI.

Not reproduced: compaction by the server, which gives an encrypted item that nobody can look into; the oldest
items that are left out of the summariser's request while it is too large; user messages that Codex knows as
its own by their first words (instructions, environment), for which `meta` of the entry stands.

Codex writes its initial context anew after a compaction, the text of AGENTS.md in it. Here only the session's
own head stands in for it (system prompt, tools, provided context). What of it a file holds as messages is
summarised with the rest, since nothing published says how to tell it apart: a rule in AGENTS.md shows as lost
that Codex would have said again.
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.keep_system import KeepSystem
from ..rules.keep_user_words import KeepUserWords
from ..rules.shorten_user_words import ShortenUserWords
from ..rules.summarise_older import SummariseOlder
from ..trigger import Trigger

CODEX = Policy(
    name="codex",
    title="Codex CLI, local compaction",
    version="0100b103",
    source="openai/codex at 0100b103: 90 % of the window, 20,000 tokens of user messages (Apache-2.0)",
    trigger=Trigger(ratio=0.9, check="outputs"),
    harness=Harness(recover=False, reset=False),
    rules=(
        KeepSystem(),
        KeepUserWords(tokens=20_000),
        ShortenUserWords(),
        SummariseOlder(split_turns=False, limited=False),
    ),
)
