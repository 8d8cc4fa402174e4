"""Codex CLI's local compaction: the user's newest words stay, everything else becomes a handoff summary.

Source: @openai/codex 0.171.0 (Apache-2.0), the real program run on the sessions of golden vectors (`python -m
tests.conformance harnesses PATH`). It is the path for providers other than OpenAI. It is looked at before a
turn, never within one; `model_auto_compact_token_limit` below 0.9 of the window is `trigger.tokens` with
`trigger.at_least`.

Not reproduced: compaction by the server, which returns an encrypted item; the oldest items that are left out
of the summariser's request while it is too large; the first words by which Codex recognises its own user
messages (instructions, environment): the entry's `meta` is used instead.

Codex writes its initial context again, before the last message of the user that stays, the text of AGENTS.md
in it. Here only the session's own head represents it (system prompt, tools, provided context). Parts that
a file stores as messages are summarised with the rest, since nothing published says how to recognise them:
a rule in AGENTS.md shows as lost although Codex would have repeated it.
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
    version="0.171.0",
    source="@openai/codex 0.171.0: 90 % of the window, 20,000 tokens of user messages (Apache-2.0)",
    trigger=Trigger(ratio=0.9, check="reply"),
    harness=Harness(recover=False, reset=False),
    rules=(
        KeepSystem(),
        KeepUserWords(tokens=20_000),
        ShortenUserWords(),
        SummariseOlder(split_turns=False, limited=False),
    ),
)
