"""The Facts panel's questions: the list, one fact's story, what was regretted, what has no ground."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.demo import LOST_PATH, open_demo
from inspector.facts.extract.collect import KINDS
from inspector.facts.outcomes import OUTCOMES
from inspector.facts.trace import trace_facts
from inspector.planning.planner import make_plan
from inspector.policies import registry as policies
from inspector.policies.registry import names_of_policies
from inspector.session.blocks import Text
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.queries import answer_query
from tests.shared import SHARED, needs_shared, open_shared
from tests.strategies import sessions
from tests.workbench.asking import open_model

REAL = SHARED / "sessions" / "claude-code--entireio-cli" / "cc-3auto-compactions-893l.jsonl"


@pytest.fixture(scope="module")
def session() -> Session:
    return open_demo()


@pytest.fixture(scope="module")
def ledger(session: Session) -> Any:
    return count_tokens(session, "calibrated")


@pytest.fixture
def model(session: Session, ledger: Any, monkeypatch: pytest.MonkeyPatch) -> WorkbenchModel:
    monkeypatch.setattr(policies, "_own", {})
    return open_model(session, ledger=ledger)


def ask(model: WorkbenchModel, question: str, /, **asked: Any) -> dict[str, Any]:
    """The reply to a question that has one, as the browser reads it."""
    reply = answer_query(model, {"type": question, "id": "1", **asked})
    assert reply["type"] == question, reply["sentence"]
    out: dict[str, Any] = json.loads(json.dumps(reply, allow_nan=False))
    return out


def place_of(model: WorkbenchModel) -> int:
    return model.plan.place or 0


def listed(model: WorkbenchModel, **asked: Any) -> dict[str, Any]:
    return ask(model, "facts", **{"place": place_of(model), "from": 0, "to": 500, **asked})


def every_row(model: WorkbenchModel, **asked: Any) -> list[dict[str, Any]]:
    """All pages of the list."""
    first = listed(model, **asked)
    later = range(500, first["total"], 500)
    pages = [first, *(listed(model, **asked, **{"from": at, "to": at + 500}) for at in later)]
    return [row for page in pages for row in page["rows"]]


def tell(
    model: WorkbenchModel, number: int, pick: str = "", place: int | None = None, **asked: Any
) -> dict[str, Any]:
    """The story of a fact; with "plan" that of the plan."""
    at = place_of(model) if place is None else place
    return ask(model, "story", number=number, place=at, pick=pick, **asked)


def refused(model: WorkbenchModel, question: str, /, **asked: Any) -> str:
    reply = answer_query(model, {"type": question, "id": "1", **asked})
    assert reply["type"] == "error"
    return str(reply["sentence"])


# -- the list ---------------------------------------------------------------------------------------


def test_the_list_is_the_trace_of_the_plan(model: WorkbenchModel, session: Session) -> None:
    trace = trace_facts(session.facts, model.plan, placeholder=False)
    rows = every_row(model)
    assert len(rows) == listed(model)["total"] == len(trace)
    by_number = {traced.fact.number: traced for traced in trace}
    for row in rows:
        traced = by_number.pop(row["number"])
        assert (row["kind"], row["form"], row["outcome"]) == (
            traced.fact.kind,
            traced.fact.form,
            traced.outcome,
        )
        assert row["stood"] == traced.stood
        assert row["lastTurn"] == trace.scene.session.turn_of.get(traced.said[-1].entry, 1) - 1


def test_what_is_gone_comes_first_then_by_kind_then_what_was_changed_then_the_last_said(
    model: WorkbenchModel,
) -> None:
    rows = every_row(model)
    place = {entry.id: at for at, entry in enumerate(model.session.entries)}
    facts = {fact.number: fact for fact in model.session.facts.values()}
    known = set(model.moment.path)

    def key(row: dict[str, Any]) -> tuple[Any, ...]:
        said = [s for s in facts[row["number"]].said if place[s.ref.entry] in known]
        last, did = max(place[s.ref.entry] for s in said), {s.operation for s in said}
        rank = 0 if did & {"created", "edited", "deleted"} else 1 if did & {"read", "ran"} else 2
        return (not row["stood"], -OUTCOMES.index(row["outcome"]), KINDS.index(row["kind"]), rank, -last)

    assert [key(row) for row in rows] == sorted(map(key, rows)) and len({row["outcome"] for row in rows}) > 2


def test_the_chips_count_what_stood_before_and_no_filter_changes_them(
    model: WorkbenchModel, session: Session
) -> None:
    model.answer({"at": model.history.segments[-1].at})  # after a compaction, much was gone before
    reply = listed(model)
    rows = every_row(model)
    stood = Counter((row["kind"], row["outcome"]) for row in rows if row["stood"])
    assert any(not row["stood"] for row in rows)
    chips = {
        (kind["id"], outcome): number
        for kind in reply["kinds"]
        for outcome, number in kind["outcomes"].items()
        if number
    }
    assert chips == stood
    assert [kind["id"] for kind in reply["kinds"]] == sorted({kind for kind, _ in stood}, key=KINDS.index)
    assert all(kind["total"] == sum(kind["outcomes"].values()) for kind in reply["kinds"])
    assert listed(model, query="zzz", kind="file", outcome="absent")["kinds"] == reply["kinds"]
    for (kind, outcome), number in stood.items():
        assert listed(model, kind=kind, outcome=outcome)["total"] == number


def test_a_query_is_a_part_of_the_form_whatever_its_case(model: WorkbenchModel) -> None:
    found = listed(model, query="CALENDAR/off")
    assert found["total"] == len(found["rows"]) > 0
    assert all("calendar/off" in row["form"].casefold() for row in found["rows"])
    assert listed(model, query=LOST_PATH, kind="symbol")["total"] == 0
    odd = Entry(id="a", role="user", blocks=(Text(text="Never use the word \udc00half\x1b here."),))
    other = open_model(Session(format="test", entries=(odd,), leaf="a"), counter="chars4_utf16")
    (form,) = [row["form"] for row in every_row(other) if row["kind"] == "constraint"]
    assert "\ufffdhalf" in form and listed(other, query=form)["total"] == 1  # as it is shown


def test_a_row_says_the_kind_under_which_it_is_listed() -> None:
    """A page filters its rows by it: a rule that no user said is listed apart from the user's."""
    texts = "<system-reminder>You must always lint.</system-reminder>", "Never push to main."
    said = Entry(id="a", role="user", blocks=tuple(Text(text=text) for text in texts))
    model = WorkbenchModel(Session(format="test", entries=(said,), leaf="a"), counter="chars4_utf16")
    model.answer({})
    rules = {row["form"]: row["sort"] for row in every_row(model) if row["kind"] == "constraint"}
    assert rules == {"You must always lint.": "given", "Never push to main.": "constraint"}
    for sort in ("given", "constraint"):
        assert {row["sort"] for row in listed(model, kind=sort)["rows"]} == {sort}


def test_what_is_asked_wrongly_gets_a_sentence(model: WorkbenchModel) -> None:
    illegal = next(at for at in range(len(model.plan.cuts)) if not model.plan.cuts.legal[at])
    sentence = model.plan.cuts[illegal].sentence
    assert sentence in refused(model, "facts", place=illegal)
    assert sentence in refused(model, "story", number=0, place=illegal)
    for place in (-1, len(model.plan.cuts), 10**12):
        assert f"place {place}" in refused(model, "facts", place=place)
    for number in (-1, len(model.session.facts)):
        assert f"fact {number}" in refused(model, "story", number=number, place=place_of(model))
    for wrong in ({}, {"place": "x"}, {"place": 1e999}, {"place": None}):
        refused(model, "facts", **wrong)
    refused(model, "story", place=0)
    refused(model, "grounding")


ORDER = ("verbatim", "superseded", "quoted", "pointer", "partial", "absent")
"""What a compaction leaves of a fact, from all to nothing."""


# -- one fact ---------------------------------------------------------------------------------------


def test_the_bundled_story_is_told_from_the_first_word_to_the_fix(model: WorkbenchModel) -> None:
    # The stand-in of other policies names the file; here nothing stands where a summary would.
    model.answer({"policy": "claude-code-analysis", "settings": {"summarise-all.enabled": False}})
    model.answer({"cut": "end"})
    (number,) = (row["number"] for row in listed(model, query=LOST_PATH, kind="file")["rows"])
    recorded, again, planned = tell(model, number)["outcomes"]
    turn = model.history.turn[model.history.marks[0].step] + 1
    assert (recorded["outcome"], recorded["words"]) == ("absent", f"absent in ◆1, turn {turn}")
    assert (again["sign"], again["words"]) == ("again", f"read again, turn {turn}")
    assert (planned["id"], planned["outcome"]) == ("plan", "absent")
    here = tell(model, number, "plan")
    assert here["wording"] == "No block that contains it is kept, and there is no summary."
    assert (here["tone"], here["fixes"][0]["does"]) == ("red", "Pin")


def check_fixes(model: WorkbenchModel, number: int, place: int) -> list[str]:
    """Every fix, applied as it says, costs what it says and keeps more of the fact; undone, nothing has
    changed. What they do."""
    before, inputs = model.plan, model.inputs
    if place != place_of(model):
        edits = before.edits.model_copy(update={"cut": before.cuts.ids[place]})
        before = make_plan(before.session, before.ledger, before.policy, edits, window=model.window)
    told = tell(model, number, "plan", place)
    outcome = next((row["outcome"] for row in told["outcomes"] if row["id"] == "plan"), "")
    fixes = [fix for fix in told["fixes"] if not fix["done"]]
    for fix in fixes:
        if fix["does"] == "Copy":  # instructions for a summariser are no edit of the plan
            assert not fix["changes"] and told["form"] in fix["recipe"]
            continue
        assert set(fix["changes"]) <= set(WorkbenchModel.INPUTS) and fix["changes"]
        model.answer(fix["changes"])
        assert model.plan.after == before.after + fix["tokens"], fix["said"]
        assert f"{fix['tokens']:+,} tokens" in fix["said"]
        if fix["does"] == "Set":
            rules = [part.sentence for part in model.plan.policy.fixed_parts]
            rules += [f"{rule.label}: {rule.sentence}" for rule in model.plan.policy.rules]
            assert fix["words"].replace(",", "") in [rule.replace(",", "") for rule in rules], fix["words"]
        # The list tells its outcome as the story does, without looking for fixes of the mended plan.
        (now,) = [row for row in listed(model, query=told["form"])["rows"] if row["number"] == number]
        assert ORDER.index(now["outcome"]) < ORDER.index(outcome), fix["said"]
        model.answer(inputs)
        assert model.inputs == inputs, "undone it is as it was"
    return [fix["does"] for fix in fixes]


@given(sessions(), st.sampled_from(names_of_policies()), st.integers(0, 10**6))
def test_in_any_session_a_fix_keeps_its_word(session: Session, policy: str, chosen: int) -> None:
    model = open_model(session, policy, counter="chars4_utf16")
    places = np.flatnonzero(model.plan.cuts.legal).tolist() or [0]
    place = place_of(model) if chosen % 2 else places[chosen % len(places)]
    for row in listed(model, place=place)["rows"][:3]:
        check_fixes(model, row["number"], place)


@given(sessions(), st.sampled_from(names_of_policies()))
def test_every_question_of_any_session_has_an_answer_that_is_safe_to_show(
    session: Session, policy: str
) -> None:
    model = open_model(session, policy, counter="chars4_utf16")
    replies = [listed(model), ask(model, "regret")]
    replies += [tell(model, row["number"], pick) for row in replies[0]["rows"][:4] for pick in ("", "plan")]
    summary = model.plan.session.live.summary
    if summary == 0 and model.plan.session.live.start[1]:
        replies.append(ask(model, "grounding", row=0))
    text = json.dumps(replies, ensure_ascii=False)
    assert not {"\x1b", "\x00", "\u202e"} & set(text)
    text.encode()  # no halves of surrogate pairs


@needs_shared
def test_a_real_session_has_an_outcome_for_each_of_its_compactions() -> None:
    model = open_model(open_shared(REAL), counter="chars4_utf16")
    assert sum(kind["total"] for kind in listed(model)["kinds"]) > 100
    compactions = [mark for mark in model.history.marks if mark.kind == "compact"]
    told = [row["words"] for row in tell(model, 0)["outcomes"] if row["id"].startswith("recorded:")]
    assert len(told) == len(compactions) >= 3
    for words, mark in zip(told, compactions, strict=True):
        assert words.endswith(f", turn {model.history.turn[mark.step] + 1}")
