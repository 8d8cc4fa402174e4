"""The figure of `make decay`: a panel for each policy, a line for each summariser, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.replays.decay import DecayLine
from inspector.workbench.palette import colour
from inspector.workbench.svg import FONT, spell

WIDTH, TALL, TOP, LEFT, BOTTOM = 1000, 190, 92, 62, 46
GAP = 26
STYLES = {"extractive": ("compacted", "", True), "stand-in": ("dim", "2 4", False)}
"""Colour, dashes, and whether marks are filled: the lines can be told apart without their colours."""


def dot(x: float, y: float, fill: str, line: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{fill}" stroke="{line}" stroke-width="1.25"/>'


def draw_fading(lines: Sequence[DecayLine], dark: bool) -> str:
    """The picture; lines of one policy share a panel."""
    names = list(dict.fromkeys(line.of for line in lines))
    most = max(len(line.shares) for line in lines) - 1
    wide = (WIDTH - LEFT - 30 - GAP * (len(names) - 1)) / len(names)
    ink, dim, rule = (colour(name, dark) for name in ("ink", "dim", "line"))
    height = TOP + TALL + BOTTOM

    def text(x: float, y: float, words: str, hue: str = ink, size: int = 12, anchor: str = "start") -> str:
        return (
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{hue}" font-size="{size}" text-anchor="{anchor}">'
            f"{spell(words)}</text>"
        )

    def place(at: int, number: int, share: float) -> tuple[float, float]:
        x = LEFT + at * (wide + GAP) + 8 + (wide - 34) * number / most
        return x, TOP + TALL * (1 - share)

    def path(at: int, line: DecayLine) -> Iterator[str]:
        name, dash, filled = STYLES[line.by]
        hue = colour(name, dark)
        spots = [place(at, number, share) for number, share in enumerate(line.shares)]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        yield f'<polyline points="{points}" fill="none" stroke="{hue}" stroke-width="1.75"{dashes}/>'
        fill = hue if filled else colour("ground", dark)
        for x, y in spots:
            yield dot(x, y, fill, hue)
        x, y = spots[-1]
        yield text(x + 6, y + 4, f"{line.shares[-1]:.0%}", ink, 11)

    def panel(at: int, name: str) -> Iterator[str]:
        begin = LEFT + at * (wide + GAP)
        yield text(begin, TOP - 12, name)
        for quarter in range(5):
            y = TOP + TALL * quarter / 4
            yield f'<path d="M{begin:.1f} {y:.1f}H{begin + wide - 18:.1f}" stroke="{rule}"/>'
            if not at:
                yield text(LEFT - 8, y + 4, f"{1 - quarter / 4:.0%}", dim, 11, "end")
        for number in range(most + 1):
            yield text(place(at, number, 0)[0], TOP + TALL + 18, str(number), dim, 11, "middle")
        for line in lines:
            if line.of == name:
                yield from path(at, line)

    def head() -> Iterator[str]:
        yield text(24, 30, "What five compactions in a row leave", size=17)
        x = 24.0
        for by in dict.fromkeys(line.by for line in lines):
            name, dash, filled = STYLES[by]
            hue = colour(name, dark)
            dashes = f' stroke-dasharray="{dash}"' if dash else ""
            yield f'<path d="M{x:g} 50h26" stroke="{hue}" stroke-width="1.75"{dashes}/>'
            fill = hue if filled else colour("ground", dark)
            yield dot(x + 13, 50, fill, hue)
            yield text(x + 33, 54, by, dim)
            x += 50 + 6.6 * len(by)
        yield text(LEFT, TOP + TALL + 36, "times compacted", dim, 11)
        told = "The share of facts said before the first that stand in full. No model was asked."
        yield text(WIDTH - 30, TOP + TALL + 36, told, dim, 11, "end")

    pieces = [*head(), *(piece for at, name in enumerate(names) for piece in panel(at, name))]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" font-family="{FONT}">'
        "<title>The share of facts that stand in full after each of five compactions</title>"
        f'<rect width="{WIDTH}" height="{height}" fill="{colour("ground", dark)}"/>'
        + "\n".join(pieces)
        + "</svg>\n"
    )
