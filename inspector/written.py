"""Summaries that were written, each for what it was written from: there it stands, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .plan import Plan
from .policy import Policy
from .summary import Checkpoint, SummaryJob

MOST = 8
"""Summaries kept; the oldest makes room."""


class Written(NamedTuple):
    """A summary, and what it was written for."""

    policy: Policy
    jobs: tuple[SummaryJob, ...]
    checkpoint: Checkpoint

    def is_for(self, plan: Plan) -> bool:
        """Whether the plan asks for the very same."""
        return self.policy == plan.policy and self.jobs == plan.jobs


def fill_in(plan: Plan, written: Sequence[Written]) -> Plan:
    """The plan with the summary that was written for it, if one was."""
    known = (one.checkpoint for one in reversed(written) if one.is_for(plan))
    return plan.with_summary(next(known, None))


def keep(written: Sequence[Written], plan: Plan, checkpoint: Checkpoint | None) -> tuple[Written, ...]:
    """With a summary that was written for a plan, in place of an earlier one; with none for None."""
    others = [one for one in written if not one.is_for(plan)]
    new = [] if checkpoint is None else [Written(plan.policy, plan.jobs, checkpoint)]
    return tuple([*others, *new][-MOST:])
