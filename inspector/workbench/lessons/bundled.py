"""The lessons that come with the package, by their numbers and names."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from ...demo import open_demo
from ...errors import LessonError
from ...redaction.cut import cut_text
from ...session.session import Session
from .lesson import Lesson, read_lesson

_COMPACTIONS = {"demo": 1, "generated": 5}
_LINK = re.compile(r"(\d+)\.(\d+)")


@cache
def list_lessons() -> tuple[Lesson, ...]:
    """All of them, in reading order.

    >>> [lesson.name for lesson in list_lessons()][:2]
    ['where-the-tokens-are', 'legal-cut']
    """
    found = [file for file in files(__package__).iterdir() if file.name.endswith(".md")]
    named = sorted((file.name.removesuffix(".md"), file) for file in found)
    return tuple(read_lesson(file.read_text("utf-8"), name) for name, file in named)


def find_lesson(name: str) -> Lesson:
    """Find a lesson by its name, such as "legal-cut", or number. Raises `LessonError` if there is none."""
    lessons = list_lessons()
    for number, lesson in enumerate(lessons, 1):
        if name in (lesson.name, str(number)):
            return lesson
    names = ", ".join(lesson.name for lesson in lessons)
    raise LessonError(f"there is no lesson {cut_text(name, 40)}; there are {names}")


def lessons_of(session: Session) -> tuple[Lesson, ...]:
    """Those of `list_lessons` that are about this very session, at the place where they stand there."""
    return tuple(lesson for lesson in list_lessons() if is_about(lesson, session))


def is_about(lesson: Lesson, session: Session) -> bool:
    """Whether a lesson of this package is about a session.

    >>> from inspector import open_demo
    >>> is_about(find_lesson("legal-cut"), open_demo())
    True
    """
    compactions = sum(boundary.kind == "compact" for _, boundary in session.boundaries)
    return compactions == _COMPACTIONS.get(lesson.session) and session.id == open_demo().id


@cache
def make_session(name: str) -> Session:
    """Open the session of a lesson.

    "demo" is the package's demo session; "generated" is the same session, compacted five times by Claude
    Code's policy. Raises `LessonError` for another name.

    >>> make_session("generated")
    Session(claude-code, 545 records, 21 turns, 5 compactions, 0 unknown)
    """
    if name == "demo":
        return open_demo()
    if name == "generated":
        # Imported late, because most workbenches do not need it.
        from ...replays.decay import compact_rounds

        rounds = _COMPACTIONS[name]
        return compact_rounds(open_demo(), "claude-code", rounds=rounds).transitions[-1].after
    raise LessonError(f"there is no session {cut_text(name, 60)} in this package")


def read_link(link: str) -> tuple[int, int]:
    """Parse the numbers of a lesson and a step from a link such as "2.3". Raises `LessonError` otherwise.

    >>> read_link("2.3")
    (2, 3)
    """
    match = _LINK.fullmatch(link)
    if match is None:
        raise LessonError(f'a link to a step is two numbers, such as "2.3", not {cut_text(link, 40)!r}')
    return int(match.group(1)), int(match.group(2))
