"""The harness during a replay: its state, its counters, and the actions allowed now.

The pure functions of `policies/harness.py` are applied to a session, and changes are recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..policies.event_names import NAMES
from ..policies.events import BY_RULES
from ..policies.failures import FailureCounts, frees_little
from ..policies.harness import (
    LEVELS,
    STATE_NAMES,
    UNKNOWN,
    Harness,
    Latch,
    Outcome,
    Permission,
    State,
    StateChange,
    begin,
    finish,
    has_thresholds,
    level_of,
    may_send,
    step,
    suggest,
)
from ..policies.trigger import Reason, Trigger, Verdict
from ..summaries.audit import hit_threshold, stop_growing
from .event_log import EventLog
from .replayed_context import ReplayedContext
from .run import Stop

LIMITS = {"warned": "warn", "required": "require", "blocked": "block"}
"""The setting that each crossing is of."""


class HarnessState:
    """`deferred` is what a state machine has asked for; `crossed` says whether the policy looked while its
    trigger was met. `summarises` tells whether a compaction would have a summary written now."""

    def __init__(self, harness: Harness, trigger: Trigger, context: ReplayedContext, log: EventLog) -> None:
        self.harness, self.trigger, self.context, self.log = harness, trigger, context, log
        self.summarises: Callable[[], bool] = bool
        self.state: State = "normal"
        self.latch, self.counts = Latch(), FailureCounts()
        self.deferred = self.crossed = False
        self._level: State = "normal"
        self._states = self._find_states()
        self._hit: tuple[int, str | None] | None = None
        self._has_asked = False
        self._put_off = -1
        self._written = 0

    # -- the machine of states --------------------------------------------------------------------

    @property
    def _names_hits(self) -> bool:
        """Whether the harness itself records that its trigger's threshold was reached."""
        return "threshold_hit" in NAMES.get(self.harness.dialect, {})

    def _find_states(self) -> Harness:
        """The harness with the thresholds of its states. If it has none, its trigger's threshold is
        one: above it the context is not within limits (S0-9)."""
        trigger = self.trigger
        is_share = trigger.enabled and trigger.ratio and trigger.tokens is None and trigger.budget is None
        if has_thresholds(self.harness) or not self._names_hits or not is_share:
            return self.harness
        return self.harness.model_copy(update={"warn": trigger.ratio, "strict": trigger.strict})

    def measure(self, known: bool = True) -> None:
        """Follow how full the window is; `known` says whether the level until now was known."""
        self.state, moves = step(self._states, self.state, self.context.ratio)
        self._record_moves(moves, known)
        if has_thresholds(self.harness) and any(move.kind in LIMITS for move in moves):
            self._explain()

    def _explain(self) -> None:
        """Add findings about a crossed threshold (S1-3, S1-39)."""
        if self.harness.engine == "none":
            self.log.record("suggested", before=self.context.size)
            self.log.note_once("suggested", suggest(self.harness))
        head, window = self.context.head, self.context.window
        if level_of(self.harness, head / window) != LEVELS[0]:
            self.log.note_once(
                "head",
                f"System prompt and tools alone fill {head / window:.0%} of the window, so even a short "
                "history reaches this threshold.",
            )

    def begin(self, reason: Reason, by: str = "") -> None:
        """A compaction starts. A harness that records its threshold does so before each of its own accord."""
        now = (self.log.step, self.log.entry)
        if reason == "auto" and not by and self._names_hits and self._hit != now:
            self._record_hit()
        self._hit = None
        if self.state in LEVELS:
            self._level = self.state
        self.state, moves = begin(self._states, self.state, reason, self.context.ratio)
        self._record_moves(moves)

    def finish(self, outcome: Outcome = "", *, refused: bool = False) -> None:
        """A compaction ended; `refused` if it failed while the provider refuses the request too."""
        ratio, level = self.context.ratio, self._level
        self.state, moves = finish(
            self._states, self.state, ratio, refused=refused, before=level, outcome=outcome
        )
        self._record_moves(moves)

    def _record_moves(self, moves: Iterable[StateChange], known: bool = True) -> None:
        """Record moves of the state machine; a crossed threshold of its own with its share, the limit.

        Without a window no level is known; nor is the first one, if the level until now was not `known`.
        """
        own = has_thresholds(self.harness)
        for move in moves:
            limit = {"limit": getattr(self.harness, LIMITS[move.kind])} if own and move.kind in LIMITS else {}
            kind = move.kind if own else "state_changed"
            data = move.data
            unknown = () if not own else ("from", "to") if not self.context.window else ("from",)[known:]
            data = {**data, **{key: STATE_NAMES[UNKNOWN] for key in unknown if data[key] in LEVELS}}
            known = True
            self.log.record(kind, self.context.size, None, **data, **limit)

    def may_send(self, override: bool) -> Permission:
        """Whether the next request is composed."""
        return may_send(self.harness, self.state, override)

    # -- the trigger ------------------------------------------------------------------------------

    def decide(self) -> Verdict:
        """The verdict of the policy's trigger on the present context."""
        return self.trigger.decide(self.context.size_sent, self.context.window)

    @property
    def above(self) -> bool:
        """Whether the conditions of the policy's trigger are met."""
        return self.decide().reached is True

    def look(self) -> bool:
        """Check the conditions of the trigger, and record each crossing once."""
        above = self.above
        self.latch, crossed = self.latch.look(above)
        if crossed is not None:
            self._has_asked, self.crossed = False, True
            if crossed == "recovered" and self.log.is_last("recovered"):
                return above
            if crossed == "threshold_hit":
                self._record_hit()
            else:
                self.log.record(crossed, before=self.context.size)
        return above

    def _record_hit(self) -> None:
        self._hit = (self.log.step, self.log.entry)
        hit = hit_threshold(self.decide(), self.context.size, self.context.window)
        data = {**hit.data} if self.summarises() else {**hit.data, "provider": BY_RULES}
        self.log.record(hit.kind, hit.before, **data)

    def may_compact(self, consents: bool) -> bool:
        """Whether an automatic compaction starts now that the policy fires; asks and defers if it has to."""
        if self.deferred:
            if self._put_off != self.log.turn:
                self._put_off = self.log.turn
                self.log.record("deferred", before=self.context.size)
            return False
        may = self.counts.may_compact(self.harness, "auto", consents)
        if self.harness.mode == "ask" and self.harness.engine != "none" and (may or not self._has_asked):
            # Who said no is asked again when the threshold is crossed again.
            self._has_asked = not consents
            self.log.record("asked", before=self.context.size)
        return may

    # -- how it went ------------------------------------------------------------------------------

    def succeed(self, summary: int, before: int, after: int, simulated: bool, acts: bool) -> None:
        """Count an adopted compaction.

        Args:
            summary: Tokens of the summary; 0 if none is written.
            before: Tokens of the context before it.
            after: Tokens of the context after it.
            simulated: Whether the scenario says how long summaries come out. Only then can they grow.
            acts: Whether the user, or a state machine, asked for it.
        """
        last, self._written = self._written, summary
        grew = simulated and 0 < last < summary
        self.counts = counts = self.counts.succeed(
            idle=summary > 0 and frees_little(before, after),
            grew=grew,
            growth=self.harness.growth,
            acts=acts,
        )
        for event in stop_growing(counts, self.harness, before, after, summary, last):
            self.log.record(event.kind, event.before, event.after, **event.data)
            if counts.is_growing(self.harness):
                why = f"The summary grew in {counts.grown} compactions in a row"
                why += f", last from {last:,} to {summary:,} tokens"
                until = "until the user acts, or a recovery writes a summary that is not longer"
            else:
                why = f"{counts.idle} compactions in a row freed next to nothing"
                why += f", last from {before:,} to {after:,} tokens"
                until = "until more can be freed or the user acts"
            stops = f"; automatic ones stop {until}" if counts.stalled else ""
            self.log.note_once("no_progress", f"{why}{stops}.")

    @property
    def waits_for_more(self) -> bool:
        """Whether automatic compactions stopped because the last ones freed next to nothing."""
        return self.counts.stalled and not self.counts.is_growing(self.harness)

    def fail(self, reason: Reason, *, refused: bool = False) -> None:
        """A compaction failed; `refused` says that the provider is going to refuse the request that waits for
        it. Raises `Stop` if that ends the turn (S0-102)."""
        self.counts = self.counts.fail(reason)
        failures, limit = self.counts.failures, self.harness.breaker
        if reason == "auto" and failures == limit > 0:
            size = self.context.size
            self.log.record("breaker_opened", before=size, failures=failures, limit=limit)
            self.log.note(
                "breaker_opened",
                f"{failures} automatic compactions failed in a row, and the limit is {limit}: the circuit "
                "breaker is open, and no more are tried. The user's /compact, or any compaction that "
                "succeeds, closes it and resets the count to 0.",
            )
        fatal = reason == "auto" and self.harness.fatal
        # Else the provider's answer, which is still to come, ends it.
        if fatal or reason != "auto" or not refused:
            self.finish("failed")
        if fatal:
            self.log.record(
                "surfaced", before=self.context.size, error="ContextOverflow", cause="SummarizeFailed"
            )
            raise Stop("failed", "The turn ended with ContextOverflow: the compaction it waited for failed.")

    def forget(self) -> None:
        """The history was cleared: everything starts over."""
        counts = self.counts.act()._replace(grown=0, idle=0)
        self.latch, self.state, self.counts, self._written = Latch(), "normal", counts, 0
        self._has_asked = False
