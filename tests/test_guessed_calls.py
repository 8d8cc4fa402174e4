"""Calls that a user guesses from the README: defaults, turns by number, tables, the list of compactions."""

from __future__ import annotations

import pytest

from inspector import (
    build_context,
    checkpoint_from_text,
    compare_policies,
    count_tokens,
    make_plan,
    open_demo,
    open_session,
    read_session,
    replay,
    rule,
    trace_recorded,
)
from inspector.errors import ArgumentError, EditError, PolicyError

ROLES = ("user", "assistant") * 5
TALK = read_session([{"role": role, "content": f"words {number}"} for number, role in enumerate(ROLES)])
DEMO = open_demo()


def test_a_turn_is_named_by_its_number() -> None:
    assert TALK.at("turn 2").leaf == "m4" and TALK.at("Turn 5").leaf == "m10"
    assert (
        make_plan(TALK, "keep-recent-turns", cut="turn 3").cut
        == make_plan(TALK, count_tokens(TALK), "keep-recent-turns", {"cut": "m5"}).cut
    )
    for wrong in ("turn 0", "turn 6"):
        with pytest.raises(EditError, match="5 turns"):
            TALK.at(wrong)
    with pytest.raises(EditError, match="5 turns"):
        make_plan(TALK, cut="turn 6")
    with pytest.raises(ArgumentError):
        TALK.at(5)  # type: ignore[arg-type]


def test_a_fact_is_asked_of_all_recorded_compactions() -> None:
    traces = trace_recorded(DEMO)
    assert [one.outcome for one in traces["offsets.py"]] == [trace["offsets.py"].outcome for trace in traces]
    assert traces[-1] is traces[len(traces) - 1] and list(traces[:1]) == [traces[0]]
    assert repr(traces).startswith("1  Trace(") and "<script" not in traces._repr_html_()


def test_compactions_are_listed_with_what_they_took() -> None:
    table = DEMO.compactions
    assert [(row.kind, row.turn) for row in table] == [("compact", 15), ("micro", 19)]
    worst = table.worst
    assert worst.number == 1 and worst.files == sum(
        traced.fact.kind == "file" and traced.outcome == "absent" for traced in worst.missing
    )
    assert worst.harm[0] == len(worst.missing)
    assert all(DEMO.find_facts(traced.fact.form).said for traced in worst.missing)
    assert str(worst.files) in repr(table) and "<td" in table._repr_html_()


def test_a_block_is_found_by_its_reference_as_a_table_prints_it() -> None:
    refs = make_plan(TALK, "flue").to_columns()["ref"]
    assert [TALK.block(ref).text for ref in refs] == [f"words {number}" for number in range(10)]
    for wrong in ("m4", "m4/1", "m99/0", "m4/x"):
        with pytest.raises(EditError, match="no such block"):
            TALK.block(wrong)
    with pytest.raises(ArgumentError):
        TALK.block(4)  # type: ignore[arg-type]


def test_a_rule_is_a_constraint_and_other_names_are_answered_with_those_that_exist() -> None:
    trace = trace_recorded(DEMO)[0]
    assert DEMO.facts.by_kind("rule") == DEMO.facts.by_kind("constraint") != ()
    assert len(trace.select(kind="rule")) == len(trace.select(kind="constraint")) > 0
    for ask in (lambda: DEMO.facts.by_kind("files"), lambda: trace.select(kind="files")):
        with pytest.raises(EditError, match=r"did you mean 'file'.*constraint"):
            ask()
    with pytest.raises(EditError, match="did you mean 'absent'"):
        trace.select("abzent")


def test_a_place_that_is_a_number_is_answered_with_the_turn() -> None:
    for edit in ("cut", "since"):
        with pytest.raises(ArgumentError, match='"turn 3", "end" or the id of an entry'):
            make_plan(TALK, **{edit: 3})  # type: ignore[arg-type]
        with pytest.raises(EditError, match='"turn 3" names a turn'):
            make_plan(TALK, **{edit: "3"})


def test_a_text_is_a_summary() -> None:
    plan = make_plan(TALK, "keep-recent-turns", cut="turn 3")
    written = plan.with_summary(checkpoint_from_text("The words were said."))
    for same in (
        plan.with_summary("The words were said."),
        make_plan(TALK, "keep-recent-turns", cut="turn 3", summary="The words were said."),
    ):
        assert same.checkpoint == written.checkpoint
        assert same.context == build_context(TALK, written)
    for nothing in ("", " \n", "...", "—"):
        with pytest.raises(EditError, match="no words"):
            plan.with_summary(nothing)
    assert checkpoint_from_text("全部通过").text == "全部通过"
    with pytest.raises(ArgumentError, match="summary"):
        plan.with_summary(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"trigger": {"ration": 0.5}}, "trigger.ration: no such field; did you mean 'ratio'"),
        ({"rules": [{"kind": "keep-recent-turns", "turn": 2}]}, r"rules\[0\].turn: .*did you mean 'turns'"),
        ({"harness": {"mod": "ask"}}, "harness.mod: no such field; did you mean 'mode'"),
        ({"triger": {}}, "triger: no such field; did you mean 'trigger'"),
        ({"trigger": {"also": [{"token": 9}]}}, r"also\[0\].token: .*did you mean 'tokens'"),
        ({"rules": [{"kind": "keep-sytem"}]}, "known: keep-system"),
    ],
)
def test_a_wrong_field_of_a_policy_is_answered_with_the_nearest(policy: dict[str, object], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        make_plan(TALK, {"name": "mine", **policy})


def test_messages_in_memory_are_for_read_session() -> None:
    with pytest.raises(ArgumentError, match="read_session takes what is in memory"):
        open_session([{"role": "user", "content": "Go on."}])  # type: ignore[arg-type]


def test_a_rule_takes_one_block_which_is_checked_when_it_is_made() -> None:
    for function in (lambda: None, lambda block, more: None):
        with pytest.raises(PolicyError, match="one argument, the block"):
            rule(function, name="takes-another-number")  # type: ignore[arg-type]


def test_a_policy_without_room_in_the_window_says_why_it_fires() -> None:
    printed = repr(compare_policies(TALK, ["claude-code", "keep-recent-turns"], window=32_000))
    assert "claude-code has no room: it reserves 33,000 tokens of a window of 32,000" in printed
    assert "keep-recent-turns fires" not in printed


def test_tables_count_turns_from_1_and_a_replay_counts_them_from_0() -> None:
    """As the glossary says it."""
    policy = {"name": "mine", "trigger": {"tokens": 3, "check": "request"}}
    run = replay(
        TALK, {**policy, "rules": [{"kind": "keep-recent-turns", "turns": 1}, {"kind": "drop-older"}]}
    )
    plan = make_plan(TALK, "keep-recent-turns")
    for table in (TALK, plan, run):
        assert table.to_columns()["turn"][0] == 1
        assert table.to_columns()["turn"][-1] == 5
    assert TALK.turn_of["m1"] == 1 and DEMO.compactions.to_columns()["turn"] == [15, 19]
    assert TALK.turns[0].number == 0 and run.turn[0] == 0
    hit = next(event for event in run.events if event.kind == "threshold_hit")
    assert hit.turn is not None and hit.correlation == f"turn-{hit.turn + 1}"
    assert run.adopted[0].turn == hit.turn
