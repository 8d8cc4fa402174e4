"""The sawtooth: a run's context at every step as it was and as the policy leaves it, as a plotly figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...policies.table import COUNTED
from ...replays.run import Run
from ...text import plural
from ...tokens.counter import Longs
from ..palette import colour, fade
from ..payloads.replay import REASONS
from .style import add_limit, plain, say

POINTS, MARKS = 800, 190
"""Maximum points of a line and marks of each kind of compaction: below 2,000 in total."""


def draw_sawtooth(figure: Any, run: Run, dark: bool) -> None:
    """Draw the context at every step as recorded and under the policy, with the compactions."""
    size = -(-len(run) // POINTS) or 1
    note = f"The fullest of every {size:,} steps is drawn." if size > 1 else ""
    lines: Sequence[tuple[str, Longs, str, dict[str, Any]]] = (
        (
            "recorded",
            run.recorded,
            "as reported, counted since",
            {"color": colour("faint", dark), "width": 1},
        ),
        ("replayed", run.context, "replayed", {"color": colour("user", dark), "width": 1.5}),
    )
    for name, tokens, source, line in lines:
        steps = find_fullest(tokens, size)
        figure.add_scatter(
            name=name,
            mode="lines",
            x=steps,
            y=tokens[steps],
            customdata=run.turn[steps] + 1,
            line=line,
            hovertemplate=f"turn %{{customdata}}, step %{{x}}<br>%{{y:,}} tokens, {source}<extra></extra>",
        )
    hidden = _mark_compactions(figure, run, dark)
    if hidden:
        note += f" {hidden:,} more compactions are not marked."
    if run.window:
        add_limit(figure, "y", "window", run.window, colour("dim", dark))
    if run.threshold > 0 and run.policy.trigger.measure in COUNTED:
        add_limit(figure, "y", "fires", run.threshold, colour("bad", dark))
    times = plural(len(run.adopted), "compaction")
    say(figure, f"{plain(run.policy.name)}: {times}, fullest {run.peak:,} tokens", run.source, note)
    figure.update_layout(margin_b=40)
    figure.update_xaxes(title_text="step", tickformat=",d", rangemode="tozero")
    figure.update_yaxes(tickformat="~s", rangemode="tozero")


def find_fullest(tokens: Longs, size: int) -> Longs:
    """int64: of every `size` steps the one with the most tokens, the first of equals; and the last of all.

    >>> find_fullest(np.array([1, 5, 2, 2, 9]), 2).tolist()
    [1, 2, 4]
    """
    if not len(tokens):
        return np.zeros(0, np.int64)
    starts = np.arange(0, len(tokens), size)
    padded = np.full(len(starts) * size, -1, np.int64)
    padded[: len(tokens)] = tokens
    steps = starts + padded.reshape(-1, size).argmax(axis=1)
    return np.unique(np.append(steps, len(tokens) - 1)).astype(np.int64)


def _mark_compactions(figure: Any, run: Run, dark: bool) -> int:
    """Mark the compactions of the run, each with its drop, and those that the file records. Return how many
    are not marked."""
    adopted = run.adopted[:MARKS]
    drop = {
        "type": "data",
        "symmetric": False,
        "array": [0] * len(adopted),
        "arrayminus": [max(item.before - item.after, 0) for item in adopted],
        "color": fade("compacted", 0.6, dark),
        "thickness": 1,
        "width": 0,
    }
    look = {"symbol": "triangle-down", "size": 8, "color": colour("compacted", dark)}
    words = [f"{REASONS[item.reason]}: {item.before:,} → {item.after:,} tokens" for item in adopted]
    marks = [(item.step, item.turn, item.before, text) for item, text in zip(adopted, words, strict=True)]
    _add_marks(figure, "compacted", marks, look, error_y=drop)
    recorded = [
        (mark.step, mark.turn, mark.tokens, f"{mark.tokens:,} tokens in the context")
        for mark in run.against[:MARKS]
    ]
    look = {"symbol": "diamond-open", "size": 7, "color": colour("dim", dark), "line": {"width": 1.2}}
    _add_marks(figure, "recorded compaction", recorded, look)
    return len(run.adopted) + len(run.against) - len(adopted) - len(recorded)


def _add_marks(
    figure: Any, name: str, marks: list[tuple[int, int, int, str]], look: dict[str, Any], **more: Any
) -> None:
    """Add marks, each of a step, a turn, tokens and words; nothing if there are none."""
    if marks:
        figure.add_scatter(
            name=name,
            mode="markers",
            x=[step for step, _, _, _ in marks],
            y=[tokens for _, _, tokens, _ in marks],
            customdata=[f"turn {turn + 1}, step {step}<br>{words}" for step, turn, _, words in marks],
            hovertemplate="%{customdata}<extra></extra>",
            marker=look,
            **more,
        )
