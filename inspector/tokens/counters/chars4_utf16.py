"""Characters / 4 as Flue and pi estimate it: UTF-16 code units of a whole message, rounded up once.

The figures are FLUE §2, from Flue at its pinned commit. System prompt, tool schemas, signatures and
ids are not counted; a role Flue does not know counts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...session.entries import Entry
from ...session.tree import Ints
from ...text import utf16_length
from ..counter import Counter

IMAGE_CHARS = 4800
"""Characters that a picture inside a tool's output counts. A user's picture counts nothing."""


def count(texts: Sequence[str]) -> Ints:
    """int32: each text as if it were a message of its own."""
    chars = np.fromiter(map(utf16_length, texts), np.int64, len(texts))
    return ((chars + 3) // 4).astype(np.int32)


def weigh(entry: Entry) -> int:
    """Tokens of one message.

    Flue has one message per tool output, so if a format puts several into one entry each is rounded up.
    """
    units, outputs = 0, 0
    counted = _COUNTED.get(entry.role, ())
    for block in entry.blocks:
        if block.kind == "tool_output":
            texts = sum(utf16_length(part.text) for part in block.parts if part.kind == "text")
            chars = texts + IMAGE_CHARS * sum(part.kind == "image" for part in block.parts)
            outputs += -(-chars // 4)
        elif block.kind in counted:
            units += utf16_length(block.text)
    return -(-units // 4) + (outputs if entry.role in ("user", "tool") else 0)


_COUNTED = {"user": ("text",), "assistant": ("text", "reasoning", "tool_call")}


CHARS4_UTF16 = Counter(
    name="chars4_utf16",
    title="characters / 4",
    count=count,
    about=lambda: "chars4_utf16, an estimate: UTF-16 characters / 4, as Flue and pi count",
    image=lambda image, model, in_tool: IMAGE_CHARS // 4 if in_tool else 0,
    weigh=weigh,
)
