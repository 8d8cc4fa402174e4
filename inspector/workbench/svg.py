"""Parts of an SVG picture in the widget's colours: hue for the section, pattern for the retention.

Every part has its light colour as an attribute and a class that makes it dark in dark viewers, so that a
viewer that strips styles shows the light picture.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from ..tokens.not_in_file import PARTS
from .palette import FACE, HUES, NEUTRALS

GONE = ("dropped", "cleared")
COLOURS = {
    **HUES,
    **NEUTRALS,
    "strong": NEUTRALS["ink"],
    "ink": NEUTRALS["dim"],
    "band": ("#f4f6f8", "#191d22"),
    "area": ("#e2e5e9", "#262b31"),
}
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
FONT = FACE.replace('"', "'")


def spell(text: str) -> str:
    """Text as XML holds it: escaped, and without the characters that no XML may hold.

    >>> spell("<b>\\ufffe")
    '&lt;b&gt;\ufffd'
    """
    return _FORBIDDEN.sub("\ufffd", escape(text))


def write(x: float, y: float, text: str, colour: str, size: int, anchor: str = "start") -> str:
    at = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}"{at} {fill(colour)}>{spell(text)}</text>'


def fill(colour: str) -> str:
    return f'class="f-{colour}" fill="{COLOURS[colour][0]}"'


def stroke(colour: str, width: float = 1) -> str:
    return f'class="s-{colour}" stroke="{COLOURS[colour][0]}" stroke-width="{width:g}"'


PATTERNED = ("summarised", "pointer", "truncated", "cleared", "outside")


def fill_fate(section: str, fate: str) -> str:
    """How a section looks under a fate."""
    section = section if section in COLOURS else "unknown"
    if fate == "dropped":
        return f'fill="none" {stroke("gone")}'
    if fate in PATTERNED:
        return f'fill="url(#{name_pattern(section, fate)})"'
    return fill(section)


def stroke_fate(section: str, fate: str) -> str:
    """The same as a stroke."""
    section = section if section in COLOURS else "unknown"
    if fate in PATTERNED:
        return f'stroke="url(#{name_pattern(section, fate)})"'
    return f'class="s-{section}" stroke="{COLOURS[section][0]}"'


def name_pattern(section: str, fate: str) -> str:
    return f"ci-{'gone' if fate in GONE else section.replace('_', '-')}-{fate}"


def make_patterns(sections: Sequence[str], fates: Sequence[str]) -> Iterator[str]:
    """The patterns of the fates that have one, each in the hues of the sections."""
    names = [section if section in COLOURS else "unknown" for section in (*sections, "ink")]
    drawn = set()
    pairs = [(section, fate) for fate in fates if fate in PATTERNED for section in names]
    for section, fate in [*pairs, ("compacted", "summarised"), *((part, "outside") for part in PARTS)]:
        name = name_pattern(section, fate)
        if name in drawn:
            continue
        drawn.add(name)
        colour = "gone" if fate in GONE else section
        wash = f'<rect width="5" height="5" {fill(colour)} fill-opacity="{WASH[fate]}"/>'
        yield (
            f'<pattern id="{name}" width="5" height="5" patternUnits="userSpaceOnUse">{wash}'
            f"{_MARKS[fate](colour)}</pattern>"
        )


WASH = {"summarised": 0.2, "pointer": 0.1, "truncated": 0.45, "cleared": 0, "outside": 0.25}
SLANT = "M-1 6L6 -1M-1 1L1 -1M4 6L6 4"
_MARKS = {
    "summarised": lambda c: f'<path d="{SLANT}" {stroke(c, 1.2)}/>',
    "truncated": lambda c: f'<path d="{SLANT}" {stroke(c, 0.6)}/>',
    "pointer": lambda c: (
        f'<circle cx="1.25" cy="1.25" r="1" {fill(c)}/><circle cx="3.75" cy="3.75" r="1" {fill(c)}/>'
    ),
    "cleared": lambda c: f'<path d="M0 2.5h5" {stroke(c, 1.1)}/>',
    "outside": lambda c: f'<path d="{SLANT}M-1 -1L6 6" {stroke(c, 0.7)}/>',
}

_DARK = (f".f-{name}{{fill:{dark}}}.s-{name}{{stroke:{dark}}}" for name, (_, dark) in COLOURS.items())
STYLE = "".join(("@media (prefers-color-scheme:dark){", *_DARK, "}"))
"""Style sheet for dark viewers."""
