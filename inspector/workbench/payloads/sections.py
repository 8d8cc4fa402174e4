"""Sums by section, and the words for sections and marks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...planning.plan import Plan
from ...text import plural
from ...tokens.counter import Longs
from ...tokens.not_in_file import PARTS
from ...tokens.rows import SECTIONS
from ..words import label_of
from .base_payload import Payload

ALL_SECTIONS = (*SECTIONS, *PARTS)
"""What is counted, by section, and what is not in the file, by part."""


LABELS = {
    "compacted": "summary",
    "tool_call": "tool call",
    "tool_output": "tool output",
    "system_and_tools": "not in the file: fixed",
    "hidden_reasoning": "not in the file: hidden reasoning",
    "before_file": "not in the file: earlier history",
    "reattached": "not in the file: attached again",
}


def label_mark(kind: str, before: int | None, after: int | None) -> str:
    """A recorded compaction in a few words."""
    what = "compaction" if kind == "compact" else label_of("micro-compaction")
    if before is None:
        return what
    return f"{what} at {format_tokens(before)}" + (f" → {format_tokens(after)}" if after is not None else "")


def format_tokens(tokens: int) -> str:
    """Format a number as `short` of js/src/model/format.ts does.

    >>> format_tokens(940), format_tokens(94_949), format_tokens(200_000), format_tokens(1_250_000)
    ('940', '94.9k', '200k', '1.25M')
    """
    if tokens < 1000:
        return str(tokens)
    number, unit = (f"{tokens / 1000:.1f}", "k") if tokens < 999_950 else (f"{tokens / 1e6:.2f}", "M")
    return (number.rstrip("0").rstrip(".") if number.endswith("0") else number) + unit


class FootPayload(Payload, frozen=True):
    """The total of the blocks and the other parts of a request: in one line, and as exact tokens."""

    words: str
    told: str


def describe_foot(plan: Plan) -> FootPayload:
    """The foot of the list of blocks: parts of the request at this point in time, which add up to
    `plan.before`.

    Texts that are resent with every request, and content that is not in the file, are named if present.

    >>> from inspector import Workbench, open_demo
    >>> describe_foot(Workbench(open_demo()).plan).words
    '332 blocks 141.5k · not in the file 16.8k · total 158.3k'
    """
    blocks = int(plan.table.tokens.sum())
    head = int(plan.ledger.head_sections.sum())
    parts = [(plural(len(plan.table.tokens), "block"), blocks)]
    if head:
        parts.append(("system, tools and provided", head))
    outside = plan.before - blocks - head
    if outside:
        parts.append((label_of("unexplained"), outside))
    parts.append(("total", plan.before))
    return FootPayload(
        words=" · ".join(f"{name} {format_tokens(tokens)}" for name, tokens in parts),
        told=", ".join(f"{name}: {plural(tokens, 'token')}" for name, tokens in parts),
    )


def sum_before(plan: Plan) -> list[int]:
    """Tokens of the request by section, then by part for content that is not in the file."""
    before: list[int] = sum_sections(plan)[0].tolist()
    return before


def sum_after(plan: Plan) -> list[int]:
    """The same of what the plan leaves; a summary counts as compacted history."""
    after: list[int] = sum_sections(plan)[1].tolist()
    return after


def sum_sections(plan: Plan) -> tuple[Longs, Longs]:
    """int64[14] each: tokens before and after, by section, then by part that is not in the file.

    They add up to `plan.before` and `plan.after`. A planned summary counts as compacted
    history, a notice or what is attached again as a message of its role.
    """
    head = plan.ledger.head_sections
    before = head + _by_section(plan, plan.table.tokens)
    after = head + _by_section(plan, plan.outcome.tokens)
    after[SECTIONS.index("compacted")] += plan.summary_tokens
    if plan.notice is not None and plan.place is not None:
        after += plan.notice.sections[plan.place]
    parts = [part.tokens for part in plan.outside.parts.values()]
    return np.append(before, parts), even_out(np.append(after, list(plan.parts_after.values())))


def even_out(sums: Longs) -> Longs:
    """The same sums by section and part, int64[..., 14], with none below 0 and the same total.

    A provider may report less after a compaction than the parts explain. What is missing is taken from the
    parts that are not in the file, then from all, in proportion.

    >>> even_out(np.array([6, 0, 0, 8, 8, 0, 0, 0, 0, 0, 290, -166, 0, 0])).tolist()[-4:]
    [124, 0, 0, 0]
    """
    out = np.maximum(sums, 0)
    missing = (out - sums).sum(axis=-1, keepdims=True)
    for first in (len(SECTIONS), 0):
        reached = np.cumsum(out[..., first:], axis=-1)
        added = np.minimum(missing, reached[..., -1:])
        share = np.rint(reached * (added / np.maximum(reached[..., -1:], 1))).astype(np.int64)
        out[..., first:] -= np.diff(share, axis=-1, prepend=0)
        missing = missing - added
    return np.asarray(out, np.int64)


def _by_section(plan: Plan, tokens: Any) -> Longs:
    return np.bincount(plan.table.section, tokens, len(SECTIONS)).astype(np.int64)
