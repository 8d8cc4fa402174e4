"""What a hook remembers of a session before a compaction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..facts.extract.statements import CONSTRAINT, find_statements
from ..facts.withdrawn import find_withdrawn
from ..redaction.cut import cut_line
from ..text import printable
from .conversation import Conversation
from .payload import HookPayload

MOST_RULES, MOST_FILES = 60, 40
_CLEAR = 3
"""The rank of a sentence that is clearly a rule."""


def find_rules(conversation: Conversation) -> list[str]:
    """Return the clear rules that the user typed and did not take back, oldest first."""
    sentences = [item for message in conversation.recent_typed() for item in find_statements(message.text)]
    withdrawn = find_withdrawn([(item.kind, item.form) for item in sentences])
    rules = dict[str, str]()
    for at, sentence in enumerate(sentences):
        if sentence.kind == CONSTRAINT and sentence.rank >= _CLEAR and at not in withdrawn:
            rules.setdefault(sentence.form.casefold(), sentence.form)
    return list(rules.values())[-MOST_RULES:]


def make_snapshot(
    payload: HookPayload, conversation: Conversation, path: str, pins: Iterable[str], now: float
) -> dict[str, Any]:
    """Return what is remembered of a session, in the file `path`, before a compaction, without secrets."""
    tidy, root = clean_line, payload.cwd.rstrip("/") + "/" if payload.cwd else ""
    return {
        "harness": payload.harness,
        "session": payload.session,
        "path": path,
        "cwd": payload.cwd,
        "time": now,
        "size": conversation.size,
        "pins": [tidy(pin) for pin in pins],
        "rules": [tidy(rule) for rule in find_rules(conversation)],
        "errors": [tidy(line) for line in list(dict.fromkeys(conversation.errors.values()))[-2:]],
        "todos": [tidy(todo) for todo in conversation.todos.values() if todo][:20],
        "files": [tidy(name.removeprefix(root)) for name in list(conversation.edited)[-MOST_FILES:]],
    }


def clean_line(text: str) -> str:
    """Return a text as one line, without secrets and control characters, of at most 400 characters."""
    from ..redaction.cut import redact_text

    return cut_line(printable(redact_text(text)), 400)
