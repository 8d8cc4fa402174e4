"""Charts to take away hold the numbers of what they draw, and nothing that a file could make them do."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from inspector import Session, count_tokens, find_policy, make_plan, open_demo, replay
from inspector.errors import FigureError
from inspector.planning.plan import Plan
from inspector.policies import POLICIES
from inspector.policies.table import FATES
from inspector.tokens.history import trace_history
from inspector.workbench.charts.figures import STAYS, draw_figure, find_flows
from inspector.workbench.palette import HUES
from inspector.workbench.payloads.sections import ALL_SECTIONS, LABELS

NAMES = [policy.name for policy in POLICIES]
HOSTILE = '<b>bold</b> <a href="javascript:alert(1)">here</a> $\\href{x}{y}$ &lt;i&gt; \u202e\x1b[31m'


def fullest() -> Plan:
    session = open_demo()
    ledger = count_tokens(session, "calibrated")
    moment = session.at(trace_history(session, ledger).fullest.at)
    return make_plan(moment, ledger, "flue")


# -- numbers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, True])
def test_the_bars_of_a_ledger_are_its_sections(dark: bool) -> None:
    ledger = count_tokens(open_demo(), "calibrated")
    figure = ledger.figure(dark=dark)
    drawn = {bar.y[0]: bar.x[0] for bar in figure.data}
    told = {
        name.replace("tool_", "tool ").replace("compacted", "summary"): n
        for name, n in ledger.by_section().items()
        if n
    }
    parts = {LABELS[name]: part.tokens for name, part in ledger.outside.parts.items() if part.tokens}
    assert drawn == {**told, **parts} and parts
    assert all(
        bar.marker.color == HUES[name][dark]
        for bar, name in zip(figure.data, sections_of(drawn), strict=True)
    )
    shown = figure.layout.title.subtitle.text.replace("<br>", " ")
    assert shown == ledger.source


def sections_of(labels: dict[str, int]) -> list[str]:
    names = {label: name for name, label in LABELS.items()}
    return [names.get(label, label) for label in labels]


@pytest.mark.parametrize("policy", NAMES)
def test_the_bars_and_the_flow_of_every_policy_add_up(policy: str) -> None:
    found = fullest()
    plan = make_plan(found.session, found.ledger, policy)
    figure = plan.figure()
    assert [sum(bar.x[i] for bar in figure.data) for i in (0, 1)] == [plan.before, plan.after]
    assert_conserves(plan)
    if plan.place is not None and plan.cuts.legal[plan.place]:
        told = Counter[str]()
        for _, target, tokens in find_flows(plan):
            told[target] += tokens
        # What each fate takes in is what its blocks hold, and what is withheld of them.
        held = plan.table.tokens + plan.outside.spread
        told[FATES[0]] -= plan.ledger.head_tokens + plan.outside.system_and_tools.tokens
        more = {
            name: told[name] - int(held[plan.fate == code].sum())
            for code, name in enumerate(FATES)
            if code in plan.fate
        }
        assert min(more.values()) >= 0
        assert sum(more.values()) == plan.outside.passing
    link = plan.figure("flow").data[0].link
    assert sum(link.value) == sum(tokens for _, _, tokens in find_flows(plan))


def assert_conserves(plan: Plan) -> None:
    flows = find_flows(plan)
    comes, goes = Counter[str](), Counter[str]()
    for source, target, tokens in flows:
        assert tokens > 0
        goes[source] += tokens
        comes[target] += tokens
    assert all(comes[fate] == goes[fate] for fate in FATES)
    assert sum(goes[section] for section in ALL_SECTIONS) == plan.before
    assert comes[STAYS] == plan.after


def test_the_sawtooth_holds_every_step_of_a_run() -> None:
    run = replay(open_demo(), "keep-recent-turns")
    figure = run.figure()
    recorded, replayed, compacted, told = figure.data
    assert replayed.y.tolist() == run.context.tolist() and recorded.y.tolist() == run.recorded.tolist()
    assert (
        replayed.x.tolist() == list(range(len(run)))
        and replayed.customdata.tolist() == (run.turn + 1).tolist()
    )
    assert list(compacted.y) == [item.before for item in run.adopted]
    drops = compacted.error_y.arrayminus
    assert [before - drop for before, drop in zip(compacted.y, drops, strict=True)] == [
        item.after for item in run.adopted
    ]
    assert list(told.x) == [item.step for item in run.against]
    lines = {note.text for note in figure.layout.annotations}
    assert lines == {f"window {run.window:,}", f"fires {run.threshold:,}"}


# -- texts -------------------------------------------------------------------------------------------------


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for child in children for text in strings(child)]


@pytest.mark.parametrize("dark", [False, True])
def test_what_a_policy_or_a_file_says_is_never_read_as_markup(dark: bool) -> None:
    policy = find_policy("flue").model_dump(mode="json") | {"name": HOSTILE, "title": HOSTILE}
    session = open_demo()
    entries = tuple(
        each if each.model is None else each.model_copy(update={"model": HOSTILE}) for each in session.entries
    )
    fields = {name: getattr(session, name) for name in Session.model_fields}
    session = Session.model_construct(**fields | {"entries": entries, "model": HOSTILE, "title": HOSTILE})
    ledger = count_tokens(session, "calibrated")
    assert HOSTILE in ledger.source
    plan = make_plan(session, ledger, find_policy(policy), window=200_000)
    run = replay(session, plan.policy, ledger=ledger, window=100_000)
    for figure in (
        ledger.figure(dark=dark),
        plan.figure(dark=dark),
        plan.figure("flow", dark=dark),
        run.figure(dark=dark),
    ):
        texts = strings(json.loads(figure.to_json()))
        assert any("&lt;b&gt;bold" in text for text in texts)
        for text in texts:
            bare = text.replace("<br>", "").replace("<extra></extra>", "")
            assert not re.search(r"[<>$\u202e\x1b]", bare), text
            # What a template fills in is numbers and names of ours.
            assert set(re.findall(r"%\{(\w+)", text)) <= {
                "fullData",
                "x",
                "y",
                "customdata",
                "label",
                "value",
                "source",
                "target",
            }


# -- errors ------------------------------------------------------------------------------------------------


def test_a_figure_that_does_not_exist_names_those_that_do() -> None:
    with pytest.raises(FigureError, match="figure 'pie': no such figure of a Plan; known: sections, flow"):
        fullest().figure("pie")
    with pytest.raises(FigureError, match="no such figure of a str"):
        draw_figure("text")  # type: ignore[arg-type]


def test_plotly_is_imported_with_the_first_figure() -> None:
    code = (
        "import sys, inspector; s = inspector.open_demo(); ledger = inspector.count_tokens(s); "
        "p = inspector.make_plan(s, ledger); print('plotly' in sys.modules); "
        "p.figure(); print('plotly' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
