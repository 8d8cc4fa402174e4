"""A plan as a lesson: its policy played one rule at a time, and the errors of a cut at another place.

The input is a plan and a place of its cut; the result is its steps. All values are read from the plan's own
columns, so the last step equals the plan.
"""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from ...planning.assemble import live_context
from ...planning.context import Context, Piece
from ...planning.plan import Plan
from ...planning.stand_in import describe_call
from ...session.blocks import Text
from ...wire.checks import check_context
from .base_payload import Payload
from .played import LessonStep, PlayedPlan, play_plan, show_played

MOST_PAIRS = 4
_REFUSED = {
    "orphan-output": ("orphan_result",),
    "inside-batch": ("orphan_result",),
    "lone-output": ("orphan_result",),
    "open-loop": ("altered_thinking", "loop_without_thinking", "unbound_thinking"),
}
"""Request rules that a cut breaks if a rule for cuts forbids it."""


class LessonBlock(Payload, frozen=True):
    """A block by its name; `turn` is 0-based."""

    turn: int
    label: str


class PartedPair(Payload, frozen=True):
    """A call, and the output that would remain without it."""

    call: LessonBlock
    output: LessonBlock


class CutRefusal(Payload, frozen=True):
    """Errors that a cut would cause; `more` pairs are not listed.

    `error` is the status and text of the provider's answer, or "" if it would accept the request.
    """

    error: str
    pairs: list[PartedPair]
    more: int


class LessonReply(Payload, frozen=True):
    """The policy played one rule at a time; at an invalid cut point, the errors of a cut there.

    `played` holds the contexts before the first step and after each step but the last.
    """

    place: int
    steps: list[LessonStep]
    played: list[PlayedPlan]
    refusal: CutRefusal | UnsetType = UNSET


def play_rules(plan: Plan, place: int) -> LessonReply:
    """Play the policy with the cut at `place`: its steps, each with the context after it.

    At an invalid cut point there are no steps but a `refusal`. Raises `IndexError` for a place that does not
    exist.
    """
    if not 0 <= place < len(plan.cuts):
        raise IndexError(f"no place {place} in this context")
    if place == (plan.place or 0):
        return _play(plan, place)
    if plan.cuts.legal[place]:
        edits = plan.edits.model_copy(update={"cut": plan.cuts.ids[place]})
        return _play(plan.with_edits(edits), place)
    return LessonReply(place, [], [], _refuse(plan, place))


def _play(plan: Plan, place: int) -> LessonReply:
    steps = list(play_plan(plan))
    return LessonReply(place, steps, show_played(plan, steps))


def _refuse(plan: Plan, place: int) -> CutRefusal:
    live = plan.session.live
    positions = live.position[live.pairs]
    parted = live.pairs[(positions[:, 0] < place) & (place <= positions[:, 1])].tolist()
    shown = [
        PartedPair(_describe(plan, call), _describe(plan, output)) for call, output in parted[:MOST_PAIRS]
    ]
    return CutRefusal(_ask_provider(plan, place), shown, len(parted) - len(shown))


def _describe(plan: Plan, row: int) -> LessonBlock:
    live = plan.session.live
    position = int(live.position[row])
    block = plan.table.block(row)
    label = describe_call(block) if block.kind == "tool_call" else block.kind.replace("_", " ")
    return LessonBlock(int(live.turn[position]), label)


def _ask_provider(plan: Plan, place: int) -> str:
    """The answer to a request that begins at `place` behind a summary, by the rules of the wire."""
    rule = plan.cuts[place].rule or ""
    rules = _REFUSED.get(rule, ())
    if not rules:
        return ""
    whole = live_context(plan.session, plan.ledger)
    summary_piece = Piece(
        Text(text="Summary of what came before."), "user", 0, (), "summarised", 0, stand_in=True
    )
    later_pieces = tuple(piece for piece in whole.pieces if piece.message > place)
    cut = Context(
        whole.system,
        whole.tools,
        whole.provided,
        (summary_piece, *later_pieces),
        whole.head_tokens,
        whole.model,
    )
    # Only reasoning is held against what was sent before.
    previous = whole if rule == "open-loop" else None
    violations = check_context(cut, previous=previous, awaits_user=True, rules=rules)
    return next(
        (violation.provider_error for name in rules for violation in violations if violation.rule == name), ""
    )
