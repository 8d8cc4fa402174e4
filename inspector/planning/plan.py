"""Session + Ledger + Policy (+ Edits) -> Plan: a fate for every block, and what a summariser must write.

A plan never edits its session. Every rule is asked once. Its claims depend only on the side of the cut, so
the plan is two columns of fates, and the cut selects one of them per block. All valid cuts are then one
look-up: the `CutTable`. A policy with stages has such columns for each stage, and stops at the first stage
that meets its target.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..cuts import END, CutPoint, CutPoints
from ..errors import EditError, expect
from ..formats.summary_wording import shown_summary
from ..mixins import Drawable, Framed, ask
from ..policies.builtin.recorded import RECORDED
from ..policies.policy import Edits, Policy
from ..policies.registry import configure_policy
from ..policies.rules.collapse import Collapse, CollapsedSegment, find_segments
from ..policies.rules.keep_recent_tokens import find_walk, measure_context
from ..policies.table import COUNTED, FATES, SUMMARISED, VERBATIM, Bytes, Decision, Summary, Table
from ..policies.trigger import Measure, Measured, Reason, Verdict, whole_size
from ..session.blocks import KINDS, BlockRef
from ..session.queries import find_next_compaction
from ..session.session import Session
from ..session.tree import Bools
from ..text import printed
from ..tokens.ledger import Ledger
from ..tokens.memo import Memo
from ..tokens.models import model_of
from ..tokens.moment import Moment
from ..tokens.not_in_file import NotInFile, PartName
from ..tokens.prediction import ATTACHING
from ..tokens.prediction import MOST as MOST_ATTACHED
from ..tokens.recorded_sizes import ContextSize, find_recorded_sizes
from ..tokens.rows import SECTIONS
from .as_recorded import find_recorded
from .cut_table import CutTable, begin_at, find_edited_place
from .fates import SideFates, find_lost, find_pinned, weigh_side
from .kept_prefix import KeptPrefix, find_prefix
from .left_outside import leave_parts, weigh_more
from .notice import PlacedNotice
from .stages import StageOutcome, StageOutcomes, StageReports, report_stages
from .stand_in import StandIn
from .summary_jobs import Checkpoint, SummaryJob, divide_summary, list_jobs

Side = Literal["prefix", "suffix", "range"]
_MEASURED: Memo[Measured] = Memo()
_CORRECTIONS: Memo[int] = Memo()


@dataclass(frozen=True, eq=False)
class Plan(Framed, Drawable):
    """The effect of a policy on the context at the leaf of a session.

    `place` is the live position of the cut, or None if there is nothing to compact; `why` then gives the
    reason. Fates and tokens are columns over the live blocks, in context order. `checkpoint` is a written
    summary: it is shown and counted instead of the placeholder.

    >>> from inspector import checkpoint_from_text, count_tokens, make_plan, read_session
    >>> session = read_session([{"role": "user", "content": "Name a prime."},
    ...                         {"role": "assistant", "content": "Seven."},
    ...                         {"role": "user", "content": "And another one?"}])
    >>> plan = make_plan(session, count_tokens(session), "keep-recent-turns", {"cut": "m3"})
    >>> [str(ref) for ref in plan.lost]
    ['m1/0', 'm2/0']
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
        """Valid and invalid cut points of the context."""
        return self.table.cuts

    @property
    def tier(self) -> StageOutcome:
        """The decisions of the stages that ran."""
        return self.tiers[self.depth]

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """One decision for every rule; it is empty if the rule's stage did not run."""
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
        """The reason if the plan changes nothing; "" if it has a cut, or changes blocks without one."""
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
        """The live position before which the summary is placed, from `since` to the cut."""
        if self.spec is None or self.place is None:
            return 0
        recorded = find_next_compaction(self.session) if self.policy.name == RECORDED.name else None
        boundary = None if recorded is None else recorded.boundary
        last = boundary is not None and boundary.summary_last and not self.table.since
        return self.place if last else min(max(self.spec.at, self.table.since), self.place)

    @property
    def reason(self) -> Reason:
        """Why the compaction is planned."""
        return self.table.reason

    @property
    def side(self) -> Side:
        """What is compacted: the messages before the cut, those from `since` on, or a range between them."""
        if not self.table.since:
            return "prefix"
        return "suffix" if self.place == len(self.table.live) else "range"

    @cached_property
    def is_older(self) -> Bools:
        """bool[m]: the block is before the cut, and from `since` on."""
        position = self.table.live.position
        older: Bools = (position >= self.table.since) & (position < (self.place or 0))
        return older

    @cached_property
    def outcome(self) -> SideFates:
        """The fates at this plan's cut, call/output pairs kept whole across it."""
        return self.tier.settle(self.place)

    @property
    def fate(self) -> Bytes:
        return self.outcome.fate

    @property
    def stand_in(self) -> StandIn:
        """The placeholder for a model's summary, with its tokens at every cut."""
        return self.tier.stand_in

    @property
    def notice(self) -> PlacedNotice | None:
        """The message at the cut about the omitted messages, or None."""
        notice, place = self.tier.notice, self.place
        return notice if notice is not None and place is not None and notice.appears(place) else None

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
        """The size that the provider reported, else by the estimate of the policy's system, or counted."""
        how = find_walk(self.table)
        moment, own_figures = self.table.moment, self.table.moment.own_figures
        if own_figures is not None:
            return Measured(own_figures.reported, own_figures.reported, 0, None)
        if moment.whole is not None:
            return Measured(self.before, 0, self.before, None)
        key = (how.estimate, how.fresh_usage, how.start)
        measured = _MEASURED.of(moment, lambda: measure_context(self.table, how), *key)
        counts = measured.last is None and self.policy.is_own
        return whole_size(self.before, "assembled") if counts else measured

    @cached_property
    def summarises(self) -> bool:
        """Whether a summary is written."""
        return self.spec is not None and bool((self.fate == SUMMARISED).any())

    @property
    def is_unwritten(self) -> bool:
        """Whether its summary is still to be written: the plan shows a placeholder."""
        return self.summarises and self.checkpoint is None

    @property
    def deterministic(self) -> bool:
        """Whether the same history always gives the same context: no model writes a summary (S0-69).

        A summary that was written without one, as `ExtractiveSummariser` does, is the same each time too.
        """
        return not self.summarises or (self.checkpoint is not None and self.checkpoint.deterministic)

    @cached_property
    def lost(self) -> tuple[BlockRef, ...]:
        """The blocks that are no longer verbatim in the context; the session keeps them (S1-32)."""
        return find_lost(self.table, np.where(self.outcome.is_history, self.fate, VERBATIM))

    @cached_property
    def prefix(self) -> KeptPrefix:
        """The unchanged start of the context: a provider's cache ends at the first rewritten message."""
        new = [self.summary_at] if self.summarises else []
        if self.notice is not None and self.place is not None:
            new.append(self.place)
        return find_prefix(self.table, self.fate, new, self.ledger.head_tokens)

    def to_columns(self) -> dict[str, list[Any]]:
        """Return a row per block of the context; the summary and the notice, which the plan adds, have none.

        >>> from inspector import make_plan, open_demo
        >>> list(make_plan(open_demo(), "flue").to_columns())[:4]
        ['ref', 'turn', 'kind', 'section']
        """
        table, refs = self.table, self.session.live_refs()
        return {
            "ref": [str(ref) for ref in refs],
            "turn": [self.session.turn_of.get(ref.entry, 0) for ref in refs],
            "kind": [KINDS[code] for code in table.kind.tolist()],
            "section": [SECTIONS[code] for code in table.moment.section.tolist()],
            "tokens": table.tokens.tolist(),
            "retention": [FATES[code] for code in self.fate.tolist()],
            "tokens_after": self.outcome.tokens.tolist(),
        }

    @property
    def saved(self) -> dict[str, int]:
        """Tokens saved in the blocks of each kind, without those that a summary or notice adds (S3-11)."""
        fewer = np.bincount(self.table.kind, self.table.tokens - self.outcome.tokens, len(KINDS))
        return {kind: n for kind, n in zip(KINDS, fewer.astype(int).tolist(), strict=True) if n}

    @property
    def segments(self) -> tuple[CollapsedSegment, ...]:
        """The turns that are shown folded, apart from the messages, which nothing changes (S2-19)."""
        code = next((code for code, rule in enumerate(self.policy.rules) if isinstance(rule, Collapse)), None)
        return () if code is None else find_segments(self.table, self.outcome.rule == code)

    @property
    def cut(self) -> CutPoint | None:
        return None if self.place is None else self.cuts[self.place]

    @property
    def splits(self) -> int:
        """The first position of the turn whose beginning is summarised separately, or -1."""
        if self.place is None or self.spec is None or not self.spec.split_turns:
            return -1
        return int(self.table.split_start[self.place])

    @property
    def before(self) -> int:
        """Tokens of the present request on the provider's scale, with those that are not in the file.

        >>> from inspector import count_tokens, make_plan, open_demo
        >>> session = open_demo()
        >>> plan = make_plan(session, count_tokens(session))
        >>> plan.before == plan.counted_before + plan.outside.tokens
        True
        """
        return self.counted_before + self.outside.tokens

    @property
    def after(self) -> int:
        """Tokens of the request after this plan; the placeholder counts if no summary is written."""
        return self.counted_after + self.outside_after

    @property
    def counted_before(self) -> int:
        """Tokens of the context as it is now, by the ledger's counter: a part of `before`."""
        return self.ledger.head_tokens + int(self.table.tokens.sum())

    @cached_property
    def counted_after(self) -> int:
        """Tokens of the context this plan leaves, by the ledger's counter: a part of `after`."""
        block_tokens = int(self.outcome.tokens.sum())
        return self.ledger.head_tokens + block_tokens + self.summary_tokens + self.notice_tokens

    @property
    def outside(self) -> NotInFile:
        """The content of the present request that is not in the file."""
        return self.table.moment.outside

    @cached_property
    def parts_after(self) -> dict[PartName, int]:
        """Tokens of the request after this plan that are not in the file, by part.

        System prompt and tools stay; hidden reasoning is removed with its blocks. History from before the
        file and reattached files are removed as soon as anything is summarised or dropped. The difference to
        the size reported after a recorded compaction is the `correction`; `hidden_reasoning` may be negative
        if less is reported.
        """
        parts = self._explained_after
        if self.summarises and self.correction:
            parts = {**parts, self.corrected: parts[self.corrected] + self.correction}
        return parts

    @cached_property
    def _explained_after(self) -> dict[PartName, int]:
        """The same parts without the `correction`."""
        return leave_parts(self.table, self.outcome, self.summary_tokens, self.notice, self.place)

    @property
    def recorded_size(self) -> ContextSize | None:
        """The size after the compaction that the file records here; None unless the policy is "recorded"."""
        if self.policy.name != RECORDED.name or self.table.moment.own_figures is not None:
            return None
        entry = find_recorded(self.session, self.cuts).entry
        return find_recorded_sizes(self.session, self.ledger, entry.id).after

    @property
    def correction(self) -> int:
        """Tokens by which the size after the recorded compaction differs from the sum of its plan's parts;
        0 for other policies. It is the same for all edits of that plan."""
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
        """The part of `parts_after` with the `correction`: reattached files, if any, or hidden reasoning."""
        attaches = self.correction > 0 and self.session.format in ATTACHING
        return "reattached" if attaches else "hidden_reasoning"

    @property
    def outside_after(self) -> int:
        """Tokens of the request after this plan that are not in the file."""
        return sum(self.parts_after.values())

    @cached_property
    def after_range(self) -> tuple[int, int]:
        """The bounds of `after`, which is uncertain if the file does not record all of the request.

        Files that Claude Code reattaches after its own compaction are not in `after`, but in the upper bound.
        A recorded compaction, and edits of it, are as certain as the size after it.
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
        """Whether the harness is known to reattach files after this plan."""
        own = self.session.format in ATTACHING and self.policy.name == "claude-code-analysis"
        return own and self.summarises and not self.outside.exceeds

    @cached_property
    def summary_tokens(self) -> int:
        """Tokens of the summary as the model sees it; without one, of the placeholder, line by line."""
        if not self.summarises or self.place is None:
            return 0
        if self.checkpoint is None:
            return int(self.stand_in.cost[self.place])
        texts = [text for text, _, _ in self.divide(self.checkpoint)]
        return int(self.ledger.count_texts([shown_summary(self.session.format, t) for t in texts]).sum())

    def divide(self, checkpoint: Checkpoint) -> list[tuple[str, int, int]]:
        """The messages of a written summary (see `divide_summary`): one, unless it is per turn."""
        assert self.spec is not None and self.place is not None
        return divide_summary(self.table, self.spec, self.place, self.fate == SUMMARISED, checkpoint)

    @property
    def _longer(self) -> int:
        """Tokens by which the written summary is longer than its placeholder."""
        if self.checkpoint is None or self.place is None:
            return 0
        return self.summary_tokens - int(self.stand_in.cost[self.place])

    @property
    def _longer_outside(self) -> int:
        """The difference between summary and placeholder in tokens beyond those counted."""
        if not self._longer or self.place is None:
            return 0
        stand_in = weigh_more(self.outside, int(self.stand_in.cost[self.place]))
        return weigh_more(self.outside, self.summary_tokens) - stand_in

    @property
    def left(self) -> int:
        """The size after the plan by the policy's own measure; a summary counts by the ledger's."""
        more = self._longer_outside if self.policy.trigger.measure in COUNTED else 0
        return self.tier.size(self.place) + self._longer + more

    @cached_property
    def under_target(self) -> bool | None:
        """Whether the policy's target is met, by its own measure; None without a target (TIERED §11 i)."""
        limit = self.tiers.limit
        return None if limit is None else self.left <= limit

    @cached_property
    def trace(self) -> Any:
        """The outcome of every fact in this plan: a `Trace`, as `trace_facts` returns it; cached.

        >>> from inspector import make_plan, open_demo
        >>> make_plan(open_demo(), "flue").trace["src/tidepool/jobs/outbox.py"].stood
        True
        """
        return ask("trace", self)

    def diff(self) -> Any:
        """Compare the context before the plan with the one it leaves, as the Context tab shows it: a `Diff`.

        >>> from inspector import make_plan, open_demo
        >>> make_plan(open_demo(), policy="flue").diff().counts["insert"]
        1
        """
        return ask("diff", self)

    @property
    def fits(self) -> bool:
        """Whether the result would not trigger the policy again. True if the threshold is unknown."""
        trigger = self.policy.trigger

        def measure_after(measure: Measure) -> Measured:
            if measure in COUNTED:
                return whole_size(self.after)
            own = measure == trigger.measure
            return whole_size(self.left if own else int(weigh_side(self.table, self.outcome, measure).sum()))

        return trigger.decide(measure_after, self.table.window).reached is not True

    @cached_property
    def jobs(self) -> tuple[SummaryJob, ...]:
        """The requests to a summariser: the history, and the beginning of a split turn separately."""
        if not self.summarises or self.spec is None or self.place is None:
            return ()
        return list_jobs(self.table, self.spec, self.place, self.splits, self.fate == SUMMARISED)

    @cached_property
    def cut_table(self) -> CutTable:
        """All cuts by hand planned at once, each with a placeholder; the plan's own cut by the stages that
        ran, with its written summary."""
        if self.place is None:
            return self.tiers.cuts
        table = self.tiers.cuts.with_row(self.place, self.tier.cuts)
        written = table.add(self.place, summary=self._longer, outside=self._longer_outside)
        return written.add(table.summary > 0, outside=self.correction, part=self.corrected)

    def with_edits(self, edits: Edits) -> Plan:
        """Plan again with these edits instead of its own, by the same policy, window and reason. Raises the
        errors of `make_plan`."""
        alike = edits == self.edits.model_copy(update={"cut": edits.cut})
        if alike and edits.cut is not None and self.policy.name != RECORDED.name:
            tiers = self.tiers.at_cut(find_edited_place(self.table, edits.cut))
            return replace(self, edits=edits, tiers=tiers, depth=tiers.stop(), checkpoint=None)
        # Without an explicit reason, the edited policy's own reason applies.
        reason = None if self.reason == self.policy.own_reason else self.reason
        window = self.table.given_window
        return plan_moment(
            self.table.moment, self.policy, edits, session=self.session, window=window, reason=reason
        )

    def with_summary(self, checkpoint: Checkpoint | str | None) -> Plan:
        """Return the plan with a written summary, by `summarise` or a text of one's own; None removes it.

        Raises `EditError` for a checkpoint that holds an error, and for a plan that summarises nothing.

        >>> from inspector import make_plan, open_demo
        >>> plan = make_plan(open_demo(), "claude-code", reason="manual")
        >>> plan.with_summary("All is well.").summary_tokens < plan.summary_tokens
        True
        """
        expect("with_summary", summary=(checkpoint, Checkpoint, str, None))
        written = ask("written", checkpoint) if isinstance(checkpoint, str) else checkpoint
        if written == self.checkpoint:
            return self
        if written is not None and (written.error is not None or not self.summarises):
            raise EditError("summary by", written.by, written.error or self.why or "it summarises nothing")
        return replace(self, checkpoint=written)

    @property
    def context(self) -> Any:
        """The context after the plan, as `build_context` returns it."""
        return ask("context", self.session, self)

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the harness compacts the present context: by itself, or after a refusal if that is the
        reason. A /compact needs no trigger."""
        verdict: Verdict = ask("verdict", self)
        return verdict

    @cached_property
    def _sent(self) -> Plan | None:
        """The context after the early rules, which run before every request (S2-48), such as one that moves
        large outputs to files; None if they change nothing."""
        early, moment = self.policy.early, self.table.moment
        if early is None:
            return None
        sent = plan_moment(moment, early, Edits(pins=self.edits.pins), session=self.session, reason="auto")
        return sent if (sent.fate != VERBATIM).any() else None

    def size_sent(self, measure: Measure) -> Measured:
        """The context by a measure, as the next request would hold it, after the early rules."""
        sent = self._sent
        if sent is not None:
            weight = weigh_side(sent.table, sent.outcome, measure) if measure not in COUNTED else None
            return whole_size(sent.after if weight is None else int(weight.sum()))
        if measure == "usage" and self.table.moment.whole is None:
            return self.measured
        # The reported sizes include reasoning.
        return whole_size(self.table.weigh(measure, self.before))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences about this plan that the user should know."""
        return tuple(ask("notes", self))

    @property
    def spec_json(self) -> dict[str, Any]:
        """The plan as data. `make_plan(session, ledger, **spec)` makes the same plan from it."""
        return dict(ask("spec", self))

    @property
    def recipe(self) -> str:
        """The Python that makes this plan, with a ledger by the same counter, and the `checkpoint` it has."""
        return str(ask("recipe", self))

    @printed
    def __repr__(self) -> str:
        return str(ask("line", self))


def plan_moment(
    moment: Moment,
    policy: str | Policy | dict[str, Any],
    edits: Edits,
    *,
    session: Session | None = None,
    window: int | None = None,
    reason: Reason | None = None,
    fires: bool = False,
) -> Plan:
    """Plan a `Moment`, by its own figures if it has any. With `fires` the harness has decided to compact."""
    session = session or moment.session
    configured = configure_policy(policy, edits.settings)
    whole = moment.whole or moment
    moment = whole if configured.harness.send_reasoning else whole.bare
    trigger = configured.trigger.for_model(model_of(session))
    table = Table(session, moment, configured.rules, trigger, window, reason or configured.own_reason)
    pinned, cut = find_pinned(table, edits.pins), edits.cut
    recorded = find_recorded(session, moment.cuts) if configured.name == RECORDED.name else None
    table = table if recorded is None else recorded.size_sealed(table)
    if edits.since is not None:
        table, cut = begin_at(table, edits.since), cut or END
    elif recorded is not None and cut is None:
        table = replace(table, since=recorded.since)
    own = None if recorded is None else recorded.place
    by_hand = own if cut is None else find_edited_place(table, cut)
    tiers = StageOutcomes(configured, table, pinned, by_hand, fires=fires)
    plan = Plan(session, moment.ledger, configured, edits, table, tiers, 0)
    tiers = tiers.idle() if tiers.waits and not fires and not plan.verdict.reached else tiers
    plan = replace(plan, tiers=tiers, depth=tiers.stop())
    if recorded is None or plan.place is None or not plan.summarises:
        return plan
    return plan.with_summary(recorded.write_up(table, plan.place))
