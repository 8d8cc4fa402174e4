"""What becomes of every fact: where it was said, and what of it can still be read after a compaction.

In go the facts of a session and a plan, or a recorded compaction; out comes a `Trace`, one `TracedFact` for
every fact said so far. Three kinds of evidence are told apart and never added up: a summary that the file
holds, a stand-in for one that no model has written, and one that nobody but its provider can read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from ..errors import check_stopped, expect
from ..planning.plan import Plan
from ..session.entries import Entry
from ..session.garbage import paused_gc
from ..session.queries import find_end, find_parent
from ..session.session import Session
from ..session.tree import COMPACTION
from ..tokens.memo import Memo, Same
from .fact_keys import FactKeys
from .facts import Facts
from .occurrences import Occurrences, find_occurrences
from .outcome_finder import OutcomeFinder, PointInTimeOutcomes, find_known, find_stood
from .outcomes import CODE, IN_FULL, OUTCOMES, Outcome
from .recorded_traces import RecordedTraces
from .remaining import Remaining, stand_live, stand_plan
from .traced import TIERS, Trace, TracedFact, TraceScope

# Kept with the facts, as no tokens are in it: counted anew, nothing of it is looked for again. What is large
# is kept for the last few moments only.
_OCCURRENCES: Memo[Occurrences] = Memo(2)
_KEYS: Memo[FactKeys] = Memo(2)
_STANDING: Memo[Remaining] = Memo(4)
_OUTCOMES: Memo[PointInTimeOutcomes] = Memo(4)
_RECORDED: Memo[RecordedTraces] = Memo(1)
_MOVES: Memo[tuple[Remaining, Remaining]] = Memo(8)


def trace_facts(facts: Facts, plan: Plan, *, placeholder: bool = True) -> Trace:
    """What becomes of every fact said up to the leaf of a plan's session, in the context the plan leaves.

    `facts` are those of the plan's file. Nothing is asked of a model: where one would write a summary the
    stand-in is read, and the evidence is "planned". Without `placeholder` the stand-in is not, for what
    it happens to name a model's summary may not; what rules add to a summary is read all the same.

    >>> from inspector.demo import open_demo
    >>> from inspector.facts.facts import find_facts
    >>> from inspector.tokens.ledger import count_tokens
    >>> from inspector.planning.planner import make_plan
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session), "flue")
    >>> len(trace_facts(find_facts(session), plan)) > 100
    True
    """
    moment = find_moment(facts, plan)
    scene = _look_at(plan, moment.before, None, placeholder)
    return _trace(moment.found, scene, moment)


def _look_at(plan: Plan, before: Remaining, written: str | None, placeholder: bool) -> TraceScope:
    if written is None and not placeholder and plan.is_unwritten:
        written = ""
    return TraceScope(plan.session, before, stand_plan(plan, written), plan=plan, placeholder=placeholder)


def find_moment(facts: Facts, plan: Plan) -> PointInTimeOutcomes:
    """What every plan of a moment asks of the facts and of what stood before it; kept beside the facts."""
    session, now = plan.session, (Same(plan.session.tree), plan.session.leaf)
    with paused_gc():  # a pattern for each fact, and no garbage
        found = recall_occurrences(facts, plan.ledger.session)
        before = _STANDING.of(facts, lambda: stand_live(session), *now)
        keys = recall_keys(facts, found, plan.ledger.session)
        return _OUTCOMES.of(facts, lambda: PointInTimeOutcomes(found, before, keys), *now)


def recall_occurrences(facts: Facts, session: Session) -> Occurrences:
    """Where the facts of a file are named: looked for once, for all moments and plans."""
    return _OCCURRENCES.of(facts, lambda: find_occurrences(facts, session), Same(session.tree))


def recall_keys(facts: Facts, found: Occurrences, session: Session) -> FactKeys:
    """The facts of a file by what a text that names them holds; made once, for all moments and plans."""
    return _KEYS.of(facts, lambda: FactKeys(found, session), Same(session.tree))


def trace_plan(plan: Plan) -> Trace:
    """The same for the facts that `session.facts` knows, which are those of the whole path once found."""
    whole, session = plan.ledger.session, plan.session
    # A moment on the path is asked for the facts of the whole path, so that they are found once.
    if whole.path[: len(session.path)] != session.path:
        whole = plan.table.moment.session
    return trace_facts(whole.facts, plan)


def trace_one(traced: TracedFact, plan: Plan, written: str | None = None) -> TracedFact:
    """The same fact in another plan of the same session; `written` is a summary to read for the stand-in.

    The stand-in itself is read, or is not, as it was for the fact.
    """
    return trace_again([traced], plan, written)[0]


def trace_again(
    traced: Sequence[TracedFact], plan: Plan, written: str | None = None
) -> tuple[TracedFact, ...]:
    """The same facts, in the order given. What is partial is not told apart from other files here."""
    if not traced:
        return ()
    session = plan.session
    start, index = session.tree.start, session.tree.index
    rows = [int(start[index[ref.entry]]) + ref.block for one in traced for ref in one.said]
    first = np.concatenate(([0], np.cumsum([len(one.said) for one in traced])))
    found = Occurrences(tuple(one.fact for one in traced), np.array(rows, np.int32), first.astype(np.int32))
    scene = traced[0].scene
    return _trace(found, _look_at(plan, scene.before, written, scene.placeholder)).traced


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
    return _RECORDED.of(
        own, lambda: RecordedTraces(trace_rounds(session, own)), Same(session.tree), session.leaf
    )


def trace_rounds(
    session: Session, facts: Facts, pick: Callable[[Entry], Iterable[int]] | None = None
) -> Iterator[Trace]:
    """Yield the traces of `trace_recorded` one after another.

    Args:
        session: The session to trace.
        facts: The session's facts.
        pick: Numbers of the facts to trace for a compaction; all by default. The partial name of a picked
            fact is not compared with names of other files.
    """
    found = recall_occurrences(facts, session)
    for i in session.path:
        if session.tree.sort[i] != COMPACTION:
            continue
        check_stopped()
        entry = session.entries[i]
        picked = found if pick is None else found.pick(pick(entry))
        before, after = session.at(find_parent(session, entry)), session.at(find_end(session, entry.id))
        keys = recall_keys(facts, found, session) if picked is found else None
        scene = TraceScope(before, stand_live(before), stand_live(after), entry=entry)
        yield _trace(picked, scene, keys=keys)


def trace_moves(
    session: Session,
    facts: Facts,
    moves: Iterable[tuple[str | None, str | None, str | None]],
    numbers: Iterable[int] | None = None,
) -> Iterator[Trace]:
    """The same from one leaf to another, each with the compaction's entry between them, if there is one; of
    the facts with these `numbers`, or of all."""
    found = recall_occurrences(facts, session)
    if numbers is not None:
        found = found.pick(sorted(numbers))
    for start, end, name in moves:
        before, after = _stand_around(facts, session, start, end)
        entry = None if name is None else session[name]
        keys = None if numbers is not None else recall_keys(facts, found, session)
        yield _trace(found, TraceScope(before.session, before, after, entry=entry), keys=keys)


def _stand_around(
    facts: Facts, session: Session, start: str | None, end: str | None
) -> tuple[Remaining, Remaining]:
    """What stood at two leaves: read once for every fact whose story goes from the one to the other."""

    def make() -> tuple[Remaining, Remaining]:
        return stand_live(session.at(start)), stand_live(session.at(end))

    return _MOVES.of(facts, make, Same(session.tree), start, end)


def _trace(
    found: Occurrences,
    scene: TraceScope,
    moment: PointInTimeOutcomes | None = None,
    keys: FactKeys | None = None,
) -> Trace:
    """Trace the facts in a scene.

    Args:
        found: The facts.
        scene: What stood before and stands after.
        moment: What many plans ask of the context before, if there are many.
        keys: The facts by what a text that names them holds; without it each is looked for.
    """
    said, known = find_known(found, scene.session) if moment is None else (moment.said, moment.known)
    look = OutcomeFinder(found, scene, said, known, None if moment is None else moment.replaced)
    nothing: Outcome = "unknown" if scene.is_unreadable else "absent"
    if moment is not None:
        stood = moment.stood
        codes, asked = moment.judge(scene.after, nothing)
    else:
        stood = find_stood(found, known, scene.before, keys)
        codes = np.full(len(known), -1, np.int8)
        asked = stood if keys is None else look.judge(codes, stood, keys)
    tier = np.where(stood, TIERS.index(scene.tier), -1).astype(np.int8)
    if moment is None:
        tier[codes == CODE["verbatim"]] = TIERS.index("planned" if scene.plan is not None else "recorded")
    for number in np.flatnonzero(asked).tolist():
        check_stopped()
        found_outcome = look.find(number)
        codes[number], tier[number] = CODE[found_outcome.outcome], TIERS.index(found_outcome.tier)
    outdated = [number for number in look.outdated if OUTCOMES[codes[number]] not in IN_FULL]
    superseded = [number for number in (*look.replaced, *outdated) if stood[number]]
    codes[superseded] = CODE["superseded"]
    mine = np.flatnonzero(known).astype(np.int32)
    return Trace(scene, look, mine, found.kind[mine], stood[mine], codes[mine], tier[mine])
