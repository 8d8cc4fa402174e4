"""What a plan leaves in the stored history, beside what it leaves in the request.

`build_context` is the wire view: what the model is sent. Some rules edit only that, at the wire or as a
view made when a request is read; the manifest view is what the others leave (S0-37, S0-46, S0-51, S2-14).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .planning.assemble import append_checkpoint, build_context, live_context
from .planning.context import Context
from .planning.plan import Plan
from .planning.stages import Tiers
from .planning.summary_jobs import Checkpoint
from .policies.policy import Policy
from .policies.rule import Rule
from .policies.table import VERBATIM
from .session.session import Session


def is_view(rule: Rule) -> bool:
    """Whether a rule edits only what is sent: the provider does, or the client as it reads its history."""
    kind = type(rule)
    return bool(getattr(kind, "wire", False) or getattr(kind, "projection", False))


def split_policy(policy: Policy) -> tuple[Policy, Policy]:
    """The policy without rules that edit only what is sent, and the one with no other rules.

    Rules that are left out are switched off, so that settings and stages still find them.
    """

    def keep(view: bool) -> Policy:
        rules = tuple(
            rule if rule.locked or is_view(rule) == view else rule.model_copy(update={"enabled": False})
            for rule in policy.rules
        )
        return policy.model_copy(update={"rules": rules})

    return keep(False), keep(True)


def core_plan(plan: Plan) -> Plan:
    """The part of a plan that is durable: the same stages, without rules that edit only what is sent.

    A model that refuses reasoning whose prefix was edited does so when it is sent; what is stored keeps it
    (K16).
    """
    policy, _ = split_policy(plan.policy)
    table = replace(plan.table, policy=policy)
    tiers = Tiers(table, plan.tiers.pinned, plan.tiers.by_hand)
    tiers.bound = False
    return replace(plan, policy=policy, table=table, tiers=tiers)


def manifest_context(session: Session, plan: Plan, checkpoint: Checkpoint | None = None) -> Context:
    """The stored history as a plan leaves it; as it was when the plan changes only what is sent."""
    core = core_plan(plan)
    changed = (core.outcome.rule >= 0) & (core.fate != VERBATIM)
    if not np.any(changed) and core.notice is None:
        return live_context(session, plan.ledger)
    return build_context(session, core, checkpoint)


def append_to_manifest(plan: Plan, checkpoint: Checkpoint, entry_id: str) -> Session:
    """`append_checkpoint` for the durable part of a plan. Raises `EditError` where there is none (S0-38)."""
    return append_checkpoint(core_plan(plan), checkpoint, entry_id)
