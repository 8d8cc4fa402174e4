"""The figure of `make benchmark`: for each policy what it keeps beside the tokens it leaves, as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inspector.workbench.palette import colour
from inspector.workbench.svg import FONT, spell

WIDTH, ROW, TOP, BOTTOM = 1000, 30, 84, 60
LEFT, RIGHT = 250, 40
MARKS = {
    "left": ("tokens left", "dim"),
    "kept": ("facts kept", "compacted"),
    "user": ("facts that the user said first, kept", "user"),
}
"""By the leaderboard's name: what a mark means, and its colour. Each has a shape and a height, too."""


def draw_mark(name: str, x: float, y: float, hue: str, ground: str) -> str:
    if name == "left":
        return f'<path d="M{x:.1f} {y - 5:.1f}v10" stroke="{hue}" stroke-width="2.5"/>'
    if name == "kept":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{hue}"/>'
    diamond = f"M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z"
    return f'<path d="{diamond}" fill="{ground}" stroke="{hue}" stroke-width="1.75"/>'


def draw_benchmark(rows: Sequence[Mapping[str, Any]], dark: bool) -> str:
    """The picture of the leaderboard's rows; the line through a mark is its interval."""
    ink, dim, rule, ground = (colour(name, dark) for name in ("ink", "dim", "line", "ground"))
    first, *planned = rows
    lanes = [first, *sorted(planned, key=lambda row: (-(row["kept"][0] or 0), row["policy"]))]
    foot = TOP + ROW * len(lanes)
    height = foot + BOTTOM

    def text(x: float, y: float, words: str, hue: str = ink, size: int = 12, anchor: str = "start") -> str:
        return (
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{hue}" font-size="{size}" text-anchor="{anchor}">'
            f"{spell(words)}</text>"
        )

    def place(share: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * share

    def scale() -> Iterator[str]:
        for at in range(0, 101, 20):
            x = place(at / 100)
            yield f'<path d="M{x:.1f} {TOP - 6}V{foot}" stroke="{rule}"/>'
            yield text(x, foot + 18, f"{at}%", dim, 12, "middle")

    def lane(at: int, row: Mapping[str, Any]) -> Iterator[str]:
        middle = TOP + ROW * at + ROW / 2
        name = "recorded in the files" if row["evidence"] == "recorded" else row["policy"]
        yield text(LEFT - 14, middle + 4, name, anchor="end")
        for number, (mark, (_, colours)) in enumerate(MARKS.items()):
            share, low, high = row[mark]
            if share is None:
                continue
            hue, y = colour(colours, dark), middle + 8 * (1 - number)
            if low is not None and high is not None:
                line = f"M{place(low):.1f} {y:.1f}H{place(high):.1f}"
                yield f'<path d="{line}" stroke="{hue}" stroke-width="1.5" opacity="0.55"/>'
            yield draw_mark(mark, place(share), y, hue, ground)

    def head() -> Iterator[str]:
        yield text(24, 30, "What compactions keep, beside the tokens they leave", size=17)
        x = 24.0
        for mark, (words, colours) in MARKS.items():
            yield draw_mark(mark, x + 7, 54, colour(colours, dark), ground)
            yield text(x + 20, 58, words, dim)
            x += 42 + 6.6 * len(words)
        yield text(WIDTH - RIGHT, 58, "line: 95 % of draws of whole sessions", dim, 12, "end")
        told = "Shares of what stood right before. First what files record, then policies planned there."
        yield text(WIDTH - RIGHT, foot + 44, told, dim, 12, "end")
        yield f'<path d="M24 {TOP + ROW:.1f}H{WIDTH - RIGHT}" stroke="{dim}"/>'
        for at in range(2, len(lanes)):
            yield f'<path d="M24 {TOP + ROW * at:.1f}H{WIDTH - RIGHT}" stroke="{rule}"/>'

    pieces = [*scale(), *head(), *(piece for at, row in enumerate(lanes) for piece in lane(at, row))]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" font-family="{FONT}">'
        "<title>Facts kept and tokens left, by policy</title>"
        f'<rect width="{WIDTH}" height="{height}" fill="{ground}"/>' + "\n".join(pieces) + "</svg>\n"
    )
