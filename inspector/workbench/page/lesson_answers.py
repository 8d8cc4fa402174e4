"""The lessons of a page: their steps, and what is said to every attempt that a page without Python allows.

On such a page the cut moves and policies are switched. It has one moment, and no rule or pin changes: of a
step that wants more the page tells the words, and a note that says what the step wants. A question with
choices is answered as the step begins it, so it can be answered there too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import Any

from ...errors import LessonError
from ..lessons.bundled import lessons_of
from ..lessons.lesson import INPUTS, Lesson, Step
from ..lessons.played_step import begin, find_step, judge, solved_place
from ..model import WorkbenchModel
from ..payloads.base_payload import to_json
from ..payloads.lesson import play_rules
from ..payloads.lesson_steps import describe_step, list_titles

ELSEWHERE = "The picture of this step is another moment of the session; this page holds one."
UNHELD = "The picture of this step is a plan that is not on this page."
BY_RULES = "Here a rule is to be changed, which needs a kernel; this page has none."
BY_PINS = "Here a block is to be pinned, which needs a kernel; this page has none."
MOST_PLACES = 2_000
"""Places of a moment at most for which attempts and refusals are worked out, at about 10 ms each."""
EVERYWHERE = "*"
"""Stands for any policy and any place: the attempt is judged as its step begins."""

_Attempt = tuple[str, str, str]


def list_policies_of_lessons(model: WorkbenchModel) -> tuple[str, ...]:
    """The policies that the steps at a model's moment begin with, each once.

    >>> from inspector import open_demo
    >>> model = WorkbenchModel(open_demo())
    >>> _ = model.answer({})
    >>> list_policies_of_lessons(model)[:3]
    ('flue', 'langchain-clear', 'mini-claude-code')
    """
    names: dict[str, None] = {}
    for lesson in find_lessons(model):
        for number in range(1, len(lesson.steps) + 1):
            with suppress(LessonError):
                inputs = begin(lesson, number, model)
                if inputs["at"] == model.moment.leaf:
                    names[inputs["policy"]] = None
    return tuple(names)


def find_lessons(model: WorkbenchModel) -> tuple[Lesson, ...]:
    """The lessons about a model's session: those opened with it, else the package's own."""
    return model.lessons or lessons_of(model.session)


def answer_lessons(model: WorkbenchModel, policies: Sequence[str]) -> dict[str, Any] | None:
    """All that a page with the plans of these policies tells of its lessons; None where it has none.

    "steps" and "checks" are by link. A check has its "verdicts", and by policy, answer and place the number
    of one. "refused" says by place what an illegal cut would break, "played" by policy how its rules play.
    """
    lessons = find_lessons(model)
    if not lessons:
        return None
    listed = list_titles(model)
    numbers = {title.name: title.number for title in listed.here}
    steps: dict[str, Any] = {}
    checks: dict[str, Any] = {}
    for lesson in lessons:
        for number in range(1, len(lesson.steps) + 1):
            link = f"{numbers[lesson.name]}.{number}"
            # A part of the session may lack a step's moment.
            with suppress(LessonError):
                steps[link], attempts = _answer_step(model, lesson, number, link, policies)
                if attempts:
                    checks[link] = _gather(attempts)
    if not steps:
        return None
    return {
        "lessons": to_json(listed),
        "steps": steps,
        "checks": checks,
        "played": {name: _play(model, name) for name in policies},
        "refused": _list_refused(model),
    }


def _answer_step(
    model: WorkbenchModel, lesson: Lesson, number: int, link: str, policies: Sequence[str]
) -> tuple[dict[str, Any], list[tuple[_Attempt, Mapping[str, Any]]]]:
    told = to_json(describe_step(model, {"link": link}))
    begun = copy(model)
    begun.answer(told["inputs"])
    shown = _shows(begun, model, policies)
    wish = _find_wish(find_step(lesson, number))
    told["note"] = find_note(begun, model, policies) or wish or ("" if shown else UNHELD)
    told["inputs"] = {**told["inputs"], "at": model.inputs["at"]} if shown else {}
    return told, list(_list_attempts(begun, model, lesson, number, policies))


def find_note(begun: WorkbenchModel, model: WorkbenchModel, policies: Sequence[str]) -> str:
    """Why a page of `model` cannot show what a step has begun with, "" where it can."""
    if begun.moment.leaf != model.moment.leaf:
        return ELSEWHERE
    if begun.plan.policy.name not in policies:
        return UNHELD
    return ""


def _shows(begun: WorkbenchModel, model: WorkbenchModel, policies: Sequence[str]) -> bool:
    if find_note(begun, model, policies):
        return False
    mine = begun.plan.policy.name == model.plan.policy.name
    held = dict(model.inputs["settings"]) if mine else {}
    return dict(begun.inputs["settings"]) == held and list(begun.inputs["pins"]) == list(model.inputs["pins"])


def _find_wish(step: Step) -> str:
    """What a step asks for that a page cannot do, "" for nothing."""
    wishes = {**step.show, **step.solve}
    if "pin" in wishes:
        return BY_PINS
    return BY_RULES if any(name not in INPUTS for name in wishes) else ""


def _list_attempts(
    begun: WorkbenchModel, model: WorkbenchModel, lesson: Lesson, number: int, policies: Sequence[str]
) -> Iterator[tuple[_Attempt, Mapping[str, Any]]]:
    """Every attempt at a step that the page allows: (policy, answer, place) and what is said to it."""
    step = find_step(lesson, number)
    shown = _shows(begun, model, policies)
    if not step.check or (not step.choices and (not shown or _find_wish(step))):
        return

    solved = solved_place(lesson, number, begun)

    def say(at: WorkbenchModel, place: int, answer: str) -> dict[str, Any]:
        try:
            right, words = judge(lesson, number, at, place, answer)
        except LessonError as error:
            # As in a workbench, where it is said of this attempt alone.
            right, words = False, str(error)
        return {"right": right, "words": words, "place": -1 if solved is None else solved}

    if step.choices:
        for answer in ("", *step.choices):
            yield (EVERYWHERE, answer, EVERYWHERE), say(begun, _place_of(begun), answer)
    elif "policy" in step.solve:
        for name in policies:
            other = copy(begun)
            other.answer({"policy": name, "settings": {}, "cut": "", "look": "plan"})
            yield (name, "", str(_place_of(other))), say(other, _place_of(other), "")
    else:
        for place in range(min(len(begun.plan.cuts), MOST_PLACES)):
            yield (begun.plan.policy.name, "", str(place)), say(begun, place, "")


def _play(model: WorkbenchModel, policy: str) -> dict[str, Any]:
    """How the rules of a policy play at its own cut."""
    at = copy(model)
    if policy != model.plan.policy.name:
        at.answer({"policy": policy, "settings": {}, "cut": "", "look": "plan"})
    return to_json(play_rules(at.plan, at.plan.place or 0))


def _place_of(model: WorkbenchModel) -> int:
    """Where the handle stands: at the first place where nothing is cut."""
    return model.shown.place or 0


def _gather(attempts: Sequence[tuple[_Attempt, Mapping[str, Any]]]) -> dict[str, Any]:
    """Attempts by policy, answer and place, each verdict once.

    >>> _gather([(("flue", "", "0"), {"right": False}), (("flue", "", "1"), {"right": False})])
    {'verdicts': [{'right': False}], 'by': {'flue': {'': {'0': 0, '1': 0}}}}
    """
    verdicts: list[Mapping[str, Any]] = []
    by: dict[str, dict[str, dict[str, int]]] = {}
    for (policy, answer, place), said in attempts:
        if said not in verdicts:
            verdicts.append(said)
        by.setdefault(policy, {}).setdefault(answer, {})[place] = verdicts.index(said)
    return {"verdicts": verdicts, "by": by}


def _list_refused(model: WorkbenchModel) -> dict[str, Any]:
    """What a cut at each illegal place would break."""
    plan = model.plan
    places = range(min(len(plan.cuts), MOST_PLACES))
    illegal = (place for place in places if not plan.cuts.legal[place])
    return {str(place): to_json(play_rules(plan, place)) for place in illegal}
