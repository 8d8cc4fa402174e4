"""Keep recent tokens: Flue's walk back from the end, to the first message that fills the budget."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from ..blocks import Number
from ..live import Ints
from ..policy import LARGE, Rule
from ..table import Decision, Table

MEASURE = "chars4_utf16"


class KeepRecentTokens(Rule):
    """The cut falls where the messages after it add up to about `tokens`, by Flue's own estimate."""

    title: ClassVar[str] = "Keep recent tokens"
    phrase: ClassVar[str] = "keep about the last {tokens} tokens verbatim"
    source: ClassVar[str] = "Flue dbaa9eff and pi, find cut point (FLUE §6)"

    kind: Literal["keep-recent-tokens"] = "keep-recent-tokens"
    tokens: Number = Field(
        20_000,
        description="Tokens kept after the cut, by Flue's estimate of characters / 4",
        ge=-LARGE,
        le=LARGE,
        allow_inf_nan=False,
    )


class Walk(NamedTuple):
    """Where the walk ended: the first entry kept, and the start of the turn it splits (-1: none)."""

    first_kept: int
    turn_start: int


def valid_places(table: Table) -> Ints:
    """Live positions where Flue may cut: user and assistant messages from `start` on (FLUE §6.1)."""
    role = table.live.role
    places = np.flatnonzero((role == 0) | (role == 1))
    return places[places >= table.start].astype(np.int32)


def walk_back(table: Table, budget: Number) -> Walk:
    """Flue's walk (FLUE §6), its quirks kept: a cut moves forward from a tool's output; outputs at the
    very end that fill the budget alone leave it stuck; without any valid place it stays at `start`."""
    valid, n = valid_places(table), len(table.live)
    if not len(valid):
        return Walk(table.start, -1)
    cut = int(valid[0])
    full = table.tail(MEASURE).reach(budget)
    if full is not None and full <= n - table.start:
        after = int(np.searchsorted(valid, n - full))
        if after < len(valid):
            cut = int(valid[after])
    return Walk(cut, int(table.split_start[cut]))


def decide(rule: KeepRecentTokens, table: Table) -> Decision:
    """Propose the walk's place, unless there is nothing before it or it is no message (FLUE §7.3, §9.2)."""
    walk = walk_back(table, rule.tokens)
    if walk.first_kept <= table.start:
        return Decision(why="There is nothing to compact: the walk back ended where the context begins.")
    entry = table.session.entries[table.live.entries[walk.first_kept]]
    if entry.kind != "message":
        return Decision(why="The walk back ended on a branch summary, and Flue keeps only from a message on.")
    return Decision(cut=walk.first_kept)
