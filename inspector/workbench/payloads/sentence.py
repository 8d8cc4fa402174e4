"""What a plan comes to in one sentence: words, and numbers that go with the cut. Where a policy does
nothing it says why, and offers what would change that.

A part with a `slot` holds a number that the browser looks up anew for the place under the hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from ...errors import InspectorError
from ...planning.fates import STANDS
from ...planning.plan import Plan
from ...planning.plan_words import PAIRS, describe_protected
from ...planning.planner import make_plan
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
    """Words of a sentence; with a `slot` the number that stands there at the plan's own cut."""

    text: str
    tone: Tone
    slot: Slot


class SentenceButton(Payload, frozen=True):
    """What a person may do about a plan: `edit` are the choices that it sets."""

    label: str
    edit: dict[str, str]


class SentencePayload(Payload, frozen=True):
    """The sentence of a plan.

    `case` says which it is, `parts` are its words in order. The columns "left_blocks" and "left_tokens" of
    the plan hold what the slot "left" shows at each place. `loses` says whether to ask what is lost.
    `range` says in a few words how sure the total is, "" where it is certain; `notes` limit the numbers.
    """

    case: Case
    parts: list[SentencePart]
    buttons: list[SentenceButton]
    loses: bool
    range: str
    notes: list[str]

    @property
    def text(self) -> str:
        """The whole as plain text."""
        return "".join(part.text for part in self.parts)


class Left(NamedTuple):
    """What becomes of most that stands left of a cut: the fate, and by place (n+1) how many blocks of so many
    tokens have it."""

    fate: int
    blocks: Longs
    tokens: Longs


def pack_left(pack: ColumnPacker, left: Left) -> None:
    """Add the columns behind the slot "left"."""
    pack.add("left_blocks", left.blocks)
    pack.add("left_tokens", left.tokens)


def count_left(plan: Plan) -> Left:
    """The fate that most of what changes left of the cut has, counted for every place.

    At the plan's own place it is counted as the plan has it; without a cut it is what changes anywhere.
    """
    table = plan.table
    fate = SUMMARISED if plan.spec is not None and plan.place is not None else _main(plan)
    left = add_up(table, plan.older.fate, fate)
    here = (plan.fate == fate) & (plan.is_older if plan.place is not None else True)
    at = plan.place or 0
    left.blocks[at], left.tokens[at] = int(here.sum()), int(table.tokens[here].sum())
    return left


def add_up(table: Table, fates: Bytes, fate: int) -> Left:
    """How many blocks before each place have a fate, and their tokens."""
    n, mine = len(table.live), fates == fate
    where = table.live.position[mine]
    blocks, tokens = np.zeros((2, n + 1), np.int64)
    np.cumsum(np.bincount(where, minlength=n), out=blocks[1:])
    np.cumsum(np.bincount(where, table.tokens[mine], n), out=tokens[1:])
    return Left(fate, blocks, tokens)


def write_sentence(
    plan: Plan, left: Left, *, opened: bool = False, recorded: bool = False
) -> SentencePayload:
    """The sentence of a plan. `opened` says that nobody has chosen its policy, and that no policy does
    anything here; `recorded` that it happened so."""
    if recorded:
        parts = say_left(left, plan.place, plan.summary_tokens, past=True)
        return _finish(plan, "recorded", parts, [])
    if opened:
        return _finish(plan, "nothing", _say_nothing(plan), [*_offer_cut(plan)])
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
        offers = [*_offer_tail(plan), *_offer_cut(plan), *_offer_policies(plan)]
        return _finish(plan, "idle", _say_idle(plan), offers)
    parts = say_left(left, plan.place, plan.summary_tokens, unwritten=plan.is_unwritten)
    for broken in describe_protected(plan):
        parts += [_part(" "), _part(broken, "bad")]
    return _finish(plan, "planned", parts, [])


def say_left(
    left: Left,
    place: int | None,
    summary: int,
    *,
    past: bool = False,
    unwritten: bool = False,
    sealed: bool = False,
) -> list[SentencePart]:
    """ "Left of the cut: 242 blocks, 109k tokens become a summary of 4.2k, not written yet."."""
    at = place or 0
    blocks, tokens = int(left.blocks[at]), int(left.tokens[at])
    verb = _VERBS[left.fate][past]
    lead = "Left of the cut: " if place is not None else ""
    parts = [_part(lead), _part(describe_left(blocks, tokens), "strong", "left"), _part(f" {verb}")]
    if left.fate == SUMMARISED:
        parts += [_part(" "), _part(format_tokens(summary), "strong", "summary")]
        if sealed and not summary:
            parts[2:] = [_part(" became a summary")]
        parts += [_part(" that only the provider can read")] if sealed else []
        parts += [_part(", not written yet")] if unwritten else []
    return [part for part in [*parts, _part(".")] if part.text]


def describe_left(blocks: int, tokens: int) -> str:
    """ "242 blocks, 109k tokens"."""
    return f"{plural(blocks, 'block')}, {format_tokens(tokens)} tokens"


def find_refusal(plan: Plan) -> str:
    """Why a provider would refuse what a plan leaves, "" where it would not."""
    cut = plan.cut
    if cut is None or cut.legal:
        return ""
    # Where pairs are kept whole, a cut through one is no fault of what is left.
    torn = plan.tier.unpaired or cut.rule not in PAIRS
    return cut.sentence if torn and not STANDS[plan.fate[plan.is_older]].all() else ""


def _finish(
    plan: Plan, case: Case, parts: list[SentencePart], buttons: list[SentenceButton]
) -> SentencePayload:
    low, high = plan.after_range
    told = f"{format_tokens(low)} to {format_tokens(high)} after" if low != high else ""
    return SentencePayload(case, parts, buttons, case in ("recorded", "planned"), told, list(plan.notes))


def _main(plan: Plan) -> int:
    """The fate of most tokens that change."""
    weights = plan.table.tokens.astype(np.int64) * (plan.fate != VERBATIM)
    if plan.place is not None and (weights * plan.is_older).any():
        weights = weights * plan.is_older
    sums = np.bincount(plan.fate, weights, len(FATES))
    return int(np.argmax(sums)) if sums.any() else DROPPED


def _say_nothing(plan: Plan) -> list[SentencePart]:
    cut = "Drag the cut to see what would." if middle_place(plan) >= 0 else "No cut is legal here yet."
    return [_part("Nothing has to go yet", "strong"), _part(f": {_describe_room(plan)}. {cut}")]


def _describe_room(plan: Plan) -> str:
    """ "85.7k of 200k, about 8 turns to go"."""
    size, window = format_tokens(plan.before), plan.table.window
    headroom = find_headroom(plan)
    turns = (
        "" if headroom is None or not headroom.turns else f", about {plural(headroom.turns, 'turn')} to go"
    )
    return (f"{size} of {format_tokens(window)}" if window else size) + turns


def _say_idle(plan: Plan) -> list[SentencePart]:
    """Why a policy does nothing here: one of four reasons."""
    title = plan.policy.title or plan.policy.name
    lead = _part(f"{title} keeps everything here", "strong")
    return [lead, _part(f": {_find_reason(plan)}.")]


def _find_reason(plan: Plan) -> str:
    if middle_place(plan) < 0:
        return "there is no legal place for a cut"
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
    """The outputs at the very end, where they alone fill what a walk back by tokens keeps."""
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


def _offer_tail(plan: Plan) -> Iterator[SentenceButton]:
    """Keep from the last legal place before the output that is too large."""
    tail = _find_tail(plan)
    if tail is None:
        return
    legal = np.flatnonzero(plan.cuts.legal[: tail.position + 1])
    if len(legal):
        yield from _offer(plan, "keep up to it anyway", int(legal[-1]))


def _offer_cut(plan: Plan) -> Iterator[SentenceButton]:
    """Place the cut in the middle, and where that does not help, at the last legal place."""
    if (middle := middle_place(plan)) < 0:
        return
    last = int(np.flatnonzero(plan.cuts.legal)[-1])
    for place in dict.fromkeys((middle, last)):
        offered = list(_offer(plan, "place the cut myself", place))
        if offered:
            yield offered[0]
            return


def _offer_policies(plan: Plan) -> Iterator[SentenceButton]:
    for name in FALLBACK:
        if name == plan.policy.name:
            continue
        try:
            other = make_plan(plan.session, plan.ledger, name, window=plan.table.given_window)
        except InspectorError:
            continue
        if acts(other):
            yield SentenceButton(f"use {other.policy.title or name}", {"policy": name})
            return


def _offer_legal(plan: Plan) -> list[SentenceButton]:
    nearest = None if plan.place is None else plan.cuts.nearest(plan.place)
    return [] if nearest is None else [_cut_button("cut at the nearest legal place", plan, nearest)]


def _offer(plan: Plan, label: str, place: int) -> Iterator[SentenceButton]:
    """A cut by hand, where it would change the plan."""
    edits = plan.edits.model_copy(update={"cut": plan.cuts[place].entry})
    if plan.with_edits(edits).after != plan.after:
        yield _cut_button(label, plan, place)


def _cut_button(label: str, plan: Plan, place: int) -> SentenceButton:
    return SentenceButton(label, {"cut": plan.cuts[place].entry})


def _part(text: str, tone: Tone = "", slot: Slot = "") -> SentencePart:
    return SentencePart(text, tone, slot)
