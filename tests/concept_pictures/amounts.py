"""Bars of tokens: a context in its window and in its file, the rules of a policy, a plan."""

from __future__ import annotations

import numpy as np

from inspector import Plan
from inspector.policies.part import PolicyPart
from inspector.policies.table import SUMMARISED
from inspector.session.tree import COMPACTION
from inspector.tokens.outside import PARTS
from inspector.workbench.payloads.sections import ALL_SECTIONS, LABELS, sum_after, sum_before

from .canvas import WIDTH, Canvas, KeyItem
from .demo import Demo

OUTSIDE = "fixed"
"""The colour of what is not in the file, all parts of it."""


BARS = 430
"""Where the bars of the policy begin, behind the words."""


def split(sums: list[int]) -> dict[str, int]:
    """Tokens by section, first what is not in the file, all parts as one."""
    by = dict(zip(ALL_SECTIONS, sums, strict=True))
    return {OUTSIDE: sum(by.pop(part) for part in PARTS)} | by


def name_section(section: str) -> str:
    return "not in the file" if section == OUTSIDE else LABELS.get(section, section)


def list_parts(sums: dict[str, int]) -> list[tuple[str, int, bool]]:
    """The parts of a bar; hatched is what is not in the file."""
    return [(section, tokens, section == OUTSIDE) for section, tokens in sums.items()]


def draw_context(canvas: Canvas, demo: Demo) -> str:
    """The context right before the compaction within its window, and below it what the whole file holds."""
    plan, ledger, session = demo.recorded, demo.ledger, demo.session
    sums, window = split(sum_before(plan)), plan.table.window
    outside, counted = sums[OUTSIDE], plan.counted_before
    path = np.array(session.path)
    on = ledger.entry_tokens[path]
    at = int(np.flatnonzero(session.tree.sort[path] == COMPACTION)[0])
    summary, since = int(on[at]), int(on[at + 1 :].sum())
    agents = ledger.total - int(on.sum())
    scale = WIDTH / (outside + ledger.total)

    canvas.write(0, 13, "The context right before the compaction", "ink", bold=True)
    end = canvas.sections(0, 24, 26, scale, list_parts(sums))
    canvas.frame(0.5, 21.5, window * scale, 31, "dim")
    canvas.write(window * scale, 13, f"{plan.before:,} tokens of a window of {window:,}", "text", "end")

    left = outside * scale
    canvas.write(left + 8, 82, "The whole file", "ink", bold=True)
    canvas.write(WIDTH, 82, f"{ledger.total:,} tokens", "text", "end")
    x = canvas.sections(left, 92, 26, scale, [part for part in list_parts(sums) if part[0] != OUTSIDE])
    canvas.line(f"M{left:.1f} 53V92M{end:.1f} 53V92", "faint", 1, dashed=True)
    parts = [("compacted", summary, False), ("gone", since, False), ("provided", agents, False)]
    canvas.sections(x, 92, 26, scale, parts)
    canvas.brace(left, x - 1, 124)
    canvas.write((left + x) / 2, 141, f"was in that context: {counted:,}", "dim", "middle")
    canvas.brace(x + 1, WIDTH - 1, 124)
    canvas.write(WIDTH, 141, f"its summary: {summary:,}; said since: {since:,};", "dim", "end")
    canvas.write(WIDTH, 158, f"of a sub-agent, in a context of its own: {agents:,}", "dim", "end")
    shown = {section: tokens for section, tokens in sums.items() if tokens}
    items = [KeyItem(s, name_section(s), f"{n:,}", s == OUTSIDE) for s, n in shown.items()]
    last = canvas.key(190, items, len(items))
    sentence = (
        f"A bar of {plan.before:,} tokens by section, most of them outputs of tools, inside the outline of a "
        f"window of {window:,}; below it a longer bar, the file, which holds {ledger.total:,} tokens: the "
        f"{counted:,} that were in that context, a summary of {summary:,}, the {since:,} that were said "
        f"since, and {agents:,} of a sub-agent."
    )
    return canvas.finish(last + 8, sentence)


def draw_policy(canvas: Canvas, demo: Demo) -> str:
    """The trigger and the rules in their order, each beside what it claims of the context."""
    plan = demo.plan
    window, width = plan.table.window, WIDTH - BARS
    scale = width / window
    fixed = plan.outside.parts["fixed"].tokens
    left = BARS + fixed * scale
    weights = (
        plan.table.tokens + plan.table.moment.outside.spread
    )  # withheld reasoning goes where its reply goes
    older = int(weights[plan.is_older].sum())
    kept = int(weights[~plan.is_older].sum())
    summarised = int(weights[plan.fate == SUMMARISED].sum())
    turn = int(plan.table.live.turn[plan.place]) + 1 if plan.place is not None else 0
    claims: dict[str, tuple[str, float, int, str]] = {
        "keep-system": (f"{fixed:,} stay: they are not in the file", BARS, fixed, OUTSIDE),
        "keep-recent-tokens": (
            f"{kept:,} stay: the cut stands in turn {turn}",
            left + older * scale,
            kept,
            "dim",
        ),
        "carry-file-operations": ("no block: its list goes into the summary", left, 0, "compacted"),
        "summarise-older": (
            f"{summarised:,} go: a summary of {plan.summary_tokens:,} comes",
            left,
            summarised,
            "compacted",
        ),
    }
    trigger = plan.policy.trigger
    y = 13.0
    fires = plan.verdict.threshold
    row(
        canvas,
        y,
        f"Trigger · {plan.policy.title}",
        say_part(trigger),
        f"{plan.before:,} now; it fires above {fires:,}",
    )
    canvas.bar(BARS, y + 8, plan.before * scale, 10, "gone")
    canvas.line(f"M{BARS + fires * scale:.1f} {y + 4:g}v18", "bad", 2)
    canvas.frame(BARS, y + 8, width - 1, 10)
    for number, rule in enumerate(plan.policy.rules, 1):
        y += 40
        told, x, tokens, hue = claims[rule.kind]
        row(canvas, y, f"{number}  {rule.title}", say_part(rule), told)
        canvas.frame(BARS, y + 8, plan.before * scale, 10)
        canvas.bar(x, y + 8, tokens * scale, 10, hue, hatched=hue in (OUTSIDE, "compacted"))
    sentence = (
        f"The rules of {plan.policy.title} in order, each beside what it claims of {plan.before:,} tokens: "
        f"{fixed:,} stay as system prompt and tools, the {kept:,} of the newest turns stay, and the "
        f"{summarised:,} before the cut go and become a summary of {plan.summary_tokens:,}."
    )
    return canvas.finish(y + 28, sentence)


def say_part(part: PolicyPart) -> str:
    """What a rule or the trigger does in words, numbers as the screen has them."""
    values = {
        name: f"{value:,}" if isinstance(value, int) else value for name, value in part.model_dump().items()
    }
    return part.template.format(**values)


def row(canvas: Canvas, y: float, title: str, sentence: str, told: str) -> None:
    """A rule: its name, what it does in words, and above its bar what it claims."""
    canvas.write(0, y, title, "ink", bold=True)
    canvas.write(0, y + 17, sentence, "dim")
    canvas.write(BARS, y, told)


def draw_plan(canvas: Canvas, demo: Demo) -> str:
    """The next request without and with the plan, by section."""
    plan: Plan = demo.plan
    before, after = split(sum_before(plan)), split(sum_after(plan))
    scale = WIDTH / plan.before
    canvas.write(0, 13, "before", "ink", bold=True)
    canvas.write(WIDTH, 13, f"{plan.before:,} tokens", "ink", "end", bold=True)
    canvas.sections(0, 22, 24, scale, list_parts(before))
    canvas.write(0, 69, "after", "ink", bold=True)
    parts = [(s, n, s in (OUTSIDE, "compacted")) for s, n in after.items()]
    x = canvas.sections(0, 78, 24, scale, parts)
    canvas.line(f"M{x:.1f} 78.5H{WIDTH - 0.5}V101.5H{x:.1f}", "gone", dashed=True)
    canvas.write(x, 69, f"{plan.after:,} tokens", "ink", "end", bold=True)
    canvas.write((x + WIDTH) / 2, 95, f"{plan.before - plan.after:,} fewer", "dim", "middle")
    shown = [section for section in before if before[section] or after[section]]
    items = [
        KeyItem(
            section,
            "placeholder summary" if section == "compacted" else name_section(section),
            f"{before[section]:,} → {after[section]:,}",
            section in (OUTSIDE, "compacted"),
        )
        for section in shown
    ]
    last = canvas.key(132, items, 4)
    sentence = (
        f"Two bars by section: {plan.before:,} tokens before and {plan.after:,} after the plan of "
        f"{plan.policy.title}; most of the outputs of tools are gone, and a placeholder for a summary of "
        f"{plan.summary_tokens:,} tokens has come."
    )
    return canvas.finish(last + 8, sentence)
