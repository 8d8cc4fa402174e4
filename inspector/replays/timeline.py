"""A session's life as a replay lives it: every entry the model was ever shown, compactions left out.

Replies that failed because the context overflowed are no part of it: they are refusals. Beside the life
stands what the file tells of its own context.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from ..policies.table import COUNTED
from ..policies.trigger import Measure
from ..session.entries import Entry, is_tokens
from ..session.live import UNSEEN
from ..session.overflow import classify_refusal, find_status
from ..session.session import Session
from ..session.tree import ASSISTANT, COMPACTION, MESSAGE, MICRO, NOTE, Bools, Ints
from ..tokens.counter import Longs
from ..tokens.history import History, count_along
from ..tokens.ledger import Ledger
from ..tokens.reported import context_tokens, is_snapshot, request_tokens, whole_tokens
from ..tokens.weighed_path import WeighedPath

Overflow = Literal["token_overflow", "byte_overflow"]


class Refusal(NamedTuple):
    """A request the provider refused in the file: the failed reply, and tokens of the context it was for;
    `status` is the HTTP status that its text begins with, None without one."""

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
    weight    int64[n]  by the policy's own measure
    hidden    int64[n]  what the last reply up to here reported beyond what is counted for the same context;
                        from the first recorded compaction on, what it was before that and has grown since
    withheld  int64[n]  what the entry weighs beyond its count
    prompt    int64[n]  tokens of the request a reply answers, as reported for this very context; -1 unknown
    output    int64[n]  tokens of a reply: reported, else counted; 0 for other entries
    replies   bool[n]   the assistant speaks
    reports   bool[n]   and its usage is told
    open      bool[n+1] a call stands unanswered before this entry, and is answered later
    requests  bool[n]   a request was answered by this entry
    answers   bool[n]   the entry holds a tool's output

    `recorded` (int64[k], by step) is the context as it was at the end of the step: the provider's last word
    and what is counted since; `peak` the most it was within the step. `refusals` has, by the number of the
    entry that comes next, what the provider refused. `earlier` is history from before the file (tokens),
    `scale` the provider's tokens to a counted one. Where more is counted than some reply reports, `exceeds`
    says so, and every size is a counted one: no run has two measures.
    """

    session: Session
    at: Ints
    step: Ints
    turn: Ints
    tokens: Longs
    weight: Longs
    hidden: Longs
    withheld: Longs
    prompt: Longs
    output: Longs
    replies: Bools
    reports: Bools
    open: Bools
    requests: Bools
    answers: Bools
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
        """Tokens of the first request that is reported which no entry holds, such as a system prompt that is
        not in the file; 0 where none is reported."""
        if not self.reports.any():
            return 0
        first = int(np.argmax(self.reports))
        return max(int(self.hidden[first] - self.withheld[: first + 1].sum()), 0)

    def entry(self, number: int) -> Entry:
        """The n-th entry of the life."""
        return self.session.entries[int(self.at[number])]


def find_life(session: Session, ledger: Ledger, history: History, measure: Measure) -> Timeline:
    """The life on the path to the session's leaf."""
    tree, path = session.tree, history.path
    sort, n = tree.sort[path], len(path)
    failed, refused = _find_failed(session, path, sort)
    # What was refused was never in a context, whatever the file says of it.
    full = count_along(session, ledger, path, np.flatnonzero(sort == COMPACTION).tolist())
    full = full - np.cumsum(np.where(failed, ledger.entry_tokens[path], 0))
    usage = _read_usage(session, ledger, path, sort)
    said = usage[0] >= 0
    compacted = np.flatnonzero(sort == COMPACTION)
    own = said & (np.arange(n) < (compacted[0] if len(compacted) else n))
    if exceeds := bool((usage[0] < full)[own].any()):
        usage, said = np.full_like(usage, -1), np.zeros(n, bool)
    beyond = np.where(said, usage[0] - full, 0)
    # Before the first reply nothing is reported; the first one's word stands for it.
    last = np.maximum.accumulate(np.where(said, np.arange(n), -1)) if n else np.zeros(0, np.int64)
    first = int(np.argmax(said)) if said.any() else -1
    hidden = np.where(last >= 0, beyond[np.maximum(last, 0)], beyond[first] if first >= 0 else 0)
    ends = np.append(np.flatnonzero(np.diff(history.step)), n - 1) if n else np.zeros(0, np.int64)
    whole = np.maximum(full + hidden, 0)
    recorded = whole[ends]
    peak = np.maximum.reduceat(whole, np.append(0, ends[:-1] + 1)) if n else recorded
    # After a recorded compaction a harness attaches files again, which a life without it never saw.
    weighed = WeighedPath(session, ledger)
    withheld = np.zeros(n, np.int64) if exceeds else weighed.grown
    if len(compacted) and compacted[0]:
        more = np.where(np.isin(sort, UNSEEN) | failed, 0, withheld)[compacted[0] :]
        hidden[compacted[0] :] = hidden[compacted[0] - 1] + np.cumsum(more)
    same = np.cumsum(np.isin(sort, (COMPACTION, MICRO))) == 0
    seen = np.flatnonzero(~np.isin(sort, UNSEEN) & ~failed)
    at = path[seen]
    replies = tree.role[at] == ASSISTANT
    tokens = ledger.entry_tokens[at].astype(np.int64)
    answers, still = _find_open(session, at, replies)
    turn = history.turn[history.step] if n else history.step
    life = Timeline(
        session=session,
        at=at,
        step=history.step[seen],
        turn=turn[seen],
        tokens=tokens,
        weight=weigh_entries(session, ledger, measure)[at] if measure not in COUNTED else tokens,
        hidden=hidden[seen].astype(np.int64),
        withheld=withheld[seen],
        prompt=np.where(same, usage[1], -1)[seen],
        output=np.where(replies, np.where(usage[2][seen] > 0, usage[2][seen], tokens), 0),
        replies=replies,
        reports=said[seen],
        open=still,
        requests=replies & ~still[:-1],
        answers=answers,
        recorded=recorded,
        peak=peak,
        refusals={},
        earlier=0 if exceeds else weighed.earlier,
        scale=1.0 if exceeds else weighed.scale.middle,
        exceeds=exceeds,
    )
    for i, kind in refused:
        size = int(full[i] + hidden[max(i - 1, 0)])
        status = find_status(session.entries[path[i]].error)
        told = Refusal(kind, int(path[i]), int(history.step[i]), int(turn[i]), size, status)
        life.refusals.setdefault(int(np.searchsorted(seen, i)), []).append(told)
    return life


def take_out(life: Timeline, bare: Session, ledger: Ledger, measure: Measure) -> Timeline:
    """The same life with entries that hold less, as `bare` has them, counted by its `ledger`.

    What was reported beyond what was counted stays, but for what was withheld of what is taken out; the
    requests that were reported were others.
    """
    tokens = ledger.entry_tokens[life.at].astype(np.int64)
    less = np.array([life.session.entries[i] is not bare.entries[i] for i in life.at.tolist()], bool)
    still = np.minimum(life.withheld, np.rint((life.scale - 1) * tokens).astype(np.int64))
    return replace(
        life,
        session=bare,
        tokens=tokens,
        withheld=np.where(less, still, life.withheld),
        weight=weigh_entries(bare, ledger, measure)[life.at],
        prompt=np.full_like(life.prompt, -1),
    )


def _find_failed(session: Session, path: Ints, sort: Ints) -> tuple[Bools, list[tuple[int, Overflow]]]:
    """bool[p]: replies on the path that failed for length; and each, with what it was refused for."""
    failed = np.zeros(len(path), bool)
    refused: list[tuple[int, Overflow]] = []
    spoken = (session.tree.role[path] == ASSISTANT) & np.isin(sort, (MESSAGE, NOTE))
    for i in np.flatnonzero(spoken).tolist():
        entry = session.entries[path[i]]
        if entry.error is None and entry.stop_reason not in ("error", "model_context_window_exceeded"):
            continue
        kind = classify_refusal(None, f"{entry.error or entry.text} {entry.stop_reason or ''}")
        if kind is not None:
            failed[i] = True
            refused.append((i, kind))
    return failed, refused


def _read_usage(session: Session, ledger: Ledger, path: Ints, sort: Ints) -> Longs:
    """int64[3, p]: tokens of context, request and reply as each entry reports them, -1 where it does not."""
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
    made: dict[int, int] = {}
    called = tree.call >= 0
    start, holds = tree.start.tolist(), _any_rows(called, tree.start)[at] if n else np.zeros(0, bool)
    speaks = replies.tolist()
    for number in np.flatnonzero(holds | replies).tolist():
        if speaks[number] and (number == 0 or not speaks[number - 1]):
            made.clear()
        i = int(at[number])
        for row in range(start[i], start[i + 1]):
            if not called[row]:
                continue
            call = int(tree.call[row])
            if not tree.answers[row]:
                made[call] = number
                continue
            answers[number] = True
            asked = made.pop(call, None)
            if asked is not None and asked < number:
                change[asked + 1] += 1
                change[number + 1] -= 1
    return answers, np.cumsum(change)[: n + 1] > 0


def _any_rows(mask: Bools, start: Ints) -> Bools:
    """bool[n]: whether any of an entry's rows is set."""
    sums = np.concatenate(([0], np.cumsum(mask)))[start]
    return np.asarray(np.diff(sums) > 0)


def weigh_entries(session: Session, ledger: Ledger, measure: Measure) -> Longs:
    """int64, one per entry of the file: its weight by a measure that looks at messages alone."""
    if measure in COUNTED:
        return ledger.entry_tokens.astype(np.int64)
    if measure == "messages":
        return np.ones(len(session.entries), np.int64)
    return ledger.weights(measure).astype(np.int64)
