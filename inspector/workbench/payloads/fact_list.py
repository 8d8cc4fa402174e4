"""The list of a session's facts with their outcomes.

Results are cached until the session grows. `story` explains one fact; `marks` builds the marks on the
timeline and in a summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from ...errors import EditError
from ...facts.extract.collect import BY, KINDS, OPERATIONS
from ...facts.facts import Fact, Facts
from ...facts.kind_words import name_kinds
from ...facts.outcomes import MISSING, OUTCOMES, WORST_FIRST, Outcome, read_outcome
from ...facts.trace import find_whole, trace_facts, trace_moves
from ...facts.traced import Trace, TracedFact, find_verdict
from ...planning.plan import Plan
from ...redaction.cut import cut_text
from ...session.queries import find_move, number_compactions
from ...session.session import Session
from ...session.tree import Bools, Ints
from ...text import printable
from ..model import WorkbenchModel
from ..words import label_of
from .base_payload import Labelled, Payload
from .search import MOST_ROWS, FactHit
from .titles import title_path

MOST_FACTS = 500
MOST_FORM = 400
MOST_MARKS = 3
"""Recorded compactions that have a column in the list."""
_SORTS = tuple(name for kind in KINDS for name in ((kind, "given") if kind == "constraint" else (kind,)))
"""The kinds in the order of the list; `given` are rules that no user said: of a harness, or in an output."""
UNLESS_NAMED = "absent unless named"
"""The short form of `UNLESS`, for a summary that is not written yet."""
UNLESS = label_of("at_risk")
GONE = "it is said on another path of this session, not on this one"
NO_FACTS = "Nothing said so far is a path, a command, an error or anything else that is looked for."


class FactRound(Payload, frozen=True):
    """Outcome of a fact after a recorded compaction; "" if the fact came later.

    `bad` says that this compaction left nothing of it, or something false; `judged` that the reader judged it
    not to be lost.
    """

    outcome: Outcome | Literal[""]
    stood: bool
    bad: bool
    judged: bool = False


class FactRow(Payload, frozen=True, kw_only=True):
    """A fact in the list. Turns are 0-based.

    `sort` is the kind under which it is listed (`sort_of`). `title` is the text in the list; a long path is
    shortened in its middle. `rounds` holds the outcomes after the recorded compactions, in the order of the
    reply's `marks`. `stood` is False if the fact was not readable before; an absent fact is then not `bad`,
    nor while its summary is not written yet.
    """

    number: int
    kind: str
    sort: str
    form: str
    title: str
    outcome: Outcome
    stood: bool
    bad: bool
    judged: bool
    rounds: list[FactRound]
    last_turn: int


class FactKind(Labelled, frozen=True):
    """Number of facts of a kind in the context before, and of these with each outcome."""

    total: int
    outcomes: dict[Outcome, int]


class FactsReply(Payload, frozen=True, kw_only=True):
    """The matching facts; `rows` are those asked for; `kinds` counts all facts, without the filter.

    `marks` name the recorded compactions of the rows, at most those nearest to the point in time. `absent` is
    the label of that outcome for this plan. `sentence` says why the list is empty, or is "".
    """

    query: str
    kind: str
    outcome: str
    total: int
    rows: list[FactRow]
    marks: list[str]
    kinds: list[FactKind]
    absent: str
    sentence: str


class FactListing(NamedTuple):
    """A plan's trace, and the same in `order`; a placeholder for its summary is not read.

    `whole` is the session that `facts` are of; `live_row` (int32) the row in the context of each block of the
    file, -1 outside.
    """

    plan: Plan
    whole: Session
    facts: Facts
    trace: Trace
    order: tuple[TracedFact, ...]
    live_row: Ints


_WEIGHTS = np.array([*({"created": 0, "edited": 0, "deleted": 0}.get(did, 1) for did in OPERATIONS), 2])
_WEIGHTS[OPERATIONS.index("listed")] = 2


def find_listing(model: WorkbenchModel, place: int, *, planned: bool = False) -> FactListing:
    """Return the facts at the point in time with the cut at a place. Raises `EditError` for an invalid cut.

    With `planned` these are the plan's facts even while the recorded compaction, with its own cut, is shown.
    """
    beside = planned and model.looked_at is not None
    plan = model.plan if beside else plan_at(model, place)
    cached: list[FactListing] = model.cache.setdefault("listings", [])
    for listing in cached:
        if listing.plan is plan:
            return listing
    whole = find_whole(plan)
    facts = whole.facts
    trace = trace_facts(facts, plan, placeholder=False)
    start, live = plan.session.tree.start, plan.session.live
    live_row = np.full(int(start[-1]), -1, np.int32)
    live_row[start[live.entries[live.position]] + live.block] = np.arange(len(live.position))
    listing = FactListing(plan, whole, facts, trace, _sort(facts, trace), live_row)
    cached[:] = [*cached[-3:], listing]
    return listing


def find_mentions(listing: FactListing, first: int, last: int) -> Bools:
    """Return which occurrences of facts are in the rows from `first` up to but not including `last`."""
    facts = listing.facts
    rows = listing.live_row[listing.plan.session.tree.start[facts.entry] + facts.block]
    inside: Bools = (rows >= first) & (rows < last)
    return inside


def plan_at(model: WorkbenchModel, place: int) -> Plan:
    """Return the shown plan with its cut at a place; at 0 the plan itself if it makes no cut."""
    plan = model.shown
    if place == (plan.place or 0):
        return plan
    if not 0 <= place < len(plan.cuts):
        raise IndexError(f"there is no place {place} in this context")
    cut = plan.cuts[place]
    if not cut.legal:
        raise EditError("cut", cut.entry, cut.sentence)
    base, moved = model.cache.get("moved", (None, {}))
    if base is not plan:
        moved = {}
        model.cache["moved"] = (plan, moved)
    if place not in moved:
        edits = plan.edits.model_copy(update={"cut": cut.entry})
        moved.clear()
        moved[place] = plan.with_edits(edits)
    moved_plan: Plan = moved[place]
    return moved_plan


def _sort(facts: Facts, trace: Trace) -> tuple[TracedFact, ...]:
    """What is gone first, by kind; what was changed before what was read or only named; the last said first.

    What was gone before comes last, and of its kind a bare "ok".
    """
    session = trace.scene.session
    where = session.path_index.astype(np.int64)
    last = np.full(len(facts), -1, np.int64)
    # Beyond any block's number in its entry.
    np.maximum.at(last, facts.fact, where[facts.entry] * (1 << 24) + facts.block)
    # Operation -1 means no operation and indexes the last entry.
    done = np.full(len(facts), len(_WEIGHTS), np.int64)
    here = where[facts.entry] >= 0
    np.minimum.at(done, facts.fact[here], _WEIGHTS[facts.operation[here]])
    # The outcome of what was gone is looked up for the rows that are shown, and is no part of the order.
    number, gone = trace.number, ~trace.stood
    # The code -1 of what was gone takes the last rank.
    rank = np.array([*(WORST_FIRST.index(name) for name in OUTCOMES), len(OUTCOMES)])[trace.outcome]
    bare = facts.rank[number] == 0
    order = np.lexsort((-last[number], done[number], bare, facts.kind[number], rank, gone))
    return tuple(trace.traced[at] for at in order.tolist())


def list_facts(model: WorkbenchModel, query: Mapping[str, Any]) -> FactsReply:
    """Return the matching facts with the cut at `place`, from `from` to `to`, and the counts.

    `query` is a part of the form as it is shown, in any case; `kind` and `outcome` are names, "" for all.
    With an `outcome` only facts that were in the context before are listed, as in `kinds`. With `rowFrom` and
    `rowTo` only facts that a block in these rows states are listed and counted.
    """
    place, text = int(query["place"]), str(query.get("query", ""))
    kind, outcome = str(query.get("kind", "")), read_outcome(str(query.get("outcome", "")))
    first = max(int(query.get("from", 0)), 0)
    last = min(int(query.get("to", first + MOST_FACTS)), first + MOST_FACTS)
    listing = find_listing(model, place, planned=True)
    needle = printable(text).casefold()
    numbers: set[int] | None = None
    if "rowTo" in query:
        inside = find_mentions(listing, int(query.get("rowFrom", 0)), int(query["rowTo"]))
        numbers = set(listing.facts.fact[inside].tolist())
    match = [
        traced
        for traced in listing.order
        if (numbers is None or traced.fact.number in numbers)
        and kind in ("", sort_of(traced.fact))
        and (not outcome or (traced.outcome == outcome and traced.stood and not is_judged(model, traced)))
        and (not needle or needle in printable(traced.fact.form).casefold())
    ]
    shown = match[first:last]
    rounds = _find_rounds(listing)
    return FactsReply(
        query=text,
        kind=kind,
        outcome=outcome,
        total=len(match),
        rows=[
            _row(model, listing, traced, [_round(model, of, traced.fact) for _, of in rounds])
            for traced in shown
        ],
        marks=[sign for sign, _ in rounds],
        kinds=_kinds(model, listing.trace, numbers),
        absent=UNLESS_NAMED if listing.plan.is_unwritten else label_of("absent"),
        sentence="" if len(listing.trace) else NO_FACTS,
    )


def search_facts(model: WorkbenchModel, words: str) -> list[FactHit]:
    """The facts whose form holds the words, in the order of the list; none before facts have been found."""
    if "facts" not in model.ledger.session.__dict__:
        return []
    place = model.plan.place
    query = {"place": len(model.plan.cuts) - 1 if place is None else place, "query": words, "to": MOST_ROWS}
    rows = list_facts(model, query).rows
    return [
        FactHit(row.number, row.kind, row.sort, row.form, label_of(row.outcome), row.last_turn)
        for row in rows
    ]


def sort_of(fact: Fact) -> str:
    """Return the kind under which a fact is listed: a rule that no user said is not one of the user's."""
    if fact.kind != "constraint":
        return fact.kind
    facts = fact.facts
    start, end = facts.offset[fact.number : fact.number + 2].tolist()
    return fact.kind if (facts.by[start:end] == BY.index("user")).any() else "given"


def _find_rounds(listing: FactListing) -> list[tuple[str, Trace]]:
    """Return the traces of the recorded compactions nearest to the point in time, each with its sign."""
    session, whole = listing.plan.session, listing.whole
    named = {entry: name for entry, name in number_compactions(whole).items() if name.kind == "compact"}
    on_path = {session.entries[i].id for i in session.path}
    passed = sum(entry in on_path for entry in named)
    first = max(0, min(passed - 1, len(named) - MOST_MARKS))
    entries = [whole[entry] for entry in list(named)[first : first + MOST_MARKS]]
    moves = [find_move(whole, entry) for entry in entries]
    traces = trace_moves(whole, listing.facts, moves)
    return [(named[trace.scene.entry.id].sign, trace) for trace in traces if trace.scene.entry is not None]


def _round(model: WorkbenchModel, trace: Trace, fact: Fact) -> FactRound:
    if (fact.kind, fact.form) not in trace:
        return FactRound("", False, False)
    traced = trace[fact.kind, fact.form]
    judged = is_judged(model, traced)
    bad = is_bad(model, traced) and not judged
    return FactRound(traced.outcome, traced.stood, bad, judged)


def is_judged(model: WorkbenchModel, traced: TracedFact) -> bool:
    """Return whether the reader judged a fact not to be lost in its compaction or plan."""
    return find_verdict(model.session, traced) == "not lost"


def may_be_named(traced: TracedFact) -> bool:
    """Whether a summary that is not written yet is all that could still name a fact."""
    plan = traced.scene.plan
    return plan is not None and plan.is_unwritten and traced.stood and traced.outcome == "absent"


def is_bad(model: WorkbenchModel, traced: TracedFact) -> bool:
    """Whether a fact that could be read before is missing or false after, or is so for the reader."""
    missing = traced.outcome in MISSING or find_verdict(model.session, traced) == "lost"
    return traced.stood and missing and not may_be_named(traced)


def _row(model: WorkbenchModel, listing: FactListing, traced: TracedFact, rounds: list[FactRound]) -> FactRow:
    fact, cwd = traced.fact, listing.plan.session.cwd
    judged = is_judged(model, traced)
    return FactRow(
        number=fact.number,
        kind=fact.kind,
        sort=sort_of(fact),
        form=cut_text(fact.form, MOST_FORM),
        title=cut_text(title_path(fact.form, cwd) if fact.kind == "file" else fact.form, MOST_FORM),
        outcome=traced.outcome,
        stood=traced.stood,
        bad=is_bad(model, traced) and not judged,
        judged=judged,
        rounds=rounds,
        last_turn=listing.trace.scene.session.turn_of.get(traced.said[-1].entry, 1) - 1,
    )


def find_fact(facts: Facts, query: Mapping[str, Any]) -> Fact:
    """Return the fact of the query's kind and form, if both are given: numbers differ between paths."""
    number, called = int(query["number"]), (query.get("kind"), query.get("form"))
    if None not in called and called in facts:
        return facts[str(called[0]), str(called[1])]
    if not 0 <= number < len(facts):
        raise IndexError(f"there is no fact {number}; {len(facts):,} were found")
    fact = next(islice(facts.values(), number, None))
    if None not in called and called != (fact.kind, cut_text(fact.form, MOST_FORM)):
        raise LookupError(GONE)
    return fact


def _kinds(model: WorkbenchModel, trace: Trace, numbers: set[int] | None) -> list[FactKind]:
    """Count the facts of each kind and outcome that were in the context before; with `numbers` only these."""
    counts: dict[str, dict[Outcome, int]] = {}
    counted = [
        traced for traced in trace if traced.stood and (numbers is None or traced.fact.number in numbers)
    ]
    totals = Counter(sort_of(traced.fact) for traced in counted)
    for traced in counted:
        outcomes = counts.setdefault(sort_of(traced.fact), dict.fromkeys(OUTCOMES, 0))
        outcomes[traced.outcome] += not is_judged(model, traced)
    return [FactKind(kind, name_kinds(kind), totals[kind], counts[kind]) for kind in _SORTS if kind in counts]
