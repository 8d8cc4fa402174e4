"""One compaction in a replay: planned, requested, and adopted, discarded or failed."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from ..planning.kept_prefix import KeptPrefix
from ..planning.left_outside import weigh_more
from ..planning.plan import Plan
from ..policies.events import BY_RULES
from ..policies.failures import frees_little
from ..policies.policy import Policy
from ..policies.table import COUNTED
from ..policies.trigger import Reason, whole_size
from ..session.blocks import REASONING
from ..summaries.audit import (
    CompactionEvent,
    OwnFigures,
    Work,
    describe_reason,
    fail_compaction,
    finish_compaction,
    list_oversize,
    list_retries,
    list_stages,
    size_by_harness,
    start_compaction,
)
from ..summaries.record import changes_stored, without_summary
from ..text import plural
from .carry import carry_entries
from .harness_state import HarnessState
from .run import Compaction
from .simulated_summariser import SimulatedAnswer, SimulatedSummariser, ask_summariser, find_budget
from .wire_edits import WireEdits

ALWAYS = sys.maxsize
"""Calls of a summariser that never works."""


class Compactor:
    """`compactions` are those that were begun; `fails` calls of the summariser are still to fail; `failed`
    are those that did in compactions that failed; `written` are tokens of the last adopted summary."""

    def __init__(
        self,
        policy: Policy,
        writer: SimulatedSummariser,
        harness_state: HarnessState,
        wire_edits: WireEdits | None,
    ) -> None:
        self.policy, self.harness_state, self.wire_edits = policy, harness_state, wire_edits
        context = self.context = harness_state.context
        self.log = harness_state.log
        harness_state.summarises = lambda: context.plan(policy, "auto", fires=True).summarises
        self.writer = writer
        self.fails = ALWAYS if writer.fails == "always" else writer.fails
        self.written = self.failed = 0
        self.why = ""
        self.compactions: list[Compaction] = []
        late = {kind for stage in policy.late for kind in stage.rules}
        own = (rule for rule in policy.rules if rule.enabled and not rule.locked)
        self.able = any(rule.kind not in late for rule in own)
        self._by: dict[str, str] = {}
        self._name = context.free_name("summary")

    def compact(
        self, reason: Reason, *, refused: bool = False, by: str = "", summarises: bool = True
    ) -> KeptPrefix | None:
        """Compact the present context.

        Args:
            reason: Why the compaction is planned.
            refused: Whether the provider is going to refuse the waiting request.
            by: The initiator, if the reason does not say it.
            summarises: If False, only stages without a summariser run.

        Returns:
            The unchanged start of the context, or None if nothing was adopted; `why` then says the cause.
        """
        if reason != "auto" and (off := self.policy.why_off(reason)):
            self.why = f"{off}."
            if reason == "manual":
                self.log.note_once("no_effect", f"A /compact changes nothing here. {self.why}")
            return None
        plan = self.context.plan(self.policy, reason, fires=True)
        if summarises and plan.summarises:
            # A summary is of the history, with what a view leaves out of each request (S2-5, S2-14).
            plan = self.context.plan_stored(self.policy, plan)
        if not summarises and not changes_stored(plan := without_summary(plan)):
            return None
        if not changes_stored(plan):
            self.why = why = plan.why or "The policy finds nothing to compact."
            if reason == "auto":
                if by:
                    why = f"A forced compaction had no effect. {why}"
                self.log.note_once("forced" if by else "nothing", why)
                self._look_for_floor(plan)
            elif reason == "manual":
                self.log.note_once("no_effect", f"A /compact changes nothing here. {plan.why}".rstrip())
            return None
        before = self.context.size
        self.harness_state.begin(reason, by)
        estimated = self.context.estimate(plan)
        self._by = {"by": by} if by else {}
        self._record(plan, [start_compaction(plan, before, estimated)])
        tries = ask_summariser(
            plan, self.harness_state.harness, self.fails, self.writer.oversize, self.writer.size(self.written)
        )
        self.fails -= tries.failed
        retries = self.harness_state.harness.retries
        self._record(plan, list_retries(min(tries.failed, retries), before, retries))
        self._record(plan, list_oversize(tries.oversize, before))
        if self.writer.oversize and plan.summarises and not find_budget(plan):
            self.log.note_once(
                "no_budget",
                "How long summaries come out has no effect here: this policy gives them no budget of tokens.",
            )
        prefix = plan.prefix
        longer = tries.written - plan.summary_tokens if plan.summarises else 0
        size = plan.after + longer + weigh_more(plan.outside, longer)
        if not tries.succeeded:
            return self._fail(plan, before, size, tries, refused)
        was, left = size_by_harness(plan, before, size, longer)
        if self.harness_state.harness.adopt == "smaller" and left >= was:
            self._keep(plan, before, size, prefix, tries, adopted=False)
            self.why = "The result would not be smaller and is discarded."
            self._record(plan, [CompactionEvent("discarded", before, size, describe_reason(plan))])
            self.harness_state.finish("discarded")
            return None
        self.written = tries.written or self.written
        self._adopt(plan, before, prefix, tries, estimated, closes=summarises)
        return prefix

    def frees_enough(self) -> bool:
        """Whether an automatic compaction of the present context is expected to free more than next to
        nothing, with a summary at least as long as the last."""
        plan = self.context.plan(self.policy, "auto", fires=True)
        longer = max(self.written - plan.summary_tokens, 0) if plan.summarises else 0
        return changes_stored(plan) and not frees_little(plan.before, plan.after + longer)

    def _fail(
        self, plan: Plan, before: int, size: int, tries: SimulatedAnswer, refused: bool
    ) -> KeptPrefix | None:
        """Record that the summariser failed for good; the work of other stages, if any, is adopted."""
        self.failed += tries.failed
        self.why = f"The summariser failed {plural(tries.failed, 'time')}."
        rest, prefix = without_summary(self.context.plan(self.policy, plan.reason, fires=True)), None
        if changes_stored(rest):
            prefix = rest.prefix
            self._record(plan, list_stages(rest))
            self.context.carry(rest, carry_entries(rest, f"{self._name}-{len(self.compactions) + 1}"))
            self._keep(rest, before, self.context.size, prefix, tries, adopted=True)
        else:
            self._keep(plan, before, size, plan.prefix, tries, adopted=False)
        self._record(plan, fail_compaction(rest, before, self.context.size, tries.calls))
        self.harness_state.fail(plan.reason, refused=refused)
        return prefix

    def _adopt(
        self,
        plan: Plan,
        before: int,
        prefix: KeptPrefix,
        tries: SimulatedAnswer,
        estimated: int,
        *,
        closes: bool,
    ) -> None:
        """Adopt the result. It `closes` the breaker unless the summariser was left out."""
        name, messages = f"{self._name}-{len(self.compactions) + 1}", self.context.entries
        self.context.carry(plan, carry_entries(plan, name, tries.written if plan.summarises else None))
        after = self.context.size
        self._keep(plan, before, after, prefix, tries, adopted=True)
        if after >= before:
            freed = f"was adopted and freed nothing: {before:,} tokens before, {after:,} after"
            self.log.note_once("freed_nothing", f"The compaction of turn {self.log.turn + 1} {freed}.")
        # A simulated summariser reports as usage what it took.
        work = Work(tries.calls, tries.input_tokens, tries.written, tries.input_tokens, tries.written)
        own = OwnFigures(
            estimated, self.context.estimated, self.context.loop_turn, messages, self.context.entries
        )
        cleared = {} if self.wire_edits is None else self.wire_edits.count_cleared(REASONING)
        harness, turn_of = self.harness_state.harness, self.context.turn_of
        self._record(plan, list_stages(plan))
        self._record(plan, finish_compaction(plan, harness, before, after, work, own, turn_of, cleared))
        self.harness_state.finish()
        # A placeholder's length says nothing of how long a model's summaries come out.
        simulated = self.writer.grows > 0 or self.writer.oversize > 0
        if closes:
            written, acts = tries.written if plan.summarises else 0, plan.reason == "manual" or bool(self._by)
            self.harness_state.succeed(written, before, after, simulated, acts)
        if self.harness_state.look():
            self._look_for_floor(plan)

    def _record(self, plan: Plan, events: Iterable[CompactionEvent]) -> None:
        provider = {} if plan.summarises else {"provider": BY_RULES}
        for event in events:
            by = self._by if "reason" in event.data else {}
            self.log.record(event.kind, event.before, event.after, **event.data, **by, **provider)

    def _look_for_floor(self, plan: Plan) -> None:
        """Whether no cut at all would get below the trigger."""
        trigger = self.policy.trigger
        # The table of all cuts costs as much as the plan, and some policies compact at every request.
        if any(condition.measure not in COUNTED for condition in trigger.conditions):
            return
        if any(event.kind == "irreducible" for event in self.log.events):
            return
        totals = plan.cut_table.total
        legal = totals[totals >= 0]
        if not len(legal):
            return
        least = int(legal.min())
        verdict = trigger.decide(lambda _: whole_size(least), self.context.window)
        if verdict.reached:
            self.log.record("irreducible", before=self.context.size, after=least)
            self.log.note(
                "irreducible",
                f"No cut leaves less than {least:,} tokens here, and the policy fires {verdict.lead.limit}: "
                "with these settings it cannot get under its own trigger.",
            )

    def _keep(
        self,
        plan: Plan,
        before: int,
        after: int,
        prefix: KeptPrefix,
        tries: SimulatedAnswer,
        *,
        adopted: bool,
    ) -> None:
        self.compactions.append(
            Compaction(
                step=self.log.step,
                turn=self.log.turn,
                entry=self.log.entry or "",
                reason=plan.reason,
                plan=plan,
                before=before,
                after=after,
                prefix=prefix.tokens,
                adopted=adopted,
                calls=tries.calls,
                asked=tries.input_tokens,
                written=tries.written if tries.succeeded else 0,
            )
        )
