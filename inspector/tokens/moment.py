"""A session at one leaf, with the columns that plans on it share.

`find_moment` gives the one of a ledger and a leaf; the last `LATELY` of a ledger are kept, and with them all
that was worked out of them. What rooms further up work out of a moment they keep in it by a `Memo`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from ..cuts import CutPoints, find_cuts
from ..session.blocks import REASONING
from ..session.live import Live
from ..session.queries import without_reasoning
from ..session.session import Session
from ..session.tree import Ints
from .ledger import Ledger, count_tokens
from .memo import Memo, Memory, column
from .models import Window, window_of
from .outside import Outside
from .rows import Bytes
from .weighed_path import find_outside

ColumnT = TypeVar("ColumnT", Ints, Bytes)

LATELY = 16
"""Moments of one ledger that are kept."""


@dataclass(frozen=True, eq=False)
class Moment:
    """Columns over the n entries and m blocks in the context at a session's leaf. They are read-only.

    `given` stands in the place of what the session's replies report: a replay knows its own figures. `whole`
    is the moment that this one leaves the reasoning out of, in which it takes no tokens.
    """

    session: Session
    ledger: Ledger
    given: Outside | None = None
    whole: Moment | None = field(default=None, repr=False)
    memory: Memory = field(default_factory=Memory, init=False, repr=False)

    @column
    def live(self) -> Live:
        """The structure of the context."""
        return self.session.live

    @column
    def rows(self) -> Ints:
        """int32[m]: the ledger's row of each block."""
        return _lock_writes(self.ledger.live_rows(self.session))

    @column
    def tokens(self) -> Ints:
        """int32[m]: tokens by the ledger's counter."""
        tokens = self.ledger.live_tokens(self.session)
        return _lock_writes(tokens if self.whole is None else np.where(self.kind == REASONING, 0, tokens))

    @column
    def section(self) -> Bytes:
        """uint8[m]: index into SECTIONS."""
        return _lock_writes(self.ledger.section[self.rows])

    @column
    def kind(self) -> Bytes:
        """uint8[m]: index into KINDS, what each block is."""
        return _lock_writes(self.ledger.kind[self.rows])

    @column
    def cuts(self) -> CutPoints:
        """Where one may cut."""
        return find_cuts(self.session)

    @column
    def window(self) -> Window:
        """The model's window, and how it is known."""
        return window_of(self.session)

    @column
    def outside(self) -> Outside:
        """What a request of this context holds that the file does not."""
        if self.whole is not None:
            return self.whole.outside.without(self.kind == REASONING)
        return find_outside(self.session, self.ledger) if self.given is None else self.given

    @property
    def bare(self) -> Moment:
        """The same without reasoning, for a harness that keeps none; itself if there is no reasoning."""
        if self.whole is not None or not (self.kind == REASONING).any():
            return self
        return _BARE.of(self, lambda: Moment(self.session, self.ledger, self.given, self))

    @property
    def beyond(self) -> int:
        """Tokens of the request beside what is counted of the live entries: the head, and what is outside."""
        return self.ledger.head_tokens + self.outside.tokens

    def weights(self, measure: str) -> Ints:
        """int32[n]: each live entry weighed by a published estimate, such as "chars4_utf16".

        Raises `CounterError` for a name that does not exist.
        """
        ledger = self.ledger
        if self.whole is not None:
            ledger = count_tokens(without_reasoning(self.session), ledger.counter)
        return ledger.weights(measure)[self.live.entries]


_MOMENTS: Memo[Moment] = Memo(LATELY)
_BARE: Memo[Moment] = Memo()
_GIVEN: Memo[dict[str | None, Outside]] = Memo()


def find_moment(session: Session, ledger: Ledger, given: Outside | None = None) -> Moment:
    """The moment at a session's leaf, the same one as long as it is kept.

    What is `given` for a leaf stays with the ledger, so that a plan of a replay can be made again of the same
    session and ledger. Raises `OtherSession` for a session whose entries are not the ones the ledger counted.

    >>> from inspector import count_tokens, open_demo
    >>> session = open_demo()
    >>> ledger = count_tokens(session)
    >>> find_moment(session, ledger) is find_moment(session.at(session.leaf), ledger)
    True
    """
    ledger.check(session)
    # All that a moment's columns read of a session beside its entries.
    key = (session.leaf, session.window, session.model, session.cwd)
    figures = _GIVEN.of(ledger, dict)
    if given is not None:
        figures.setdefault(session.leaf, given)
    return _MOMENTS.of(ledger, lambda: Moment(session, ledger, figures.get(session.leaf)), *key)


def _lock_writes(values: ColumnT) -> ColumnT:
    values.flags.writeable = False
    return values
