"""Estimate when a session will be compacted next."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from ..text import plural
from .conversation import Conversation
from .snapshot import find_rules

_GROWTH = 10


class ContextStatus(NamedTuple):
    """The size of a context and its next compaction; None for what is unknown.

    Attributes:
        tokens: The tokens of the last request.
        threshold: The tokens at which the harness compacts.
        source: The source of the threshold.
        turns: Turns until then, at the median growth of the last turns.
        rules: Clear rules that the user typed, and that a summary may lose.
    """

    tokens: int
    threshold: int | None
    source: str
    turns: int | None
    rules: int

    def line(self, share: float | None = None) -> str:
        """Return one line; `share` is the used part of the window in percent, if the harness states it."""
        if share is None and self.threshold:
            share = 100 * self.tokens / self.threshold
        size = f"{share:.0f} %" if share is not None else f"{self.tokens:,} tokens"
        parts = [f"ctx {size}"] if share is not None or self.tokens else []
        if self.turns is not None:
            parts.append(f"compacts in ≈ {plural(self.turns, 'turn')}")
        return " · ".join([*parts, *[f"{plural(self.rules, 'rule')} at risk"] * bool(self.rules)])


def estimate_status(
    talk: Conversation, environment: Mapping[str, str], *, tokens: int = 0, window: int = 0
) -> ContextStatus:
    """Estimate when a session will be compacted, with the sizes that a harness states, if it does."""
    tokens = tokens or (talk.sizes[-1] if talk.sizes else 0)
    stated = environment.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "")
    share = environment.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "")
    size = int(stated) if stated.isdecimal() else window or talk.window
    threshold, source = size or None, "the window"
    if size and (stated.isdecimal() or share.isdecimal()):
        threshold, source = size * int(share if share.isdecimal() else 100) // 100, "the environment"
    elif talk.before:
        threshold, source = talk.before, "the size at the last compaction"
    sizes = talk.sizes[-_GROWTH - 1 :]
    growth = [after - before for before, after in pairwise(sizes) if after > before]
    turns = None
    if threshold and growth and tokens:
        turns = max(0, -(-(threshold - tokens) // max(1, round(median(growth)))))
    return ContextStatus(tokens, threshold, source, turns, len(find_rules(talk)))
