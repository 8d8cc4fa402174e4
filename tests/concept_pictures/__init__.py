"""The guide's pictures of the concepts, drawn from the demo session: `make concepts`, or
`python -m tests.concept_pictures`.

    canvas    texts, bars and lines as SVG, in the widget's colours, light or dark
    demo      the values of the demo session that are drawn
    amounts   bars of tokens: context, policy, plan
    rows      entries and their blocks in a row: block, entry and turn; cut
    turns     what happens along the turns: recorded compaction, fact, replay
    shown     a stored picture, read again

No figure is typed here: what a picture says, the package has counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

from .amounts import draw_context, draw_plan, draw_policy
from .canvas import Canvas
from .demo import Demo
from .rows import draw_blocks, draw_cut
from .turns import draw_fact, draw_recorded, draw_replay

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
IMAGES, PAGE = NOTEBOOKS / "images", NOTEBOOKS / "guide" / "concepts.md"
THEMES = ("light", "dark")

DRAWN: dict[str, Callable[[Canvas, Demo], str]] = {
    "context": draw_context,
    "block": draw_blocks,
    "cut": draw_cut,
    "policy": draw_policy,
    "plan": draw_plan,
    "recorded": draw_recorded,
    "fact": draw_fact,
    "replay": draw_replay,
}
"""What draws each picture, in the order of the page."""


def find_place(name: str, theme: str) -> Path:
    """Where a picture is kept."""
    return IMAGES / f"concept-{name}-{theme}.svg"


def draw(name: str, demo: Demo, theme: str) -> str:
    """A picture as SVG, without a script, a font or a picture of another's."""
    return DRAWN[name](Canvas(dark=theme == "dark"), demo)


def read_label(picture: str) -> str:
    """What is said of a picture to who does not see it."""
    found = re.search(r'aria-label="([^"]*)"', picture)
    return unescape(found[1]) if found else ""


def tell(page: str, name: str, words: str) -> str:
    """The page with these words beside that picture."""
    return re.sub(
        rf'<img alt="[^"]*"(?= src="[^"]*concept-{name}-light)', lambda _: f'<img alt="{words}"', page
    )
