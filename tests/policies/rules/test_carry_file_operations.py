"""The list of files that a summary carries: as published, and of every tool."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.demo import open_demo
from inspector.planning.assemble import build_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Checkpoint
from inspector.policies.registry import find_policy, names_of_policies
from inspector.policies.rules.carry_file_operations import CarryFileOperations, collect
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.summaries.record import append_checkpoint
from inspector.tokens.counter import Counter as TokenCounter
from inspector.tokens.history import trace_history
from inspector.tokens.ledger import count_tokens
from inspector.workbench.opening import list_marks
from tests.strategies import sessions
from tests.test_cuts import build, say, user

LENGTH = TokenCounter("length", "Characters", lambda texts: np.array([len(t) for t in texts], np.int32))


def act(number: int, tool: str, **given: Any) -> tuple[Entry, Entry]:
    call = ToolCall(id=f"c{number}", name=tool, input=given)
    output = ToolOutput(call_id=f"c{number}", name=tool, parts=(Text(text="ok"),))
    return Entry(id="", role="assistant", blocks=(call,)), Entry(id="", role="tool", blocks=(output,))


def plan_of(session: Session, **knobs: Any) -> Plan:
    given = {f"carry-file-operations.{name}": value for name, value in knobs.items()}
    edits = {"cut": "end", "settings": given}
    return make_plan(session, count_tokens(session, LENGTH), "flue", edits, reason="manual")


def lists(plan: Plan) -> tuple[list[str], list[str]]:
    assert plan.place is not None
    files = collect(plan.table, plan.place)
    return files.read_files, files.modified_files


def busy() -> Session:
    session = build(
        user("work"),
        *act(1, "read", path="plain.py"),
        *act(2, "Read", file_path="/repo/src/argument.py"),
        *act(3, "mcp__files__read_file", path="src/server.py"),
        *act(4, "Bash", command="cat src/shell.py && sed -i s/a/b/ src/changed.py > src/out.txt"),
        *act(5, "Edit", file_path="src/edited.py", old_string="a", new_string="b"),
        *act(6, "Grep", pattern="x", path="src/only_listed"),
        say("done"),
    )
    return session.model_copy(update={"cwd": "/repo"})


def test_as_published_only_three_tools_and_one_argument_are_seen() -> None:
    assert lists(plan_of(busy())) == (["plain.py"], [])


def test_every_tool_sees_other_arguments_servers_and_shell_commands() -> None:
    read, modified = lists(plan_of(busy(), every_tool=True))
    assert read == ["plain.py", "src/argument.py", "src/server.py", "src/shell.py"]
    assert modified == ["src/changed.py", "src/edited.py", "src/out.txt"]


def test_only_the_assistant_s_calls_are_seen() -> None:
    """A call that stands in the user's name, with its output, was made by nobody who is summarised."""
    call, output = act(1, "read", path="mine.py")
    foreign, given = act(2, "read", path="theirs.py")
    session = build(
        user("work"), call, output, foreign.model_copy(update={"role": "user"}), given, say("done")
    )
    assert lists(plan_of(session)) == (["mine.py"], [])


def test_the_knob_is_off_in_every_published_policy() -> None:
    carrying = [
        rule
        for name in names_of_policies()
        for rule in find_policy(name).rules
        if isinstance(rule, CarryFileOperations)
    ]
    assert len(carrying) > 2
    assert not any(rule.every_tool for rule in carrying)


def test_the_lists_go_on_into_the_next_compaction() -> None:
    plan = plan_of(busy(), every_tool=True)
    done = append_checkpoint(plan, Checkpoint(text="all is well", by="a test"), "k1")
    told = done["k1"].boundary
    assert told is not None
    assert (list(told.files_read), list(told.files_modified)) == lists(plan)


def test_calls_that_a_tool_made_itself_are_seen_as_well() -> None:
    calls = {"calls": [{"name": "Read", "arguments": {"file_path": "src/inner.py"}}]}
    call, answer = act(1, "task", prompt="look")
    session = build(user("work"), call, answer.model_copy(update={"extra": {"nestedCalls": calls}}), say())
    assert lists(plan_of(session, nested=True)) == ([], [])
    assert lists(plan_of(session, nested=True, every_tool=True)) == (["src/inner.py"], [])


@pytest.mark.parametrize("given", [None, 7, [], {}, {"file_path": 3}, {"command": ["", None]}])
def test_a_call_that_names_no_file_adds_nothing(given: Any) -> None:
    call = ToolCall(id="c1", name="Read", input=given)
    output = ToolOutput(call_id="c1", name="Read", parts=(Text(text="ok"),))
    entries = (Entry(id="", role="assistant", blocks=(call,)), Entry(id="", role="tool", blocks=(output,)))
    assert lists(plan_of(build(user("work"), *entries, say()), every_tool=True)) == ([], [])


@settings(max_examples=60)
@given(sessions(), st.booleans(), st.booleans())
def test_the_list_costs_what_is_said_wherever_the_cut_stands(
    session: Session, nested: bool, every: bool
) -> None:
    """By the cut table and by the context alike."""
    ledger = count_tokens(session, LENGTH)
    knobs = {"carry-file-operations.nested": nested, "carry-file-operations.every_tool": every}
    plan = make_plan(session, ledger, "flue", {"settings": knobs}, reason="manual")
    for place in np.flatnonzero(plan.cuts.legal).tolist()[:6]:
        other = make_plan(
            session, ledger, "flue", {"settings": knobs, "cut": plan.cuts[place].entry}, reason="manual"
        )
        assert other.after == int(plan.cut_table.total[place])
        assert build_context(session, other).tokens == other.after


def test_each_list_costs_its_tags_and_its_paths_and_an_empty_list_nothing() -> None:
    """What the cut table says of every place is what the context built there has.

    Read alone, written alone, both, and a file that was read before it was changed.
    """
    for acts in (
        [("read", "a.py")],
        [("edit", "b.py")],
        [("read", "a.py"), ("edit", "b.py")],
        [("edit", "b.py"), ("read", "a.py")],
        [("read", "a.py"), ("edit", "a.py")],
        [("edit", "a.py"), ("read", "a.py"), ("write", "c.py"), ("edit", "c.py")],
    ):
        steps = [entry for number, (tool, path) in enumerate(acts) for entry in act(number, tool, path=path)]
        session = build(user("work"), *steps, say("done"), user("more"), say("done"))
        ledger = count_tokens(session, LENGTH)
        plan = make_plan(session, ledger, "flue", reason="manual")
        priced = 0
        for place in np.flatnonzero(plan.cuts.legal).tolist():
            edits = {"cut": plan.cuts[place].entry}
            other = make_plan(session, ledger, "flue", edits, reason="manual")
            assert other.after == int(plan.cut_table.total[place]), (acts, place)
            assert build_context(session, other).tokens == other.after
            # What they cost is what they add to the plan without them: their lines, each with its end.
            given = {"cut": plan.cuts[place].entry, "settings": {"carry-file-operations.enabled": False}}
            without = make_plan(session, ledger, "flue", given, reason="manual")
            files = [("read-files", lists(other)[0]), ("modified-files", lists(other)[1])]
            lines = [line for tag, names in files if names for line in (f"<{tag}>", *names, f"</{tag}>")]
            assert other.after - without.after == sum(len(f"{line}\n") for line in lines), (acts, place)
            priced += bool(lines)
        assert priced


def test_what_a_model_wrote_ends_with_the_lists_each_set_off_by_a_blank_line() -> None:
    """The file's own compaction, with the lists added: its words, then the lists as they are published."""
    session = open_demo()
    mark = next(iter(list_marks(session, trace_history(session, count_tokens(session)))))
    moment = session.at(mark.at)
    ledger = count_tokens(moment)
    plain = make_plan(moment, ledger, "recorded")
    lists_too = {"carry-file-operations.enabled": True, "carry-file-operations.every_tool": True}
    carried = make_plan(moment, ledger, "recorded", {"settings": lists_too})
    assert plain.checkpoint is not None and carried.checkpoint is not None
    read, modified = lists(carried)
    assert read and modified
    told = ["<modified-files>", *modified, "</modified-files>"]
    ending = ["", "", "<read-files>", *read, "</read-files>", "", *told]
    assert carried.checkpoint.text == plain.checkpoint.text + "\n".join(ending)


def test_what_a_tool_read_itself_stands_in_the_lists_from_there_on() -> None:
    """Its own calls are found apart, and a file that is edited later is listed from its first mention on."""
    calls = {"calls": [{"name": "read", "arguments": {"path": "early.py"}}]}
    asked, answer = act(1, "task", prompt="look")
    told = answer.model_copy(update={"extra": {"nestedCalls": calls}})
    session = build(user("work"), asked, told, say("seen"), *act(2, "edit", path="early.py"), say("done"))
    ledger = count_tokens(session, LENGTH)
    rule = {"kind": "carry-file-operations", "nested": True}
    rules = [{"kind": "keep-recent-turns"}, rule, {"kind": "summarise-older", "split_turns": False}]
    policy = {"name": "mine", "rules": rules}
    table = make_plan(session, ledger, policy, {"cut": "e3"}, reason="manual").cut_table
    assert make_plan(session, ledger, policy, {"cut": "e3"}).after == table.total[3]
    assert make_plan(session, ledger, policy, {"cut": "end"}).after == table.total[len(session.live)]
    for cut, tag in (("e3", "read"), ("e4", "read"), ("end", "modified")):
        plan = make_plan(session, ledger, policy, {"cut": cut}, reason="manual")
        off = {"cut": cut, "settings": {"carry-file-operations.enabled": False}}
        without = make_plan(session, ledger, policy, off, reason="manual")
        lines = [f"<{tag}-files>", "early.py", f"</{tag}-files>"]
        assert plan.after - without.after == sum(len(line) + 1 for line in lines), cut
