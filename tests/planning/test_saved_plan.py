"""Saved plans: the same session gives an equal plan again, any other is refused, no text is in the file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import count_tokens, make_plan, open_demo, open_plan, read_session, save_plan
from inspector.demo import read_demo
from inspector.errors import InspectorError, OtherSession, PlanError, PolicyError
from inspector.files import save_beside
from inspector.planning.plan import Plan
from inspector.planning.saved_plan import make_again, pack_plan, read_plan, write_plan
from inspector.policies.policy import Edits, Policy
from inspector.policies.registry import POLICIES
from inspector.policies.rules import RULES, kind_of
from inspector.session.blocks import Text
from inspector.session.session import Session
from inspector.summaries.write import checkpoint_from_text
from inspector.tokens.history import trace_history
from tests.strategies import sessions

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
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
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
    whole = open_demo()
    session = whole.at(whole.entries[12].id)
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
