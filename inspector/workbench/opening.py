"""Choose the initial point in time, policy and plan of a workbench, and say why.

The input is a session, its history and the edits so far; the result is a point in time and the recorded plan
or the plan of the session's own harness, whether that changes something or not. If the harness is unknown, it
is the first plan that does, or a plan with a note that none does yet. Nothing is drawn here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from ..cuts import END
from ..errors import PolicyError
from ..facts.compactions import CompactionTable, known_compactions
from ..planning.plan import Plan
from ..planning.planner import make_plan
from ..policies.builtin.recorded import RECORDED
from ..policies.own_policy import find_own_policy
from ..policies.policy import Edits, Policy
from ..policies.registry import find_policy
from ..policies.table import DROPPED, VERBATIM
from ..redaction.cut import cut_text
from ..session.queries import MarkName, number_compactions
from ..session.session import Session
from ..tokens.history import History
from ..tokens.ledger import Ledger
from ..tokens.memo import Memo

AUTO = "auto"
"""Placeholder for a policy until the user chooses one."""
FALLBACK = ("flue", "pi", "keep-recent-turns")
"""Policies to try in this order if the session's own harness is unknown, or takes no cut by hand."""
LEAST = 0.05
"""The share of the context that a policy has to take away to be worth opening on."""
OBEYS = 0.9
"""The share of what is left of a cut that a policy has to take to be one for the hand."""

_HANDS: Memo[tuple[Policy, str]] = Memo()
_RECORDED: Memo[Plan | None] = Memo(4)


class RecordedMark(NamedTuple):
    """A recorded compaction on the main path: `at` is the point in time right before it, with `tokens` tokens
    in the context."""

    name: MarkName
    entry: str
    at: str
    step: int
    tokens: int

    @property
    def kind(self) -> Literal["compact", "micro"]:
        return self.name.kind

    @property
    def look(self) -> str:
        return self.name.look

    @property
    def sign(self) -> str:
        return self.name.sign


class Choice(NamedTuple):
    """A plan that the user did not choose, and a sentence that says why.

    `acts` is False if no policy changes anything. `harness` names the policy of the session's own harness, or
    its substitute.
    """

    plan: Plan
    reason: str
    acts: bool
    harness: str


def list_marks(session: Session, history: History) -> tuple[RecordedMark, ...]:
    """The recorded compactions on the main path, in order.

    >>> from inspector import count_tokens, open_demo
    >>> from inspector.tokens.history import trace_history
    >>> session = open_demo()
    >>> [mark.look for mark in list_marks(session, trace_history(session, count_tokens(session)))]
    ['recorded:1', 'cleared:1']
    """
    if not history.marks:
        return ()
    path = history.path.tolist()
    bounded = np.flatnonzero(np.isin(history.path, session.tree.bounded)).tolist()
    where = {session.entries[path[at]].id: at for at in bounded}
    stretches = {segment.at: segment.tokens for segment in history.segments}
    names = number_compactions(session)
    marks: list[RecordedMark] = []
    for mark in history.marks:
        if mark.entry not in names:
            continue
        at = where[mark.entry]
        before = session.entries[path[at - 1]].id
        tokens = stretches[before] if before in stretches else _measure(history, int(history.step[at - 1]))
        marks.append(RecordedMark(names[mark.entry], mark.entry, before, mark.step, tokens))
    return tuple(marks)


def _measure(history: History, step: int) -> int:
    """Return the context size at a step, as last reported, or counted if nothing was reported."""
    reports = history.reported[: step + 1]
    reports = reports[reports >= 0]
    return int(reports[-1]) if len(reports) else int(history.estimated[step])


def find_start(session: Session, history: History, ledger: Ledger) -> str:
    """The moment to open on: right before the fullest compaction that can be planned as it was recorded,
    else the fullest of all; "" for a session without entries."""
    whole = [mark for mark in list_marks(session, history) if mark.kind == "compact"]
    for mark in sorted(whole, key=lambda mark: -mark.tokens):
        if plan_recorded(session.at(mark.at), ledger) is not None:
            return mark.at
    fullest = history.fullest
    return fullest.at if fullest is not None else ""


def find_worst(session: Session, marks: Iterable[RecordedMark]) -> RecordedMark | None:
    """The recorded compaction to show first, which is `session.compactions.worst`; None if none does harm."""
    return _find_worst(session.compactions, marks)


def find_known_worst(session: Session, marks: Iterable[RecordedMark]) -> RecordedMark | None:
    """`find_worst`, or None if the losses have not been computed yet."""
    return _find_worst(known_compactions(session), marks)


def _find_worst(table: CompactionTable | None, marks: Iterable[RecordedMark]) -> RecordedMark | None:
    by_entry = {mark.entry: mark for mark in marks}
    if not table or table.worst.harm == (0, 0):
        return None
    return by_entry.get(table.worst.entry)


def plan_recorded(
    moment: Session, ledger: Ledger, edits: Edits | None = None, window: int | None = None
) -> Plan | None:
    """Return the recorded compaction right after a point in time, with these edits; None if it has no
    plan."""

    def make() -> Plan | None:
        try:
            plan = make_plan(moment, ledger, RECORDED, edits, window=window)
        except PolicyError:
            return None
        # Show the recorded compaction even if it saved nothing.
        return plan if is_legal(plan) and plan.after != plan.before else None

    has_no_edits = edits is None or edits == Edits()
    return _RECORDED.of(ledger, make, moment.leaf, window) if has_no_edits else make()


def choose(moment: Session, ledger: Ledger, edits: Edits, window: int | None = None) -> Choice:
    """Return the recorded plan or the harness's; if the harness is unknown, the first that changes something.

    A user's cut is not a recorded one; `find_hand` then decides. Raises `EditError` as
    `make_plan` does, and `PolicyError` if no policy has these settings.
    """
    own = find_own_policy(moment)
    harness = own.name if own is not None else FALLBACK[0]
    if edits.cut is not None or edits.since is not None:
        policy, reason = _HANDS.of(ledger, lambda: find_hand(moment, ledger, window), moment.leaf, window)
        plan = make_plan(moment, ledger, policy, edits, window=window)
        return Choice(plan, reason, acts(plan), harness)
    # Settings belong to a policy that the user chose.
    if not edits.settings and (happened := plan_recorded(moment, ledger, edits, window)) is not None:
        return Choice(happened, "As the file records it: its own cut, and its own summary.", True, harness)
    refused: PolicyError | None = None
    first: Plan | None = None
    for policy, reason in _candidates(moment, own, "has no such settings"):
        try:
            plan = make_plan(moment, ledger, policy, edits, window=window)
        except PolicyError as error:
            refused = refused or error
            continue
        if policy is own:
            waits = not acts(plan) or plan.verdict.fires is False
            return Choice(plan, f"{reason} It does not fire yet." if waits else reason, acts(plan), harness)
        if acts(plan) and plan.after <= (1 - LEAST) * plan.before:
            return Choice(plan, reason, True, harness)
        if first is None or (first.place is not None and plan.place is None):
            # Of those that do not help the first that does nothing at all.
            first = plan
    if first is None:
        assert refused is not None
        raise refused
    return Choice(first, "No policy would take anything away here yet.", False, harness)


def find_hand(moment: Session, ledger: Ledger, window: int | None = None) -> tuple[Policy, str]:
    """Return the policy for a cut by hand, with the reason: the harness's if it uses the cut, else another.

    >>> from inspector import count_tokens, open_demo
    >>> session = open_demo()
    >>> moment = session.at(session[session.boundaries[0][0]].parent)
    >>> find_hand(moment, count_tokens(session))[0].name
    'claude-code'
    """
    for policy, reason in _candidates(moment, find_own_policy(moment), "does not go by the cut"):
        plan = make_plan(moment, ledger, policy, Edits(cut=END), window=window)
        tokens, stays = plan.table.tokens, plan.fate == VERBATIM
        # Content that stages drop before a summary is not what a user's cut is about.
        stays |= (plan.fate == DROPPED) & plan.summarises
        if int(np.sum(tokens[stays])) <= (1 - OBEYS) * int(np.sum(tokens)):
            return policy, reason
    return find_policy(FALLBACK[0]), "No policy takes what is left of a cut here."


def acts(plan: Plan) -> bool:
    """Whether a plan leaves less than there was, by a cut that a provider takes, if by a cut."""
    return plan.after < plan.before and (plan.place is None or is_legal(plan))


def is_legal(plan: Plan) -> bool:
    """Whether a plan cuts at a place that a provider accepts."""
    return plan.place is not None and bool(plan.cuts.legal[plan.place])


def middle_place(plan: Plan) -> int:
    """Return the valid cut point nearest to the middle of the context, or -1. The handle starts there."""
    nearest = plan.cuts.nearest((len(plan.cuts) - 1) // 2)
    return -1 if nearest is None else nearest


def _candidates(moment: Session, own: Policy | None, why: str) -> Iterator[tuple[Policy, str]]:
    """The policies to try, each with the sentence that says why it is the one; `why` not the first."""
    harness = moment.source.harness
    since = f"no policy of {cut_text(harness, 40)} is known" if harness else "its harness is not known"
    if own is not None:
        title = own.title or own.name
        yield own, f"{title}: the policy of the harness that wrote this session, as it is published."
        since = f"{title} {why}"
    for name in FALLBACK:
        if own is None or name != own.name:
            policy = find_policy(name)
            yield policy, f"{policy.title or policy.name}, since {since}."
