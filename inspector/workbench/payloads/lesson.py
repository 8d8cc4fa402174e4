"""A plan told as a lesson: its policy played one rule at a time, and what a cut elsewhere would break.

In go a plan and a place of its cut, out come its steps. Everything is read off the plan's own columns, so
the last step stands where the plan stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import UNSET, UnsetType

from ...planning.assemble import live_context
from ...planning.context import Context, Piece
from ...planning.cut_table import COMPACTED
from ...planning.fates import BY_BOUND, BY_END, BY_PAIR, BY_PIN, BY_WITHHELD
from ...planning.left_outside import leave_outside, takes, weigh_more
from ...planning.plan import Plan
from ...policies.base_rule import Rule
from ...session.blocks import Text
from ...session.queries import describe_call
from ...tokens.counter import Longs
from ...tokens.rows import SECTIONS
from ...wire.checks import check_context
from .base_payload import Payload
from .rules import first_rule
from .sections import ALL_SECTIONS

WITHHELD, EARLIER, ATTACHED = (ALL_SECTIONS.index(part) for part in ("withheld", "earlier", "attached"))
MOST_PAIRS = 4
_KNOB = re.compile(r"\{(\w+)\}")
_ONE_TURN = re.compile(r"(?<![\d,.])1 turns\b")
_OTHERS = {
    BY_PIN: ("pins", "What you pinned stays as it is, whatever a rule says."),
    BY_PAIR: ("pairs", "A call and its output share one fate, so the other half follows."),
    BY_END: ("reasoning at the end", "What it led to is gone, and no message may end with reasoning."),
    BY_BOUND: ("bound reasoning", "The model refuses reasoning whose prefix was edited, so it goes too."),
    BY_WITHHELD: ("no reasoning", "This harness sends no reasoning."),
}
_REFUSED = {
    "orphan-output": ("orphan_result",),
    "inside-batch": ("orphan_result",),
    "lone-output": ("orphan_result",),
    "open-loop": ("altered_thinking", "loop_without_thinking", "unbound_thinking"),
}
"""Which rules of the wire a cut breaks where a rule of the cut forbids it."""


class LessonStep(Payload, frozen=True):
    """One rule of a policy played: how many `blocks` it decides, and what stands before and after it.

    `rule` is its number in the plan's columns (negative for pins, pairs and bound reasoning). Sums are tokens
    of everything that stands, what is not in the file included; `sections` are those after
    it, `summary` those of the summary so far. A block belongs to the rule that decides it last.
    """

    rule: int
    title: str
    sentence: str
    blocks: int
    before: int
    after: int
    sections: list[int]
    summary: int


class LessonBlock(Payload, frozen=True):
    """A block by its row and name; `turn` is 0-based."""

    row: int
    turn: int
    label: str


class PartedPair(Payload, frozen=True):
    """A call, and the output that would stand without it."""

    call: LessonBlock
    output: LessonBlock


class CutRefusal(Payload, frozen=True):
    """What a cut would break: `more` pairs are left out.

    `error` is status and words of the provider's answer, "" where it would take the request.
    """

    sentence: str
    error: str
    pairs: list[PartedPair]
    more: int


class LessonReply(Payload, frozen=True):
    """The policy played one rule at a time; at an illegal place, what a cut there would break."""

    place: int
    steps: list[LessonStep]
    refusal: CutRefusal | UnsetType = UNSET


def play_rules(plan: Plan, place: int) -> LessonReply:
    """The policy played with the cut at `place`: the steps it takes, each with what stands after it.

    At an illegal place there are no steps but a `refusal`. Raises `IndexError` for a place that does not
    exist.
    """
    if not 0 <= place < len(plan.cuts):
        raise IndexError(f"no place {place} in this context")
    if place == (plan.place or 0):
        return LessonReply(place, list(_play(plan)))
    if plan.cuts.legal[place]:
        edits = plan.edits.model_copy(update={"cut": plan.cuts.ids[place]})
        return LessonReply(place, list(_play(plan.with_edits(edits))))
    return LessonReply(place, [], _refuse(plan, place))


def _play(plan: Plan) -> Iterator[LessonStep]:
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
        yield LessonStep(
            rule=number + first_rule(plan.policy) if number >= 0 else number,
            title=title,
            sentence=sentence,
            blocks=int(mine.sum()),
            before=before,
            after=int(sections.sum()),
            sections=sections.tolist(),
            summary=summary,
        )


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


def _say(plan: Plan, code: int, rule: Rule) -> str:
    """The rule's sentence with its values in place, and where it puts the cut."""

    def value(match: re.Match[str]) -> str:
        found = getattr(rule, match.group(1), match.group())
        return f"{found:,}" if isinstance(found, int) and not isinstance(found, bool) else str(found)

    # The template's noun is in the plural, whatever its number will be.
    said = _ONE_TURN.sub("1 turn", _KNOB.sub(value, rule.template))
    place = plan.decisions[code].cut
    if place is None or plan.edits.cut is not None:
        return said
    turn = plan.session.live.turn
    where = f"before turn {int(turn[place]) + 1}" if place < len(turn) else "at the end"
    return f"{said}: the cut stands {where}"


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


def _refuse(plan: Plan, place: int) -> CutRefusal:
    live = plan.session.live
    positions = live.position[live.pairs]
    parted = live.pairs[(positions[:, 0] < place) & (place <= positions[:, 1])].tolist()
    shown = [
        PartedPair(_describe(plan, call), _describe(plan, output)) for call, output in parted[:MOST_PAIRS]
    ]
    error = _ask_provider(plan, place)
    return CutRefusal(plan.cuts[place].sentence, error, shown, len(parted) - len(shown))


def _describe(plan: Plan, row: int) -> LessonBlock:
    live = plan.session.live
    position = int(live.position[row])
    block = plan.table.block(row)
    label = describe_call(block) if block.kind == "tool_call" else block.kind.replace("_", " ")
    return LessonBlock(row, int(live.turn[position]), label)


def _ask_provider(plan: Plan, place: int) -> str:
    """The answer to a request that begins at `place` behind a summary, by the rules of the wire."""
    wanted = _REFUSED.get(plan.cuts[place].rule or "", ())
    if not wanted:
        return ""
    whole = live_context(plan.session, plan.ledger)
    said = Piece(Text(text="Summary of what came before."), "user", 0, (), "summarised", 0, stand_in=True)
    kept = tuple(piece for piece in whole.pieces if piece.message > place)
    cut = Context(whole.system, whole.tools, whole.provided, (said, *kept), whole.head_tokens, whole.model)
    found = check_context(cut, previous=whole, awaits_user=True)
    return next((each.provider_error for name in wanted for each in found if each.rule == name), "")
