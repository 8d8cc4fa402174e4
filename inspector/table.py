"""What rules look at and what they answer, as columns over the blocks of a live view.

A rule never edits anything: it proposes a place for the cut, or claims blocks, once for the side older
than the cut and once for the side that is kept. Because a claim depends on the side alone and not on
where exactly the cut stands, every legal cut is planned at once (see `plan.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .counters import find_counter
from .cuts import CutPoints
from .errors import CounterError
from .ledger import Ledger
from .live import Bools, Ints, Live
from .models import window_of
from .policy import Trigger
from .session import Session
from .usage import Tail

FATES = ("verbatim", "truncated", "pointer", "summarised", "dropped", "cleared")
"""What can become of a block. Verbatim, truncated, pointer and cleared blocks still stand in the context."""
VERBATIM, TRUNCATED, POINTER, SUMMARISED, DROPPED, CLEARED = range(6)

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Table:
    """The context being planned: n live entries, m blocks.

    tokens   int32[m]  by the ledger's counter
    section  uint8[m]  index into SECTIONS
    start    int       first live entry that may be compacted (1 after a recorded summary)

    `given_window` is the model's window where the caller knows better than the session.
    """

    session: Session
    ledger: Ledger
    live: Live
    cuts: CutPoints
    tokens: Ints
    section: Bytes
    trigger: Trigger
    given_window: int | None = None

    @cached_property
    def window(self) -> int:
        """Tokens the model can take, 0 when nothing tells."""
        if self.given_window is not None:
            return self.given_window
        key = ("window", self.session.leaf, self.session.window, self.session.model)
        return self.ledger.remember(key, lambda: window_of(self.session)).tokens or 0

    @property
    def start(self) -> int:
        return 1 if self.live.summary == 0 else 0

    def weights(self, measure: str) -> Ints:
        """int32[n]: live entries weighed by a published estimate, such as "chars4_utf16"."""
        return self.ledger.weights(measure)[self.live.entries]

    def tail(self, measure: str) -> Tail:
        """The same, from the end. Raises `CounterError` for a measure that weighs no messages."""

        def make() -> Tail:
            counter = find_counter(measure)
            if counter.weigh is None:
                raise CounterError(measure, "it has no measure of its own for a whole message")
            return Tail(self.session, counter.weigh)

        return self.ledger.remember(("tail", measure, self.session.leaf), make)

    @cached_property
    def split_start(self) -> Ints:
        """int32[n+1]: where the turn begins that a cut at this place splits, -1 if it splits none.

        A cut at a user's message splits nothing; otherwise the nearest user message back to `start`
        begins the turn (FLUE §6.4). The last place splits nothing.
        """
        n = len(self.live)
        at = np.arange(n)
        user = self.live.role == 0
        nearest = np.maximum.accumulate(np.where(user, at, -1)) if n else at
        out = np.full(n + 1, -1, np.int32)
        out[:n] = np.where(user | (nearest < self.start), -1, nearest)
        return out


@dataclass(frozen=True, eq=False)
class Claim:
    """Blocks a rule decides on one side of the cut: bool[m], their fate, and int32[m] tokens after it.

    `tokens` None leaves what stands as it is and takes what does not stand to zero.
    """

    rows: Bools
    fate: int
    tokens: Ints | None = None


@dataclass(frozen=True, eq=False)
class Appendix:
    """Text that a rule adds to the summary. `price` gives the tokens it adds at each place: int32[n+1]."""

    price: Callable[[], Ints]
    lines: Callable[[int], list[str]]

    @cached_property
    def cost(self) -> Ints:
        """The price, asked once."""
        return self.price()


@dataclass(frozen=True, eq=False)
class Summary:
    """How the older side is summarised. Caps are the tokens a summariser may write."""

    max_tokens: int
    prefix_max_tokens: int = 0
    split_turns: bool = False


@dataclass(frozen=True, eq=False)
class Decision:
    """A rule's answer. `cut` is a place, `why` what to tell when it proposes none."""

    cut: int | None = None
    why: str = ""
    older: Claim | None = None
    kept: Claim | None = None
    summary: Summary | None = None
    appendix: Appendix | None = None
    notes: tuple[str, ...] = field(default=())
