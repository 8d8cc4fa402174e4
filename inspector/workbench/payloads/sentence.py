"""Describe the result of a plan in one sentence, with numbers that depend on the cut.

If the policy does nothing, the sentence gives the reason and offers changes. While the cut is dragged, the
browser updates the number in each part with a `slot`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from ...cuts import PAIRS
from ...errors import InspectorError
from ...planning.fates import REMAINS
from ...planning.plan import Plan
from ...planning.plan_words import describe_protected
from ...planning.planner import make_plan
from ...policies.own_policy import find_own_policy
from ...policies.rules.keep_recent_tokens import KeepRecentTokens
from ...policies.table import CLEARED, DROPPED, FATES, POINTER, SUMMARISED, TRUNCATED, VERBATIM, Bytes, Table
from ...text import plural
from ...tokens.counter import Longs
from ..opening import FALLBACK, acts, middle_place
from .base_payload import Payload
from .columns import ColumnPacker
from .gauge import find_headroom
from .sections import format_tokens

Tone = Literal["", "strong", "bad", "good"]
Slot = Literal["", "left", "after", "summary"]
Case = Literal["recorded", "planned", "nothing", "idle", "refused"]
_VERBS = {
    SUMMARISED: ("become a summary of", "became a summary of"),
    DROPPED: ("are dropped", "were dropped"),
    CLEARED: ("are cleared", "were cleared"),
    POINTER: ("become pointers", "became pointers"),
    TRUNCATED: ("are shortened", "were shortened"),
}


class SentencePart(Payload, frozen=True):
    """A part of a sentence; if it has a `slot`, the number at the plan's own cut."""

    text: str
    tone: Tone
    slot: Slot


class SentenceButton(Payload, frozen=True):
    """A change that the user can make to a plan; `edit` has the inputs that it sets."""

    label: str
    edit: dict[str, str]


class SentencePayload(Payload, frozen=True):
    """The sentence of a plan.

    `case` is the kind of sentence, `parts` are its texts in order. The plan's columns "left_blocks" and
    "left_tokens" have the numbers of the slot "left" for each place. If `loses` is True, the screen asks for
    the lost facts. `range` is the range of the total in words, or "" if it is exact.
    """

    case: Case
    parts: list[SentencePart]
    buttons: list[SentenceButton]
    loses: bool
    range: str

    @property
    def text(self) -> str:
        """The whole as plain text."""
        return "".join(part.text for part in self.parts)


class OlderBlocks(NamedTuple):
    """The most frequent fate of older blocks, and for each place (n+1) the number and tokens of the blocks
    before it with this fate."""

    fate: int
    blocks: Longs
    tokens: Longs


def pack_left(pack: ColumnPacker, older: OlderBlocks) -> None:
    """Add the columns for the slot "left"."""
    pack.add("left_blocks", older.blocks)
    pack.add("left_tokens", older.tokens)


def count_left(plan: Plan) -> OlderBlocks:
    """Count the blocks with the most frequent fate among the changed older blocks, for every place.

    The counts at the plan's own place are taken from the plan; without a cut they cover the whole context.
    """
    table = plan.table
    fate = SUMMARISED if plan.spec is not None and plan.place is not None else _main(plan)
    older = add_up(table, plan.older.fate, fate)
    here = (plan.fate == fate) & (plan.is_older if plan.place is not None else True)
    at = plan.place or 0
    older.blocks[at], older.tokens[at] = int(here.sum()), int(table.tokens[here].sum())
    return older


def add_up(table: Table, fates: Bytes, fate: int) -> OlderBlocks:
    """Count the blocks before each place that have a fate, and their tokens."""
    n, with_fate = len(table.live), fates == fate
    where = table.live.position[with_fate]
    blocks, tokens = np.zeros((2, n + 1), np.int64)
    np.cumsum(np.bincount(where, minlength=n), out=blocks[1:])
    np.cumsum(np.bincount(where, table.tokens[with_fate], n), out=tokens[1:])
    return OlderBlocks(fate, blocks, tokens)


def write_sentence(
    plan: Plan, older: OlderBlocks, *, opened: bool = False, recorded: bool = False
) -> SentencePayload:
    """Write the sentence of a plan.

    `opened` is True if the user has neither chosen a policy nor moved the cut and no policy does anything
    here, `recorded` if the plan is a recorded compaction.
    """
    if recorded:
        parts = say_left(older, plan.place, plan.summary_tokens, in_past=True, lead=_lead(plan))
        return _finish(plan, "recorded", parts)
    if opened:
        return _finish(plan, "nothing", _say_nothing(plan), _offer_cut(plan))
    if refusal := find_refusal(plan):
        parts = [
            _part("This plan leaves "),
            _part(format_tokens(plan.after), "strong", "after"),
            _part(". "),
            _part("A provider would refuse it", "bad"),
            _part(f": {refusal[:1].lower()}{refusal[1:]}"),
        ]
        return _finish(plan, "refused", parts, _offer_legal(plan))
    if plan.after == plan.before or not plan.outcome.changed.any():
        offers = (_offer_tail(plan), _offer_cut(plan), _offer_policy(plan))
        return _finish(plan, "idle", _say_idle(plan), *offers)
    parts = say_left(older, plan.place, plan.summary_tokens, unwritten=plan.is_unwritten, lead=_lead(plan))
    for broken in describe_protected(plan):
        parts += [_part(" "), _part(broken, "bad")]
    return _finish(plan, "planned", parts)


def say_left(
    older: OlderBlocks,
    place: int | None,
    summary: int,
    *,
    in_past: bool = False,
    unwritten: bool = False,
    unread: str = "",
    lead: str = "Left of the cut: ",
) -> list[SentencePart]:
    """ "Left of the cut: 242 blocks, 109k tokens become a summary of 4.2k, not written yet."."""
    at = place or 0
    blocks, tokens = int(older.blocks[at]), int(older.tokens[at])
    verb = _VERBS[older.fate][in_past]
    if older.fate != SUMMARISED:
        result = [_part(f" {verb}")]
    elif unread:
        result = [_part(f" became {'an' if unread == 'encrypted' else 'a'} {unread} summary")]
    else:
        result = [_part(f" {verb}"), _part(" "), _part(format_tokens(summary), "strong", "summary")]
        result += [_part(", not written yet")] if unwritten else []
    subject = _part(describe_left(blocks, tokens), "strong", "left")
    parts = [_part(lead if place is not None else ""), subject, *result, _part(".")]
    return [part for part in parts if part.text]


def _lead(plan: Plan) -> str:
    """ "Left of the cut: ", "From turn 5 on: ", "From turn 5 to the cut: "."""
    if plan.side == "prefix":
        return "Left of the cut: "
    turn = int(plan.table.live.turn[plan.table.since]) + 1
    return f"From turn {turn} on: " if plan.side == "suffix" else f"From turn {turn} to the cut: "


def describe_left(blocks: int, tokens: int) -> str:
    """ "242 blocks, 109k tokens"."""
    return f"{plural(blocks, 'block')}, {format_tokens(tokens)} tokens"


def find_refusal(plan: Plan) -> str:
    """Return the reason for which a provider would refuse the planned context, or ""."""
    cut = plan.cut
    if cut is None or cut.legal:
        return ""
    # If the plan keeps pairs whole, a cut through a pair does not break the planned context.
    torn = plan.tier.unpaired or cut.rule not in PAIRS
    return cut.sentence if torn and not REMAINS[plan.fate[plan.is_older]].all() else ""


def _finish(
    plan: Plan, case: Case, parts: list[SentencePart], *offers: SentenceButton | None
) -> SentencePayload:
    low, high = plan.after_range
    size_range = f"{format_tokens(low)} to {format_tokens(high)} after" if low != high else ""
    buttons = [button for button in offers if button is not None]
    return SentencePayload(case, parts, buttons, case in ("recorded", "planned"), size_range)


def _main(plan: Plan) -> int:
    """Return the fate of most changed tokens."""
    weights = plan.table.tokens.astype(np.int64) * (plan.fate != VERBATIM)
    if plan.place is not None and (weights * plan.is_older).any():
        weights = weights * plan.is_older
    sums = np.bincount(plan.fate, weights, len(FATES))
    return int(np.argmax(sums)) if sums.any() else DROPPED


def _say_nothing(plan: Plan) -> list[SentencePart]:
    cut = "Drag the cut to try one." if middle_place(plan) >= 0 else "There is no valid cut point yet."
    own, policy = find_own_policy(plan.session), plan.policy
    quiet = (
        f"{policy.title or policy.name} does not fire yet. "
        if own is not None and own.name == policy.name
        else ""
    )
    return [_part("No compaction needed yet", "strong"), _part(f": {_describe_room(plan)}. {quiet}{cut}")]


def _describe_room(plan: Plan) -> str:
    """ "85.7k of 200k, about 8 turns to go"."""
    size, window = format_tokens(plan.before), plan.table.window
    headroom = find_headroom(plan)
    turns = "" if headroom is None else headroom.some_turns
    room = f"{size} of {format_tokens(window)}" if window else size
    return f"{room}, {turns} to go" if turns else room


def _say_idle(plan: Plan) -> list[SentencePart]:
    """Explain with one of four reasons why a policy does nothing here."""
    title = plan.policy.title or plan.policy.name
    lead = _part(f"{title} keeps everything here", "strong")
    return [lead, _part(f": {_find_reason(plan)}.")]


def _find_reason(plan: Plan) -> str:
    if middle_place(plan) < 0:
        return "there is no valid cut point"
    limit = plan.tiers.limit
    if plan.policy.stages and plan.depth <= plan.tiers.early and limit is not None:
        return f"{format_tokens(plan.before)} is within its target of {format_tokens(limit)}"
    if (tail := _find_tail(plan)) is not None:
        rule, tokens, _ = tail
        return (
            f"the last tool output alone ({format_tokens(tokens)}) is more than the {rule.tokens:,} tokens "
            "it keeps"
        )
    return "nothing is older than the tail it keeps"


class _Tail(NamedTuple):
    rule: KeepRecentTokens
    tokens: int
    position: int


def _find_tail(plan: Plan) -> _Tail | None:
    """Return the outputs at the end if they alone exceed the tokens that the policy keeps, else None."""
    rule = next((rule for rule in plan.policy.rules if isinstance(rule, KeepRecentTokens)), None)
    live, n = plan.table.live, len(plan.table.live)
    if rule is None or not n:
        return None
    answers = np.isin(np.arange(n), live.position[live.pairs[:, 1]]) if len(live.pairs) else np.zeros(n, bool)
    position = n
    while position and answers[position - 1]:
        position -= 1
    tokens = int(plan.table.tokens[live.position >= position].sum())
    return _Tail(rule, tokens, position) if position < n and tokens > rule.tokens else None


def _offer_tail(plan: Plan) -> SentenceButton | None:
    """Keep from the last valid cut point before the output that is too large."""
    tail = _find_tail(plan)
    if tail is None:
        return None
    legal = np.flatnonzero(plan.cuts.legal[: tail.position + 1])
    return _offer(plan, "keep that output anyway", int(legal[-1])) if len(legal) else None


def _offer_cut(plan: Plan) -> SentenceButton | None:
    """Offer a cut in the middle, or at the last valid cut point if that one changes nothing."""
    if (middle := middle_place(plan)) < 0:
        return None
    last = int(np.flatnonzero(plan.cuts.legal)[-1])
    return _offer(plan, "place the cut myself", middle) or _offer(plan, "place the cut myself", last)


def _offer_policy(plan: Plan) -> SentenceButton | None:
    """Offer the first of FALLBACK that would change something."""
    for name in FALLBACK:
        if name == plan.policy.name:
            continue
        try:
            other = make_plan(plan.session, plan.ledger, name, window=plan.table.given_window)
        except InspectorError:
            continue
        if acts(other):
            return SentenceButton(f"use {other.policy.title or name}", {"policy": name})
    return None


def _offer_legal(plan: Plan) -> SentenceButton | None:
    nearest = None if plan.place is None else plan.cuts.nearest(plan.place)
    return None if nearest is None else _cut_button("cut at the nearest valid cut point", plan, nearest)


def _offer(plan: Plan, label: str, place: int) -> SentenceButton | None:
    """Offer a cut if it would change the plan."""
    edits = plan.edits.model_copy(update={"cut": plan.cuts[place].entry})
    return _cut_button(label, plan, place) if plan.with_edits(edits).after != plan.after else None


def _cut_button(label: str, plan: Plan, place: int) -> SentenceButton:
    return SentenceButton(label, {"cut": plan.cuts[place].entry})


def _part(text: str, tone: Tone = "", slot: Slot = "") -> SentencePart:
    return SentencePart(text, tone, slot)
