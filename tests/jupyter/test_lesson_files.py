"""A lesson is opened by its name, by a link, or from a file of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector import open_lesson, save_session
from inspector.demo import open_demo
from inspector.errors import LessonError
from inspector.workbench.lessons.grading import FORMAT, grade_answers

OWN = """---
title: Mine
goal: Look at the plan.
policy: keep-recent-turns
moment: recorded:1
session: SESSION
---
# reveal: Look
This policy sends {after:k}.
"""


def test_a_lesson_opens_at_its_step() -> None:
    widget = open_lesson("legal-cut", step=3)
    assert (widget.lesson["name"], widget.lesson["number"], widget.step) == ("legal-cut", 2, 3)
    assert open_lesson("2").lesson == widget.lesson
    assert open_lesson("final").lesson["name"] == "final"
    with pytest.raises(LessonError, match="there is no lesson squeeze"):
        open_lesson("squeeze")


@pytest.mark.parametrize("own", [False, True])
def test_a_lesson_from_a_file_is_about_the_session_that_it_names(tmp_path: Path, own: bool) -> None:
    if own:
        save_session(open_demo(), tmp_path / "mine.json")
    path = tmp_path / "mine.md"
    path.write_text(OWN.replace("SESSION", "mine.json" if own else "demo"), "utf-8")
    lesson = open_lesson(path).lesson
    (step,) = lesson["steps"]
    assert step["text"] == [f"This policy sends {step['state'][1] / 1000:.1f}k."]
    path.write_text("no lesson", "utf-8")
    with pytest.raises(LessonError, match="line 1"):
        open_lesson(path)


def test_the_answers_of_a_widget_are_saved_as_a_file_that_can_be_graded(tmp_path: Path) -> None:
    widget = open_lesson("legal-cut")
    right = {"tries": [{"answer": "between a call and its output"}], "gave_up": False, "seconds": 20}
    answers = {"version": widget.lesson["version"], "steps": {"1": right}}
    widget.answers = {"format": FORMAT, "student": "a" * 16, "lessons": {"legal-cut": answers}}
    assert widget.grade().marks["legal-cut"][0] == 3
    path = widget.save_answers(tmp_path / "answers.json")
    graded = grade_answers("a", path.read_text("utf-8"))
    assert graded.remarks == [] and graded.marks["legal-cut"][0] == 3
    assert json.loads(path.read_text("utf-8"))["student"] == "a" * 16
    with pytest.raises(FileExistsError):
        widget.save_answers(path)
