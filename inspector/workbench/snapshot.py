"""The workbench as a picture and a table without scripts, for viewers without widgets.

The input is the scene and the plan as `view` draws them; the output is SVG and HTML. They hold labels and
numbers, no words of the transcript, and are deterministic. Hues show the section and patterns the retention,
as on the screen.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np

from ..text import html_text, plural, printed
from ..tokens.not_in_file import PARTS
from .payloads.columns import unpack
from .payloads.scene import PlanPayload, ScenePayload
from .payloads.sections import format_tokens
from .svg import FONT, STYLE, fill, fill_fate, make_patterns, spell, stroke, stroke_fate, write

Sent = tuple[dict[str, Any], bytes]
"""A payload as JSON, and the bytes of its columns."""
WIDTH, MARGIN_LEFT, MARGIN_RIGHT = 960, 84, 150
MOST_BINS = 220
OVERVIEW = 52
_PLOT = WIDTH - MARGIN_LEFT - MARGIN_RIGHT
_LANES, _LOWEST = 170, 16


class SnapshotData:
    """The parsed scene and plan, shared by picture and table."""

    def __init__(self, scene: Sent, plan: Sent) -> None:
        self.scene = msgspec.convert(scene[0], ScenePayload)
        self.plan = msgspec.convert(plan[0], PlanPayload)
        self.columns = unpack(self.scene.columns, scene[1])
        self.fated = unpack(self.plan.columns, plan[1])
        self.place = self.plan.cut.place
        self.uncut = self.plan.cut.id == ""
        self.sections = [section.id for section in self.scene.sections]
        self.labels = [section.label for section in self.scene.sections]
        self.before = self.plan.before.sections
        older = self.columns["block_entry"] < self.place
        self.fate = np.where(older, self.fated["fate_older"], self.fated["fate_kept"])
        self.fates = [fate.id for fate in self.scene.fates]
        self.turn = self.columns["entry_turn"]
        # A plan without a cut may still change blocks in place.
        self.acts = bool((self.fate != self.fates.index("verbatim")).any())

    @property
    def after(self) -> list[int]:
        """Tokens by section after the plan."""
        return self.plan.after.sections

    @property
    def sentence(self) -> str:
        """The plan in words."""
        name = self.plan.policy_title or self.plan.policy
        if self.uncut and not self.acts:
            stay = format_tokens(sum(self.before))
            return f"{name}: {stay} tokens stay as they are. {self.plan.cut.sentence}"
        before, after = sum(self.before), sum(self.after)
        parts = [f"{name}: {format_tokens(before)} → {format_tokens(after)} tokens"]
        if not self.uncut and len(self.turn):
            turn = int(self.turn[min(self.place, len(self.turn) - 1)]) + 1
            parts.append(
                f"cut in turn {turn}" if self.place < len(self.turn) else "everything before the end"
            )
        parts.append(", ".join(f"{count:,} {fate}" for fate, count in self.count_fates()) or "no blocks")
        return "; ".join(parts) + "."

    def count_fates(self) -> list[tuple[str, int]]:
        """How many blocks have each fate that any has."""
        counts = np.bincount(self.fate, minlength=len(self.fates)).tolist()
        return [(fate, count) for fate, count in zip(self.fates, counts, strict=True) if count]


def draw_bar(still: SnapshotData, label: str, sums: Sequence[int], y: int) -> Iterator[str]:
    full = max(still.scene.window or 0, sum(still.before), sum(still.after), 1)
    yield write(0, y + 12, label, "dim", 11)
    yield f'<rect x="{MARGIN_LEFT}" y="{y}" width="{_PLOT}" height="15" {fill("band")}/>'
    x = float(MARGIN_LEFT)
    for section, tokens in zip(still.sections, sums, strict=True):
        wide = _PLOT * tokens / full
        if wide > 0:
            fate = "outside" if section in PARTS else "verbatim"
            fate = "summarised" if section == "compacted" and label == "after" and not still.uncut else fate
            yield f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="15" {fill_fate(section, fate)}/>'
        x += wide
    for threshold in still.plan.thresholds:
        at = MARGIN_LEFT + _PLOT * threshold.tokens / full
        if at <= MARGIN_LEFT + _PLOT:
            yield f'<path d="M{at:.1f} {y - 2}v19" {stroke("strong")}/>'
    total, window = sum(sums), still.scene.window
    size_label = format_tokens(total)
    if label == "before" and window:
        size_label += f" of {format_tokens(window)} · {100 * total / window:.0f} %"
    elif label == "after" and (less := sum(still.before) - total):
        size_label += f" · {'−' if less > 0 else '+'}{format_tokens(abs(less))}"
    yield write(MARGIN_LEFT + _PLOT + 12, y + 12, size_label, "strong", 11)


def draw_key(still: SnapshotData, y: int) -> tuple[int, list[str]]:
    """The sections with their figures, as many in a row as fit."""
    out, x = [], MARGIN_LEFT
    for section, label, before, after in zip(
        still.sections, still.labels, still.before, still.after, strict=True
    ):
        if not before and not after:
            continue
        # A long label takes two columns.
        wide = 104 * (1 + (20 + 5 * len(label)) // 104)
        if x + wide > WIDTH:
            x, y = MARGIN_LEFT, y + 34
        fate = "outside" if section in PARTS else "verbatim"
        out.append(f'<rect x="{x}" y="{y}" width="9" height="9" {fill_fate(section, fate)}/>')
        out.append(write(x + 14, y + 8, label, "dim", 10))
        tokens_label = (
            format_tokens(before) if before == after else f"{format_tokens(before)} → {format_tokens(after)}"
        )
        out.append(write(x + 14, y + 21, tokens_label, "text", 10))
        x += wide
    return y + 40, out


def draw_overview(still: SnapshotData, y: int) -> Iterator[str]:
    """Draw the session's whole timeline: reported tokens as a line, counted tokens as an area."""
    counted, reported = still.columns["overview_estimated"], still.columns["overview_reported"]
    steps = len(counted)
    yield write(0, y + OVERVIEW, plural(steps, "step"), "dim", 10)
    yield write(0, y + 12, "session", "dim", 11)
    if not steps:
        return
    high = max(int(counted.max(initial=1)), int(reported.max(initial=1)), 1)
    bins = _bins(steps)
    edges = np.searchsorted(bins, np.arange(bins[-1] + 2))
    step = _PLOT / (bins[-1] + 1)

    def level(tokens: int) -> float:
        return y + OVERVIEW - OVERVIEW * tokens / high

    area = [f"M{MARGIN_LEFT} {y + OVERVIEW}"]
    line: list[str] = []
    breaks = {int(bins[min(mark.step, steps - 1)]) for mark in still.scene.boundaries}
    pen = False
    for index, (first, end) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
        x = MARGIN_LEFT + index * step
        area.append(f"V{level(int(counted[first:end].max())):.1f}H{x + step:.1f}")
        # Steps that report nothing do not break the line; a compaction does.
        pen = pen and index not in breaks
        if (peak := int(reported[first:end].max())) >= 0:
            line.append(f"{'L' if pen else 'M'}{x + step / 2:.1f} {level(peak):.1f}")
            pen = True
    covered = still.scene.overview
    if covered.last >= covered.first:
        first, last = (int(bins[min(step, steps - 1)]) for step in (covered.first, covered.last))
        wide = (last - first + 1) * step
        extent = f'width="{wide:.1f}" height="{OVERVIEW}"'
        yield f'<rect x="{MARGIN_LEFT + first * step:.1f}" y="{y}" {extent} {fill("band")}/>'
    yield f'<path d="{"".join(area)}V{y + OVERVIEW}Z" {fill("area")}/>'
    yield f'<path d="{"".join(line)}" fill="none" {stroke("dim")}/>'
    room = -100.0
    for mark in still.scene.boundaries:
        x = MARGIN_LEFT + float(bins[min(mark.step, steps - 1)]) * step
        half = 4.0 if mark.kind == "compact" else 2.5
        side = f"l{half} {half}l-{half} {half}l-{half} -{half}Z"
        yield f'<path d="M{x:.1f} {y - half - 6}{side}" {fill("strong")}/>'
        if (
            mark.kind == "compact"
            and mark.before is not None
            and x - room > 60
            and x < MARGIN_LEFT + _PLOT + 40
        ):
            yield write(x + 7, y - 3, format_tokens(mark.before), "dim", 10)
            room = x


def draw_lanes(still: SnapshotData, y: int) -> tuple[int, list[str]]:
    """Tokens of the moment's steps by lane, each block under its fate, and the cut."""
    columns = still.columns
    entry, tokens = columns["block_entry"], columns["block_tokens"]
    steps = int(columns["entry_step"].max(initial=-1)) + 1
    out: list[str] = []
    if not steps:
        return y, out
    bins = _bins(steps)
    wide = _PLOT / (int(bins[-1]) + 1)
    place_of = bins[columns["entry_step"]] if len(columns["entry_step"]) else np.zeros(0, int)
    top = y
    rows = [lane for lane in still.scene.lanes if np.isin(columns["block_section"], lane.sections).any()]
    sums: list[dict[int, dict[int, int]]] = []
    for lane_row in rows:
        lane: dict[int, dict[int, int]] = {}
        for row in np.flatnonzero(np.isin(columns["block_section"], lane_row.sections)).tolist():
            fates = lane.setdefault(int(place_of[entry[row]]), {})
            fate = int(still.fate[row])
            fates[fate] = fates.get(fate, 0) + int(tokens[row])
        sums.append(lane)
    # One scale for all: a column is as high as the root of its tokens.
    roots = [max((sum(fates.values()) ** 0.5 for fates in lane.values()), default=0.0) for lane in sums]
    scale = _LANES / max(sum(roots), 1)
    talls = [max(_LOWEST, round(root * scale) + 4) for root in roots]
    out += _bands(still, place_of, wide, y + 8, sum(talls) + 4)
    y += 12
    for lane_row, lane, tall in zip(rows, sums, talls, strict=True):
        y += tall
        out.append(write(0, y - 2, lane_row.label, "dim", 11))
        out.append(f'<path d="M{MARGIN_LEFT} {y + 0.5:.1f}h{_PLOT}" {stroke("line")}/>')
        out += _columns(still, still.sections[lane_row.sections[0]], lane, y, wide, scale)
    y += 4
    if not still.uncut and len(place_of):
        at = int(place_of[still.place]) if still.place < len(place_of) else int(bins[-1]) + 1
        x = MARGIN_LEFT + at * wide
        out.append(f'<path d="M{x:.1f} {top}V{y + 2}" {stroke("strong", 1.6)}/>')
        side = "end" if x > MARGIN_LEFT + _PLOT * 0.8 else "start"
        label = f"cut · {format_tokens(sum(still.after))} after"
        out.append(write(x + (-6 if side == "end" else 6), top + 5, label, "strong", 10, side))
    x = MARGIN_LEFT
    for name, count in still.count_fates():
        out.append(f'<rect x="{x}" y="{y + 8}" width="12" height="9" {fill_fate("ink", name)}/>')
        out.append(write(x + 17, y + 16, f"{name} {count:,}", "dim", 10))
        x += 104
    return y + 26, out


def _columns(
    still: SnapshotData, section: str, lane: dict[int, dict[int, int]], y: int, wide: float, scale: float
) -> Iterator[str]:
    """One path for each fate: its part of every column of a lane."""
    paths: dict[int, list[str]] = {}
    for at, fates in sorted(lane.items()):
        total, up = sum(fates.values()), float(y)
        for fate, tokens in sorted(fates.items()):
            tall = scale * total**0.5 * tokens / max(total, 1)
            if tall:
                paths.setdefault(fate, []).append(
                    _column(still.fates[fate], MARGIN_LEFT + at * wide, up, wide, tall)
                )
            up -= tall
    width = f'stroke-width="{max(wide - 0.6, 0.5):.2f}"'
    for code, moves in paths.items():
        name = still.fates[code]
        look = fill_fate(section, name) if name == "dropped" else f"{stroke_fate(section, name)} {width}"
        yield f'<path d="{"".join(moves)}" {look}/>'


def _column(fate: str, x: float, y: float, wide: float, tall: float) -> str:
    if fate == "dropped":
        inner = max(wide - 1.6, 0.5)
        return f"M{x + 0.8:.1f} {y:.1f}v{-tall:.1f}h{inner:.1f}v{tall:.1f}"
    return f"M{x + wide / 2:.1f} {y:.1f}v{-tall:.1f}"


def _bands(still: SnapshotData, place_of: Any, wide: float, y: int, tall: int) -> Iterator[str]:
    """Draw a band behind every other turn."""
    turn = still.turn
    first = np.flatnonzero(np.append(True, turn[1:] != turn[:-1])) if len(turn) else np.zeros(0, int)
    if not 0 < len(first) <= 80:
        return
    starts = [*place_of[first].tolist(), int(place_of[-1]) + 1]
    for index, (a, b) in enumerate(pairwise(starts)):
        if index % 2 == 0 and b > a:
            size = f'width="{(b - a) * wide:.1f}" height="{tall}"'
            yield f'<rect x="{MARGIN_LEFT + a * wide:.1f}" y="{y}" {size} {fill("band")}/>'


def _bins(steps: int) -> Any:
    """int[steps]: the column of the picture that each step falls into."""
    return np.arange(steps) * min(steps, MOST_BINS) // max(steps, 1)


_EDGE = 12


class Snapshot:
    """Picture and table of one scene and plan. It stays in a notebook, and needs no widget to be shown.

    >>> from inspector import Workbench, read_session
    >>> wb = Workbench(read_session([{"role": "user", "content": "Read src/a.py."}]), "flue", cut="end")
    >>> still: Snapshot = wb.snapshot()
    >>> wb.close()
    >>> still.svg.startswith("<svg"), "src/a.py" in still.html
    (True, False)
    """

    def __init__(self, scene: Sent, plan: Sent) -> None:
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

    @printed
    def __repr__(self) -> str:
        return f"Snapshot({SnapshotData(self._scene, self._plan).sentence})"


def draw_still(scene: Sent, plan: Sent, caption: bool = True) -> str:
    """Draw the picture as SVG, light or dark like the viewer; light if styles are stripped.

    `caption` writes the size after the plan below it.
    """
    still = SnapshotData(scene, plan)
    parts: list[str] = []
    y = 22
    header = still.scene.header
    facts = f"{header.harness} · {header.model} · {header.size} · {header.compactions}"
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
    if caption:
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


def tabulate(scene: Sent, plan: Sent) -> str:
    """The same figures as an HTML table: tokens by section before and after."""
    still = SnapshotData(scene, plan)
    rows = [
        (label, before, after)
        for label, before, after in zip(still.labels, still.before, still.after, strict=True)
        if before or after
    ]
    rows.append(("all", sum(still.before), sum(still.after)))
    cells = "".join(
        f'<tr><th align="left" scope="row">{html_text(label)}</th><td align="right">{before:,}</td>'
        f'<td align="right">{after:,}</td></tr>'
        for label, before, after in rows
    )
    return (
        "<table><thead><tr>"
        f'<th align="left">tokens ({html_text(still.scene.unit.short)})</th><th align="right">before</th>'
        f'<th align="right">after</th></tr></thead><tbody>{cells}</tbody></table>'
    )


def show_still(scene: Sent, plan: Sent) -> str:
    """Picture and table as one piece of HTML. A viewer that strips pictures still has the table."""
    still = SnapshotData(scene, plan)
    data = b64encode(draw_still(scene, plan, caption=False).encode("utf-8")).decode("ascii")
    alt = escape(f"Compaction plan. {still.sentence}")
    return (
        f'<div><img src="data:image/svg+xml;base64,{data}" alt="{alt}" width="{WIDTH}">'
        f"<details><summary>{html_text(still.sentence)}</summary>{tabulate(scene, plan)}</details></div>"
    )
