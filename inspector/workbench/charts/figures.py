"""Export charts: a ledger, a plan or a run as a plotly figure that looks like the workbench.

The result is a `plotly.graph_objects.Figure`. All its numbers are in the given value; hovering shows the
exact number and its source. plotly interprets some HTML and all TeX in texts, so every text from a file or a
policy goes through `plain`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import FigureError
from ...mixins import Drawable
from ...planning.left_outside import leave_outside, takes
from ...planning.plan import Plan
from ...policies.table import COUNTED, DROPPED, FATES, SUMMARISED, VERBATIM
from ...replays.decay import Decay
from ...replays.run import Run
from ...tokens.ledger import Ledger
from ...tokens.not_in_file import PARTS
from ...tokens.rows import SECTIONS
from ..palette import FACE, colour, fade
from ..payloads.sections import ALL_SECTIONS, LABELS, sum_sections
from .decay import draw_decay
from .replay import draw_sawtooth
from .style import add_limit, load_plotly, make_template, plain, say

KINDS = {Ledger: ("sections",), Plan: ("sections", "flow"), Run: ("sawtooth",), Decay: ("decay",)}
"""What can be drawn of what; the first is drawn when nothing is asked for."""
TALL = {"sections": 240, "flow": 420, "sawtooth": 340}


def draw_figure(value: Drawable, kind: str = "", *, dark: bool = False) -> Any:
    """Draw a ledger, a plan, a run or a decay. Raises `FigureError` for an unknown kind.

    >>> from inspector import count_tokens, open_demo
    >>> figure = draw_figure(count_tokens(open_demo()))
    >>> [(bar.name, bar.x[0]) for bar in figure.data][:3]
    [('summary', 849), ('user', 208), ('assistant', 563)]
    """
    allowed = next((kinds for kind_of, kinds in KINDS.items() if issubclass(type(value), kind_of)), ())
    chosen = kind or (allowed[0] if allowed else "")
    if chosen not in allowed:
        raise FigureError(kind, f"no such figure of a {type(value).__name__}", allowed)
    if isinstance(value, Decay):
        return draw_decay([value], dark=dark)
    figure = load_plotly(chosen).Figure(layout={"template": make_template(dark), "height": TALL[chosen]})
    if isinstance(value, Ledger):
        _draw_ledger(figure, value, dark)
    elif isinstance(value, Run):
        draw_sawtooth(figure, value, dark)
    elif isinstance(value, Plan):
        (_draw_flow if chosen == "flow" else _draw_plan)(figure, value, dark)
    return figure


def _label(section: str) -> str:
    return LABELS.get(section, section)


# -- sections ------------------------------------------------------------------------------------------------


def _draw_ledger(figure: Any, ledger: Ledger, dark: bool) -> None:
    """The context at the leaf, a bar for each section; what is reported beyond it has one of its own."""
    outside = ledger.outside
    sums: dict[str, int] = ledger.by_section()
    source = plain(outside.describe(sum(sums.values())), 400)
    sums |= {name: part.tokens for name, part in outside.parts.items()}
    whole = sum(sums.values())
    for section, tokens in sums.items():
        if tokens:
            note = f"{tokens / whole:.1%}, {source if section in PARTS else 'counted'}"
            _add_bar(figure, section, [_label(section)], [tokens], [note], dark)
    say(figure, f"{whole:,} tokens in the context", ledger.source)
    rows = max(len(figure.data), 1)
    figure.update_layout(showlegend=False, height=120 + 28 * rows, barmode="overlay")
    _lay_rows(figure)


def _draw_plan(figure: Any, plan: Plan, dark: bool) -> None:
    """Draw the context before and after, by section, and the policy's trigger."""
    before, after = sum_sections(plan)
    rows = ["before", "after"]
    for section, *tokens in zip(ALL_SECTIONS, before.tolist(), after.tolist(), strict=True):
        if any(tokens):
            source_note = "not in the file" if section in PARTS else "counted"
            notes = [source_note, source_note]
            if section == "compacted" and plan.summary_tokens:
                written = plan.checkpoint is not None
                what = "are the summary" if written else "replace a summary that is not written yet"
                notes[1] = f"of which {plan.summary_tokens:,} {what}"
            _add_bar(figure, section, rows, tokens, notes, dark)
    window, lead = plan.table.window, plan.verdict.lead
    fires = lead.threshold if plan.policy.acts_alone and lead.condition.measure in COUNTED else None
    if window:
        add_limit(figure, "x", "window", window, colour("dim", dark))
    if fires and fires > 0:
        add_limit(figure, "x", "fires", fires, colour("bad", dark))
    total_before, stays = int(before.sum()), int(after.sum())
    say(figure, f"{plain(plan.policy.name)}: {total_before:,} → {stays:,} tokens", plan.ledger.source)
    figure.update_layout(barmode="stack", legend_traceorder="normal", margin_b=40)
    _lay_rows(figure, most=max(total_before, stays, window or 0, fires or 0))


def _lay_rows(figure: Any, most: float = 0) -> None:
    """Axes for bars that lie; with room for words behind `most` tokens, if given."""
    figure.update_xaxes(tickformat="~s", rangemode="tozero")
    if most:
        figure.update_xaxes(range=[0, 1.16 * most])
    figure.update_yaxes(autorange="reversed", showline=False, ticks="", tickfont={"family": FACE, "size": 12})


def _add_bar(
    figure: Any, section: str, rows: list[str], tokens: list[int], notes: list[str], dark: bool
) -> None:
    figure.add_bar(
        orientation="h",
        name=_label(section),
        y=rows,
        x=tokens,
        customdata=notes,
        hovertemplate="%{fullData.name} · %{y}<br>%{x:,} tokens<br>%{customdata}<extra></extra>",
        marker={"color": colour(section, dark), "line": {"color": colour("ground", dark), "width": 0.5}},
    )


# -- flow ----------------------------------------------------------------------------------------------------


def _draw_flow(figure: Any, plan: Plan, dark: bool) -> None:
    """Draw sections, their retention, and the context after; inflow equals outflow at every node."""
    flows = find_flows(plan)
    names = list(dict.fromkeys(name for source, target, _ in flows for name in (source, target)))
    at = {name: index for index, name in enumerate(names)}
    say(
        figure,
        f"{plain(plan.policy.name)}: where {plan.before:,} tokens go",
        plan.ledger.source,
    )
    figure.add_sankey(
        arrangement="snap",
        node={
            "label": [_label(name) for name in names],
            "color": [_node_colour(name, dark) for name in names],
            "pad": 14,
            "thickness": 12,
            "line": {"width": 0},
            "hovertemplate": "%{label}<br>%{value:,} tokens<extra></extra>",
        },
        link={
            "source": [at[source] for source, _, _ in flows],
            "target": [at[target] for _, target, _ in flows],
            "value": [tokens for _, _, tokens in flows],
            "color": [fade(_link_colour(source, target), 0.35, dark) for source, target, _ in flows],
            "hovertemplate": "%{source.label} → %{target.label}<br>%{value:,} tokens<extra></extra>",
        },
        valueformat=",",
        textfont={"size": 11, "family": FACE, "color": colour("text", dark), "shadow": "none"},
    )
    figure.update_layout(margin={"l": 8, "r": 8, "b": 16})


STAYS, GOES = "stays in the context", "leaves the context"
WRITTEN, ADDED = "summary and notice", "put in its place"


def find_flows(plan: Plan) -> list[tuple[str, str, int]]:
    """Return (from, to, tokens): from sections to retentions, from these to the context or out of it.

    The outflow of the sections is the context before; the inflow of `STAYS` is the context after.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session))
    >>> sum(n for _, to, n in find_flows(plan) if to == STAYS) == plan.after
    True
    """
    table, outcome = plan.table, plan.outcome
    before, after = table.tokens.astype(np.int64), outcome.tokens.astype(np.int64)
    hidden_before, hidden_after = plan.outside.spread, leave_outside(table, outcome)
    cells = table.section.astype(np.int64) * len(FATES) + outcome.fate
    grid = np.bincount(cells, before, len(SECTIONS) * len(FATES)).astype(np.int64)
    grid = grid.reshape(len(SECTIONS), len(FATES))
    grid[:, 0] += plan.ledger.head_sections
    flows = [
        (section, fate, int(grid[s, f])) for s, section in enumerate(SECTIONS) for f, fate in enumerate(FATES)
    ]
    parts = plan.outside.parts
    flows.append(("system_and_tools", FATES[0], parts["system_and_tools"].tokens))
    hidden = [int(hidden_before[outcome.fate == f].sum()) for f in range(len(FATES))]
    flows += [("hidden_reasoning", fate, tokens) for fate, tokens in zip(FATES, hidden, strict=True)]
    removed = takes(outcome) & (plan.table.since == 0)
    removed_fates = [f for f in (SUMMARISED, DROPPED) if (removed & (outcome.fate == f)).any()]
    goes = FATES[removed_fates[0] if removed_fates else VERBATIM]
    flows += [(name, goes, parts[name].tokens) for name in ("before_file", "reattached")]
    passing = plan.outside.passing
    for f, fate in enumerate(FATES):
        in_fate = outcome.fate == f
        gone = int(
            np.maximum(before - after, 0)[in_fate].sum() + (hidden_before - hidden_after)[in_fate].sum()
        )
        gone += passing if removed_fates and fate == goes else 0
        came = sum(tokens for _, target, tokens in flows if target == fate)
        flows += [(fate, STAYS, came - gone), (fate, GOES, gone)]
    flows.append((ADDED, STAYS, int(np.maximum(after - before, 0).sum())))
    written = plan.summary_tokens + plan.notice_tokens
    more = plan.parts_after["hidden_reasoning"] - int(hidden_after.sum())
    flows.append((WRITTEN, STAYS, written + more))
    return [flow for flow in flows if flow[2]]


def _node_colour(name: str, dark: bool) -> str:
    if name in ALL_SECTIONS:
        return colour(name, dark)
    return colour({WRITTEN: "compacted", GOES: "gone", STAYS: "ink"}.get(name, "dim"), dark)


def _link_colour(source: str, target: str) -> str:
    if source in ALL_SECTIONS:
        return source
    return "compacted" if source == WRITTEN else "gone" if target == GOES else "dim"
