"""Entries and their blocks in a row: one turn with its parts named, and a cut beside a place that is none."""

from __future__ import annotations

from typing import NamedTuple

from inspector import BlockRef, Entry
from inspector.text import plural

from .canvas import WIDTH, Canvas
from .demo import TURN, Demo

PAD, GAP, THIN = 6, 10, 3
"""Pixels within an entry beside its blocks, between entries, and between blocks."""
NAMES = {"tool_call": "call", "tool_output": "output"}


class Box(NamedTuple):
    """An entry in its row: where it begins and ends, and its blocks (x, width, block)."""

    entry: Entry
    left: float
    right: float
    blocks: list[tuple[float, float, BlockRef]]


def place(demo: Demo, entries: list[Entry], left: float, right: float) -> list[Box]:
    """Entries side by side, every block as wide as its tokens."""
    blocks = [[BlockRef(entry.id, i) for i in range(len(entry.blocks))] for entry in entries]
    tokens = sum(demo.tokens(ref) for refs in blocks for ref in refs)
    between = (
        2 * PAD * len(entries) + GAP * (len(entries) - 1) + sum(THIN * (len(refs) - 1) for refs in blocks)
    )
    scale = (right - left - between) / tokens
    boxes, x = [], left
    for entry, refs in zip(entries, blocks, strict=True):
        start, row = x, []
        x += PAD
        for ref in refs:
            width = demo.tokens(ref) * scale
            row.append((x, width, ref))
            x += width + THIN
        x += PAD - THIN
        boxes.append(Box(entry, start, x, row))
        x += GAP
    return boxes


def draw_row(canvas: Canvas, demo: Demo, boxes: list[Box], y: float, height: float, blocks: float) -> None:
    """The outlines of entries with the role above, and their blocks as boxes."""
    for box in boxes:
        canvas.write((box.left + box.right) / 2, y - 6, box.entry.role, "dim", "middle")
        canvas.frame(box.left, y, box.right - box.left, height, "dim")
        for x, width, ref in box.blocks:
            canvas.bar(x, y + PAD, width, blocks, demo.section(ref))


def draw_blocks(canvas: Canvas, demo: Demo) -> str:
    """One turn: blocks as boxes, entries as outlines, the turn as a bracket."""
    turn = demo.session.turns[TURN]
    entries = [demo.session.entries[i] for i in demo.session.path[turn.first : turn.last + 1]]
    boxes = place(demo, entries, 0.5, WIDTH - 0.5)
    tokens = sum(demo.tokens(ref) for box in boxes for _, _, ref in box.blocks)
    count = sum(len(box.blocks) for box in boxes)
    canvas.write(
        WIDTH / 2,
        13,
        f"a turn: {TURN + 1} of {len(demo.session.turns)}, {tokens:,} tokens",
        "ink",
        "middle",
        bold=True,
    )
    canvas.brace(1, WIDTH - 1, 22, up=True)
    draw_row(canvas, demo, boxes, 50, 78, 30)
    for box in boxes:
        for x, width, ref in box.blocks:
            kind = demo.session.block(ref).kind
            canvas.write(x + width / 2, 103, NAMES.get(kind, kind), "text", "middle")
            canvas.write(x + width / 2, 120, f"{demo.tokens(ref):,}", "dim", "middle")
    y = 154
    canvas.frame(0.5, y - 11.5, 20, 14, "dim")
    canvas.write(28, y, f"an entry: what was written at once; {len(boxes)} here")
    canvas.bar(352, y - 10, 20, 12, "tool_output")
    canvas.write(380, y, f"a block: as wide as its tokens; {count} here")
    sentence = (
        f"One turn of {tokens:,} tokens under a bracket: {len(boxes)} entries as outlines, with "
        f"{plural(count, 'block')} in them as coloured boxes: the prompt; a reply with reasoning, a "
        "text and two calls; the two outputs; the last reply."
    )
    return canvas.finish(164, sentence)


def draw_cut(canvas: Canvas, demo: Demo) -> str:
    """A cut before a turn, and the verdict on every place around it."""
    session, cuts = demo.moment, demo.cuts
    live = session.live
    first = int((live.turn == TURN).argmax())
    end = int((live.turn == TURN + 1).argmax())
    shown = range(first - 1, end + 1)
    entries = [session.entries[live.entries[p]] for p in shown]
    boxes = place(demo, entries, 56, WIDTH - 44)
    weights = demo.ledger.live_tokens(session)
    older = int(weights[live.position < first].sum())
    kept = int(weights[live.position >= first].sum())
    at = {p: box.left - GAP / 2 for p, box in zip(shown, boxes, strict=True)}
    bad = next(p for p in shown if cuts[p].rule == "orphan-output")
    top, height, low = 48, 42, 116

    for x in (8, WIDTH - 32):
        for number in range(3):
            canvas.bar(x + 11 * number, top + PAD, 8, 30, "gone", faint=True)
    draw_row(canvas, demo, boxes, top, height, 30)
    cut = at[first]
    canvas.line(f"M{cut:.1f} 0V{low - 10}", "ink", 3)
    canvas.write(cut - 9, 13, f"← older: {older:,}", "ink", "end", bold=True)
    canvas.write(cut + 9, 13, f"kept: {kept:,} tokens →", "ink", bold=True)
    canvas.line(f"M{at[bad]:.1f} {top - 10}V{low - 8}", "bad", 2, dashed=True)
    for p, x in at.items():
        if cuts[p].legal:
            canvas.shape(f"M{x:.1f} {low - 7}l5 9h-10Z", "ink" if p == first else "dim")
        else:
            canvas.line(f"M{x - 4:.1f} {low - 6}l8 8M{x + 4:.1f} {low - 6}l-8 8", "bad", 2)
    canvas.write(cut - 5, low + 20, cuts[first].sentence, "text", "start")
    last = canvas.paragraph(at[bad] - 100, low + 20, cuts[bad].sentence, WIDTH - at[bad] + 100, "bad")
    legal = int(cuts.legal.sum())
    canvas.shape(f"M13 {last - 9:g}l5 9h-10Z", "dim")
    canvas.write(25, last, f"legal: {legal:,} of {len(cuts):,} places")
    sentence = (
        f"A row of entries with a cut before a turn: left of it {older:,} tokens are older, right of it "
        f"{kept:,} are kept. A place between a call and its output is marked in red: {cuts[bad].sentence}"
    )
    return canvas.finish(last + 8, sentence)
