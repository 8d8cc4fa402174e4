"""How many facts hang on a summary alone, for every place of the cut at once.

In go the facts of a moment and a plan, out comes a column over the places. A fact is at risk at a place if it
can be read now and no block would name it there as it was said, nor the head: `TracedFact.outcome` would not
be "verbatim". A block's fate depends only on its side of the cut, so two positions per fact say it all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..planning.fates import STANDS, SideFates
from ..planning.plan import Plan
from ..planning.stages import StageOutcome
from ..policies.table import POINTER
from ..session.blocks import Block
from ..session.queries import is_summary, readable_text
from ..session.tree import Bools, Ints
from .outcome_finder import PointInTimeOutcomes

Longs = NDArray[np.int64]


class Risk(NamedTuple):
    """`places` (int32[n+1]): facts at risk with the cut there, -1 where none may stand. `total` stand now."""

    places: Ints
    total: int


class NamedFacts:
    """Which of the facts that can be read now each block names in full; the same for every plan of a moment.

    `pairs` (int64[k,2]) are a fact's number and a live row that names it.
    """

    def __init__(self, moment: PointInTimeOutcomes) -> None:
        self.moment = moment
        found, before = moment.found, moment.before
        session, live = before.session, before.session.live
        self.entry = live.entries[live.position]
        places = session.tree.start[self.entry] + live.block
        self.live_row = np.full(len(before.rows), -1, np.int64)
        self.live_row[places] = np.arange(len(places))
        self.said: Bools = before.rows[places]
        summary = [
            e.kind != "message" and is_summary(e) for e in map(session.entries.__getitem__, live.entries)
        ]
        self.summary = np.array(summary, bool)[live.position]
        fact = np.repeat(np.arange(len(found.facts)), np.diff(found.first))
        marked = np.column_stack((fact, found.rows))[before.rows[found.rows] & moment.stood[fact]]
        both = np.concatenate([marked, moment.full])
        both[:, 1] = self.live_row[both[:, 1]]
        self.pairs: Longs = np.unique(both[both[:, 1] >= 0], axis=0)


def count_at_risk(named_facts: NamedFacts, plan: Plan) -> Risk:
    """Facts at risk at every place, each as a cut by hand there would leave them; numpy over the two sides.

    Where the plan's own cut stands (at 0 for a plan that makes none) it is the plan itself that counts: it
    may stop at another stage than a cut by hand, and a policy may cut where no hand may.
    """
    legal, n = plan.cuts.legal, len(plan.cuts) - 1
    out = np.full(n + 1, -1, np.int32)
    for depth in sorted(set(plan.tiers.depths[legal].tolist())):
        here = legal & (plan.tiers.depths == depth)
        out[here] = _count(named_facts, plan, plan.tiers[depth])[here]
    sides = [plan.outcome]
    if plan.place is not None and plan.notice is not None and plan.notice.echoes(plan.place):
        sides.append(plan.notice.before)
    out[plan.place or 0] = _count_unnamed(named_facts, plan, sides)
    return Risk(out, int(named_facts.moment.stood.sum()))


def _count(named_facts: NamedFacts, plan: Plan, tier: StageOutcome) -> Ints:
    """int32[n+1]: facts at risk at every place, legal or not, as this tier leaves them."""
    n, number = len(plan.cuts) - 1, len(named_facts.moment.stood)
    # From where on the cut must stand for a block before it to name them, and up to where for one behind.
    first = np.full(number, n, np.int64)
    fact, position = _named(named_facts, plan, tier.older)
    np.minimum.at(first, fact, position)
    out = np.zeros(n + 1, np.int64)
    # Up to the edge nothing before the cut is edited.
    for side, low, high in ((tier.uncut, 0, tier.edge), (tier.kept, tier.edge + 1, n)):
        last = np.full(number, -1, np.int64)
        fact, position = _named(named_facts, plan, side)
        np.maximum.at(last, fact, position)
        lost = named_facts.moment.stood & ~named_facts.moment.safe & (last < first)
        change = np.bincount(last[lost] + 1, minlength=n + 2) - np.bincount(first[lost] + 1, minlength=n + 2)
        out[low : high + 1] = np.cumsum(change)[low : high + 1]
    if tier.notice is not None and tier.notice.echoes(n):
        out[n] = _count_unnamed(named_facts, plan, [tier.older, tier.notice.before])
    return out.astype(np.int32)


def _count_unnamed(named_facts: NamedFacts, plan: Plan, sides: list[SideFates]) -> int:
    """Facts that no block of these sides names."""
    named = named_facts.moment.safe.copy()
    for side in sides:
        named[_named(named_facts, plan, side)[0]] = True
    return int(np.sum(named_facts.moment.stood & ~named))


def _named(named_facts: NamedFacts, plan: Plan, side: SideFates) -> tuple[Longs, Longs]:
    """A fact and a live position where a block names it in full on this side; int64[k] each."""
    table, stands = plan.table, STANDS[side.fate]
    as_said = stands & named_facts.said
    emptied = np.flatnonzero(stands & table.live.cleared).tolist()
    made: dict[int, Block | None] = {**{row: table.block(row) for row in emptied}, **side.blocks}
    fact, row = named_facts.pairs.T
    facts, rows = [], []
    for at, block in made.items():
        original = table.session.entries[named_facts.entry[at]].blocks[table.live.block[at]]
        if not stands[at] or block is original:
            continue
        as_said[at] = False
        # A pointer only says where the words are, and a summary is nobody's own.
        if block is not None and side.fate[at] != POINTER and not named_facts.summary[at]:
            facts += (mine := named_facts.moment.named_in(readable_text(block)))
            rows += [at] * len(mine)
    kept = as_said[row]
    fact = np.concatenate([fact[kept], np.array(facts, np.int64)])
    row = np.concatenate([row[kept], np.array(rows, np.int64)])
    return fact, table.live.position[row].astype(np.int64)
