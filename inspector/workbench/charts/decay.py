"""How facts fade over several compactions in a row, as a plotly figure: a panel for each policy.

The input is a list of `DecayLine`s. The figure can be read without colours: each summariser has its own dash
and mark, and every line ends with its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...errors import FigureError, expect_items
from ...replays.decay import Decay, DecayLine
from ..palette import colour
from .style import load_plotly, make_template, plain, say

STYLES = (
    ("compacted", "solid", "circle"),
    ("dim", "dot", "circle-open"),
    ("user", "dash", "square"),
    ("tool_call", "dashdot", "diamond-open"),
)
"""Colour, dash and mark of each summariser, in the order in which they are first met."""
ACROSS, TALL, WIDE = 5, 210, 196
"""Panels in a row; pixels of one."""


def draw_decay(
    lines: Iterable[Decay | DecayLine], *, title: str = "", note: str = "", dark: bool = False
) -> Any:
    """Draw the share of complete facts after each compaction, with a panel for each policy or kind.

    A summariser has the same line in every panel. Raises `FigureError` for no lines, or without plotly.

    >>> from inspector import compact_rounds, open_demo
    >>> figure = draw_decay([compact_rounds(open_demo(), "claude-code", rounds=2)])
    >>> [(line.name, list(line.x)) for line in figure.data]
    [('stand-in', [0, 1, 2])]
    """
    rounds = expect_items("draw_decay", "lines", lines, Decay, DecayLine)
    drawn_lines = [line.line() if isinstance(line, Decay) else line for line in rounds]
    drawn_lines = [line for line in drawn_lines if line.shares]
    if not drawn_lines:
        raise FigureError("decay", "there are no lines to draw")
    names = list(dict.fromkeys(line.of for line in drawn_lines))
    writers = list(dict.fromkeys(line.by for line in drawn_lines))
    across = min(ACROSS, len(names))
    rows = -(-len(names) // across)
    figure = load_plotly("decay", "subplots").make_subplots(
        rows,
        across,
        shared_yaxes=True,
        horizontal_spacing=0.025,
        vertical_spacing=0.16 if rows > 1 else 0.0,
        subplot_titles=[plain(name, 28) for name in names],
    )
    figure.update_layout(template=make_template(dark), height=120 + TALL * rows, width=70 + WIDE * across)
    for line in drawn_lines:
        at = names.index(line.of)
        first = not any(trace.name == plain(line.by) for trace in figure.data)
        _add_line(figure, line, writers.index(line.by), (at // across + 1, at % across + 1), first, dark)
    _say(figure, drawn_lines, title, note, dark)
    return figure


def _add_line(
    figure: Any, line: DecayLine, writer: int, place: tuple[int, int], named: bool, dark: bool
) -> None:
    hue, dash, mark = STYLES[writer % len(STYLES)]
    last = len(line.shares) - 1
    row, column = place
    tokens = ["", *(f"{count:,} tokens left" for count in line.tokens)]
    figure.add_scatter(
        row=row,
        col=column,
        name=plain(line.by),
        legendgroup=line.by,
        showlegend=named,
        mode="lines+markers+text",
        x=list(range(last + 1)),
        y=list(line.shares),
        customdata=tokens if len(tokens) == last + 1 else [""] * (last + 1),
        text=[""] * last + [f"{line.shares[-1]:.0%}"],
        textposition="top center",
        textfont={"size": 11, "color": colour("text", dark)},
        cliponaxis=False,
        line={"color": colour(hue, dark), "width": 1.75, "dash": dash},
        marker={"symbol": mark, "size": 6, "color": colour(hue, dark)},
        hovertemplate="%{fullData.name}, after %{x}<br>%{y:.1%} complete<br>%{customdata}<extra></extra>",
    )


def _say(figure: Any, lines: Sequence[DecayLine], title: str, note: str, dark: bool) -> None:
    most = max(len(line.shares) for line in lines) - 1
    figure.update_xaxes(dtick=1, range=[-0.25, most + 0.45])
    figure.update_xaxes(title_text="time compacted", col=1)
    figure.update_yaxes(tickformat=".0%", range=[0, 1.06], dtick=0.25, showgrid=True)
    figure.update_yaxes(gridcolor=colour("line", dark), showline=False, ticks="")
    for annotation in figure.layout.annotations:
        annotation.update(font={"size": 12, "color": colour("ink", dark)}, yshift=2)
    say(figure, title or "Facts that are still complete", note)
    figure.update_layout(margin_t=96, margin_b=64, margin_l=44)
