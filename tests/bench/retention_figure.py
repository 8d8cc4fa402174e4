"""The figure of `make retention`: a lane for each policy and each harness, as SVG in the widget's colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from inspector.corpus.columns import COUNTED
from inspector.workbench.palette import colour
from inspector.workbench.svg import FONT, spell


class Counts(Protocol):
    """Facts that stood before, by outcome as in COUNTED."""

    @property
    def kind(self) -> str: ...
    @property
    def outcomes(self) -> tuple[int, ...]: ...
    @property
    def kept(self) -> int: ...
    @property
    def before(self) -> int: ...
    @property
    def after(self) -> int: ...


Lane = tuple[str, str, Sequence[Counts], Counts]
"""What it is called, the evidence, the counts by kind, all of them together."""

WIDTH, ROW, TOP = 1000, 23, 106
LABEL, LEFT, BAR, LONG, CELLS = 24, 204, 292, 226, 536
HUE = {
    "verbatim": "user",
    "quoted": "compacted",
    "paraphrased": "reasoning",
    "pointer": "assistant",
    "partial": "tool_output",
    "changed": "bad",
    "contradicted": "bad",
    "unclear": "dim",
    "absent": "line",
}
UNKNOWN = "unknown"
SHORT = {"constraint": "rule"}


def draw_retention(lanes: Sequence[Lane], outcomes: Sequence[str], dark: bool, few: int) -> str:
    """The picture; a kind of which fewer than `few` facts stood under the first policy has no column."""
    kinds = [at for at, row in enumerate(lanes[0][2]) if sum(row.outcomes) >= few]
    planned = sum(tier == lanes[0][1] for _, tier, _, _ in lanes)
    height = TOP + ROW * len(lanes) + 48
    pitch = (WIDTH - LABEL - CELLS) / max(len(kinds), 8)
    # A harness may have sealed its summaries though no single fact is known to be unknown.
    drawn = [*(name for name in outcomes if name != UNKNOWN), UNKNOWN]
    ink, dim = colour("ink", dark), colour("dim", dark)

    def text(x: float, y: float, words: str, hue: str = ink, size: int = 12, anchor: str = "start") -> str:
        return (
            f'<text x="{x:g}" y="{y:g}" fill="{hue}" font-size="{size}" text-anchor="{anchor}">'
            f"{spell(words)}</text>"
        )

    def fill(outcome: str) -> str:
        return "url(#sealed)" if outcome == UNKNOWN else colour(HUE[outcome], dark)

    def lane(y: float, item: Lane) -> Iterator[str]:
        name, _, by_kind, whole = item
        first, _, rest = name.partition(", ")
        if len(name) > 27:
            yield text(LABEL, y + 10, f"{first},", size=11)
            yield text(LABEL, y + 21, rest, size=11)
        else:
            yield text(LABEL, y + 15, name)
        left = min(whole.after / whole.before, 1) if whole.before else 0
        yield box(LEFT, y + 7, 44, 9, colour("line", dark))
        yield box(LEFT, y + 7, 44 * left, 9, dim)
        yield text(LEFT + 76, y + 15, f"{left:.0%}", dim, 11, "end")
        x, stood = float(BAR), sum(whole.outcomes)
        for outcome in drawn:
            wide = LONG * whole.outcomes[COUNTED.index(outcome)] / stood if stood else 0
            yield box(x, y + 4, max(wide - 0.7, 0), 15, fill(outcome))
            x += wide
        for place, at in enumerate(kinds):
            yield from cell(CELLS + pitch * place, y, by_kind[at])

    def cell(x: float, y: float, row: Counts) -> Iterator[str]:
        stood = sum(row.outcomes)
        if stood < few:
            yield text(x + pitch / 2, y + 15, "–", dim, 11, "middle")
            return
        kept = row.kept / stood
        yield box(x + 1.5, y + 2, pitch - 3, 19, colour("user", dark), 0.06 + 0.84 * kept)
        yield text(
            x + pitch / 2, y + 15, f"{kept:.0%}", "#ffffff" if kept > 0.6 or dark else ink, 11, "middle"
        )

    def head() -> Iterator[str]:
        yield text(LABEL, 34, "What a compaction leaves of what was said", size=17)
        x = float(LABEL)
        for outcome in drawn:
            words = "unknown: sealed summary" if outcome == UNKNOWN else outcome
            yield box(x, 49, 12, 11, fill(outcome))
            yield text(x + 17, 59, words, dim, 12)
            x += 36 + 6.4 * len(words)
        yield text(LEFT, TOP - 6, "tokens left", dim, 11)
        yield text(BAR, TOP - 6, "facts that stood before, by outcome", dim, 11)
        yield text(CELLS, TOP - 24, "kept of each kind: verbatim, quoted or paraphrased", dim, 11)
        for place, at in enumerate(kinds):
            yield text(
                CELLS + pitch * (place + 0.5),
                TOP - 6,
                SHORT.get(lanes[0][2][at].kind, lanes[0][2][at].kind),
                dim,
                10,
                "middle",
            )

    pieces = list(head())
    for number, item in enumerate(lanes):
        gap = 28 if number >= planned else 0
        pieces += lane(TOP + ROW * number + gap, item)
    y = TOP + ROW * planned
    pieces.append(text(LABEL, TOP - 24, "planned, with a stand-in where a model would write", dim, 11))
    pieces.append(f'<path d="M{LABEL} {y + 6}H{WIDTH - LABEL}" stroke="{colour("line", dark)}"/>')
    pieces.append(text(LABEL, y + 23, "recorded by the harness itself, at its own moments", dim, 11))
    pattern = (
        '<pattern id="sealed" width="5" height="5" patternUnits="userSpaceOnUse">'
        f'<path d="M-1 6L6 -1M-1 1L1 -1M4 6L6 4" stroke="{colour("faint", dark)}"/></pattern>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" font-family="{FONT}"><title>Facts by outcome for each policy</title>'
        f'<defs>{pattern}</defs><rect width="{WIDTH}" height="{height}" fill="{colour("ground", dark)}"/>'
        + "\n".join(pieces)
        + "</svg>\n"
    )


def box(x: float, y: float, width: float, height: float, fill: str, alpha: float = 1) -> str:
    seen = "" if alpha == 1 else f' fill-opacity="{alpha:.2f}"'
    return (
        f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{height:g}" rx="1.5" fill="{fill}"{seen}/>'
    )
