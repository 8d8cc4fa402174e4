"""The facts of two compared requests: those that only one of them retains, and those that both do.

A request lost the facts that `findings` lists for it: the tabs Context and Findings count and name the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from ...facts.kind_words import name_kind
from ...facts.lint.check import list_essential, list_losses
from ...facts.lint.codes import LintFinding
from ...facts.outcomes import CODE, RETAINED, Outcome
from ...facts.trace import trace_facts
from ...facts.traced import Trace, TracedFact
from ...planning.plan import Plan
from ...redaction.cut import cut_text
from ..model import RecordedSide, WorkbenchModel
from .base_payload import Payload
from .compared_requests import find_sides, read_pair
from .fact_list import MOST_FORM, UNLESS, FactListing, find_listing, sort_of
from .findings import describe_loss, find_recorded, name_fact, say_nothing

MOST_FACTS = 100
"""Facts listed for each column."""


class ContextFact(Payload, frozen=True):
    """A fact of a column, named as in Findings; `outcome` is its outcome on the side that lost it, or ""."""

    number: int
    kind: str
    form: str
    title: str
    note: str
    outcome: Outcome | Literal[""]


class ContextFacts(Payload, frozen=True):
    """Facts of one column; `count` includes those that are not listed."""

    count: int
    facts: list[ContextFact]


class ContextFactsReply(Payload, frozen=True):
    """Facts by the side that has them.

    Attributes:
        only_left: Facts that are missing or changed on the right alone, the most serious first.
        only_right: Facts that are missing or changed on the left alone.
        both: Essential facts that both sides keep, the latest first.
        sentence: Why losses are not known, or "".
    """

    only_left: ContextFacts
    only_right: ContextFacts
    both: ContextFacts
    sentence: str


class _SideFacts(NamedTuple):
    """Facts of one request.

    Attributes:
        retained: The facts that the request still says, by number.
        essential: The numbers of the essential facts among all.
        losses: The findings about it, by the fact's number.
        sentence: Why its losses are not known, or "".
    """

    retained: Mapping[int, TracedFact]
    essential: frozenset[int]
    losses: Mapping[int, LintFinding]
    sentence: str


def describe_context_facts(model: WorkbenchModel, query: Mapping[str, Any]) -> ContextFactsReply:
    """List the facts of the two requests of a pair, by the side that has them."""
    pair, place = read_pair(model, query), int(query["place"])
    sides = find_sides(model, pair, place)
    # An encrypted summary is shown by a plan's placeholder, and still nothing is known of its losses.
    shown = model.looked_at if pair == "before" else None
    listing = find_listing(model, place, planned=True)
    right = _read_side(model, listing, shown or sides[1] or listing.plan)
    left = _read_before(listing) if sides[0] is None else _read_side(model, listing, sides[0])
    both = left.retained.keys() & right.retained.keys() & right.essential
    return ContextFactsReply(
        _list_lost(right, left),
        _list_lost(left, right),
        _list_retained(right.retained[number] for number in sorted(both, reverse=True)),
        next(filter(None, (right.sentence, left.sentence)), ""),
    )


def _read_before(listing: FactListing) -> _SideFacts:
    """Return what the request before a compaction says: everything that could be read there."""
    trace = listing.trace
    rows = np.flatnonzero(trace.stood).tolist()
    readable = {int(trace.number[row]): trace.traced[row] for row in rows}
    return _SideFacts(readable, list_essential(trace), {}, "")


def _read_side(model: WorkbenchModel, listing: FactListing, side: Plan | RecordedSide) -> _SideFacts:
    """Return what a planned or recorded request keeps and has lost."""
    plan = side if isinstance(side, Plan) else None
    trace, sentence = _trace_side(model, listing, side)
    findings = list_losses(trace, model.session, plan)
    losses = {finding.traced.fact.number: finding for finding in findings if finding.traced is not None}
    rows = np.flatnonzero(trace.stood & np.isin(trace.outcome, [CODE[name] for name in RETAINED])).tolist()
    retained = {int(trace.number[row]): trace.traced[row] for row in rows}
    for number in losses:
        retained.pop(number, None)
    return _SideFacts(retained, list_essential(trace), losses, sentence)


def _trace_side(model: WorkbenchModel, listing: FactListing, side: Plan | RecordedSide) -> tuple[Trace, str]:
    """Return the trace of a side, and why its losses are not known."""
    if isinstance(side, Plan):
        is_shown = side is listing.plan
        trace = listing.trace if is_shown else trace_facts(listing.facts, side, placeholder=False)
        return trace, f"Planned: {UNLESS}." if side.is_unwritten else ""
    recorded = find_recorded(listing, model.session[side.mark.entry])
    is_known = recorded.trace.scene.is_known
    return recorded.trace, "" if is_known else say_nothing(recorded.trace, f"in {recorded.sign}")


def _list_lost(loser: _SideFacts, keeper: _SideFacts) -> ContextFacts:
    """Describe the facts that one side lost and the other keeps."""
    chosen = [loss for number, loss in loser.losses.items() if number in keeper.retained]
    return ContextFacts(
        len(chosen),
        [
            _describe(loss.traced, describe_loss(loss), loss.traced.outcome)
            for loss in chosen[:MOST_FACTS]
            if loss.traced is not None
        ],
    )


def _list_retained(facts: Iterable[TracedFact]) -> ContextFacts:
    retained = list(facts)
    rows = [_describe(traced, name_kind(sort_of(traced.fact))) for traced in retained[:MOST_FACTS]]
    return ContextFacts(len(retained), rows)


def _describe(traced: TracedFact, note: str, outcome: Outcome | Literal[""] = "") -> ContextFact:
    fact = traced.fact
    return ContextFact(
        fact.number, fact.kind, cut_text(fact.form, MOST_FORM), name_fact(traced), note, outcome
    )
