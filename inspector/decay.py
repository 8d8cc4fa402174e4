"""How facts fade over several recorded compactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .trace import FATES, Tier, Trace


class Round(NamedTuple):
    """One of several recorded compactions: how many facts stood before it, and their fates after it.

    `left` counts those that stood before the first compaction and of which anything stands after this one.
    """

    number: int
    entry: str
    tier: Tier
    stood: int
    fates: dict[str, int]
    left: int


def measure_decay(traces: Sequence[Trace]) -> tuple[Round, ...]:
    """How facts fade over several recorded compactions, round by round."""
    cohort = {(t.fact.kind, t.fact.form) for t in traces[0] if t.stood} if traces else set()
    rounds = []
    for number, trace in enumerate(traces, 1):
        standing = [traced for traced in trace if traced.stood]
        tally = Counter[str](traced.fate for traced in standing)
        left = sum(t.fate != "lost" for t in trace if (t.fact.kind, t.fact.form) in cohort)
        name = trace.scene.entry.id if trace.scene.entry is not None else ""
        fates = {fate: tally[fate] for fate in FATES if tally[fate]}
        rounds.append(Round(number, name, trace.scene.tier, len(standing), fates, left))
    return tuple(rounds)
