"""Facts that later work made out of date: what a summary leaves out of them is no loss."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import trace_recorded
from inspector.facts.traced import Trace
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Boundary, Entry
from tests.test_cuts import build, say, user

Step = tuple[str, dict[str, Any], str]


def work(*steps: Step, summary: str = "All is well.") -> Trace:
    """Trace the facts of a session in which tools ran, through the compaction at its end."""
    entries = [user("Please go on with it.")]
    for number, (name, given, output) in enumerate(steps):
        call = ToolCall(id=f"c{number}", name=name, input=given)
        answer = ToolOutput(call_id=f"c{number}", parts=(Text(text=output),))
        entries.append(Entry(id="", kind="message", role="assistant", blocks=(call,)))
        entries.append(Entry(id="", kind="message", role="user", blocks=(answer,)))
    boundary = Boundary(summary=summary)
    end = Entry(id="", kind="compaction", blocks=(Text(text=summary),), boundary=boundary)
    session = build(*entries, say(), end, user("go on"), say())
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


def test_a_commit_that_stands_beside_its_namesake_is_not_out_of_date() -> None:
    rebase = run("git rebase origin/main", "Successfully rebased.")
    both = run(
        "git log --oneline --all", "d07e6b1 Keep the tide table small\n9f5a3c7 Keep the tide table small"
    )
    assert work(LOG, rebase, both)["9f5a3c7"].outcome == "absent"
    merges = [
        run("git log --oneline", f"{commit} Merge branch 'tide' into main")
        for commit in ("9f5a3c7", "d07e6b1")
    ]
    assert work(merges[0], rebase, merges[1])["9f5a3c7"].outcome == "absent"


def test_a_commit_that_the_summary_names_keeps_its_outcome() -> None:
    rebase = run("git rebase origin/main", "Successfully rebased.")
    assert work(LOG, rebase, AGAIN, summary="The fix is 9f5a3c7.")["9f5a3c7"].outcome == "quoted"


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


def test_a_number_behind_which_two_others_came_is_not_judged() -> None:
    trace = work(edit("mostTides = 20", "mostTides = 50\nmostTides = 70"))
    assert trace["mostTides = 20"].outcome == "absent"
    # An edit that only adds lines replaces nothing.
    trace = work(edit("# tests", "# tests\nmostTides = 20\nassert mostTides = 30"))
    assert {trace[f"mostTides = {value}"].outcome for value in (20, 30)} == {"absent"}


WROTE = ("Write", {"file_path": "src/limits.py", "content": "mostTides = 20"}, "Created.")
CHANGED = edit("mostTides = 20", "mostTides = 50")


@pytest.mark.parametrize(
    "steps",
    [
        [(*CHANGED[:2], "<tool_use_error>String to replace not found in file.</tool_use_error>")],
        [(*CHANGED[:2], "Error: permission denied")],
        [CHANGED, run("git checkout -- src/limits.py")],
        [CHANGED, run("cd src && git stash")],
        [("Read", {"file_path": "src/server.py"}, "mostTides = 20"), CHANGED],
    ],
)
def test_an_edit_that_does_not_stand_replaces_nothing(steps: list[Step]) -> None:
    """It failed, was taken back, or another file has the number too."""
    assert work(WROTE, CHANGED)["mostTides = 20"].outcome == "superseded"
    assert work(WROTE, *steps)["mostTides = 20"].outcome == "absent"


@pytest.mark.parametrize(
    "step",
    [
        run("grep -rn rebase docs"),
        run("git log --grep rebase"),
        run("git rebase --abort"),
        ("Write", {"file_path": "rules.md", "content": "Never git rebase main."}, "Created."),
    ],
)
def test_the_word_rebase_rewrites_no_commit(step: Step) -> None:
    assert work(LOG, step, AGAIN)["9f5a3c7"].outcome == "absent"


def test_a_deleted_file_is_not_judged() -> None:
    """Whether it came back by another way is not known."""
    write = ("Write", {"file_path": "src/draft.py", "content": "a = 1"}, "Created.")
    assert work(write, run("rm src/draft.py"))["src/draft.py"].outcome == "absent"


@pytest.mark.parametrize(
    ("question", "summary", "outcome"),
    [
        ("npm test: 1309 pass, 0 fail", "Lint is clean. All tests pass.", "unclear"),
        ("npm test: 1309 pass, 0 fail", "Lint is clean.", "absent"),
        ("npm run lint: 4 errors", "Lint is clean.", "unclear"),
        ("npm run lint: 4 errors", "All tests pass.", "absent"),
    ],
)
def test_a_question_about_a_result_finds_what_tells_one(question: str, summary: str, outcome: str) -> None:
    trace = work(run("npm test", "1309 pass, 0 fail"), run("npm run lint", "4 errors"), summary=summary)
    assert trace["text", question].outcome == outcome
