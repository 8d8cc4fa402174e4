"""Mark exported answers: a file of answers in, a row with marks and remarks out.

A mark is never taken from the file: each answer is judged again on the session that its number generates. The
hash and the order of the numbers show careless changes. A static page holds its solutions, so a person who
reads it can write a perfect file. Only its times may then be remarkable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from json import JSONDecodeError, dumps, loads
from statistics import median
from typing import Any

from ...errors import LessonError
from ...redaction.cut import cut_text
from ...text import plural
from .bundled import FINAL, FINAL_POOL, POOL, list_names, open_bundled

FORMAT = "compaction-inspector-answers-1"
POINTS = 3
"""Points for the first try; each further try is worth one less, and at least one if it is right."""
QUICK = 5
"""Seconds per question below which the time is remarkable."""


@dataclass
class GradedStep:
    """A step: its points, whether it was given up, and the answers that were wrong."""

    title: str
    points: int
    gave_up: bool
    wrong: list[str]


@dataclass
class GradedAnswers:
    """One file of answers. `marks` are points and possible points by lesson, `remarks` what a teacher should
    look at."""

    name: str
    student: str = ""
    marks: dict[str, tuple[int, int]] = field(default_factory=dict)
    gave_up: int = 0
    seconds: int = 0
    questions: int = 0
    remarks: list[str] = field(default_factory=list)
    wrong: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    trace: str = ""

    @property
    def total(self) -> float:
        """The share of all points of the course, from 0 to 1."""
        possible = sum(count_points(name) for name in list_names())
        return sum(points for points, _ in self.marks.values()) / possible


def count_points(name: str) -> int:
    """The points of a lesson."""
    return POINTS * sum(1 for step in open_bundled(name)["steps"] if step["kind"] != "reveal")


def choose_seed(student: str, lesson: str, pool: int) -> int:
    """The first number of a student's checks in a lesson, as js/src/course/answers.ts chooses it.

    >>> choose_seed("a", "legal-cut", 12)
    10
    """
    number = 0x811C9DC5
    for letter in f"{student}:{lesson}".encode():
        number = (number ^ letter) * 0x01000193 & 0xFFFFFFFF
    return number % pool


def hash_answers(data: Mapping[str, Any]) -> str:
    """The hash of answers, over all but the hash."""
    rest = {name: value for name, value in data.items() if name != "hash"}
    return sha256(dumps(rest, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def add_hash(data: Mapping[str, Any]) -> dict[str, Any]:
    """Answers with their hash, as a file holds them."""
    return {**data, "hash": hash_answers(data)}


def grade_answers(name: str, text: str) -> GradedAnswers:
    """Mark one file. A file that cannot be read gets a remark and no marks.

    >>> grade_answers("a.json", "{}").remarks
    ['not an answers file']
    """
    graded = GradedAnswers(name)
    try:
        data = loads(text)
        if data["format"] != FORMAT or not isinstance(data["lessons"], dict):
            raise ValueError(data["format"])
        graded.student = str(data["student"])[:40]
    except (JSONDecodeError, RecursionError, KeyError, TypeError, ValueError):
        graded.remarks.append("not an answers file")
        return graded
    if data.get("hash") != hash_answers(data):
        graded.remarks.append("changed after it was exported")
    for lesson, answers in data["lessons"].items():
        try:
            graded.marks[lesson] = _grade_lesson(graded, lesson, answers)
        except (LessonError, AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            reason = str(error) if isinstance(error, LessonError) else "it is not in the form of an export"
            graded.remarks.append(f"{cut_text(str(lesson), 40)}: {reason}")
    tried = {lesson: data["lessons"][lesson]["steps"] for lesson in graded.marks}
    has_tries = any(answer["tries"] for steps in tried.values() for answer in steps.values())
    graded.trace = dumps(tried, sort_keys=True) if has_tries else ""
    return graded


def _grade_lesson(graded: GradedAnswers, name: str, answers: Mapping[str, Any]) -> tuple[int, int]:
    if name not in list_names():
        raise LessonError("there is no such lesson")
    lesson = open_bundled(name)
    if answers["version"] != lesson["version"]:
        raise LessonError("made with another version of the lesson")
    seed = choose_seed(graded.student, name, FINAL_POOL if name == FINAL else POOL)
    questions = [
        (str(number), step) for number, step in enumerate(lesson["steps"], 1) if step["kind"] != "reveal"
    ]
    if stray := answers["steps"].keys() - {number for number, _ in questions}:
        raise LessonError(f"it has no question in step {cut_text(min(stray), 20)}")
    points, is_open = 0, True
    for number, step in questions:
        answer = answers["steps"].get(number)
        if answer is None:
            is_open = False
            continue
        if not is_open:
            raise LessonError(f"step {number} was answered before the step in front of it")
        graded_step = _grade_step(step, answer, seed, name == FINAL)
        points += graded_step.points
        graded.gave_up += graded_step.gave_up
        graded.questions += 1
        graded.seconds += max(0, min(int(answer["seconds"]), 86_400))
        graded.wrong.update((name, step["title"], key) for key in graded_step.wrong)
    return points, count_points(name)


def _grade_step(step: Mapping[str, Any], answer: Mapping[str, Any], seed: int, final: bool) -> GradedStep:
    tries = answer["tries"]
    wrong: list[str] = []
    for number, tried in enumerate(tries):
        exercise = step.get("exercise")
        if exercise is None:
            expected = seed if final else (seed + number) % POOL
            if tried["seed"] != expected:
                raise LessonError(f"{step['title']}: answered on a session that it did not ask about")
            exercise = step["variants"][expected]
        key = str(tried["answer"])
        option = next((option for option in exercise["options"] if option["key"] == key), None)
        if option is None:
            raise LessonError(f"{step['title']}: there is no answer {cut_text(key, 40)}")
        if option["right"]:
            if number < len(tries) - 1 or answer["gave_up"] is True:
                raise LessonError(f"{step['title']}: it continues after the right answer")
            return GradedStep(step["title"], max(1, POINTS - number), False, wrong)
        wrong.append(str(option["label"]))
        if final and len(tries) > 1:
            raise LessonError(f"{step['title']}: a question of the test has one try")
    return GradedStep(step["title"], 0, answer["gave_up"] is True, wrong)


def grade_all(texts: Mapping[str, str]) -> list[GradedAnswers]:
    """Mark many files by their names, and remark on equal ones and on those that were remarkably quick.

    Two files with one random name are two exports of one student, or a copy; the sessions are the same then.
    """
    rows = [grade_answers(name, text) for name, text in sorted(texts.items())]
    by_student: dict[str, GradedAnswers] = {}
    by_trace: dict[str, GradedAnswers] = {}
    for row in rows:
        own = by_student.setdefault(row.student, row)
        other = by_trace.setdefault(row.trace, row)
        if row.student and own is not row:
            row.remarks.append(f"same random name as {own.name}")
        elif row.trace and other is not row:
            row.remarks.append(f"same answers as {other.name}")
    timed = [row.seconds / row.questions for row in rows if row.questions]
    for row in rows:
        usual = median(timed) if len(timed) > 2 else QUICK
        if row.questions and row.seconds / row.questions < max(QUICK, usual / 4):
            row.remarks.append(f"quick: {row.seconds / row.questions:.0f} s per question")
    return rows


def list_columns(rows: Sequence[GradedAnswers]) -> Iterator[list[str]]:
    """The rows of a table, the head first."""
    yield [
        "file",
        *(str(at + 1) for at in range(len(list_names()) - 1)),
        FINAL,
        "of all",
        "gave up",
        "min",
        "remarks",
    ]
    for row in rows:
        marks = [
            f"{row.marks[name][0]}/{row.marks[name][1]}" if name in row.marks else "–"
            for name in list_names()
        ]
        minutes = f"{row.seconds / 60:.0f}"
        yield [row.name, *marks, f"{row.total:.0%}", str(row.gave_up), minutes, "; ".join(row.remarks)]


def describe_wrong(rows: Sequence[GradedAnswers]) -> list[str]:
    """The wrong answers that were given most, for a teacher."""
    total: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        total.update(row.wrong)
    return [
        f"{plural(times, 'time')}: {lesson}, {title}: “{label}”"
        for (lesson, title, label), times in total.most_common(8)
        if times > 1
    ]
