"""The estimate of tiered compaction: characters / 4 of a message's role and of its text, each rounded up.

The figures are TIERED §2. Tool calls, errors and the system prompt count nothing, and an empty text
counts 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...session.entries import Entry
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
    chars, role = utf16_length(flatten(entry)), utf16_length(entry.role)
    return max(-(-chars // 4), 1) + max(-(-role // 4), 1)


def flatten(entry: Entry) -> str:
    """The text of a message that is counted; empty texts, and what is an error and no content, left out."""
    beside = "blocks" in entry.extra
    texts = [
        block.text
        for at, block in enumerate(entry.blocks)
        if block.kind in ("text", "tool_output") and not (beside and is_bare_error(entry, at))
    ]
    return texts[0] if len(texts) == 1 else "\n".join(text for text in texts if text)


def is_bare_error(entry: Entry, at: int) -> bool:
    """Whether a block is an output that has no content but its error, which the published system keeps apart:
    it is sent, and is neither counted nor shortened (TIERED §2, §3)."""
    blocks_extra, block = entry.extra.get("blocks"), entry.blocks[at]
    if block.kind != "tool_output" or not isinstance(blocks_extra, dict):
        return False
    beside = blocks_extra.get(str(at))
    return isinstance(beside, dict) and bool(block.text) and beside.get("error") == block.text


TIERED = Counter(
    name="tiered",
    title="characters / 4, tiered",
    count=count,
    about=lambda: "tiered, an estimate: UTF-16 characters / 4 of role and text, as tiered compaction counts",
    image=lambda image, model, in_tool: 0,
    weigh=weigh,
)
