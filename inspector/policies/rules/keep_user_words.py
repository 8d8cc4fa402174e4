"""Keep the newest messages of the user and summarise everything else."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from ...session.blocks import TEXT
from ...session.tree import Bools
from ..base_rule import Rule
from ..part import LARGE, Count
from ..table import VERBATIM, Claim, Decision, Summary, Table

BYTES_PER_TOKEN = 4


class KeptWords(NamedTuple):
    """bool[m] rows that stay whole; rows of the message that does not fit, and the tokens left for it."""

    whole: Bools
    beyond: tuple[int, ...]
    tokens_left: int


class KeepUserWords(Rule):
    """Cut at the end. The user's messages stay, newest first, until `tokens` are spent.

    Pictures and the harness's messages in the user's name are removed, and so is the message that would
    exceed the limit (`shorten-user-words` keeps its two ends). The summary comes after the kept messages.
    """

    title: ClassVar[str] = "Keep the user's words"
    phrase: ClassVar[str] = "keep the user's newest words as they are, up to {tokens} tokens"
    source: ClassVar[str] = "Codex CLI 0100b103, compact.rs (PEERS §1)"
    cuts: ClassVar[bool] = True
    removes: ClassVar[bool] = False
    keeps: ClassVar[bool] = True

    kind: Literal["keep-user-words"] = "keep-user-words"
    tokens: Count = Field(20_000, description="Tokens of the user's messages to keep, by bytes / 4")

    def find_words(self, table: Table) -> KeptWords:
        """Walk back over the user's messages while there are tokens left."""
        live = table.live
        whole, tokens_left = np.zeros(len(table.tokens), bool), self.tokens
        text = table.kind == TEXT
        for position in np.flatnonzero(live.opens)[::-1].tolist():
            if tokens_left == 0:
                break
            first, end = int(live.start[position]), int(live.start[position + 1])
            rows = [row for row in range(first, end) if text[row]]
            size = sum(len(table.block(row).text.encode("utf-8", "surrogatepass")) for row in rows)
            tokens = -(-size // BYTES_PER_TOKEN)
            if tokens > tokens_left:
                return KeptWords(whole, tuple(rows), tokens_left)
            whole[rows] = True
            tokens_left -= tokens
        return KeptWords(whole, (), tokens_left)

    def decide(self, table: Table) -> Decision:
        """Propose the end, and claim the words that stay there."""
        n = len(table.live)
        claim = Claim(self.find_words(table).whole, VERBATIM)
        summary = Summary(LARGE, at=n, limited=False)
        if n <= table.start or not table.cuts.legal[n]:
            return Decision(why="There is nothing to compact.", older=claim, summary=summary)
        return Decision(cut=n, older=claim, summary=summary)
