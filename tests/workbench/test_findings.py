"""Findings and stories: held against the trace, the check of the whole session and plans made again."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from inspector import Session, lint, make_plan, open_demo, read_session
from inspector.demo import CONSTRAINT, LOST_PATH, read_demo
from inspector.facts.lint.check import LOSSES
from inspector.facts.regret import find_regret
from inspector.facts.trace import trace_recorded
from inspector.session.blocks import Text, ToolOutput
from inspector.session.entries import Entry
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.payloads.findings import MOST_TO_CHECK
from inspector.workbench.written_summaries import keep
from tests.shared import SHARED, needs_shared, open_shared
from tests.telling import compact
from tests.test_cuts import build, say, user
from tests.workbench.asking import ask, open_model

OFFSETS = {"number": 0, "kind": "file", "form": LOST_PATH}


@pytest.fixture
def model() -> WorkbenchModel:
    return open_model(open_demo())


def rows_of(reply: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for group in reply["groups"] for row in group["rows"]]


def check_against_lint(session: Session) -> None:
    """The list of a compaction holds what the check finds of the kinds listed here, and nothing else."""
    model, found = open_model(session), lint(session)
    traces = trace_recorded(session, session.facts)
    listed = {*chain(*LOSSES.values()), "CI009", "CI015"}
    for number, trace in enumerate(traces, 1):
        assert trace.scene.entry is not None
        model.answer({"at": trace.scene.session.leaf, "cut": ""})
        place = model.plan.place or 0
        reply = ask(model, "findings", look=f"recorded:{number}", place=place)
        mine = [
            (each.code, each.fact.number)
            for each in found
            if each.entry == trace.scene.entry.id and each.code in listed and each.fact is not None
        ]
        checks = [row for row in rows_of(reply) if row["sign"] == "check"]
        assert {row["outcome"] for row in checks} <= {"partial", "unclear"} and len(checks) <= MOST_TO_CHECK
        found_here = [row for row in rows_of(reply) if row["sign"] != "check"]
        assert sorted((row["code"], row["number"]) for row in found_here) == sorted(mine)
        assert reply["total"] == len(mine) + len(checks)
        assert (reply["sentence"] == "") == bool(reply["total"])
        for row in rows_of(reply):
            told = ask(model, "story", place=place, **{k: row[k] for k in (*OFFSETS, "pick")})
            traced = next(one for one in trace if one.fact.number == row["number"])
            became = {one["id"]: one["outcome"] for one in told["outcomes"]}
            assert told["pick"] == row["pick"]
            if traced.stood:
                assert became[f"recorded:{number}"] == traced.outcome


def test_the_demo_lists_what_the_check_of_the_session_finds() -> None:
    check_against_lint(open_demo())


def real_sessions() -> list[Any]:
    names = ("cc-1auto-1micro", "cc-1compact-417l", "cc-2auto-1519l")
    files = [path for name in names for path in (SHARED / "sessions").glob(f"*/{name}.jsonl")]
    return [pytest.param(path, id=path.stem) for path in files]


@needs_shared
@pytest.mark.parametrize("path", real_sessions())
def test_real_sessions_list_what_the_check_of_the_session_finds(path: Path) -> None:
    check_against_lint(open_shared(path))


def test_the_lost_file_is_told_as_a_colleague_would(model: WorkbenchModel) -> None:
    place = model.plan.place
    rule, *_, lost, _ = rows_of(ask(model, "findings", look="recorded:1", place=place))[:4]
    assert (lost["title"], lost["note"], lost["sign"]) == (LOST_PATH, "changed, turn 3", "absent")
    assert CONSTRAINT in rule["form"]
    assert rule["note"] == "your rule, turn 2"
    told = ask(model, "story", pick="recorded:1", place=place, **OFFSETS)
    assert told["wording"] == "The summary does not mention this."
    assert (told["label"], told["tone"], told["outcome"]) == ("Absent", "red", "absent")
    assert told["because"][1:] == ["No list of files was carried."]
    session = open_demo()
    ((name, _),) = [pair for pair in session.boundaries if pair[1].kind == "compact"]
    assert LOST_PATH not in session[name].text
    assert (told["said"]["title"], told["found"]["title"]) == ("The model edited", "The summary says")
    assert LOST_PATH in told["said"]["text"] and told["found"]["text"] in session[name].text
    for side in (told["said"], told["found"]):
        assert [side["text"][mark["start"] : mark["end"]] for mark in side["marks"]] == ["offsets"]
    assert "The closest sentence has 1 of 4 words." in told["searched"]
    again = [step for step in told["steps"] if step["sign"] == "again"]
    (regret,) = (
        one for one in find_regret(session, session.facts, model.ledger) if one.fact.form == LOST_PATH
    )
    assert [(step["turn"], step["tokens"], step["price"]) for step in again] == [
        (f"turn {regret.turn}", f"+{regret.tokens:,}", regret.price)
    ]


@pytest.mark.parametrize("pick", ["recorded:1", "plan"])
@pytest.mark.parametrize("form", [LOST_PATH, "tests/calendar/test_offsets.py"])
def test_a_fix_costs_what_the_next_request_grows_by(pick: str, form: str) -> None:
    """What the screen does with a fix is done here: the plan's total grows by the price, and it stands."""
    model = open_model(open_demo())
    if pick == "plan":
        model.answer({"policy": "flue", "cut": ""})
        before = model.plan.after
    else:
        before = make_plan(model.plan.session, model.ledger, "recorded").after
    told = ask(model, "story", pick=pick, place=model.plan.place or 0, number=0, kind="file", form=form)
    assert told["fixes"]
    start = dict(model.inputs)
    for fix in told["fixes"]:
        model.answer({**start, **fix["changes"]})
        assert model.plan.after - before == fix["tokens"]
        assert f"{fix['tokens']:+,} tokens" in fix["said"]
        place = model.plan.place or 0
        after = ask(model, "story", pick="plan", place=place, number=0, kind="file", form=form)
        ((plan),) = [one for one in after["outcomes"] if one["id"] == "plan"]
        assert plan["outcome"] in ("verbatim", "quoted")


def test_words_of_a_recorded_summary_that_nothing_before_it_has_are_marked() -> None:
    lines = (
        "Mended src/a.py.",
        "Then src/ghost.py was read.",
        *["All went well."] * 1_500,
        "See src/far.py.",
    )
    stray = Entry(id="", role="tool", blocks=(ToolOutput(call_id="gone", parts=(Text(text="ok"),)),))
    session = build(user("Mend src/a.py."), say(), compact("\n".join(lines)), stray, user("Go on."), say())
    model = open_model(session, "flue")
    told = ask(model, "grounding", row=0)
    (mark,) = told["marks"]
    assert "\n".join(lines)[mark["start"] : mark["end"]] == "src/ghost.py"
    assert told["hidden"] == 1, "the last line is beyond the text that is shown"
    assert ask(model, "rows", **{"from": 1, "to": 2})["rows"][0]["label"] == "output of an unknown call"


def test_lines_of_a_summary_without_a_source_are_listed_apart() -> None:
    """`lint` has them as CI008; they are no facts, and the tab does not count them."""
    model = WorkbenchModel(open_demo(), "flue")
    model.answer({"look": "plan"})
    place = model.plan.place or 0
    assert ask(model, "findings", look="plan", place=place)["ungrounded"] == []
    plan = model.plan.with_summary("Fixed src/nowhere.py with 32171 retries.")
    model.written = keep((), plan, plan.checkpoint)
    model.answer({"look": "plan", "pins": []})
    reply = ask(model, "findings", look="plan", place=place)
    found = [item.sentence for item in lint(model.session, model.plan, "CI008")]
    assert len(found) == 2 and reply["ungrounded"] == found
    assert reply["total"] == sum(group["count"] for group in reply["groups"])


def test_a_recorded_summary_has_the_lines_without_a_source_of_the_check() -> None:
    rows = [json.loads(line) for line in read_demo().splitlines()]
    summary = next(row for row in rows if row.get("isCompactSummary"))
    content = summary["message"]["content"]
    words = "\n\nFixed src/nowhere.py as well."
    if isinstance(content, str):
        summary["message"]["content"] = content + words
    else:
        content[-1]["text"] += words
    session = read_session("\n".join(map(json.dumps, rows)).encode())
    found = [item.sentence for item in lint(session, rules="CI008")]
    assert len(found) == 1 and "nothing in what it summarises does" in found[0]
    opened = open_model(session)
    reply = ask(opened, "findings", look="recorded:1", place=opened.plan.place or 0)
    assert reply["ungrounded"] == found
