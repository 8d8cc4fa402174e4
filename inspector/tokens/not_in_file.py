"""The parts of a request that are not in the file: system prompt and tools, hidden reasoning, earlier
history.

Values only; `prediction.py` finds them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from ..session.live import Live
from ..session.tree import Bools, Ints
from ..text import brief
from .counter import Longs

PartName = Literal["system_and_tools", "hidden_reasoning", "before_file", "reattached"]
PARTS: tuple[PartName, ...] = ("system_and_tools", "hidden_reasoning", "before_file", "reattached")
WORDS: dict[PartName, str] = {
    "system_and_tools": "in every request (system prompt, tools, reminders)",
    "hidden_reasoning": "of hidden reasoning, and of text as the provider's tokenizer counts it",
    "before_file": "of history from before the file begins",
    "reattached": "that came with the last compaction",
}
"""A description of each part, for a sentence that begins with its tokens."""


class Part(NamedTuple):
    """Tokens of one part, with the range from `low` to `high`.

    `replies` are the ids of the replies that it was derived from (of many, the first and the last); `note`
    says how.
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
class NotInFile:
    """What is not in the file, of a context with m live blocks. No part is below 0.

    system_and_tools  system prompt, tools, reminders: in every request, whatever is cut
    hidden_reasoning  reasoning that is not shown, and the tokens that the provider's tokenizer counts above
                      the ledger's: removed with the blocks it belongs to, `spread` (int64[m]) over them
    before_file       history from before the file begins: removed by any compaction
    reattached        files attached again by the harness after the last recorded compaction, or an encrypted
                      summary: removed by any compaction

    `entry` is the last reply of this context that reported the size of a request, `reported` that size and
    `counted` the counted size of the same request; None, 0 and 0 if no reply did. `scale` is the number of
    the provider's tokens per counted token, at least 1. `exceeds` says that more is counted than was
    reported: all parts are 0 then, every size is a counted one, and `overcounted` is the share that the
    provider may not have counted. Every screen shows the `warnings`.
    """

    system_and_tools: Part = NOTHING
    hidden_reasoning: Part = NOTHING
    before_file: Part = NOTHING
    reattached: Part = NOTHING
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

    def without(self, rows: Bools) -> NotInFile:
        """The same for a request without these live blocks: without their hidden tokens.

        >>> found = NotInFile(hidden_reasoning=Part(7, 7, 9), spread=np.array([3, 4]))
        >>> found.without(np.array([True, False])).tokens
        4
        """
        spread = np.where(rows, 0, self.spread)
        less, part = int(self.spread.sum() - spread.sum()), self.hidden_reasoning
        part = part._replace(tokens=part.tokens - less, low=part.low - less, high=part.high - less).within()
        return replace(self, hidden_reasoning=part, spread=spread)

    @property
    def low(self) -> int:
        """The least that it may be."""
        return sum(part.low for part in self.parts.values())

    @property
    def high(self) -> int:
        """The most that it may be."""
        return sum(part.high for part in self.parts.values())

    def bound(self, counted: int) -> tuple[int, int]:
        """Return the least and the most tokens of a request of this context with `counted` tokens.

        >>> NotInFile(system_and_tools=Part(20, 10, 30)).bound(100)
        (110, 130)
        >>> NotInFile(exceeds=True, overcounted=0.25).bound(100)
        (75, 100)
        """
        return counted - round(self.overcounted * counted) + self.low, counted + self.high

    @property
    def passing(self) -> int:
        """Tokens that go with any compaction: history before the file, and what was attached again."""
        return self.before_file.tokens + self.reattached.tokens

    def describe(self, counted: int) -> str:
        """Say where the figures come from in one to three sentences, with the size of the whole context.

        >>> NotInFile(system_and_tools=Part(6), reported=31, counted=25, entry="e6").describe(90)
        'The request answered by e6 has 31 tokens as reported, 25 as counted; with its reply and what \
follows, the context has 96. Not in the file: 6 in every request (system prompt, tools, reminders).'

        Args:
            counted: Tokens of the context as the ledger counts them.
        """
        sizes = [f"{part.tokens:,} {WORDS[name]}" for name, part in self.parts.items() if part.tokens]
        parts = f"Not in the file: {'; '.join(sizes) or 'nothing'}."
        if self.entry is None and not sizes:
            return "No reply in the context reports its usage."
        if self.entry is None:
            return f"No reply since the last compaction reports its usage. {parts}"
        summary = (
            f"The request answered by {brief(self.entry)} has {self.reported:,} tokens as reported, "
            f"{self.counted:,} as counted"
        )
        if counted > self.counted:
            whole = counted + self.tokens
            summary += f"; with its reply and what follows, the context has {whole:,}"
        if self.exceeds:
            return f"{summary}. More is counted than was reported, so every size here is a counted one."
        return f"{summary}. {parts}"

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {part.tokens:,}" for name, part in self.parts.items() if part.tokens)
        span = f"; {self.low:,} to {self.high:,}" if self.low != self.high else ""
        return f"NotInFile({parts or 'nothing'}{span})"


def share_tokens(weights: Longs, tokens: int) -> Longs:
    """Distribute `tokens` in proportion to the weights, in whole tokens; 0 for a weight of 0."""
    total = int(weights.sum())
    if total <= 0:
        return np.zeros(len(weights), np.int64)
    reached: Longs = np.rint(np.cumsum(weights.astype(np.float64)) * (tokens / total)).astype(np.int64)
    return reached - np.concatenate(([0], reached[:-1]))


def spread_entries(
    grown: Longs, live: Live, tokens: Ints, mute: Bools | None = None, scale: float = 1.0
) -> Longs:
    """int64[m]: distribute the tokens of n live entries beyond their count (`grown`, int64[n]) over blocks.

    In an entry, reasoning without text (`mute`, bool[m]) receives what the scale does not explain. The rest
    is distributed by counted tokens; the first block receives the remainder of rounding.
    """
    n = len(live)
    if not grown.any():
        return np.zeros(len(live.position), np.int64)
    mute = np.zeros(len(tokens), bool) if mute is None else mute
    sums = np.bincount(live.position, tokens, n)
    count = np.bincount(live.position, mute, n)
    plain = np.where(count > 0, np.minimum(np.rint((scale - 1) * sums), grown), grown)
    plain = np.where(sums > 0, plain, 0)
    share = np.divide(plain, sums, out=np.zeros(n), where=sums > 0)[live.position]
    per_entry = np.divide(grown - plain, count, out=np.zeros(n), where=count > 0)[live.position]
    out: Longs = np.floor(share * tokens + np.where(mute, per_entry, 0)).astype(np.int64)
    remainder = grown - np.bincount(live.position, out, n).astype(np.int64)
    has = np.flatnonzero(np.diff(live.start) > 0)
    out[live.start[has]] += remainder[has]
    return out
