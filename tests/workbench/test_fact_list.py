"""The Facts panel's questions: the list, one fact's story, what was regretted, what has no ground."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.demo import LOST_PATH, open_demo, read_demo
from inspector.facts.extract.collect import KINDS
from inspector.facts.outcomes import MISSING, OUTCOMES
from inspector.facts.trace import trace_facts
from inspector.formats.readers import read_session
from inspector.planning.planner import make_plan
from inspector.policies import registry as policies
from inspector.policies.registry import names_of_policies
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.payloads.block import describe_body
from inspector.workbench.payloads.marks import find_words
from inspector.workbench.queries import answer_query
from tests.shared import SHARED, needs_shared, open_shared
from tests.strategies import sessions
from tests.work import limit_work

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
    model = WorkbenchModel(session, ledger=ledger)
    model.answer({})
    return model


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


def number_of(model: WorkbenchModel, form: str, kind: str = "file") -> int:
    (row,) = [row for row in listed(model, query=form, kind=kind)["rows"] if row["form"] == form]
    return int(row["number"])


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
        assert (row["tier"], row["stood"], row["said"]) == (traced.tier, traced.stood, len(traced.said))
        assert row["words"] == traced.words and row["others"] == len(traced.others)
        assert row["lastTurn"] == trace.scene.session.turn_of.get(traced.said[-1].entry, 1) - 1


def test_a_row_says_where_and_by_whom(model: WorkbenchModel) -> None:
    row = next(row for row in listed(model, query=LOST_PATH)["rows"] if row["form"] == LOST_PATH)
    live = model.plan.session.live
    said = model.plan.session.entries[live.entries[live.position[row["row"]]]].blocks[live.block[row["row"]]]
    assert "offsets.py" in said.text and row["lastTurn"] == live.turn[live.position[row["row"]]]
    assert row["by"] == ["tool", "model"]


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


def test_what_is_lost_is_bad_but_not_what_was_gone_or_may_still_be_named(
    session: Session, ledger: Any
) -> None:
    """Flue's summary is not written; the other policy drops what it takes; the file's own was written."""
    seen = set()
    for policy, inputs in (("flue", {}), ("langchain-trim", {}), ("langchain-trim", {"at": session.leaf})):
        model = WorkbenchModel(session, policy, ledger=ledger)
        model.answer(inputs)
        asked = partial(ask, model, "facts", place=model.plan.place)
        first, gone = asked(), {"from": asked()["total"] - 50}
        for row in [*first["rows"], *asked(outcome="partial")["rows"], *asked(**gone)["rows"]]:
            taken = row["stood"] and row["outcome"] == "absent"
            waits = policy == "flue" and row["outcome"] == "absent"
            assert row["bad"] is (taken and not waits), (policy, row["form"])
            seen.add((policy, row["outcome"], row["stood"]))
            for told in row["rounds"]:
                assert told["bad"] is (told["stood"] and told["outcome"] in MISSING)
                seen.add(("file", told["outcome"], told["stood"]))
    assert seen >= {(who, "absent", True) for who in ("flue", "langchain-trim", "file")}
    assert ("flue", "partial", True) in seen and ("langchain-trim", "absent", False) in seen


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


def test_pages_of_the_list_are_slices_of_it(model: WorkbenchModel) -> None:
    whole = listed(model)
    part = listed(model, **{"from": 7, "to": 19})
    assert part["rows"] == whole["rows"][7:19] and part["total"] == whole["total"]
    assert listed(model, **{"from": 10**9, "to": 2 * 10**9})["rows"] == []
    assert len(listed(model, **{"from": -5, "to": 10**9})["rows"]) == 500


def test_another_moment_has_the_facts_said_until_then(model: WorkbenchModel, session: Session) -> None:
    whole = listed(model)["total"]
    model.answer({"at": session.entries[session.path[30]].id})
    part = listed(model)
    assert 0 < part["total"] < whole and all(row["lastTurn"] <= 30 for row in part["rows"])


def test_a_moment_on_another_path_has_the_facts_of_its_own() -> None:
    says = {"a": "Look at src/a.py.", "b": "Look at src/b.py.", "c": "Look at src/c.py."}
    entries = [
        Entry(id=name, parent=None if name == "a" else "a", role="user", blocks=(Text(text=text),))
        for name, text in says.items()
    ]
    model = WorkbenchModel(Session(format="demo", entries=tuple(entries), leaf="c"))
    model.answer({"at": "b"})
    reply = listed(model, kind="file")
    assert {row["form"] for row in reply["rows"]} == {"src/a.py", "src/b.py"}
    told = tell(model, number_of(model, "src/b.py"), place=0)
    assert [place["ref"] for place in told["places"]] == ["b/0"]


def test_on_another_path_a_fact_is_found_by_what_it_is_called() -> None:
    says = {"a": "Look.", "b": "It is src/x.py, src/b.py.", "c": "It is src/c.py, src/x.py."}
    entries = [
        Entry(id=name, parent=None if name == "a" else "a", role="user", blocks=(Text(text=text),))
        for name, text in says.items()
    ]
    model = WorkbenchModel(Session(format="demo", entries=tuple(entries), leaf="c"))
    model.answer({})
    here = {form: number_of(model, form) for form in ("src/c.py", "src/x.py")}
    model.answer({"at": "b"})
    there = number_of(model, "src/x.py")
    assert there != here["src/x.py"]
    told = tell(model, here["src/x.py"], kind="file", form="src/x.py", place=0)
    assert (told["number"], told["form"]) == (there, "src/x.py")
    gone = refused(model, "story", number=here["src/c.py"], kind="file", form="src/c.py", place=0)
    assert "another path" in gone


def test_of_a_fact_said_very_often_the_first_and_the_last_blocks_are_told() -> None:
    entries = tuple(
        Entry(
            id=f"e{n}", parent=f"e{n - 1}" if n else None, role="user", blocks=(Text(text="See src/a.py."),)
        )
        for n in range(2005)
    )
    model = WorkbenchModel(Session(format="demo", entries=entries, leaf="e2004"))
    model.answer({})
    told = tell(model, number_of(model, "src/a.py"), place=0)
    assert [place["ref"] for place in told["places"]] == [
        f"e{n}/0" for n in (*range(1000), *range(1005, 2005))
    ] and told["placesTotal"] == 2005


def test_the_text_of_a_block_is_that_of_the_cut_that_was_asked_for(model: WorkbenchModel) -> None:
    legal = np.flatnonzero(model.plan.cuts.legal).tolist()
    model.answer({"policy": "mini-claude-code"})
    row = int(np.argmax(model.plan.table.tokens))
    places = legal[0], legal[-1]
    there = [answer_query(model, {"type": "body", "id": 1, "row": row, "place": place}) for place in places]
    assert there[0]["after"] != there[1]["after"]
    model.answer({"cut": "end"})
    assert answer_query(model, {"type": "body", "id": 1, "row": row}) == there[1]
    assert answer_query(model, {"type": "body", "id": 1, "row": row, "place": legal[0]}) == there[0]
    illegal = next(at for at in range(len(model.plan.cuts)) if not model.plan.cuts.legal[at])
    assert model.plan.cuts[illegal].sentence in refused(model, "body", row=row, place=illegal)


def test_a_session_without_facts_says_so() -> None:
    for entries in ((), (Entry(id="a", role="assistant", blocks=(Text(text="ok"),)),)):
        model = WorkbenchModel(
            Session(format="demo", entries=entries, leaf=entries[-1].id if entries else None)
        )
        model.answer({})
        reply = listed(model)
        assert reply["rows"] == reply["kinds"] == [] and reply["sentence"]
        assert ask(model, "regret")["sentence"] and "fact 0" in refused(model, "story", number=0, place=0)


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
    model.answer({"policy": "claude-code", "settings": {"summarise-all.enabled": False}})
    model.answer({"cut": "end"})
    number = number_of(model, LOST_PATH)
    told = tell(model, number)
    assert (told["form"], told["kind"], told["pick"]) == (LOST_PATH, "file", "recorded:1")
    recorded, again, planned = told["outcomes"]
    turn = model.history.turn[model.history.marks[0].step] + 1
    assert (recorded["outcome"], recorded["by"]) == ("absent", "file")
    assert recorded["words"] == f"absent in ◆1, turn {turn}"
    assert again["sign"] == "again" and again["words"].startswith("read again, turn ")
    assert (planned["id"], planned["outcome"], planned["by"]) == ("plan", "absent", "plan")
    here = tell(model, number, "plan")
    assert (here["pick"], here["tone"]) == ("plan", "red")
    assert here["wording"]["text"] == "No block that says it stays."
    assert here["fixes"][0]["does"] == "Pin"
    assert LOST_PATH in told["focus"] and LOST_PATH in here["focus"]


def test_every_block_that_says_it_is_told_once_with_its_turn(model: WorkbenchModel, session: Session) -> None:
    number = number_of(model, LOST_PATH)
    told = tell(model, number)
    fact = next(fact for fact in session.facts.values() if fact.number == number)
    refs = [place["ref"] for place in told["places"]]
    assert refs == list(dict.fromkeys(str(s.ref) for s in fact.said))
    assert told["placesTotal"] == len(refs)
    live = {str(ref) for ref in model.plan.session.live_refs()}
    assert 0 < len(live & {*refs}) < len(refs), "it is said again after the compaction"
    steps = {
        str(session.entries[i].id): step
        for i, step in zip(model.history.path.tolist(), model.history.step.tolist(), strict=True)
    }
    for place in told["places"]:
        turn = model.history.turn[steps[place["ref"].rpartition("/")[0]]] + 1
        assert place["label"].startswith(f"turn {turn} · ")
    assert "turn 1 · Glob" in [place["label"] for place in told["places"]]


def test_a_block_that_only_names_a_command_counts_beside_those_that_run_it() -> None:
    """The head of a story and its steps tell of the same blocks."""
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make lint"}}
    output = {"type": "tool_result", "tool_use_id": "t1", "content": "All checks passed"}
    talk = [
        ("user", "Run make lint before you commit."),
        ("assistant", [call]),
        ("user", [output]),
        ("assistant", "It passes."),
        ("user", "Good."),
    ]
    session = read_session([{"role": role, "content": content} for role, content in talk])
    model = WorkbenchModel(session, "keep-recent-turns")
    model.answer({})
    told = tell(model, number_of(model, "make lint", "command"), place=0)
    assert [place["ref"] for place in told["places"]] == ["m1/0", "m2/0"]
    assert told["head"] == "command · in 2 blocks, turn 1"
    assert any(step["words"].startswith("2 blocks name it") for step in told["steps"])


def test_a_fact_that_is_said_later_has_a_life_but_no_outcome_yet(
    model: WorkbenchModel, session: Session
) -> None:
    later = session.facts[LOST_PATH]
    model.answer({"at": session.entries[session.path[1]].id})
    told = tell(model, later.number, "plan")
    assert (told["fixes"], told["tone"], told["said"]) == ([], "", None) and told["places"]
    assert told["wording"]["text"] == "It has not been said up to this point."
    assert [row["id"] for row in told["outcomes"]] == ["recorded:1", "again:0"]


def test_the_outcome_is_that_of_the_cut_that_was_asked_for(model: WorkbenchModel) -> None:
    number, end = number_of(model, LOST_PATH), len(model.plan.cuts) - 1
    legal = np.flatnonzero(model.plan.cuts.legal).tolist()
    assert tell(model, number, "plan", legal[0])["outcomes"][-1]["outcome"] == "verbatim"
    there = tell(model, number, "plan", end)
    model.answer({"cut": "end"})
    here = tell(model, number, "plan", end)
    names = ("pick", "wording", "tone", "outcomes", "head", "said", "found")
    assert {name: there[name] for name in names} == {name: here[name] for name in names}


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
        assert set(fix["changes"]) <= set(WorkbenchModel.INPUTS) and fix["changes"]
        model.answer(fix["changes"])
        assert model.plan.after == before.after + fix["tokens"], fix["said"]
        assert f"{fix['tokens']:+,} tokens" in fix["said"]
        if fix["does"] == "Set":
            rules = [part.sentence for part in model.plan.policy.parts]
            assert fix["words"].replace(",", "") in [rule.replace(",", "") for rule in rules], fix["words"]
        # The list tells its outcome as the story does, without looking for fixes of the mended plan.
        (now,) = [row for row in listed(model, query=told["form"])["rows"] if row["number"] == number]
        assert ORDER.index(now["outcome"]) < ORDER.index(outcome), fix["said"]
        model.answer(inputs)
        assert model.inputs == inputs, "undone it is as it was"
    return [fix["does"] for fix in fixes]


@pytest.mark.parametrize("cut", ["", "end"])
@pytest.mark.parametrize(
    "policy", ["flue", "keep-recent-turns", "claude-code", "mini-claude-code", "stud-merged"]
)
def test_a_fix_costs_what_it_says_and_keeps_what_it_says(
    model: WorkbenchModel, policy: str, cut: str
) -> None:
    model.answer({"policy": policy})
    model.answer({"cut": cut})
    lost = [
        row["number"] for row in listed(model, outcome="absent")["rows"] if row["kind"] in ("file", "error")
    ]
    done = {name for number in lost[:6] for name in check_fixes(model, number, place_of(model))}
    assert done or not lost


def test_a_fix_at_another_place_sets_the_cut_with_it(model: WorkbenchModel) -> None:
    model.answer({"settings": {"keep-recent-tokens.tokens": 9000}})
    check_fixes(model, number_of(model, LOST_PATH), len(model.plan.cuts) - 1)


def test_a_fix_by_one_more_rule_keeps_settings_cut_and_pins(model: WorkbenchModel) -> None:
    files = [Entry(id="e0", role="user", blocks=(Text(text="Please look."),))]
    for at in range(1, 9):
        call = ToolCall(id=f"c{at}", name="read", input={"path": f"src/part{at}.py"})
        output = ToolOutput(call_id=f"c{at}", name="read", parts=(Text(text="x = 1\n" * 40),))
        files.append(Entry(id=f"a{at}", parent=files[-1].id, role="assistant", blocks=(call,)))
        files.append(Entry(id=f"r{at}", parent=f"a{at}", role="tool", blocks=(output,)))
        files.append(
            Entry(id=f"u{at}", parent=f"r{at}", role="user", blocks=(Text(text=f"Go on with {at}."),))
        )
    model = WorkbenchModel(Session(format="demo", entries=tuple(files), leaf="u8"), "keep-recent-turns")
    # A summary of 60 tokens has no room for every call.
    model.answer({"settings": {"summarise-older.cap": 60}, "pins": ["r2/0"]})
    model.answer({"cut": "u7"})
    number = number_of(model, "src/part1.py")
    assert "Turn on" in check_fixes(model, number, place_of(model))
    told = tell(model, number, "plan")["fixes"]
    (carry,) = [fix for fix in told if fix["does"] == "Turn on"]
    model.answer(carry["changes"])
    assert model.inputs["cut"] == "u7" and model.inputs["pins"] == ["r2/0"]
    assert {"summarise-older.cap": 60, "carry-file-operations.enabled": True}.items() <= model.inputs[
        "settings"
    ].items()
    model.answer({"policy": "flue"})
    assert model.inputs["cut"] == "", "another policy still places its own cut"


@settings(max_examples=25, deadline=None)
@given(sessions(), st.sampled_from(names_of_policies()), st.integers(0, 10**6))
def test_in_any_session_a_fix_keeps_its_word(session: Session, policy: str, chosen: int) -> None:
    model = WorkbenchModel(session, policy, counter="chars4_utf16")
    model.answer({})
    places = np.flatnonzero(model.plan.cuts.legal).tolist() or [0]
    place = place_of(model) if chosen % 2 else places[chosen % len(places)]
    for row in listed(model, place=place)["rows"][:3]:
        check_fixes(model, row["number"], place)


@settings(max_examples=40, deadline=None)
@given(sessions(), st.sampled_from(names_of_policies()))
def test_every_question_of_any_session_has_an_answer_that_is_safe_to_show(
    session: Session, policy: str
) -> None:
    model = WorkbenchModel(session, policy, counter="chars4_utf16")
    model.answer({})
    replies = [listed(model), ask(model, "regret")]
    replies += [tell(model, row["number"], pick) for row in replies[0]["rows"][:4] for pick in ("", "plan")]
    summary = model.plan.session.live.summary
    if summary == 0 and model.plan.session.live.start[1]:
        replies.append(ask(model, "grounding", row=0))
    text = json.dumps(replies, ensure_ascii=False)
    assert not {"\x1b", "\x00", "\u202e"} & set(text)
    text.encode()  # no halves of surrogate pairs


# -- regret and grounding ---------------------------------------------------------------------------


def test_every_regret_is_a_mark_where_it_came_again(model: WorkbenchModel) -> None:
    reply = ask(model, "regret")
    compacted = model.history.marks[0].step
    assert reply["marks"] and reply["sentence"] == ""
    assert sum(mark["tokens"] for mark in reply["marks"]) >= reply["tokens"] > 0
    facts = list(model.session.facts)
    for mark in reply["marks"]:
        assert mark["step"] >= compacted
        assert mark["turn"] == model.history.turn[mark["step"]]
        assert facts[mark["number"]] == (mark["kind"], mark["form"])
    # A mark names its block, so that it is the same from whichever moment one asks.
    for mark in reply["marks"]:
        entry, block = mark["ref"].rsplit("/", 1)
        at = model.history.path.tolist().index(model.session.index[entry])
        assert model.history.step[at] == mark["step"] and model.session[entry].blocks[int(block)]
    model.answer({"at": model.history.segments[-1].at})
    assert ask(model, "regret")["marks"] == reply["marks"]


def test_every_rebuild_of_the_cache_is_a_mark_at_its_reply(model: WorkbenchModel) -> None:
    """Counted from the raw rows: a reply that reads less than half of what the one before had left."""
    marks = ask(model, "regret")["rebuilds"]
    rows = [json.loads(line) for line in read_demo().decode().splitlines()]
    replies = {
        row["message"]["id"]: row for row in rows if row["type"] == "assistant" and not row["isSidechain"]
    }
    left, expected = 0, []
    for row in replies.values():
        usage = row["message"]["usage"]
        read, wrote = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
        if left > 2 * read + 1_024:
            expected.append((row["uuid"], min(left - read, wrote + usage["input_tokens"])))
        left = read + wrote
    assert len(marks) == len(expected) == 6
    for mark, (uuid, again) in zip(marks, expected, strict=True):
        assert f"{again:,} tokens sent again" in mark["sentence"]
        at = model.history.path.tolist().index(model.session.index[uuid])
        assert model.history.step[at] == mark["step"]
    assert [mark["sentence"].split(":")[0].removeprefix("Cache rebuilt ") for mark in marks] == [
        *["because it had expired"] * 2,
        "by a compaction",
        "because it had expired",
        "by a changed prefix",
        "because it had expired",
    ]


def compacted(text: str, said: str = "Look at src/a.py in 20 minutes.") -> WorkbenchModel:
    """A summary of one message, and a word after it."""
    entries = (
        Entry(id="a", role="user", blocks=(Text(text=said),)),
        Entry(
            id="b",
            parent="a",
            kind="compaction",
            blocks=(Text(text=text),),
            boundary=Boundary(trigger="auto", summary=text),
        ),
        Entry(id="c", parent="b", role="user", blocks=(Text(text="Go on."),)),
    )
    model = WorkbenchModel(Session(format="demo", entries=entries, leaf="c"))
    model.answer({"at": "c"})
    return model


@pytest.mark.parametrize(
    "text",
    [
        "All is in src/b.py.",
        "First line.\r\nThen 😀 it is in src\\b.py:7 and takes 77 minutes.",
        "A \u202emark, then `./src/b.py`, 20 of 77\tand src/a.py",
        'The user said "never touch the calendar of tides".',
    ],
)
def test_a_mark_lies_on_its_words_in_the_body_that_is_shown(text: str) -> None:
    model = compacted(text)
    reply = ask(model, "grounding", row=0)
    shown = describe_body(model.plan, 0).before.text.encode("utf-16-le")
    assert reply["read"] and reply["marks"]
    for mark in reply["marks"]:
        there = shown[2 * mark["start"] : 2 * mark["end"]].decode("utf-16-le")
        assert there.replace("\\", "/") == mark["words"] and mark["sentence"]
        lines = text.split("\n")
        assert there in lines[mark["line"] - 1] or "\u202e" in lines[mark["line"] - 1]


def test_what_has_ground_has_no_mark() -> None:
    reply = ask(compacted("It is src/a.py, in 20 minutes."), "grounding", row=0)
    assert (reply["marks"], reply["hidden"], reply["read"]) == ([], 0, True)


def test_a_mark_behind_what_a_body_shows_is_counted_only() -> None:
    reply = ask(compacted("src/b.py " + "word " * 5_000 + "src/c.py"), "grounding", row=0)
    assert [mark["words"] for mark in reply["marks"]] == ["src/b.py"] and reply["hidden"] == 1


def test_what_lies_behind_it_is_not_looked_for_again_and_again() -> None:
    text = " ".join(f"{number:07x}a1" for number in range(20_000))
    model = compacted(text)
    with limit_work():
        reply = ask(model, "grounding", row=0)
    assert len(reply["marks"]) + reply["hidden"] == 20_000
    assert reply["marks"][-1]["end"] <= 20_000


def test_a_row_that_is_no_recorded_summary_is_told(model: WorkbenchModel) -> None:
    assert "not a recorded summary" in refused(model, "grounding", row=0)
    assert "no block" in refused(model, "grounding", row=10**9)


@settings(deadline=None)
@given(st.text(st.sampled_from("ab/\\. 12\"'\t(é😀"), max_size=60), st.integers(0, 59), st.integers(1, 9))
def test_words_of_a_line_are_found_in_it(line: str, start: int, length: int) -> None:
    words = " ".join(line[start : start + length].split())
    first, end = find_words(line, words)
    assert 0 <= first <= end <= len(line)
    if words:
        assert " ".join(line[first:end].split()).replace("\\", "/") == words.replace("\\", "/")


# -- kept and let go --------------------------------------------------------------------------------


def test_facts_are_kept_until_the_session_grows(model: WorkbenchModel, session: Session) -> None:
    listed(model)
    kept = model.cache
    model.answer({"cut": "end"})
    assert model.cache is kept and kept
    model.follow(session.at(session.entries[session.path[200]].id))
    model.answer({})
    assert model.cache == {} and listed(model)["total"] > 0


def test_better_counts_change_the_prices_and_find_no_fact_anew(session: Session) -> None:
    model = WorkbenchModel(session, counter="chars4_utf16")
    model.answer({"cut": "end"})
    number = number_of(model, LOST_PATH)
    rough = tell(model, number, "plan")
    facts = model.session.facts
    model.follow(session, count_tokens(session, "o200k_base"))
    model.answer({})
    exact = tell(model, number, "plan")
    outcomes = [[row["outcome"] for row in told["outcomes"]] for told in (rough, exact)]
    assert model.session.facts is facts and outcomes[0] == outcomes[1]
    assert [fix["tokens"] for fix in exact["fixes"]] != [fix["tokens"] for fix in rough["fixes"]]
    check_fixes(model, number, place_of(model))


@needs_shared
def test_a_real_session_has_three_rounds_and_every_count_is_right() -> None:
    model = WorkbenchModel(open_shared(REAL), counter="chars4_utf16")
    model.answer({})
    assert len(model.history.marks) >= 3 and sum(kind["total"] for kind in listed(model)["kinds"]) > 100
    first = min(range(len(model.session.facts)), key=lambda n: n)
    told = tell(model, first)
    rounds = [row for row in told["outcomes"] if row["id"].startswith("recorded:")]
    compactions = [mark for mark in model.history.marks if mark.kind == "compact"]
    assert len(rounds) == len(compactions)
    for row, mark in zip(rounds, compactions, strict=True):
        assert row["words"].endswith(f", turn {model.history.turn[mark.step] + 1}")
