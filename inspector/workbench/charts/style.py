"""Shared parts of the figures: the workbench's look as a plotly template, escaped texts, and lines.

plotly interprets some HTML and all TeX in texts, so every text from a file or a policy goes through `plain`.
"""

from __future__ import annotations

from html import escape
from importlib import import_module
from textwrap import wrap
from typing import Any

from ...errors import FigureError
from ...redaction.cut import cut_line
from ...text import printable
from ..palette import FACE, MONO, colour

WIDE = 0.55
"""Share of a row that its bar takes."""


def make_template(dark: bool = False) -> dict[str, Any]:
    """The look of the workbench as a plotly template, for charts of one's own too.

    >>> make_template()["layout"]["colorway"][:2]
    ['#2763ba', '#5aade0']
    """
    words, dim, line = (colour(name, dark) for name in ("text", "dim", "line"))
    axis = {
        "showgrid": False,
        "zeroline": False,
        "showline": True,
        "linecolor": line,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": line,
        "tickfont": {"family": MONO, "size": 11, "color": dim},
        "title": {"font": {"size": 12, "color": dim}, "standoff": 8},
        "automargin": True,
    }
    hues = ("user", "assistant", "tool_output", "tool_call", "reasoning", "compacted", "system")
    layout = {
        "font": {"family": FACE, "size": 12, "color": words},
        "title": {
            "x": 0,
            "xref": "container",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 12, "l": 8},
            "font": {"size": 14, "color": colour("ink", dark)},
            "subtitle": {"font": {"size": 11, "color": dim}},
        },
        "paper_bgcolor": colour("ground", dark),
        "plot_bgcolor": colour("ground", dark),
        "colorway": [colour(name, dark) for name in hues],
        "margin": {"l": 8, "r": 16, "t": 82, "b": 8},
        "xaxis": axis,
        "yaxis": axis,
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 0,
            "yref": "container",
            "yanchor": "bottom",
            "font": {"size": 11},
        },
        "hoverlabel": {
            "bgcolor": colour("ground", dark),
            "bordercolor": line,
            "font": {"family": MONO, "size": 11, "color": words},
            "align": "left",
        },
        "bargap": 1 - WIDE,
        "separators": ".,",
    }
    return {"layout": layout}


def load_plotly(figure: str, module: str = "graph_objects") -> Any:
    """Import a module of plotly. Raises `FigureError` with the name of the figure if it is not installed."""
    try:
        return import_module(f"plotly.{module}")
    except ImportError as error:
        reason = "it is drawn by plotly, which is not installed (pip install 'compaction-inspector[lab]')"
        raise FigureError(figure, reason) from error


def plain(text: str, limit: int = 80) -> str:
    """Escape a text for plotly, so that it reads no tag, link, entity or formula in it.

    >>> plain('<a href="x">$E$</a>')
    '&lt;a href="x"&gt;&#36;E&#36;&lt;/a&gt;'
    """
    return escape(printable(cut_line(text, limit)), quote=False).replace("$", "&#36;").replace("\n", " ")


def say(figure: Any, title: str, source: str, note: str = "") -> None:
    """Set the title, and two lines below it with notes and the source of the numbers."""
    words = f"{note} {source}".strip()
    lines = wrap(words, 96, max_lines=2, placeholder=" …", break_on_hyphens=False)
    text = "<br>".join(plain(line, 120) for line in lines)
    figure.update_layout(title={"text": title, "subtitle": {"text": text}})


def add_limit(figure: Any, axis: str, label: str, tokens: float, hue: str) -> None:
    """Draw a line at a number of tokens, with its name and the exact number."""
    draw = figure.add_vline if axis == "x" else figure.add_hline
    # The two limits are often close together, so their labels are on different sides.
    beside = {"x": ("top right", "top left"), "y": ("top right", "bottom right")}[axis]
    draw(
        tokens,
        line={"color": hue, "width": 1, "dash": "dot"},
        annotation={
            "text": f"{label} {tokens:,.0f}",
            "font": {"size": 11, "color": hue},
            "hovertext": f"{label}: {tokens:,.0f} tokens",
        },
        annotation_position=beside[label == "fires"],
    )
