"""Written summaries. Each is shown only for plans that summarise the same entries in the same way.

`WritingState` is the state of a summary that is being written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from ..errors import InspectorError
from ..planning.plan import Plan
from ..planning.summary_jobs import Checkpoint, SummaryJob
from ..policies.policy import Policy
from ..policies.registry import find_policy
from ..session.entries import Entry, Usage
from ..session.json_text import dump_lossless
from ..session.session import Session

MOST = 8
"""Summaries stored; beyond that the oldest are removed."""
VERSION = 1
"""Version of the stored JSON."""
Part = tuple[str, int]
"""A job that is being answered: its kind, and its thread, for there may be several of a kind."""


class WrittenSummary(NamedTuple):
    """A summary and its inputs. `entries` are the entries of its jobs at the time."""

    policy: Policy
    jobs: tuple[SummaryJob, ...]
    entries: tuple[Entry, ...]
    checkpoint: Checkpoint

    def is_for(self, plan: Plan) -> bool:
        """Whether the plan has the same jobs; a rewritten file may use old names for other entries."""
        asks = self.policy == plan.policy and self.jobs == plan.jobs
        return asks and self.entries == _read_entries(plan)

    def covers(self, plan: Plan) -> bool:
        """Whether the plan has the same jobs, or leaves out more blocks, such as pinned ones: the summary was
        written from all that the plan summarises."""
        same = self.policy == plan.policy and _list_whole(self.jobs) == _list_whole(plan.jobs)
        return same and _leaves_out_more(self.jobs, plan.jobs) and self.entries == _read_entries(plan)


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
        sorted_parts = sorted(
            self.parts, key=lambda part: kinds.index(part[0]) if part[0] in kinds else len(kinds)
        )
        return "\n\n".join(self.parts[part] for part in sorted_parts if self.parts[part])

    @property
    def share(self) -> float | None:
        jobs = len(self.plan.jobs) if self.plan is not None else 0
        return round(sum(self.shares.values()) / jobs, 3) if jobs and self.shares else None


def fill_in(plan: Plan, written: Sequence[WrittenSummary]) -> Plan:
    """Return the plan with the summary that was written for it, or the plan unchanged."""
    own = [summary for summary in written if summary.covers(plan)]
    own.sort(key=lambda summary: summary.is_for(plan))
    return plan.with_summary(own[-1].checkpoint) if own else plan


def keep(
    written: Sequence[WrittenSummary], plan: Plan, checkpoint: Checkpoint | None
) -> tuple[WrittenSummary, ...]:
    """Add the summary written for a plan in place of an earlier one; None removes all that cover the plan."""
    is_replaced = WrittenSummary.covers if checkpoint is None else WrittenSummary.is_for
    others = [summary for summary in written if not is_replaced(summary, plan)]
    new = (
        []
        if checkpoint is None
        else [WrittenSummary(plan.policy, plan.jobs, _read_entries(plan), checkpoint)]
    )
    return tuple([*others, *new][-MOST:])


def update_written(text: str | bytes, plan: Plan, checkpoint: Checkpoint | None, most: int) -> str:
    """Add a plan's summary to stored JSON in place of an earlier one; None removes it. Return the JSON.

    Other summaries are preserved, including those that this process has not loaded. The oldest are removed if
    there are more than `MOST`, or if the text would have more than `most` characters. Returns "" if no
    summary remains.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> text = update_written("", plan, Checkpoint(text="So far: a calendar."), 100_000)
    >>> [summary.checkpoint.text for summary in load_written(text, session)]
    ['So far: a calendar.']
    """
    blank = Checkpoint(text="") if checkpoint is None else checkpoint
    new = json.loads(dump_lossless(_dump_summary(keep((), plan, blank)[0])))
    rows = [row for row in _parse_rows(text) if isinstance(row, dict)]
    if checkpoint is None:
        rows = [row for row in rows if not _row_covers(row, new)]
    else:
        rows = [row for row in rows if any(row.get(name) != new[name] for name in _IDENTITY)]
        rows.append(new)
    rows = rows[-MOST:]
    while len(rows) > 1 and len(_dump_rows(rows)) > most:
        del rows[0]
    return _dump_rows(rows) if rows else ""


def load_written(text: str | bytes, session: Session) -> tuple[WrittenSummary, ...]:
    """Parse stored summaries; return those whose entries are unchanged in the session.

    Summaries that cannot be parsed are skipped.
    """
    loaded = [_load_row(row, session) for row in _parse_rows(text)[-MOST:]]
    return tuple(summary for summary in loaded if summary is not None)


_IDENTITY = ("policy", "jobs", "entries_sha256")
"""The fields that name the plan of a stored summary. A plan has at most one summary."""


def _dump_summary(summary: WrittenSummary) -> dict[str, Any]:
    return {
        "policy": summary.policy.model_dump(mode="json"),
        "jobs": [job.model_dump(mode="json") for job in summary.jobs],
        "entries_sha256": _hash_entries(summary.entries),
        "checkpoint": summary.checkpoint.model_dump(mode="json"),
    }


def _dump_rows(rows: Sequence[dict[str, Any]]) -> str:
    return dump_lossless({"version": VERSION, "written": rows})


def _parse_rows(text: str | bytes) -> list[Any]:
    try:
        content = json.loads(text)
        rows = content["written"] if content["version"] == VERSION else []
    except (ValueError, TypeError, LookupError, RecursionError):
        return []
    return rows if isinstance(rows, list) else []


def _row_covers(row: dict[str, Any], new: dict[str, Any]) -> bool:
    """`WrittenSummary.covers` for stored summaries."""
    try:
        jobs, asked = ([SummaryJob.model_validate(job) for job in each["jobs"]] for each in (row, new))
    except (ValueError, TypeError, LookupError):
        return False
    same = all(row.get(name) == new[name] for name in _IDENTITY if name != "jobs")
    return same and _list_whole(jobs) == _list_whole(asked) and _leaves_out_more(jobs, asked)


def _list_whole(jobs: Sequence[SummaryJob]) -> list[SummaryJob]:
    """The jobs as if they left out no block."""
    return [job.model_copy(update={"leave_out": ()}) for job in jobs]


def _leaves_out_more(jobs: Sequence[SummaryJob], asked: Sequence[SummaryJob]) -> bool:
    """Whether each of the jobs asked for leaves out at least what the written one left out."""
    return all(set(job.leave_out) <= set(ask.leave_out) for job, ask in zip(jobs, asked, strict=True))


def _load_row(row: Any, session: Session) -> WrittenSummary | None:
    try:
        policy = find_policy(row["policy"])
        jobs = tuple(SummaryJob.model_validate(job) for job in row["jobs"])
        checkpoint = Checkpoint.model_validate(row["checkpoint"])
        entries = tuple(session[name] for job in jobs for name in job.entries)
        saved_digests = row["entries_sha256"]
    except (InspectorError, ValueError, TypeError, LookupError):
        return None
    return (
        WrittenSummary(policy, jobs, entries, checkpoint) if _hash_entries(entries) == saved_digests else None
    )


def _hash_entries(entries: Sequence[Entry]) -> str:
    digest = sha256()
    for entry in entries:
        digest.update(dump_lossless(entry.model_dump()).encode("ascii") + b"\n")
    return digest.hexdigest()


def _read_entries(plan: Plan) -> tuple[Entry, ...]:
    return tuple(plan.session[name] for job in plan.jobs for name in job.entries)
