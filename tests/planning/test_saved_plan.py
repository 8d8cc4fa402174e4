"""Saved plans: the same session gives an equal plan again, any other is refused, no text is in the file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import count_tokens, make_plan, open_demo, open_plan, read_session, save_plan
from inspector.demo import read_demo
from inspector.errors import CounterError, InspectorError, OtherSession, PlanError, PolicyError
from inspector.files import save_beside
from inspector.jupyter.widget import Workbench
from inspector.planning.plan import Plan
from inspector.planning.saved_plan import make_again, pack_plan, read_plan, write_plan
from inspector.policies.custom_rule import rule
from inspector.policies.policy import Edits, Policy
from inspector.policies.registry import POLICIES, find_policy
from inspector.policies.rules import RULES, kind_of
from inspector.session.blocks import Text
from inspector.session.session import Session
from inspector.summaries.write import checkpoint_from_text
from inspector.tokens.counters import ESTIMATE
from inspector.tokens.history import trace_history
from tests.golden_wire import make_session as make_golden
from tests.strategies import sessions

CASES = Path(__file__).parents[1] / "cases" / "plans"
KINDS = [kind_of(rule) for rule in RULES if not rule.locked]


def is_same(one: Plan, other: Plan) -> bool:
    """Two plans that nobody could tell apart."""
    columns = (
        (plan.fate.tolist(), plan.outcome.tokens.tolist(), plan.outcome.rule.tolist())
        for plan in (one, other)
    )
    values = (
        (p.policy, p.edits, p.place, p.before, p.after, p.spec_json, p.session.leaf) for p in (one, other)
    )
    return len({json.dumps(column) for column in columns}) == 1 and next(values) == next(values)


def full() -> Plan:
    """The bundled session at its fullest moment, with everything a hand can set."""
    session = open_demo()
    ledger = count_tokens(session, "calibrated")
    fullest = trace_history(session, ledger).fullest
    assert fullest is not None
    moment = session.at(fullest.at)
    free = make_plan(moment, ledger, "flue")
    cut = free.cuts.ids[int(free.cuts.legal.nonzero()[0][-3])]
    edits = {
        "cut": cut,
        "pins": [session.entries[moment.live.entries[2]].id],
        "settings": {"dedupe-reads.enabled": True, "carry-file-operations.every_tool": True},
    }
    return make_plan(moment, ledger, "flue", edits, window=150_000, reason="manual")


@given(sessions(), st.sampled_from(POLICIES), st.sampled_from(KINDS), st.data())
def test_a_saved_plan_opens_equal_for_any_session_and_policy(
    session: Session, policy: Policy, kind: str, data: st.DataObject
) -> None:
    ledger = count_tokens(session, data.draw(st.sampled_from(("chars4_utf16", "calibrated", "tiered"))))
    settings: dict[str, Any] = {}
    try:
        policy.configured({f"{kind}.enabled": True})
        settings = {f"{kind}.enabled": True}
    except PolicyError:
        pass
    plan = make_plan(session, ledger, policy, Edits(settings=settings))
    legal = [name for name, legal in zip(plan.cuts.ids, plan.cuts.legal, strict=True) if legal]
    if legal and data.draw(st.booleans()):
        plan = make_plan(
            session, ledger, policy, Edits(cut=data.draw(st.sampled_from(legal)), settings=settings)
        )
    text = write_plan(plan)
    again = make_again(read_plan(text), session)
    assert is_same(again, plan)
    assert write_plan(again) == text


def test_every_edit_is_kept_and_nothing_that_was_said(tmp_path: Path) -> None:
    plan = full()
    place = save_plan(plan, tmp_path / "a.plan.json")
    again = open_plan(place, open_demo())
    assert is_same(again, plan)
    assert again.recipe == plan.recipe
    text = place.read_text("ascii")
    said = {
        line.strip()
        for entry in plan.ledger.session.entries
        for block in entry.blocks
        for line in block.text.splitlines()
        if len(line.strip()) > 20
    }
    assert len(said) > 1_000
    assert [line for line in said if line in text] == []
    told = json.loads(text)["outcome"]
    assert (told["before"], told["after"], told["cut"]) == (plan.before, plan.after, plan.edits.cut)
    assert sum(told["blocks"].values()) == len(plan.fate)


def test_a_plan_saved_before_the_harness_was_called_so_opens_as_it_was() -> None:
    """The file was saved by 0.1 of a policy with "conduct", and a setting "conduct.warn"."""
    saved = read_plan((CASES / "before-harness.plan.json").read_bytes())
    assert "conduct" in saved.policy
    plan = make_again(saved, make_golden())
    assert plan.policy.harness == find_policy("stud-warning").harness.model_copy(update={"warn": 0.7})
    assert plan.edits.settings == {"harness.warn": 0.7, "keep-recent-turns.turns": 1}
    assert (plan.counted_before, plan.counted_after, plan.cut and plan.cut.entry) == (103, 138, "e7")
    assert (plan.before, plan.after) == (103 + 6, 138 + 6), "one total: what is not in the file is part of it"
    written = write_plan(plan)
    assert "conduct" not in written
    assert is_same(make_again(read_plan(written), make_golden()), plan)


def test_a_written_summary_is_not_kept(tmp_path: Path) -> None:
    plan = full()
    written = plan.with_summary(checkpoint_from_text("The user asked for a barometer."))
    assert write_plan(written) == write_plan(plan)


def test_a_session_that_has_grown_gives_the_plan_as_it_was() -> None:
    lines = read_demo().splitlines(keepends=True)
    short, whole = (read_session(b"".join(part), "story") for part in (lines[: len(lines) * 2 // 3], lines))
    assert len(short.entries) < len(whole.entries)
    plan = make_plan(short, count_tokens(short, "calibrated"), "flue")
    again = make_again(pack_plan(plan), whole)
    assert is_same(again, plan)


def test_a_count_of_what_the_file_held_before_it_grew_is_made_anew() -> None:
    session = open_demo()
    short = session.model_copy(update={"entries": session.entries[:-4], "leaf": session.entries[-5].id})
    plan = make_plan(session, count_tokens(session), "flue", reason="manual")
    for ledger in (count_tokens(short), count_tokens(session), None):
        again = make_again(read_plan(write_plan(plan)), session, ledger=ledger)
        assert (again.after, again.outcome.tokens.tolist()) == (plan.after, plan.outcome.tokens.tolist())


def test_another_session_is_refused_by_name(tmp_path: Path) -> None:
    plan = full()
    place = save_plan(plan, tmp_path / "a.plan.json")
    session = plan.ledger.session
    with pytest.raises(OtherSession, match=r"a\.plan\.json: it was made of .* entries"):
        open_plan(place, session.model_copy(update={"entries": session.entries[:-1]}))
    first = session.entries[0]
    other = first.model_copy(update={"blocks": (Text(text="hello"), *first.blocks)})
    changed = Session.model_construct(
        **{name: getattr(session, name) for name in Session.model_fields}
        | {"entries": (other, *session.entries[1:])}
    )
    with pytest.raises(OtherSession, match="the entries of this one differ"):
        open_plan(place, changed)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("{}", "no saved plan"),
        ("5", "no saved plan"),
        ('{"saved": 5}', "no saved plan"),
        ('{"saved": "compaction-plan/2"}', "newer version"),
        ('{"saved": "compaction-plan/1"}', "session: Field required"),
    ],
)
def test_what_is_no_saved_plan_is_told(text: str, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        read_plan(text, "x")


HOSTILE = (None, -1, 10**30, 10**4000, math.nan, "", "\x1b[31mred", "\ud800", "x" * 9_000, [1], {"a": {}})


def test_whatever_is_changed_in_a_saved_plan_there_is_a_plan_or_a_short_sentence() -> None:
    session = open_demo()
    ledger = count_tokens(session)
    edits = {"cut": "end", "settings": {"dedupe-reads.enabled": True}}
    text = write_plan(make_plan(session, ledger, "pi", edits, window=100_000))
    deep: Any = 0
    for _ in range(400):
        deep = [deep]
    said: list[str] = []

    def try_all(value: Any, *way: Any) -> None:
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            for wrong in (*HOSTILE, deep):
                changed = json.loads(text)
                place = changed
                for step in way:
                    place = place[step]
                place[key] = wrong
                try:
                    make_again(read_plan(json.dumps(changed)), session, ledger=ledger)
                except InspectorError as error:
                    said.append(str(error))
            try_all(value[key], *way, key)

    try_all(json.loads(text))
    assert len(said) > 500
    assert [words for words in said if "\x1b" in words or len(words) > 1_000] == []


def test_a_leaf_that_is_gone_and_a_counter_that_is_unknown_are_named() -> None:
    saved, session = pack_plan(full()), open_demo()
    other = saved.session.model_copy(update={"leaf": "nowhere"})
    with pytest.raises(PlanError, match="nowhere"):
        make_again(saved.model_copy(update={"session": other}), session)
    with pytest.raises(CounterError, match="'abacus'"):
        make_again(saved.model_copy(update={"counter": "abacus", "counted": ""}), session)
    with pytest.raises(PlanError, match="greater than or equal to 0"):
        read_plan(write_plan(full()).replace(f'"entries": {saved.session.entries}', '"entries": -1'))
    elsewhere = saved.session.model_copy(update={"format": "pi\x1b[2J", "sha256": ""})
    with pytest.raises(OtherSession, match="entries of pi␛"):
        make_again(saved.model_copy(update={"session": elsewhere}), session)


def test_a_plan_that_does_not_come_out_equal_is_refused() -> None:
    plan = full()
    saved = pack_plan(plan)
    changed = {
        **saved.policy,
        "rules": [{**r, "tokens": 9_000} if "tokens" in r else r for r in saved.policy["rules"]],
    }
    with pytest.raises(PlanError, match="has changed since it was saved"):
        make_again(saved.model_copy(update={"policy": changed}), plan.ledger.session)
    gone = saved.edits.model_copy(update={"cut": "nowhere"})
    with pytest.raises(PlanError, match="no such entry"):
        make_again(saved.model_copy(update={"edits": gone}), plan.ledger.session)


def test_a_rule_of_ones_own_must_be_known() -> None:
    rule(lambda block: None, name="never-again")
    session = open_demo()
    plan = make_plan(session, count_tokens(session), find_policy("flue").add("never-again"))
    saved = pack_plan(plan)
    assert is_same(make_again(saved, session), plan)
    unknown = [{**r, "kind": r["kind"].replace("never-again", "not-here")} for r in saved.policy["rules"]]
    with pytest.raises(PolicyError, match="no such kind of rule 'not-here'"):
        make_again(saved.model_copy(update={"policy": {**saved.policy, "rules": unknown}}), session)


def test_a_file_is_never_written_over(tmp_path: Path) -> None:
    plan = full()
    home = str(tmp_path / "run 1.session.jsonl")
    first = save_beside(plan, home)
    assert first.name == "run-1.plan.json"
    assert save_beside(plan, home) == first, "what is there already is not written twice"
    other = make_plan(plan.session, plan.ledger, "pi")
    assert save_beside(other, home).name == "run-1-2.plan.json"
    assert save_beside(plan, home) == first
    before = first.read_bytes()
    with pytest.raises(FileExistsError, match="not written over"):
        save_plan(other, first)
    assert first.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run-1-2.plan.json", "run-1.plan.json"]
    assert is_same(open_plan(first, plan.ledger.session), plan)


def test_estimated_counts_are_made_again_as_estimates() -> None:
    session = open_demo()
    plan = make_plan(session, count_tokens(session, ESTIMATE), "flue")
    assert is_same(make_again(pack_plan(plan), session), plan)


def test_a_plan_opens_in_the_workbench_as_it_was(tmp_path: Path) -> None:
    plan = full()
    wb = Workbench(open_plan(save_plan(plan, tmp_path / "a.plan.json"), open_demo()))
    shown = wb.plan
    assert (shown.policy, shown.edits, shown.place, shown.after) == (
        plan.policy,
        plan.edits,
        plan.place,
        plan.after,
    )
    assert (wb.policy, wb.cut, wb.at) == ("flue", plan.edits.cut, plan.session.leaf)
    wb.close()


def test_the_workbench_saves_beside_the_sessions_file_and_a_session_in_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.jsonl").write_bytes(read_demo())
    for session in ("runs/a.jsonl", open_demo()):
        wb = Workbench(session)
        replies: Queue[dict[str, Any]] = Queue()
        wb._controller.ask({"type": "save", "id": "s"}, replies.put)
        reply = replies.get(timeout=120)
        assert reply["type"] == "save"
        again = open_plan(reply["path"], open_demo() if session != "runs/a.jsonl" else session)
        assert again.fate.tolist() == wb.plan.fate.tolist()
        wb.close()
    found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.plan.json"))
    assert len(found) == 2 and found[1] == "runs/a.plan.json" and "/" not in found[0]
