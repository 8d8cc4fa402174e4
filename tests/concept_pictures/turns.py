"""What happens along the turns of the session: a recorded compaction, a fact, a replay."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.facts.regret import MEANS
from inspector.text import join_words
from inspector.workbench.payloads.sections import LABELS

from .canvas import MEAN, WIDTH, Canvas
from .demo import Demo

LEFT, RIGHT = 4.0, WIDTH - 9.0


def find_x(demo: Demo, step: float) -> float:
    """Where a step stands."""
    return LEFT + (RIGHT - LEFT) * step / (len(demo.history.turn) - 1)


def find_drop(demo: Demo, step: int) -> float:
    """Where a compaction stands that happened before a step."""
    return find_x(demo, step - 0.5)


def find_height(tokens: int, top: float, base: float, most: int) -> float:
    """How high tokens stand where `most` of them reach the top."""
    return base - (base - top) * tokens / most


def draw_axis(canvas: Canvas, demo: Demo, y: float) -> None:
    """The turns under a picture: a tick where each begins, and its number where there is room for it."""
    turn = demo.history.turn
    canvas.line(f"M{LEFT:g} {y:g}H{RIGHT:g}", "faint")
    begins = [find_x(demo, int((turn == number).argmax())) for number in range(int(turn[-1]) + 1)]
    room = -1.0
    for number, (x, end) in enumerate(zip(begins, [*begins[1:], RIGHT], strict=True), 1):
        canvas.line(f"M{x:.1f} {y:g}v5", "faint")
        words = f"turn {number}" if number == 1 else f"{number}"
        half = MEAN * len(words) / 2
        middle = max((x + end) / 2, half)
        if middle - half >= room and middle + half <= max(end, room) + 8:
            canvas.write(middle, y + 18, words, "dim", "middle")
            room = middle + half + 4


def find_path(demo: Demo, tokens: Sequence[int], top: float, base: float, most: int) -> str:
    """The tokens of every step as a line."""
    points = [f"{find_x(demo, i):.1f} {find_height(n, top, base, most):.1f}" for i, n in enumerate(tokens)]
    return "M" + "L".join(points)


def draw_window(canvas: Canvas, window: int, y: float) -> None:
    """The line that the context may not pass."""
    canvas.line(f"M{LEFT:g} {y:g}H{RIGHT:g}", "faint", dashed=True)
    canvas.write(LEFT, y - 7, f"window {window:,}", "dim")


def draw_recorded(canvas: Canvas, demo: Demo) -> str:
    """The context over the turns, with what the file records of compactions."""
    run, plan = demo.run, demo.recorded
    tokens = run.recorded.tolist()
    window = run.window
    top, base = 30.0, 136.0
    path = find_path(demo, tokens, top, base, window)
    draw_window(canvas, window, top)
    canvas.shape(f"{path}L{RIGHT:g} {base:g}L{LEFT:g} {base:g}Z", "user", 0.15)
    canvas.line(path, "user", 2)
    marks = demo.history.marks
    compact = next(mark for mark in marks if mark.kind == "compact")
    micro = next(mark for mark in marks if mark.kind == "micro")
    x = find_drop(demo, compact.step)
    canvas.line(f"M{x:.1f} {top + 2:g}V{base:g}", "dim", 1, dashed=True)
    canvas.diamond(x, top - 12, True)
    canvas.write(x + 10, top - 7, f"compaction: {plan.before:,} → {plan.after:,}", "ink", bold=True)
    boundary = next(boundary for name, boundary in demo.session.boundaries if name == micro.entry)
    cleared = len(boundary.cleared)
    x = find_drop(demo, micro.step)
    y = find_height(tokens[micro.step - 1], top, base, window)
    canvas.diamond(x, y - 12, False)
    canvas.write(x + 10, y - 24, f"{cleared} outputs cleared", "ink", "middle", bold=True)
    draw_axis(canvas, demo, base)
    for number, one in enumerate(demo.history.segments):
        left, right = find_x(demo, one.first_step), find_x(demo, one.last_step)
        canvas.brace(left, right, base + 32)
        words = (
            f"{'a stretch' if not number else 'the next'}: turns {one.first_turn + 1} to {one.last_turn + 1}"
        )
        canvas.write((left + right) / 2, base + 49, words, "text", "middle")
    turn = int(demo.history.turn[compact.step]) + 1
    sentence = (
        f"The context over {len(demo.session.turns)} turns: it grows to {plan.before:,} tokens, falls to "
        f"{plan.after:,} at the compaction in turn {turn}, and grows again, but for a place "
        f"where {cleared} outputs are cleared. Braces mark the two stretches."
    )
    return canvas.finish(base + 56, sentence)


def draw_fact(canvas: Canvas, demo: Demo) -> str:
    """Where a file is named, where it is lost, and where it has to be read again."""
    dots, regret, history = demo.dots, demo.regret, demo.history
    form = regret.fact.form
    compact = next(mark for mark in history.marks if mark.kind == "compact")
    back = next(step for step, _ in dots if step >= compact.step)
    again = next(step for step, ref in dots if ref == regret.again)
    lane = 84.0
    gone = find_drop(demo, compact.step)
    first, came, read = (find_x(demo, step) for step in (dots[0][0], back, again))
    canvas.write(LEFT, 13, form, "ink", bold=True)
    canvas.line(f"M{first:.1f} {lane:g}H{gone:.1f}M{came:.1f} {lane:g}H{RIGHT:g}", "faint", 2)
    canvas.line(f"M{gone:.1f} {lane:g}H{came:.1f}", "bad", 3)
    canvas.line(f"M{gone:.1f} 26V{lane + 14:g}", "dim", 1, dashed=True)
    canvas.diamond(gone, 20, True)
    before = sum(step < compact.step for step, _ in dots)
    canvas.write(gone - 11, 25, "lost: the summary does not name it", "bad", "end")
    canvas.write(read + 8, 42, f"↺ {MEANS[regret.fact.kind]}: {regret.tokens:,} tokens", "ink", bold=True)
    canvas.line(f"M{read:.1f} 32V{lane - 6:g}", "dim", 1)
    middle = (find_x(demo, max(step for step, _ in dots if step < compact.step)) + gone) / 2
    canvas.write(
        middle, lane - 8, f"named in {before} blocks, which stay in the context until ◆", "dim", "middle"
    )
    height: dict[int, int] = {}
    for step, ref in dots:
        canvas.dot(find_x(demo, step), lane - 9 * height.get(step, 0), demo.section(ref))
        height[step] = height.get(step, 0) + 1
    draw_axis(canvas, demo, lane + 14)
    y, x = lane + 54, LEFT + 4
    for section in ("tool_output", "tool_call", "assistant"):
        count = sum(demo.section(ref) == section for _, ref in dots)
        canvas.dot(x, y - 4, section)
        words = f"{LABELS.get(section, section)}: {count}"
        canvas.write(x + 10, y, words)
        x += 34 + MEAN * len(words)
    sentence = (
        f"Dots where {form} is named, over the turns: in {before} blocks before the compaction, whose "
        f"summary does not name it; it is lost until a search finds it, and is {MEANS[regret.fact.kind]} for "
        f"{regret.tokens:,} tokens; {len(dots) - before} blocks name it after that."
    )
    return canvas.finish(y + 8, sentence)


def draw_replay(canvas: Canvas, demo: Demo) -> str:
    """The context as recorded and under another policy, with where each compacts."""
    run, stop = demo.run, demo.run.against[0]
    recorded, window, top, base = run.recorded.tolist(), run.window, 30.0, 140.0
    fires = find_height(run.threshold, top, base, window)
    draw_window(canvas, window, top)
    canvas.line(f"M{LEFT:g} {fires:.1f}H{RIGHT:g}", "bad", dashed=True)
    canvas.write(LEFT, fires - 6, f"fires above {run.threshold:,}", "bad")
    canvas.line(find_path(demo, recorded, top, base, window), "earlier", 2)
    canvas.line(find_path(demo, run.context.tolist(), top, base, window), "user", 2)
    canvas.diamond(find_drop(demo, stop.step), top - 12, True, "earlier")
    canvas.write(find_drop(demo, stop.step) - 10, top - 7, f"{demo.recorded.before:,}", "text", "end")
    for one in run.adopted:
        x, y = find_drop(demo, one.step), find_height(one.before, top, base, window) - 9
        canvas.diamond(x, y, True, "user")
        # Where the recorded line goes on above, the figure stands before it.
        beside = recorded[one.step] > one.before
        canvas.write(
            *((x - 10, y) if beside else (x, y - 10)),
            f"{one.before:,}",
            "text",
            "end" if beside else "middle",
        )
    draw_axis(canvas, demo, base)
    y = base + 44
    canvas.line(f"M{LEFT:g} {y - 4:g}h22", "earlier", 2)
    canvas.write(LEFT + 30, y, f"as recorded: ◆ in turn {stop.turn + 1}")
    turns = join_words([str(one.turn + 1) for one in run.adopted])
    canvas.line(f"M{LEFT + 230:g} {y - 4:g}h22", "user", 2)
    canvas.write(LEFT + 260, y, f"under {run.policy.title}: ◆ in turns {turns}")
    sentence = (
        f"Two lines of the context over the turns: as recorded it is compacted once, in turn "
        f"{stop.turn + 1}; under {run.policy.title}, which fires above {run.threshold:,} tokens, in turns "
        f"{turns}."
    )
    return canvas.finish(y + 8, sentence)
