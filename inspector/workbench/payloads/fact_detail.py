"""One fact: where it was said, what each compaction left of it and why, what keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from msgspec import UNSET, UnsetType

from ...facts.facts import Fact
from ...facts.focus import write_focus
from ...facts.trace import trace_rounds
from ...facts.traced import Evidence, Fate, Fix, Means, TracedFact
from ...session.blocks import BlockRef
from ...session.queries import describe_words
from ...text import printable
from ..model import WorkbenchModel
from .base_payload import Payload
from .fact_list import MOST_FORM, FactListing, find_fact, find_listing, row_of
from .marks import find_marks, step_of
from .rules import Setting
from .sections import label_mark

MOST_SAID = 200
"""Of more blocks that say a fact, half as many are shown from the first on, half up to the last."""
MOST_OTHERS = 8
UNSAID = "It has not been said up to this moment."


class FactPlace(Payload, frozen=True):
    """A block that says a fact, by whom, and what it did to it first. `row` and `step` may be -1."""

    ref: str
    row: int
    turn: int
    step: int
    by: str
    operation: str | None
    label: str


class FactLink(Payload, frozen=True):
    """What a compaction left of a fact; the plan itself comes last, with `step` -1.

    `words` is how it is written there; `stood` is False where it could not be read before either.
    """

    step: int
    label: str
    fate: Fate
    tier: Evidence
    words: str
    stood: bool


class FactRegret(Payload, frozen=True):
    """What it took to have a fact again, and the block that needed it."""

    sentence: str
    tokens: int
    price: str
    ref: str
    turn: int
    step: int


class FixChanges(Payload, frozen=True):
    """The inputs that a fix changes, for `WorkbenchModel.answer`."""

    cut: str | UnsetType = UNSET
    settings: dict[str, Setting] | UnsetType = UNSET
    pins: list[str] | UnsetType = UNSET


class FactFix(Payload, frozen=True):
    """An edit that would keep a fact; `price` are the tokens that the context is longer by."""

    means: Means
    sentence: str
    price: int
    money: str
    fate: Fate
    changes: FixChanges
    recipe: str


class FactReply(Payload, frozen=True, kw_only=True):
    """A fact. Its `fate` in the plan, and on whose word, are "" before it has been said.

    `others` are files that may be meant too by what stands of its name. `said` is the first half and the last
    half of a part where there are more than it in `said_total`.
    """

    number: int
    place: int
    kind: str
    form: str
    fate: Fate | Literal[""]
    tier: Evidence | Literal[""]
    words: str
    others: list[str]
    said: list[FactPlace]
    said_total: int
    chain: list[FactLink]
    why: str
    regrets: list[FactRegret]
    fixes: list[FactFix]
    focus: str


def describe_fact(model: WorkbenchModel, query: Mapping[str, Any]) -> FactReply:
    """One fact, its fate with the cut at `place`. Raises IndexError or LookupError where there is none."""
    place = int(query["place"])
    listing = find_listing(model, place)
    fact = find_fact(listing.facts, query)
    number = fact.number
    traced = next((one for one in listing.trace if one.fact.number == number), None)
    said = _gather_said(fact)
    shown = said if len(said) <= MOST_SAID else [*said[: MOST_SAID // 2], *said[-MOST_SAID // 2 :]]
    return FactReply(
        number=number,
        place=place,
        kind=fact.kind,
        form=printable(fact.form, MOST_FORM),
        fate=traced.fate if traced else "",
        tier=traced.tier if traced else "",
        words=printable(traced.words, MOST_FORM) if traced else "",
        others=list(traced.others[:MOST_OTHERS]) if traced else [],
        said=[_describe_said(model, listing, one) for one in shown],
        said_total=len(said),
        chain=[
            *_describe_rounds(model, listing, number),
            *([_describe_round(traced, "this plan")] if traced else []),
        ],
        why=traced.why() if traced else UNSAID,
        regrets=[
            FactRegret(mark.sentence, mark.tokens, mark.price, mark.ref, mark.turn, mark.step)
            for mark in find_marks(model, listing)
            if mark.number == number
        ],
        fixes=[_describe_fix(model, fix) for fix in (traced.fixes() if traced else ())],
        focus=write_focus([fact]),
    )


class Block(NamedTuple):
    """A block that says a fact, by whom, and what it did to it first."""

    ref: BlockRef
    by: str
    operation: str | None


def _gather_said(fact: Fact) -> list[Block]:
    """The blocks of the whole path that say a fact, each once."""
    blocks: dict[BlockRef, Block] = {}
    for said in fact.said:
        known = blocks.get(said.ref)
        if known is None or (known.operation is None and said.operation is not None):
            blocks[said.ref] = Block(said.ref, said.by, said.operation)
    return list(blocks.values())


def _describe_said(model: WorkbenchModel, listing: FactListing, said: Block) -> FactPlace:
    session, step = listing.whole, step_of(model, said.ref)
    turn = (
        int(model.history.turn[step]) if step >= 0 else listing.trace.scene.turns.get(said.ref.entry, 1) - 1
    )
    block, entry = session.block(said.ref), session[said.ref.entry]
    kind = describe_words(entry) if block.kind == "text" else block.kind.replace("_", " ")
    name = getattr(block, "name", None) or ""
    if block.kind == "tool_output":
        name = name or _tools(model, listing).get(block.call_id, "")
    label = " · ".join(part for part in (f"turn {turn + 1}", kind, printable(name, 60)) if part)
    return FactPlace(str(said.ref), row_of(listing, said.ref), turn, step, said.by, said.operation, label)


def _tools(model: WorkbenchModel, listing: FactListing) -> dict[str, str]:
    """The name of every call's tool."""
    known = model.cache.get("tools")
    if known is None or known[0] is not listing.whole:
        session = listing.whole
        blocks = (block for i in session.path for block in session.entries[i].blocks)
        known = (session, {block.id: block.name for block in blocks if block.kind == "tool_call"})
        model.cache["tools"] = known
    names: dict[str, str] = known[1]
    return names


def _describe_rounds(model: WorkbenchModel, listing: FactListing, number: int) -> list[FactLink]:
    """What every recorded compaction left of a fact that had been said by then."""
    kept = model.cache.setdefault("rounds", {})
    key = id(listing.facts), number
    if key not in kept:
        # The facts are kept beside, so that their id is nobody else's meanwhile.
        kept[key] = listing.facts, list(_find_rounds(model, listing, number))
    rounds: list[FactLink] = kept[key][1]
    return rounds


def _find_rounds(model: WorkbenchModel, listing: FactListing, number: int) -> Iterator[FactLink]:
    marks = {mark.entry: mark for mark in model.history.marks}
    for trace in trace_rounds(listing.whole, listing.facts, lambda _: (number,)):
        mark = marks.get(trace.scene.entry.id) if trace.scene.entry is not None else None
        for traced in trace:
            label = label_mark(mark.kind, mark.before, mark.after) if mark else "compaction"
            yield _describe_round(traced, label, mark.step if mark else -1)


def _describe_round(traced: TracedFact, label: str, step: int = -1) -> FactLink:
    words = printable(traced.words, MOST_FORM)
    return FactLink(step, label, traced.fate, traced.tier, words, traced.stood)


def _describe_fix(model: WorkbenchModel, fix: Fix) -> FactFix:
    sentence, changes = fix.sentence.removesuffix("."), _changes(model, fix)
    return FactFix(fix.means, sentence, fix.price, fix.money, fix.fate, changes, fix.recipe)


def _changes(model: WorkbenchModel, fix: Fix) -> FixChanges:
    cut, settings, pins = fix.edits.cut or "", dict(fix.edits.settings), list(fix.edits.pins)
    return FixChanges(
        cut if cut != model.inputs["cut"] else UNSET,
        settings if settings != model.inputs["settings"] else UNSET,
        pins if pins != model.inputs["pins"] else UNSET,
    )
