"""How asking a summariser goes: calls that fail and are made again, summaries that come out too long.

In go a plan and how the summariser behaves, out comes what was asked, what stands in the end, and what there
is to tell of it (S0-101 to S0-105).
"""

from __future__ import annotations

from typing import NamedTuple

from ..planning.plan import Plan
from ..planning.summary_jobs import TIGHTER, Oversize
from ..policies.harness import Harness
from ..policies.table import SUMMARISED
from .failures import FailureCounts


class SimulatedAnswer(NamedTuple):
    """Calls made, tokens asked by them together, and of the final summary.

    `retried` calls failed and were repeated, and `oversize` are answers that were too long. `stands` is
    False when the summariser failed for good.
    """

    counts: FailureCounts
    fails: int
    stands: bool = True
    calls: int = 0
    asked: int = 0
    written: int = 0
    retried: int = 0
    oversize: tuple[Oversize, ...] = ()


def ask_summariser(
    plan: Plan, harness: Harness, counts: FailureCounts, fails: int, oversize: float, least: int = 0
) -> SimulatedAnswer:
    """Ask for everything the plan needs written up.

    `fails`: how many calls are still to fail. `oversize`: how many times its limit a summary is long; 0 for
    as long as the stand-in. `least`: tokens that a summary has at least, up to its budget. What is asked
    are the tokens written up; instructions are not counted.
    """
    if not plan.summarises:
        return SimulatedAnswer(counts, fails)
    too_long: list[Oversize] = []
    counts, jobs = counts.start(), max(len(plan.jobs), 1)
    share = int(plan.table.tokens[plan.fate == SUMMARISED].sum())
    calls = asked = 0
    while fails > 0:
        fails, calls, asked, counts = fails - 1, calls + 1, asked + share // jobs, counts.miss()
        if not counts.may_retry(harness):
            return SimulatedAnswer(counts, fails, False, calls, asked, retried=calls - 1)
    retried = calls
    calls, asked, size = calls + jobs, asked + share, max(plan.summary_tokens, least)
    budget = find_budget(plan)
    if least and budget:
        size = max(min(size, budget), plan.summary_tokens)
    if oversize and budget:
        limit, attempt = budget, 1
        size = int(limit * oversize)
        while size > budget and attempt <= TIGHTER:
            limit //= 2
            too_long.append(Oversize(size=size, budget=budget, limit=limit))
            calls, asked, attempt, size = calls + jobs, asked + share, attempt + 1, int(limit * oversize)
        if size > budget:
            too_long.append(Oversize(size=size, budget=budget))
            size = budget
    return SimulatedAnswer(counts, fails, True, calls, asked, size, retried, tuple(too_long))


def find_budget(plan: Plan) -> int:
    """Tokens the summary may have in all; 0 when only the model's own limit counts."""
    limits = [job.max_tokens for job in plan.jobs]
    return sum(limit for limit in limits if limit is not None) if None not in limits else 0
