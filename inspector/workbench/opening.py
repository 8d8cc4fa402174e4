"""What a workbench opens on while nobody has chosen: the moment, the policy, and why that one.

In go a session, its history and the edits so far, out come a moment and a plan that does something; where no
policy does anything yet, a plan that says so. Nothing here is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from ..cuts import END
from ..errors import PolicyError
from ..planning.plan import Plan
from ..planning.planner import make_plan
from ..policies.builtin.recorded import RECORDED
from ..policies.own_policy import find_own_policy
from ..policies.policy import Edits, Policy
from ..policies.registry import find_policy
from ..policies.table import DROPPED, VERBATIM
from ..session.session import Session
from ..tokens.history import History
from ..tokens.ledger import Ledger
from ..tokens.memo import Memo

AUTO = "auto"
"""The name that stands for a policy until somebody chooses one."""
FALLBACK = ("flue", "pi", "keep-recent-turns")
"""Tried in this order where the session's own harness does nothing, or is not known."""
LEAST = 0.05
"""The share of the context that a policy has to take away to be worth opening on."""
OBEYS = 0.9
"""The share of what is left of a cut that a policy has to take to be one for the hand."""

_HANDS: Memo[tuple[Policy, str]] = Memo()
_RECORDED: Memo[Plan | None] = Memo(4)


class MarkName(NamedTuple):
    """What a recorded compaction is called: `number` counts those of a kind on a path, from 1.

    `look` is what `wb.look` calls it: "recorded:1" for the first compaction, "cleared:1" for the first time
    that only outputs were emptied. `sign` is how the screen does: "◆1", "◇1".
    """

    kind: Literal["compact", "micro"]
    number: int

    @property
    def look(self) -> str:
        return f"{'recorded' if self.kind == 'compact' else 'cleared'}:{self.number}"

    @property
    def sign(self) -> str:
        return f"{'◆' if self.kind == 'compact' else '◇'}{self.number}"


class RecordedMark(NamedTuple):
    """A compaction that the file records on its main path: `at` is the moment right before it, where `tokens`
    stood."""

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
    """A plan while nobody has chosen, and in a sentence why this one.

    `acts` is False where no policy does anything. `harness` names the policy of the session's own harness, or
    the one that stands for it.
    """

    plan: Plan
    reason: str
    acts: bool
    harness: str


def name_marks(session: Session) -> dict[str, MarkName]:
    """What the recorded compactions on a session's path are called, by their entries and in order; one that
    nothing stood before has no name.

    >>> from inspector import open_demo
    >>> [name.sign for name in name_marks(open_demo()).values()]
    ['◆1', '◇1']
    """
    names: dict[str, MarkName] = {}
    counts: Counter[str] = Counter()
    later = session.trail[1:]
    for i in later[np.isin(later, session.tree.bounded)].tolist():
        entry = session.entries[i]
        if entry.boundary is not None:
            kind = entry.boundary.kind
            counts[kind] += 1
            names[entry.id] = MarkName(kind, counts[kind])
    return names


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
    stretches = {stretch.at: stretch.tokens for stretch in history.segments}
    names = name_marks(session)
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
    """How full the context was at a step, as last reported; where nothing was, as counted."""
    told = history.reported[: step + 1]
    told = told[told >= 0]
    return int(told[-1]) if len(told) else int(history.estimated[step])


def find_start(session: Session, history: History, ledger: Ledger) -> str:
    """The moment to open on: right before the fullest compaction that can be planned as it was recorded,
    else the fullest of all; "" for a session without entries."""
    whole = [mark for mark in list_marks(session, history) if mark.kind == "compact"]
    for mark in sorted(whole, key=lambda mark: -mark.tokens):
        if plan_recorded(session.at(mark.at), ledger) is not None:
            return mark.at
    fullest = history.fullest
    return fullest.at if fullest is not None else ""


def plan_recorded(
    moment: Session, ledger: Ledger, edits: Edits | None = None, window: int | None = None
) -> Plan | None:
    """What the file did right after a moment, with these edits; None where that cannot be planned."""

    def make() -> Plan | None:
        try:
            plan = make_plan(moment, ledger, RECORDED, edits, window=window)
        except PolicyError:
            return None
        # What happened is shown even where nothing was won by it.
        return plan if is_legal(plan) and plan.after != plan.before else None

    known = edits is None or edits == Edits()
    return _RECORDED.of(ledger, make, moment.leaf, window) if known else make()


def choose(moment: Session, ledger: Ledger, edits: Edits, window: int | None = None) -> Choice:
    """The first plan that does something: as the file records it, by the session's harness, by another.

    A cut by hand is nothing that the file records; then it is `find_hand` that says. Raises `EditError` as
    `make_plan` does, and `PolicyError` where no policy has these settings.
    """
    own = find_own_policy(moment)
    harness = own.name if own is not None else FALLBACK[0]
    if edits.cut is not None:
        policy, reason = _HANDS.of(ledger, lambda: find_hand(moment, ledger, window), moment.leaf, window)
        plan = make_plan(moment, ledger, policy, edits, window=window)
        return Choice(plan, reason, acts(plan), harness)
    # Settings are those of a policy that somebody has in mind.
    if not edits.settings and (happened := plan_recorded(moment, ledger, edits, window)) is not None:
        return Choice(happened, "As the file records it: its own cut, and its own summary.", True, harness)
    refused: PolicyError | None = None
    first: Plan | None = None
    for policy, reason in _candidates(own, "keeps everything here"):
        try:
            plan = make_plan(moment, ledger, policy, edits, window=window)
        except PolicyError as error:
            refused = refused or error
            continue
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
    """The policy for a cut by hand, and why: the harness', if it takes what is left of a cut, else another.

    >>> from inspector import count_tokens, open_demo
    >>> session = open_demo()
    >>> moment = session.at(session[session.boundaries[0][0]].parent)
    >>> find_hand(moment, count_tokens(session))[0].name
    'flue'
    """
    for policy, reason in _candidates(find_own_policy(moment), "does not go by the cut"):
        plan = make_plan(moment, ledger, policy, Edits(cut=END), window=window)
        tokens, stays = plan.table.tokens, plan.fate == VERBATIM
        # What stages drop before a summary is written is not what a hand at the cut means.
        stays |= (plan.fate == DROPPED) & plan.summarises
        if int(np.sum(tokens[stays])) <= (1 - OBEYS) * int(np.sum(tokens)):
            return policy, reason
    return find_policy(FALLBACK[0]), "No policy takes what is left of a cut here."


def acts(plan: Plan) -> bool:
    """Whether a plan leaves less than there was, by a cut that a provider takes, if by a cut."""
    return plan.after < plan.before and (plan.place is None or is_legal(plan))


def is_legal(plan: Plan) -> bool:
    """Whether a plan cuts, and where a provider takes it."""
    return plan.place is not None and bool(plan.cuts.legal[plan.place])


def middle_place(plan: Plan) -> int:
    """The legal place nearest to the middle of the context, -1 where no cut is legal: there a cut that is
    nobody's yet waits for the hand."""
    nearest = plan.cuts.nearest((len(plan.cuts) - 1) // 2)
    return -1 if nearest is None else nearest


def _candidates(own: Policy | None, why: str) -> Iterator[tuple[Policy, str]]:
    """The policies to try, each with the sentence that says why it is the one; `why` not the first."""
    since = "the harness of this session is not known"
    if own is not None:
        title = own.title or own.name
        yield own, f"{title}: the policy of the harness that wrote this session, as it is published."
        since = f"{title} {why}"
    for name in FALLBACK:
        if own is None or name != own.name:
            policy = find_policy(name)
            yield policy, f"{policy.title or policy.name}, since {since}."
