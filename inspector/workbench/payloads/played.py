"""A policy played one rule at a time: the decisions of each rule and the context after it.

Everything is read from the plan's own columns, so the last step equals the plan, and the changes of all steps
add up to the plan's change.
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
from ...tokens.not_in_file import PARTS
from ...tokens.rows import SECTIONS
from .base_payload import Payload
from .sections import ALL_SECTIONS, even_out, sum_before

_SYSTEM, HIDDEN, BEFORE_FILE, REATTACHED = map(ALL_SECTIONS.index, PARTS)
BY_REPORTED = BY_END - 1
"""Number of the step after the rules: tokens that only the request after a recorded compaction reports."""
_KNOB = re.compile(r"\{(\w+)\}")
_OTHERS = {
    BY_PIN: ("pins", "Pinned blocks stay as they are; pins override the rules."),
    BY_PAIR: ("pairs", "A call and its output are treated alike, so the other half follows."),
    BY_END: ("reasoning at the end", "The call after it was removed, and no message may end with reasoning."),
    BY_BOUND: ("bound reasoning", "The model refuses reasoning whose prefix was edited, so it goes too."),
    BY_WITHHELD: ("no reasoning", "This harness sends no reasoning."),
    BY_REPORTED: ("reported besides", "The next request reports more than the parts above: these tokens."),
}


class LessonStep(Payload, frozen=True):
    """One played rule of a policy: how many `blocks` it decides, and the context before and after it.

    `rule` is its number in the plan's columns (negative for pins, pairs and bound reasoning). Sums are tokens
    of the whole context, including what is not in the file. `sections` are the sums after the rule, `summary`
    the size of the summary so far. A block belongs to the last rule that decides it. `marks` are the rows of
    the blocks that the rule is about: the blocks it decides, or the tail if it places the cut.
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
    """The context after only the first rules of a policy have decided.

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
    """Count the actors that are numbered before the rules."""
    return 1 if policy.target is None else 2


def play_plan(plan: Plan) -> Iterator[LessonStep]:
    """Yield the steps of a plan in the order in which they decide."""
    sections = _count_sections(plan, plan.table.tokens) + plan.ledger.head_sections
    outside = plan.outside
    sections = np.append(sections, [part.tokens for part in outside.parts.values()])
    hidden_after, extra_counted = leave_outside(plan.table, plan.outcome), False
    summary = 0
    for number, title, sentence in _order(plan):
        rule_rows = plan.outcome.rule == number
        before = int(sections.sum())
        sections[HIDDEN] += int((hidden_after - outside.spread)[rule_rows].sum())
        passes = outside.passing and not plan.table.since
        if passes and not extra_counted and (rule_rows & takes(plan.outcome)).any():
            # Content that any compaction removes is counted with the first removed block.
            sections[BEFORE_FILE], sections[REATTACHED], extra_counted = 0, 0, True
        change = np.where(rule_rows, plan.outcome.tokens.astype(np.int64) - plan.table.tokens, 0)
        sections[: len(SECTIONS)] += _count_sections(plan, change)
        written = _written(plan, number)
        summary += written
        sections[COMPACTED] += written
        noticed = _noticed(plan, number)
        sections[: len(SECTIONS)] += noticed
        sections[HIDDEN] += weigh_more(outside, summary) - weigh_more(outside, summary - written)
        if noticed.any() and plan.notice is not None and plan.place is not None:
            sections[HIDDEN] += weigh_more(outside, int(plan.notice.cost[plan.place]))
            if plan.notice.echoes(plan.place):
                sections[HIDDEN] += int(leave_outside(plan.table, plan.notice.before).sum())
        if number == BY_REPORTED:
            sections[ALL_SECTIONS.index(plan.corrected)] += plan.correction
        yield LessonStep(
            rule=number + first_rule(plan.policy) if number >= 0 else number,
            title=title,
            sentence=sentence,
            blocks=int(rule_rows.sum()),
            before=before,
            after=int(sections.sum()),
            sections=even_out(sections).tolist(),
            summary=summary,
            marks=_mark(plan, number, rule_rows),
        )


def find_outside_changes(plan: Plan, steps: Sequence[LessonStep]) -> dict[int, int]:
    """Tokens that are not in the file, which each step adds (below 0: removes), by the step's number."""
    sums = [sum_before(plan), *(step.sections for step in steps)]
    outside = [sum(sections[len(SECTIONS) :]) for sections in sums]
    return {step.rule: after - was for step, was, after in zip(steps, outside, outside[1:], strict=False)}


def show_played(plan: Plan, steps: Sequence[LessonStep]) -> list[PlayedPlan]:
    """Return the context before the first step and after each step but the last; the last one is the plan."""
    outcome, table = plan.outcome, plan.table
    rules = np.where(outcome.rule >= 0, outcome.rule + first_rule(plan.policy), outcome.rule)
    sums = [(plan.before, sum_before(plan), 0)]
    sums += [(step.after, step.sections, step.summary) for step in steps[:-1]]
    shown = []
    for step_count, (total, sections, summary) in enumerate(sums[: len(steps)]):
        decided = np.isin(rules, [step.rule for step in steps[:step_count]])
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
    """Yield who decides, in order: pins, the rules of every request, the rules of the stages that ran, the
    rest."""
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
            yield code, rule.label, _say(plan, code, rule)
    for number in (BY_PAIR, BY_END, BY_BOUND):
        if (outcome.rule == number).any():
            yield (number, *_OTHERS[number])
    if plan.summarises and plan.correction:
        fewer = ("reported fewer", "The next request reports fewer tokens than the parts above: this many.")
        yield (BY_REPORTED, *(_OTHERS[BY_REPORTED] if plan.correction > 0 else fewer))


def _say(plan: Plan, code: int, rule: Rule) -> str:
    """The rule's sentence with its values filled in, and the cut it places."""

    def value(match: re.Match[str]) -> str:
        setting = getattr(rule, match.group(1), match.group())
        return f"{setting:,}" if isinstance(setting, int) and not isinstance(setting, bool) else str(setting)

    sentence = _KNOB.sub(value, rule.wording)
    cut = say_cut(plan, code)
    return f"{sentence}: {cut}" if cut else sentence


def say_cut(plan: Plan, code: int) -> str:
    """Describe the position of a rule's cut; "" if the rule sets no cut or the user moved it."""
    place = plan.decisions[code].cut
    if place is None or plan.edits.cut is not None:
        return ""
    turn = plan.session.live.turn
    if place >= len(turn):
        return "the cut is at the end"
    splits = place > 0 and turn[place - 1] == turn[place]
    return f"the cut is {'in' if splits else 'before'} turn {int(turn[place]) + 1}"


def _mark(plan: Plan, number: int, rule_rows: Bools) -> list[int]:
    """The rows that a rule is about."""
    if (
        number >= 0
        and not rule_rows.any()
        and plan.decisions[number].cut is not None
        and plan.place is not None
    ):
        rule_rows = ~plan.is_older
    rows: list[int] = np.flatnonzero(rule_rows).tolist()
    return rows


def _written(plan: Plan, number: int) -> int:
    """Tokens that a rule adds to the summary; 0 if nothing is summarised."""
    if number < 0 or not plan.summarises or plan.place is None:
        return 0
    decision = plan.decisions[number]
    if plan.checkpoint is not None:
        # One text for all contents.
        return plan.summary_tokens if decision.summary is plan.spec else 0
    costs = [int(d.appendix.cost[plan.place]) for d in plan.decisions if d.appendix is not None]
    own = 0 if decision.appendix is None else int(decision.appendix.cost[plan.place])
    return own + (plan.summary_tokens - sum(costs) if decision.summary is plan.spec else 0)


def _noticed(plan: Plan, number: int) -> Longs:
    """int64[s]: tokens of the notice that a rule leaves, and of content that appears twice because of it."""
    out = np.zeros(len(SECTIONS), np.int64)
    notice = plan.notice
    if (
        number < 0
        or notice is None
        or plan.place is None
        or plan.decisions[number].notice is not notice.notice
    ):
        return out
    if notice.echoes(plan.place):
        out += _count_sections(plan, notice.before.tokens)
    out[COMPACTED] += int(notice.cost[plan.place])
    return out


def _count_sections(plan: Plan, tokens: Any) -> Longs:
    return np.bincount(plan.table.section, tokens, len(SECTIONS)).astype(np.int64)
