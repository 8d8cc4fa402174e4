"""Findings and stories: held against the trace, the check of the whole session and plans made again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector import Session, checkpoint_from_text, count_tokens, lint, make_plan, open_demo, open_session
from inspector.demo import CONSTRAINT, LOST_PATH
from inspector.errors import InspectorError
from inspector.facts.regret import find_regret
from inspector.facts.trace import trace_recorded
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.payloads import findings
from inspector.workbench.payloads.findings import MOST_TO_CHECK
from inspector.workbench.payloads.sentence import count_left, write_sentence
from inspector.workbench.queries import answer_query
from tests.shared import SHARED, needs_shared

OFFSETS = {"number": 0, "kind": "file", "form": LOST_PATH}


def ask(model: WorkbenchModel, question: str, **query: Any) -> dict[str, Any]:
    reply = answer_query(model, {"type": question, "id": 1, **query})
    assert reply["type"] == question, reply
    return reply


def open_model(session: Session) -> WorkbenchModel:
    model = WorkbenchModel(session)
    model.answer({})
    return model


@pytest.fixture
def model() -> WorkbenchModel:
    return open_model(open_demo())


def rows_of(reply: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for group in reply["groups"] for row in group["rows"]]


def check_against_lint(session: Session) -> None:
    """The list of a compaction holds what the check finds of the kinds listed here, and nothing else."""
    model, found = open_model(session), lint(session)
    traces = trace_recorded(session, session.facts)
    listed = {*(f"CI00{n}" for n in (1, 2, 3, 4, 5, 6, 9)), "CI015", "CI016", "CI017"}
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
    names = ("cc-3auto-compactions-893l", "cc-1auto-1micro", "cc-1compact-417l", "cc-2auto-1519l")
    files = [path for name in names for path in (SHARED / "sessions").glob(f"*/{name}.jsonl")]
    return [pytest.param(path, id=path.stem) for path in files]


@needs_shared
@pytest.mark.parametrize("path", real_sessions())
def test_real_sessions_list_what_the_check_of_the_session_finds(path: Path) -> None:
    check_against_lint(open_session(path))


def test_the_lost_file_is_told_as_a_colleague_would(model: WorkbenchModel) -> None:
    place = model.plan.place
    first, rule = rows_of(ask(model, "findings", look="recorded:1", place=place))[:2]
    assert (first["title"], first["note"], first["sign"]) == (LOST_PATH, "changed, turn 3", "absent")
    assert CONSTRAINT in rule["form"]
    assert rule["note"] == "your rule, turn 2"
    told = ask(model, "story", pick="recorded:1", place=place, **OFFSETS)
    assert told["wording"] == {
        "code": "absent",
        "text": "The summary does not mention this.",
    }
    assert (told["label"], told["tone"], told["outcome"]) == ("Absent", "red", "absent")
    assert [cause["text"] for cause in told["because"]][1:] == ["No list of files was carried."]
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


def test_a_fix_that_was_made_says_so_and_a_second_comes_on_top(model: WorkbenchModel) -> None:
    listed = {"kind": "file", "form": "tests/almanac/test_loader.py", "number": 0}
    story = {"pick": "recorded:1", "place": model.plan.place, **listed}
    first = ask(model, "story", **story)["fixes"][0]
    model.answer(first["changes"])
    fixes = ask(model, "story", **story)["fixes"]
    assert [fix["done"] for fix in fixes].count(True) == 1
    second = next(fix for fix in fixes if not fix["done"] and fix["does"] == "Pin")
    model.answer(second["changes"])
    assert len(model.inputs["pins"]) == 2


def test_what_was_made_says_by_what_it_is_kept_and_is_taken_back_by_its_own_changes(
    model: WorkbenchModel,
) -> None:
    story = {"pick": "recorded:1", "place": model.plan.place, **OFFSETS}
    before = ask(model, "story", **story)["fixes"][0]
    model.answer(before["changes"])
    made, grown = ask(model, "story", **story)["fixes"][0], model.plan.after
    assert (made["id"], made["does"], made["done"]) == (before["id"], "Undo", True)
    assert made["words"] == f"✓ kept by pin: {before['words']}"
    assert made["tokens"] == before["tokens"]
    model.answer(made["changes"])
    assert model.inputs["pins"] == []
    assert model.plan.after == grown - before["tokens"]
    after = ask(model, "story", **story)["fixes"][0]
    assert {**after, "changes": {}} == {**before, "changes": {}}


def test_the_words_of_a_rule_are_copied_and_come_before_what_is_proved(model: WorkbenchModel) -> None:
    (rule, *_) = trace_recorded(model.session)[0].select("absent", kind="constraint")
    asked = {"kind": "constraint", "form": rule.fact.form, "number": 0}
    told = ask(model, "story", pick="recorded:1", place=model.plan.place, **asked)
    words, pin, *_ = told["fixes"]
    assert (words["does"], words["changes"], pin["does"]) == ("Copy", {}, "Pin")
    assert rule.fact.form in words["recipe"]
    assert "not proved" in words["words"]


def test_what_was_read_again_would_have_been_avoided_by_the_block_that_holds_it(
    model: WorkbenchModel,
) -> None:
    told = ask(model, "story", pick="again:0", place=model.plan.place, **OFFSETS)
    (fix,) = told["fixes"]
    assert fix["does"] == "Pin"
    assert "lines re-read in turn 15" in fix["words"]


def test_a_session_without_a_compaction_has_the_plan_s_findings() -> None:
    session = open_demo()
    early = session.at(session.entries[session.path[40]].id)
    model = WorkbenchModel(early, "keep-recent-turns", ledger=count_tokens(early))
    model.answer({"cut": "end"})
    reply = ask(model, "findings", look="plan", place=model.plan.place or 0)
    assert reply["look"] == "plan"
    with pytest.raises(InspectorError):
        make_plan(early, model.ledger, "recorded")


def test_exact_counts_trace_no_recorded_compaction_again_and_a_grown_session_does(
    model: WorkbenchModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced = []
    trace = findings.trace_moves
    monkeypatch.setattr(findings, "trace_moves", lambda *args: traced.append(args) or trace(*args))
    model.follow(model.session.at(model.session.leaf))  # whose facts nobody has traced before
    model.answer({})
    first = ask(model, "findings", place=model.plan.place or 0)
    model.follow(model.session, count_tokens(model.session, "chars4_utf16"))
    model.answer({})
    again = ask(model, "findings", place=model.plan.place or 0)
    assert len(traced) == 1
    assert [row["form"] for row in rows_of(first)] == [row["form"] for row in rows_of(again)]
    model.follow(model.session.at(model.session.leaf))
    model.answer({})
    ask(model, "findings", place=model.plan.place or 0)
    assert len(traced) == 2


def test_a_summary_that_is_not_written_yet_loses_nothing_for_sure_and_every_panel_says_so(
    model: WorkbenchModel,
) -> None:
    """Sentence, findings, facts, story and summary tell one number in one wording, until one is written."""
    model.answer({"policy": "flue", "look": "plan"})
    plan, place = model.plan, model.plan.place
    assert ", not written yet." in write_sentence(plan, count_left(plan)).text
    loses = ask(model, "losses", place=place)
    # Counted the long way: what no block that stays names, of what was changed or demanded.
    kept = {str(ref) for ref, fate in zip(plan.session.live_refs(), plan.fate, strict=True) if not fate}
    standing = {str(ref) for ref in plan.session.live_refs()}
    alone = []
    for fact in plan.session.facts.values():
        refs = {str(each.ref) for each in fact.said} & standing
        changed = {each.operation for each in fact.said if str(each.ref) in standing} & {
            "created",
            "edited",
            "deleted",
        }
        names = (fact.kind == "file" and changed) or fact.kind == "constraint"
        if names and refs and not refs & kept:
            alone.append(fact)
    files = sum(fact.kind == "file" for fact in alone)
    assert len(alone) > files > 4
    assert loses["sentence"] == f"{len(alone)} facts would be missing unless the summary names them."
    assert loses["tone"] == ""
    reply = ask(model, "findings", look="plan", place=place)
    (group,) = reply["groups"]
    assert group["title"] == "Absent unless the summary names it"
    assert {row["number"] for row in group["rows"]} == {fact.number for fact in alone}
    facts = ask(model, "facts", place=place)
    assert facts["absent"] == "absent unless named"
    outcomes = {row["number"]: row["outcome"] for row in facts["rows"]}
    assert {outcomes[fact.number] for fact in alone} == {"absent"}
    for fact in alone:
        told = ask(
            model, "story", place=place, number=fact.number, kind=fact.kind, form=fact.form, pick="plan"
        )
        assert told["wording"]["code"] == "absent: not written"
        assert told["found"]["text"] == "It is not written yet."
        assert not told["tone"] and told["factRow"]["ends"].endswith("unless the summary names it")
        assert told["outcomes"][-1]["words"] == "absent unless the summary names it"
    planned = ask(model, "summaries", place=place)["planned"]
    assert planned["note"].startswith("Not written yet: a placeholder.")
    assert planned["counts"][0]["words"].startswith(f"absent unless named: {files} of ")

    # What one that is written names is in it, and the rest is lost.
    first, *rest = alone
    model.adopt_summary(plan, checkpoint_from_text(f"All is well with {first.form}.", plan))
    facts = ask(model, "facts", place=place, kind="file")
    outcomes = {row["number"]: row["outcome"] for row in facts["rows"]}
    assert facts["absent"] == "absent" and outcomes[first.number] == "quoted"
    assert {outcomes[fact.number] for fact in rest if fact.kind == "file"} == {"absent"}
    assert [group["title"] for group in ask(model, "findings", look="plan", place=place)["groups"]] == [
        "Missing with this plan"
    ]
    assert "unless" not in ask(model, "losses", place=place)["sentence"]
    assert "not written yet" not in write_sentence(model.plan, count_left(model.plan)).text
