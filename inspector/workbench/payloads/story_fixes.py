"""What would keep a fact: edits that one click makes, each with the tokens that THE total then grows by.

A loss that the file records is mended in the plan *As recorded*; one that is planned, in the plan itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from ...errors import InspectorError
from ...facts.trace import trace_one
from ...facts.traced import Fix
from ...planning.plan import Plan, make_plan
from ...policies.builtin.recorded import RECORDED
from ...policies.policy import Edits
from ...policies.rules.carry_file_operations import CarryFileOperations
from ...redaction.cut import cut_text
from ...session.blocks import BlockRef
from ...session.queries import find_parent
from ...session.session import Session
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


class StoryChanges(Payload, frozen=True):
    """The inputs that a fix sets, for `WorkbenchModel.answer`; what is not there stays."""

    at: str | UnsetType = UNSET
    policy: str | UnsetType = UNSET
    cut: str | UnsetType = UNSET
    settings: dict[str, Setting] | UnsetType = UNSET
    pins: list[str] | UnsetType = UNSET


class StoryFix(Payload, frozen=True):
    """An edit that keeps the fact: `does` is the word of its button, `words` what it is done to.

    `done` says that the plan on the screen has it. `tokens` is what the total grows, or has grown, by; `said`
    tells what was done.
    """

    id: str
    does: str
    did: str
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
        traced = trace_one(traced, base.bare)
    if traced.outcome == "verbatim":
        return []
    found = traced.fixes(base.bare)
    return _tell(model, told, teller, base, list(_sift(found, base, teller)))


def offer_output(model: WorkbenchModel, told: Told, teller: Teller) -> list[StoryFix]:
    """Offer to pin the earlier result, which would have avoided the repeated call."""
    again, recorded = told.again, told.recorded
    if again is None or recorded is None:
        return []
    answers = {call: output for output, call in teller.calls.items()}
    ref = answers.get(again.before, again.before)
    plans = _recorded_plans(model, teller.session.at(find_parent(teller.session, recorded.entry)), {str(ref)})
    if plans is None or ref not in set(plans.bare.session.live_refs()):
        return []
    return _tell(model, told, teller, plans, [("pin", str(ref), {"pins": (str(ref),)})])


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


Candidate = tuple[str, str, dict[str, object]]


def _sift(fixes: tuple[Fix, ...], base: Base, teller: Teller) -> Iterator[Candidate]:
    """One fix for each thing that is told: of two edits in one turn the cheaper, or the one that is made."""
    order = sorted(fixes, key=lambda fix: (fix.means == "cut", fix.price))
    chosen = [fix for fix in order if _is_done(base.plan, fix.changes)]
    told: set[str] = set()
    for fix in order:
        words = _word(fix, teller)
        better = next((one for one in chosen if _word(one, teller) == words), fix)
        if words in told:
            continue
        told.add(words)
        if fix.means == "cut" and fix.plan.after > _TOO_MUCH * fix.plan.before:
            continue
        yield better.means, _id(better), dict(better.changes)


def _id(fix: Fix) -> str:
    return (
        next(iter(fix.changes["pins"])) if fix.means == "pin" else str(fix.changes.get("cut") or fix.sentence)
    )


def _word(fix: Fix, teller: Teller) -> str:
    return f"{fix.means} {teller.label(_ref(fix.changes['pins'][0]))}" if fix.means == "pin" else fix.sentence


def _ref(name: str) -> BlockRef:
    entry, _, block = name.rpartition("/")
    return BlockRef(entry, int(block))


def _is_done(plan: Plan, changes: object) -> bool:
    assert isinstance(changes, dict)
    edits = plan.edits
    return (
        set(changes.get("pins", ())) <= set(edits.pins)
        and ("cut" not in changes or changes["cut"] == edits.cut)
        and all(edits.settings.get(key) == value for key, value in changes.get("settings", {}).items())
    )


def _tell(
    model: WorkbenchModel, told: Told, teller: Teller, base: Base, found: list[Candidate]
) -> list[StoryFix]:
    out: list[StoryFix] = []
    for means, name, changes in found[:MOST]:
        done = _is_done(base.plan, changes)
        edits = _apply(base.plan.edits, changes)
        other = _take_back(base.plan, changes) if done else _made(model, base.plan, edits)
        if other is None:
            continue
        tokens = base.plan.after - other.after if done else other.after - base.plan.after
        request = max(base.plan.after, other.after)
        money = price_tokens(model_of(base.plan.session), tokens, request=request) if tokens >= 0 else None
        price = "" if money is None else str(money)
        does, did, words = _describe(means, name, changes, base.plan, teller)
        cost = f"{tokens:+,} tokens" + (f", {price} a request" if price else "")
        out.append(
            StoryFix(
                id=f"{means} {name}",
                does=does,
                did=did,
                words=words,
                tokens=tokens,
                price=price,
                done=done,
                said=f"{did} {words}: {cost}.",
                changes=_changes(model, told, base.plan, edits),
                recipe=(base.plan if done else other).recipe,
            )
        )
    return out


def _apply(edits: Edits, changes: dict[str, object]) -> Edits:
    pins, settings = changes.get("pins", ()), changes.get("settings", {})
    assert isinstance(settings, dict)
    assert isinstance(pins, list | tuple)
    return edits.model_copy(
        update={
            "pins": tuple(dict.fromkeys([*edits.pins, *pins])),
            "settings": {**edits.settings, **settings},
            "cut": changes.get("cut", edits.cut),
        }
    )


def _made(model: WorkbenchModel, plan: Plan, edits: Edits) -> Plan | None:
    """The plan that a click makes, with the summary that was written for it, if one was."""
    other = _make(plan, edits)
    if other is None or plan.policy.name == RECORDED.name:
        return other
    return model.fill_in(other)


def _take_back(plan: Plan, changes: dict[str, object]) -> Plan | None:
    """The plan without an edit that it has."""
    pins, settings = changes.get("pins", ()), changes.get("settings", {})
    assert isinstance(settings, dict)
    assert isinstance(pins, list | tuple)
    edits = plan.edits.model_copy(
        update={
            "pins": tuple(pin for pin in plan.edits.pins if pin not in pins),
            "settings": {key: v for key, v in plan.edits.settings.items() if key not in settings},
            "cut": None if "cut" in changes else plan.edits.cut,
        }
    )
    return _make(plan, edits)


def _describe(
    means: str, name: str, changes: dict[str, object], plan: Plan, teller: Teller
) -> tuple[str, str, str]:
    """What a fix does, did, and to what: "Pin", "Pinned", "the answer in turn 2"."""
    if means == "pin":
        return "Pin", "Pinned", teller.label(_ref(name))
    if means == "cut":
        turn = teller.turn(BlockRef(str(changes["cut"]), 0))
        return "Cut", "Cut", f"in turn {turn}" if turn else f"at {cut_text(name, 40)}"
    if means == "carry":
        return "Turn on", "Turned on", "a list of changed files in the summary"
    settings = changes.get("settings", {})
    assert isinstance(settings, dict)
    (key, value), *_ = settings.items()
    kind, _, name = key.partition(".")
    # As the rule will say it.
    rule = next(one for one in plan.policy.parts if one.kind == kind)
    said = rule.model_copy(update={name: value}).sentence
    return "Set", "Set", said.replace(str(value), f"{value:,}")


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
