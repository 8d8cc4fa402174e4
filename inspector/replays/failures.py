"""What a harness counts about its failures: three counters that know nothing of each other (K17).

A failing summariser is called again (S0-101), failed automatic compactions in a row open the breaker
(S2-6), and a refused request is recovered from so often in a row (S4-59). Beside them stands whether the
last passes still made the context smaller (S0-106).
"""

from __future__ import annotations

from typing import NamedTuple

from ..policies.harness import Harness
from ..policies.trigger import Reason

EPSILON = 0.05


class CompactionPass(NamedTuple):
    """A compaction that stands: tokens of its summary, and of the context before and after it."""

    summary: int
    before: int
    after: int


def no_progress(previous: CompactionPass | None, now: CompactionPass, epsilon: float = EPSILON) -> bool:
    """Whether a pass came to nothing: its summary is no smaller than the last, the context hardly is.

    `epsilon` is the share of the context that has to go at least; S0 names none. Source: STUD §10.

    >>> no_progress(CompactionPass(900, 9_000, 8_900), CompactionPass(1_000, 9_100, 9_050))
    True
    >>> no_progress(CompactionPass(900, 9_000, 8_900), CompactionPass(1_000, 9_100, 4_000))
    False
    """
    if previous is None or now.before <= 0:
        return False
    return now.summary >= previous.summary and now.after >= now.before * (1 - epsilon)


class FailureCounts(NamedTuple):
    """The counters at one moment. Every method gives the next moment's and changes nothing.

    `calls`: failed summariser calls of the running compaction. `failures`: automatic compactions that
    failed in a row. `recoveries`: tried since a request was last accepted, or the user spoke; `repeats`: the
    same after replies that ran into their limit, which are counted apart (TIERED §5). `grown`: passes in a
    row whose summary was larger than the one before. `stalled`: passes came to nothing and no one has acted
    since.
    """

    calls: int = 0
    failures: int = 0
    recoveries: int = 0
    stalled: bool = False
    repeats: int = 0
    grown: int = 0

    def start(self) -> FailureCounts:
        """A compaction starts."""
        return self._replace(calls=0)

    def miss(self) -> FailureCounts:
        """The summariser failed once more. Ask `may_retry` whether to call it again."""
        return self._replace(calls=self.calls + 1)

    def may_retry(self, harness: Harness) -> bool:
        """Whether the summariser is called again: `retries` times after the first failure."""
        return self.calls <= harness.retries

    def fail(self, reason: Reason) -> FailureCounts:
        """The compaction failed. Only automatic ones count towards the breaker."""
        return self._replace(failures=self.failures + (reason == "auto"))

    def succeed(self, stalled: bool = False, grew: bool = False) -> FailureCounts:
        """The compaction succeeded; `stalled` if it came to nothing, `grew` if its summary is larger than the
        last."""
        return self._replace(failures=0, stalled=stalled, grown=self.grown + 1 if grew else 0)

    def is_growing(self, harness: Harness) -> bool:
        """Whether so many summaries in a row grew that the harness stops (S0-106).

        >>> FailureCounts(grown=2).is_growing(Harness(growth=2)), FailureCounts(grown=2).is_growing(Harness())
        (True, False)
        """
        return 0 < harness.growth <= self.grown

    def act(self) -> FailureCounts:
        """The user, or a state machine, intervenes: automatic compaction may be tried again."""
        return self._replace(failures=0, stalled=False, grown=0)

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

        /compact always may, if anything compacts at all. Anything else needs mode auto, or consent in mode
        ask (S1-30), after a refusal by the provider too. By itself the harness recovers from one where
        `recover` is on (S2-23), `recoveries` times in a row (S4-59), and compacts with the breaker closed.

        >>> FailureCounts(failures=3).may_compact(Harness(breaker=3), "auto")
        False
        """
        if harness.engine == "none":
            return False
        if reason == "manual":
            return True
        asked = harness.mode == "ask" and authorised
        if reason == "overflow":
            willing = asked or (harness.mode == "auto" and harness.recover)
            return willing and self.recoveries < harness.recoveries
        willing = asked or harness.mode == "auto"
        return willing and not self.stalled and not self.is_open(harness)
