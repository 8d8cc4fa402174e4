"""What the figures share: the look of the workbench as a plotly template, texts that stay texts, and lines.

plotly reads some of HTML and all of TeX in the texts it draws, so whatever a file or a policy says goes
through `plain`.
"""

from __future__ import annotations

from html import escape
from textwrap import wrap
from typing import Any

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


def plain(text: str, limit: int = 80) -> str:
    """A text that plotly draws as it stands: no tag, link, entity or formula in it is read as one.

    >>> plain('<a href="x">$E$</a>')
    '&lt;a href="x"&gt;&#36;E&#36;&lt;/a&gt;'
    """
    return escape(printable(cut_line(text, limit)), quote=False).replace("$", "&#36;").replace("\n", " ")


def say(figure: Any, title: str, source: str, note: str = "") -> None:
    """The title, and in two lines under it what to know and where the numbers come from."""
    words = f"{note} {source}".strip()
    lines = wrap(words, 96, max_lines=2, placeholder=" …", break_on_hyphens=False)
    told = "<br>".join(plain(line, 120) for line in lines)
    figure.update_layout(title={"text": title, "subtitle": {"text": told}})


def add_limit(figure: Any, axis: str, label: str, tokens: float, hue: str) -> None:
    """A line at a number of tokens, named and told exactly."""
    draw = figure.add_vline if axis == "x" else figure.add_hline
    # The two limits are often close to each other: their names stand on either side.
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
