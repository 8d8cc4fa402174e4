"""Texts, bars and lines as SVG, in the widget's colours, light or dark."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from inspector.tokens.outside import PARTS
from inspector.workbench.palette import colour
from inspector.workbench.svg import FONT, SLANT, WASH, spell

WIDTH = 720
SIZE = 12.5
"""Of the letters, in pixels; none are smaller."""
MEAN = 7.1
"""The mean width of a character of that size, in pixels, in the widest of the fonts."""


class KeyItem(NamedTuple):
    """An item of a key: the colour of its square, what it is, and its figures."""

    hue: str
    name: str
    figures: str
    hatched: bool = False


class Canvas:
    """A picture in the making. `y` grows downwards; colours are names of the palette."""

    def __init__(self, dark: bool) -> None:
        self.dark = dark
        self.out: list[str] = []
        self.hatches: dict[str, str] = {}

    def ink(self, name: str, hatched: bool = False) -> str:
        """A colour as SVG has it; hatched as the widget has it, crossed where it is not in the file."""
        hue = colour(name, self.dark)
        if not hatched:
            return hue
        outside = name in PARTS
        path, width = (f"{SLANT}M-1 -1L6 6", 0.7) if outside else (SLANT, 1.2)
        slant = f'<path d="{path}" stroke="{hue}" stroke-width="{width}"/>'
        opacity = WASH["outside" if outside else "summarised"]
        wash = f'<rect width="5" height="5" fill="{hue}" fill-opacity="{opacity}"/>'
        size = 'width="5" height="5" patternUnits="userSpaceOnUse"'
        self.hatches[name] = f'<pattern id="hatch-{name}" {size}>{wash}{slant}</pattern>'
        return f"url(#hatch-{name})"

    def write(
        self, x: float, y: float, words: str, ink: str = "text", anchor: str = "start", bold: bool = False
    ) -> None:
        """A line of text whose letters stand on `y`."""
        at = "" if anchor == "start" else f' text-anchor="{anchor}"'
        weight = ' font-weight="600"' if bold else ""
        self.out.append(
            f'<text x="{x:.1f}" y="{y:g}"{at}{weight} fill="{self.ink(ink)}">{spell(words)}</text>'
        )

    def paragraph(self, x: float, y: float, words: str, width: float, ink: str = "text") -> float:
        """Lines of text; gives the `y` of the last."""
        for number, line in enumerate(lines := textwrap.wrap(words, int(width / MEAN))):
            self.write(x, y + 17 * number, line, ink)
        return y + 17 * (len(lines) - 1)

    def bar(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        hue: str,
        hatched: bool = False,
        faint: bool = False,
    ) -> None:
        """A filled box."""
        look = f'fill="{self.ink(hue, hatched)}"' + (' fill-opacity="0.4"' if faint else "")
        self.out.append(f'<rect x="{x:.2f}" y="{y:g}" width="{width:.2f}" height="{height:g}" {look}/>')

    def frame(
        self, x: float, y: float, width: float, height: float, ink: str = "faint", dashed: bool = False
    ) -> None:
        """An outline."""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        size = f'x="{x:.2f}" y="{y:g}" width="{width:.2f}" height="{height:g}" rx="3"'
        self.out.append(f'<rect {size} fill="none" stroke="{self.ink(ink)}"{dash}/>')

    def line(self, path: str, ink: str = "faint", width: float = 1, dashed: bool = False) -> None:
        """A line along an SVG path."""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        look = f'fill="none" stroke="{self.ink(ink)}" stroke-width="{width:g}" stroke-linejoin="round"'
        self.out.append(f'<path d="{path}" {look}{dash}/>')

    def shape(self, path: str, ink: str, faint: float = 1) -> None:
        """A filled shape along an SVG path."""
        thin = f' fill-opacity="{faint:g}"' if faint < 1 else ""
        self.out.append(f'<path d="{path}" fill="{self.ink(ink)}"{thin}/>')

    def dot(self, x: float, y: float, hue: str) -> None:
        """A round mark."""
        self.out.append(f'<circle cx="{x:.1f}" cy="{y:g}" r="4" fill="{self.ink(hue)}"/>')

    def diamond(self, x: float, y: float, filled: bool, ink: str = "ink") -> None:
        """◆ or ◇, as the workbench marks what a file records."""
        path = f"M{x:.1f} {y - 5:g}l5 5l-5 5l-5 -5Z"
        self.shape(path, ink) if filled else self.line(path, ink, 1.4)

    def brace(self, left: float, right: float, y: float, up: bool = False, ink: str = "dim") -> None:
        """A bracket over what lies between, or under it."""
        foot = 6 if up else -6
        self.line(f"M{left:.1f} {y + foot:g}V{y:g}H{right:.1f}V{y + foot:g}", ink, 1.2)

    def sections(
        self, x: float, y: float, height: float, scale: float, parts: Iterable[tuple[str, int, bool]]
    ) -> float:
        """A bar of parts (colour, tokens, whether hatched), `scale` pixels a token; gives where it ends."""
        for hue, tokens, hatched in parts:
            if tokens:
                self.bar(x, y, tokens * scale, height, hue, hatched)
            x += tokens * scale
        return x

    def key(self, y: float, items: Sequence[KeyItem], columns: int) -> float:
        """Squares with what they are and their figures below; gives the `y` of the last line."""
        for number, item in enumerate(items):
            x, top = number % columns * (WIDTH / columns), y + number // columns * 40
            self.bar(x, top - 10, 11, 11, item.hue, item.hatched)
            self.write(x + 17, top, item.name, "dim")
            self.write(x + 17, top + 17, item.figures)
        return y + (len(items) - 1) // columns * 40 + 17

    def finish(self, height: float, sentence: str) -> str:
        """The picture; `sentence` says what is seen, to who does not see it."""
        size = f'viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}"'
        defs = f"<defs>{''.join(self.hatches.values())}</defs>" if self.hatches else ""
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{spell(sentence)}"'
        face = f'font-family="{FONT}" font-size="{SIZE:g}"'
        return "\n".join([f"{head} {face}>{defs}", *self.out, "</svg>\n"])
