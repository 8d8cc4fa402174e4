"""Charts to take away: a ledger, a plan or a run as a plotly figure that looks like the workbench.

In goes one of these values, out comes a `plotly.graph_objects.Figure`. Every number in it is one that the
value holds; hovering tells it exactly, and where it comes from. plotly reads some of HTML and all of TeX in
the texts it draws, so whatever a file or a policy says goes through `plain`.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import wrap
from typing import Any

import numpy as np

from .counter import Longs
from .drawable import Drawable
from .errors import FigureError
from .ledger import SECTIONS, Ledger
from .palette import FACE, MONO, colour, fade
from .plan import Plan
from .printable import printable
from .run import Run
from .runview import REASONS
from .table import COUNTED, FATES
from .view import ALL_SECTIONS, LABELS

KINDS = {Ledger: ("sections",), Plan: ("sections", "flow"), Run: ("sawtooth",)}
"""What can be drawn of what; the first is drawn when nothing is asked for."""
POINTS, MARKS = 800, 190
"""A line has so many points at most, so many compactions of either kind are marked: below 2,000 in all."""
WIDE, TALL = 0.55, {"sections": 240, "flow": 420, "sawtooth": 340}


def draw_figure(value: Drawable, kind: str = "", *, dark: bool = False) -> Any:
    """The figure of a ledger, a plan or a run. Raises `FigureError` when there is none, or no plotly.

    >>> from inspector import count_tokens, open_bundled
    >>> figure = draw_figure(count_tokens(open_bundled()))
    >>> [(bar.name, bar.x[0]) for bar in figure.data][:3]
    [('summary', 849), ('user', 208), ('assistant', 563)]
    """
    known = next((kinds for kind_of, kinds in KINDS.items() if isinstance(value, kind_of)), ())
    chosen = kind or (known[0] if known else "")
    if chosen not in known:
        raise FigureError(kind, f"no such figure of a {type(value).__name__}", known)
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        reason = "it is drawn by plotly, which is not installed (pip install 'compaction-inspector[lab]')"
        raise FigureError(chosen, reason) from error
    figure = go.Figure(layout={"template": make_template(dark), "height": TALL[chosen]})
    if isinstance(value, Ledger):
        _draw_ledger(figure, value, dark)
    elif isinstance(value, Run):
        _draw_sawtooth(figure, value, dark)
    elif isinstance(value, Plan):
        (_draw_flow if chosen == "flow" else _draw_plan)(figure, value, dark)
    return figure


def make_template(dark: bool = False) -> dict[str, Any]:
    """The look of the workbench as a plotly template, for charts of one's own too.

    >>> make_template()["layout"]["colorway"][:2]
    ['#2763ba', '#5aade0']
    """
    words, dim, line = (colour(name, dark) for name in ("text", "dim", "line"))
    axis = {
        "showgrid": False,
        "zeroline": False,
        "showline": True,
        "linecolor": line,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": line,
        "tickfont": {"family": MONO, "size": 11, "color": dim},
        "title": {"font": {"size": 12, "color": dim}, "standoff": 8},
        "automargin": True,
    }
    hues = ("user", "assistant", "tool_output", "tool_call", "reasoning", "compacted", "system")
    layout = {
        "font": {"family": FACE, "size": 12, "color": words},
        "title": {
            "x": 0,
            "xref": "container",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 12, "l": 8},
            "font": {"size": 14, "color": colour("ink", dark)},
            "subtitle": {"font": {"size": 11, "color": dim}},
        },
        "paper_bgcolor": colour("ground", dark),
        "plot_bgcolor": colour("ground", dark),
        "colorway": [colour(name, dark) for name in hues],
        "margin": {"l": 8, "r": 16, "t": 82, "b": 8},
        "xaxis": axis,
        "yaxis": axis,
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 0,
            "yref": "container",
            "yanchor": "bottom",
            "font": {"size": 11},
        },
        "hoverlabel": {
            "bgcolor": colour("ground", dark),
            "bordercolor": line,
            "font": {"family": MONO, "size": 11, "color": words},
            "align": "left",
        },
        "bargap": 1 - WIDE,
        "separators": ".,",
    }
    return {"layout": layout}


def plain(text: str, limit: int = 80) -> str:
    """A text that plotly draws as it stands: no tag, link, entity or formula in it is read as one.

    >>> plain('<a href="x">$E$</a>')
    '&lt;a href="x"&gt;&#36;E&#36;&lt;/a&gt;'
    """
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return escape(printable(short), quote=False).replace("$", "&#36;").replace("\n", " ")


def _say(figure: Any, title: str, source: str, note: str = "") -> None:
    """The title, and in two lines under it what to know and where the numbers come from."""
    words = f"{note} {source}".strip()
    lines = wrap(words, 96, max_lines=2, placeholder=" …", break_on_hyphens=False)
    told = "<br>".join(plain(line, 120) for line in lines)
    figure.update_layout(title={"text": title, "subtitle": {"text": told}})


def _label(section: str) -> str:
    return LABELS.get(section, section)


# -- sections ------------------------------------------------------------------------------------------------


def _draw_ledger(figure: Any, ledger: Ledger, dark: bool) -> None:
    """The context at the leaf, a bar for each section; what is reported beyond it has one of its own."""
    beyond = ledger.unexplained
    sums = {**ledger.by_section(), "unexplained": beyond.tokens}
    whole = sum(sums.values())
    for section, tokens in sums.items():
        if tokens:
            told = plain(beyond.note, 400) if section == "unexplained" else "counted"
            _add_bar(figure, section, [_label(section)], [tokens], [f"{tokens / whole:.1%}, {told}"], dark)
    _say(figure, f"{whole:,} tokens in the context", ledger.source)
    rows = max(len(figure.data), 1)
    figure.update_layout(showlegend=False, height=120 + 28 * rows, barmode="overlay")
    _lay_rows(figure)


def _draw_plan(figure: Any, plan: Plan, dark: bool) -> None:
    """The context before and after, section by section, and where the policy fires."""
    before, after = sum_sections(plan)
    rows = ["before", "after"]
    for section, *tokens in zip(ALL_SECTIONS, before.tolist(), after.tolist(), strict=True):
        if any(tokens):
            told = "reported beyond what is counted" if section == "unexplained" else "counted"
            notes = [told, told]
            if section == "compacted" and plan.summary_tokens:
                notes[1] = f"of which {plan.summary_tokens:,} stand in for a summary yet to be written"
            _add_bar(figure, section, rows, tokens, notes, dark)
    trigger, window = plan.policy.trigger, plan.table.window
    fires = plan.verdict.threshold if trigger.enabled and trigger.measure in COUNTED else None
    if window:
        _add_limit(figure, "x", "window", window, colour("dim", dark))
    if fires and fires > 0:
        _add_limit(figure, "x", "fires", fires, colour("bad", dark))
    left, stays = int(before.sum()), int(after.sum())
    _say(figure, f"{plain(plan.policy.name)}: {left:,} → {stays:,} tokens", plan.ledger.source)
    figure.update_layout(barmode="stack", legend_traceorder="normal", margin_b=40)
    _lay_rows(figure, most=max(left, stays, window or 0, fires or 0))


def _lay_rows(figure: Any, most: float = 0) -> None:
    """Axes for bars that lie; with room for words behind `most` tokens, if given."""
    figure.update_xaxes(tickformat="~s", rangemode="tozero")
    if most:
        figure.update_xaxes(range=[0, 1.16 * most])
    figure.update_yaxes(autorange="reversed", showline=False, ticks="", tickfont={"family": FACE, "size": 12})


def sum_sections(plan: Plan) -> tuple[Longs, Longs]:
    """int64[11] each: tokens by section before and after, what is reported beyond the count as the last.

    They add up to `plan.before` and `plan.after`, each with `plan.hidden`. What a summary will be, and a
    notice, count as compacted history.
    """
    head = plan.ledger.head_sections
    before = head + _by_section(plan, plan.table.tokens)
    after = head + _by_section(plan, plan.outcome.tokens)
    after[SECTIONS.index("compacted")] += plan.summary_tokens + plan.notice_tokens
    return np.append(before, plan.hidden), np.append(after, plan.hidden)


def _by_section(plan: Plan, tokens: Any) -> Longs:
    return np.bincount(plan.table.section, tokens, len(SECTIONS)).astype(np.int64)


def _add_bar(
    figure: Any, section: str, rows: list[str], tokens: list[int], told: list[str], dark: bool
) -> None:
    figure.add_bar(
        orientation="h",
        name=_label(section),
        y=rows,
        x=tokens,
        customdata=told,
        hovertemplate="%{fullData.name} · %{y}<br>%{x:,} tokens<br>%{customdata}<extra></extra>",
        marker={"color": colour(section, dark), "line": {"color": colour("ground", dark), "width": 0.5}},
    )


def _add_limit(figure: Any, axis: str, label: str, tokens: float, hue: str) -> None:
    """A line at a number of tokens, named and told exactly."""
    draw = figure.add_vline if axis == "x" else figure.add_hline
    # The two limits are often close to each other: their names stand on either side.
    beside = {"x": ("top right", "top left"), "y": ("top right", "bottom right")}[axis]
    draw(
        tokens,
        line={"color": hue, "width": 1, "dash": "dot"},
        annotation={
            "text": f"{label} {tokens:,.0f}",
            "font": {"size": 11, "color": hue},
            "hovertext": f"{label}: {tokens:,.0f} tokens",
        },
        annotation_position=beside[label == "fires"],
    )


# -- flow ----------------------------------------------------------------------------------------------------


def _draw_flow(figure: Any, plan: Plan, dark: bool) -> None:
    """Sections, what becomes of them, and the context after: at every node as much comes as goes."""
    flows = find_flows(plan)
    names = list(dict.fromkeys(name for source, target, _ in flows for name in (source, target)))
    at = {name: index for index, name in enumerate(names)}
    _say(
        figure,
        f"{plain(plan.policy.name)}: where {plan.before + plan.hidden:,} tokens go",
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
    """(from, to, tokens): sections to fates, fates to what stays and what goes, what is new to what stays.

    What leaves the sections is the context before; what reaches `STAYS` is the context after.

    >>> from inspector import count_tokens, make_plan, open_bundled
    >>> session = open_bundled()
    >>> plan = make_plan(session, count_tokens(session))
    >>> sum(n for _, to, n in find_flows(plan) if to == STAYS) == plan.after + plan.hidden
    True
    """
    table, outcome = plan.table, plan.outcome
    before, after = table.tokens.astype(np.int64), outcome.tokens.astype(np.int64)
    cells = table.section.astype(np.int64) * len(FATES) + outcome.fate
    grid = np.bincount(cells, before, len(SECTIONS) * len(FATES)).astype(np.int64)
    grid = grid.reshape(len(SECTIONS), len(FATES))
    grid[:, 0] += plan.ledger.head_sections
    flows = [
        (section, fate, int(grid[s, f])) for s, section in enumerate(SECTIONS) for f, fate in enumerate(FATES)
    ]
    flows.append(("unexplained", FATES[0], plan.hidden))
    for f, fate in enumerate(FATES):
        mine = outcome.fate == f
        gone = int(np.maximum(before - after, 0)[mine].sum())
        came = sum(tokens for _, target, tokens in flows if target == fate)
        flows += [(fate, STAYS, came - gone), (fate, GOES, gone)]
    flows.append((ADDED, STAYS, int(np.maximum(after - before, 0).sum())))
    flows.append((WRITTEN, STAYS, plan.summary_tokens + plan.notice_tokens))
    return [flow for flow in flows if flow[2]]


def _node_colour(name: str, dark: bool) -> str:
    if name in ALL_SECTIONS:
        return colour(name, dark)
    return colour({WRITTEN: "compacted", GOES: "gone", STAYS: "ink"}.get(name, "dim"), dark)


def _link_colour(source: str, target: str) -> str:
    if source in ALL_SECTIONS:
        return source
    return "compacted" if source == WRITTEN else "gone" if target == GOES else "dim"


# -- sawtooth ------------------------------------------------------------------------------------------------


def _draw_sawtooth(figure: Any, run: Run, dark: bool) -> None:
    """The context at every step as it was and as the policy leaves it, and where it compacts."""
    size = -(-len(run) // POINTS) or 1
    told = f"The fullest of every {size:,} steps is drawn." if size > 1 else ""
    lines: Sequence[tuple[str, Longs, str, dict[str, Any]]] = (
        (
            "recorded",
            run.recorded,
            "as reported, counted since",
            {"color": colour("faint", dark), "width": 1},
        ),
        ("replayed", run.context, "replayed", {"color": colour("user", dark), "width": 1.5}),
    )
    for name, tokens, source, line in lines:
        steps = find_fullest(tokens, size)
        figure.add_scatter(
            name=name,
            mode="lines",
            x=steps,
            y=tokens[steps],
            customdata=run.turn[steps] + 1,
            line=line,
            hovertemplate=f"turn %{{customdata}}, step %{{x}}<br>%{{y:,}} tokens, {source}<extra></extra>",
        )
    hidden = _mark_compactions(figure, run, dark) + _mark_recorded(figure, run, dark)
    if hidden:
        told += f" {hidden:,} more compactions are not marked."
    if run.window:
        _add_limit(figure, "y", "window", run.window, colour("dim", dark))
    if run.threshold > 0 and run.policy.trigger.measure in COUNTED:
        _add_limit(figure, "y", "fires", run.threshold, colour("bad", dark))
    done = len(run.adopted)
    times = "1 compaction" if done == 1 else f"{done:,} compactions"
    _say(figure, f"{plain(run.policy.name)}: {times}, fullest {run.peak:,} tokens", run.source, told)
    figure.update_layout(margin_b=40)
    figure.update_xaxes(title_text="step", tickformat=",d", rangemode="tozero")
    figure.update_yaxes(tickformat="~s", rangemode="tozero")


def find_fullest(tokens: Longs, size: int) -> Longs:
    """int64: of every `size` steps the one with the most tokens, the first of equals; and the last of all.

    >>> find_fullest(np.array([1, 5, 2, 2, 9]), 2).tolist()
    [1, 2, 4]
    """
    if not len(tokens):
        return np.zeros(0, np.int64)
    starts = np.arange(0, len(tokens), size)
    padded = np.full(len(starts) * size, -1, np.int64)
    padded[: len(tokens)] = tokens
    steps = starts + padded.reshape(-1, size).argmax(axis=1)
    return np.unique(np.append(steps, len(tokens) - 1)).astype(np.int64)


def _mark_compactions(figure: Any, run: Run, dark: bool) -> int:
    """A drop for every compaction of the run. How many are not drawn."""
    drawn = run.adopted[:MARKS]
    if drawn:
        figure.add_scatter(
            name="compacted",
            mode="markers",
            x=[item.step for item in drawn],
            y=[item.before for item in drawn],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [0] * len(drawn),
                "arrayminus": [max(item.before - item.after, 0) for item in drawn],
                "color": fade("compacted", 0.6, dark),
                "thickness": 1,
                "width": 0,
            },
            customdata=[
                f"turn {item.turn + 1}, step {item.step}<br>{REASONS[item.reason]}: "
                f"{item.before:,} → {item.after:,} tokens"
                for item in drawn
            ],
            hovertemplate="%{customdata}<extra></extra>",
            marker={"symbol": "triangle-down", "size": 8, "color": colour("compacted", dark)},
        )
    return len(run.adopted) - len(drawn)


def _mark_recorded(figure: Any, run: Run, dark: bool) -> int:
    """A mark for every compaction the file records. How many are not drawn."""
    drawn = run.against[:MARKS]
    if drawn:
        figure.add_scatter(
            name="recorded compaction",
            mode="markers",
            x=[told.step for told in drawn],
            y=[told.tokens for told in drawn],
            customdata=[
                f"turn {told.turn + 1}, step {told.step}<br>{told.tokens:,} tokens stood there"
                for told in drawn
            ],
            hovertemplate="%{customdata}<extra></extra>",
            marker={
                "symbol": "diamond-open",
                "size": 7,
                "color": colour("dim", dark),
                "line": {"width": 1.2},
            },
        )
    return len(run.against) - len(drawn)
