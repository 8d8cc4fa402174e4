"""A lesson is opened by its name, by a link, or from a file of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest
import traitlets

from inspector import open_demo, open_lesson
from inspector.errors import LessonError
from inspector.jupyter.widget import Workbench
from inspector.workbench.queries import answer_query

OWN = """---
title: Mine
policy: keep-recent-turns
moment: recorded:1
---
# Look
This policy leaves {wb.plan.after:k}.

# Fewer turns
show: keep-recent-turns.turns = 1
"""


def test_a_lesson_opens_at_its_step_on_its_session() -> None:
    wb = open_lesson("legal-cut", step=3)
    assert (wb.lesson, wb.tab, wb.session.id) == ("2.3", "lesson", open_demo().id)
    assert wb.plan.policy.name == "flue"
    turn = wb.plan.session.live.turn
    assert wb.plan.place is not None
    assert (int(turn[wb.plan.place - 1]), int(turn[wb.plan.place])) == (5, 6), "before turn 7"
    wb.lesson = "1.2"
    assert wb.plan.policy.name == "langchain-clear"
    wb.close()


def test_a_link_to_no_step_is_refused_and_nothing_moves() -> None:
    wb = open_lesson("legal-cut")
    for wrong in ("2.9", "9.1", "legal", "2", "0.1", "2.0"):
        with pytest.raises(traitlets.TraitError):
            wb.lesson = wrong
    assert wb.lesson == "2.1"
    wb.close()
    with pytest.raises(LessonError, match="steps 1 to 4, and no step 5"):
        open_lesson("legal-cut", step=5)
    with pytest.raises(LessonError, match="there is no lesson squeeze"):
        open_lesson("squeeze")


def test_a_session_of_ones_own_has_no_lesson_of_the_package() -> None:
    session = open_demo().model_copy(update={"id": "another"})
    wb = Workbench(session, "flue")
    with pytest.raises(traitlets.TraitError, match=r'open_lesson\("legal-cut"\) opens it'):
        wb.lesson = "2.1"
    told = answer_query(wb.model, {"type": "lessons", "id": 1})
    assert told["here"] == []
    assert told["elsewhere"][1] == {"number": 2, "name": "legal-cut", "title": "A legal cut", "steps": 4}
    wb.close()


def test_a_lesson_from_a_file_stands_in_the_place_of_the_packages(tmp_path: Path) -> None:
    path = tmp_path / "mine.md"
    path.write_text(OWN, "utf-8")
    wb = open_lesson(path, step=2)
    assert wb.plan.edits.settings == {"keep-recent-turns.turns": 1}
    assert [each["title"] for each in answer_query(wb.model, {"type": "lessons"})["here"]] == ["Mine"]
    first = answer_query(wb.model, {"type": "lesson_step", "link": "1.1"})
    assert first["links"] == ["", "1.2"]
    wb.lesson = "1.1"
    assert first["text"] == [f"This policy leaves {wb.plan.after / 1000:.1f}k."]
    wb.close()
    path.write_text("no lesson", "utf-8")
    with pytest.raises(LessonError, match="line 1"):
        open_lesson(path)
