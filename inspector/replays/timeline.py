"""The timeline of a replay: every entry that the model was shown, without compactions.

Replies that failed because the context overflowed are refusals and not part of it. The timeline also holds
the recorded sizes of the session's own context.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..session.entries import Entry, is_tokens
from ..session.live import UNSEEN
from ..session.overflow import Overflow, find_refusal, read_status
from ..session.session import Session
from ..session.tree import ASSISTANT, COMPACTION, MESSAGE, MICRO, NOTE, Bools, Ints
from ..tokens.counter import Longs, running_sums
from ..tokens.history import History, count_along, find_strips
from ..tokens.ledger import Ledger
from ..tokens.prediction import divide_request
from ..tokens.reported import context_tokens, is_snapshot, request_tokens, whole_tokens
from ..tokens.request_sizes import RequestSizes


class Refusal(NamedTuple):
    """A request the provider refused in the file: the failed reply, and tokens of the context it was for;
    `status` is the HTTP status that the file records, None without one."""

    kind: Overflow
    entry: int
    step: int
    turn: int
    tokens: int
    status: int | None = None


@dataclass(frozen=True, eq=False)
class Timeline:
    """Columns over n entries of the path, in order.

    at        int32[n]  position in `session.entries`
    step      int32[n]  step of the history
    turn      int32[n]  turn of that step
    tokens    int64[n]  by the ledger's counter
    hidden    int64[n]  what the last reply up to here reported beyond what is counted for the same context;
                        from the first recorded compaction on, what it was before that and has grown since
    hidden_reasoning  int64[n]  tokens of the entry beyond its count
    prompt    int64[n]  tokens of the request a reply answers, as reported for this very context; -1 unknown
    output    int64[n]  tokens of a reply: reported, else counted; 0 for other entries
    replies   bool[n]   the assistant speaks
    reports   bool[n]   and its usage is recorded
    open      bool[n+1] a call is unanswered before this entry, and is answered later
    requests  bool[n]   a request was answered by this entry
    answers   bool[n]   the entry holds a tool's output
    opens     bool[n]   a turn opens
    reasoning int64[n]  tokens of the entry's reasoning
    strips    bool[n+1] the model that reads the first n entries is not shown reasoning of earlier turns
    same      bool[n]   no compaction or clearing is recorded before it, so what it reports is this context

    `recorded` (int64[k], by step) is the context at the end of the step: the provider's last report and the
    tokens counted since; `peak` is its maximum within the step. `refusals` maps the number of the next entry
    to the provider's refusals. `earlier` is history from before the file (tokens), `scale` the provider's
    tokens per counted token. If more is counted than some reply reports, `exceeds` is True, and all sizes are
    counted: no run mixes two measures.
    """

    session: Session
    at: Ints
    step: Ints
    turn: Ints
    tokens: Longs
    hidden: Longs
    hidden_reasoning: Longs
    prompt: Longs
    output: Longs
    replies: Bools
    reports: Bools
    open: Bools
    requests: Bools
    answers: Bools
    opens: Bools
    reasoning: Longs
    strips: Bools
    same: Bools
    recorded: Longs
    peak: Longs
    refusals: dict[int, list[Refusal]]
    earlier: int = 0
    scale: float = 1.0
    exceeds: bool = False

    def __len__(self) -> int:
        return len(self.at)

    @property
    def before(self) -> int:
        """Tokens of the first reported request that no entry holds, such as a system prompt that is not in
        the file; 0 if none is reported."""
        if not self.reports.any():
            return 0
        first = int(np.argmax(self.reports))
        return max(int(self.hidden[first] - self.hidden_reasoning[: first + 1].sum()), 0)

    def entry(self, number: int) -> Entry:
        """The n-th entry of the timeline."""
        return self.session.entries[int(self.at[number])]


def find_life(session: Session, ledger: Ledger, history: History) -> Timeline:
    """Build the timeline of the path to the session's leaf."""
    tree, path = session.tree, history.path
    sort, n = tree.sort[path], len(path)
    failed, refused = _find_failed(session, path, sort)
    # A refused request was never in a context, even if the file reports usage for it.
    full = count_along(session, ledger, path, np.flatnonzero(sort == COMPACTION).tolist())
    full = full - np.cumsum(np.where(failed, ledger.entry_tokens[path], 0))
    usage = _read_usage(session, ledger, path, sort)
    has_usage = usage[0] >= 0
    compacted = np.flatnonzero(sort == COMPACTION)
    own = has_usage & (np.arange(n) < (compacted[0] if len(compacted) else n))
    if exceeds := bool((usage[0] < full)[own].any()):
        usage, has_usage = np.full_like(usage, -1), np.zeros(n, bool)
    beyond = np.where(has_usage, usage[0] - full, 0)
    last = np.maximum.accumulate(np.where(has_usage, np.arange(n), -1)) if n else np.zeros(0, np.int64)
    hidden = np.where(last >= 0, beyond[np.maximum(last, 0)], 0)
    # Up to the first recorded compaction the context is the file's own, so its size equals a plan's there.
    request_sizes = RequestSizes(session, ledger)
    if not exceeds:
        end = compacted[0] if len(compacted) else n
        hidden[:end] = request_sizes.known_along()[:end]
    ends = np.append(np.flatnonzero(np.diff(history.step)), n - 1) if n else np.zeros(0, np.int64)
    whole = np.maximum(full + hidden, 0)
    recorded = whole[ends]
    peak = np.maximum.reduceat(whole, np.append(0, ends[:-1] + 1)) if n else recorded
    # After a recorded compaction a harness reattaches files; a timeline without compactions has none.
    hidden_reasoning = np.zeros(n, np.int64) if exceeds else request_sizes.grown
    if len(compacted) and compacted[0]:
        more = np.where(np.isin(sort, UNSEEN) | failed, 0, hidden_reasoning)[compacted[0] :]
        # If no earlier reply reports its usage, take the first one that does.
        base = hidden[compacted[0] - 1] if own.any() or not has_usage.any() else beyond[np.argmax(has_usage)]
        hidden[compacted[0] :] = base + np.cumsum(more)
    same = np.cumsum(np.isin(sort, (COMPACTION, MICRO))) == 0
    visible = np.flatnonzero(~np.isin(sort, UNSEEN) & ~failed)
    at = path[visible]
    replies = tree.role[at] == ASSISTANT
    tokens = ledger.entry_tokens[at].astype(np.int64)
    answers, still = _find_open(session, at, replies)
    turn = history.turn[history.step] if n else history.step
    timeline = Timeline(
        session=session,
        at=at,
        step=history.step[visible],
        turn=turn[visible],
        tokens=tokens,
        hidden=hidden[visible].astype(np.int64),
        hidden_reasoning=hidden_reasoning[visible],
        prompt=np.where(same, usage[1], -1)[visible],
        output=np.where(replies, np.where(usage[2][visible] > 0, usage[2][visible], tokens), 0),
        replies=replies,
        reports=has_usage[visible],
        open=still,
        requests=replies & ~still[:-1],
        answers=answers,
        opens=tree.opens[at],
        reasoning=ledger.reasoning_tokens[at],
        strips=find_strips(session, path)[np.append(0, visible + 1)],
        same=same[visible],
        recorded=recorded,
        peak=peak,
        refusals={},
        earlier=0 if exceeds else divide_request(request_sizes, 0)[1].tokens,
        scale=1.0 if exceeds else request_sizes.scale.middle,
        exceeds=exceeds,
    )
    for i, kind in refused:
        size = int(full[i] + hidden[max(i - 1, 0)])
        status = read_status(session.entries[path[i]])
        refusal = Refusal(kind, int(path[i]), int(history.step[i]), int(turn[i]), size, status)
        timeline.refusals.setdefault(int(np.searchsorted(visible, i)), []).append(refusal)
    return timeline


def take_out(timeline: Timeline, bare: Session, ledger: Ledger) -> Timeline:
    """Return the timeline with the smaller entries of `bare`, counted by its `ledger`.

    Tokens reported beyond those counted stay, except hidden reasoning of removed blocks. The reported request
    sizes are unset, because they belong to other requests.
    """
    tokens = ledger.entry_tokens[timeline.at].astype(np.int64)
    less = np.array([timeline.session.entries[i] is not bare.entries[i] for i in timeline.at.tolist()], bool)
    still = np.minimum(timeline.hidden_reasoning, np.rint((timeline.scale - 1) * tokens).astype(np.int64))
    return replace(
        timeline,
        session=bare,
        tokens=tokens,
        reasoning=ledger.reasoning_tokens[timeline.at],
        hidden_reasoning=np.where(less, still, timeline.hidden_reasoning),
        prompt=np.full_like(timeline.prompt, -1),
    )


def _find_failed(session: Session, path: Ints, sort: Ints) -> tuple[Bools, list[tuple[int, Overflow]]]:
    """bool[p]: replies on the path that failed for length; and their indices, with the kind of refusal."""
    failed = np.zeros(len(path), bool)
    refused: list[tuple[int, Overflow]] = []
    from_assistant = (session.tree.role[path] == ASSISTANT) & np.isin(sort, (MESSAGE, NOTE))
    for i in np.flatnonzero(from_assistant).tolist():
        entry = session.entries[path[i]]
        if (kind := find_refusal(entry)) is not None:
            failed[i] = True
            refused.append((i, kind))
    return failed, refused


def _read_usage(session: Session, ledger: Ledger, path: Ints, sort: Ints) -> Longs:
    """int64[3, p]: tokens of context, request and reply as each entry reports them, -1 if it does not."""
    out = np.full((3, len(path)), -1, np.int64)
    for i in np.flatnonzero((session.tree.role[path] == ASSISTANT) & (sort == MESSAGE)).tolist():
        entry = session.entries[path[i]]
        usage = entry.usage
        if usage is None or entry.cut_short:
            continue
        if is_tokens(usage.tokens) and usage.tokens > 0:
            words = int(ledger.entry_tokens[path[i]]) if is_snapshot(session, entry) else 0
            output = max(whole_tokens(usage.output), words)
            out[:, i] = context_tokens(usage, words), request_tokens(usage) or -1, output
    return out


def _find_open(session: Session, at: Ints, replies: Bools) -> tuple[Bools, Bools]:
    """bool[n]: entries with a tool's output; bool[n+1]: before which a call waits for one that comes.

    As a provider pairs them: an output answers a call made since the assistant began to speak.
    """
    tree, n = session.tree, len(at)
    answers, change = np.zeros(n, bool), np.zeros(n + 2, np.int64)
    open_calls: dict[int, int] = {}
    called = tree.call >= 0
    start, speaks = tree.start.tolist(), replies.tolist()
    holds = np.diff(running_sums(called)[tree.start])[at] > 0
    for number in np.flatnonzero(holds | replies).tolist():
        if speaks[number] and (number == 0 or not speaks[number - 1]):
            open_calls.clear()
        i = int(at[number])
        for row in range(start[i], start[i + 1]):
            if not called[row]:
                continue
            call = int(tree.call[row])
            if not tree.answers[row]:
                open_calls[call] = number
                continue
            answers[number] = True
            made_at = open_calls.pop(call, None)
            if made_at is not None and made_at < number:
                change[made_at + 1] += 1
                change[number + 1] -= 1
    return answers, np.cumsum(change)[: n + 1] > 0
