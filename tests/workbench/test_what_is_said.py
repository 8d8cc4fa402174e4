"""What the screen says of a compaction is true of what came before it, and of all of it."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import Workbench, count_tokens, lint, make_plan, open_demo
from inspector.cli import describe_plan
from inspector.errors import EditError
from inspector.facts.lint.report import write_text
from inspector.workbench.model import WorkbenchModel
from tests.claude_rows import Claude
from tests.workbench.test_unknown_losses import Screen


def edit(path: str) -> dict[str, Any]:
    return {"file_path": path, "old_string": "a", "new_string": "b"}


def test_a_changed_file_outside_the_project_is_no_essential_fact_and_is_counted_as_another() -> None:
    note = "/home/ada/.claude/projects/tides/memory/NOTES.md"
    rows = Claude().say("Make the table of tides.").use("c1", "Done.", 900, "Edit", edit(note))
    session = rows.reply("Done.", 1_000).compact("The table is made.").say("Go on.").reply("Yes.", 400).open()
    screen = Screen(session)
    (row,) = session.compactions
    assert row.missing == () and note in {traced.fact.form for traced in row.trace.select("absent")}
    sentence = screen.ask("findings", look=screen.look)["sentence"]
    number = len(row.trace.select("absent"))
    others = "1 other fact is" if number == 1 else f"{number} other facts are"
    assert sentence == f"No essential fact was lost in ◆1; {others} missing."


def test_a_file_that_was_changed_only_later_is_no_changed_file_at_a_compaction() -> None:
    read = {"file_path": "/w/targets.yaml"}
    rows = Claude().say("Read the targets.").use("c1", "app", 900, "Read", read).reply("Read.", 1_000)
    rows.compact("Nothing.").say("Change targets.yaml.").use("c3", "app", 450, "Read", read)
    session = rows.use("c2", "Done.", 500, "Edit", edit("/w/targets.yaml")).reply("Changed.", 600).open()
    screen = Screen(session)
    row = session.facts["targets.yaml"]
    for pick in (screen.look, "again:0"):
        story = screen.ask("story", number=row.number, kind=row.kind, form=row.form, pick=pick)
        assert story["head"] == "file · in 1 block, turn 1"
        assert len(story["places"]) > 1  # of the whole file


def test_files_that_are_attached_again_are_no_part_of_the_summary() -> None:
    text = "The tide of the harbour is high at noon. " * 60
    rows = Claude().say("Read the tides.").use("c1", text, 900, "Read", {"file_path": "/w/tides.md"})
    session = rows.reply("Read.", 1_000).open()
    plan = make_plan(session, count_tokens(session), "claude-code", {"cut": "end"})
    assert plan.notice is not None and plan.notice_tokens > 300
    sections = describe_plan(plan)["sections"]
    assert sections["compacted"]["after"] == plan.summary_tokens > 0
    assert sections["user"]["after"] == plan.notice_tokens


def test_a_rule_that_no_user_said_is_none_of_the_user_s() -> None:
    rows = Claude().say("Never push to main.").use("c1", "You must never edit a.py by hand.", 900)
    rows.add("user", isMeta=True, message={"role": "user", "content": "Never touch the harbour files."})
    session = rows.reply("Read.", 1_000).compact("Nothing.").say("Go on.").reply("Yes.", 400).open()
    screen = Screen(session)
    kinds = {kind["id"]: kind for kind in screen.ask("facts")["kinds"]}
    (mine,) = screen.ask("facts", kind="constraint")["rows"]
    assert mine["form"] == "Never push to main." and kinds["constraint"]["label"] == "your rules"
    assert kinds["constraint"]["total"] == session.compactions[0].rules == 1
    others = screen.ask("facts", kind="given")["rows"]
    assert [row["form"] for row in others] == ["Never touch the harbour files."]
    (other,) = others
    story = screen.ask("story", **{name: other[name] for name in ("number", "kind", "form")})
    assert story["head"].startswith("rule · ")


def test_a_finding_names_the_line_of_the_change_and_what_a_command_did() -> None:
    rows = Claude().say("Move the tides.").reply("I move them.", 800)
    rows.use("c1", "", 900, given={"command": "mkdir -p new && git mv old/tides.py new/tides.py"})
    rows.use("c2", "Done.", 950, "Edit", edit("/w/ebb.py")).use("c3", "new/tides.py ebb.py", 990)
    rows.reply("Done: new/tides.py, ebb.py.", 1_000).compact("Nothing.").say("Go on.").reply("Yes.", 400)
    # The text of a reply and its call are records of one message.
    rows.rows[2]["message"]["id"] = rows.rows[1]["message"]["id"]
    session = rows.open()
    lines = write_text(lint(session), session)
    number = {row["uuid"]: at for at, row in enumerate(rows.rows, 1)}
    assert any(f"line {number['r2']}: The file new/tides.py, moved in turn 1" in line for line in lines), (
        lines
    )
    assert any(f"line {number['r4']}: The file ebb.py, edited in turn 1" in line for line in lines), lines


def test_a_wrong_name_of_a_compaction_is_answered_with_the_names() -> None:
    with pytest.raises(EditError, match=r'must be "plan", "recorded:1" or "cleared:1"'):
        Workbench(open_demo()).look = "recorded:9"


def test_encrypted_reasoning_is_not_said_to_be_counted_and_not_counted() -> None:
    rows = Claude().say("Read the tides.")
    for number in range(3):
        rows.reply("Read.", 900 + number)
        blocks = rows.rows[-1]["message"]["content"]
        blocks.insert(0, {"type": "thinking", "thinking": "", "signature": "c2VhbGVk" * 40})
    model = WorkbenchModel(rows.open())
    notices = model.answer({})["_scene"]["notices"]
    assert "Not counted: 3 blocks of sealed reasoning." in notices
    assert not [notice for notice in notices if "counted without text" in notice]
