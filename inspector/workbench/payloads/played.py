"""A policy played one rule at a time: what each decides, and what stands after it.

Everything is read off the plan's own columns, so the last step stands where the plan stands, and the changes
of all steps add up to the plan's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...planning.cut_table import COMPACTED
from ...planning.fates import BY_BOUND, BY_END, BY_NONE, BY_PAIR, BY_PIN, BY_WITHHELD
from ...planning.left_outside import leave_outside, takes, weigh_more
from ...planning.plan import Plan
from ...policies.base_rule import Rule
from ...policies.policy import Policy
from ...policies.table import VERBATIM
from ...session.tree import Bools
from ...tokens.counter import Longs
from ...tokens.rows import SECTIONS
from .base_payload import Payload
from .sections import ALL_SECTIONS, sum_before

WITHHELD, EARLIER, ATTACHED = (ALL_SECTIONS.index(part) for part in ("withheld", "earlier", "attached"))
BY_REPORTED = BY_END - 1
"""The number of the step after the rules: what only the request after a recorded compaction reports."""
_KNOB = re.compile(r"\{(\w+)\}")
_ONE_TURN = re.compile(r"(?<![\d,.])1 turns\b")
_OTHERS = {
    BY_PIN: ("pins", "What you pinned stays as it is, whatever a rule says."),
    BY_PAIR: ("pairs", "A call and its output share one fate, so the other half follows."),
    BY_END: ("reasoning at the end", "What it led to is gone, and no message may end with reasoning."),
    BY_BOUND: ("bound reasoning", "The model refuses reasoning whose prefix was edited, so it goes too."),
    BY_WITHHELD: ("no reasoning", "This harness sends no reasoning."),
    BY_REPORTED: ("reported besides", "The next request reports this beside what is counted and kept."),
}


class LessonStep(Payload, frozen=True):
    """One rule of a policy played: how many `blocks` it decides, and what stands before and after it.

    `rule` is its number in the plan's columns (negative for pins, pairs and bound reasoning). Sums are tokens
    of everything that stands, what is not in the file included; `sections` are those after
    it, `summary` those of the summary so far. A block belongs to the rule that decides it last. `marks` are
    the rows of the blocks that the rule is about: those it decides, or the tail where it places the cut.
    """

    rule: int
    title: str
    sentence: str
    blocks: int
    before: int
    after: int
    sections: list[int]
    summary: int
    marks: list[int]


class PlayedPlan(Payload, frozen=True):
    """What stands once the first rules of a policy have decided, and nothing else has.

    `total`, `sections` and `summary` are tokens as in a step; `fates`, `tokens` and `rules` have a value for
    each block of the moment, as in a plan's columns.
    """

    total: int
    sections: list[int]
    summary: int
    fates: list[int]
    tokens: list[int]
    rules: list[int]


def first_rule(policy: Policy) -> int:
    """How many other things stand before the rules where everything that acts is numbered from 0."""
    return 1 if policy.target is None else 2


def play_plan(plan: Plan) -> Iterator[LessonStep]:
    """The steps that a plan takes, in the order in which they decide."""
    sections = _count_sections(plan, plan.table.tokens) + plan.ledger.head_sections
    outside = plan.outside
    sections = np.append(sections, [part.tokens for part in outside.parts.values()])
    left, taken = leave_outside(plan.table, plan.outcome), False
    summary = 0
    for number, title, sentence in _order(plan):
        mine = plan.outcome.rule == number
        before = int(sections.sum())
        sections[WITHHELD] += int((left - outside.spread)[mine].sum())
        if outside.passing and not taken and (mine & takes(plan.outcome)).any():
            # What goes with any compaction goes with the first block that is taken.
            sections[EARLIER], sections[ATTACHED], taken = 0, 0, True
        change = np.where(mine, plan.outcome.tokens.astype(np.int64) - plan.table.tokens, 0)
        sections[: len(SECTIONS)] += _count_sections(plan, change)
        written = _written(plan, number)
        summary += written
        sections[COMPACTED] += written
        noticed = _noticed(plan, number)
        sections[: len(SECTIONS)] += noticed
        sections[WITHHELD] += weigh_more(outside, summary) - weigh_more(outside, summary - written)
        if noticed.any() and plan.notice is not None and plan.place is not None:
            sections[WITHHELD] += weigh_more(outside, int(plan.notice.cost[plan.place]))
            if plan.notice.echoes(plan.place):
                sections[WITHHELD] += int(leave_outside(plan.table, plan.notice.before).sum())
        if number == BY_REPORTED:
            sections[ALL_SECTIONS.index(plan.corrected)] += plan.correction
        yield LessonStep(
            rule=number + first_rule(plan.policy) if number >= 0 else number,
            title=title,
            sentence=sentence,
            blocks=int(mine.sum()),
            before=before,
            after=int(sections.sum()),
            sections=sections.tolist(),
            summary=summary,
            marks=_mark(plan, number, mine),
        )


def show_played(plan: Plan, steps: Sequence[LessonStep]) -> list[PlayedPlan]:
    """What stands before the first step and after each but the last, after which it is the plan itself."""
    outcome, table = plan.outcome, plan.table
    rules = np.where(outcome.rule >= 0, outcome.rule + first_rule(plan.policy), outcome.rule)
    sums = [(plan.before, sum_before(plan), 0)]
    sums += [(step.after, step.sections, step.summary) for step in steps[:-1]]
    shown = []
    for taken, (total, sections, summary) in enumerate(sums[: len(steps)]):
        decided = np.isin(rules, [step.rule for step in steps[:taken]])
        shown.append(
            PlayedPlan(
                *(total, sections, summary),
                fates=np.where(decided, outcome.fate, VERBATIM).tolist(),
                tokens=np.where(decided, outcome.tokens, table.tokens).tolist(),
                rules=np.where(decided, rules, BY_NONE).tolist(),
            )
        )
    return shown


def _order(plan: Plan) -> Iterator[tuple[int, str, str]]:
    """Who decides, in order: pins, the rules of every request, those of the stages that ran, what follows."""
    policy, outcome = plan.policy, plan.outcome
    kinds = [kind for stage in plan.tiers.stages[: plan.depth] for kind in stage.rules]
    staged = {kind for stage in policy.stages for kind in stage.rules}
    first = [code for code, rule in enumerate(policy.rules) if rule.kind not in staged or rule.wire]
    later = [code for kind in kinds for code, rule in enumerate(policy.rules) if rule.kind == kind]
    if (outcome.rule == BY_PIN).any():
        yield (BY_PIN, *_OTHERS[BY_PIN])
    if (outcome.rule == BY_WITHHELD).any():
        yield (BY_WITHHELD, *_OTHERS[BY_WITHHELD])
    for code in dict.fromkeys([*first, *later]):
        rule = policy.rules[code]
        if rule.enabled:
            yield code, rule.title, _say(plan, code, rule)
    for number in (BY_PAIR, BY_END, BY_BOUND):
        if (outcome.rule == number).any():
            yield (number, *_OTHERS[number])
    if plan.summarises and plan.correction:
        yield (BY_REPORTED, *_OTHERS[BY_REPORTED])


def _say(plan: Plan, code: int, rule: Rule) -> str:
    """The rule's sentence with its values in place, and where it puts the cut."""

    def value(match: re.Match[str]) -> str:
        found = getattr(rule, match.group(1), match.group())
        return f"{found:,}" if isinstance(found, int) and not isinstance(found, bool) else str(found)

    # The template's noun is in the plural, whatever its number will be.
    said = _ONE_TURN.sub("1 turn", _KNOB.sub(value, rule.template))
    cut = say_cut(plan, code)
    return f"{said}: {cut}" if cut else said


def say_cut(plan: Plan, code: int) -> str:
    """Where a rule puts the cut; "" for one that puts none, and where the hand does."""
    place = plan.decisions[code].cut
    if place is None or plan.edits.cut is not None:
        return ""
    turn = plan.session.live.turn
    if place >= len(turn):
        return "the cut stands at the end"
    splits = place > 0 and turn[place - 1] == turn[place]
    return f"the cut stands {'in' if splits else 'before'} turn {int(turn[place]) + 1}"


def _mark(plan: Plan, number: int, mine: Bools) -> list[int]:
    """The rows that a rule is about."""
    if number >= 0 and not mine.any() and plan.decisions[number].cut is not None and plan.place is not None:
        mine = ~plan.is_older
    rows: list[int] = np.flatnonzero(mine).tolist()
    return rows


def _written(plan: Plan, number: int) -> int:
    """Tokens a rule adds to the summary; none where nothing is summarised."""
    if number < 0 or not plan.summarises or plan.place is None:
        return 0
    decision = plan.decisions[number]
    if plan.checkpoint is not None:
        # One text, whatever is in it.
        return plan.summary_tokens if decision.summary is plan.spec else 0
    costs = [int(d.appendix.cost[plan.place]) for d in plan.decisions if d.appendix is not None]
    own = 0 if decision.appendix is None else int(decision.appendix.cost[plan.place])
    return own + (plan.summary_tokens - sum(costs) if decision.summary is plan.spec else 0)


def _noticed(plan: Plan, number: int) -> Longs:
    """int64[s]: tokens of the notice a rule leaves, and of what stands twice with it."""
    out = np.zeros(len(SECTIONS), np.int64)
    notice = plan.notice
    if (
        number < 0
        or notice is None
        or plan.place is None
        or plan.decisions[number].notice is not notice.given
    ):
        return out
    if notice.echoes(plan.place):
        out += _count_sections(plan, notice.before.tokens)
    out[COMPACTED] += int(notice.cost[plan.place])
    return out


def _count_sections(plan: Plan, tokens: Any) -> Longs:
    return np.bincount(plan.table.section, tokens, len(SECTIONS)).astype(np.int64)
