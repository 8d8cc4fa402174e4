"""What decided a block of a plan, by name."""

from __future__ import annotations

from inspector.planning.fates import BY_BOUND, BY_END, BY_NONE, BY_PAIR, BY_PIN, BY_WITHHELD
from inspector.planning.plan import Plan

DECIDERS = {
    BY_NONE: "nothing",
    BY_PIN: "pin",
    BY_PAIR: "pair",
    BY_BOUND: "bound",
    BY_WITHHELD: "withheld",
    BY_END: "end",
}


def rule_of(plan: Plan, row: int) -> str:
    """The decider of the live block `row`: a rule's kind, pin, pair, bound, withheld or nothing."""
    code = int(plan.outcome.rule[row])
    return plan.policy.rules[code].kind if code >= 0 else DECIDERS[code]
