"""Facts that later work made out of date: what a summary leaves out of them is no loss."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import trace_recorded
from inspector.facts.traced import Trace
from tests.telling import compact, use
from tests.test_cuts import build, say, user

Step = tuple[str, dict[str, Any], str]


def work(*steps: Step, summary: str = "All is well.") -> Trace:
    """Trace the facts of a session in which tools ran, through the compaction at its end."""
    entries = [user("Please go on with it.")]
    for number, (name, given, output) in enumerate(steps):
        entries += use(number, name, output, **given)
    session = build(*entries, say(), compact(summary), user("go on"), say())
    return trace_recorded(session)[0]


def run(command: str, output: str = "") -> Step:
    return "Bash", {"command": command}, output


def edit(old: str, new: str) -> Step:
    return (
        "Edit",
        {"file_path": "src/limits.py", "old_string": old, "new_string": new},
        "The file was updated.",
    )


LOG = run("git log --oneline", "9f5a3c7 Keep the tide table small\n4b81d02 Read the almanac once")
AGAIN = run("git log --oneline", "d07e6b1 Keep the tide table small\n8c2f914 Read the almanac once")


@pytest.mark.parametrize(
    ("step", "outcome"),
    [
        (run("git rebase origin/main", "Successfully rebased."), "superseded"),
        (run("git commit --amend --no-edit"), "superseded"),
        (run("git status"), "absent"),  # nothing says that the two are one commit
    ],
)
def test_a_commit_with_a_new_id_is_out_of_date(step: Step, outcome: str) -> None:
    trace = work(LOG, step, AGAIN)
    assert trace["9f5a3c7"].outcome == outcome
    assert trace["d07e6b1"].outcome == "absent"
    asked = trace["4b81d02 Read the almanac once"]
    assert asked.outcome == outcome
    if outcome == "superseded":
        assert asked.replacement is not None and asked.replacement.value == "8c2f914"
        assert "8c2f914" in asked.why() and "rewritten" in asked.why()


def test_a_number_that_was_edited_is_out_of_date() -> None:
    trace = work(edit("mostTides = 20", "mostTides = 50"), edit("mostTides = 50", "mostTides = 100"))
    assert [trace[f"mostTides = {value}"].outcome for value in (20, 50, 100)] == [
        "superseded",
        "superseded",
        "absent",
    ]
    assert "mostTides = 100" in trace["mostTides = 50"].why()
    columns = trace.to_columns()
    assert columns["outcome"][columns["form"].index("mostTides = 50")] == "superseded"
