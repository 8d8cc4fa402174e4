"""The audit of one compaction, for a replay and for `compact()`: its events in order, with their payloads.

Started; answers that were too long; then, if it succeeds, its stages, reasoning that became text, the prefix
reset, completed and applied (STUD §9, S3-30).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..planning.plan import Plan
from ..planning.summary_jobs import Oversize, find_mute
from ..policies.event_names import NAMES
from ..policies.events import count_retention, write_word
from ..policies.failures import IDLE, FailureCounts
from ..policies.harness import Harness
from ..policies.table import COUNTED, DROPPED, FATES, SUMMARISED, Bytes
from ..policies.trigger import Verdict
from ..session.blocks import REASONING
from ..session.entries import Entry
from ..session.overflow import find_refusal, read_status, read_stop


class CompactionEvent(NamedTuple):
    """An event of a compaction: its kind, tokens of the context before and after it, and its payload."""

    kind: str
    before: int | None
    after: int | None
    data: Mapping[str, Any]


class Work(NamedTuple):
    """Cost of a summary: calls of the summariser, their counted tokens of input and of output together,
    and the usage that the summariser reports, if it does."""

    calls: int = 0
    asked: int = 0
    written: int = 0
    usage_input: int | None = None
    usage_output: int | None = None


class OwnFigures(NamedTuple):
    """The harness's own record of a compaction: its estimates before and after, the number of its
    loop turn, and messages before and after."""

    estimated: int
    estimated_after: int
    loop_turn: int
    messages_before: int
    messages_after: int


def describe_reason(plan: Plan) -> dict[str, Any]:
    """The part of the payload that all events of a compaction share."""
    return {"reason": plan.reason, "willRetry": plan.reason == "overflow"}


def take_off(failed: Entry, before: int) -> Iterator[CompactionEvent]:
    """Yield the events of a failed reply that is taken off the path: its failure and its removal."""
    kind = find_refusal(failed) or ("token_overflow" if read_stop(failed) == "error" else "overran")
    status = None if kind == "overran" else read_status(failed)
    yield CompactionEvent(kind, before, None, {} if status is None else {"status": status})
    yield CompactionEvent("leaf_removed", None, None, {})


def hit_threshold(verdict: Verdict, before: int, window: float) -> CompactionEvent:
    """The event of a context that reached the trigger: its size by the trigger's measure, and the limit."""
    limit, size = verdict.threshold, verdict.tokens
    sizes = {"size": int(size), "limit": None if limit is None else int(limit)}
    named = {"measure": verdict.lead.measure, "window": int(window)}
    return CompactionEvent("threshold_hit", before, None, {**sizes, **named})


def start_compaction(plan: Plan, before: int, estimated: int) -> CompactionEvent:
    """The event before the summariser is called, or the rules are applied."""
    return CompactionEvent("started", before, None, {**describe_reason(plan), "estimated": estimated})


def list_retries(count: int, before: int, limit: int) -> Iterator[CompactionEvent]:
    """Yield an event for each call of the summariser that failed and was made again, of at most `limit`
    (S0-101)."""
    for attempt in range(1, count + 1):
        data = {"error": "SummarizeFailed", "attempt": attempt, "limit": limit}
        yield CompactionEvent("retried", before, None, data)


def fail_compaction(
    plan: Plan, before: int, after: int, calls: int, cause: str = "SummarizeFailed"
) -> Iterator[CompactionEvent]:
    """Yield the events of a compaction whose summariser failed for good (S0-102), after those of its stages.

    `plan` is the part that is applied anyway: the result of its stages, or nothing. The error is the
    context's overflow if the turn ends with it.
    """
    if after != before:
        prefix = {"reason": plan.reason, "prefix": plan.prefix.tokens}
        yield CompactionEvent("prefix_reset", before, after, prefix)
    cause = write_word(cause)
    error = {"error": "ContextOverflow" if ends_turn(plan) else cause, "cause": cause, "calls": calls}
    limit = {"limit": plan.policy.running.retries + 1}
    yield CompactionEvent("failed", before, after, {**describe_reason(plan), **error, **limit})


def ends_turn(plan: Plan) -> bool:
    """Whether the turn ends with an error if the compaction comes to nothing: after a refusal, or if the
    harness does not go on without (S0-102)."""
    return plan.reason == "overflow" or (plan.reason == "auto" and plan.policy.running.fatal)


def stop_growing(
    counts: FailureCounts, harness: Harness, before: int, after: int, summary: int, last: int
) -> Iterator[CompactionEvent]:
    """Yield the event of compactions that make no progress, after one of `before` to `after` tokens whose
    summary has `summary` tokens, the one before it `last` (S0-106). The user's own are no exception."""
    growing = counts.is_growing(harness)
    if growing or counts.idle >= IDLE:
        passes, limit = (counts.grown, harness.growth) if growing else (counts.idle, IDLE)
        data = {"summary": summary, "last": last, "passes": passes, "limit": limit}
        yield CompactionEvent("no_progress", before, after, data)


def run_twice(before: int, core: int, wire: int) -> CompactionEvent:
    """The event of a turn in which the harness removed `core` tokens from the history of `before`, and the
    provider leaves another `wire` out of the request (S0-110)."""
    return CompactionEvent("double_ran", before, before - core - wire, {"core": core, "wire": wire})


def size_by_harness(plan: Plan, before: int, after: int, longer: int = 0) -> tuple[int, int]:
    """The sizes that a harness compares which adopts only a smaller context: by its own estimate, if it
    makes one, else `before` and `after`. The summary is `longer` than that of the plan."""
    measure = plan.policy.trigger.measure
    if measure in (*COUNTED, "messages"):
        return before, after
    return plan.table.weigh(measure, before), plan.left + longer


def list_stages(plan: Plan) -> Iterator[CompactionEvent]:
    """Yield an event for each stage of a plan's policy, those that edit only what is sent among them.

    A stage that runs before every request is reported there, and here only if it changes anything.
    """
    early = {stage.name for stage in plan.policy.stages if plan.policy.is_early(stage)}
    for stage in plan.stages:
        if stage.ran and stage.before == stage.after and stage.name in early:
            continue
        ran = {"stage": write_word(stage.name), "ran": stage.ran}
        yield CompactionEvent("stage", stage.before, stage.after, ran)


def list_oversize(answers: Iterable[Oversize], before: int) -> Iterator[CompactionEvent]:
    """Yield the events of answers over their budget: asked for again, in the end cut (S0-103 to S0-105)."""
    attempt = 0
    for answer in answers:
        attempt += 1
        sizes = {"size": answer.size, "budget": answer.budget}
        limit = {} if answer.limit is None else {"limit": answer.limit}
        yield CompactionEvent("summary_oversize", before, None, {**sizes, "attempt": attempt, **limit})
        if answer.limit is None:
            attempt = 0
            yield CompactionEvent("summary_truncated", before, None, sizes)


def finish_compaction(
    plan: Plan,
    harness: Harness,
    before: int,
    after: int,
    work: Work,
    own: OwnFigures,
    turn_of: Callable[[str], int | None],
    cleared: Mapping[str, int] | None = None,
) -> Iterator[CompactionEvent]:
    """Yield the events of a compaction that succeeded, after those of its stages.

    Args:
        plan: The plan with its written summary, without rules that edit only requests.
        harness: The harness as it runs.
        before: Tokens of the context before it.
        after: Tokens of the context after it.
        work: Cost of the summary.
        own: The harness's own record of it.
        turn_of: Gives the turn of an entry by its id.
        cleared: Blocks of reasoning that the provider clears from the request on the same boundary, by entry.
    """
    rows = np.flatnonzero(plan.table.kind == REASONING)
    fates = _find_reasoning_fates(plan, rows)
    if downgraded := int((fates == SUMMARISED).sum()):
        yield CompactionEvent("reasoning_downgraded", before, after, {"blocks": downgraded})
    figures = own._asdict()
    reset = {name: figures[name] for name in ("estimated", "estimated_after", "loop_turn")}
    prefix = {"reason": plan.reason, "prefix": plan.prefix.tokens}
    yield CompactionEvent("prefix_reset", before, after, {**prefix, **reset})
    payload: dict[str, Any] = {**figures, "deterministic": plan.deterministic}
    payload |= {name: value for name, value in work._asdict().items() if work.calls and value is not None}
    if len(rows):
        payload["retention"] = _count_reasoning(plan, rows, fates, turn_of, cleared or {})
    window = plan.table.window
    filled = {"ratio": after / window} if window else {}
    yield CompactionEvent("completed", before, after, {**describe_reason(plan), **payload, **filled})
    # Some systems have a name for it although no tool compacts.
    if harness.tool is not None or "applied" in NAMES.get(harness.dialect, {}):
        tool = write_word(harness.tool or harness.engine)
        yield CompactionEvent("applied", before, after, {"tool": tool, **filled})


def _find_reasoning_fates(plan: Plan, rows: NDArray[np.intp]) -> Bytes:
    """The fates of reasoning blocks. One that the summary was not written from is dropped: it is sealed or
    empty, or not among those that a checkpoint covers; without a list, only a model is assumed to have read
    it."""
    fates, written = plan.fate[rows], plan.checkpoint
    fates = np.where((fates == SUMMARISED) & find_mute(plan.table)[rows], np.uint8(DROPPED), fates)
    if written is not None:
        read = [str(ref) in written.covers for ref in plan.session.live_refs(rows)]
        unread = ~np.array(read, bool) if written.covers else np.full(len(rows), written.deterministic)
        fates = np.where((fates == SUMMARISED) & unread, np.uint8(DROPPED), fates)
    return fates


def _count_reasoning(
    plan: Plan,
    rows: NDArray[np.intp],
    fates: Bytes,
    turn_of: Callable[[str], int | None],
    cleared: Mapping[str, int],
) -> dict[str, dict[str, int]]:
    """Count the outcomes of reasoning, by the turn of the session that it belongs to (S0-97).

    What stays in the history and leaves the request on the same boundary is the provider's: cleared.
    """
    live, entries = plan.table.live, plan.session.entries
    names = [entries[live.entries[at]].id for at in live.position[rows].tolist()]
    pairs = zip(names, fates.tolist(), strict=True)
    counted = count_retention((turn_of(name) or 0, FATES[fate]) for name, fate in pairs)
    for name, number in cleared.items():
        row = counted.get(turn_of(name) or 0, {})
        moved = min(number, row.get("verbatim", 0))
        if moved:
            row["verbatim"], row["cleared"] = row["verbatim"] - moved, row["cleared"] + moved
    return {f"turn-{turn + 1}": row for turn, row in counted.items()}
