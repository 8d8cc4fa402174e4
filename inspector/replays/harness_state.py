"""The harness as it lives through a replay: its state, its counters, and what it may do now.

`harness` is the model, all of it pure; here it is run over a session, and what changes is recorded.
"""

from __future__ import annotations

from ..policies.harness import (
    LEVELS,
    Harness,
    Latch,
    Permission,
    State,
    begin,
    finish,
    level_of,
    may_send,
    step,
    suggest,
)
from ..policies.trigger import Reason, Trigger
from .event_log import EventLog
from .failures import CompactionPass, FailureCounts, no_progress
from .replayed_context import ReplayedContext
from .run import Stop


class HarnessState:
    """`deferred` and `override` are what a state machine and the user have asked for."""

    def __init__(self, harness: Harness, trigger: Trigger, context: ReplayedContext, log: EventLog) -> None:
        self.harness, self.trigger, self.context, self.log = harness, trigger, context, log
        self.state: State = "normal"
        self.latch, self.counts = Latch(), FailureCounts()
        self.deferred = self.override = False
        self._level: State = "normal"
        self._asked = False
        self._put_off = -1
        self._pass: CompactionPass | None = None

    # -- the machine of states --------------------------------------------------------------------

    def measure(self) -> None:
        """Follow how full the window is."""
        self.state, moves = step(self.harness, self.state, self.context.ratio)
        self.log.record_moves(moves)
        if any(move.kind in ("warned", "required", "blocked") for move in moves):
            self._explain()

    def _explain(self) -> None:
        """What to know of a threshold that was crossed (S1-3, S1-39)."""
        if self.harness.engine == "none":
            self.log.record("suggested", before=self.context.size)
            self.log.note_once("suggested", suggest(self.harness))
        head, window = self.context.head, self.context.window
        if level_of(self.harness, head / window) != LEVELS[0]:
            self.log.note_once(
                "head",
                f"What stands before the messages, system prompt and tools, fills {head / window:.0%} of the "
                "window by itself; no history needs to be long for this threshold.",
            )

    def begin(self, reason: Reason) -> None:
        """A compaction starts."""
        if self.state in LEVELS:
            self._level = self.state
        self.state, moves = begin(self.harness, self.state, reason, self.context.ratio)
        self.log.record_moves(moves)

    def finish(self, *, refused: bool = False) -> None:
        """A compaction ended; `refused` if it failed while the provider refuses the request too."""
        self.state, moves = finish(
            self.harness, self.state, self.context.ratio, refused=refused, before=self._level
        )
        self.log.record_moves(moves)

    def may_send(self) -> Permission:
        """Whether the next request is composed."""
        return may_send(self.harness, self.state, self.override)

    # -- the trigger ------------------------------------------------------------------------------

    @property
    def above(self) -> bool:
        """Whether the policy's own measure is where the policy fires."""
        return self.trigger.fires(self.context.value, self.context.window)

    def look(self) -> bool:
        """The same, each crossing told once."""
        above = self.above
        self.latch, crossed = self.latch.look(above)
        if crossed is not None:
            self._asked = False
            window = {"window": self.context.window} if crossed == "threshold_hit" else {}
            self.log.record(crossed, before=self.context.size, **window)
        return above

    def may_compact(self, consents: bool) -> bool:
        """Whether an automatic compaction starts now that the policy fires; asks and defers if it has to."""
        if self.deferred:
            if self._put_off != self.log.turn:
                self._put_off = self.log.turn
                self.log.record("deferred", before=self.context.size)
            return False
        may = self.counts.may_compact(self.harness, "auto", consents)
        if self.harness.mode == "ask" and self.harness.engine != "none" and (may or not self._asked):
            # Who said no is asked again when the threshold is crossed again.
            self._asked = not consents
            self.log.record("asked", before=self.context.size)
        return may

    # -- how it went ------------------------------------------------------------------------------

    def succeed(self, summary: int, before: int, after: int, simulated: bool) -> None:
        """Count a compaction that stands.

        Args:
            summary: Tokens of the summary; 0 if none is written.
            before: Tokens of the context before it.
            after: Tokens of the context after it.
            simulated: Whether the scenario says how long summaries come out. Only then can they grow.
        """
        now, last = CompactionPass(summary, before, after), self._pass
        came_to_nothing = summary > 0 and no_progress(last, now)
        self._pass = now
        counts = self.counts.succeed(grew=simulated and last is not None and summary > last.summary > 0)
        self.counts = counts._replace(stalled=came_to_nothing or counts.is_growing(self.harness))
        if last is not None and self.counts.stalled:
            self.log.record("no_progress", before=before, after=after, summary=summary, last=last.summary)
            why = "Two compactions in a row came to nothing"
            if counts.is_growing(self.harness):
                why = f"The summary grew in {counts.grown} compactions in a row, last from "
                why += f"{last.summary:,} to {summary:,} tokens"
            self.log.note_once(
                "no_progress", f"{why}; automatic ones stop until the user acts or a recovery succeeds."
            )

    def fail(self, reason: Reason, *, refused: bool = False) -> None:
        """A compaction failed; `refused` says that the provider is going to refuse the request that waits for
        it. Raises `Stop` where the turn ends with that (S0-102)."""
        self.counts = self.counts.fail(reason)
        if self.counts.is_open(self.harness):
            self.log.record_once("breaker_opened", failures=self.counts.failures)
            self.log.note_once(
                "breaker_opened",
                f"{self.counts.failures} automatic compactions failed in a row; no more are tried until "
                "a compaction succeeds.",
            )
        fatal = reason == "auto" and self.harness.fatal
        # Else the provider's answer, which is still to come, ends it.
        if fatal or reason != "auto" or not refused:
            self.finish()
        if fatal:
            self.log.record("surfaced", error="ContextOverflow", cause="SummarizeFailed")
            raise Stop("failed", "The turn ended with ContextOverflow: the compaction it waited for failed.")

    def forget(self) -> None:
        """The history was cleared: everything starts over."""
        self.latch, self.state, self.counts, self._pass = Latch(), "normal", self.counts.act(), None
        self._asked = False
