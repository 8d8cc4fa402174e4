"""A session at one leaf, with the columns that plans on it share.

`find_moment` returns the one for a ledger and a leaf; the last `LATELY` of a ledger are cached, with all
values computed from them. Modules of higher layers cache their values in a moment by a `Memo`.
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
from .not_in_file import NotInFile
from .prediction import find_not_in_file
from .rows import Bytes

ColumnT = TypeVar("ColumnT", Ints, Bytes)

LATELY = 16
"""Moments of one ledger that are kept."""


@dataclass(frozen=True, eq=False)
class Moment:
    """Columns over the n entries and m blocks in the context at a session's leaf. They are read-only.

    `own_figures` replaces the sizes that the session's replies report, as in a replay. `whole` is the
    same point in time with its reasoning; here the reasoning takes no tokens.
    """

    session: Session
    ledger: Ledger
    own_figures: NotInFile | None = None
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
        """The valid cut points."""
        return find_cuts(self.session)

    @column
    def window(self) -> Window:
        """The model's window, and how it is known."""
        return window_of(self.session)

    @column
    def outside(self) -> NotInFile:
        """The parts of a request of this context that are not in the file."""
        if self.whole is not None:
            return self.whole.outside.without(self.kind == REASONING)
        return find_not_in_file(self.session, self.ledger) if self.own_figures is None else self.own_figures

    @property
    def bare(self) -> Moment:
        """The same without reasoning, for a harness that keeps none; itself if there is no reasoning."""
        if self.whole is not None or not (self.kind == REASONING).any():
            return self
        return _BARE.of(self, lambda: Moment(self.session, self.ledger, self.own_figures, self))

    @property
    def beyond(self) -> int:
        """Tokens of the request besides the live entries: the head, and the parts that are not in the
        file."""
        return self.ledger.head_tokens + self.outside.tokens

    def weights(self, measure: str) -> Ints:
        """int32[n]: tokens of each live entry by a published estimate, such as "chars4_utf16".

        Raises `CounterError` for a name that does not exist.
        """
        return self._measured.weights(measure)[self.live.entries]

    def fractions(self, measure: str) -> np.ndarray:
        """float64[n]: the same before they are rounded."""
        return self._measured.fractions(measure)[self.live.entries]

    @property
    def _measured(self) -> Ledger:
        if self.whole is None:
            return self.ledger
        return count_tokens(without_reasoning(self.session), self.ledger.counter)


_MOMENTS: Memo[Moment] = Memo(LATELY)
_BARE: Memo[Moment] = Memo()
_FIRST_ESTIMATES: Memo[dict[str | None, NotInFile]] = Memo()


def find_moment(session: Session, ledger: Ledger, first_estimate: NotInFile | None = None) -> Moment:
    """Return the moment at a session's leaf, the same object as long as it is cached.

    A `first_estimate` for a leaf is cached with the ledger, so that a plan of a replay can be made again from
    the same session and ledger. Raises `OtherSession` if the ledger counted another session's entries.

    >>> from inspector import count_tokens, open_demo
    >>> session = open_demo()
    >>> ledger = count_tokens(session)
    >>> find_moment(session, ledger) is find_moment(session.at(session.leaf), ledger)
    True
    """
    ledger.check(session)
    # All inputs of the columns besides the session's entries.
    key = (session.leaf, session.window, session.model, session.cwd)
    figures = _FIRST_ESTIMATES.of(ledger, dict)
    if first_estimate is not None:
        figures.setdefault(session.leaf, first_estimate)
    return _MOMENTS.of(ledger, lambda: Moment(session, ledger, figures.get(session.leaf)), *key)


def _lock_writes(values: ColumnT) -> ColumnT:
    values.flags.writeable = False
    return values
