"""I/O: open a lesson, by its name or from a file, as a widget that needs no kernel once it is shown."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anywidget
import traitlets as t

from ..errors import expect
from ..files import StrPath, open_session, resolve_place, write_new
from ..paths import spell_out
from ..workbench.lessons.bundled import build_lesson, find_lesson, make_session, open_bundled
from ..workbench.lessons.grading import GradedAnswers, add_hash, grade_answers
from ..workbench.lessons.lesson import SESSIONS, read_lesson

_STATIC = Path(__file__).parent.parent / "static"


class LessonWidget(anywidget.AnyWidget):
    """A lesson with its progress. `answers` is what an answers file holds; it can be set to go on."""

    _esm = (_STATIC / "lesson.js").read_text("utf-8")
    _css = (_STATIC / "lesson.css").read_text("utf-8")
    lesson = t.Dict().tag(sync=True)
    answers = t.Dict().tag(sync=True)
    step = t.Int(1).tag(sync=True)

    def __repr__(self) -> str:
        name, title = (self.lesson.get(field, "") for field in ("name", "title"))
        return f"LessonWidget({name}: {title}, step {self.step})"

    def save_answers(self, path: StrPath = "answers.json") -> Path:
        """Write the answers to a new file, which `compaction-inspector grade` marks."""
        target = resolve_place(path, "save_answers")
        text = json.dumps(add_hash(self.answers), ensure_ascii=False, indent=1)
        write_new(target, text.encode("utf-8"))
        return target

    def grade(self) -> GradedAnswers:
        """Mark the answers so far."""
        return grade_answers("this lesson", json.dumps(add_hash(self.answers)))


def open_lesson(lesson: str | os.PathLike[str], step: int = 1, **options: Any) -> LessonWidget:
    """Open a lesson at one of its steps, which count from 1; step 1 is its goal.

    `lesson` is a name or number of the package's own lessons, "final" for the final test, or a file that ends
    in .md, which `inspector.testing.check_lesson` can check. `options` are traits of `LessonWidget`.

    Raises `LessonError` for a lesson that does not exist, or a file that is not a valid lesson.

    >>> widget = open_lesson("legal-cut")
    >>> widget.lesson["title"]
    'A valid cut point'
    >>> widget.close()
    """
    expect("open_lesson", lesson=(lesson, str, os.PathLike), step=(step, int))
    return LessonWidget(lesson=_build(os.fspath(lesson)), step=step, **options)


def _build(name: str) -> dict[str, Any]:
    """The data of a lesson by its name, its number or its file."""
    if name.endswith(".md"):
        path = spell_out(name, "open_lesson", "lesson")
        read = read_lesson(path.read_text("utf-8"), path.stem)
        if read.session in SESSIONS:
            return build_lesson(read, make_session(read.session))
        return build_lesson(read, open_session(path.parent / read.session))
    return open_bundled(name if name == "final" else find_lesson(name).name)
