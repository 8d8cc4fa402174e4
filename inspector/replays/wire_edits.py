"""Edits of requests in flight: blocks are left out of each request, but the history keeps them.

The provider makes such edits again for every request, independent of compactions (S0-49 to S0-52); so does
the harness with its stages behind the trigger, which are views of the request (S2-7, S2-20).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from ..planning.left_outside import leave_outside
from ..planning.plan import Plan
from ..policies.events import write_word
from ..policies.policy import Policy
from ..policies.table import CLEARED, VERBATIM, Bytes
from ..session.entries import Entry
from ..tokens.models import model_of
from .event_log import EventLog
from .replayed_context import ReplayedContext


def split_off_edits(policy: Policy) -> tuple[Policy, Policy | None]:
    """The policy without the provider's rules, and with only the rules and stages that edit requests; None
    if none is switched on."""
    late = {kind for stage in policy.late for kind in stage.rules}
    edits = [rule for rule in policy.rules if rule.enabled and (rule.wire or rule.kind in late)]
    if not edits:
        return policy, None
    core = policy.with_rules(lambda rule: not rule.wire)
    on_wire = policy.with_rules(edits.__contains__)
    views = tuple(stage.model_copy(update={"early": False}) for stage in policy.late)
    target = policy.target if views else None
    return core, on_wire.model_copy(update={"stages": views, "target": target})


def answers_all(entries: Iterable[Entry], model: str | None) -> bool:
    """Whether new entries are whole messages of this model: each has content, and every call is answered
    among them before the assistant's next message."""
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
    """The edits of the previous request. `edited` counts the requests, `saved` their tokens."""

    def __init__(self, policy: Policy, context: ReplayedContext, log: EventLog) -> None:
        self.policy, self.context, self.log = policy, context, log
        self._edits = [rule for rule in policy.rules if rule.enabled and rule.wire]
        self._view = next((stage.name for stage in policy.stages), "")
        bare = policy.with_rules(lambda rule: rule.wire)
        self._without_view = bare.model_copy(update={"stages": (), "target": None})
        self.edited = self.saved = 0
        self._before: Bytes = np.zeros(0, np.uint8)
        self._same: int | None = None
        # A request that equals its history: how many entries of the timeline had arrived, and its model.
        self._untouched: tuple[int, str | None] | None = None

    @property
    def by_provider(self) -> bool:
        """Whether any of the edits are the provider's."""
        return bool(self._edits)

    def forget(self) -> None:
        """Forget the unedited request after a switch of the model."""
        self._untouched = None

    def rewritten(self, row: int) -> None:
        """Record that only the blocks before `row` are as in the previous request."""
        self._same = row if self._same is None else min(self._same, row)

    def count_cleared(self, kind: int) -> Counter[str]:
        """By entry, how many blocks of a kind (an index into KINDS) the next request is sent without."""
        plan = self.context.plan(self.policy)
        live, entries = plan.table.live, plan.session.entries
        rows = np.flatnonzero((plan.table.kind == kind) & (plan.outcome.fate == CLEARED))
        return Counter(entries[live.entries[at]].id for at in live.position[rows].tolist())

    def edit(self) -> tuple[int, int | None]:
        """Edit the present request.

        Returns:
            The tokens left out of it, and the tokens at its start that are as in the previous request; None
            if all of that one are.
        """
        if self._leaves_all():
            return 0, None
        plan = self.context.plan(self.policy if self._knows_target() else self._without_view)
        fate, before = plan.outcome.fate, self._before
        both = min(len(before), len(fate), len(before) if self._same is None else self._same)
        differs = np.flatnonzero(before[:both] != fate[:both])
        first = int(differs[0]) if len(differs) else both
        grown = bool((fate[len(before) :] != VERBATIM).any()) if self._same is None else fate.any()
        prefix = None
        if first < len(before):
            hidden_left = leave_outside(plan.table, plan.outcome)[:first]
            parts = plan.parts_after
            prefix = plan.ledger.head_tokens + sum(parts.values()) - parts["hidden_reasoning"]
            prefix += int(plan.outcome.tokens[:first].sum()) + int(hidden_left.sum())
        size = self.context.size
        saved = min(plan.before - plan.after, size)
        if saved and (len(differs) or grown):
            name = write_word(self._view) if plan.depth else "wire"
            self.log.record("stage", stage=name, ran=True, before=size, after=size - saved)
        self._before, self._same = fate, None
        self._untouched = self._find_untouched(plan, saved)
        if saved:
            self.edited, self.saved = self.edited + 1, self.saved + saved
        return saved, prefix

    def _leaves_all(self) -> bool:
        """Whether this request is its history too: the one before was, what came since is whole, and every
        rule rests at this size. That spares most requests a plan."""
        context = self.context
        if self._untouched is None or self._same is not None:
            return False
        position, model = self._untouched
        if not all(rule.rests(context.most, model) for rule in self._edits):
            return False
        if self._view and not self._meets_target():
            return False
        arrived = [context.timeline.entry(number) for number in range(position, context.position)]
        if not answers_all(arrived, model):
            return False
        blocks = sum(len(entry.blocks) for entry in arrived)
        self._before = np.concatenate([self._before, np.full(blocks, VERBATIM, np.uint8)])
        self._untouched = context.position, model
        return True

    def _knows_target(self) -> bool:
        """Return whether the target of the view is known, or no target is set."""
        target = self.policy.target
        return target is None or not target.enabled or self._limit is not None

    @property
    def _limit(self) -> int | None:
        target, base = self.policy.target, self.policy.trigger.base(self.context.window)
        return None if target is None or not target.enabled else target.limit(base)

    def _meets_target(self) -> bool:
        """Whether the context is certainly small enough for no stage to be needed."""
        limit = self._limit
        return not self._knows_target() or (limit is not None and self.context.most <= limit)

    def _find_untouched(self, plan: Plan, saved: int) -> tuple[int, str | None] | None:
        """Return the request if the plan leaves it as it is, with every block of the context; else None."""
        live = plan.table.live
        whole = len(live) == self.context.entries and bool((np.diff(live.start) > 0).all())
        if saved or not whole or (plan.outcome.fate != VERBATIM).any():
            return None
        return self.context.position, model_of(plan.session)
