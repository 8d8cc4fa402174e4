"""What a request holds that the file does not: a system prompt, withheld reasoning, unseen history.

Values only; `weighed_path.py` finds them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from ..session.tree import Bools
from ..text import brief
from .counter import Longs

PartName = Literal["fixed", "withheld", "earlier", "attached"]
PARTS: tuple[PartName, ...] = ("fixed", "withheld", "earlier", "attached")
WORDS: dict[PartName, str] = {
    "fixed": "in every request (system prompt, tools, reminders)",
    "withheld": "of withheld reasoning, and of text as the provider's tokenizer counts it",
    "earlier": "of history from before the file begins",
    "attached": "that came with the last compaction",
}
"""What each part is, for a sentence that begins with its tokens."""


class Part(NamedTuple):
    """Tokens of one part, and from `low` to `high` what they may be.

    `replies` are the ids of those that told it, the first and the last of many; `note` says how.
    """

    tokens: int = 0
    low: int = 0
    high: int = 0
    replies: tuple[str, ...] = ()
    note: str = ""

    def within(self) -> Part:
        """The same, none of it below 0, its range around the tokens: of a few a guess may be more."""
        tokens = max(self.tokens, 0)
        return self._replace(tokens=tokens, low=max(min(self.low, tokens), 0), high=max(self.high, tokens))

    @property
    def certain(self) -> bool:
        """Whether it can be nothing else."""
        return self.low == self.high


NOTHING = Part()


@dataclass(frozen=True, eq=False, repr=False)
class Outside:
    """What is not in the file, of a context with m live blocks. No part is below 0.

    fixed      system prompt, tools, reminders: in every request, whatever is cut
    withheld   reasoning that is not shown, and what the provider's tokenizer counts more than this ledger's:
               it goes with the blocks it belongs to, `spread` (int64[m]) over them
    earlier    history from before the file begins: it goes with any compaction
    attached   what the harness attached again after the last recorded compaction, or the summary where only
               the provider can read it: it goes with any compaction

    `entry` is the reply of this context that last told the size of a request, `reported` that size and
    `counted` what is counted for the same request; None, 0 and 0 where none did. `scale` is how many of the
    provider's tokens a counted one is, at least 1. `exceeds` says that more is counted than was reported:
    nothing is outside then, and every size is a counted one, of which the provider may not have counted the
    share `overcounted`. `warnings` are sentences no screen leaves out.
    """

    fixed: Part = NOTHING
    withheld: Part = NOTHING
    earlier: Part = NOTHING
    attached: Part = NOTHING
    spread: Longs = field(default_factory=lambda: np.zeros(0, np.int64))
    reported: int = 0
    counted: int = 0
    entry: str | None = None
    scale: float = 1.0
    exceeds: bool = False
    warnings: tuple[str, ...] = ()
    overcounted: float = 0.0

    @property
    def parts(self) -> dict[PartName, Part]:
        """The parts by name."""
        return {name: getattr(self, name) for name in PARTS}

    @property
    def tokens(self) -> int:
        """All of it."""
        return sum(part.tokens for part in self.parts.values())

    def without(self, rows: Bools) -> Outside:
        """The same for a request without these live blocks: without their withheld tokens.

        >>> Outside(withheld=Part(7, 7, 9), spread=np.array([3, 4])).without(np.array([True, False])).tokens
        4
        """
        spread = np.where(rows, 0, self.spread)
        less, part = int(self.spread.sum() - spread.sum()), self.withheld
        part = part._replace(tokens=part.tokens - less, low=part.low - less, high=part.high - less).within()
        return replace(self, withheld=part, spread=spread)

    @property
    def low(self) -> int:
        """The least that it may be."""
        return sum(part.low for part in self.parts.values())

    @property
    def high(self) -> int:
        """The most that it may be."""
        return sum(part.high for part in self.parts.values())

    def bound(self, counted: int) -> tuple[int, int]:
        """The least and the most that a request of this context may hold, of which so much is counted.

        >>> Outside(fixed=Part(20, 10, 30)).bound(100), Outside(exceeds=True, overcounted=0.25).bound(100)
        ((110, 130), (75, 100))
        """
        return counted - round(self.overcounted * counted) + self.low, counted + self.high

    @property
    def passing(self) -> int:
        """Tokens that go with any compaction: history before the file, and what was attached again."""
        return self.earlier.tokens + self.attached.tokens

    @property
    def note(self) -> str:
        """Where the figures come from, in a sentence or two; empty where no reply tells anything."""
        if self.entry is None:
            if not self.tokens:
                return "No reply in the context reports its usage."
            return f"No reply since the last compaction reports its usage. {self._describe_parts()}"
        asked = (
            f"{self.reported:,} tokens were reported for the request answered by {brief(self.entry)}, "
            f"{self.counted:,} are counted"
        )
        if self.exceeds:
            return f"{asked}: more than was reported, so every size here is a counted one."
        return f"{asked}. {self._describe_parts()}"

    def _describe_parts(self) -> str:
        said = [f"{part.tokens:,} {WORDS[name]}" for name, part in self.parts.items() if part.tokens]
        return f"Not in the file: {'; '.join(said) or 'nothing'}."

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {part.tokens:,}" for name, part in self.parts.items() if part.tokens)
        span = f"; {self.low:,} to {self.high:,}" if self.low != self.high else ""
        return f"Outside({parts or 'nothing'}{span})"
