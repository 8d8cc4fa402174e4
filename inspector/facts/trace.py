"""Trace every fact: its sources, and how much of it can still be read after a compaction.

Takes the facts of a session and a plan or a recorded compaction, and returns a `Trace` with one `TracedFact`
for every fact said so far. Three kinds of evidence are distinguished and never added up: a recorded summary,
a placeholder for a summary that no model has written, and an encrypted summary that only its provider can
read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from ..errors import check_stopped, expect
from ..planning.plan import Plan
from ..session.garbage import paused_gc
from ..session.queries import find_move, is_earlier
from ..session.session import Session
from ..session.tree import COMPACTION
from ..tokens.memo import Memo, Same
from .fact_keys import FactKeys
from .facts import Facts
from .occurrences import Occurrences, find_occurrences
from .outcome_finder import TIERS, OutcomeFinder, TraceScope
from .outcomes import CODE, IN_FULL, OUTCOMES
from .point_in_time import PointInTime
from .remaining import Remaining, stand_live, stand_plan
from .traced import RecordedTraces, Trace, TracedFact

# Cached with the facts: it holds no tokens, so another counter does not need a new search. What is large
# is kept for the last few moments only.
_OCCURRENCES: Memo[Occurrences] = Memo(2)
_KEYS: Memo[FactKeys] = Memo(2)
_STANDING: Memo[Remaining] = Memo(4)
_OUTCOMES: Memo[PointInTime] = Memo(4)
_PLANNED: Memo[Trace] = Memo(4)
_MOVED: Memo[Trace] = Memo()
_MOVES: Memo[tuple[Remaining, Remaining]] = Memo(8)


def trace_facts(facts: Facts, plan: Plan, *, placeholder: bool = True) -> Trace:
    """Trace every fact said up to the leaf of a plan's session, in the context that the plan leaves.

    `facts` come from the plan's file. No model is called: the placeholder is read instead of a model's
    summary, and the evidence is "planned". Without `placeholder` it is not read, because a model's summary
    may not name the same facts; the texts that rules add to a summary are still read.

    >>> from inspector.demo import open_demo
    >>> from inspector.facts.facts import find_facts
    >>> from inspector.tokens.ledger import count_tokens
    >>> from inspector.planning.planner import make_plan
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session), "flue")
    >>> len(trace_facts(find_facts(session), plan)) > 100
    True
    """

    def trace() -> Trace:
        moment = find_moment(facts, plan)
        return _trace(_look_at(plan, moment.before, None, placeholder), moment)

    return _PLANNED.of(facts, trace, Same(plan), placeholder)


def _look_at(plan: Plan, before: Remaining, written: str | None, placeholder: bool) -> TraceScope:
    if written is None and not placeholder and plan.is_unwritten:
        written = ""
    return TraceScope(plan.session, before, stand_plan(plan, written), plan=plan, placeholder=placeholder)


def find_moment(facts: Facts, plan: Plan) -> PointInTime:
    """Return the facts and the context before a plan, shared by all plans at that point; cached by facts."""
    session, now = plan.session, (Same(plan.session.tree), plan.session.leaf)
    with paused_gc():  # many small objects, and no garbage
        occurrences = recall_occurrences(facts, plan.ledger.session)
        before = _STANDING.of(facts, lambda: stand_live(session), *now)
        keys = recall_keys(facts, occurrences, plan.ledger.session)
        return _OUTCOMES.of(facts, lambda: PointInTime(occurrences, session, before, keys), *now)


def recall_occurrences(facts: Facts, session: Session) -> Occurrences:
    """Return the occurrences of a file's facts; searched once for all points in time and plans."""
    return _OCCURRENCES.of(facts, lambda: find_occurrences(facts, session), Same(session.tree))


def recall_keys(facts: Facts, occurrences: Occurrences, session: Session) -> FactKeys:
    """The facts of a file by what a text that names them holds; made once, for all moments and plans."""
    return _KEYS.of(facts, lambda: FactKeys(occurrences, session), Same(session.tree))


def trace_plan(plan: Plan) -> Trace:
    """Trace the facts of the whole session up to the leaf of a plan."""
    return trace_facts(find_whole(plan).facts, plan)


def find_whole(plan: Plan) -> Session:
    """Return the session whose facts are traced for a plan: the whole session, so that they are found once,
    or the session at the plan's point in time if that is on another path."""
    whole, session = plan.ledger.session, plan.session
    return whole if is_earlier(session, whole) else plan.table.moment.session


def trace_again(
    traced: Sequence[TracedFact], plan: Plan, written: str | None = None
) -> tuple[TracedFact, ...]:
    """Trace facts in another plan of the same session, in the order given.

    The placeholder is read, or is not, as it was for them. What is partial is not compared with other files.

    Args:
        traced: The facts as traced before.
        plan: The other plan.
        written: A summary to read in the placeholder's place.
    """
    if not traced:
        return ()
    rows = [plan.session.block_row(ref) for traced_fact in traced for ref in traced_fact.said]
    first = np.concatenate(([0], np.cumsum([len(traced_fact.said) for traced_fact in traced])))
    occurrences = Occurrences(
        tuple(traced_fact.fact for traced_fact in traced), np.array(rows, np.int32), first.astype(np.int32)
    )
    scene = _look_at(plan, traced[0].scene.before, written, traced[0].scene.placeholder)
    return _trace(scene, PointInTime(occurrences, plan.session, scene.before)).traced


def trace_recorded(session: Session, facts: Facts | None = None) -> RecordedTraces:
    """Trace the facts through every recorded compaction on the path, in order.

    What was in the context right before a compaction is compared with what is right after it. If the file
    begins with a compaction, what it summarised is not in the file, and its trace has no facts.

    Args:
        session: The session to trace.
        facts: The session's facts; `session.facts` by default.

    >>> from inspector.demo import LOST_PATH, open_demo
    >>> trace_recorded(open_demo())[0][LOST_PATH].outcome
    'absent'
    """
    expect("trace_recorded", session=(session, Session), facts=(facts, Facts, None))
    own = session.facts if facts is None else facts
    rows = (session.entries[i] for i in session.path if session.tree.sort[i] == COMPACTION)
    return RecordedTraces(trace_moves(session, own, (find_move(session, entry) for entry in rows)))


def trace_moves(
    session: Session,
    facts: Facts,
    moves: Iterable[tuple[str | None, str | None, str | None]],
    numbers: Iterable[int] | None = None,
) -> Iterator[Trace]:
    """Yield the traces of facts from one leaf to another.

    Args:
        session: The session to trace.
        facts: The session's facts.
        moves: The leaf before, the leaf after, and the compaction's entry, if there is one (`find_move`).
        numbers: Numbers of the facts to trace; all by default. The partial name of a picked fact is not
            compared with names of other files.
    """
    every = recall_occurrences(facts, session)
    some = None if numbers is None else every.pick(sorted(numbers))

    def trace(start: str | None, end: str | None, name: str | None) -> Trace:
        key = Same(session.tree), start, end
        before, after = _MOVES.of(
            facts, lambda: (stand_live(session.at(start)), stand_live(session.at(end))), *key
        )
        entry = None if name is None else session[name]
        with paused_gc():  # small objects that stay, and no garbage in circles
            keys = recall_keys(facts, every, session) if some is None else None
            point = PointInTime(every if some is None else some, before.session, before, keys)
            result = _trace(TraceScope(before.session, before, after, entry=entry), point)
        if some is None:
            result.forget()
        return result

    for move in moves:
        check_stopped()
        make = partial(trace, *move)
        yield make() if some is not None else _MOVED.of(facts, make, Same(session.tree), move)


def _trace(scene: TraceScope, point: PointInTime) -> Trace:
    """Trace the facts of a point in time in a scene."""
    look, was_readable = OutcomeFinder(scene, point), point.readable
    codes, needs_search = look.judge()
    tier = np.where(was_readable, TIERS.index(scene.tier), -1).astype(np.int8)
    tier[codes == CODE["verbatim"]] = TIERS.index(scene.own_tier)
    for number in np.flatnonzero(needs_search).tolist():
        check_stopped()
        outcome = look.find(number)
        codes[number], tier[number] = CODE[outcome.outcome], TIERS.index(outcome.tier)
    outdated = [number for number in look.outdated if OUTCOMES[codes[number]] not in IN_FULL]
    whole = [
        number
        for number, later in look.replaced.items()
        if not later.rest or OUTCOMES[codes[number]] in IN_FULL
    ]
    superseded = [number for number in (*whole, *outdated) if was_readable[number]]
    codes[superseded] = CODE["superseded"]
    numbers = np.flatnonzero(point.mentioned).astype(np.int32)
    return Trace(
        scene,
        look,
        numbers,
        point.occurrences.kind[numbers],
        was_readable[numbers],
        codes[numbers],
        tier[numbers],
    )
