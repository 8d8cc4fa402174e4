"""One compaction in a replay: planned, asked for, and adopted, discarded or failed; and what it leaves.

Order of events: started, the summariser's tries, prefix reset, completed (STUD §9, S3-30).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..planning.kept_prefix import KeptPrefix
from ..planning.left_outside import weigh_more
from ..planning.plan import Plan
from ..policies.events import BY_RULES, count_retention, write_word
from ..policies.policy import Policy
from ..policies.table import COUNTED, FATES, SUMMARISED
from ..policies.trigger import Reason
from ..session.blocks import KINDS
from ..summaries.record import changes_stored
from .carry import carry_entries
from .event_log import EventLog
from .harness_state import HarnessState
from .replayed_context import ReplayedContext
from .run import Compaction
from .scenario import SimulatedSummariser
from .simulated_summariser import SimulatedAnswer, ask_summariser, find_budget
from .wire_edits import WireEdits

REASONING = KINDS.index("reasoning")


class Compactor:
    """`compactions` are those that were begun; `fails` calls of the summariser are still to fail."""

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
        self.writer, self.fails = writer, writer.fails
        self.compactions: list[Compaction] = []
        self.able = any(rule.enabled and not rule.locked for rule in policy.rules)
        self._name = context.free_name("summary")

    def compact(self, reason: Reason, *, refused: bool = False, by: str = "") -> KeptPrefix | None:
        """Compact the context as it stands: what of it stays as it was, or None when nothing was adopted.

        `refused` says that the provider refuses the request that waits for it; `by` who asked for it, if that
        is not what the reason says.
        """
        plan = self.context.plan(self.policy, reason)
        if not changes_stored(plan):
            if reason == "auto":
                why = plan.why or "The policy finds nothing to compact."
                if by:
                    why = f"A compaction was forced and nothing came of it. {why}"
                self.log.note_once("forced" if by else "nothing", why)
                self._look_for_floor(plan)
            return None
        before = self.context.size
        self.harness_state.begin(reason)
        data: dict[str, Any] = {"reason": reason, "willRetry": reason == "overflow"}
        data |= {} if plan.summarises else {"provider": BY_RULES}
        data["estimated"] = self.context.estimate(plan)
        self.log.record("started", before, None, **data, **({"by": by} if by else {}))
        tries = ask_summariser(
            plan, self.harness_state.harness, self.harness_state.counts, self.fails, self.writer.oversize
        )
        self.fails, self.harness_state.counts = tries.fails, tries.counts
        for kind, payload in tries.told:
            self.log.record(kind, **payload)
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
            error = {"error": "ContextOverflow", "cause": "SummarizeFailed", "calls": tries.calls}
            self.log.record("failed", before=before, after=before, **data, **error)
            self.harness_state.fail(reason)
            self.harness_state.finish(refused=refused and reason == "auto")
            return None
        if self.harness_state.harness.adopt == "smaller" and left >= before:
            self._keep(plan, reason, before, left, kept, tries, adopted=False)
            self.log.record("discarded", before=before, after=left, **data)
            self.harness_state.finish()
            return None
        self._adopt(plan, before, kept, tries, data)
        return kept

    def _adopt(
        self, plan: Plan, before: int, kept: KeptPrefix, tries: SimulatedAnswer, data: dict[str, Any]
    ) -> None:
        for stage in plan.stages:
            self.log.record(
                "stage", stage=write_word(stage.name), ran=stage.ran, before=stage.before, after=stage.after
            )
        reasoning = plan.table.kind == REASONING
        downgraded = int((reasoning & (plan.fate == SUMMARISED)).sum())
        if downgraded:
            self.log.record("reasoning_downgraded", blocks=downgraded)
        name, messages = f"{self._name}-{len(self.compactions) + 1}", self.context.entries
        self.context.carry(plan, carry_entries(plan, name, tries.written if plan.summarises else None))
        after = self.context.size
        own = {"estimated": data["estimated"], "estimated_after": self.context.estimated}
        own["loop_turn"] = self.context.loop_turn
        reset = {"reason": plan.reason, "prefix": kept.tokens, **own}
        self.log.record("prefix_reset", before=before, after=after, **reset)
        self._keep(plan, plan.reason, before, after, kept, tries, adopted=True)
        ratio = self.context.ratio
        told: dict[str, Any] = {**own, "messages_before": messages, "messages_after": self.context.entries}
        told["deterministic"] = plan.deterministic
        if tries.calls:
            told |= {"calls": tries.calls, "asked": tries.asked, "written": tries.written}
        if reasoning.any():
            told["retention"] = self._count_reasoning(plan)
        filled = {} if ratio is None else {"ratio": ratio}
        self.log.record("completed", before=before, after=after, **(data | told | filled))
        if self.harness_state.harness.tool is not None:
            tool = write_word(self.harness_state.harness.tool)
            self.log.record("applied", before=before, after=after, tool=tool, **filled)
        self.harness_state.finish()
        self.harness_state.succeed(tries.written if plan.summarises else 0, before, after)
        if self.harness_state.look():
            self._look_for_floor(plan)

    def _count_reasoning(self, plan: Plan) -> Any:
        """What became of reasoning, by the turn of the session that it belongs to (S0-97).

        What stays in the history and leaves the request on the same boundary is the provider's: cleared.
        """
        live, entries = plan.table.live, plan.session.entries
        rows = np.flatnonzero(plan.table.kind == REASONING)
        positions = live.position[rows].tolist()
        turns = [self.context.turn_of(entries[live.entries[at]].id) or 0 for at in positions]
        fates = [FATES[code] for code in plan.fate[rows].tolist()]
        counted = count_retention(zip(turns, fates, strict=True))
        if self.wire_edits is not None:
            for name, number in self.wire_edits.count_cleared(REASONING).items():
                row = counted.get(self.context.turn_of(name) or 0, {})
                moved = min(number, row.get("verbatim", 0))
                if moved:
                    row["verbatim"], row["cleared"] = row["verbatim"] - moved, row["cleared"] + moved
        return {f"turn-{turn + 1}": row for turn, row in counted.items()}

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
