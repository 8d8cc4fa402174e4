"""What changes the context in a replay, and what of it the provider has seen in the request before.

The policy's own check, a compaction for whatever reason, and /reset.
"""

from __future__ import annotations

from ..policies.trigger import Reason
from ..session.blocks import Block
from .carry import change
from .compactor import Compactor
from .early_rules import EarlyRules
from .event_log import EventLog
from .harness_state import HarnessState
from .replayed_context import ReplayedContext
from .wire_edits import WireEdits

EFFORT, GROWTH = 250_000, 50
"""Tries that leave the context where the policy fires may look at so many entries, all together. Then the
next one waits until the context has grown by a fiftieth: else a policy that cannot get below its own trigger
takes time in the square of the session."""


class ContextActions:
    """`prefix`: tokens of the request before that still stand at the front of the context; `ran`: what
    compactions took away since then."""

    def __init__(
        self,
        context: ReplayedContext,
        log: EventLog,
        harness_state: HarnessState,
        compactor: Compactor,
        early: EarlyRules,
        wire_edits: WireEdits | None,
        consents: bool,
    ) -> None:
        self.context, self.log, self.harness_state, self.early = context, log, harness_state, early
        self.compactor, self.wire_edits, self.consents = compactor, wire_edits, consents
        self.prefix = self.ran = 0
        self._effort = self._tried = 0

    def prepare(self) -> None:
        """What the harness does to the context before every request."""
        plan = self.early.apply()
        if plan is not None:
            self._rewritten(plan.prefix.rows, plan.prefix.tokens)

    def check(self, *, refused: bool = False) -> None:
        """Hold the policy's own measure against its trigger, and compact if it fires.

        `refused` says that the provider is going to refuse the request that waits for this.
        """
        if not self.harness_state.look() or not self.compactor.able:
            return
        if self._effort > EFFORT and self.context.value < self._tried * (1 + 1 / GROWTH):
            return
        if self.harness_state.may_compact(self.consents):
            entries = self.context.entries
            self.compact("auto", refused=refused)
            self._effort = self._effort + entries if self.harness_state.above else 0
            self._tried = self.context.value

    def compact(self, reason: Reason, *, refused: bool = False, by: str = "") -> bool:
        """Compact the context as it stands. Whether the result was adopted."""
        before = self.context.size
        kept = self.compactor.compact(reason, refused=refused, by=by)
        if kept is None:
            return False
        self._rewritten(kept.rows, kept.tokens)
        self.ran += max(before - self.context.size, 0)
        return True

    def act(self, reason: Reason, by: str = "") -> bool:
        """The same because somebody intervenes: what was given up is tried again."""
        self.harness_state.counts = self.harness_state.counts.act()
        self._effort = 0
        return self.compact(reason, by=by)

    def reset(self) -> None:
        """Only what the user says now stays: the words that opened this turn, unless they are yet to come."""
        context, life, before = self.context, self.context.life, self.context.size
        now = number = context.position
        while number > 0 and not (number < len(life) and life.entry(number).opens_turn):
            number -= 1
        if number < now and life.entry(number).opens_turn:
            asked = life.entry(number)
            words: tuple[Block, ...] = tuple(block for block in asked.blocks if block.kind != "tool_output")
            context.clear([asked if len(words) == len(asked.blocks) else change(asked, blocks=words)])
        else:
            context.clear([])
        self._rewritten(0, context.head)
        self.harness_state.forget()
        self._effort = 0
        self.log.record("reset", before=before, after=context.size)
        self.harness_state.measure()

    def switch(self, model: str | None, window: int | None, provider: str | None = None) -> None:
        """Another model reads from now on, or another window."""
        before = self.context.window
        self.context.switch(model, window)
        if self.wire_edits is not None:
            self.wire_edits.forget()
        if model is not None:
            self.log.model, self.log.provider = model, provider or self.log.provider
            # It knows nothing of what the one before has cached.
            self.prefix = 0
        after = self.context.window
        self.log.record("switched", window_before=before or None, window_after=after or None)
        self.log.note_once(
            "switched",
            "The model or the window changes on the way; the threshold that is shown, and prices, are those "
            "of the beginning.",
        )
        if window is None:
            self.log.note_once(
                "window_unknown",
                f"No window is published for {model}; it is taken to have the one before."
                if model is not None
                else "A switch names neither a window nor a model; nothing changes by it.",
            )
        self.harness_state.measure()

    def _rewritten(self, rows: int, tokens: int) -> None:
        """Only so much of the context is still what the request before held."""
        self.prefix = min(self.prefix, tokens)
        if self.wire_edits is not None:
            self.wire_edits.rewritten(rows)
