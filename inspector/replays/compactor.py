"""One compaction in a replay: planned, asked for, and adopted, discarded or failed; and what it leaves."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ..planning.kept_prefix import KeptPrefix
from ..planning.left_outside import weigh_more
from ..planning.plan import Plan
from ..policies.events import BY_RULES
from ..policies.policy import Policy
from ..policies.table import COUNTED
from ..policies.trigger import Reason
from ..summaries.audit import (
    REASONING,
    CompactionEvent,
    OwnFigures,
    Work,
    describe_reason,
    fail_compaction,
    finish_compaction,
    list_oversize,
    start_compaction,
)
from ..summaries.record import changes_stored
from .carry import carry_entries
from .event_log import EventLog
from .harness_state import HarnessState
from .replayed_context import ReplayedContext
from .run import Compaction
from .scenario import SimulatedSummariser
from .simulated_summariser import SimulatedAnswer, ask_summariser, find_budget
from .wire_edits import WireEdits

ALWAYS = sys.maxsize
"""Calls of a summariser that never works."""


class Compactor:
    """`compactions` are those that were begun; `fails` calls of the summariser are still to fail; `written`
    are tokens of the last summary that stands."""

    def __init__(
        self,
        policy: Policy,
        writer: SimulatedSummariser,
        context: ReplayedContext,
        harness_state: HarnessState,
        log: EventLog,
        wire_edits: WireEdits | None,
    ) -> None:
        self.policy, self.context, self.harness_state, self.log = policy, context, harness_state, log
        self.wire_edits = wire_edits
        self.writer = writer
        self.fails = ALWAYS if writer.fails == "always" else writer.fails
        self.written = 0
        self.compactions: list[Compaction] = []
        self.able = any(rule.enabled and not rule.locked for rule in policy.rules)
        self._name = context.free_name("summary")

    def compact(self, reason: Reason, *, refused: bool = False, by: str = "") -> KeptPrefix | None:
        """Compact the context as it stands: what of it stays as it was, or None when nothing was adopted.

        `refused` says that the provider is going to refuse the request that waits for it; `by` who asked for
        it, if that is not what the reason says.
        """
        plan = self.context.plan(self.policy, reason)
        if not changes_stored(plan):
            if reason == "auto":
                why = plan.why or "The policy finds nothing to compact."
                if by:
                    why = f"A compaction was forced and nothing came of it. {why}"
                self.log.note_once("forced" if by else "nothing", why)
                self._look_for_floor(plan)
            elif reason == "manual":
                self.log.note_once("no_effect", f"A /compact changes nothing here. {plan.why}".rstrip())
            return None
        before = self.context.size
        self.harness_state.begin(reason)
        estimated = self.context.estimate(plan)
        self._record(plan, [start_compaction(plan, before, estimated)], **({"by": by} if by else {}))
        tries = ask_summariser(
            *(plan, self.harness_state.harness, self.harness_state.counts, self.fails, self.writer.oversize),
            least=int(self.written * self.writer.grows),
        )
        self.fails, self.harness_state.counts = tries.fails, tries.counts
        for attempt in range(1, tries.retried + 1):
            self.log.record("retried", error="SummarizeFailed", attempt=attempt)
        self._record(plan, list_oversize(tries.oversize))
        if self.writer.oversize and plan.summarises and not find_budget(plan):
            self.log.note_once(
                "no_budget",
                "How long summaries come out has no effect here: this policy gives them no budget of tokens.",
            )
        kept = plan.prefix
        left = plan.after
        if plan.summarises:
            longer = tries.written - plan.summary_tokens
            left += longer + weigh_more(plan.outside, longer)
        if not tries.stands:
            self._keep(plan, reason, before, left, kept, tries, adopted=False)
            self._record(plan, [fail_compaction(plan, before, tries.calls)])
            self.harness_state.fail(reason, refused=refused)
            return None
        if self.harness_state.harness.adopt == "smaller" and left >= before:
            self._keep(plan, reason, before, left, kept, tries, adopted=False)
            self._record(plan, [CompactionEvent("discarded", before, left, describe_reason(plan))])
            self.harness_state.finish()
            return None
        self.written = tries.written or self.written
        self._adopt(plan, before, kept, tries, estimated)
        return kept

    def _adopt(
        self, plan: Plan, before: int, kept: KeptPrefix, tries: SimulatedAnswer, estimated: int
    ) -> None:
        name, messages = f"{self._name}-{len(self.compactions) + 1}", self.context.entries
        self.context.carry(plan, carry_entries(plan, name, tries.written if plan.summarises else None))
        after = self.context.size
        self._keep(plan, plan.reason, before, after, kept, tries, adopted=True)
        # A simulated summariser reports as usage what it took.
        work = Work(tries.calls, tries.asked, tries.written, tries.asked, tries.written)
        own = OwnFigures(
            estimated, self.context.estimated, self.context.loop_turn, messages, self.context.entries
        )
        cleared = {} if self.wire_edits is None else self.wire_edits.count_cleared(REASONING)
        harness, turn_of = self.harness_state.harness, self.context.turn_of
        self._record(plan, finish_compaction(plan, harness, before, after, work, own, turn_of, cleared))
        self.harness_state.finish()
        # A placeholder's length says nothing of how long a model's summaries come out.
        simulated = self.writer.grows > 1 or self.writer.oversize > 0
        self.harness_state.succeed(tries.written if plan.summarises else 0, before, after, simulated)
        if self.harness_state.look():
            self._look_for_floor(plan)

    def _record(self, plan: Plan, events: Iterable[CompactionEvent], **more: Any) -> None:
        more |= {} if plan.summarises else {"provider": BY_RULES}
        for event in events:
            self.log.record(event.kind, event.before, event.after, **event.data, **more)

    def _look_for_floor(self, plan: Plan) -> None:
        """Whether no cut at all would get below the trigger."""
        trigger = self.policy.trigger
        totals = plan.cut_table.total
        legal = totals[totals >= 0]
        if trigger.measure not in COUNTED or not len(legal):
            return
        least, threshold = int(legal.min()), trigger.threshold(self.context.window)
        if trigger.fires(least, self.context.window):
            self.log.record_once("irreducible", before=self.context.size, after=least)
            self.log.note_once(
                "irreducible",
                f"No cut leaves less than {least:,} tokens here, and the policy fires "
                f"{'above' if trigger.above else 'at'} {threshold:,.0f}: with these settings it cannot get "
                "under its own trigger.",
            )

    def _keep(
        self,
        plan: Plan,
        reason: Reason,
        before: int,
        after: int,
        kept: KeptPrefix,
        tries: SimulatedAnswer,
        *,
        adopted: bool,
    ) -> None:
        self.compactions.append(
            Compaction(
                step=self.log.step,
                turn=self.log.turn,
                entry=self.log.entry or "",
                reason=reason,
                plan=plan,
                before=before,
                after=after,
                prefix=kept.tokens,
                adopted=adopted,
                calls=tries.calls,
                asked=tries.asked,
                written=tries.written if tries.stands else 0,
            )
        )
