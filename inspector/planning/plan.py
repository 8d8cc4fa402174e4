"""Session + Ledger + Policy (+ Edits) -> Plan: a fate for every block, and what a summariser must write.

A plan sits beside the session and never edits it. Every rule is asked once; its claims depend only on
which side of the cut a block is, so the plan is two columns of fates, and the cut picks one of them per
block. That makes all legal cuts one look-up: the `CutTable`. A policy with stages has such columns for each
stage, and stops at the first that meets its target.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..cuts import CutPoint, CutPoints
from ..errors import EditError
from ..formats.summary_wording import shown_summary
from ..mixins import Drawable, Framed, ask
from ..policies.builtin.recorded import RECORDED
from ..policies.policy import Edits, Policy
from ..policies.registry import configure_policy
from ..policies.rules.collapse import Collapse, CollapsedSegment, find_segments
from ..policies.rules.keep_recent_tokens import KeepRecentTokens, measure_context
from ..policies.table import COUNTED, FATES, SUMMARISED, VERBATIM, Bytes, Decision, Summary, Table
from ..policies.trigger import Condition, Measured, Reason, Verdict, join_verdicts, judge_trigger
from ..session.blocks import KINDS, BlockRef
from ..session.session import Session
from ..session.tree import Bools
from ..text import printed
from ..tokens.ledger import Ledger
from ..tokens.memo import Memo
from ..tokens.moment import Moment
from ..tokens.outside import Outside, PartName
from ..tokens.reattached import ATTACHING
from ..tokens.reattached import MOST as MOST_ATTACHED
from ..tokens.recorded_sizes import ContextSize, find_recorded_sizes
from ..tokens.rows import SECTIONS
from .as_recorded import find_recorded
from .cut_table import CutTable, find_edited_place
from .fates import DECIDERS, SideFates, find_lost, find_pinned
from .kept_prefix import KeptPrefix, find_prefix
from .left_outside import leave_outside, takes, weigh_more
from .notice import PlacedNotice
from .stages import StageOutcome, StageOutcomes, StageReports, report_stages
from .stand_in import StandIn
from .summary_jobs import Checkpoint, SummaryJob, divide_summary, list_jobs

_MEASURED: Memo[Measured] = Memo()
_CORRECTIONS: Memo[int] = Memo()


@dataclass(frozen=True, eq=False)
class Plan(Framed, Drawable):
    """What a policy does to the context at the leaf of a session.

    `place` is the live position the cut stands at, or None when there is nothing to compact; `why` then
    says so. Fates and tokens are columns over the live blocks, in context order. `checkpoint` is a summary
    that somebody wrote for it: it stands, and is counted, in the stand-in's place.

    >>> from inspector import checkpoint_from_text, count_tokens, make_plan, read_session
    >>> session = read_session([{"role": "user", "content": "Name a prime."},
    ...                         {"role": "assistant", "content": "Seven."},
    ...                         {"role": "user", "content": "And another one?"}])
    >>> plan = make_plan(session, count_tokens(session), "keep-recent-turns", {"cut": "m3"})
    >>> plan.cut.entry, [str(ref) for ref in plan.lost]
    ('m3', ['m1/0', 'm2/0'])
    >>> plan.with_summary(checkpoint_from_text("The first was seven."))
    Plan(keep-recent-turns: cut at m3 (turn 2), 10 -> 9 tokens;
         blocks: 1 verbatim, 2 summarised; summary by pasted; not deterministic)
    """

    session: Session
    ledger: Ledger
    policy: Policy
    edits: Edits
    table: Table
    tiers: StageOutcomes
    depth: int
    checkpoint: Checkpoint | None = None

    @property
    def cuts(self) -> CutPoints:
        """Where one may cut."""
        return self.table.cuts

    @property
    def tier(self) -> StageOutcome:
        """What the stages that ran decided."""
        return self.tiers[self.depth]

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """One for every rule; that of a rule in a stage that did not run says nothing."""
        return self.tier.decisions

    @property
    def older(self) -> SideFates:
        return self.tier.older

    @property
    def kept(self) -> SideFates:
        return self.tier.uncut if self.place is None else self.tier.after(self.place)

    @property
    def place(self) -> int | None:
        return self.tier.place

    @cached_property
    def why(self) -> str:
        """Why nothing is done; empty when there is a cut, or blocks change without one."""
        if self.place is not None or self.outcome.changed.any():
            return ""
        if self.policy.stages and self.depth <= self.tiers.early and self.tiers.limit is not None:
            return (
                f"No stage is needed: {self.tier.size(None):,} tokens are within the target of "
                f"{self.tiers.limit:,}."
            )
        return self.tier.why

    @property
    def spec(self) -> Summary | None:
        return self.tier.spec

    @property
    def summary_at(self) -> int:
        """The live position before which the summary stands, never behind the cut."""
        return 0 if self.spec is None or self.place is None else min(self.spec.at, self.place)

    @property
    def reason(self) -> Reason:
        """Why the compaction is planned."""
        return self.table.reason

    @cached_property
    def is_older(self) -> Bools:
        """bool[m]: the block stands before the cut."""
        if self.place is None:
            return np.zeros(len(self.table.tokens), bool)
        return self.table.live.position < self.place

    @cached_property
    def outcome(self) -> SideFates:
        """The fates at this plan's cut, call/output pairs kept whole across it."""
        return self.tier.settle(self.place)

    @property
    def fate(self) -> Bytes:
        return self.outcome.fate

    @property
    def stand_in(self) -> StandIn:
        """What stands where a model's summary would, priced at every place."""
        return self.tier.stand_in

    @property
    def notice(self) -> PlacedNotice | None:
        """The message that stands at the cut and says what was left out, if any."""
        notice = self.tier.notice
        return notice if notice is not None and self.place is not None and notice.stands(self.place) else None

    @cached_property
    def notice_tokens(self) -> int:
        """Tokens of the notice, and of what it repeats."""
        if self.notice is None or self.place is None:
            return 0
        repeated = self.notice.before.tokens.sum() if self.notice.echoes(self.place) else 0
        return int(self.notice.cost[self.place]) + int(repeated)

    @cached_property
    def stages(self) -> StageReports:
        """Every stage of the policy in order, with the tokens before and after it by the policy's measure."""
        return report_stages(self.policy, self.tiers, self.depth)

    @cached_property
    def measured(self) -> Measured:
        """How full the context is by the provider's word, and by a published estimate where it said nothing.

        A policy that walks back by tokens says how it reads usage; the others read it as Flue does.
        """
        walk = self.table.sibling("keep-recent-tokens")
        how = walk if isinstance(walk, KeepRecentTokens) else KeepRecentTokens()
        moment, given = self.table.moment, self.table.moment.given
        if given is not None:
            return Measured(given.reported, given.reported, 0, None)
        if moment.whole is not None:
            return Measured(self.before, 0, self.before, None)
        key = (how.estimate, how.fresh_usage, how.start)
        return _MEASURED.of(moment, lambda: measure_context(self.table, how), *key)

    @cached_property
    def summarises(self) -> bool:
        """Whether a summary is written."""
        return self.spec is not None and bool((self.fate == SUMMARISED).any())

    @property
    def is_unwritten(self) -> bool:
        """Whether its summary is still to be written: a placeholder stands in its place."""
        return self.summarises and self.checkpoint is None

    @property
    def deterministic(self) -> bool:
        """Whether the same history always gives the same context: no model writes a summary (S0-69).

        A summary that was written without one, as `Extractive` does, is the same each time too.
        """
        return not self.summarises or (self.checkpoint is not None and self.checkpoint.deterministic)

    @cached_property
    def lost(self) -> tuple[BlockRef, ...]:
        """The blocks that are no longer verbatim in the context; the session keeps them (S1-32)."""
        return find_lost(self.table, np.where(self.outcome.is_history, self.fate, VERBATIM))

    @cached_property
    def prefix(self) -> KeptPrefix:
        """What stays as it was from the front on: a provider's cache ends at the first rewritten message."""
        new = [self.summary_at] if self.summarises else []
        if self.notice is not None and self.place is not None:
            new.append(self.place)
        return find_prefix(self.table, self.fate, new, self.ledger.head_tokens)

    def to_columns(self) -> dict[str, list[Any]]:
        """Return a row per block of the context: where it is, its tokens, and what the plan makes of it.

        The summary and the notice, which the plan adds, have no rows.

        >>> from inspector import make_plan, open_demo
        >>> columns = make_plan(open_demo(), "flue", cut="end").to_columns()
        >>> list(columns)
        ['ref', 'turn', 'kind', 'section', 'tokens', 'retention', 'tokens_after']
        """
        table, session = self.table, self.session
        turns = {
            session.path[index]: turn.number + 1
            for turn in session.turns
            for index in range(turn.first, turn.last + 1)
        }
        return {
            "ref": [str(block) for block in session.live_refs()],
            "turn": [turns.get(entry, 0) for entry in table.live.entries[table.live.position].tolist()],
            "kind": [KINDS[code] for code in table.kind.tolist()],
            "section": [SECTIONS[code] for code in table.moment.section.tolist()],
            "tokens": table.tokens.tolist(),
            "retention": [FATES[code] for code in self.fate.tolist()],
            "tokens_after": self.outcome.tokens.tolist(),
        }

    @property
    def saved(self) -> dict[str, int]:
        """Tokens by which the blocks of each kind are made fewer (S3-11); with the summary and the notice
        taken from their sum, what is saved in all."""
        fewer = np.bincount(self.table.kind, self.table.tokens - self.outcome.tokens, len(KINDS))
        return {kind: n for kind, n in zip(KINDS, fewer.astype(int).tolist(), strict=True) if n}

    @property
    def segments(self) -> tuple[CollapsedSegment, ...]:
        """The turns that are shown folded, apart from the messages, which nothing changes (S2-19)."""
        for code, rule in enumerate(self.policy.rules):
            if isinstance(rule, Collapse):
                return find_segments(self.table, self.outcome.rule == code)
        return ()

    @property
    def cut(self) -> CutPoint | None:
        return None if self.place is None else self.cuts[self.place]

    @property
    def splits(self) -> int:
        """Where the turn begins whose beginning is summarised apart, or -1."""
        if self.place is None or self.spec is None or not self.spec.split_turns:
            return -1
        return int(self.table.split_start[self.place])

    @property
    def before(self) -> int:
        """Tokens of the request as the context stands, on the provider's scale: what is counted, and what is
        not in the file.

        >>> from inspector import count_tokens, make_plan, open_demo
        >>> session = open_demo()
        >>> plan = make_plan(session, count_tokens(session))
        >>> plan.before == plan.counted_before + plan.outside.tokens
        True
        """
        return self.counted_before + self.outside.tokens

    @property
    def after(self) -> int:
        """The same of the request this plan leaves; where no summary is written, the stand-in is in it."""
        return self.counted_after + self.outside_after

    @property
    def counted_before(self) -> int:
        """Tokens of the context as it stands, by the ledger's counter: a part of `before`."""
        return self.ledger.head_tokens + int(self.table.tokens.sum())

    @cached_property
    def counted_after(self) -> int:
        """Tokens of the context this plan leaves, by the ledger's counter: a part of `after`."""
        stands = int(self.outcome.tokens.sum())
        return self.ledger.head_tokens + stands + self.summary_tokens + self.notice_tokens

    @property
    def outside(self) -> Outside:
        """What the request holds that the file does not, as the context stands."""
        return self.table.moment.outside

    @cached_property
    def parts_after(self) -> dict[PartName, int]:
        """What is not in the file of the request that this plan leaves, by part, in tokens.

        The fixed part stays; what is withheld goes with its blocks; history from before the file, and what a
        harness attached again, go as soon as anything is summarised or dropped. What is reported after a
        recorded compaction beyond that is the `correction`: if less is reported, `withheld` may be below 0.
        """
        parts = self._explained_after
        if self.summarises and self.correction:
            parts = {**parts, self.corrected: parts[self.corrected] + self.correction}
        return parts

    @cached_property
    def _explained_after(self) -> dict[PartName, int]:
        """The same without what only the request after a recorded compaction reports."""
        outside = self.outside
        left = int(leave_outside(self.table, self.outcome).sum())
        left += weigh_more(outside, self.summary_tokens)
        if self.notice is not None and self.place is not None:
            left += weigh_more(outside, int(self.notice.cost[self.place]))
            if self.notice.echoes(self.place):
                left += int(leave_outside(self.table, self.notice.before).sum())
        taken = bool(takes(self.outcome).any())
        return {
            "fixed": outside.fixed.tokens,
            "withheld": left,
            "earlier": 0 if taken else outside.earlier.tokens,
            "attached": 0 if taken else outside.attached.tokens,
        }

    @property
    def recorded_size(self) -> ContextSize | None:
        """The size after the compaction that the file records here; None unless the policy is "recorded"."""
        if self.policy.name != RECORDED.name or self.table.moment.given is not None:
            return None
        entry = find_recorded(self.session, self.cuts).entry
        return find_recorded_sizes(self.session, self.ledger, entry.id).after

    @property
    def correction(self) -> int:
        """Tokens by which the size after the recorded compaction differs from what its plan explains; 0 for
        other policies. It is the same for all edits of that plan."""
        size = self.recorded_size
        if size is None:
            return 0

        def measure() -> int:
            plan = self.with_edits(Edits())
            explained = plan.counted_after + sum(plan._explained_after.values())
            return size.tokens - explained if plan.summarises else 0

        return _CORRECTIONS.of(self.table.moment, measure, self.table.given_window, self.reason)

    @property
    def corrected(self) -> PartName:
        """The part of `parts_after` that holds the `correction`: files that the harness attached again, if
        it does so; else what the provider counts more or less than the ledger."""
        attaches = self.correction > 0 and self.session.format in ATTACHING
        return "attached" if attaches else "withheld"

    @property
    def outside_after(self) -> int:
        """What is not in the file of the request that this plan leaves, in tokens."""
        return sum(self.parts_after.values())

    @cached_property
    def after_range(self) -> tuple[int, int]:
        """The least and the most that `after` may be, where the file does not tell all of it.

        What Claude Code attaches again after its own compaction is in no `after`, but it is in the most. A
        recorded compaction, and edits of it, are as certain as the size after it.
        """
        if (size := self.recorded_size) is not None and self.summarises:
            return self.after - size.tokens + size.low, self.after - size.tokens + size.high
        low = high = self.counted_after
        low -= round(self.outside.overcounted * self.counted_after)
        for name, tokens in self.parts_after.items():
            part = self.outside.parts[name]
            share = tokens / part.tokens if part.tokens else 0
            low += tokens - round(share * (part.tokens - part.low))
            high += tokens + round(share * (part.high - part.tokens))
        return low, high + (MOST_ATTACHED if self.attaches else 0)

    @property
    def attaches(self) -> bool:
        """Whether the harness attaches files again after this plan, as far as is known."""
        own = self.session.format in ATTACHING and self.policy.name in ATTACHING
        return own and self.summarises and not self.outside.exceeds

    @cached_property
    def summary_tokens(self) -> int:
        """Tokens of the summary as the model is shown it; of the stand-in, line by line, without one."""
        if not self.summarises or self.place is None:
            return 0
        if self.checkpoint is None:
            return int(self.stand_in.cost[self.place])
        texts = [text for text, _, _ in self.divide(self.checkpoint)]
        return int(self.ledger.count_texts([shown_summary(self.session.format, t) for t in texts]).sum())

    def divide(self, checkpoint: Checkpoint) -> list[tuple[str, int, int]]:
        """The messages of a written summary, as `divide_summary` does; there is one unless it is per turn."""
        assert self.spec is not None and self.place is not None
        return divide_summary(self.table, self.spec, self.place, self.fate == SUMMARISED, checkpoint)

    @property
    def _longer(self) -> int:
        """Tokens by which the summary that was written is longer than its stand-in."""
        if self.checkpoint is None or self.place is None:
            return 0
        return self.summary_tokens - int(self.stand_in.cost[self.place])

    @property
    def _longer_outside(self) -> int:
        """What the written summary weighs beyond its count, more than its stand-in does."""
        if not self._longer or self.place is None:
            return 0
        stand_in = weigh_more(self.outside, int(self.stand_in.cost[self.place]))
        return weigh_more(self.outside, self.summary_tokens) - stand_in

    @property
    def left(self) -> int:
        """What is left by the policy's own measure; a summary counts by the ledger's."""
        more = self._longer_outside if self.policy.trigger.measure in COUNTED else 0
        return self.tier.size(self.place) + self._longer + more

    @cached_property
    def under_target(self) -> bool | None:
        """Whether the policy's target is met, by its own measure; None without a target (TIERED §11 i)."""
        limit = self.tiers.limit
        return None if limit is None else self.left <= limit

    @cached_property
    def trace(self) -> Any:
        """What becomes of every fact in this plan: a `Trace`, as `trace_facts` makes it. Kept.

        >>> from inspector import count_tokens, make_plan, open_demo
        >>> session = open_demo()
        >>> plan = make_plan(session, count_tokens(session), "flue")
        >>> plan.trace["src/tidepool/jobs/outbox.py"].stood
        True
        """
        return ask("trace", self)

    @property
    def fits(self) -> bool:
        """Whether what is left would not trigger the policy again. True when nothing tells the threshold."""
        trigger = self.policy.trigger
        size = self.after if trigger.measure in COUNTED else self.left
        return not trigger.fires(size, self.table.window)

    @cached_property
    def jobs(self) -> tuple[SummaryJob, ...]:
        """What a model would be asked to write: the history, and a split turn's beginning apart."""
        if not self.summarises or self.spec is None or self.place is None:
            return ()
        return list_jobs(self.table, self.spec, self.place, self.splits, self.fate == SUMMARISED)

    @cached_property
    def cut_table(self) -> CutTable:
        """All places planned at once, each with a stand-in; the plan's own with what was written for it."""
        table = self.tiers.cuts
        if self.place is None:
            return table
        written = table.lengthen(self.place, self._longer, self._longer_outside)
        return written.correct(self.corrected, self.correction, table.summary > 0)

    def with_edits(self, edits: Edits) -> Plan:
        """The same moment planned by the same policy, window and reason, with these edits in place of its
        own. Raises what `make_plan` raises."""
        alike = edits == self.edits.model_copy(update={"cut": edits.cut})
        if alike and edits.cut is not None and self.policy.name != RECORDED.name:
            tiers = self.tiers.at_cut(find_edited_place(self.table, edits.cut))
            return replace(self, edits=edits, tiers=tiers, depth=tiers.stop(), checkpoint=None)
        # A reason that nobody gave is that of the policy as the edits make it.
        reason = None if self.reason == self.policy.own_reason else self.reason
        window = self.table.given_window
        return plan_moment(
            self.table.moment, self.policy, edits, session=self.session, window=window, reason=reason
        )

    def with_summary(self, checkpoint: Checkpoint | None) -> Plan:
        """The same plan with a summary that somebody wrote for it, as by `summarise`; None takes it away.

        Raises `EditError` for a checkpoint that holds an error, and for a plan that summarises nothing.

        >>> from inspector import checkpoint_from_text, count_tokens, make_plan, open_demo
        >>> session = open_demo()
        >>> plan = make_plan(session, count_tokens(session), "claude-code", reason="manual")
        >>> plan.with_summary(checkpoint_from_text("All is well.")).summary_tokens < plan.summary_tokens
        True
        """
        if checkpoint == self.checkpoint:
            return self
        if checkpoint is not None and checkpoint.error is not None:
            raise EditError("summary by", checkpoint.by, checkpoint.error)
        if checkpoint is not None and not self.summarises:
            raise EditError("summary by", checkpoint.by, self.why or "the plan summarises nothing")
        return replace(self, checkpoint=checkpoint)

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the policy fires by itself for the present context."""
        trigger = self.policy.trigger
        return join_verdicts(trigger.join, [self._judge(one) for one in (trigger, *trigger.also)])

    def _judge(self, trigger: Condition) -> Verdict:
        measured = self.measured
        if self.table.moment.whole is not None and trigger.measure == "usage":
            # What was reported is of requests that held reasoning.
            trigger = trigger.model_copy(update={"measure": "assembled"})
        if trigger.measure != "usage":
            size = self.table.weigh(trigger.measure, self.before)
            measured = Measured(size, 0, size, None)
        return judge_trigger(trigger, measured, self.table.window, self.policy.own_reason)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences about this plan that a reader should not miss."""
        return tuple(ask("notes", self))

    def rule_of(self, row: int) -> str:
        """Who decided the live block `row`: a rule's kind, pin, pair, bound, withheld or nothing."""
        code = int(self.outcome.rule[row])
        return self.policy.rules[code].kind if code >= 0 else DECIDERS[code]

    @property
    def spec_json(self) -> dict[str, Any]:
        """The plan as data. `make_plan(session, ledger, **spec)` makes the same plan from it."""
        told: dict[str, Any] = ask("spec", self)
        return told

    @property
    def recipe(self) -> str:
        """The Python that makes this plan, with a ledger by the same counter, and the `checkpoint` it has."""
        told: str = ask("recipe", self)
        return told

    @printed
    def __repr__(self) -> str:
        told: str = ask("line", self)
        return told


def plan_moment(
    moment: Moment,
    policy: str | Policy | dict[str, Any],
    edits: Edits,
    *,
    session: Session | None = None,
    window: int | None = None,
    reason: Reason | None = None,
) -> Plan:
    """`make_plan` for a moment: one that knows figures of its own keeps them. `session` is the plan's."""
    session = session or moment.session
    configured = configure_policy(policy, edits.settings)
    whole = moment.whole or moment
    moment = whole if configured.harness.send_reasoning else whole.bare
    table = Table(
        session, moment, configured.rules, configured.trigger, window, reason or configured.own_reason
    )
    pinned = find_pinned(table, edits.pins)
    by_hand = None if edits.cut is None else find_edited_place(table, edits.cut)
    recorded = find_recorded(session, moment.cuts) if configured.name == RECORDED.name else None
    if recorded is not None and by_hand is None:
        by_hand = recorded.place
    tiers = StageOutcomes(configured, table, pinned, by_hand)
    plan = Plan(session, moment.ledger, configured, edits, table, tiers, tiers.stop())
    if recorded is None or plan.place is None or not plan.summarises:
        return plan
    return plan.with_summary(recorded.write_up(table, plan.place))
