"""The notice that takes the place of dropped messages (TIERED §4)."""

from __future__ import annotations

import re

from ..session.entries import Entry

_NOTICE = re.compile(r"\[context compacted: \d+ messages omitted, about \d+ estimated tokens removed\]")


def write_notice(messages: int, tokens: int) -> str:
    """The notice's words (TIERED §4)."""
    return f"[context compacted: {messages} messages omitted, about {tokens} estimated tokens removed]"


def is_notice(entry: Entry) -> bool:
    """Whether an entry says nothing but such a notice."""
    return len(entry.blocks) == 1 and _NOTICE.fullmatch(entry.blocks[0].text) is not None
