"""Session + ledger -> how full the context was right before and right after a recorded compaction.

Every place that names these sizes reads them here, so that one compaction has one number. The size after it
is the next request's input (fresh and cached) less the tokens that were added in between. Those are counted:
the entries after the compaction by the ledger's counter, times the provider's scale as its other requests
tell it. Without such a request the size is predicted, with its range.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from ..session.queries import find_end
from ..session.session import Session
from .ledger import Ledger
from .memo import Memo
from .moment import find_moment
from .weighed_path import WeighedPath

Source = Literal["reported", "counted", "predicted"]
SIDE = 0.5
"""A request by another model that is smaller than this part of the context does not hold the context."""

_PATHS: Memo[WeighedPath] = Memo(2)
_SIZES: Memo[RecordedSizes] = Memo()


class ContextSize(NamedTuple):
    """Tokens of a context, and where the number is from.

    source   "reported": by the provider's usage; "counted": by the ledger alone, since no usage is reported;
             "predicted": from what is counted and from requests of another part of the session
    low      the least that it may be; equal to `tokens` and `high` if it is reported
    reply    of a size after a compaction: the id of the reply whose request reports it, None without one
    request  the tokens of that request
    added    tokens of it that were added after the compaction
    """

    tokens: int
    source: Source
    low: int
    high: int
    reply: str | None = None
    request: int = 0
    added: int = 0


class RecordedSizes(NamedTuple):
    """Sizes around a recorded compaction. `before` is None if the file begins with the compaction."""

    before: ContextSize | None
    after: ContextSize


def find_recorded_sizes(session: Session, ledger: Ledger, entry_id: str) -> RecordedSizes:
    """Find how full the context was before and after a recorded compaction or clearing. Kept with the ledger.

    Args:
        session: The session, at any leaf.
        ledger: A ledger of the session. Its own leaf says which branch goes on after the compaction; for a
            compaction on another branch it is the branch that was written to last.
        entry_id: The entry that records the compaction.

    Returns:
        Both sizes. A request is passed over if its usage is missing or zero, if it failed, if it belongs to
        a sub-agent, or if another model answered it and it is too small to hold the context. A request after
        the next compaction or clearing tells nothing about this one.

    Raises:
        KeyError: There is no such entry.
        OtherSession: The ledger counted another session.

    >>> from inspector import count_tokens, open_demo
    >>> session = open_demo()
    >>> sizes = find_recorded_sizes(session, count_tokens(session), session.boundaries[0][0])
    >>> sizes.after.source, sizes.after.tokens == sizes.after.request - sizes.after.added
    ('reported', True)
    """
    ledger.check(session)
    at = session.index[entry_id]
    branch = _find_branch(session, ledger, at)
    return _SIZES.of(ledger, lambda: _measure(branch, ledger, at), at, branch.leaf)


def _find_branch(session: Session, ledger: Ledger, at: int) -> Session:
    """The session at a leaf after the entry: at one it has now, or at the last descendant in the file."""
    for one in (ledger.session, session):
        if at in one.trail:
            return one
    below, last = {at}, at
    for child, parent in enumerate(session.tree.parent):
        if parent in below:
            below.add(child)
            last = child
    branch = session.at(session.entries[last].id)
    return branch if at in branch.trail else session.at(session.entries[at].id)


def _measure(branch: Session, ledger: Ledger, at: int) -> RecordedSizes:
    path, entries = branch.trail, branch.entries
    where = int(np.flatnonzero(path == at)[0])
    # The last entry that the compaction made; of two entries with its name one is not on the path.
    made = np.flatnonzero(path == branch.index[find_end(branch, entries[at].id)])
    end = int(made[0]) if len(made) else where
    weighed = _PATHS.of(ledger, lambda: WeighedPath(branch, ledger), branch.leaf)
    before = None
    if where:
        moment = branch.at(entries[int(path[where - 1])].id)
        before = _sum_up(weighed, where) or _measure_moment(moment, ledger)
    after = _find_reported(weighed, where, end)
    if after is None:
        after = _measure_moment(branch.at(entries[int(path[end])].id), ledger)
        # What was reported is the size of an earlier request.
        after = after._replace(source="counted" if after.source == "counted" else "predicted")
    return RecordedSizes(before, after)


def _measure_moment(moment: Session, ledger: Ledger) -> ContextSize:
    """The size of the context at a leaf, by what is known up to there."""
    found = find_moment(moment, ledger)
    counted, outside = ledger.head_tokens + int(found.tokens.sum(dtype=np.int64)), found.outside
    tokens = counted + outside.tokens
    if outside.exceeds:
        return ContextSize(tokens, "counted", *outside.bound(counted))
    if outside.entry is None and not outside.tokens:
        return ContextSize(tokens, "counted", tokens, tokens)
    if outside.entry is not None and outside.withheld.certain:
        return ContextSize(tokens, "reported", tokens, tokens)
    return ContextSize(tokens, "predicted", *outside.bound(counted))


def _sum_up(weighed: WeighedPath, where: int) -> ContextSize | None:
    """`_measure_moment` right before path position `where`, by the last request in the same stretch and what
    came since. It looks at no other stretch, so that all compactions of a long session are measured at once.

    None if there is no such request, if more is counted than it reports, if outputs were cleared since, or if
    a reply without blocks weighs something.
    """
    cuts = [cut for cut in weighed.cuts if cut < where]
    replies = int(np.searchsorted(weighed.at, where))
    row = replies - 1
    if not replies or weighed.stretch[row] != len(cuts):
        return None
    at, (_, since, *_) = int(weighed.at[row]), weighed.emptied
    empty = np.diff(weighed.session.tree.start)[weighed.path[: at + 1]] == 0
    if ((since > at) & (since <= where)).any() or (empty & (weighed.grown[: at + 1] > 0)).any():
        return None
    if weighed.spare(row) <= 0:
        return None
    scale = weighed.fit_scale(replies).middle
    new = weighed.tokens[at:where]
    more = np.rint((scale - 1) * new).astype(np.int64)
    more[0] = max(int(weighed.output[row]) - int(new[0]), int(more[0]))
    grown = int(weighed.full[where - 1] - weighed.counted[row]) + int(more.sum())
    tokens = int(weighed.prompt[row]) + grown
    return ContextSize(tokens, "reported", tokens, tokens)


def _find_reported(weighed: WeighedPath, where: int, end: int) -> ContextSize | None:
    """The size after a compaction at path position `where`, whose own entries end at `end`, as the first
    request reports it that holds the context; None without such a request."""
    session, path = weighed.session, weighed.path
    later = np.flatnonzero(np.isin(path[end + 1 :], session.tree.bounded))
    stop = end + 1 + int(later[0]) if len(later) else len(path)
    rows = np.flatnonzero((weighed.at > end) & (weighed.at < stop))
    before = int(np.searchsorted(weighed.at, where)) - 1
    former = session.entries[int(path[weighed.at[before]])].model if before >= 0 else None
    passed: list[tuple[ContextSize, int]] = []
    for row in rows.tolist():
        size = _take_off_added(weighed, row, end)
        model = session.entries[int(path[weighed.at[row]])].model
        if size.tokens <= 0:
            continue
        if former is None or model in (None, former):
            # A request by another model that is about as large held the context too.
            return next((one for one, _ in passed if one.request >= SIDE * size.tokens), size)
        passed.append((size, int(weighed.counted[row])))
    return next((one for one, counted in passed if one.request >= SIDE * counted), None)


def _take_off_added(weighed: WeighedPath, row: int, end: int) -> ContextSize:
    request = int(weighed.prompt[row])
    added = round(weighed.scale.middle * int(weighed.counted[row] - weighed.full[end]))
    name = weighed.session.entries[int(weighed.path[weighed.at[row]])].id
    tokens = request - added
    return ContextSize(tokens, "reported", tokens, tokens, name, request, added)
