"""Fixes that keep a fact: edits that one click makes and undoes, each with its cost in tokens.

A recorded loss is fixed in the plan *As recorded*, a planned one in the plan itself.
Instructions for a summariser are only copied: nothing proves that it follows them.
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
from .fact_history import FactHistory, HistoryRow
from .fact_list import FactListing
from .rules import Setting

MOST = 5
_LIST = CarryFileOperations.model_fields["kind"].default
_TOO_MUCH = 0.95
"""A cut that leaves more than this share is not a fix."""
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
    """An edit that keeps the fact: `does` is the label of its button, `words` its object.

    If `done`, the plan on the screen already has it: `changes` then undo it, and `words` say that it keeps
    the fact. "Copy" copies the `recipe`, which holds instructions for a summariser. `tokens` is the growth of
    the total by the edit; `said` describes the edit.
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
    """The plan that the fixes edit, and the same plan without the edits that already keep the fact."""

    plan: Plan
    bare: Plan


def offer_fixes(
    model: WorkbenchModel, listing: FactListing, history_row: HistoryRow, report: FactHistory
) -> list[StoryFix]:
    """The edits that keep a fact, the cheapest of each sort first."""
    traced = history_row.traced
    if traced is None or not traced.stood:
        return []
    names = {str(ref) for ref in traced.said}
    base = _find_base(model, listing, history_row, names)
    if base is None:
        return []
    if history_row.recorded is None:
        (traced,) = trace_again([traced], base.bare)
    if traced.outcome == "verbatim":
        return []
    return _build_fixes(model, history_row, report, base, _sift(traced.fixes(base.bare), base, report))


def offer_output(model: WorkbenchModel, history_row: HistoryRow, report: FactHistory) -> list[StoryFix]:
    """Offer to pin what would have avoided the repeated call."""
    traced, recorded = history_row.traced, history_row.recorded
    if traced is None or recorded is None:
        return []
    names = {str(ref) for ref in traced.said}
    base = _recorded_plans(model, report.session.at(find_parent(report.session, recorded.entry)), names)
    if base is None:
        return []
    pins = tuple(fix for fix in traced.fixes(base.bare) if fix.means == "pin")
    return _build_fixes(model, history_row, report, base, _sift(pins, base, report))


def _find_base(
    model: WorkbenchModel, listing: FactListing, history_row: HistoryRow, names: set[str]
) -> Base | None:
    if history_row.recorded is not None:
        return _recorded_plans(model, history_row.recorded.trace.scene.session, names)
    plan = listing.plan
    return Base(plan, _without(plan, names) or plan)


def _recorded_plans(model: WorkbenchModel, moment: Session, names: set[str]) -> Base | None:
    """*As recorded* at a moment: as the person has edited it, and without what keeps the fact."""
    try:
        bare = make_plan(moment, model.ledger, RECORDED, window=model.window)
    except InspectorError:
        return None
    current_plan = model.plan
    edited = current_plan.policy.name == RECORDED.name and current_plan.session.leaf == moment.leaf
    if not edited:
        return Base(bare, bare)
    return Base(current_plan, _without(current_plan, names, cut=True) or bare)


def _without(plan: Plan, names: set[str], cut: bool = False) -> Plan | None:
    """The plan without the pins of these blocks, the lists of files, and the `cut` that a hand made."""
    edits = plan.edits
    pins = tuple(pin for pin in edits.pins if pin not in names)
    settings = {key: value for key, value in edits.settings.items() if not key.startswith(f"{_LIST}.")}
    remaining_edits = edits.model_copy(update={"pins": pins, "settings": settings})
    if cut:
        remaining_edits = remaining_edits.model_copy(update={"cut": None, "since": None})
    return plan if remaining_edits == edits else _make(plan, remaining_edits)


def _make(plan: Plan, edits: Edits) -> Plan | None:
    """Return the plan of the same policy with other edits; None if they are not valid."""
    try:
        return make_plan(plan.session, plan.ledger, plan.policy.name, edits, window=plan.table.given_window)
    except InspectorError:
        return None


def _sift(fixes: tuple[Fix, ...], base: Base, report: FactHistory) -> Iterator[Fix]:
    """Yield one fix per description: of two edits in one turn the cheaper one, or the active one."""
    order = sorted(fixes, key=lambda fix: (fix.means != "instruct", fix.means == "cut", fix.price))
    chosen = [fix for fix in order if _is_done(base.plan, fix)]
    texts: set[str] = set()
    for fix in order:
        words = _describe(fix, base.plan, report)
        better = next(
            (candidate for candidate in chosen if _describe(candidate, base.plan, report) == words), fix
        )
        if words in texts:
            continue
        texts.add(words)
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


def _build_fixes(
    model: WorkbenchModel, history_row: HistoryRow, report: FactHistory, base: Base, fixes: Iterator[Fix]
) -> list[StoryFix]:
    out: list[StoryFix] = []
    for fix in islice(fixes, MOST):
        done = _is_done(base.plan, fix)
        edits = (_take_back if done else _apply)(base.plan.edits, fix)
        other = _make(base.plan, edits) if done else _try_plan(model, base.plan, edits)
        if other is None:
            continue
        tokens = base.plan.after - other.after if done else other.after - base.plan.after
        tokens = tokens if fix.proved else fix.price
        request = max(base.plan.after, other.after)
        money = price_tokens(model_of(base.plan.session), tokens, request=request) if tokens >= 0 else None
        price = "" if money is None else str(money)
        (does, did), words = _VERBS[fix.means], _describe(fix, base.plan, report)
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
                changes=_changes(model, history_row, base.plan, edits) if fix.proved else StoryChanges(),
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


def _try_plan(model: WorkbenchModel, plan: Plan, edits: Edits) -> Plan | None:
    """The plan that a click makes, with the summary that was written for it, if one was."""
    other = _make(plan, edits)
    if other is None or plan.policy.name == RECORDED.name:
        return other
    return model.fill_in(other)


def _describe(fix: Fix, plan: Plan, report: FactHistory) -> str:
    """Name the target of a fix: "the answer in turn 2"."""
    if fix.means == "pin":
        pins = fix.changes["pins"]
        more = f" and {plural(len(pins) - 1, 'more block')}" if len(pins) > 1 else ""
        lines = f": {fix.holds}" if "lines" in fix.holds else ""
        return f"{report.label(_ref(pins[0]))}{more}{lines}"
    if fix.means == "cut":
        name = str(fix.changes["cut"])
        turn = report.turn(BlockRef(name, 0))
        where = f"in turn {turn}" if turn else f"at {cut_text(name, 40)}"
        # A cut by hand is planned by the harness's policy, which writes a summary of its own.
        return f"{where}, with the recorded summary" if plan.policy.name == RECORDED.name else where
    if fix.means == "carry":
        return "a list of changed files in the summary"
    if fix.means == "instruct":
        return "this sentence for the summary instructions: asked for, not proved"
    ((key, value),) = fix.changes["settings"].items()
    kind, _, name = key.partition(".")
    # As the rule will say it.
    rule = next(part for part in plan.policy.parts if part.kind == kind)
    sentence = rule.model_copy(update={name: value}).sentence.replace(str(value), f"{value:,}")
    return f"{rule.label}: {sentence}"


def _changes(model: WorkbenchModel, history_row: HistoryRow, plan: Plan, edits: Edits) -> StoryChanges:
    """The inputs that differ from those on the screen."""
    inputs = model.inputs
    at = str(plan.session.leaf or "")
    here = at == model.plan.session.leaf
    # Name a policy that the user did not choose, since an edit may change it.
    chosen = plan.policy.name if inputs["policy"] == AUTO else inputs["policy"]
    policy = RECORDED.name if history_row.recorded is not None else chosen
    moved = not here or policy != inputs["policy"]
    cut, settings, pins = edits.cut or "", dict(edits.settings), list(edits.pins)
    return StoryChanges(
        UNSET if here else at,
        UNSET if policy == inputs["policy"] else policy,
        cut if moved or cut != inputs["cut"] else UNSET,
        settings if moved or settings != inputs["settings"] else UNSET,
        pins if moved or pins != inputs["pins"] else UNSET,
    )
