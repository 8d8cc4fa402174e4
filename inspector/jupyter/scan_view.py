"""A scan in a notebook: the figure of all policies, and one click from a mark to the session behind it."""

from __future__ import annotations

from typing import Any

import ipywidgets

from ..corpus.columns import Row
from ..corpus.pareto import draw_pareto, list_drawn
from ..corpus.scan_table import ScanTable
from ..errors import FigureError, InspectorError, expect
from ..files import open_session
from ..policies.paste import read_swept
from ..text import error_sentence, html_text
from ..workbench.charts.style import plain
from ..workbench.palette import colour
from .widget import Workbench

SESSIONS = "sessions"


class ScanView(ipywidgets.VBox):  # type: ignore[misc]
    """Facts kept against tokens left, with the workbench of the clicked session below.

    A click on a policy's mark, or setting `policy`, shows its results one by one; a click on one of them
    opens the session at that point, under that policy. `workbench` is the last one opened, None at first.
    Errors of files are shown in its place. Raises `FigureError` if there is nothing to draw.

    >>> from inspector.corpus.columns import fill_row
    >>> one = {"file": "a.jsonl", "digest": "a", "moment": 1, "policy": "flue", "evidence": "planned"}
    >>> rows = [fill_row(one | {"before": 100, "after": 20, "stood": 10, "kept": 8, "facts": {}})]
    >>> view = ScanView(ScanTable(lambda: rows, 1))  # shown by the last line of a cell
    >>> view.policy, view.figure.data[-1].x, view.figure.data[-1].y
    ('flue', (0.2,), (0.8,))
    """

    def __init__(self, table: ScanTable, *, dark: bool = False) -> None:
        expect("ScanView", table=(table, ScanTable))
        drawn = draw_pareto(table, dark=dark)
        try:
            from plotly.graph_objects import FigureWidget
        except ImportError as error:
            raise FigureError("scan", "a figure that answers clicks needs anywidget and plotly") from error
        self.table = table
        self.workbench: Workbench | None = None
        self._rows: list[Row] = []
        names = [row.policy for row in table.by_policy()]
        self._policies = ipywidgets.Dropdown(options=names, value=names[-1], description="Moments of")
        self._place = ipywidgets.VBox([])
        self.figure = FigureWidget(drawn)
        self.figure.add_scatter(
            x=[],
            y=[],
            mode="markers",
            name=SESSIONS,
            hovertemplate="%{customdata}<extra></extra>",
            marker={"size": 7, "symbol": "circle-open", "color": colour("dim", dark)},
        )
        for trace in self.figure.data:
            if trace.customdata is not None:
                trace.on_click(self._choose)
        self.figure.data[-1].on_click(self._open)
        self._policies.observe(lambda change: self._show(), names="value")
        super().__init__([self._policies, self.figure, self._place])
        self._show()

    @property
    def policy(self) -> str:
        """The policy whose results are drawn. Setting one that was not scanned raises `TraitError`."""
        return str(self._policies.value)

    @policy.setter
    def policy(self, name: str) -> None:
        self._policies.value = name

    def _show(self) -> None:
        read = ("before", "after", "stood", "kept")
        self._rows = [
            row
            for row in self.table
            if row["policy"] == self.policy and None not in (row[name] for name in read) and row["stood"]
        ]
        with self.figure.batch_update():
            dots = self.figure.data[-1]
            dots.x = [row["after"] / row["before"] for row in self._rows]
            dots.y = [row["kept"] / row["stood"] for row in self._rows]
            dots.customdata = [plain(f"{_name_file(row)}, {_name_moment(row)}", 200) for row in self._rows]

    def _choose(self, trace: Any, points: Any, _: Any) -> None:
        if points.point_inds:
            self.policy = list_drawn(self.table, trace.name)[points.point_inds[0]].policy

    def _open(self, _: Any, points: Any, __: Any) -> None:
        if points.point_inds:
            self.open_row(self._rows[points.point_inds[0]])

    def open_row(self, row: Row) -> Workbench | None:
        """Open the session of a row at the point that was measured, with its policy, below the figure.

        Returns None and shows the error if the session cannot be read.
        """
        if self.workbench is not None:
            self.workbench.close()
        self.workbench = None
        try:
            policy, settings = read_swept(row["policy"])
            session = open_session(row["file"], part=row["part"] or None)
            self.workbench = Workbench(session, policy, at=row["at"], settings=settings)
        except (InspectorError, OSError) as error:
            self._place.children = [_show_text(error_sentence(error))]
            return None
        location = f"{row['file']}, {row['part']}" if row["part"] else str(row["file"])
        heading = _show_text(f"{location}, {_name_moment(row)}")
        self._place.children = [heading, self.workbench]
        return self.workbench


def _show_text(text: str) -> ipywidgets.HTML:
    """Show a line of untrusted text. `ipywidgets.Label` would typeset formulas in it."""
    return ipywidgets.HTML(html_text(text)).add_class("widget-label")


def _name_file(row: Row) -> str:
    return str(row["part"] or row["file"]).replace("\\", "/").rpartition("/")[2]


def _name_moment(row: Row) -> str:
    """Describe the point in time of a row for readers."""
    where = f"compaction {row['moment']}" if row["moment"] else "the fullest moment"
    tokens, facts = (
        f"{row['before']:,} → {row['after']:,} tokens",
        f"{row['kept']:,} of {row['stood']:,} facts",
    )
    return f"{where}: {tokens}, {facts}"
