"""A lesson as data: every step with its chart, every possible answer and its feedback.

A question has finitely many answers: the choices, the cut points, the blocks to pin. All of them are planned
here, so the page that plays a lesson only looks answers up, and the grader judges the same values again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from json import dumps
from typing import Any, NamedTuple

import numpy as np

from ...cuts import END, find_cuts
from ...errors import LessonError
from ...planning.plan import Plan
from ...planning.planner import make_plan
from ...planning.stand_in import describe_call
from ...policies.table import FATES
from ...redaction.cut import cut_text
from ...session.blocks import BlockRef, ToolCall
from ...session.session import Session
from ...tokens.rows import SECTIONS
from ..model import WorkbenchModel
from ..opening import list_marks
from ..payloads.sections import LABELS
from .attempt import Attempt, fill, holds, kept_tokens, turn_of
from .lesson import INPUTS, Lesson, Step

SILENT = "That is not it yet."
"""Feedback to a wrong answer without any; `check_lesson` refuses it."""
_SOURCES = {
    "chars4_utf16": "estimated, 4 characters each",
    "calibrated": "counted, and fitted to the reported usage",
}
_LETTERS = "".join(fate[0] for fate in FATES)


class ChartState(NamedTuple):
    """The chart of a plan. `place` is the place of the cut, or -1; `fates` has a letter for each block,
    the first of its retention, and is "" if exactly the blocks before the cut are summarised."""

    place: int
    after: int
    remaining: int
    summary: int
    fates: str


@dataclass
class Option:
    """One possible answer: its key in an answers file, its label, its chart, and its feedback."""

    key: str
    label: str
    right: bool
    says: str
    state: ChartState | None = None


@dataclass
class Exercise:
    """A question with all of its answers. `chart` is an index into the lesson's charts, `start` the option
    that is shown first, or -1; `solution` is a right one. `blind` hides sizes until the answer is
    committed. `texts` can be searched. `session` is the generated session of a check, else None."""

    ask: str
    question: str
    options: list[Option]
    start: int
    solution: int
    chart: int
    state: ChartState
    hint: str = ""
    blind: bool = False
    texts: list[tuple[str, str]] = field(default_factory=list)
    seed: int = 0
    session: Session | None = field(default=None, repr=False, compare=False)

    def judge(self, key: str) -> bool:
        """Whether an answer is right. Raises `LessonError` for an answer that does not exist."""
        for option in self.options:
            if option.key == key:
                return option.right
        raise LessonError(f"there is no answer {cut_text(key, 60)}")


class Charts:
    """The charts of a lesson, each once."""

    def __init__(self) -> None:
        self.drawn: list[dict[str, Any]] = []

    def add(self, plan: Plan, mark: BlockRef | None = None) -> int:
        """Draw the context of a plan, and return the index of its chart."""
        return self.keep(draw_chart(plan, mark))

    def keep(self, chart: dict[str, Any]) -> int:
        """Add a drawn chart, and return its index."""
        if chart not in self.drawn:
            self.drawn.append(chart)
        return self.drawn.index(chart)


def draw_chart(plan: Plan, mark: BlockRef | None = None) -> dict[str, Any]:
    """The lanes of a context: `blocks` are column, lane and tokens; `cuts` has a digit for each place: 0 for
    an invalid one, 1 between turns, 2 inside a turn. `mark` is the block with the user's rule."""
    table, live, cuts = plan.table, plan.session.live, plan.cuts
    begins = [at for at in range(len(live)) if at == 0 or live.turn[at] != live.turn[at - 1]]
    marks = [row for row in range(len(table.tokens)) if mark is not None and ref_of(plan, row) == str(mark)]
    return {
        "columns": len(live),
        "turns": [[int(live.turn[at]) + 1, at] for at in begins],
        "lanes": [LABELS.get(name, name.replace("_", " ")) for name in SECTIONS],
        "blocks": [
            [int(live.position[row]), int(table.section[row]), int(table.tokens[row])]
            for row in range(len(table.tokens))
        ],
        "cuts": "".join(
            "0" if not legal else "2" if splits else "1"
            for legal, splits in zip(cuts.legal.tolist(), cuts.splits.tolist(), strict=True)
        ),
        "mark": marks[0] if marks else -1,
        "before": plan.before,
        "fixed": plan.before - plan.counted_before,
        "counter": _SOURCES.get(plan.ledger.counter.name, plan.ledger.counter.name),
    }


def ref_of(plan: Plan, row: int) -> str:
    """The name of the block in a row, as pins have it."""
    live = plan.session.live
    entry = plan.session.entries[live.entries[live.position[row]]]
    return f"{entry.id}/{int(live.block[row])}"


def show_plan(plan: Plan) -> ChartState:
    """The chart of a plan."""
    place = -1 if plan.place is None else plan.place
    letters = "".join(_LETTERS[fate] for fate in plan.fate.tolist())
    older = int(np.count_nonzero(plan.session.live.position < place))
    plain = letters == "s" * older + "v" * (len(letters) - older)
    return ChartState(place, plan.after, kept_tokens(plan), plan.summary_tokens, "" if plain else letters)


def show_nothing(plan: Plan) -> ChartState:
    """The chart of a context without a plan."""
    return ChartState(-1, plan.before, plan.counted_before, 0, "")


def name_place(plan: Plan, place: int) -> str:
    """Name a place of the cut: "start of turn 3", "inside turn 3", "end"."""
    if place == len(plan.session.live):
        return "end"
    begins = place == 0 or plan.session.live.turn[place] != plan.session.live.turn[place - 1]
    return f"{'start of' if begins else 'inside'} turn {turn_of(plan, place)}"


class LessonStage:
    """A lesson's session, on which its steps are planned."""

    def __init__(self, lesson: Lesson, session: Session) -> None:
        self.lesson, self.model = lesson, WorkbenchModel(session, lesson.policy)
        self.session, self.ledger = session, self.model.ledger
        self.charts = Charts()
        self._cache: dict[str, Any] = {}

    @cached_property
    def marks(self) -> dict[str, str]:
        """The entry right before each recorded compaction, by "recorded:1" and so on."""
        return {mark.look: mark.at for mark in list_marks(self.session, self.model.history)}

    def plan(self, step: Step) -> Plan:
        """The plan that a step shows first. Raises `LessonError` if it names what does not exist."""
        show = {"policy": self.lesson.policy, "moment": self.lesson.moment, **step.show}
        moment = self._find_moment(show["moment"])
        settings = {name: read_value(value) for name, value in show.items() if name not in INPUTS}
        cut = find_place(show["cut"], moment) if "cut" in show else None
        plan = make_plan(moment, self.ledger, show["policy"], {"settings": settings})
        return plan if cut is None else plan_cut(plan, cut)

    def attempt(self, plan: Plan, place: int | None = None, answer: str = "") -> Attempt:
        """An attempt on a plan of this session."""
        return Attempt(self.session, self.ledger, plan, place, answer, self._cache)

    def _find_moment(self, words: str) -> Session:
        if words in ("", END):
            return self.session
        if words in self.marks:
            return self.session.at(self.marks[words])
        names = [entry.id for entry in self.session.entries if len(words) >= 4 and entry.id.startswith(words)]
        if len(names) != 1:
            raise LessonError(f"the session has no point in time {cut_text(words, 40)}")
        return self.session.at(names[0])

    def build_step(self, step: Step) -> dict[str, Any]:
        """A step as data; a check has only its text, and gets its exercises from `tasks`."""
        plan = self.plan(step)
        attempt = self.attempt(plan)
        rule = plan.trace.select(kind="constraint")[:1] if self.lesson.focus == "facts" else []
        chart = self.charts.add(plan, rule[0].said[0] if rule else None)
        data: dict[str, Any] = {
            "kind": step.kind,
            "title": step.title,
            "text": split_paragraphs(fill(step.body, attempt)),
            "chart": chart,
            "state": show_plan(plan) if step.show or not step.hide else show_nothing(plan),
            "hidden": step.hide == "plan",
        }
        if step.kind in ("predict", "do"):
            data["exercise"] = self.build_exercise(step, plan, chart)
        return data

    def build_exercise(self, step: Step, plan: Plan, chart: int) -> Exercise:
        """Build the question of a step on its plan, with everything that can be answered."""
        options = [
            self._build_option(step, attempt, label, key) for key, label, attempt in self._list(step, plan)
        ]
        keys = [option.key for option in options]
        solved = self._find_solution(step, plan)
        if solved not in keys:
            raise LessonError(f"solve is not one of the answers: {cut_text(step.solve, 60)}", step.line)
        place = find_cuts(plan.session).nearest(len(plan.cuts) // 2)
        if "cut" in step.show:
            place = plan.place
        has_cut = step.ask in ("cut", "place") and place is not None
        start = keys.index(plan.cuts.ids[place or 0]) if has_cut else -1
        if step.setting and step.show.get(step.setting) in keys:
            start = keys.index(step.show[step.setting])
        attempt = self.attempt(plan)
        return Exercise(
            *(step.ask, fill(step.question, attempt), options, start, keys.index(solved), chart),
            show_plan(plan) if step.show or not step.hide else show_nothing(plan),
            hint=fill(step.hint, attempt),
            texts=[("The summary", read_summary(plan))] if step.text == "summary" else [],
        )

    def _build_option(self, step: Step, attempt: Attempt, label: str, key: str) -> Option:
        right = holds(step.right, attempt)
        says = (
            step.saw
            if right
            else next((feedback for on, feedback in step.wrong if holds(on, attempt)), SILENT)
        )
        shown = step.ask != "choice"
        state = show_plan(attempt.plan) if shown else None
        if state is not None and attempt.rule:
            state = state._replace(place=attempt.place or 0, fates="")
        return Option(key, label, right, fill(says, attempt), state)

    def _list(self, step: Step, plan: Plan) -> Iterator[tuple[str, str, Attempt]]:
        """Every answer to a step: its key, its label and the attempt."""
        edits = plan.edits
        if step.ask == "choice":
            for choice in step.choices:
                yield choice, choice, self.attempt(plan, None, choice)
        elif step.ask in ("cut", "place"):
            for place, legal in enumerate(plan.cuts.legal.tolist()):
                if legal or step.ask == "place":
                    planned = plan_cut(plan, place) if legal else plan
                    yield plan.cuts.ids[place], name_place(plan, place), self.attempt(planned, place)
        elif step.ask == "policy":
            for name in step.choices:
                planned = make_plan(plan.session, self.ledger, name)
                yield name, planned.policy.title, self.attempt(planned, None, name)
        elif step.ask == "set":
            for value in step.choices:
                settings = {**edits.settings, step.setting: read_value(value)}
                planned = plan.with_edits(edits.model_copy(update={"settings": settings}))
                yield value, value, self.attempt(planned, None, value)
        else:
            for ref, label in list_pins(plan, step.choices):
                planned = plan.with_edits(edits.model_copy(update={"pins": (ref,)}))
                yield ref, label, self.attempt(planned, None, label)

    def _find_solution(self, step: Step, plan: Plan) -> str:
        if step.ask in ("cut", "place"):
            place = plan.place if step.solve == "policy" else find_place(step.solve, plan.session)
            return plan.cuts.ids[place or 0]
        if step.ask == "pin":
            return next((ref for ref, label in list_pins(plan, step.choices) if label == step.solve), "")
        return step.solve


def list_pins(plan: Plan, tools: Sequence[str]) -> list[tuple[str, str]]:
    """Blocks that can be pinned, by name and label: the newest call of one of these tools with each label."""
    newest: dict[str, str] = {}
    for call, _ in plan.session.live.pairs.tolist():
        block = plan.table.block(call)
        if isinstance(block, ToolCall) and block.name in tools:
            label = describe_call(block).replace(f"{plan.session.cwd}/", "")
            newest[label] = ref_of(plan, call)
    return [(ref, label) for label, ref in newest.items()]


def read_summary(plan: Plan) -> str:
    """The text of a plan's summary."""
    checkpoint = plan.checkpoint
    return plan.stand_in.text(plan.place or 0) if checkpoint is None else checkpoint.text


def plan_cut(plan: Plan, place: int) -> Plan:
    """The plan with another cut. Raises `LessonError` for an invalid one."""
    if not plan.cuts.legal[place]:
        raise LessonError(f"no cut is valid there: {plan.cuts[place].sentence}")
    return plan.with_edits(plan.edits.model_copy(update={"cut": plan.cuts.ids[place]}))


def find_place(words: str, moment: Session) -> int:
    """Find the place that a lesson names.

    "turn 8" is the beginning of the turn, "inside turn 8" the first valid cut point that splits it, "invalid
    in turn 8" the first invalid one, "end" keeps nothing. Other words are the beginning of an entry's id.
    """
    live, name = moment.live, words.strip()
    if name == END:
        return len(live)
    where, _, number = name.rpartition("turn ")
    if number.isdecimal() and where in ("", "inside ", "invalid in "):
        places = np.flatnonzero(live.turn == int(number) - 1).tolist()
        if where:
            legal = find_cuts(moment).legal
            places = [at for at in places[1:] if bool(legal[at]) == (where == "inside ")]
        if places:
            return int(places[0])
    elif len(name) >= 4:
        indexes = [at for at, i in enumerate(live.entries) if moment.entries[i].id.startswith(name)]
        if len(indexes) == 1:
            return indexes[0]
    raise LessonError(f"there is no place {cut_text(words, 40)} at this point in time")


def read_value(value: str) -> int | str:
    """Parse the value of a setting: a number or a word."""
    bare = value.replace(",", "").replace("_", "")
    return int(bare) if bare.isdecimal() else value


def split_paragraphs(text: str) -> list[str]:
    """Split a text at blank lines."""
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def pack(value: Any) -> Any:
    """Turn exercises and states into JSON. Each text of an exercise's answers is stored once."""
    if isinstance(value, Exercise):
        says = list(dict.fromkeys(option.says for option in value.options))
        return {
            **{name: pack(part) for name, part in vars(value).items() if name not in ("options", "session")},
            "options": [
                {**asdict(option), "says": says.index(option.says), "state": pack(option.state)}
                for option in value.options
            ],
            "says": says,
        }
    if isinstance(value, ChartState):
        return list(value)
    if isinstance(value, Mapping):
        return {name: pack(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [pack(part) for part in value]
    return value


def digest(data: Any) -> str:
    """A short name for a lesson's data, which changes with every word and number of it."""
    text = dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:12]
