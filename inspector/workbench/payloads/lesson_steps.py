"""The lessons of a session, a step of one, and what is said to an attempt at it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from msgspec import UNSET, UnsetType

from ...errors import LessonError
from ..lessons.bundled import lessons_of, list_lessons, read_link
from ..lessons.lesson import Lesson
from ..lessons.played_step import begin, find_step, judge, solved_place, tell
from ..model import WorkbenchModel
from .base_payload import Payload


class LessonTitle(Payload, frozen=True):
    """A lesson in the list: `number` is that of its links, `name` what `open_lesson` takes."""

    number: int
    name: str
    title: str
    steps: int


class LessonsReply(Payload, frozen=True):
    """The lessons about this session, and those about others, each with the Python that opens it."""

    here: list[LessonTitle]
    elsewhere: list[LessonTitle]


class LessonStepReply(Payload, frozen=True):
    """A step as it is shown. `inputs` are what it sets; `play` is how many rules are played, -1 for all.

    `hides` says that the policy's cut is for the person to guess. `links` are those of the steps before and
    after it, "" where there is none. `note` is what an exported page cannot show or do of it.
    """

    lesson: str
    title: str
    step: int
    steps: int
    text: list[str]
    inputs: dict[str, Any]
    play: int
    hides: bool
    question: str
    choices: list[str]
    hint: str
    solution: str
    links: tuple[str, str]
    note: str | UnsetType = UNSET


class LessonCheckReply(Payload, frozen=True):
    """What is said to an attempt; `place` is where the right cut stands, -1 where none is asked for."""

    right: bool
    words: str
    place: int


def list_titles(model: WorkbenchModel) -> LessonsReply:
    """The lessons: those that a person opened here, else the package's own."""
    lessons = _lessons(model)
    mine = model.lessons or lessons_of(model.session)
    titles = [
        LessonTitle(number, lesson.name, lesson.title, len(lesson.steps))
        for number, lesson in enumerate(lessons, 1)
    ]
    here = [title for title, lesson in zip(titles, lessons, strict=True) if lesson in mine]
    return LessonsReply(here, [title for title in titles if title not in here])


def describe_step(model: WorkbenchModel, query: Mapping[str, Any]) -> LessonStepReply:
    """The step that a link names, with its texts as they stand when it has begun."""
    lesson, number = find_linked(model, str(query["link"]))
    step = find_step(lesson, number)
    # Elsewhere, so that nothing on the screen moves.
    begun = copy(model)
    inputs = begin(lesson, number, model)
    begun.answer(inputs)
    texts = tell(lesson, number, begun)
    return LessonStepReply(
        lesson=lesson.title,
        title=step.title,
        step=number,
        steps=len(lesson.steps),
        text=[" ".join(part.split()) for part in texts.text.split("\n\n") if part.strip()],
        inputs=inputs,
        play=-1 if step.play is None else step.play,
        hides=step.hide,
        question=texts.question,
        choices=list(step.choices),
        hint=texts.hint,
        solution=texts.solution,
        links=_find_links(model, lesson, number),
    )


def check_step(model: WorkbenchModel, query: Mapping[str, Any]) -> LessonCheckReply:
    """What is said to what stands in the model, with the cut at "place" and "answer" chosen."""
    lesson, number = find_linked(model, str(query["link"]))
    place = int(query["place"])
    right, words = judge(lesson, number, model, None if place < 0 else place, str(query["answer"]))
    solved = solved_place(lesson, number, model)
    return LessonCheckReply(right, words, -1 if solved is None else solved)


def find_linked(model: WorkbenchModel, link: str) -> tuple[Lesson, int]:
    """The lesson and the step's number that a link names.

    Raises `LessonError` where there is none, or none about this session.
    """
    number, step = read_link(link)
    lessons = _lessons(model)
    if not 1 <= number <= len(lessons):
        raise LessonError(f"there are lessons 1 to {len(lessons)}, and no lesson {number}")
    lesson = lessons[number - 1]
    find_step(lesson, step)
    if lesson not in (model.lessons or lessons_of(model.session)):
        raise LessonError(f'{lesson.title} is about another session: open_lesson("{lesson.name}") opens it')
    return lesson, step


def _lessons(model: WorkbenchModel) -> tuple[Lesson, ...]:
    return model.lessons or list_lessons()


def _find_links(model: WorkbenchModel, lesson: Lesson, number: int) -> tuple[str, str]:
    lessons = _lessons(model)
    mine = model.lessons or lessons_of(model.session)
    links = [f"{lessons.index(one) + 1}.{at}" for one in mine for at in range(1, len(one.steps) + 1)]
    here = links.index(f"{lessons.index(lesson) + 1}.{number}")
    return links[here - 1] if here else "", links[here + 1] if here + 1 < len(links) else ""
