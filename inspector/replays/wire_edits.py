"""Edits of requests in flight: what the provider leaves out of each request, while history keeps it all.

Such edits are made again for every request, whatever compacts beside them (S0-49 to S0-52).
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..planning.left_outside import leave_outside
from ..policies.policy import Policy
from ..policies.table import CLEARED, VERBATIM, Bytes
from ..summaries.record import edits_request, split_policy
from .event_log import EventLog
from .replayed_context import ReplayedContext


def split_off_edits(policy: Policy) -> tuple[Policy, Policy | None]:
    """The policy without the rules that edit requests, and with these alone; None where none is at work."""
    if not any(rule.enabled and edits_request(rule) for rule in policy.rules):
        return policy, None
    core, on_wire = split_policy(policy, edits_request)
    return core, on_wire.model_copy(update={"stages": (), "target": None})


class WireEdits:
    """What was edited in the request before. `edited` counts the requests, `saved` their tokens."""

    def __init__(self, policy: Policy, context: ReplayedContext, log: EventLog) -> None:
        self.policy, self.context, self.log = policy, context, log
        self.edited = self.saved = 0
        self._before: Bytes = np.zeros(0, np.uint8)
        self._same: int | None = None

    def rewritten(self, row: int) -> None:
        """Of the blocks in the request before, only those before `row` are what they were."""
        self._same = row if self._same is None else min(self._same, row)

    def count_cleared(self, kind: int) -> Counter[str]:
        """By entry, how many blocks of a kind (an index into KINDS) the next request is sent without."""
        plan = self.context.plan(self.policy)
        live, entries = plan.table.live, plan.session.entries
        rows = np.flatnonzero((plan.table.kind == kind) & (plan.outcome.fate == CLEARED))
        return Counter(entries[live.entries[at]].id for at in live.position[rows].tolist())

    def edit(self) -> tuple[int, int | None]:
        """Edit the request that goes out now.

        Gives the tokens left out of it, and how many at its front are as in the request before; None when
        all of that one are.
        """
        plan = self.context.plan(self.policy)
        fate, before = plan.outcome.fate, self._before
        both = min(len(before), len(fate), len(before) if self._same is None else self._same)
        differs = np.flatnonzero(before[:both] != fate[:both])
        first = int(differs[0]) if len(differs) else both
        grown = bool((fate[len(before) :] != VERBATIM).any()) if self._same is None else fate.any()
        prefix = None
        if first < len(before):
            left = leave_outside(plan.table, plan.outcome)[:first]
            parts = plan.parts_after
            prefix = plan.ledger.head_tokens + sum(parts.values()) - parts["withheld"]
            prefix += int(plan.outcome.tokens[:first].sum()) + int(left.sum())
        size = self.context.size
        saved = min(plan.before - plan.after, size)
        if len(differs) or grown:
            self.log.record("stage", stage="wire", ran=True, before=size, after=size - saved)
        self._before, self._same = fate, None
        if saved:
            self.edited, self.saved = self.edited + 1, self.saved + saved
        return saved, prefix
