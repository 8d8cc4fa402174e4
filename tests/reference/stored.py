"""The stored history as a plan leaves it."""

from __future__ import annotations

from inspector.planning.assemble import build_context, live_context
from inspector.planning.context import Context
from inspector.planning.plan import Plan
from inspector.planning.summary_jobs import Checkpoint
from inspector.session.session import Session
from inspector.summaries.record import changes_stored, stored_part


def stored_context(session: Session, plan: Plan, checkpoint: Checkpoint | None = None) -> Context:
    """The history after a plan; as it was when the plan changes only what is sent."""
    part = stored_part(plan)
    if not changes_stored(part):
        return live_context(session, plan.ledger)
    return build_context(session, part, checkpoint)
