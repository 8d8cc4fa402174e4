"""A lesson's file -> a `Lesson`: its title, where it begins, and its steps.

The format is small, so that whoever writes a lesson sees at once what is wrong with it. Between two lines of
three dashes stand title, session, moment, policy and tab; then each step, from its heading on:

    # Where the cut may stand

    A paragraph or two. {wb.plan.before:k} is worked out when the step is shown.

    show: cut = turn 8
    question: Move the cut to the beginning of turn 12.
    check: wb.cut.turn == 12 and not wb.cut.splits_turn
    wrong: wb.cut.splits_turn -> This place is inside turn {wb.cut.turn}.
    hint: The arrows move the cut from one legal place to the next.
    solve: cut = turn 12
    solution: Press c, then the right arrow.
    saw: Now {wb.plan.after:k} tokens stay.

A field may go on in lines that are indented. What is between braces is an expression, with "k" for 158.3k or
what Python's `format` takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import LessonError
from ...redaction.cut import cut_text
from ...text import printed
from ..inputs import TABS
from ..payloads.sections import format_tokens
from .expressions import evaluate, parse

HEAD = ("title", "session", "moment", "policy", "tab")
FIELDS = (
    *("show", "play", "hide", "question", "choices", "check"),
    *("wrong", "hint", "try", "solve", "solution", "saw"),
)
"""What a step may hold beside its text."""
INPUTS = ("answer", "cut", "look", "moment", "pin", "policy")
"""What `show`, `try` and `solve` may set; any other name is a setting of the policy, such as
`keep-recent-tokens.tokens`."""
SESSIONS = ("demo", "generated")
"""The session that comes with the package, and the same compacted five times in a row."""
_FIELD = re.compile(r"([a-z]+): *(.*)")
_SLOT = re.compile(r"\{([^{}]+?)(?::([^{}:'\"]*))?\}")
_SETTING = re.compile(r"[a-z0-9-]+(?:#\d+)?\.[a-z0-9_]+")
_NAME = re.compile(r"(?:\d+-)?([a-z0-9-]+)")

Changes = Mapping[str, str]


@dataclass(frozen=True)
class Step:
    """One step: `show` is what it sets, `play` how many rules are played, None for all of them; with
    `hide` the policy's cut is not shown, and the person places one of their own.

    Without a `check` there is nothing to answer. `wrong` are pairs of an expression and what is said where it
    holds; `tries` are attempts that have to be refused, `solve` is one that is right.
    """

    title: str
    text: str
    line: int
    show: Changes = field(default_factory=dict)
    play: int | None = None
    hide: bool = False
    question: str = ""
    choices: tuple[str, ...] = ()
    check: str = ""
    wrong: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    tries: tuple[Changes, ...] = ()
    solve: Changes = field(default_factory=dict)
    solution: str = ""
    saw: str = ""


@dataclass(frozen=True)
class Lesson:
    """A lesson as its file tells it. `session` is one of SESSIONS, or a path beside the lesson's file."""

    name: str
    title: str
    session: str
    moment: str
    policy: str
    tab: str
    steps: tuple[Step, ...]

    @printed
    def __repr__(self) -> str:
        return f"Lesson({self.name}: {self.title}, {len(self.steps)} steps)"


def read_lesson(text: str, name: str = "lesson") -> Lesson:
    """The lesson that a file's text holds. Raises `LessonError`, with the line, for what cannot be read.

    >>> read_lesson("---\\ntitle: Short\\n---\\n# One\\nLook at the cut.\\n")
    Lesson(lesson: Short, 1 steps)
    """
    lines = list(enumerate(text.splitlines(), 1))
    if not lines or lines[0][1].strip() != "---":
        raise LessonError("a lesson begins with a line of three dashes", 1)
    ends = [number for number, line in lines[1:] if line.strip() == "---"]
    if not ends:
        raise LessonError("the head has no end: a second line of three dashes", 1)
    head = _read_head(lines[1 : ends[0] - 1])
    steps = tuple(_read_step(part) for part in _divide(lines[ends[0] :]))
    if not steps:
        raise LessonError('there is no step: one begins with "# " and its title', ends[0])
    match = _NAME.fullmatch(name)
    return Lesson(match.group(1) if match else name, **head, steps=steps)


def fill(text: str, names: Mapping[str, Any]) -> str:
    """A text with its values in place. Raises `LessonError` for a value that there is none of.

    >>> fill("{n:k} of {n:,} tokens", {"n": 158295})
    '158.3k of 158,295 tokens'
    """

    def value(match: re.Match[str]) -> str:
        found, form = evaluate(match.group(1), names), match.group(2) or ""
        if form == "k" and isinstance(found, int):
            return format_tokens(found)
        if not form and isinstance(found, int) and not isinstance(found, bool):
            form = ","
        try:
            return format(found, form) if form else str(found)
        except ValueError as error:
            raise LessonError(f"{match.group()}: {error}") from error

    return _SLOT.sub(value, text)


def _read_head(lines: list[tuple[int, str]]) -> dict[str, str]:
    head = {"session": "demo", "moment": "", "policy": "flue", "tab": "lesson"}
    seen = set()
    for number, line in lines:
        name, _, value = (part.strip() for part in line.partition(":"))
        if not line.strip():
            continue
        if name not in HEAD or name in seen or not value:
            raise LessonError(f"the head holds {', '.join(HEAD)}, each once: {cut_text(line, 60)}", number)
        seen.add(name)
        head[name] = value
    if "title" not in head:
        raise LessonError("the lesson has no title", 1)
    if head["tab"] not in TABS:
        raise LessonError(f"there is no tab {cut_text(head['tab'], 40)}; the tabs are {', '.join(TABS)}", 1)
    return head


def _divide(lines: list[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    part: list[tuple[int, str]] = []
    for number, line in lines:
        if line.startswith("# "):
            if part:
                yield part
            part = [(number, line)]
        elif part:
            part.append((number, line))
        elif line.strip():
            raise LessonError('a step begins with "# " and its title', number)
    if part:
        yield part


def _read_step(lines: list[tuple[int, str]]) -> Step:
    (first, heading), *rest = lines
    text: list[str] = []
    fields: list[tuple[int, str, list[str]]] = []
    for number, line in rest:
        match = _FIELD.match(line)
        if match:
            fields.append((number, match.group(1), [match.group(2)]))
        elif fields and line.startswith(" "):
            fields[-1][2].append(line.strip())
        elif fields and line.strip():
            raise LessonError("text stands before the fields, and a field goes on in indented lines", number)
        elif not fields:
            text.append(line)
    paragraphs = "\n".join(text).strip()
    _check_slots(paragraphs, first)
    step: dict[str, Any] = {"title": heading[2:].strip(), "text": paragraphs, "line": first}
    for number, name, parts in fields:
        _take(step, name, " ".join(parts).strip(), number)
    _check_whole(step, first)
    return Step(**step)


def _take(step: dict[str, Any], name: str, value: str, line: int) -> None:
    """Put one field into a step."""
    if name not in FIELDS:
        raise LessonError(f"a step has no field {name}; there are {', '.join(FIELDS)}", line)
    if not value and name != "show":
        raise LessonError(f"{name} is empty", line)
    if name == "try":
        step["tries"] = (*step.get("tries", ()), _read_changes(value, line))
    elif name == "wrong":
        condition, arrow, words = (part.strip() for part in value.partition("->"))
        if not arrow or not words:
            raise LessonError("wrong has an expression, an arrow ->, and what is said", line)
        _check_expression(condition, line)
        _check_slots(words, line)
        step["wrong"] = (*step.get("wrong", ()), (condition, words))
    elif name in step:
        raise LessonError(f"{name} stands here twice", line)
    elif name in ("show", "solve"):
        step[name] = _read_changes(value, line)
    elif name == "choices":
        step[name] = tuple(choice.strip() for choice in value.split("|"))
    elif name == "play":
        if not value.isdecimal():
            raise LessonError("play is how many rules have decided", line)
        step[name] = int(value)
    elif name == "hide":
        if value != "cut":
            raise LessonError("what can be hidden is the cut", line)
        step[name] = True
    else:
        if name == "check":
            _check_expression(value, line)
        else:
            _check_slots(value, line)
        step[name] = value


def _read_changes(value: str, line: int) -> dict[str, str]:
    out = {}
    for part in filter(None, (each.strip() for each in value.split(";"))):
        name, equals, what = (piece.strip() for piece in part.partition("="))
        if not equals or name in out:
            raise LessonError(
                f"{cut_text(part, 60)}: this is not name = value, or the name is repeated", line
            )
        if name not in INPUTS and not _SETTING.fullmatch(name):
            raise LessonError(f"nothing called {cut_text(name, 40)} can be set", line)
        out[name] = what
    return out


def _check_whole(step: Mapping[str, Any], line: int) -> None:
    asked = "question" in step
    if asked != ("check" in step) or asked != ("solve" in step):
        raise LessonError("question, check and solve stand together", line)
    if not asked and step.keys() & {"choices", "wrong", "hint", "tries", "solution"}:
        raise LessonError("where nothing is asked there is nothing to answer", line)
    choices, answer = step.get("choices", ()), step.get("solve", {}).get("answer")
    if choices and (len(choices) < 2 or answer not in choices):
        raise LessonError("choices are two or more, and solve has the answer that is one of them", line)
    if answer is not None and not choices:
        raise LessonError("an answer is one of choices, and there are none", line)


def _check_expression(expression: str, line: int) -> None:
    try:
        parse(expression)
    except LessonError as error:
        raise LessonError(error.reason, line) from error


def _check_slots(text: str, line: int) -> None:
    for match in _SLOT.finditer(text):
        _check_expression(match.group(1), line)
    if "{" in _SLOT.sub("", text) or "}" in _SLOT.sub("", text):
        raise LessonError("a brace is left over: a value is {expression} or {expression:form}", line)
