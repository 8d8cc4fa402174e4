"""Parse a lesson's file into a `Lesson`: its head, and its steps.

Between two lines of three dashes are title, goal, session, moment, policy and focus. Each step follows under
a heading that names its kind, one of predict, do, reveal and check:

    # do: Between two turns

    A paragraph or two. {before:k} is filled in when the step is shown.

    show: cut = turn 8
    ask: cut
    question: Move the cut to the beginning of turn 12.
    right: turn 12
    wrong: inside -> This cut point is inside turn {turn}.
    hint: The arrows move the cut from one valid cut point to the next.
    solve: turn 12
    saw: Now {after:k} tokens are sent.

A field may continue in indented lines. `right` and `wrong` are named checks, see `attempt.CHECKS`. A step
`# check: NAME` asks a question of `tasks.TASKS` on a generated session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import LessonError
from ...redaction.cut import cut_text
from ...text import printed

HEAD = ("title", "goal", "session", "moment", "policy", "focus")
KINDS = ("predict", "do", "reveal", "check")
ASKS = ("choice", "cut", "place", "policy", "pin", "set")
"""How a question is answered: a choice; a valid cut point; any cut point, valid or not; a policy; a block to
pin; a value of the policy's setting."""
INPUTS = ("cut", "moment", "pin", "policy")
"""What `show` may set; any other name is a setting of the policy, such as `keep-recent-tokens.tokens`."""
SESSIONS = ("demo", "generated")
"""The session that comes with the package, and the same compacted five times in a row."""
FIELDS = (
    *("show", "hide", "ask", "question", "choices", "setting", "text"),
    *("right", "wrong", "hint", "solve", "saw"),
)
_WORDS = {"ask": ASKS, "hide": ("plan",), "text": ("summary",)}
_FIELD = re.compile(r"([a-z]+): *(.*)")
_SLOT = re.compile(r"\{([^{}:]+)(?::([^{}]*))?\}")
_SETTING = re.compile(r"[a-z0-9-]+(?:#\d+)?\.[a-z0-9_]+")
_NAME = re.compile(r"(?:\d+-)?([a-z0-9-]+)")


@dataclass(frozen=True)
class Step:
    """One step. `show` is what it sets; `choices` are the answers to choose from; `solve` is a right one.

    `hide` is "plan" if the lanes show what a plan does only after the answer. `wrong` holds pairs of a check
    and the feedback if it is true. `text` names a text to search: "summary" is the summary of the plan.
    """

    kind: str
    title: str
    body: str
    line: int
    show: Mapping[str, str] = field(default_factory=dict)
    hide: str = ""
    ask: str = "choice"
    question: str = ""
    choices: tuple[str, ...] = ()
    setting: str = ""
    text: str = ""
    right: str = ""
    wrong: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    solve: str = ""
    saw: str = ""


@dataclass(frozen=True)
class Lesson:
    """A lesson from its file. `session` is one of SESSIONS, or a path relative to the lesson's file."""

    name: str
    title: str
    goal: str
    session: str
    moment: str
    policy: str
    focus: str
    steps: tuple[Step, ...]

    @printed
    def __repr__(self) -> str:
        return f"Lesson({self.name}: {self.title}, {len(self.steps)} steps)"


def read_lesson(text: str, name: str = "lesson") -> Lesson:
    """Parse a lesson's text. Raises `LessonError`, with the line, for what cannot be read.

    >>> read_lesson("---\\ntitle: Short\\ngoal: Look.\\n---\\n# reveal: One\\nLook at the cut.\\n")
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
        raise LessonError('there is no step: one begins with "# ", its kind and its title', ends[0])
    match = _NAME.fullmatch(name)
    return Lesson(match.group(1) if match else name, **head, steps=steps)


def find_slots(text: str, line: int = 0) -> list[tuple[str, str]]:
    """Find the slots of a text: names and formats. Raises `LessonError` for a brace that is left over."""
    if "{" in (rest := _SLOT.sub("", text)) or "}" in rest:
        raise LessonError("a brace is left over: a value is {name} or {name:form}", line)
    return [(match[0], match[1]) for match in _SLOT.findall(text)]


def replace_slots(text: str, values: Mapping[tuple[str, str], str]) -> str:
    """Replace each slot by its value."""
    return _SLOT.sub(lambda match: values[match.group(1), match.group(2) or ""], text)


def _read_head(lines: list[tuple[int, str]]) -> dict[str, str]:
    head = {"session": "demo", "moment": "", "policy": "flue", "focus": "lanes"}
    names_read = set()
    for number, line in lines:
        name, _, value = (part.strip() for part in line.partition(":"))
        if not line.strip():
            continue
        if name not in HEAD or name in names_read or not value:
            raise LessonError(f"the head holds {', '.join(HEAD)}, each once: {cut_text(line, 60)}", number)
        names_read.add(name)
        head[name] = value
    for name in ("title", "goal"):
        if name not in head:
            raise LessonError(f"the lesson has no {name}", 1)
    if head["focus"] not in ("lanes", "rules", "facts"):
        raise LessonError(f"focus is lanes, rules or facts, not {cut_text(head['focus'], 40)}", 1)
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
            raise LessonError('a step begins with "# ", its kind and its title', number)
    if part:
        yield part


def _read_step(lines: list[tuple[int, str]]) -> Step:
    (first, heading), *rest = lines
    kind, colon, title = (part.strip() for part in heading[2:].partition(":"))
    if kind not in KINDS or not colon or not title:
        raise LessonError(f"a step is one of {', '.join(KINDS)}, a colon and a title", first)
    body: list[str] = []
    fields: list[tuple[int, str, list[str]]] = []
    for number, line in rest:
        match = _FIELD.match(line)
        if match:
            fields.append((number, match.group(1), [match.group(2)]))
        elif fields and line.startswith(" "):
            fields[-1][2].append(line.strip())
        elif fields and line.strip():
            raise LessonError("text must come before the fields; continue a field in indented lines", number)
        elif not fields:
            body.append(line)
    step: dict[str, Any] = {"kind": kind, "title": title, "body": "\n".join(body).strip(), "line": first}
    find_slots(step["body"], first)
    for number, name, parts in fields:
        _take(step, name, " ".join(parts).strip(), number)
    _check_whole(step, first)
    return Step(**step)


def _take(step: dict[str, Any], name: str, value: str, line: int) -> None:
    """Put one field into a step."""
    if name not in FIELDS:
        raise LessonError(f"a step has no field {name}; there are {', '.join(FIELDS)}", line)
    if not value:
        raise LessonError(f"{name} is empty", line)
    if name == "wrong":
        condition, arrow, words = (part.strip() for part in value.partition("->"))
        if not arrow or not words:
            raise LessonError("wrong has a check, an arrow ->, and the feedback", line)
        find_slots(words, line)
        step["wrong"] = (*step.get("wrong", ()), (condition, words))
    elif name in step:
        raise LessonError(f"{name} is given twice", line)
    elif name == "show":
        step[name] = _read_changes(value, line)
    elif name == "choices":
        step[name] = tuple(choice.strip() for choice in value.split("|"))
    elif name in _WORDS and value not in _WORDS[name]:
        raise LessonError(f"{name} is one of {', '.join(_WORDS[name])}, not {cut_text(value, 40)}", line)
    else:
        find_slots(value, line)
        step[name] = value


def _read_changes(value: str, line: int) -> dict[str, str]:
    out: dict[str, str] = {}
    for part in filter(None, (raw.strip() for raw in value.split(";"))):
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
    question_fields = [name for name in ("question", "right", "solve") if name in step]
    if step["kind"] in ("reveal", "check"):
        if question_fields:
            raise LessonError(f"a step of the kind {step['kind']} has no question of its own", line)
        return
    if len(question_fields) != 3:
        raise LessonError("question, right and solve must be used together", line)
    ask = step.get("ask", "choice")
    if ask == "set" and "setting" not in step:
        raise LessonError("a value is set, and setting does not say of what", line)
    if ask == "pin" and not step.get("choices"):
        raise LessonError("choices are the tools whose calls can be pinned", line)
    if ask in ("choice", "policy", "set") and (
        len(step.get("choices", ())) < 2 or step["solve"] not in step["choices"]
    ):
        raise LessonError("choices are two or more, and solve is one of them", line)
