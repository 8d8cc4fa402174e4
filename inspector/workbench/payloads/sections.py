"""Sums by section, and the words for sections and marks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...planning.plan import Plan
from ...tokens.counter import Longs
from ...tokens.rows import SECTIONS

ALL_SECTIONS = (*SECTIONS, "unexplained")


LABELS = {"compacted": "summary", "tool_call": "tool call", "tool_output": "tool output"}


def label_mark(kind: str, before: int | None, after: int | None) -> str:
    """A recorded compaction in a few words."""
    what = "compaction" if kind == "compact" else "micro-compaction"
    if before is None:
        return what
    return f"{what} at {format_tokens(before)}" + (f" → {format_tokens(after)}" if after is not None else "")


def format_tokens(tokens: int) -> str:
    """A number for people, as `short` of js/src/model/format.ts tells it.

    >>> format_tokens(940), format_tokens(94_949), format_tokens(200_000), format_tokens(1_250_000)
    ('940', '94.9k', '200k', '1.25M')
    """
    if tokens < 1000:
        return str(tokens)
    told, unit = (f"{tokens / 1000:.1f}", "k") if tokens < 999_950 else (f"{tokens / 1e6:.2f}", "M")
    return (told.rstrip("0").rstrip(".") if told.endswith("0") else told) + unit


def sum_before(plan: Plan) -> list[int]:
    """Tokens of the context by section, what is reported beyond the count as the last."""
    live = np.bincount(plan.table.section, plan.table.tokens, len(SECTIONS)).astype(int)
    return [*(live + plan.ledger.head_sections).tolist(), plan.hidden]


def _after(plan: Plan) -> list[int]:
    """The same of what the plan leaves; a summary and a notice count as compacted history."""
    left = np.bincount(plan.table.section, plan.outcome.tokens, len(SECTIONS)).astype(int)
    left[SECTIONS.index("compacted")] += plan.summary_tokens + plan.notice_tokens
    return [*(left + plan.ledger.head_sections).tolist(), plan.hidden]


def sum_sections(plan: Plan) -> tuple[Longs, Longs]:
    """int64[11] each: tokens by section before and after, what is reported beyond the count as the last.

    They add up to `plan.before` and `plan.after`, each with `plan.hidden`. What a summary will be, and a
    notice, count as compacted history.
    """
    head = plan.ledger.head_sections
    before = head + _by_section(plan, plan.table.tokens)
    after = head + _by_section(plan, plan.outcome.tokens)
    after[SECTIONS.index("compacted")] += plan.summary_tokens + plan.notice_tokens
    return np.append(before, plan.hidden), np.append(after, plan.hidden)


def _by_section(plan: Plan, tokens: Any) -> Longs:
    return np.bincount(plan.table.section, tokens, len(SECTIONS)).astype(np.int64)
