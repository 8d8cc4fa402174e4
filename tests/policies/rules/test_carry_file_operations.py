"""The list of files that a summary carries: as published, and of every tool."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.planning.assemble import build_context
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import Checkpoint
from inspector.policies.rules.carry_file_operations import collect
from inspector.session.session import Session
from inspector.summaries.record import append_checkpoint
from inspector.tokens.counter import Counter as TokenCounter
from inspector.tokens.ledger import count_tokens
from tests.strategies import sessions
from tests.telling import use
from tests.test_cuts import build, say, user

LENGTH = TokenCounter("length", "Characters", lambda texts: np.array([len(t) for t in texts], np.int32))


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
        *use(1, "read", path="plain.py"),
        *use(2, "Read", file_path="/repo/src/argument.py"),
        *use(3, "mcp__files__read_file", path="src/server.py"),
        *use(4, "Bash", command="cat src/shell.py && sed -i s/a/b/ src/changed.py > src/out.txt"),
        *use(5, "Edit", file_path="src/edited.py", old_string="a", new_string="b"),
        *use(6, "Grep", pattern="x", path="src/only_listed"),
        say("done"),
    )
    return session.model_copy(update={"cwd": "/repo"})


def test_every_tool_sees_other_arguments_servers_and_shell_commands() -> None:
    read, modified = lists(plan_of(busy(), every_tool=True))
    assert read == ["plain.py", "src/argument.py", "src/server.py", "src/shell.py"]
    assert modified == ["src/changed.py", "src/edited.py", "src/out.txt"]


def test_the_lists_are_the_end_of_the_summary_and_go_on_into_the_next_compaction() -> None:
    plan = plan_of(busy(), every_tool=True)
    read, modified = ("\n".join(names) for names in lists(plan))
    assert (
        build_context(plan.session, plan)
        .pieces[0]
        .block.text.endswith(
            f"<read-files>\n{read}\n</read-files>\n<modified-files>\n{modified}\n</modified-files>"
        )
    )
    done = append_checkpoint(plan, Checkpoint(text="all is well", by="a test"), "k1")
    told = done["k1"].boundary
    assert told is not None
    assert (list(told.files_read), list(told.files_modified)) == lists(plan)


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
