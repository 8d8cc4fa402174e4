"""An attempt at a question: a plan, a place of the cut and an answer; named checks and named values of it.

A lesson by another author runs no code: its `right` and `wrong` lines name the ten checks here, with `not`
and joined by `;`, and its texts name the values here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...errors import EditError, LessonError
from ...facts.outcomes import TRAITS
from ...facts.regret import find_regret, sum_regret
from ...facts.traced import TracedFact
from ...planning.plan import Plan
from ...redaction.cut import cut_text
from ...session.session import Session
from ...tokens.ledger import Ledger
from ..payloads.played import play_plan
from ..payloads.sections import ALL_SECTIONS, format_tokens, sum_before
from .lesson import find_slots, replace_slots

ELSE = "else"
"""The check that is always true, for the last feedback of a step."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """The plan under an attempt, the place of the cut (which may be invalid), and the answer.

    `session` and `ledger` cover the whole session, beyond the plan's point in time.
    """

    session: Session
    ledger: Ledger
    plan: Plan
    place: int | None = None
    answer: str = ""
    cache: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def cut(self) -> int | None:
        """The place of the cut: the attempt's, else the plan's."""
        return self.plan.place if self.place is None else self.place

    @cached_property
    def turn(self) -> int:
        """The turn of the first kept entry, from 1; one more than there are if none is kept; 0 without a
        cut."""
        return turn_of(self.plan, self.cut)

    @cached_property
    def own_turn(self) -> int:
        """The turn of the policy's own cut."""
        if "own_turn" not in self.cache:
            own = self.plan.with_edits(self.plan.edits.model_copy(update={"cut": None}))
            self.cache["own_turn"] = turn_of(own, own.place)
        number: int = self.cache["own_turn"]
        return number

    @property
    def rule(self) -> str:
        """The rule that forbids the cut, "" if it is valid."""
        return "" if self.cut is None else self.plan.cuts[self.cut].rule or ""

    def traced(self, form: str) -> TracedFact:
        """A fact under the plan, by its text; the first rule of the user for "rule"."""
        try:
            traced: TracedFact = (
                self.plan.trace.select(kind="constraint")[0] if form == "rule" else self.plan.trace[form]
            )
        except (EditError, IndexError) as error:
            raise LessonError(f"no fact {cut_text(form, 60)} has been stated so far") from error
        return traced

    def read_turn(self, words: str) -> int:
        """Read the turn that a check names: a number, or "policy" for the turn of the policy's cut."""
        if words == "policy":
            return self.own_turn
        if not words.isdecimal():
            raise LessonError(f"a turn is a number or policy, not {cut_text(words, 40)}")
        return int(words)


def turn_of(plan: Plan, place: int | None) -> int:
    """The turn of a place, from 1; 0 for no place."""
    if place is None:
        return 0
    turn = plan.session.live.turn
    return int(turn[place]) + 1 if place < len(turn) else int(turn[-1]) + 2


def _splits(attempt: Attempt) -> bool:
    return attempt.cut is not None and not attempt.rule and bool(attempt.plan.cuts.splits[attempt.cut])


def _read_number(words: str) -> int:
    bare = words.replace(",", "").replace("_", "")
    if not bare.isdecimal():
        raise LessonError(f"a number is expected, not {cut_text(words, 40)}")
    return int(bare)


def _has_outcome(attempt: Attempt, words: str) -> bool:
    outcome, _, form = words.partition(" ")
    return attempt.traced(form.strip()).outcome == outcome


CHECKS: dict[str, Callable[[Attempt, str], bool]] = {
    "answer": lambda attempt, words: attempt.answer == words,
    "turn": lambda attempt, words: attempt.turn == attempt.read_turn(words) and not _splits(attempt),
    "in-turn": lambda attempt, words: attempt.turn == attempt.read_turn(words),
    "from-turn": lambda attempt, words: attempt.turn >= attempt.read_turn(words),
    "inside": lambda attempt, words: _splits(attempt),
    "invalid": lambda attempt, words: bool(attempt.rule) and words in ("", attempt.rule),
    "at-most": lambda attempt, words: attempt.plan.after <= _read_number(words),
    "acts": lambda attempt, words: attempt.plan.after < attempt.plan.before,
    "no-model": lambda attempt, words: attempt.plan.deterministic,
    "outcome": _has_outcome,
}
"""The named checks, each with an argument that may be empty: `turn 8`, `invalid open-loop`, `at-most 80,000`,
`outcome absent src/a.py`. `in-turn policy` is true anywhere in the turn of the policy's own cut."""


def holds(condition: str, attempt: Attempt) -> bool:
    """Whether all checks of a condition hold. Raises `LessonError` for an unknown check or argument."""
    return condition == ELSE or all(_holds(part.strip(), attempt) for part in condition.split(";"))


def _holds(words: str, attempt: Attempt) -> bool:
    name, _, argument = words.removeprefix("not ").strip().partition(" ")
    if name not in CHECKS:
        raise LessonError(f"there is no check {cut_text(name, 40)}; there are {', '.join(CHECKS)}, {ELSE}")
    return CHECKS[name](attempt, argument.strip()) != words.startswith("not ")


def _measure_again(attempt: Attempt) -> tuple[int, int, str]:
    """Content that recorded compactions lost and the model fetched again: times, tokens, cost."""
    if "again" not in attempt.cache:
        regret = find_regret(attempt.session, attempt.session.facts, attempt.ledger)
        tokens, money = sum_regret(regret)
        attempt.cache["again"] = len(regret), tokens, "" if money is None else str(money)
    times, tokens, cost = attempt.cache["again"]
    return times, tokens, cost


VALUES: Mapping[str, Callable[[Attempt], int | str]] = {
    "before": lambda attempt: attempt.plan.before,
    "after": lambda attempt: attempt.plan.after,
    "counted": lambda attempt: attempt.plan.counted_before,
    "fixed": lambda attempt: attempt.plan.outside_after,
    "summary": lambda attempt: attempt.plan.summary_tokens,
    "kept": lambda attempt: kept_tokens(attempt.plan),
    "why": lambda attempt: attempt.plan.why,
    "policy": lambda attempt: attempt.plan.policy.title,
    "rule": lambda attempt: TRAITS[attempt.traced("rule").outcome].label,
    "turn": lambda attempt: attempt.turn,
    "policy turn": lambda attempt: attempt.own_turn,
    "answer": lambda attempt: attempt.answer,
    "reason": lambda attempt: "" if attempt.cut is None else attempt.plan.cuts[attempt.cut].sentence,
    "facts": lambda attempt: len(attempt.plan.trace),
    "readable": lambda attempt: len(attempt.plan.trace.select()),
    "absent": lambda attempt: len(attempt.plan.trace.select("absent")),
    "quoted": lambda attempt: len(attempt.plan.trace.select("quoted")),
    "gone before": lambda attempt: len(attempt.plan.trace) - len(attempt.plan.trace.select()),
    "again times": lambda attempt: _measure_again(attempt)[0],
    "again tokens": lambda attempt: _measure_again(attempt)[1],
    "again cost": lambda attempt: _measure_again(attempt)[2],
}
"""The values that a text may name, besides tokens of a lane such as {tool output}, {saved by RULE} and
{removed KIND}."""


def kept_tokens(plan: Plan) -> int:
    """Count the tokens of the messages after the request's summary."""
    return plan.counted_after - plan.summary_tokens


def fill(text: str, attempt: Attempt) -> str:
    """Fill the values of an attempt into a text; "k" formats a number as 158.3k.

    Raises `LessonError` for an unknown value.
    """
    return replace_slots(text, {slot: _format(slot, attempt) for slot in find_slots(text)})


def _format(slot: tuple[str, str], attempt: Attempt) -> str:
    name, form = slot
    value = _find_value(name, attempt)
    if isinstance(value, str):
        return value
    if form not in ("", "k"):
        raise LessonError(f"{{{name}:{form}}}: the format is k or none")
    return format_tokens(value) if form else f"{value:,}"


def _find_value(name: str, attempt: Attempt) -> int | str:
    if name in VALUES:
        return VALUES[name](attempt)
    if name.replace(" ", "_") in ALL_SECTIONS:
        return sum_before(attempt.plan)[ALL_SECTIONS.index(name.replace(" ", "_"))]
    if name.startswith("removed "):
        return attempt.plan.saved.get(name.removeprefix("removed ").replace(" ", "_"), 0)
    if name.startswith("saved by "):
        title = name.removeprefix("saved by ")
        return sum(rule.before - rule.after for rule in play_plan(attempt.plan) if rule.title == title)
    raise LessonError(f"there is no value {cut_text(name, 40)}; there are {', '.join(VALUES)}")
