"""The estimate of tiered compaction: characters / 4 of a message's role and of its text, each rounded up.

The figures are TIERED §2. Tool calls, errors and the system prompt count nothing, and an empty text
counts 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...session.entries import Entry
from ...session.session import Session
from ...session.tree import Ints
from ...text import utf16_length
from ..counter import Counter


def count(texts: Sequence[str]) -> Ints:
    """int32: characters / 4 of each text, at least 1.

    >>> count(["", "abcde"]).tolist()
    [1, 2]
    """
    chars = np.fromiter(map(utf16_length, texts), np.int64, len(texts))
    return np.maximum((chars + 3) // 4, 1).astype(np.int32)


def weigh(entry: Entry) -> int:
    """Tokens of one message: its role, and its texts and tool outputs joined by newlines."""
    texts = (block.text for block in entry.blocks if block.kind in ("text", "tool_output"))
    lengths = [utf16_length(text) for text in texts if text]
    chars = sum(lengths) + max(len(lengths) - 1, 0)
    role: int = utf16_length(entry.role)
    return max(-(-chars // 4), 1) + max(-(-role // 4), 1)


def entry_weights(session: Session) -> Ints:
    """int32, one weight per entry of the file."""
    return TIERED.entry_weights(session)


TIERED = Counter(
    name="tiered",
    title="characters / 4, tiered",
    count=count,
    about=lambda: "tiered, an estimate: UTF-16 characters / 4 of role and text, as tiered compaction counts",
    image=lambda image, model, in_tool: 0,
    weigh=weigh,
)
