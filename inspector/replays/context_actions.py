"""Change the context in a replay, and track its unchanged start since the previous request.

The changes are the harness's early rules, which run before every request independent of the trigger (S2-48),
the policy's own check, a compaction for any reason, and /reset.
"""

from __future__ import annotations

from ..planning.plan import Plan
from ..policies.events import write_word
from ..policies.table import VERBATIM
from ..policies.trigger import Reason
from ..session.blocks import Block, ToolOutput
from .carry import carry_entries, change, list_unsent
from .compactor import Compactor

EFFORT, GROWTH = 250_000, 50
"""Compactions that do not get below the trigger may read `EFFORT` entries in total. Then the next one waits
until the context has grown by 1/`GROWTH`: else a policy that cannot get below its own trigger takes quadratic
time."""


class ContextActions:
    """`prefix`: tokens of the previous request that are still the start of the context; `ran`: tokens that
    compactions removed since then."""

    def __init__(self, compactor: Compactor, consents: bool) -> None:
        self.compactor, self.consents = compactor, consents
        self.context, self.log, self.wire_edits = compactor.context, compactor.log, compactor.wire_edits
        self.harness_state = compactor.harness_state
        self.prefix = self.ran = 0
        self._effort = self._tried = 0
        self._early = compactor.policy.early
        own = () if self._early is None else self._early.rules
        self._early_rules = tuple(rule for rule in own if rule.enabled and not rule.locked)
        self._early_name = self.context.free_name("early")
        self._prepared = self._changes = 0

    def prepare(self) -> None:
        """Apply the early rules, if a turn began, or tools gave enough, since the request before."""
        plan = self.context.plan(self._early) if self._early is not None and self._needs_early() else None
        if plan is None or not (plan.fate != VERBATIM).any():
            return
        before = self.context.size
        self._changes += 1
        items = carry_entries(plan, f"{self._early_name}-{self._changes}")
        self.context.carry(plan, items, list_unsent(plan))
        self._record_stages(plan, before)
        self._rewritten(plan.prefix.rows, plan.prefix.tokens)

    def _record_stages(self, plan: Plan, before: int) -> None:
        """Record the stages of the early rules that changed anything; a single one with the whole change."""
        effects = [
            (stage.name, stage.before, stage.after) for stage in plan.stages if stage.before != stage.after
        ]
        if len(effects) < 2:
            kinds = [name for name, *_ in effects] or sorted(rule.kind for rule in self._early_rules)
            effects = [(kinds[0], before, self.context.size)]
        for name, tokens, after in effects:
            self.log.record("stage", before=tokens, after=after, stage=write_word(name), ran=True)

    def _needs_early(self) -> bool:
        timeline, first, self._prepared = self.context.timeline, self._prepared, self.context.position
        arrived = [timeline.entry(number) for number in range(first, self._prepared)]
        characters = sum(
            len(block.text)
            for number, entry in enumerate(arrived, first)
            if timeline.answers[number]
            for block in entry.blocks
            if isinstance(block, ToolOutput)
        )
        turns = sum(entry.opens_turn for entry in arrived)
        return any(rule.is_needed(characters, turns) for rule in self._early_rules)

    def check(self, *, refused: bool = False) -> None:
        """Compare the policy's own measure with its trigger, and compact if it fires.

        `refused` says that the provider is going to refuse the request that waits for this.
        """
        self.prepare()
        if not self.harness_state.look() or not self.compactor.able:
            return
        if self._effort > EFFORT and self.context.value < self._tried * (1 + 1 / GROWTH):
            return
        if self.harness_state.waits_for_more:
            self._effort += self.context.entries
            self._tried = self.context.value
            if self.compactor.frees_enough():
                self.harness_state.counts = self.harness_state.counts.rearm()
        may = self.harness_state.may_compact(self.consents)
        # The breaker stops only the summariser: stages that do not need it still run (S2-6).
        if may or (self._is_cut_off() and not self.harness_state.deferred):
            entries = self.context.entries
            self.compact("auto", refused=refused, summarises=may)
            self._effort = self._effort + entries if self.harness_state.above else 0
            self._tried = self.context.value

    def _is_cut_off(self) -> bool:
        """Whether an automatic compaction does not start only because the breaker is open."""
        counts, harness = self.harness_state.counts, self.harness_state.harness
        closed = counts._replace(failures=0)
        return counts.is_open(harness) and closed.may_compact(harness, "auto", self.consents)

    def compact(
        self, reason: Reason, *, refused: bool = False, by: str = "", summarises: bool = True
    ) -> bool:
        """Compact the present context. Return whether the result was adopted."""
        before = self.context.size
        prefix = self.compactor.compact(reason, refused=refused, by=by, summarises=summarises)
        if prefix is None:
            return False
        self._rewritten(prefix.rows, prefix.tokens)
        self.ran += max(before - self.context.size, 0)
        return True

    def act(self, reason: Reason, by: str = "") -> bool:
        """Compact at the user's request, which also resets the failure counts."""
        self.harness_state.counts = self.harness_state.counts.act()
        self._effort = 0
        return self.compact(reason, by=by)

    def reset(self) -> None:
        """Keep only the user's message that opened this turn, or nothing if it is yet to come."""
        context, timeline, before = self.context, self.context.timeline, self.context.size
        now = number = context.position
        while number > 0 and not (number < len(timeline) and timeline.entry(number).opens_turn):
            number -= 1
        if number < now and timeline.entry(number).opens_turn:
            opening = timeline.entry(number)
            words: tuple[Block, ...] = tuple(block for block in opening.blocks if block.kind != "tool_output")
            context.clear([opening if len(words) == len(opening.blocks) else change(opening, blocks=words)])
        else:
            context.clear([])
        self._rewritten(0, context.head)
        self.harness_state.forget()
        self._effort = 0
        self.log.record("reset", before=before, after=context.size)
        self.harness_state.measure()

    def switch(self, model: str | None, window: int | None, provider: str | None = None) -> None:
        """Switch to another model or window."""
        before = self.context.window
        self.context.switch(model, window)
        if self.wire_edits is not None:
            self.wire_edits.forget()
        if model is not None:
            self.log.model, self.log.provider = model, provider or self.log.provider
            # The new provider has nothing cached.
            self.prefix = 0
        after = self.context.window
        self.log.record("switched", window_before=before or None, window_after=after or None)
        self.log.note_once(
            "switched",
            "The model or the window changes during the replay; the threshold and the prices shown are the "
            "initial ones.",
        )
        if window is None:
            self.log.note_once(
                "window_unknown",
                f"No window is published for {model}; it is taken to have the one before.",
            )
        self.harness_state.measure(known=before > 0)

    def _rewritten(self, rows: int, tokens: int) -> None:
        """Limit the unchanged start of the context to `tokens`."""
        self.prefix = min(self.prefix, tokens)
        if self.wire_edits is not None:
            self.wire_edits.rewritten(rows)
