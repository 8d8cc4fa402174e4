"""Run the stages of a policy: tokens before and after each, and why a stage did not run."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from ..policies.base_rule import Rule
from ..policies.policy import Policy
from ..policies.table import COUNTED, DROPPED, SUMMARISED, Claim, Decision, Summary, Table
from ..session.blocks import REASONING
from ..session.tree import Bools, Ints
from ..text import html_table
from ..tokens.counter import Longs
from ..tokens.models import find_class, model_of
from ..tokens.not_in_file import PARTS
from ..tokens.rows import SECTIONS
from .cut_table import COMPACTED, HIDDEN_REASONING, Cells, CutTable, sum_behind
from .fates import (
    BY_WITHHELD,
    SideFates,
    close_messages,
    close_pairs,
    decide_stage,
    find_edit,
    join_sides,
    start_side,
    unbind,
    weigh_side,
)
from .left_outside import leave_outside, takes
from .notice import PlacedNotice
from .stand_in import StandIn, make_stand_in


@dataclass(frozen=True, eq=False)
class StageOutcome:
    """The result after `depth` stages. `decisions` has one for every rule; it is empty for later stages.

    `place` is the policy's own cut, or None; `why` then gives the reason. `older` is the side before a cut;
    up to the table's `since` it is like the side after one. `kept` is the side after a cut that has an edit
    before it, `uncut` the side after a cut without one. They differ only for a model that refuses reasoning
    after an edit. `edge` is the live position of the first edit.
    """

    table: Table
    depth: int
    decisions: tuple[Decision, ...]
    older: SideFates
    kept: SideFates
    uncut: SideFates
    place: int | None
    why: str
    edge: int = 0
    bound: bool = False
    before: StageOutcome | None = None

    @cached_property
    def spec(self) -> Summary | None:
        """The summary settings of the older side, if it is summarised."""
        return next((d.summary for d in self.decisions if d.summary is not None), None)

    @cached_property
    def stand_in(self) -> StandIn:
        """The placeholder for a model's summary, with its tokens at every cut."""
        appendices = [d.appendix for d in self.decisions if d.appendix is not None]
        unread = np.zeros(len(self.table.tokens), bool)
        if self.before is not None:
            # The summariser does not read blocks that an earlier stage dropped.
            unread = (self.before.older.fate == DROPPED) & (self.older.fate == DROPPED)
        return make_stand_in(self.table, self.spec, appendices, unread)

    @cached_property
    def notice(self) -> PlacedNotice | None:
        """The message at the cut, if a rule leaves one."""
        notice = next((d.notice for d in self.decisions if d.notice is not None), None)
        if notice is None:
            return None
        nothing, hidden = self.table.kind < 0, self.uncut.rule == BY_WITHHELD
        older = start_side(self.table, nothing, hidden) if self.before is None else self.before.older
        if notice.echo and self.bound:
            older = unbind(self.table, older, 0)
        return PlacedNotice(notice, self.table, older, weigh_side(self.table, older))

    @property
    def unpaired(self) -> bool:
        """Whether call/output pairs are left as they fall."""
        return any(d.unpaired for d in self.decisions)

    def at_cut(self, place: int, before: StageOutcome | None) -> StageOutcome:
        """The same stage with a cut by hand at this place; values for all places are reused."""
        moved = copy(self)
        vars(moved).update(place=place, why="", before=before)
        return moved

    def after(self, place: int) -> SideFates:
        """The side after a cut at this place."""
        return self.kept if place > self.edge else self.uncut

    def settle(self, place: int | None) -> SideFates:
        """Every block's outcome at a cut: both sides, pairs kept whole across it."""
        if place is None:
            return self.uncut
        side = join_sides(self.older, self.after(place), self.table.live.position < place)
        if not self.unpaired:
            side = close_pairs(self.table, side)
        return unbind(self.table, side, len(side.fate)) if self.bound else side

    @cached_property
    def weights(self) -> tuple[Longs, Longs, Longs]:
        """int64[n], older, kept and uncut: every live entry by the policy's own measure."""
        kept_sizes = weigh_side(self.table, self.kept)
        uncut = kept_sizes if self.uncut is self.kept else weigh_side(self.table, self.uncut)
        return weigh_side(self.table, self.older), kept_sizes, uncut

    @cached_property
    def sizes(self) -> Longs:
        """int64[n+1]: the size after each cut by the policy's own measure, with summary and notice."""
        older, kept_sizes, uncut = self.weights
        out = np.zeros(len(older) + 1, np.int64)
        np.cumsum(older, out=out[1:])
        out[:-1] += sum_behind(kept_sizes, uncut, self.edge)
        if self.table.trigger.measure in COUNTED:
            out += self.table.ledger.head_tokens + self.outside.sum(axis=1)
        if self.spec is not None:
            out += np.where(self.writes, self.stand_in.cost, 0)
        if self.notice is not None:
            out += self.notice.weight
        return out

    def size(self, place: int | None) -> int:
        """The same for one place, or for no cut."""
        if place is None:
            counted = self.table.trigger.measure in COUNTED
            rest = self.table.ledger.head_tokens + self.outside_uncut if counted else 0
            return int(self.weights[2].sum()) + rest
        return int(self.sizes[place])

    @cached_property
    def outside(self) -> Longs:
        """int64[n+1, 4]: tokens after each cut that are not in the file, by PARTS."""
        outside, position, n = self.table.moment.outside, self.table.live.position, len(self.table.live)

        def add_up(figure: Callable[[SideFates], Longs | Bools]) -> Longs:
            """int64[n+1]: the sum of a figure over the blocks before each cut and after it."""
            older, behind, uncut = (
                np.bincount(position, figure(side), n).astype(np.int64)
                for side in (self.older, self.kept, self.uncut)
            )
            sums: Longs = np.append(0, np.cumsum(older)) + np.append(sum_behind(behind, uncut, self.edge), 0)
            return sums

        parts = np.tile(np.array([part.tokens for part in outside.parts.values()], np.int64), (n + 1, 1))
        hidden = np.rint((outside.scale - 1) * np.where(self.writes, self.stand_in.cost, 0))
        if outside.spread.any():
            hidden += add_up(lambda side: leave_outside(self.table, side))
        if self.notice is not None:
            hidden += np.rint((outside.scale - 1) * self.notice.cost)
            if self.notice.echoes(n):
                hidden[n] += leave_outside(self.table, self.notice.before).sum()
        parts[:, HIDDEN_REASONING] = hidden
        if outside.passing and not self.table.since:
            parts[add_up(takes) > 0] *= ~np.isin(PARTS, ("before_file", "reattached"))
        return parts

    @cached_property
    def outside_uncut(self) -> int:
        """The total of these tokens without a cut."""
        outside = self.table.moment.outside
        passing = 0 if takes(self.uncut).any() else outside.passing
        return outside.system_and_tools.tokens + passing + int(leave_outside(self.table, self.uncut).sum())

    @cached_property
    def acts(self) -> Bools:
        """bool[n+1]: whether a cut at this place changes anything at all."""
        position, n = self.table.live.position, len(self.table.live)
        out = np.zeros(n + 1, bool)
        older, kept_rows = (np.flatnonzero(side.changed) for side in (self.older, self.uncut))
        if len(older):
            out[int(position[older[0]]) + 1 :] = True
        if len(kept_rows):
            out[: int(position[kept_rows[-1]]) + 1] = True
        return out

    @cached_property
    def writes(self) -> Bools:
        """bool[n+1]: whether a cut at this place has anything to summarise."""
        live = self.table.live
        out = np.zeros(len(live) + 1, bool)
        summarised = self.older.fate == SUMMARISED
        if summarised.any():
            out[int(live.position[summarised.argmax()]) + 1 :] = True
        return out

    @cached_property
    def cuts(self) -> CutTable:
        """The tokens after every cut, from each block's outcome on both sides of it."""
        table, live = self.table, self.table.live
        n = len(live)
        # Columns of the sections that there are, of which a session has a few.
        used = np.flatnonzero(np.bincount(table.section, minlength=len(SECTIONS)))
        column = np.zeros(len(SECTIONS), np.int64)
        column[used] = np.arange(len(used))
        columns = column[table.section]
        cells = live.position * np.int64(len(used)) + columns

        def add_up(behind: SideFates) -> Cells:
            """[n+1, sections used]: the sums if all blocks after the cut are as on the side `behind`."""
            sums = np.zeros((n + 1, len(used)))
            moved = np.bincount(cells, self.older.tokens - behind.tokens, n * len(used))
            np.cumsum(moved.reshape(n, len(used)), axis=0, out=sums[1:])
            sums += np.bincount(columns, behind.tokens, len(used))
            return sums

        cells_after = add_up(self.kept)
        if self.uncut is not self.kept:
            cells_after[: self.edge + 1] = add_up(self.uncut)[: self.edge + 1]
        sections = np.zeros((n + 1, len(SECTIONS)), np.int32)
        sections[:, used] = cells_after
        sections += table.ledger.head_sections.astype(np.int32)
        summary = np.where(self.writes, self.stand_in.cost, 0).astype(np.int32)
        sections[:, COMPACTED] += summary
        if self.notice is not None:
            sections += self.notice.sections.astype(np.int32)
        total = sections.sum(axis=1, dtype=np.int64) + self.outside.sum(axis=1)
        return CutTable(np.where(table.cuts.legal, total, -1), sections, summary, self.outside)


class StageOutcomes:
    """All stages of a policy over one table, each computed on first use."""

    def __init__(
        self, policy: Policy, table: Table, pinned: Bools, place: int | None, *, fires: bool = False
    ) -> None:
        """`place` is a cut by hand; None lets the policy decide. With `fires` the harness has decided to
        compact, and the views of each request behind the trigger are not part of it."""
        self.policy, self.table, self.pinned, self.by_hand = policy, table, pinned, place
        self.fires, late = fires, policy.late if fires else ()
        named = {kind for stage in policy.stages for kind in stage.rules}
        self.bound = find_class(model_of(table.session)) == "bound"
        self.hidden = None if policy.harness.send_reasoning else table.kind == REASONING
        running = (stage for stage in policy.stages if table.reason in stage.reasons)
        self.stages = tuple(stage for stage in running if stage not in late)
        # The early stages run before every request, so also before a compaction, whatever the target (S2-48).
        self.early = sum(1 for _ in takewhile(policy.is_early, self.stages))
        self.whole: StageOutcomes | None = None
        """All stages, if these are without those that wait for the trigger."""
        # The provider's own edits apply to every request, whatever stage was reached (S0-52).
        self._always = tuple(
            code for code, rule in enumerate(policy.rules) if rule.kind not in named or rule.wire
        )
        views = (code for code, rule in enumerate(policy.rules) if rule.projection and not rule.wire)
        self._views = tuple(code for code in views if policy.rules[code].enabled)
        self._tiers: list[StageOutcome] = []
        self._raw: list[tuple[SideFates, SideFates]] = []
        self._free: tuple[Bools, Bools] = (~pinned,) * 2

    @cached_property
    def gated(self) -> bool:
        """Whether stages run only if the trigger fires, while others run before every request."""
        ahead = self.table.reason == "auto" and any(stage.early for stage in self.stages[: self.early])
        return ahead and not all(map(self.policy.is_early, self.stages))

    @property
    def waits(self) -> bool:
        """Whether the trigger decides which stages run; with a cut by hand the user has decided."""
        return self.gated and self.by_hand is None

    def idle(self) -> StageOutcomes:
        """The stages that run though the trigger does not fire. A cut by hand asks for all of them again."""
        out = StageOutcomes(self.policy, self.table, self.pinned, self.by_hand, fires=self.fires)
        out.stages = tuple(filter(self.policy.is_early, self.stages))
        out.whole, out.bound = self, self.bound
        return out

    def under(self, policy: Policy, table: Table) -> StageOutcomes:
        """The same stages of a policy of which other rules are switched on, in a table of its rules."""
        out = StageOutcomes(policy, table, self.pinned, self.by_hand, fires=self.fires)
        out.bound = self.bound
        return out if self.whole is None else out.idle()

    def at_cut(self, place: int) -> StageOutcomes:
        """The same stages with a cut by hand at this place. Their decisions do not depend on it: shared."""
        if self.whole is not None:
            return self.whole.at_cut(place)
        moved = copy(self)
        moved.by_hand, moved._tiers, moved._raw = place, [], list(self._raw)
        for tier in self._tiers:
            moved._tiers.append(tier.at_cut(place, moved._tiers[-1] if moved._tiers else None))
        return moved

    @property
    def last(self) -> int:
        """The depth at which every stage took part."""
        return len(self.stages)

    @property
    def least(self) -> int:
        """The depth before which the policy never stops: the early stages, and one more for a user's /compact
        and after a refusal; a cut by hand needs one at least."""
        minimum = self.early + (self.table.reason != "auto")
        return minimum if self.by_hand is None else max(minimum, 1)

    @cached_property
    def needed(self) -> int:
        """The depth of the last stage that runs in every automatic compaction; 0 without one."""
        if self.table.reason != "auto":
            return 0
        on = {rule.kind for rule in self.policy.rules if rule.enabled}
        always = (depth for depth, stage in enumerate(self.stages, 1) if stage.always and on & {*stage.rules})
        return max(always, default=0)

    def _may_stop(self, depth: int) -> bool:
        """Whether the policy may stop at a depth once the target is met. Once the trigger has fired, or a
        stage behind the early ones has run, it does not stop before the last `always` stage."""
        return (depth <= self.early and not self.gated) or depth >= self.needed

    def __getitem__(self, depth: int) -> StageOutcome:
        while len(self._tiers) <= depth:
            self._tiers.append(self._next())
        return self._tiers[depth]

    def _next(self) -> StageOutcome:
        table, rules, depth = self.table, self.policy.rules, len(self._tiers)
        before = self._tiers[-1] if self._tiers else None
        codes = self._always if before is None else self._codes(self.stages[depth - 1].rules)
        decisions = list(before.decisions if before is not None else [Decision()] * len(rules))
        for code in codes:
            decisions[code] = _ask(rules[code], table)
        sides: list[SideFates] = []
        free: list[Bools] = []
        previous_claims: list[tuple[int, Claim]] = []
        starts = self._raw[-1] if self._raw else (start_side(table, self.pinned, self.hidden),) * 2
        for side, index in (("older", 0), ("kept", 1)):
            start = starts[index]
            claims = [(code, claim) for code in codes for claim in _listed(getattr(decisions[code], side))]
            if sides and claims == previous_claims and start is starts[0] and self._free[1] is self._free[0]:
                # Rules that know no sides claim the same on both, and what follows is the same.
                sides.append(sides[0])
                free.append(free[0])
                continue
            previous_claims = claims
            # The provider edits only what is sent, so it takes nothing from the summariser (S0-51).
            stored = [(code, claim) for code, claim in claims if not rules[code].wire]
            decided, free_rows = decide_stage(table, start, stored, self._free[index], self._stored(start))
            if len(stored) < len(claims):
                edits = [(code, claim) for code, claim in claims if rules[code].wire]
                decided, _ = decide_stage(table, decided, edits, free_rows)
            sides.append(decided)
            free.append(free_rows)
        if before is None:
            self._free = (free[0], free[1])
        self._raw.append((sides[0], sides[1]))
        place, why = self._place(decisions, depth)
        if not any(decision.unpaired for decision in decisions):
            older = close_messages(table, close_pairs(table, sides[0]))
            same = sides[1] is sides[0]
            kept_side = older if same else close_messages(table, close_pairs(table, sides[1]))
        else:
            older, kept_side = sides
        if table.since:
            older = join_sides(kept_side, older, table.live.position < table.since)
            older = older if any(d.unpaired for d in decisions) else close_messages(table, older)
        uncut, edge = kept_side, len(table.live)
        if self.bound:
            m = len(table.tokens)
            uncut, older = unbind(table, kept_side, m), unbind(table, older, m)
            first = find_edit(table, older)
            kept_side = unbind(table, kept_side, first)
            edge = int(table.live.position[first]) if first < m else edge
        return StageOutcome(
            table, depth, tuple(decisions), older, kept_side, uncut, place, why, edge, self.bound, before
        )

    def _stored(self, side: SideFates) -> Bools | None:
        """bool[m]: the blocks that a view of the request leaves out, which the history still holds (S2-14);
        None if there is no such view."""
        if not self._views:
            return None
        stored: Bools = (side.fate == DROPPED) & np.isin(side.rule, self._views)
        return stored

    def _codes(self, kinds: tuple[str, ...]) -> tuple[int, ...]:
        rules = self.table.rules
        return tuple(code for kind in kinds for code, rule in enumerate(rules) if rule.kind == kind)

    def _place(self, decisions: list[Decision], depth: int) -> tuple[int | None, str]:
        if self.by_hand is not None:
            return self.by_hand, ""
        kinds = [stage.rules for stage in reversed(self.stages[:depth])]
        order = [*(self._codes(names) for names in kinds), self._always]
        for codes in order:
            for code in codes:
                if decisions[code].cut is not None:
                    return decisions[code].cut, ""
        reasons = [decisions[code].why for codes in order for code in codes if decisions[code].why]
        return None, " ".join(dict.fromkeys(reasons))

    @cached_property
    def limit(self) -> int | None:
        """The target by the policy's own measure; None if none is set or the window is unknown."""
        target, trigger = self.policy.target, self.table.trigger
        if target is None or not target.enabled:
            return None
        base = trigger.base(self.table.window)
        if self.table.reason == "overflow":
            return target.limit_after(self[0].size(None), base)
        return target.limit(base)

    def stop(self) -> int:
        """The depth at which the policy stops.

        The early stages always run. A user's /compact asks for one stage more at least, a cut by hand for
        the first that does anything there.
        """
        if not self.stages:
            return self[0].depth
        if self.by_hand is not None:
            return self[int(self.depths[self.by_hand])].depth
        limit, last = self.limit, self.last
        if self.whole is not None and limit is None and self.policy.target and self.policy.target.enabled:
            # A target in a window that is not known asks for nothing.
            return self[self.whole.early].depth
        for depth in range(self.least, last):
            tier = self[depth]
            if depth and self.stages[depth - 1].enough and tier.uncut.changed.any():
                return depth
            if limit is not None and self._may_stop(depth) and tier.size(tier.place) <= limit:
                return depth
        return self[last].depth

    @cached_property
    def depths(self) -> Ints:
        """int32[n+1]: the depth at which the policy stops for a cut by hand at each place, which asks for a
        stage at least."""
        n = len(self.table.live)
        out = np.full(n + 1, self.last, np.int32)
        if self.limit is not None:
            for depth in filter(self._may_stop, reversed(range(max(self.least, 1), self.last))):
                tier = self[depth]
                out[(tier.sizes <= self.limit) & tier.acts] = depth
        return out

    @cached_property
    def cuts(self) -> CutTable:
        """The tokens after every cut by hand, each at the depth at which the policy stops for it."""
        if self.whole is not None:
            return self.whole.cuts
        if not self.stages:
            return self[0].cuts
        reached = sorted(set(self.depths.tolist()))
        tables = {depth: self[depth].cuts for depth in reached}
        names = ("total", "sections", "summary", "outside")
        columns = {name: getattr(tables[reached[-1]], name).copy() for name in names}
        for depth in reached[:-1]:
            here = self.depths == depth
            for name, values in columns.items():
                values[here] = getattr(tables[depth], name)[here]
        return CutTable(**columns)


def _listed(claims: Claim | tuple[Claim, ...] | None) -> tuple[Claim, ...]:
    return claims if isinstance(claims, tuple) else () if claims is None else (claims,)


def _ask(rule: Rule, table: Table) -> Decision:
    return rule.decide(table) if rule.enabled else Decision()


NO_TARGET = "Not run: without a known window its target is not known."


class StageReport(NamedTuple):
    """One stage. Tokens are by the policy's own measure; before and after are equal if it did not run."""

    name: str
    ran: bool
    before: int
    after: int
    sentence: str


class StageReports(tuple[StageReport, ...]):
    """Every stage of a policy in its order; a notebook shows them as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows = [
            (
                report.name,
                "yes" if report.ran else "no",
                f"{report.before:,}",
                f"{report.after:,}",
                report.sentence,
            )
            for report in self
        ]
        return html_table(("stage", "ran", "before", "after", "what it did"), rows, numbers=(2, 3))


def report_stages(policy: Policy, tiers: StageOutcomes, depth: int) -> StageReports:
    """Every stage in the policy's order; none for a policy without stages."""
    out = []
    place = tiers[depth].place
    size, ran = tiers[0].size(tiers[0].place), 0
    reached = {stage.name for stage in tiers.stages[:depth]}
    reasons = {stage.name for stage in tiers.stages}
    waiting = {stage.name for stage in tiers.whole.stages} - reasons if tiers.whole is not None else set()
    views = {stage.name for stage in policy.late if tiers.fires and tiers.table.reason in stage.reasons}
    switched_on = {rule.kind for rule in policy.rules if rule.enabled}
    for stage in policy.stages:
        before, here = size, bool(switched_on & {*stage.rules}) and stage.name in reached
        ran += stage.name in reached
        if not switched_on & {*stage.rules}:
            comment = "It is switched off."
        elif here:
            # Each stage has its own cut; the last one represents the whole plan.
            tier = tiers[ran]
            size = tier.size(place if ran == depth else tier.place)
            decided = (tier.decisions[code] for code in tiers._codes(stage.rules))
            notes = " ".join(note for decision in decided for note in decision.notes)
            comment = notes or ("" if size != before else "It found nothing to do.")
        elif stage.name in waiting:
            comment = "Not run: the trigger does not fire."
        elif stage.name in views and tiers.limit is not None and size > tiers.limit:
            comment = "It acts on each request that is sent."
        elif stage.name in reasons | views:
            comment = "Not needed: the target was met." if tiers.limit is not None else NO_TARGET
        else:
            comment = f"It runs only when the reason is {' or '.join(stage.reasons)}."
        out.append(StageReport(stage.name, here, before, size, comment))
    return StageReports(out)
