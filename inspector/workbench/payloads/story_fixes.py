"""What would keep a fact: edits that one click makes and takes back, each with the tokens that it costs.

A loss that the file records is mended in the plan *As recorded*; one that is planned, in the plan itself.
Words to give a summariser are copied: nothing proves that it follows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from ...errors import InspectorError
from ...facts.trace import trace_again
from ...facts.traced import Fix
from ...planning.plan import Plan
from ...planning.planner import make_plan
from ...policies.builtin.recorded import RECORDED
from ...policies.policy import Edits
from ...policies.rules.carry_file_operations import CarryFileOperations
from ...redaction.cut import cut_text
from ...session.blocks import BlockRef
from ...session.queries import find_parent
from ...session.session import Session
from ...text import plural
from ...tokens.models import model_of
from ...tokens.prices import price_tokens
from ..model import WorkbenchModel
from ..opening import AUTO
from .base_payload import Payload
from .fact_list import FactListing
from .fact_teller import Teller, Told
from .rules import Setting

MOST = 5
_LIST = CarryFileOperations.model_fields["kind"].default
_TOO_MUCH = 0.95
"""A cut that leaves so much of what stood is no fix."""
_VERBS = {
    "pin": ("Pin", "Pinned"),
    "cut": ("Cut", "Cut"),
    "carry": ("Turn on", "Turned on"),
    "knob": ("Set", "Set"),
    "instruct": ("Copy", "Copied"),
}
_KEPT_BY = {"pin": "pin", "cut": "cut", "carry": "list of files", "knob": "setting"}


class StoryChanges(Payload, frozen=True):
    """The inputs that a fix sets, for `WorkbenchModel.answer`; what is not there stays."""

    at: str | UnsetType = UNSET
    policy: str | UnsetType = UNSET
    cut: str | UnsetType = UNSET
    settings: dict[str, Setting] | UnsetType = UNSET
    pins: list[str] | UnsetType = UNSET


class StoryFix(Payload, frozen=True):
    """An edit that keeps the fact: `does` is the word of its button, `words` what it is done to.

    `done` says that the plan on the screen has it: then `changes` take it back, and `words` say that the fact
    is kept by it. "Copy" copies the `recipe`, which holds words for a summariser. `tokens` is what the total
    grows, or has grown, by; `said` tells what was done.
    """

    id: str
    does: str
    words: str
    tokens: int
    price: str
    done: bool
    said: str
    changes: StoryChanges
    recipe: str


class Base(NamedTuple):
    """What fixes are edits of: the plan as it is, and the same without those that keep the fact already."""

    plan: Plan
    bare: Plan


def offer_fixes(model: WorkbenchModel, listing: FactListing, told: Told, teller: Teller) -> list[StoryFix]:
    """The edits that keep a fact, the cheapest of each sort first."""
    traced = told.traced
    if traced is None or not traced.stood:
        return []
    names = {str(ref) for ref in traced.said}
    base = _find_base(model, listing, told, names)
    if base is None:
        return []
    if told.recorded is None:
        (traced,) = trace_again([traced], base.bare)
    if traced.outcome == "verbatim":
        return []
    return _tell(model, told, teller, base, _sift(traced.fixes(base.bare), base, teller))


def offer_output(model: WorkbenchModel, told: Told, teller: Teller) -> list[StoryFix]:
    """Offer to pin what would have avoided the repeated call."""
    traced, recorded = told.traced, told.recorded
    if traced is None or recorded is None:
        return []
    names = {str(ref) for ref in traced.said}
    base = _recorded_plans(model, teller.session.at(find_parent(teller.session, recorded.entry)), names)
    if base is None:
        return []
    pins = tuple(fix for fix in traced.fixes(base.bare) if fix.means == "pin")
    return _tell(model, told, teller, base, _sift(pins, base, teller))


def _find_base(model: WorkbenchModel, listing: FactListing, told: Told, names: set[str]) -> Base | None:
    if told.recorded is not None:
        return _recorded_plans(model, told.recorded.trace.scene.session, names)
    plan = listing.plan
    return Base(plan, _without(plan, names) or plan)


def _recorded_plans(model: WorkbenchModel, moment: Session, names: set[str]) -> Base | None:
    """*As recorded* at a moment: as the person has edited it, and without what keeps the fact."""
    try:
        bare = make_plan(moment, model.ledger, RECORDED, window=model.window)
    except InspectorError:
        return None
    mine = model.plan
    edited = mine.policy.name == RECORDED.name and mine.session.leaf == moment.leaf
    if not edited:
        return Base(bare, bare)
    return Base(mine, _without(mine, names, cut=True) or bare)


def _without(plan: Plan, names: set[str], cut: bool = False) -> Plan | None:
    """The plan without the pins of these blocks, the lists of files, and the `cut` that a hand made."""
    edits = plan.edits
    pins = tuple(pin for pin in edits.pins if pin not in names)
    settings = {key: value for key, value in edits.settings.items() if not key.startswith(f"{_LIST}.")}
    kept = Edits(cut=None if cut else edits.cut, pins=pins, settings=settings)
    return plan if kept == edits else _make(plan, kept)


def _make(plan: Plan, edits: Edits) -> Plan | None:
    """The same policy with other edits; None where that is not legal."""
    try:
        return make_plan(plan.session, plan.ledger, plan.policy.name, edits, window=plan.table.given_window)
    except InspectorError:
        return None


def _sift(fixes: tuple[Fix, ...], base: Base, teller: Teller) -> Iterator[Fix]:
    """One fix for each thing that is told: of two edits in one turn the cheaper, or the one that is made."""
    order = sorted(fixes, key=lambda fix: (fix.means != "instruct", fix.means == "cut", fix.price))
    chosen = [fix for fix in order if _is_done(base.plan, fix)]
    told: set[str] = set()
    for fix in order:
        words = _describe(fix, base.plan, teller)
        better = next((one for one in chosen if _describe(one, base.plan, teller) == words), fix)
        if words in told:
            continue
        told.add(words)
        if fix.means == "cut" and fix.plan.after > _TOO_MUCH * fix.plan.before:
            continue
        yield better


def _ref(name: str) -> BlockRef:
    entry, _, block = name.rpartition("/")
    return BlockRef(entry, int(block))


def _is_done(plan: Plan, fix: Fix) -> bool:
    edits, changes = plan.edits, fix.changes
    return (
        fix.proved
        and set(changes.get("pins", ())) <= set(edits.pins)
        and ("cut" not in changes or changes["cut"] == edits.cut)
        and all(edits.settings.get(key) == value for key, value in changes.get("settings", {}).items())
    )


def _tell(
    model: WorkbenchModel, told: Told, teller: Teller, base: Base, fixes: Iterator[Fix]
) -> list[StoryFix]:
    out: list[StoryFix] = []
    for fix in islice(fixes, MOST):
        done = _is_done(base.plan, fix)
        edits = (_take_back if done else _apply)(base.plan.edits, fix)
        other = _make(base.plan, edits) if done else _made(model, base.plan, edits)
        if other is None:
            continue
        tokens = base.plan.after - other.after if done else other.after - base.plan.after
        tokens = tokens if fix.proved else fix.price
        request = max(base.plan.after, other.after)
        money = price_tokens(model_of(base.plan.session), tokens, request=request) if tokens >= 0 else None
        price = "" if money is None else str(money)
        (does, did), words = _VERBS[fix.means], _describe(fix, base.plan, teller)
        cost = f"{tokens:+,} tokens" + (f", {price} a request" if price else "")
        out.append(
            StoryFix(
                id=f"{fix.means} {','.join(fix.changes.get('pins', ())) or fix.changes.get('cut', words)}",
                does="Undo" if done else does,
                words=f"✓ kept by {_KEPT_BY[fix.means]}: {words}" if done else words,
                tokens=tokens,
                price=price,
                done=done,
                said=f"Taken back: {does.lower()} {words}." if done else f"{did} {words}: {cost}.",
                changes=_changes(model, told, base.plan, edits) if fix.proved else StoryChanges(),
                recipe=fix.text or (base.plan if done else other).recipe,
            )
        )
    return out


def _apply(edits: Edits, fix: Fix) -> Edits:
    changes = fix.changes
    return edits.model_copy(
        update={
            "pins": tuple(dict.fromkeys([*edits.pins, *changes.get("pins", ())])),
            "settings": {**edits.settings, **changes.get("settings", {})},
            "cut": changes.get("cut", edits.cut),
        }
    )


def _take_back(edits: Edits, fix: Fix) -> Edits:
    pins, settings = fix.changes.get("pins", ()), fix.changes.get("settings", {})
    return edits.model_copy(
        update={
            "pins": tuple(pin for pin in edits.pins if pin not in pins),
            "settings": {key: value for key, value in edits.settings.items() if key not in settings},
            "cut": None if "cut" in fix.changes else edits.cut,
        }
    )


def _made(model: WorkbenchModel, plan: Plan, edits: Edits) -> Plan | None:
    """The plan that a click makes, with the summary that was written for it, if one was."""
    other = _make(plan, edits)
    if other is None or plan.policy.name == RECORDED.name:
        return other
    return model.fill_in(other)


def _describe(fix: Fix, plan: Plan, teller: Teller) -> str:
    """Name the target of a fix: "the answer in turn 2"."""
    if fix.means == "pin":
        pins = fix.changes["pins"]
        more = f" and {plural(len(pins) - 1, 'more block')}" if len(pins) > 1 else ""
        lines = f": {fix.holds}" if "lines" in fix.holds else ""
        return f"{teller.label(_ref(pins[0]))}{more}{lines}"
    if fix.means == "cut":
        name = str(fix.changes["cut"])
        turn = teller.turn(BlockRef(name, 0))
        return f"in turn {turn}" if turn else f"at {cut_text(name, 40)}"
    if fix.means == "carry":
        return "a list of changed files in the summary"
    if fix.means == "instruct":
        return "this sentence for the summary instructions: asked for, not proved"
    ((key, value),) = fix.changes["settings"].items()
    kind, _, name = key.partition(".")
    # As the rule will say it.
    rule = next(one for one in plan.policy.parts if one.kind == kind)
    return rule.model_copy(update={name: value}).sentence.replace(str(value), f"{value:,}")


def _changes(model: WorkbenchModel, told: Told, plan: Plan, edits: Edits) -> StoryChanges:
    """The inputs that differ from those on the screen."""
    given = model.inputs
    at = str(plan.session.leaf or "")
    here = at == model.plan.session.leaf
    # What nobody chose is named, since an edit may make it another.
    chosen = plan.policy.name if given["policy"] == AUTO else given["policy"]
    policy = RECORDED.name if told.recorded is not None else chosen
    moved = not here or policy != given["policy"]
    cut, settings, pins = edits.cut or "", dict(edits.settings), list(edits.pins)
    return StoryChanges(
        UNSET if here else at,
        UNSET if policy == given["policy"] else policy,
        cut if moved or cut != given["cut"] else UNSET,
        settings if moved or settings != given["settings"] else UNSET,
        pins if moved or pins != given["pins"] else UNSET,
    )
