"""What the workbench shows, as a picture and a table that need no script: for viewers without widgets.

In go the scene and the plan as `view` draws them, out come SVG and HTML. They hold labels and numbers, no
words of the transcript, and are the same on every run. Hues carry the section and patterns the fate, as on
the screen.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import Any

from .strips import OVERVIEW, WIDTH, Still, draw_bar, draw_key, draw_lanes, draw_overview
from .svg import FONT, STYLE, fill, make_patterns, spell, write
from .view import Picture

_EDGE = 12


class Snapshot:
    """Picture and table of one scene and plan. It stays in a notebook, and needs no widget to be shown."""

    def __init__(self, scene: Picture, plan: Picture) -> None:
        self._scene, self._plan = scene, plan

    @property
    def svg(self) -> str:
        """The picture."""
        return draw_still(self._scene, self._plan)

    @property
    def html(self) -> str:
        """Picture and table."""
        return show_still(self._scene, self._plan)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html}

    def __repr__(self) -> str:
        return f"Snapshot({Still(self._scene, self._plan).sentence})"


def draw_still(scene: Picture, plan: Picture, told: bool = True) -> str:
    """The picture as SVG, light or dark as the viewer is; where styles are stripped it is light.

    `told` writes below it what the plan comes to.
    """
    still = Still(scene, plan)
    parts: list[str] = []
    y = 22
    facts = " · ".join(fact for fact in still.scene["facts"] if not fact.startswith("0 "))
    parts.append(write(0, y, facts, "dim", 11))
    y += 14
    for label, sums in (("before", still.before), ("after", still.after)):
        parts += draw_bar(still, label, sums, y)
        y += 22
    y, keys = draw_key(still, y + 12)
    parts += keys
    parts += draw_overview(still, y)
    y += OVERVIEW + 30
    y, lanes = draw_lanes(still, y)
    parts += lanes
    if told:
        parts.append(write(0, y + 14, still.sentence, "text", 12))
        y += 26
    patterns = "".join(make_patterns(still.sections, [fate for fate, _ in still.count_fates()]))
    alt, wide = spell(f"Compaction plan. {still.sentence}"), WIDTH + 2 * _EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-_EDGE} 0 {wide} {y}" width="{WIDTH}" '
        f'role="img" aria-label="{alt}" font-family="{escape(FONT)}">'
        f"<title>{alt}</title><style>{STYLE}</style><defs>{patterns}</defs>"
        f'<rect x="{-_EDGE}" width="{wide}" height="{y}" {fill("ground")}/>{"".join(parts)}</svg>'
    )


def tabulate(scene: Picture, plan: Picture) -> str:
    """The same figures as an HTML table: tokens by section before and after."""
    still = Still(scene, plan)
    rows = [
        (label, before, after)
        for label, before, after in zip(still.labels, still.before, still.after, strict=True)
        if before or after
    ]
    rows.append(("all", sum(still.before), sum(still.after)))
    cells = "".join(
        f'<tr><th align="left" scope="row">{escape(label)}</th><td align="right">{before:,}</td>'
        f'<td align="right">{after:,}</td></tr>'
        for label, before, after in rows
    )
    return (
        "<table><thead><tr>"
        f'<th align="left">tokens ({escape(still.scene["unit"]["short"])})</th><th align="right">before</th>'
        f'<th align="right">after</th></tr></thead><tbody>{cells}</tbody></table>'
    )


def show_still(scene: Picture, plan: Picture) -> str:
    """Picture and table as one piece of HTML. A viewer that strips pictures still has the table."""
    still = Still(scene, plan)
    data = b64encode(draw_still(scene, plan, told=False).encode("utf-8")).decode("ascii")
    alt = escape(f"Compaction plan. {still.sentence}")
    return (
        f'<div><img src="data:image/svg+xml;base64,{data}" alt="{alt}" width="{WIDTH}">'
        f"<details><summary>{escape(still.sentence)}</summary>{tabulate(scene, plan)}</details></div>"
    )
