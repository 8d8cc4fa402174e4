"""A plotly figure of the tokens that each policy leaves and the facts that it keeps over many sessions.

Few tokens left are on the left, many facts kept at the top. A line joins the policies that no other one beats
in both. The bars are 95 % of the draws of whole sessions.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from ..errors import FigureError, expect
from ..text import plural
from ..workbench.charts.style import load_plotly, make_template, plain
from ..workbench.palette import colour
from .scan_table import PolicyRow, ScanTable

HIGH, WIDE = 440, 760


def draw_pareto(table: ScanTable, *, dark: bool = False) -> Any:
    """Draw facts kept against tokens left, a mark for each policy; the recorded one is a diamond.

    Raises `FigureError` if the table has no facts, or plotly is not installed.

    >>> from inspector import open_demo
    >>> from inspector.corpus.columns import fill_row
    >>> from inspector.corpus.measure import measure_session
    >>> from inspector.policies.registry import POLICIES
    >>> rows = [fill_row(row) for row in measure_session(open_demo(), POLICIES[:3])]
    >>> [trace.name for trace in draw_pareto(ScanTable(lambda: rows, 1)).data]
    ['no other policy beats it in both', 'planned', 'recorded']
    """
    expect("draw_pareto", table=(table, ScanTable))
    rows = list_drawn(table)
    if not rows:
        raise FigureError("pareto", "no row of the table has facts and tokens")
    figure = load_plotly("pareto").Figure()
    front = sorted((_point(row) for row in rows if row.front), key=itemgetter(0))
    if front:
        x, y = zip(*front, strict=True)
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": colour("line", dark), "width": 2},
            name="no other policy beats it in both",
            hoverinfo="skip",
        )
    for evidence, hue, mark in (("planned", "user", "circle"), ("recorded", "compacted", "diamond")):
        group = [row for row in rows if row.evidence == evidence]
        if group:
            figure.add_scatter(**_marks(group, evidence, colour(hue, dark), colour("line", dark), mark))
    many = plural(max(row.sessions for row in rows), "session")
    title = {"text": f"Facts kept against tokens left, over {many}"}
    figure.update_layout(template=make_template(dark), height=HIGH, width=WIDE, title=title)
    figure.update_xaxes(title={"text": "tokens left, share of those before"}, tickformat=".0%")
    figure.update_yaxes(title={"text": "facts kept in full"}, tickformat=".0%", rangemode="tozero")
    return figure


def list_drawn(table: ScanTable, evidence: str = "") -> list[PolicyRow]:
    """Return the policies with a mark, of one kind of evidence or of all, in the order of the marks."""
    rows = [row for row in table.by_policy() if row.kept.share is not None and row.left.share is not None]
    return [row for row in rows if evidence in ("", row.evidence)]


def _point(row: PolicyRow) -> tuple[float, float]:
    return row.left.share or 0.0, row.kept.share or 0.0


def _marks(rows: list[PolicyRow], name: str, hue: str, dim: str, mark: str) -> dict[str, Any]:
    # Overlapping names would be unreadable: only the name of the highest policy of a cluster is shown.
    shown: dict[str, tuple[float, float]] = {}
    for row in sorted(rows, key=lambda row: (not row.front, -_point(row)[1])):
        size, facts = _point(row)
        if all(abs(size - x) > 0.09 or abs(facts - y) > 0.045 for x, y in shown.values()):
            shown[row.policy] = size, facts
    x, y = zip(*map(_point, rows), strict=True)
    return {
        "x": x,
        "y": y,
        "mode": "markers+text",
        "name": name,
        "text": [plain(row.policy, 28) if row.policy in shown else "" for row in rows],
        "textposition": "top center",
        "textfont": {"size": 11},
        "marker": {"size": 9, "symbol": mark, "color": hue},
        "error_x": _bars([row.left for row in rows], dim),
        "error_y": _bars([row.kept for row in rows], dim),
        "customdata": [[plain(row.policy), row.sessions, row.compactions] for row in rows],
        "hovertemplate": (
            "%{customdata[0]}<br>tokens left %{x:.1%}<br>facts kept %{y:.1%}"
            "<br>%{customdata[1]:,} sessions, %{customdata[2]:,} compactions<extra></extra>"
        ),
    }


def _bars(intervals: list[Any], hue: str) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if interval.high is None else interval.high - interval.share for interval in intervals],
        "arrayminus": [
            0 if interval.low is None else interval.share - interval.low for interval in intervals
        ],
        "thickness": 1,
        "width": 3,
        "color": hue,
    }
