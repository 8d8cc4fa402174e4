"""Edits of requests in flight: what the provider leaves out of each request, while history keeps it all.

Such edits are made again for every request, whatever compacts beside them (S0-49 to S0-52).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..planning.left_outside import leave_outside
from ..planning.plan import Plan
from ..policies.policy import Policy
from ..policies.table import CLEARED, VERBATIM, Bytes
from ..session.entries import Entry
from ..summaries.record import edits_request, split_policy
from ..tokens.models import model_of
from .event_log import EventLog
from .replayed_context import ReplayedContext


def split_off_edits(policy: Policy) -> tuple[Policy, Policy | None]:
    """The policy without the rules that edit requests, and with these alone; None where none is at work."""
    if not any(rule.enabled and edits_request(rule) for rule in policy.rules):
        return policy, None
    core, on_wire = split_policy(policy, edits_request)
    return core, on_wire.model_copy(update={"stages": (), "target": None})


class Untouched(NamedTuple):
    """A request that is its history to the word: `position` entries of the life had arrived, and this model
    read it."""

    position: int
    model: str | None


def answers_all(entries: Iterable[Entry], model: str | None) -> bool:
    """Whether entries that arrive make whole messages of this model's: each says something, and every call is
    answered among them before the assistant speaks anew."""
    waiting: set[str] = set()
    speaking = False
    for entry in entries:
        if not entry.blocks or entry.model not in (None, model):
            return False
        speaks = entry.role == "assistant"
        if waiting and speaks and not speaking:
            return False
        speaking = speaks
        for block in entry.blocks:
            if block.kind == "tool_call":
                if block.id in waiting:
                    return False
                waiting.add(block.id)
            elif block.kind == "tool_output":
                if block.call_id not in waiting:
                    return False
                waiting.remove(block.call_id)
    return not waiting


class WireEdits:
    """What was edited in the request before. `edited` counts the requests, `saved` their tokens."""

    def __init__(self, policy: Policy, context: ReplayedContext, log: EventLog) -> None:
        self.policy, self.context, self.log = policy, context, log
        self.edited = self.saved = 0
        self._before: Bytes = np.zeros(0, np.uint8)
        self._same: int | None = None
        self._untouched: Untouched | None = None

    def forget(self) -> None:
        """Another model reads from now on: whether it edits anything is looked at anew."""
        self._untouched = None

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
        if self._leaves_all():
            return 0, None
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
        self._untouched = self._find_untouched(plan, saved)
        if saved:
            self.edited, self.saved = self.edited + 1, self.saved + saved
        return saved, prefix

    def _leaves_all(self) -> bool:
        """Whether this request is its history too: the one before was, what came since is whole, and every
        rule rests at this size. That spares most requests a plan."""
        known, context = self._untouched, self.context
        if known is None or self._same is not None:
            return False
        if not all(rule.rests(context.most, known.model) for rule in self.policy.rules if rule.enabled):
            return False
        arrived = [context.life.entry(number) for number in range(known.position, context.position)]
        if not answers_all(arrived, known.model):
            return False
        blocks = sum(len(entry.blocks) for entry in arrived)
        self._before = np.concatenate([self._before, np.full(blocks, VERBATIM, np.uint8)])
        self._untouched = known._replace(position=context.position)
        return True

    def _find_untouched(self, plan: Plan, saved: int) -> Untouched | None:
        """The request that a plan leaves as it is: all that stands is in it, block by block."""
        live = plan.table.live
        whole = len(live) == self.context.entries and bool((np.diff(live.start) > 0).all())
        if saved or not whole or (plan.outcome.fate != VERBATIM).any():
            return None
        return Untouched(self.context.position, model_of(plan.session))
