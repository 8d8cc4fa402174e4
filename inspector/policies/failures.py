"""The failure counters of a harness, which are independent of each other (K17).

Failed automatic compactions in a row open the breaker (S2-6), and the number of recoveries in a row from a
refused request is limited (S4-59). Passes that no longer make the context smaller are counted too (S0-106).
"""

from __future__ import annotations

from typing import NamedTuple

from .harness import Harness
from .trigger import Reason

EPSILON = 0.05
"""The share of the context that a pass has to free at least; S0 names none. Source: STUD §10."""
IDLE = 2
"""Passes in a row that freed less, after which automatic ones stop."""


def frees_little(before: int, after: int) -> bool:
    """Whether a pass came to nothing: the context is hardly smaller than before it.

    >>> frees_little(9_100, 9_050), frees_little(9_100, 4_000)
    (True, False)
    """
    return before > 0 and after >= before * (1 - EPSILON)


class FailureCounts(NamedTuple):
    """The counters at one moment. Every method gives the next moment's and changes nothing.

    `failures`: automatic compactions that failed in a row. `recoveries`: tried since a request was last
    accepted, or the user spoke; `repeats`: the same after replies that ran into their limit, which are
    counted apart (TIERED §5). `grown`: passes in a row whose summary was larger than the one before.
    `idle`: passes in a row that freed next to nothing. `stalled`: enough of either, and no one has acted
    since.
    """

    failures: int = 0
    recoveries: int = 0
    stalled: bool = False
    repeats: int = 0
    grown: int = 0
    idle: int = 0

    def fail(self, reason: Reason) -> FailureCounts:
        """The compaction failed. Only automatic ones count towards the breaker."""
        return self._replace(failures=self.failures + (reason == "auto"))

    def succeed(
        self, *, idle: bool = False, grew: bool = False, growth: int = 0, acts: bool = False
    ) -> FailureCounts:
        """The compaction succeeded; `idle` if it came to nothing, `grew` if its summary is larger than the
        last. `growth` is how often in a row that stops automatic ones (`Harness.growth`): not if this one is
        an act of the user.

        >>> [FailureCounts(idle=passes).succeed(idle=True).stalled for passes in range(3)]
        [False, True, True]
        """
        grown, passes = self.grown + 1 if grew else 0, self.idle + 1 if idle else 0
        counts = self._replace(failures=0, grown=grown, idle=passes)
        return counts._replace(stalled=not acts and (passes >= IDLE or 0 < growth <= grown))

    def rearm(self) -> FailureCounts:
        """More can be freed since: passes that came to nothing no longer count."""
        return self._replace(stalled=False, idle=0)

    def is_growing(self, harness: Harness) -> bool:
        """Whether enough summaries in a row grew for the harness to stop (S0-106).

        >>> FailureCounts(grown=2).is_growing(Harness(growth=2)), FailureCounts(grown=2).is_growing(Harness())
        (True, False)
        """
        return 0 < harness.growth <= self.grown

    def act(self) -> FailureCounts:
        """The user, or a state machine, intervenes: automatic compaction may be tried again."""
        return self._replace(failures=0, stalled=False)

    def recover(self) -> FailureCounts:
        """A recovery from a refused request is tried."""
        return self._replace(recoveries=self.recoveries + 1)

    def repeat(self) -> FailureCounts:
        """A reply that ran into its limit is asked for again."""
        return self._replace(repeats=self.repeats + 1)

    def may_repeat(self, harness: Harness) -> bool:
        """Whether a reply that ran into its limit can be asked for again, after a compaction."""
        return harness.engine != "none" and harness.recover_output and self.repeats < harness.recoveries

    def accept(self) -> FailureCounts:
        """A request was answered, or a new call begins: recoveries count from none."""
        return self._replace(recoveries=0, repeats=0)

    def is_open(self, harness: Harness) -> bool:
        """Whether the breaker is open: no automatic compaction starts."""
        return 0 < harness.breaker <= self.failures

    def may_compact(self, harness: Harness, reason: Reason, authorised: bool = False) -> bool:
        """Whether a compaction may start for this reason; `authorised` if the user was asked and agreed.

        The harness limits the reasons (`Harness.why_off`). An automatic compaction also needs the breaker
        closed, and a recovery must not exceed the number of recoveries in a row.

        >>> FailureCounts(failures=3).may_compact(Harness(breaker=3), "auto")
        False
        """
        if harness.why_off(reason):
            return False
        if reason == "manual":
            return True
        if harness.mode == "ask" and not authorised:
            return False
        if reason == "overflow":
            return self.recoveries < harness.recoveries
        return not self.stalled and not self.is_open(harness)
