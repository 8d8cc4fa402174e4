"""What a harness does to tool outputs before every request, whatever the policy's trigger says (S2-48)."""

from __future__ import annotations

from ..planning.plan import Plan
from ..policies.base_rule import Rule
from ..policies.events import write_word
from ..policies.policy import Policy
from ..policies.table import VERBATIM
from ..session.blocks import ToolOutput
from ..summaries.record import split_policy
from .carry import carry_entries
from .event_log import EventLog
from .replayed_context import ReplayedContext


def _is_early(rule: Rule) -> bool:
    return rule.early


class EarlyRules:
    """The policy's early rules, looked at only where tools gave enough since the request before."""

    def __init__(self, policy: Policy, context: ReplayedContext, log: EventLog) -> None:
        self.context, self.log = context, log
        self.rules = tuple(rule for rule in policy.rules if rule.enabled and rule.early)
        _, early = split_policy(policy, _is_early)
        self.policy = early.model_copy(update={"stages": (), "target": None})
        kinds = {rule.kind for rule in self.rules}
        named = (stage.name for stage in policy.stages if kinds & {*stage.rules})
        self._stage = next(named, next(iter(sorted(kinds)), ""))
        self._name = context.free_name("early")
        self._seen = self._changes = 0

    def apply(self) -> Plan | None:
        """Change the context as the rules want it; the plan that did, None where nothing is to do."""
        if not self.rules or not self._is_needed():
            return None
        plan = self.context.plan(self.policy)
        if not (plan.fate != VERBATIM).any():
            return None
        before = self.context.size
        self._changes += 1
        self.context.carry(plan, carry_entries(plan, f"{self._name}-{self._changes}"))
        self.log.record(
            "stage", before=before, after=self.context.size, stage=write_word(self._stage), ran=True
        )
        return plan

    def _is_needed(self) -> bool:
        life, first, self._seen = self.context.life, self._seen, self.context.position
        given = sum(
            len(block.text)
            for number in range(first, self._seen)
            if life.answers[number]
            for block in life.entry(number).blocks
            if isinstance(block, ToolOutput)
        )
        return any(rule.is_needed(given) for rule in self.rules)
