"""Summaries that were written, each for what it was written from: there it stands, and nowhere else.

`WritingState` is one that is being written, as far as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..planning.plan import Plan
from ..planning.summary_jobs import Checkpoint, SummaryJob
from ..policies.policy import Policy
from ..session.entries import Entry, Usage

MOST = 8
"""Summaries kept; the oldest makes room."""
Part = tuple[str, int]
"""A job that is being answered: its kind, and its thread, for there may be several of a kind."""


class WrittenSummary(NamedTuple):
    """A summary, and what it was written for. `entries` are those of the jobs, as they were read."""

    policy: Policy
    jobs: tuple[SummaryJob, ...]
    entries: tuple[Entry, ...]
    checkpoint: Checkpoint

    def is_for(self, plan: Plan) -> bool:
        """Whether the plan asks for the very same; a file written anew may say others by old names."""
        asks = self.policy == plan.policy and self.jobs == plan.jobs
        return asks and self.entries == _read_entries(plan)


@dataclass(eq=False)
class WritingState:
    """The summary that is being written, or was written last; `parts` are its jobs' texts so far."""

    state: str = "none"
    by: str = ""
    sentence: str = ""
    plan: Plan | None = None
    checkpoint: Checkpoint | None = None
    parts: dict[Part, str] = field(default_factory=dict)
    shares: dict[Part, float] = field(default_factory=dict)
    tries: int = 0
    findings: list[str] = field(default_factory=list)
    used: Usage | None = None

    @property
    def text(self) -> str:
        if self.checkpoint is not None:
            return self.checkpoint.text
        kinds = [job.kind for job in self.plan.jobs] if self.plan is not None else []
        told = sorted(self.parts, key=lambda part: kinds.index(part[0]) if part[0] in kinds else len(kinds))
        return "\n\n".join(self.parts[part] for part in told if self.parts[part])

    @property
    def share(self) -> float | None:
        jobs = len(self.plan.jobs) if self.plan is not None else 0
        return round(sum(self.shares.values()) / jobs, 3) if jobs and self.shares else None


def fill_in(plan: Plan, written: Sequence[WrittenSummary]) -> Plan:
    """The plan with the summary that was written for it, if one was; else as it is."""
    known = next((one.checkpoint for one in reversed(written) if one.is_for(plan)), None)
    return plan if known is None else plan.with_summary(known)


def keep(
    written: Sequence[WrittenSummary], plan: Plan, checkpoint: Checkpoint | None
) -> tuple[WrittenSummary, ...]:
    """With a summary that was written for a plan, in place of an earlier one; with none for None."""
    others = [one for one in written if not one.is_for(plan)]
    new = (
        []
        if checkpoint is None
        else [WrittenSummary(plan.policy, plan.jobs, _read_entries(plan), checkpoint)]
    )
    return tuple([*others, *new][-MOST:])


def _read_entries(plan: Plan) -> tuple[Entry, ...]:
    return tuple(plan.session[name] for job in plan.jobs for name in job.entries)
