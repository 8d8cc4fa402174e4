"""DOOR: a lesson by its name, or from a file of one's own, opened as a workbench on its session."""

from __future__ import annotations

import os
from typing import Any

from ..errors import expect
from ..files import open_session
from ..paths import spell_out
from ..session.session import Session
from ..workbench.lessons.bundled import find_lesson, list_lessons, make_session
from ..workbench.lessons.lesson import SESSIONS, Lesson, read_lesson
from ..workbench.lessons.played_step import find_step
from .widget import Workbench


def open_lesson(lesson: str | os.PathLike[str], step: int = 1, **options: Any) -> Workbench:
    """A workbench on the lesson's session, opened at one of its steps; they count from 1.

    `lesson` is a name or number of the package's own, or a file that ends in .md, of which
    `inspector.testing.check_lesson` tells whether it can be played. `options` are those of `Workbench`.

    Raises `LessonError` for a lesson or a step that does not exist, or a file that cannot be read as one.

    >>> wb = open_lesson("legal-cut", step=2)
    >>> wb.lesson, wb.plan.policy.name
    ('2.2', 'flue')
    >>> wb.lesson = "2.3"  # the next step
    >>> wb.close()
    """
    expect("open_lesson", lesson=(lesson, str, os.PathLike))
    found, number, session = _find(lesson)
    find_step(found, step)
    wb = Workbench(session, policy=found.policy, tab="lesson", **options)
    if number == 0:
        wb.adopt_lesson(found)
    wb.lesson = f"{number or 1}.{step}"
    return wb


def _find(lesson: str | os.PathLike[str]) -> tuple[Lesson, int, Session]:
    """A lesson, its number among the package's own or 0, and its session."""
    name = os.fspath(lesson)
    if name.endswith(".md"):
        path = spell_out(name, "open_lesson", "lesson")
        read = read_lesson(path.read_text("utf-8"), path.stem)
        inside = read.session in SESSIONS
        return read, 0, make_session(read.session) if inside else open_session(path.parent / read.session)
    found = find_lesson(name)
    return found, list_lessons().index(found) + 1, make_session(found.session)
