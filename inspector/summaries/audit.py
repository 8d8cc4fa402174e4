"""The audit of one compaction, for a replay and for `compact()`: its events in order, with their payloads.

Started; answers that were too long; then, if it succeeds, its stages, reasoning that became text, the prefix
reset, completed and applied (STUD §9, S3-30).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..planning.plan import Plan
from ..planning.summary_jobs import Oversize
from ..policies.event_names import NAMES
from ..policies.events import count_retention, write_word
from ..policies.harness import Harness
from ..policies.table import FATES, SUMMARISED
from ..session.blocks import KINDS

REASONING = KINDS.index("reasoning")


class CompactionEvent(NamedTuple):
    """An event of a compaction: its kind, tokens of the context before and after it, and its payload."""

    kind: str
    before: int | None
    after: int | None
    data: Mapping[str, Any]


class Work(NamedTuple):
    """What a summary took: calls of the summariser, tokens asked by them together and tokens written, as
    counted, and the usage that the summariser reports, if it does."""

    calls: int = 0
    asked: int = 0
    written: int = 0
    usage_input: int | None = None
    usage_output: int | None = None


class OwnFigures(NamedTuple):
    """What the harness's own record says of a compaction: its estimates before and after, the number of its
    loop turn, and messages before and after."""

    estimated: int
    estimated_after: int
    loop_turn: int
    messages_before: int
    messages_after: int


def describe_reason(plan: Plan) -> dict[str, Any]:
    """The part of the payload that all events of a compaction share."""
    return {"reason": plan.reason, "willRetry": plan.reason == "overflow"}


def start_compaction(plan: Plan, before: int, estimated: int) -> CompactionEvent:
    """The event before the summariser is called, or the rules are applied."""
    return CompactionEvent("started", before, None, {**describe_reason(plan), "estimated": estimated})


def fail_compaction(plan: Plan, before: int, calls: int, cause: str = "SummarizeFailed") -> CompactionEvent:
    """The event of a compaction that failed for good; the context stays as it was (S0-102)."""
    error = {"error": "ContextOverflow", "cause": write_word(cause), "calls": calls}
    return CompactionEvent("failed", before, before, {**describe_reason(plan), **error})


def list_oversize(answers: Iterable[Oversize]) -> Iterator[CompactionEvent]:
    """Yield the events of answers over their budget: asked for again, in the end cut (S0-103 to S0-105)."""
    attempt = 0
    for answer in answers:
        attempt += 1
        sizes = {"size": answer.size, "budget": answer.budget}
        limit = {} if answer.limit is None else {"limit": answer.limit}
        yield CompactionEvent("summary_oversize", None, None, {**sizes, "attempt": attempt, **limit})
        if answer.limit is None:
            attempt = 0
            yield CompactionEvent("summary_truncated", None, None, sizes)


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
    """Yield the events of a compaction that succeeded.

    Args:
        plan: The plan, without rules that edit only requests.
        harness: The harness as it runs.
        before: Tokens of the context before it.
        after: Tokens of the context after it.
        work: What the summary took.
        own: What the harness's own record says of it.
        turn_of: Gives the turn of an entry by its id.
        cleared: Blocks of reasoning that the provider clears from the request on the same boundary, by entry.
    """
    for stage in plan.stages:
        ran = {"stage": write_word(stage.name), "ran": stage.ran}
        yield CompactionEvent("stage", stage.before, stage.after, ran)
    reasoning = plan.table.kind == REASONING
    if downgraded := int((reasoning & (plan.fate == SUMMARISED)).sum()):
        yield CompactionEvent("reasoning_downgraded", None, None, {"blocks": downgraded})
    figures = own._asdict()
    reset = {name: figures[name] for name in ("estimated", "estimated_after", "loop_turn")}
    prefix = {"reason": plan.reason, "prefix": plan.prefix.tokens}
    yield CompactionEvent("prefix_reset", before, after, {**prefix, **reset})
    payload: dict[str, Any] = {**figures, "deterministic": plan.deterministic}
    payload |= {name: each for name, each in work._asdict().items() if work.calls and each is not None}
    if reasoning.any():
        payload["retention"] = _count_reasoning(plan, turn_of, cleared or {})
    window = plan.table.window
    filled = {"ratio": after / window} if window else {}
    yield CompactionEvent("completed", before, after, {**describe_reason(plan), **payload, **filled})
    # Some systems have a name for it although no tool compacts.
    if harness.tool is not None or "applied" in NAMES.get(harness.dialect, {}):
        tool = write_word(harness.tool or harness.engine)
        yield CompactionEvent("applied", before, after, {"tool": tool, **filled})


def _count_reasoning(
    plan: Plan, turn_of: Callable[[str], int | None], cleared: Mapping[str, int]
) -> dict[str, dict[str, int]]:
    """What became of reasoning, by the turn of the session that it belongs to (S0-97).

    What stays in the history and leaves the request on the same boundary is the provider's: cleared.
    """
    live, entries = plan.table.live, plan.session.entries
    rows = np.flatnonzero(plan.table.kind == REASONING)
    names = [entries[live.entries[at]].id for at in live.position[rows].tolist()]
    fates = [FATES[code] for code in plan.fate[rows].tolist()]
    counted = count_retention((turn_of(name) or 0, fate) for name, fate in zip(names, fates, strict=True))
    for name, number in cleared.items():
        row = counted.get(turn_of(name) or 0, {})
        moved = min(number, row.get("verbatim", 0))
        if moved:
            row["verbatim"], row["cleared"] = row["verbatim"] - moved, row["cleared"] + moved
    return {f"turn-{turn + 1}": row for turn, row in counted.items()}
