"""Shorten the user's words: the message that does not fit whole among those that stay keeps its two ends."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...session.blocks import Block, Text
from ..base_rule import Rule
from ..table import TRUNCATED, Claim, Decision, Rewrite, Table

BYTES_PER_TOKEN = 4


class ShortenUserWords(Rule):
    """Of the oldest message that `keep-user-words` still reaches, the middle is cut out."""

    title: ClassVar[str] = "Shorten the user's words"
    phrase: ClassVar[str] = "of the user's message that does not fit whole, the two ends stay"
    source: ClassVar[str] = "Codex CLI 0100b103, compact.rs and truncate.rs (PEERS §1)"

    kind: Literal["shorten-user-words"] = "shorten-user-words"

    def decide(self, table: Table) -> Decision:
        """Claim the message, if there is one: its words become one text."""
        find_words = getattr(table.sibling("keep-user-words"), "find_words", None)
        if find_words is None:
            return Decision()
        words = find_words(table)
        text = cut_middle("".join(table.block(row).text for row in words.beyond), words.tokens_left)

        def make(block: Block, row: int) -> Block | None:
            return Text(text=text) if row == words.beyond[0] else None

        return Decision(older=Claim(table.mask(words.beyond), TRUNCATED, rewrite=Rewrite(make)))


def cut_middle(text: str, tokens: int) -> str:
    """The two ends of a text, `tokens` of 4 bytes together, and between them how many tokens are left out.

    Bytes are those of UTF-8; no character is cut.

    >>> cut_middle("this is an example of a long output that should be truncated\\nalso some other line", 10)
    'this is an example o…11 tokens truncated…also some other line'
    """
    data, budget = text.encode("utf-8", "surrogatepass"), tokens * BYTES_PER_TOKEN
    if len(data) <= budget:
        return text
    head, tail = budget // 2, budget - budget // 2
    marker = f"…{-(-(len(data) - budget) // BYTES_PER_TOKEN)} tokens truncated…"
    return _whole(data[:head], from_end=False) + marker + _whole(data[len(data) - tail :], from_end=True)


def _whole(data: bytes, *, from_end: bool) -> str:
    """The text of some bytes, less a character that is not all there at the end that was cut."""
    if from_end:
        first = next((index for index, byte in enumerate(data) if byte & 0xC0 != 0x80), len(data))
        return data[first:].decode("utf-8", "surrogatepass")
    last = len(data)
    while last and data[last - 1] & 0xC0 == 0x80:
        last -= 1
    if last and data[last - 1] >= 0xC0:
        need = 2 if data[last - 1] < 0xE0 else 3 if data[last - 1] < 0xF0 else 4
        last = last - 1 if len(data) - (last - 1) < need else len(data)
    return data[:last].decode("utf-8", "surrogatepass")
