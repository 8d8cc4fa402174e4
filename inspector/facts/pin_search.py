"""What pins may keep facts, and what they cost, at each depth of a policy's stages."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ..planning.left_outside import leave_outside, weigh_more
from ..planning.plan import Plan
from ..policies.table import SUMMARISED
from ..session.blocks import REASONING
from ..session.tree import Bools
from .mentions import make_pattern
from .outcomes import CODE
from .set_cover import Cover, Unit, find_cover
from .trace import trace_again
from .traced import TracedFact


def depths_of(plan: Plan) -> range:
    """Every depth the policy may stop at, whatever is pinned."""
    tiers = plan.tiers
    if not tiers.stages:
        return range(1)
    return range(min(tiers.least, tiers.last), tiers.last + 1)


class Search:
    """What may be pinned: for every fact the live rows that keep it, and what else a pin of them holds."""

    def __init__(self, plan: Plan, wanted: tuple[TracedFact, ...], least: int) -> None:
        self.plan, self.wanted, self.least = plan, wanted, least
        session, live = plan.session, plan.table.live
        file_rows = (session.tree.start[live.entries[live.position]] + live.block).tolist()
        self.live_row = {row: at for at, row in enumerate(file_rows)}
        self.refs = session.live_refs()
        self.saying = [self._saying(traced) for traced in wanted]
        self.units: list[tuple[int, ...]] = []
        self.unit_of: dict[int, int] = {}
        for row in sorted(set().union(*self.saying)) if wanted else ():
            self.unit_of[row] = self._add_unit(row)
        held = [row for rows in self.units for row in rows]
        self.disjoint = len(set(held)) == len(held)

    def _saying(self, traced: TracedFact) -> set[int]:
        """Live rows that keep a fact when they stand: those known to say it, and any other text that does."""
        session, before = self.plan.session, traced.scene.before
        start, index = session.tree.start, session.tree.index
        pattern = make_pattern(traced.fact, session)
        rows = {int(start[index[ref.entry]]) + ref.block for ref in traced.said}
        rows = {row for row in rows if before.rows[row]} | before.index.find_all(pattern)
        if self.least:
            # An earlier summary is no place where a fact is said, but it restates what it names.
            for other, mention in before.mentions(pattern):
                if other.recorded and mention.full and other.ref.entry in index:
                    rows.add(int(start[index[other.ref.entry]]) + other.ref.block)
        return {self.live_row[row] for row in rows if row in self.live_row}

    def _add_unit(self, row: int) -> int:
        """What a pin of a row holds: it, and the other half of every pair it is in."""
        calls, outputs = self.plan.table.live.pairs[:, 0], self.plan.table.live.pairs[:, 1]
        both = (calls == row) | (outputs == row)
        rows = tuple(sorted({row, *calls[both].tolist(), *outputs[both].tolist()}))
        if rows not in self.units:
            self.units.append(rows)
        return self.units.index(rows)

    def keeps(self, plan: Plan) -> bool:
        """Whether a plan keeps them all."""
        return all(CODE[found.outcome] <= self.least for found in trace_again(self.wanted, plan))

    def name(self, row: int) -> str:
        return str(self.refs[row])


class StageSearch:
    """The search at one depth of the policy's stages, where what else it does is settled.

    What a plan of that depth costs with pins is what it costs without, and for every block they hold the
    difference to what would have stood. That is exact but for three things the bound allows for: the notice
    at the cut may be worded otherwise, no summary is written when all of it is pinned, and a model that binds
    its reasoning keeps more of it the later the first edit stands.
    """

    def __init__(self, search: Search, depth: int) -> None:
        plan = replace(search.plan, depth=depth)
        self.search, self.depth, self.plan = search, depth, plan
        found = trace_again(search.wanted, plan)
        self.open = [at for at, traced in enumerate(found) if CODE[traced.outcome] > search.least]
        table = plan.table
        self.gain = table.tokens.astype(np.int64) - plan.outcome.tokens
        # What is withheld of a block stands and goes with it.
        self.gain += plan.outside.spread - leave_outside(table, plan.outcome)
        # Half a pair cannot stand, so a pin does not help it; reasoning that is bound falls to other edits.
        self.barred = np.zeros(len(self.gain), bool)
        if not plan.tier.unpaired:
            self.barred[table.live.lone] = True
        self.unsure = (table.kind == REASONING) & plan.tiers.bound
        self.missing = tuple(
            search.wanted[at].fact.form for at in self.open if not self._units(at, self.barred)
        )
        self.summarised = plan.fate == SUMMARISED if plan.summarises else np.zeros(len(self.gain), bool)

    def _units(self, fact: int, barred: Bools) -> set[int]:
        search = self.search
        return {search.unit_of[row] for row in search.saying[fact] if not barred[row]}

    def _price(self, unit: int, free: Bools) -> int:
        return max(sum(int(self.gain[row]) for row in self.search.units[unit] if not free[row]), 0)

    def _cover(self, barred: Bools, free: Bools) -> Cover | None:
        """The cheapest units that say every open fact; rows that are free cost nothing more."""
        says: dict[int, int] = {}
        for bit, fact in enumerate(self.open):
            for unit in self._units(fact, barred):
                says[unit] = says.get(unit, 0) | 1 << bit
        units = [Unit(self._price(unit, free), covers, unit) for unit, covers in says.items()]
        cover = find_cover(units, len(self.open))
        if cover is not None and not self.search.disjoint:
            # Blocks that two units share would be paid twice: only the dearest fact's own price is proved.
            least = max(
                (min(u.price for u in units if u.covers >> bit & 1) for bit in range(len(self.open))),
                default=0,
            )
            cover = cover._replace(bound=least)
        return cover

    @cached_property
    def cheapest(self) -> dict[tuple[str, str], int]:
        """What each fact costs at least alone; 0 for one that stands, and for one that no pin keeps."""
        none = np.zeros(len(self.gain), bool)
        names = [(traced.fact.kind, traced.fact.form) for traced in self.search.wanted]
        out = dict.fromkeys(names, 0)
        for fact in self.open:
            prices = [self._price(unit, none) for unit in self._units(fact, self.barred)]
            out[names[fact]] = min(prices, default=0)
        return out

    @cached_property
    def bounds(self) -> tuple[int, int | None]:
        """What keeping the facts takes at least if the policy stops here: with a summary, and with none."""
        notice = self.plan.notice_tokens
        notice += self._more(notice)
        least = self.plan.after - notice + int(np.minimum(self.gain, 0).sum())
        cover = self._cover(self.barred, self.unsure)
        whole = least + (0 if cover is None else cover.bound)
        if not self.summarised.any():
            return whole, None
        rest = self._cover(self.barred, self.unsure | self.summarised)
        summary = self.plan.summary_tokens
        unwritten = int(self.gain[self.summarised & ~self.unsure].sum()) - summary - self._more(summary)
        return whole, least + unwritten + (0 if rest is None else rest.bound)

    def _more(self, tokens: int) -> int:
        """What new text may weigh beyond its count; one more, for it is rounded text by text."""
        more = weigh_more(self.plan.outside, tokens)
        return more + 1 if more else 0

    @property
    def bound(self) -> int:
        """The lower of the two."""
        whole, unwritten = self.bounds
        return whole if unwritten is None else min(whole, unwritten)

    def cheapest_pins(self) -> tuple[str, ...] | None:
        """The pins that say every open fact for the least; None where there are none."""
        barred = self.barred | self.unsure
        cover = self._cover(barred, np.zeros(len(self.gain), bool))
        return None if cover is None else self._pins(cover, barred)

    def bound_pins(self) -> tuple[str, ...] | None:
        """The same with reasoning among them, which may fall all the same where the model binds it."""
        if not self.unsure.any():
            return None
        cover = self._cover(self.barred, np.zeros(len(self.gain), bool))
        return None if cover is None else self._pins(cover, self.barred)

    def prefix_pins(self) -> tuple[str, ...] | None:
        """Every block up to the first places that say the facts: bound reasoning stands as long as nothing
        before it is edited."""
        if not self.unsure.any() or self.missing or not self.open:
            return None
        firsts = [min(r for r in self.search.saying[fact] if not self.barred[r]) for fact in self.open]
        rows = np.flatnonzero(~self.barred[: max(firsts) + 1])
        return tuple(self.search.name(row) for row in rows.tolist())

    def every_pin(self) -> tuple[str, ...] | None:
        """The same with everything pinned that is summarised; None where a summary is shorter than that."""
        barred, gone = self.barred | self.unsure, self.summarised
        whole, unwritten = self.bounds
        if unwritten is None or unwritten >= whole:
            return None
        rest = self._cover(barred, gone)
        if rest is None:
            return None
        every = [self.search.name(row) for row in np.flatnonzero(gone).tolist()]
        return tuple(dict.fromkeys([*every, *self._pins(rest, barred)]))

    def _pins(self, cover: Cover, barred: Bools) -> tuple[str, ...]:
        search = self.search
        said = set().union(*(search.saying[fact] for fact in self.open)) if self.open else set()
        rows = [
            next(row for row in search.units[unit] if row in said and not barred[row])
            for unit in cover.chosen
        ]
        return tuple(search.name(row) for row in sorted(rows))
