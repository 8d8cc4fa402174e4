"""Apply the early rules of a harness, which run before every request, independent of the trigger (S2-48)."""

from __future__ import annotations

from ..planning.plan import Plan
from ..policies.events import write_word
from ..policies.policy import Policy
from ..policies.table import VERBATIM
from ..session.blocks import ToolOutput
from .carry import carry_entries, list_unsent
from .event_log import EventLog
from .replayed_context import ReplayedContext


class EarlyRules:
    """The policy's early rules, looked at only if a turn began, or tools gave enough, since the request
    before."""

    def __init__(self, policy: Policy, context: ReplayedContext, log: EventLog) -> None:
        self.context, self.log = context, log
        self.policy = policy.early
        own = () if self.policy is None else self.policy.rules
        self.rules = tuple(rule for rule in own if rule.enabled and not rule.locked)
        self._kinds = sorted(rule.kind for rule in self.rules)
        self._name = context.free_name("early")
        self._position = self._changes = 0

    def apply(self) -> Plan | None:
        """Apply the rules to the context. Return the plan that did, None if there was nothing to do."""
        if self.policy is None or not self._is_needed():
            return None
        plan = self.context.plan(self.policy)
        if not (plan.fate != VERBATIM).any():
            return None
        before = self.context.size
        self._changes += 1
        items = carry_entries(plan, f"{self._name}-{self._changes}")
        self.context.carry(plan, items, list_unsent(plan))
        effects = [stage for stage in plan.stages if stage.before != stage.after]
        for stage in effects if len(effects) > 1 else ():
            self._record(stage.name, stage.before, stage.after)
        if len(effects) < 2:
            name = next((stage.name for stage in effects), next(iter(self._kinds)))
            self._record(name, before, self.context.size)
        return plan

    def _record(self, stage: str, before: int, after: int) -> None:
        self.log.record("stage", before=before, after=after, stage=write_word(stage), ran=True)

    def _is_needed(self) -> bool:
        timeline, first, self._position = self.context.timeline, self._position, self.context.position
        arrived = [timeline.entry(number) for number in range(first, self._position)]
        characters = sum(
            len(block.text)
            for number, entry in enumerate(arrived, first)
            if timeline.answers[number]
            for block in entry.blocks
            if isinstance(block, ToolOutput)
        )
        turns = sum(entry.opens_turn for entry in arrived)
        return any(rule.is_needed(characters, turns) for rule in self.rules)
