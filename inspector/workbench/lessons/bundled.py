"""The lessons that come with the package, and their data."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from ...demo import open_demo
from ...errors import LessonError
from ...redaction.cut import cut_text
from ...session.session import Session
from .exercise import Charts, LessonStage, digest, draw_chart, pack
from .lesson import Lesson, Step, read_lesson
from .tasks import build_check, build_final

FINAL = "final"
"""The name of the final test."""
POOL, FINAL_POOL = 12, 6
"""How many generated exercises a check has to choose from, and how many final tests there are."""


@cache
def list_lessons() -> tuple[Lesson, ...]:
    """All of them, in reading order.

    >>> [lesson.name for lesson in list_lessons()][:2]
    ['where-the-tokens-are', 'legal-cut']
    """
    lesson_files = [file for file in files(__package__).iterdir() if file.name.endswith(".md")]
    named = sorted((file.name.removesuffix(".md"), file) for file in lesson_files)
    return tuple(read_lesson(file.read_text("utf-8"), name) for name, file in named)


def find_lesson(name: str) -> Lesson:
    """Find a lesson by its name, such as "legal-cut", or number. Raises `LessonError` for an unknown one."""
    lessons = list_lessons()
    for number, lesson in enumerate(lessons, 1):
        if name in (lesson.name, str(number)):
            return lesson
    names = ", ".join(lesson.name for lesson in lessons)
    raise LessonError(f"there is no lesson {cut_text(name, 40)}; there are {names}")


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

        return compact_rounds(open_demo(), "claude-code-analysis", rounds=5).transitions[-1].after
    raise LessonError(f"there is no session {cut_text(name, 60)} in this package")


def build_lesson(lesson: Lesson, session: Session, number: int = 0) -> dict[str, Any]:
    """Build all data of a lesson: its steps, its charts, and for its check POOL generated exercises.

    `version` changes with any word or number of it. Raises `LessonError` for a step that cannot be shown.
    """
    stage = LessonStage(lesson, session)
    steps = [stage.build_step(step) for step in lesson.steps]
    for step, data in zip(lesson.steps, steps, strict=True):
        if step.kind == "check":
            data["variants"] = [build_check(step.title, seed, stage.charts) for seed in range(POOL)]
            data["title"] = "The same on another session"
    data = {
        "name": lesson.name,
        "number": number,
        "title": lesson.title,
        "goal": lesson.goal,
        "focus": lesson.focus,
        "steps": pack(steps),
        "charts": stage.charts.drawn,
    }
    return {**data, "version": digest(data)}


@cache
def open_bundled(name: str) -> dict[str, Any]:
    """The data of one of the package's lessons, or of the final test."""
    if name == FINAL:
        charts = Charts()
        variants = [build_final(seed, charts) for seed in range(FINAL_POOL)]
        data = {
            "name": FINAL,
            "number": len(list_lessons()) + 1,
            "title": "Final test",
            "goal": "Answer ten questions on three sessions that you have not seen.",
            "focus": "lanes",
            "steps": [
                {"kind": "check", "title": f"Question {at + 1} of 10", "text": [], "variants": pack(column)}
                for at, column in enumerate(zip(*variants, strict=True))
            ],
            "charts": charts.drawn,
        }
        return {**data, "version": digest(data)}
    lesson = find_lesson(name)
    return build_lesson(lesson, make_session(lesson.session), list_lessons().index(lesson) + 1)


@cache
def build_trial() -> dict[str, Any]:
    """The demo session with Flue's cut, to drag: an exercise without a question, and its chart."""
    stage = LessonStage(find_lesson("legal-cut"), open_demo())
    step = Step("do", "", "", 0, ask="cut", right="inside", solve="policy")
    plan = stage.plan(step)
    exercise = stage.build_exercise(step, plan, 0)
    exercise.start = exercise.solution
    return {"exercise": pack(exercise), "chart": draw_chart(plan)}


def list_names() -> list[str]:
    """The names of all lessons, and of the final test."""
    return [*(lesson.name for lesson in list_lessons()), FINAL]
