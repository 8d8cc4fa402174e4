"""What each stage of a policy did: tokens in and out, and why a stage did not run."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from ..policies.base_rule import Rule
from ..policies.policy import Policy
from ..policies.table import COUNTED, SUMMARISED, Claim, Decision, Summary, Table
from ..session.blocks import REASONING
from ..session.tree import Bools, Ints
from ..text import html_table
from ..tokens.counter import Longs
from ..tokens.models import find_class, model_of
from .cut_table import CutTable, price_cuts, sum_behind
from .fates import (
    BY_WITHHELD,
    SideFates,
    close_messages,
    close_pairs,
    decide_stage,
    find_edit,
    start_side,
    unbind,
    weigh_side,
)
from .left_outside import leave_outside, price_outside, takes
from .notice import PlacedNotice
from .stand_in import StandIn, make_stand_in


@dataclass(frozen=True, eq=False)
class StageOutcome:
    """What stands after `depth` stages. `decisions` has one for every rule; those not reached say nothing.

    `place` is where the policy itself would cut here, or None; `why` then tells why not. `kept` is what
    stands after a cut that has an edit before it, `uncut` what stands without one: they differ only on a
    model that refuses reasoning after an edit. `edge` is the live position of the first edit.
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
        """How the older side is summarised, if it is."""
        return next((d.summary for d in self.decisions if d.summary is not None), None)

    @cached_property
    def stand_in(self) -> StandIn:
        """What stands where a model's summary would, priced at every place."""
        appendices = [d.appendix for d in self.decisions if d.appendix is not None]
        return make_stand_in(self.table, self.spec, appendices)

    @cached_property
    def notice(self) -> PlacedNotice | None:
        """The message that stands at the cut, if a rule leaves one."""
        given = next((d.notice for d in self.decisions if d.notice is not None), None)
        if given is None:
            return None
        nothing, withheld = self.table.kind < 0, self.uncut.rule == BY_WITHHELD
        left = start_side(self.table, nothing, withheld) if self.before is None else self.before.older
        if given.echo and self.bound:
            left = unbind(self.table, left, 0)
        return PlacedNotice(given, self.table, left, weigh_side(self.table, left))

    @property
    def unpaired(self) -> bool:
        """Whether call/output pairs are left as they fall."""
        return any(d.unpaired for d in self.decisions)

    def at_cut(self, place: int, before: StageOutcome | None) -> StageOutcome:
        """The same where a hand cuts at this place; what was worked out for all places stays."""
        moved = copy(self)
        vars(moved).update(place=place, why="", before=before)
        return moved

    def after(self, place: int) -> SideFates:
        """What stands after a cut at this place."""
        return self.kept if place > self.edge else self.uncut

    def settle(self, place: int | None) -> SideFates:
        """Every block's outcome at a cut: both sides, pairs kept whole across it."""
        if place is None:
            return self.uncut
        older = self.table.live.position < place
        a, b = self.older, self.after(place)
        blocks = {row: block for row, block in a.blocks.items() if older[row]}
        blocks |= {row: block for row, block in b.blocks.items() if not older[row]}
        side = SideFates(
            np.where(older, a.fate, b.fate),
            np.where(older, a.tokens, b.tokens),
            np.where(older, a.rule, b.rule),
            blocks,
        )
        if not self.unpaired:
            side = close_pairs(self.table, side)
        return unbind(self.table, side, len(side.fate)) if self.bound else side

    @cached_property
    def weights(self) -> tuple[Longs, Longs, Longs]:
        """int64[n], older, kept and uncut: every live entry by the policy's own measure."""
        kept = weigh_side(self.table, self.kept)
        uncut = kept if self.uncut is self.kept else weigh_side(self.table, self.uncut)
        return weigh_side(self.table, self.older), kept, uncut

    @cached_property
    def sizes(self) -> Longs:
        """int64[n+1]: what each place leaves by the policy's own measure, a summary and notice included."""
        older, kept, uncut = self.weights
        out = np.zeros(len(older) + 1, np.int64)
        np.cumsum(older, out=out[1:])
        out[:-1] += sum_behind(kept, uncut, self.edge)
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
        """int64[n+1, 4]: what each place leaves of what is not in the file, by PARTS."""
        sides = (self.older, self.kept, self.uncut)
        return price_outside(self.table, sides, self.edge, self.writes, self.stand_in, self.notice)

    @cached_property
    def outside_uncut(self) -> int:
        """The same where nothing is cut."""
        outside = self.table.moment.outside
        passing = 0 if takes(self.uncut).any() else outside.passing
        return outside.fixed.tokens + passing + int(leave_outside(self.table, self.uncut).sum())

    @cached_property
    def acts(self) -> Bools:
        """bool[n+1]: whether a cut at this place changes anything at all."""
        position, n = self.table.live.position, len(self.table.live)
        out = np.zeros(n + 1, bool)
        older, kept = (np.flatnonzero(side.changed) for side in (self.older, self.uncut))
        if len(older):
            out[int(position[older[0]]) + 1 :] = True
        if len(kept):
            out[: int(position[kept[-1]]) + 1] = True
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
        """What every place leaves in tokens."""
        sides = (self.older, self.kept, self.uncut)
        return price_cuts(self.table, sides, self.edge, self.writes, self.stand_in, self.notice, self.outside)


class StageOutcomes:
    """All tiers of a policy over one table, each made when somebody asks for it."""

    def __init__(self, policy: Policy, table: Table, pinned: Bools, place: int | None) -> None:
        """`place` is a cut by hand; None lets the policy decide."""
        self.policy, self.table, self.pinned, self.by_hand = policy, table, pinned, place
        named = {kind for stage in policy.stages for kind in stage.rules}
        self.bound = find_class(model_of(table.session)) == "bound"
        self.withheld = None if policy.harness.send_reasoning else table.kind == REASONING
        self.stages = tuple(stage for stage in policy.stages if table.reason in stage.reasons)
        early = {rule.kind for rule in policy.rules if rule.early}
        # What the harness does before every request it does before a compaction too, target or not (S2-48).
        self.early = sum(1 for _ in takewhile(lambda stage: early.issuperset(stage.rules), self.stages))
        # What the provider does at the wire it does at every request, whatever stage was reached (S0-52).
        self._always = tuple(
            code for code, rule in enumerate(policy.rules) if rule.kind not in named or rule.wire
        )
        self._tiers: list[StageOutcome] = []
        self._raw: list[tuple[SideFates, SideFates]] = []
        self._free: tuple[Bools, Bools] = (~pinned,) * 2

    def at_cut(self, place: int) -> StageOutcomes:
        """The same with a cut by hand at this place. What the stages do knows no place, so it is shared."""
        moved = copy(self)
        moved.by_hand, moved._tiers, moved._raw = place, [], list(self._raw)
        for tier in self._tiers:
            moved._tiers.append(tier.at_cut(place, moved._tiers[-1] if moved._tiers else None))
        if self.by_hand is None:
            # A cut by hand asks for a stage at least.
            for name in ("depths", "cuts"):
                vars(moved).pop(name, None)
        return moved

    @property
    def last(self) -> int:
        """The depth at which every stage took part."""
        return len(self.stages)

    @property
    def least(self) -> int:
        """The depth before which the policy never stops: the early stages, and one more for a user's /compact
        and after a refusal; a cut by hand needs one at least."""
        asked = self.early + (self.table.reason != "auto")
        return asked if self.by_hand is None else max(asked, 1)

    @cached_property
    def needed(self) -> int:
        """The depth of the last stage that runs in every automatic compaction; 0 without one."""
        if self.table.reason != "auto":
            return 0
        on = {rule.kind for rule in self.policy.rules if rule.enabled}
        always = (depth for depth, stage in enumerate(self.stages, 1) if stage.always and on & {*stage.rules})
        return max(always, default=0)

    def _may_stop(self, depth: int) -> bool:
        """Whether the policy may stop at a depth once the target is met. Once a stage behind the early ones
        has run, it does not stop before the last `always` stage."""
        return depth <= self.early or depth >= self.needed

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
        asked: list[tuple[int, Claim]] = []
        starts = self._raw[-1] if self._raw else (start_side(table, self.pinned, self.withheld),) * 2
        for side, index in (("older", 0), ("kept", 1)):
            start = starts[index]
            claims = [(code, claim) for code in codes for claim in _listed(getattr(decisions[code], side))]
            if sides and claims == asked and start is starts[0] and self._free[1] is self._free[0]:
                # Rules that know no sides claim the same on both, and what follows is the same.
                sides.append(sides[0])
                free.append(free[0])
                continue
            asked = claims
            decided, left = decide_stage(table, start, claims, self._free[index])
            sides.append(decided)
            free.append(left)
        if before is None:
            self._free = (free[0], free[1])
        self._raw.append((sides[0], sides[1]))
        place, why = self._place(decisions, depth)
        if not any(decision.unpaired for decision in decisions):
            older = close_messages(table, close_pairs(table, sides[0]))
            same = sides[1] is sides[0]
            kept = older if same else close_messages(table, close_pairs(table, sides[1]))
        else:
            older, kept = sides
        uncut, edge = kept, len(table.live)
        if self.bound:
            m = len(table.tokens)
            uncut, older = unbind(table, kept, m), unbind(table, older, m)
            first = find_edit(table, older)
            kept = unbind(table, kept, first)
            edge = int(table.live.position[first]) if first < m else edge
        return StageOutcome(
            table, depth, tuple(decisions), older, kept, uncut, place, why, edge, self.bound, before
        )

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
        said = [decisions[code].why for codes in order for code in codes if decisions[code].why]
        return None, " ".join(dict.fromkeys(said))

    @cached_property
    def limit(self) -> int | None:
        """What is low enough by the policy's own measure; None when no target is set or nothing tells."""
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
        for depth in range(self.least, last):
            tier = self[depth]
            if limit is not None and self._may_stop(depth) and tier.size(tier.place) <= limit:
                return depth
        return self[last].depth

    @cached_property
    def depths(self) -> Ints:
        """int32[n+1]: the depth at which the policy stops for a cut by hand at each place."""
        n = len(self.table.live)
        out = np.full(n + 1, self.last, np.int32)
        if self.limit is not None:
            for depth in filter(self._may_stop, reversed(range(self.least, self.last))):
                tier = self[depth]
                out[(tier.sizes <= self.limit) & tier.acts] = depth
        return out

    @cached_property
    def cuts(self) -> CutTable:
        """What every place leaves, each at the depth where the policy stops for it."""
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


class StageReport(NamedTuple):
    """One stage. Tokens are by the policy's own measure; before and after are equal where it did not run."""

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
            (one.name, "yes" if one.ran else "no", f"{one.before:,}", f"{one.after:,}", one.sentence)
            for one in self
        ]
        return html_table(("stage", "ran", "before", "after", "what it did"), rows, numbers=(2, 3))


def report_stages(policy: Policy, tiers: StageOutcomes, depth: int) -> StageReports:
    """Every stage in the policy's order; none for a policy without stages."""
    out = []
    place = tiers[depth].place
    size, ran = tiers[0].size(tiers[0].place), 0
    reached = {stage.name for stage in tiers.stages[:depth]}
    reasons = {stage.name for stage in tiers.stages}
    switched_on = {rule.kind for rule in policy.rules if rule.enabled}
    for stage in policy.stages:
        if not switched_on & {*stage.rules}:
            ran += stage.name in reached
            out.append(StageReport(stage.name, False, size, size, "It is switched off."))
        elif stage.name in reached:
            ran += 1
            # A stage of its own leaves its own cut; the last one stands for the whole plan.
            tier = tiers[ran]
            after = tier.size(place if ran == depth else tier.place)
            said = "" if after != size else "It found nothing to do."
            out.append(StageReport(stage.name, True, size, after, said))
            size = after
        elif stage.name in reasons:
            out.append(StageReport(stage.name, False, size, size, "Not needed: the target was met."))
        else:
            runs = " or ".join(stage.reasons)
            out.append(StageReport(stage.name, False, size, size, f"It runs only when the reason is {runs}."))
    return StageReports(out)
