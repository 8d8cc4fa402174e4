"""Simulate a summariser: calls that fail and are repeated, and summaries that are too long.

The input is a plan and the behaviour of the summariser, the result its calls, their tokens, and the length of
the final summary (S0-101 to S0-105).
"""

from __future__ import annotations

from math import ceil
from typing import Literal, NamedTuple, Self

from pydantic import Field, NonNegativeInt, model_validator

from ..errors import EditError
from ..planning.plan import Plan
from ..planning.summary_jobs import TIGHTER, Oversize
from ..policies.harness import Harness
from ..policies.table import SUMMARISED
from ..session.blocks import Value


class SimulatedSummariser(Value):
    """How the summariser behaves: its first `fails` calls fail, and it writes `oversize` times its budget.

    With `grows` each summary is `grows` times as long as the previous one, up to its budget; 0 leaves its
    length alone. One of the two may be given.

    >>> from inspector import read_session
    >>> answer = {"role": "assistant", "content": "It is short."}
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}, answer])
    >>> from inspector import replay
    >>> from inspector.replays import Scenario, ScenarioEvent
    >>> acts = (ScenarioEvent(at="m2", do="compact"),)
    >>> run = replay(session, "claude-code", Scenario(acts=acts, writer=SimulatedSummariser(fails=9)))
    >>> len(run.adopted), [item.adopted for item in run.compactions]
    (0, [False])
    """

    fails: NonNegativeInt | Literal["always"] = 0
    oversize: float = Field(0, ge=0, le=1000)
    grows: float = Field(0, ge=0, le=10)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.oversize and self.grows:
            raise EditError("writer", "grows", "oversize says how long a summary is too; give one of them")
        return self

    def size(self, before: int) -> int:
        """Tokens of a summary after one of `before` tokens; 0 if `grows` is 0.

        >>> [SimulatedSummariser(grows=share).size(10) for share in (0, 0.25, 1.01)]
        [0, 2, 11]
        """
        size = before * self.grows
        return ceil(size) if self.grows > 1 else max(int(size), min(before, 1)) if self.grows else 0


class SimulatedAnswer(NamedTuple):
    """Number of calls, tokens of their input in total, and tokens of the final summary (`written`).

    `failed` calls failed, and `oversize` are answers that were too long. `succeeded` is False if the
    summariser failed for good.
    """

    succeeded: bool = True
    calls: int = 0
    input_tokens: int = 0
    written: int = 0
    failed: int = 0
    oversize: tuple[Oversize, ...] = ()


def ask_summariser(
    plan: Plan, harness: Harness, fails: int, oversize: float, size: int = 0
) -> SimulatedAnswer:
    """Simulate the calls for all jobs of a plan.

    `fails`: how many calls are still to fail. `oversize`: the length of a summary in multiples of its limit;
    0 for the length of the placeholder. `size`: tokens of a summary instead, up to its budget. The input is
    the summarised tokens; instructions are not counted.
    """
    if not plan.summarises:
        return SimulatedAnswer()
    too_long: list[Oversize] = []
    jobs = max(len(plan.jobs), 1)
    share = int(plan.table.tokens[plan.fate == SUMMARISED].sum())
    # Every job is asked, and all of them share the retries.
    failed = min(fails, harness.retries + jobs)
    calls = jobs + min(failed, harness.retries)
    if failed and not harness.may_retry(failed):
        return SimulatedAnswer(False, calls, calls * (share // jobs), failed=failed)
    input_tokens, budget = failed * (share // jobs) + share, find_budget(plan)
    if size and budget:
        size = min(size, budget)
    size = size or plan.summary_tokens
    if oversize and budget:
        limit, attempt = budget, 1
        size = int(limit * oversize)
        while size > budget and attempt <= TIGHTER:
            limit //= 2
            too_long.append(Oversize(size=size, budget=budget, limit=limit))
            calls, input_tokens, attempt, size = (
                calls + jobs,
                input_tokens + share,
                attempt + 1,
                int(limit * oversize),
            )
        if size > budget:
            too_long.append(Oversize(size=size, budget=budget))
            size = budget
    return SimulatedAnswer(True, calls, input_tokens, size, failed, tuple(too_long))


def find_budget(plan: Plan) -> int:
    """Tokens the summary may have in all, at most the window; 0 when only the model's own limit counts."""
    limits = [job.max_tokens for job in plan.jobs]
    budget = sum(limit for limit in limits if limit is not None) if None not in limits else 0
    return min(budget, plan.table.window or budget)
