"""Session + ledger -> how full the context was right before and right after a recorded compaction.

Every place that names these sizes reads them here, so that one compaction has one number. The size after it
is the next request's input (fresh and cached) less the tokens that were added in between. Those are counted:
the entries after the compaction by the ledger's counter, times the provider's scale from its other requests.
Without such a request the size is predicted, with its range.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from ..session.entries import Entry
from ..session.queries import find_end
from ..session.session import Session
from .ledger import Ledger
from .memo import Memo
from .moment import find_moment
from .not_in_file import NotInFile
from .reported import whole_tokens
from .request_sizes import RequestSizes

Source = Literal["reported", "counted", "estimated", "predicted"]
SIDE = 0.5
"""A request by another model that is smaller than this part of the context does not hold the context."""

_PATHS: Memo[RequestSizes] = Memo(2)
_SIZES: Memo[RecordedSizes] = Memo()


class ContextSize(NamedTuple):
    """Tokens of a context, and the source of the number.

    source   "reported": by the provider's usage; "counted": by the ledger alone, since no usage is reported;
             "estimated": by the harness, which does not say which outputs it cleared;
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
        ledger: A ledger of the session. Its own leaf selects the branch that continues after the compaction;
            for a compaction on another branch, the branch that was written to last is used.
        entry_id: The entry that records the compaction.

    Returns:
        Both sizes. A request is passed over if its usage is missing or zero, if it failed, if it belongs to
        a sub-agent, or if another model answered it and it is too small to hold the context. A request after
        the next compaction or clearing is not used.

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


def find_sealed_summary(session: Session, ledger: Ledger, entry_id: str) -> int:
    """Estimate the tokens of an encrypted summary: the size after its compaction without the content of the
    file, and without the system prompt and tools. Args as in `find_recorded_sizes`."""
    branch = _find_branch(session, ledger, session.index[entry_id])
    point = find_moment(branch.at(find_end(branch, entry_id)), ledger)
    counted = ledger.head_tokens + int(point.tokens.sum(dtype=np.int64))
    after = find_recorded_sizes(session, ledger, entry_id).after
    return max(after.tokens - counted - point.outside.system_and_tools.tokens, 0)


def _find_branch(session: Session, ledger: Ledger, at: int) -> Session:
    """The session at a leaf after the entry: at one it has now, or at the last descendant in the file."""
    for candidate in (ledger.session, session):
        if at in candidate.trail:
            return candidate
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
    last_made = np.flatnonzero(path == branch.index[find_end(branch, entries[at].id)])
    end = int(last_made[0]) if len(last_made) else where
    sizes = _PATHS.of(ledger, lambda: RequestSizes(branch, ledger), branch.leaf)
    before = _sum_up(sizes, where) if where else None
    if where and before is None:
        before = _measure_moment(branch.at(entries[int(path[where - 1])].id), ledger)
    after = _find_reported(sizes, where, end)
    if after is None:
        after = _measure_moment(branch.at(entries[int(path[end])].id), ledger)
        # What was reported is the size of an earlier request.
        after = after._replace(source="counted" if after.source == "counted" else "predicted")
        boundary = entries[at].boundary
        saved = None if boundary is None else boundary.tokens_saved
        if boundary is not None and boundary.kind == "micro" and saved is not None and not boundary.cleared:
            tokens, low = (max(size - whole_tokens(saved), 0) for size in (after.tokens, after.low))
            after = ContextSize(tokens, "estimated", low, after.high)
    return RecordedSizes(before, after)


def _measure_moment(moment: Session, ledger: Ledger) -> ContextSize:
    """The size of the context at a leaf, by what is known up to there."""
    point = find_moment(moment, ledger)
    counted, outside = ledger.head_tokens + int(point.tokens.sum(dtype=np.int64)), point.outside
    tokens = counted + outside.tokens
    if outside.exceeds:
        return ContextSize(tokens, "counted", *outside.bound(counted))
    source: Source = "counted" if outside.entry is None else "reported"
    if outside.hidden_reasoning.certain if outside.entry is not None else not outside.tokens:
        return ContextSize(tokens, source, tokens, tokens)
    return ContextSize(tokens, "predicted", *outside.bound(counted))


def _sum_up(sizes: RequestSizes, where: int) -> ContextSize | None:
    """Return the size right before path position `where`, by the last request and the entries since. It reads
    no earlier stretch, so that all compactions of a long session are measured at once.

    If more is counted than the request reports, the size is the counted one. None if there is no request in
    the same stretch, or if outputs were cleared since.
    """
    row = int(np.searchsorted(sizes.at, where)) - 1
    if row >= 0 and sizes.residual[row] < 0:
        counted = int(sizes.full[where - 1])
        over = max(1 - int(sizes.prompt[row]) / int(sizes.counted[row]), 0.0)
        return ContextSize(counted, "counted", *NotInFile(exceeds=True, overcounted=over).bound(counted))
    if row < 0 or sizes.segment[row] != np.searchsorted(sizes.cuts, where):
        return None
    at, (_, since, _) = int(sizes.at[row]), sizes.emptied
    if ((since > at) & (since <= where)).any():
        return None
    new, scale = sizes.tokens[at:where], sizes.fit_scale(row + 1).middle
    more = np.rint((scale - 1) * new).astype(np.int64)
    more[0] = max(int(sizes.output[row]) - int(new[0]), int(more[0]))
    grown = int(sizes.full[where - 1] - sizes.counted[row] + more.sum())
    tokens = int(sizes.prompt[row]) + grown
    return ContextSize(tokens, "reported", tokens, tokens)


def _find_reported(sizes: RequestSizes, where: int, end: int) -> ContextSize | None:
    """The size after a compaction at path position `where`, whose own entries end at `end`, as the first
    request reports it that holds the context; None without such a request."""
    session, path = sizes.session, sizes.path
    later = np.flatnonzero(np.isin(path[end + 1 :], session.tree.bounded))
    stop = end + 1 + int(later[0]) if len(later) else len(path)
    rows = np.flatnonzero((sizes.at > end) & (sizes.at < stop))

    def reply(row: int) -> Entry:
        return session.entries[int(path[sizes.at[row]])]

    before = int(np.searchsorted(sizes.at, where)) - 1
    former = reply(before).model if before >= 0 else None
    passed: list[tuple[ContextSize, int]] = []
    for row in rows.tolist():
        request, model = int(sizes.prompt[row]), reply(row).model
        added = round(sizes.scale.middle * int(sizes.counted[row] - sizes.full[end]))
        tokens = request - added
        size = ContextSize(tokens, "reported", tokens, tokens, reply(row).id, request, added)
        if tokens <= 0:
            continue
        if former is None or model in (None, former):
            # A request by another model that is about as large held the context too.
            return next((reading for reading, _ in passed if reading.request >= SIDE * size.tokens), size)
        passed.append((size, int(sizes.counted[row])))
    return next((reading for reading, counted in passed if reading.request >= SIDE * counted), None)
