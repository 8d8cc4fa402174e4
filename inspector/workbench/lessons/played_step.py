"""A step of a lesson on a `WorkbenchModel`: what it sets, what expressions see, and what is said to a try.

A step always begins from the lesson's own moment and policy, so a link to it shows what walking there shows.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...cuts import END, find_cuts
from ...errors import EditError, LessonError
from ...facts.regret import find_regret, sum_regret
from ...facts.traced import Trace
from ...planning.plan import Plan
from ...planning.planner import make_plan
from ...policies.policy import Edits
from ...redaction.cut import cut_text
from ...session.session import Session
from ..model import WorkbenchModel
from ..opening import list_marks
from ..payloads.played import LessonStep, play_plan, show_played
from ..payloads.sections import ALL_SECTIONS, sum_before
from .expressions import evaluate, explain
from .lesson import INPUTS, Changes, Lesson, Step, fill


@dataclass(frozen=True)
class LessonCut:
    """A place of the cut: `turn` counts from 1 and is that of the first entry kept, one more than there are
    where none is; `rule` forbids a cut there and `sentence` says why, both "" where it is `legal`."""

    place: int
    turn: int
    legal: bool
    splits_turn: bool
    rule: str
    sentence: str

    READABLE: ClassVar = frozenset({"place", "turn", "legal", "splits_turn", "rule", "sentence"})


@dataclass(frozen=True)
class PaidAgain:
    """What the recorded compactions lost and was fetched again: how often, in tokens, and in money."""

    times: int
    tokens: int
    money: str

    READABLE: ClassVar = frozenset({"times", "tokens", "money"})


@dataclass(frozen=True, eq=False)
class LessonView:
    """What a lesson's expressions see as `wb`; `place` is that of the cut, which may be no legal one.

    `plan` is the plan there, `trace` its facts, `policy_cut` where the policy cuts by itself, `look` whose
    after is shown, `pins` how many blocks are pinned, `paid_again` what was lost and fetched again, `tokens`
    those of every lane by its name, `rules` the policy's in order.
    """

    READABLE: ClassVar = frozenset(
        ("cut", "plan", "trace", "policy_cut", "look", "pins", "paid_again", "tokens", "rules")
    )

    model: WorkbenchModel
    place: int | None

    @cached_property
    def plan(self) -> Plan:
        """The plan with the cut at the place; the model's own where that is not legal."""
        plan = self.model.plan
        if self.place is None or self.place == plan.place or not plan.cuts.legal[self.place]:
            return plan
        return plan.with_edits(plan.edits.model_copy(update={"cut": plan.cuts.ids[self.place]}))

    @cached_property
    def cut(self) -> LessonCut | None:
        """The place of the cut, None where there is none."""
        place = self.plan.place if self.place is None else self.place
        return None if place is None else describe_cut(self.plan, place)

    @cached_property
    def policy_cut(self) -> LessonCut | None:
        """Where the policy cuts when no hand does, None where it does not."""
        edits = self.model.plan.edits.model_copy(update={"cut": None})
        plan = self.model.plan.with_edits(edits)
        return None if plan.place is None else describe_cut(plan, plan.place)

    @property
    def trace(self) -> Trace:
        """What becomes of every fact."""
        trace: Trace = self.plan.trace
        return trace

    @cached_property
    def tokens(self) -> dict[str, int]:
        """Tokens of every lane as the context stands, by its name."""
        counts = zip(ALL_SECTIONS, sum_before(self.plan), strict=True)
        return {name.replace("_", " "): tokens for name, tokens in counts}

    @cached_property
    def rules(self) -> tuple[LessonStep, ...]:
        """The rules of the policy in the order in which they decide."""
        return tuple(play_plan(self.plan))

    @property
    def look(self) -> str:
        """Whose after is shown: "plan", or "recorded:1"."""
        look: str = self.model.inputs["look"]
        return look

    @property
    def pins(self) -> int:
        """How many blocks are pinned."""
        return len(self.model.plan.edits.pins)

    @property
    def paid_again(self) -> PaidAgain:
        """What was lost in recorded compactions and fetched again."""
        cache = self.model.cache
        if "paid_again" not in cache:
            session = self.model.session
            found = find_regret(session, session.facts, self.model.ledger)
            tokens, money = sum_regret(found)
            cache["paid_again"] = PaidAgain(len(found), tokens, "" if money is None else str(money))
        paid: PaidAgain = cache["paid_again"]
        return paid


@dataclass(frozen=True)
class Attempt:
    """What a person did in a step: the inputs they set, where the cut stands, and what they chose."""

    inputs: Mapping[str, Any]
    place: int | None
    answer: str


class Judged(NamedTuple):
    """What is said to an attempt: whether it is right, and why not, or what there is to see."""

    right: bool
    words: str


def describe_cut(plan: Plan, place: int) -> LessonCut:
    """A place of a plan's moment."""
    cut, turn = plan.cuts[place], plan.session.live.turn
    number = int(turn[place]) + 1 if place < len(turn) else int(turn[-1]) + 2
    sentence = "" if cut.legal else cut.sentence
    return LessonCut(place, number, cut.legal, cut.splits_turn, cut.rule or "", sentence)


def begin(lesson: Lesson, number: int, model: WorkbenchModel) -> dict[str, Any]:
    """The inputs with which a step begins; steps count from 1.

    Raises `LessonError` for what cannot be set.
    """
    step = find_step(lesson, number)
    moment = {"moment": lesson.moment} if lesson.moment else {}
    return find_inputs({**moment, "policy": lesson.policy, **step.show}, model)


def find_step(lesson: Lesson, number: int) -> Step:
    """A step by its number, from 1. Raises `LessonError` where there is none."""
    if not 1 <= number <= len(lesson.steps):
        raise LessonError(f"{lesson.title} has steps 1 to {len(lesson.steps)}, and no step {number}")
    return lesson.steps[number - 1]


def find_inputs(changes: Changes, model: WorkbenchModel) -> dict[str, Any]:
    """All inputs of a model for what a lesson sets; what it does not set is as on a new plan."""
    at = _find_moment(changes.get("moment", ""), model)
    moment = model.session.at(at) if at else model.session
    inputs: dict[str, Any] = {
        "at": at,
        "policy": changes.get("policy", "flue"),
        "settings": {name: _read_value(value) for name, value in changes.items() if name not in INPUTS},
        "cut": "",
        "pins": [],
        "versus": {},
        "look": changes.get("look", "plan"),
    }
    place = find_place(changes.get("cut", ""), moment)
    if place is not None:
        inputs["cut"] = moment.entries[moment.live.entries[place]].id if place < len(moment.live) else END
    if "pin" in changes:
        inputs["pins"] = _find_pins(changes["pin"], moment, model, inputs)
    return inputs


def attempt(changes: Changes, lesson: Lesson, number: int, model: WorkbenchModel) -> Attempt:
    """What comes of a step when a person also does what `changes` say."""
    step = find_step(lesson, number)
    start = {"moment": lesson.moment} if lesson.moment else {}
    whole = {**start, "policy": lesson.policy, **step.show, **changes}
    if "policy" in changes:
        # Another policy has settings of its own, and a cut.
        whole = {name: value for name, value in whole.items() if name in INPUTS or name in changes}
    place, at = None, _find_moment(whole.get("moment", ""), model)
    moment = model.session.at(at) if at else model.session
    if whole.get("cut"):
        place = find_place(whole["cut"], moment)
    elif step.hide:
        # There the handle stands at first.
        cuts = find_cuts(moment)
        place = cuts.nearest(len(cuts) // 2)
    if place is not None and (step.hide or not _is_legal(moment, place)):
        # It is no edit, but a hand can point there.
        whole.pop("cut", None)
    return Attempt(find_inputs(whole, model), place, changes.get("answer", ""))


def judge(lesson: Lesson, number: int, model: WorkbenchModel, place: int | None, answer: str) -> Judged:
    """What is said to what stands in the model, with the cut at a place and an answer chosen.

    Raises `LessonError` where an expression has no value.
    """
    step = find_step(lesson, number)
    names: dict[str, Any] = {"wb": LessonView(model, place), "answer": answer}
    if not step.check:
        return Judged(True, "")
    if step.choices and not answer:
        return Judged(False, "Choose an answer first.")
    if evaluate(step.check, names):
        return Judged(True, fill(step.saw, names))
    for condition, words in step.wrong:
        if evaluate(condition, names):
            return Judged(False, fill(words, names))
    return Judged(False, explain(step.check, names))


def solved_place(lesson: Lesson, number: int, model: WorkbenchModel) -> int | None:
    """Where the cut of a step's solution stands, None where it sets none; a hidden cut is the policy's."""
    step = find_step(lesson, number)
    if step.hide:
        return model.plan.place
    return find_place(step.solve.get("cut", ""), model.moment)


class StepTexts(NamedTuple):
    """The texts of a step with their values in place."""

    text: str
    question: str
    hint: str
    solution: str


def tell(lesson: Lesson, number: int, model: WorkbenchModel) -> StepTexts:
    """A step's texts, for a model in which it has begun. Raises `LessonError` where a value cannot be had."""
    step = find_step(lesson, number)
    names = {"wb": LessonView(model, None)}
    return StepTexts(*(fill(text, names) for text in (step.text, step.question, step.hint, step.solution)))


def draw(model: WorkbenchModel, play: int | None = None) -> tuple[Hashable, ...]:
    """All that the lanes, the gauge and the sentence show of a model: two that are equal look alike.

    With `play` it is what stands after so many rules.
    """
    plan = model.shown
    picture = (model.plan.session.leaf, model.inputs["look"], plan.place)
    if play is None:
        return (*picture, plan.after, plan.outcome.fate.tobytes(), plan.outcome.tokens.tobytes())
    played = show_played(plan, steps := list(play_plan(plan)))
    if play >= len(steps):
        return draw(model)
    shown = played[play]
    return (*picture, shown.total, bytes(shown.fates), tuple(shown.tokens))


def find_place(words: str, moment: Session) -> int | None:
    """The place that a lesson names: "turn 8" is where it begins, "inside turn 8" the first legal one that
    splits it, "illegal in turn 8" the first where no cut may stand, "end" keeps nothing; else the beginning
    of an entry's name. None for ""."""
    live, name = moment.live, words.strip()
    if not name:
        return None
    if name == END:
        return len(live)
    where, _, number = name.rpartition("turn ")
    if number.isdecimal() and where in ("", "inside ", "illegal in "):
        places = np.flatnonzero(live.turn == int(number) - 1).tolist()
        if where:
            legal, wanted = find_cuts(moment).legal, where == "inside "
            places = [at for at in places[1:] if bool(legal[at]) == wanted]
        if places:
            return int(places[0])
    elif len(name) >= 4:
        found = [at for at, i in enumerate(live.entries) if moment.entries[i].id.startswith(name)]
        if len(found) == 1:
            return found[0]
    raise LessonError(f"there is no place {cut_text(words, 40)} at this moment")


def _is_legal(moment: Session, place: int) -> bool:
    return bool(find_cuts(moment).legal[place])


def _find_moment(words: str, model: WorkbenchModel) -> str:
    """The entry that a lesson's moment names: "recorded:1" is right before that compaction."""
    if words in ("", END):
        return model.session.entries[model.session.path[-1]].id
    for mark in list_marks(model.session, model.history):
        if mark.look == words:
            return mark.at
    found = [entry.id for entry in model.session.entries if len(words) >= 4 and entry.id.startswith(words)]
    if len(found) == 1:
        return found[0]
    raise LessonError(f"the session has no moment {cut_text(words, 40)}")


def _find_pins(form: str, moment: Session, model: WorkbenchModel, inputs: Mapping[str, Any]) -> list[str]:
    """The blocks that the cheapest pin keeps a fact with."""
    edits = Edits(cut=inputs["cut"] or None, settings=dict(inputs["settings"]))
    plan = make_plan(moment, model.ledger, inputs["policy"], edits, window=model.window)
    try:
        fixes = plan.trace[form].fixes()
    except EditError as error:
        raise LessonError(f"nothing said so far holds {cut_text(form, 60)}") from error
    for fix in fixes:
        if fix.means == "pin":
            return list(fix.edits.pins)
    raise LessonError(f"no pin keeps {cut_text(form, 60)}")


def _read_value(value: str) -> Any:
    """A setting's value: a number, yes or no, or a word."""
    if value in ("true", "false"):
        return value == "true"
    bare = value.replace(",", "").replace("_", "")
    return int(bare) if bare.isdecimal() else value
