"""Where a plan's tokens go: what each fate took, and what stands of it, at every place of the cut at once.

In goes a plan, out comes a `Flow`: sums from the left and from the right, as in the cut table. Its parts add
up: `head + hidden + before` is the context before, `head + hidden + after + added` the context after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...planning.cut_table import sum_behind
from ...planning.fates import SideFates
from ...planning.left_outside import leave_outside, weigh_all, weigh_more
from ...planning.plan import Plan
from ...planning.stages import StageOutcome
from ...policies.table import DROPPED, FATES, SUMMARISED, VERBATIM, Table
from ...tokens.counter import Longs
from ...tokens.outside import PARTS
from .base_payload import Payload
from .columns import ColumnPacker


class FlowPayload(Payload, frozen=True):
    """Where the tokens go, with the columns flow_before, flow_after and flow_added.

    `fates` are the codes of the columns; `head` and `hidden` are in every request, before and after alike;
    `new` is what was added beside the summary.
    """

    fates: list[int]
    head: int
    hidden: int
    new: Literal["notice", "brought back"]


@dataclass(frozen=True, eq=False)
class Flow:
    """Tokens by fate at n + 1 places, for the F fates that occur.

    fates   int64[F]       index into FATES
    before  int64[n+1, F]  what the blocks of each fate held
    after   int64[n+1, F]  what stands of them
    added   int64[n+1]     what stands and was not there before: summary, notice, what either repeats

    What is withheld of a block goes with it. Where there is no cut, before the first entry, stands what a
    plan without a cut leaves. `head`, and `hidden`, which is not in the file, are in the request before and
    after alike; `new` is what `added` holds beside the summary.
    """

    fates: Longs
    before: Longs
    after: Longs
    added: Longs
    head: int
    hidden: int
    new: Literal["notice", "brought back"] = "notice"

    def pack(self, pack: ColumnPacker) -> FlowPayload:
        """Adds the columns flow_before, flow_after and flow_added; what else is to be told of them."""
        pack.add("flow_before", self.before.ravel())
        pack.add("flow_after", self.after.ravel())
        pack.add("flow_added", self.added)
        return FlowPayload(self.fates.tolist(), self.head, self.hidden, self.new)


def trace_flow(plan: Plan) -> Flow:
    """The flow of a plan at every place, each at the depth where the policy stops for it.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session))
    >>> flow = trace_flow(plan)
    >>> bool(flow.head + flow.hidden + flow.after[plan.place].sum() + flow.added[plan.place] == plan.after)
    True
    """
    tiers = plan.tiers
    depths = sorted(set(tiers.depths.tolist())) if tiers.stages else [0]
    used = {depth: tiers[depth] for depth in depths}
    fates = _find_fates([*used.values(), plan.tier])
    before, after, added = _sum_tier(used[depths[-1]], fates)
    for depth in depths[:-1]:
        here = tiers.depths == depth
        for sums, mine in zip((before, after, added), _sum_tier(used[depth], fates), strict=True):
            sums[here] = mine[here]
    if plan.place is None and len(depths) + len(tiers.stages) > 1:
        uncut = _sum_tier(plan.tier, fates)
        before[0], after[0], added[0] = uncut[0][0], uncut[1][0], 0
    if plan.checkpoint is not None and plan.place is not None:
        added[plan.place] += plan.summary_tokens + weigh_more(plan.outside, plan.summary_tokens)
        stand_in = int(plan.stand_in.cost[plan.place])
        added[plan.place] -= stand_in + weigh_more(plan.outside, stand_in)
    hidden = plan.outside.fixed.tokens
    return Flow(fates, before, after, added, plan.ledger.head_tokens, hidden)


def _find_fates(tiers: list[StageOutcome]) -> Longs:
    sides = [side for tier in tiers for side in (tier.older, tier.kept, tier.uncut)]
    count = sum((np.bincount(side.fate, minlength=len(FATES)) for side in sides), np.zeros(len(FATES), int))
    # What stands as it stood is told even where nothing does.
    count[0] += 1
    return np.flatnonzero(count).astype(np.int64)


def _sum_tier(tier: StageOutcome, fates: Longs) -> tuple[Longs, Longs, Longs]:
    """`before`, `after` and `added` of one tier."""
    table = tier.table
    position, n = table.live.position, len(table.live)
    code = np.zeros(len(FATES), np.int64)
    code[fates] = np.arange(len(fates))

    def spread(side: SideFates, tokens: Longs) -> NDArray[Any]:
        cells = position * np.int64(len(fates)) + code[side.fate]
        return np.bincount(cells, tokens, n * len(fates)).reshape(n, len(fates))

    def add_up(old: NDArray[Any], kept: NDArray[Any], uncut: NDArray[Any]) -> Longs:
        sums = np.zeros((n + 1, len(fates)))
        np.cumsum(old, axis=0, out=sums[1:])
        sums[:n] += sum_behind(kept, uncut, tier.edge)
        return sums.astype(np.int64)

    def both(given: bool) -> Longs:
        older, kept, uncut = (
            spread(side, _weigh(table, side, given)) if side is not None else None
            for side in (tier.older, tier.kept, None if tier.uncut is tier.kept else tier.uncut)
        )
        assert older is not None and kept is not None
        return add_up(older, kept, kept if uncut is None else uncut)

    outside = table.moment.outside
    added = weigh_all(outside, np.where(tier.writes, tier.stand_in.cost, 0))
    if tier.notice is not None:
        added += weigh_all(outside, tier.notice.cost)
    if tier.notice is not None and tier.notice.echoes(n):
        added[n] += int(_weigh(table, tier.notice.before, given=False).sum())
    before, after = both(True), both(False)
    if outside.passing:
        stays = tier.outside[:, [PARTS.index("earlier"), PARTS.index("attached")]].sum(axis=1)
        before[:, code[VERBATIM]] += stays
        after[:, code[VERBATIM]] += stays
        gone = SUMMARISED if SUMMARISED in fates else DROPPED if DROPPED in fates else VERBATIM
        before[:, code[gone]] += outside.passing - stays
    return before, after, added


def _weigh(table: Table, side: SideFates, given: bool) -> Longs:
    """int64[m]: what each block holds, or what is left of it, what is withheld of it included."""
    if given:
        return table.tokens.astype(np.int64) + table.moment.outside.spread
    return side.tokens.astype(np.int64) + leave_outside(table, side)
