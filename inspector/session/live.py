"""The context at the leaf of a session, as columns. Structure only, no tokens.

The input is the entries, their `Tree` and the leaf. The output is the path from the root, and the `Live`
view: what the last compaction on that path left of it. The rule is Flue's (FLUE §1.2), which the other
formats fit into: `[summary] + path[first kept … compaction) + path(after the compaction …]`. After Claude
Code's `/rewind` a summary may come after the kept entries, and an earlier summary may be kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .tree import ASSISTANT, COMPACTION, MICRO, NOTE, USER, Bools, Ints, Tree

if TYPE_CHECKING:
    from .entries import Entry

UNSEEN = (COMPACTION, MICRO, NOTE)
ANY_ORDER = ("codex",)
"""Formats whose provider accepts the output of a call anywhere after the call, as OpenAI's Responses does."""


def find_members(values: Ints, some: Sequence[int]) -> Bools:
    """Return `np.isin`, in a tenth of the time for few values in `some`."""
    if len(some) > len(UNSEEN):
        return np.isin(values, some)
    out = np.zeros(len(values), bool)
    for value in some:
        out |= values == value
    return out


@dataclass(frozen=True, eq=False)
class Live:
    """Columns over the n entries, m blocks and k call/output pairs in the context at the leaf.

    entries   int32[n]    position in `entries`
    role      int32[n]    index into ROLES
    turn      int32[n]    turn number, 0-based, counted along the whole path
    step      int32[n]    step number, 0-based, dense in this view: one request with its tool outputs
    opens     bool[n]     a user's words start here
    start     int32[n+1]  blocks of live entry p are rows start[p] … start[p+1]
    position  int32[m]    row -> live entry
    block     int32[m]    row -> index of the block in its entry
    cleared   bool[m]     a recorded clearing of outputs emptied this one
    pairs     int32[k,2]  rows of a call and of the output that answers it
    orphans   int32[·]    rows of outputs whose call is not in the context
    pending   int32[·]    rows of calls that nothing in the context answers
    lone      int32[·]    rows of both kinds that a provider rejects; a pending tool that the provider runs
                          itself is accepted at the end of the context
    summary   int         live position of the last recorded summary: 0 if it is first, or -1

    >>> from inspector import read_session
    >>> call = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
    >>> answer = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}
    >>> live: Live = read_session([{"role": "user", "content": "What is here?"},
    ...                            {"role": "assistant", "content": [call]},
    ...                            {"role": "user", "content": [answer]}]).live
    >>> len(live), live.pairs.tolist(), live.pending.tolist()
    (3, [[1, 2]], [])
    >>> live.partner.tolist(), live.step.tolist()
    ([-1, 2, 1], [0, 1, 1])
    """

    entries: Ints
    role: Ints
    turn: Ints
    step: Ints
    opens: Bools
    start: Ints
    position: Ints
    block: Ints
    cleared: Bools
    pairs: Ints
    orphans: Ints
    pending: Ints
    lone: Ints
    summary: int

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def partner(self) -> Ints:
        """int32[m]: the row of the matching call or output, -1 if there is none."""
        out = np.full(len(self.position), -1, np.int32)
        out[self.pairs[:, 0]], out[self.pairs[:, 1]] = self.pairs[:, 1], self.pairs[:, 0]
        return out


class TurnNumbers(Mapping[str, int]):
    """The turn of every entry on a path by its id, from 1; entries before the first turn belong to it."""

    def __init__(self, tree: Tree, entries: tuple[Entry, ...], path: Ints, path_index: Ints) -> None:
        self._tree, self._entries, self._path, self._path_index = tree, entries, path, path_index
        self._starts = np.flatnonzero(tree.opens[path]).tolist()

    def __getitem__(self, entry: str) -> int:
        place = int(self._path_index[self._tree.index[entry]])
        if place < 0:
            raise KeyError(entry)
        return max(bisect_right(self._starts, place), 1)

    def __iter__(self) -> Iterator[str]:
        return (self._entries[i].id for i in self._path.tolist())

    def __len__(self) -> int:
        return len(self._path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} entries, {len(self._starts)} turns)"


def find_path(tree: Tree, leaf: str | None) -> Ints:
    """Follow `parent` from the leaf while it resolves; a dangling parent ends the walk, a cycle too.

    It goes by whole stretches without a branch (`tree.chain`): most sessions are a few of them, however long.
    """
    at = tree.index.get(leaf) if leaf is not None else None
    begins: list[int] = []
    ends: list[int] = []
    reached: dict[int, int] = {}
    while at is not None:
        first = int(tree.chain[at])
        # If the parents form a cycle, this stretch may have been walked before, completely or in part.
        begins.append(reached.get(first, first - 1) + 1)
        ends.append(max(at + 1, begins[-1]))
        if first in reached:
            break
        reached[first] = at
        at = tree.parent[first]
    return join_stretches(np.array(begins[::-1], np.int32), np.array(ends[::-1], np.int32))


def index_path(path: Ints, entries: int) -> Ints:
    """Return the index on a path of each entry, -1 for entries that are not on it."""
    index = np.full(entries, -1, np.int32)
    index[path] = np.arange(len(path))
    return index


def join_stretches(begins: NDArray[Any], ends: NDArray[Any]) -> Ints:
    """Return the positions of all stretches [begin, end), one after another.

    >>> join_stretches(np.array([5, 0]), np.array([7, 1])).tolist()
    [5, 6, 0]
    """
    sizes = ends - begins
    before = np.cumsum(sizes, dtype=np.int32) - sizes
    out: Ints = np.arange(sizes.sum(), dtype=np.int32) + np.repeat(begins - before, sizes)
    return out


def find_live(tree: Tree, entries: tuple[Entry, ...], path: Ints, any_order: bool = False) -> Live:
    """Return the live view at the end of a path: int32 indices of its entries, from the root.

    With `any_order`, an output answers its call wherever it comes after the call (`ANY_ORDER`).
    """
    order, summary = _surviving(tree, entries, path)
    surviving = path[order]
    turn = np.maximum(np.cumsum(tree.opens[path], dtype=np.int32), 1)[order] - 1
    if summary == 0 and len(turn) > 1:
        turn[0] = turn[1]
    # A summary may be written later than the turns it is shown before.
    turn = np.minimum.accumulate(turn[::-1])[::-1]
    sizes = tree.start[surviving + 1] - tree.start[surviving]
    start = np.zeros(len(surviving) + 1, np.int32)
    np.cumsum(sizes, out=start[1:])
    position = np.repeat(np.arange(len(surviving), dtype=np.int32), sizes)
    block = np.arange(start[-1], dtype=np.int32) - start[position]
    rows = tree.start[surviving[position]] + block
    role, opens = tree.role[surviving], tree.opens[surviving]
    server, prompt = tree.server[rows], np.cumsum(role == USER, dtype=np.int32)
    spells = np.zeros(len(surviving), np.int32) if any_order else _spells(role)
    spell = np.where(server, prompt[position], spells[position])
    pairs, orphans, pending = _pairs(tree.call[rows], tree.answers[rows], spell)
    at_work = server[pending] & (prompt[position[pending]] == prompt[-1:])
    return Live(
        entries=surviving,
        role=role,
        turn=turn,
        step=_steps(role, opens, tree.sort[surviving] == COMPACTION),
        opens=opens,
        start=start,
        position=position,
        block=block,
        cleared=tree.answers[rows] & find_members(tree.call[rows], _cleared(tree, entries, path)),
        pairs=pairs,
        orphans=orphans,
        pending=pending,
        lone=np.concatenate([orphans, pending[~at_work]]),
        summary=summary,
    )


def _surviving(tree: Tree, entries: tuple[Entry, ...], path: Ints) -> tuple[Ints, int]:
    """Return the path positions of the context, in order, and the index of the last summary in it."""
    sort = tree.sort[path]
    compactions = np.flatnonzero(sort == COMPACTION)
    stays = ~find_members(sort, UNSEEN)
    if not len(compactions):
        return np.flatnonzero(stays).astype(np.int32), -1
    last, where = int(compactions[-1]), index_path(path, len(entries))
    after = np.flatnonzero(stays[last + 1 :]) + last + 1
    stays |= sort == COMPACTION
    older = _list_older(tree, entries, path, where, stays, last)
    boundary = entries[path[last]].boundary
    summary = len(older) if boundary is not None and boundary.summary_last else 0
    return np.concatenate((older[:summary], [last], older[summary:], after)).astype(np.int32), summary


def _list_older(
    tree: Tree, entries: tuple[Entry, ...], path: Ints, where: Ints, stays: Bools, last: int
) -> Ints:
    """List the path positions that a compaction kept, in context order: a summary before what it kept."""

    def find_kept(at: int) -> Ints:
        spans = [np.arange(*span, dtype=np.int32) for span in list_kept(tree, entries, path, where, at)]
        positions: Ints = np.concatenate([np.zeros(0, np.int32), *spans])
        return positions[stays[positions]]

    positions = find_kept(last)
    summaries = tree.sort[path[positions]] == COMPACTION
    older = positions[~summaries]
    for at in positions[summaries].tolist():
        boundary, place = entries[path[at]].boundary, int((older < at).sum())
        if boundary is not None and not boundary.summary_last:
            place = min([*np.flatnonzero(np.isin(older, find_kept(at))).tolist(), place])
        older = np.insert(older, place, at)
    return np.asarray(older, np.int32)


def list_kept(
    tree: Tree, entries: tuple[Entry, ...], path: Ints, where: Ints, at: int
) -> list[tuple[int, int]]:
    """Spans of a path before a compaction that it kept, in order and none of them twice.

    Of the summaries before it only those that it names. `where` is the `index_path` of the path.
    """
    boundary = entries[path[at]].boundary
    if boundary is None:
        return []

    def find(name: str | None) -> int:
        place = int(where[tree.index[name]]) if name in tree.index else at
        return place if 0 <= place < at else at

    first, named = find(boundary.first_kept), {find(name) for name in boundary.kept}
    spans = [(position, position + 1) for position in sorted(named) if position < first]
    for between in (np.flatnonzero(tree.sort[path[first:at]] == COMPACTION) + first).tolist():
        if between not in named:
            spans.append((first, between))
            first = between + 1
    return [*spans, (first, at)]


def _cleared(tree: Tree, entries: tuple[Entry, ...], path: Ints) -> list[int]:
    """Numbers of the calls whose outputs were cleared on the path."""
    calls, bounded = tree.calls, tree.bounded
    if not len(bounded):
        return []
    boundaries = [entries[i].boundary for i in bounded[np.isin(bounded, path)].tolist()]
    return [
        calls[call]
        for boundary in boundaries
        if boundary is not None and boundary.kind == "micro"
        for call in boundary.cleared
        if call in calls
    ]


def _spells(role: Ints) -> Ints:
    """Number the spells in which a call can be answered: one begins with each group of assistant messages.

    Adjacent assistant messages are one to a provider.
    """
    speaks = role == ASSISTANT
    begins = speaks.copy()
    begins[1:] &= ~speaks[:-1]
    return np.cumsum(begins, dtype=np.int32)


def _steps(role: Ints, opens: Bools, summaries: Bools) -> Ints:
    """A step begins at a user's words, at an assistant's message, and at and after a recorded summary."""
    begins: Bools = opens | (role == ASSISTANT) | summaries
    begins[1:] |= summaries[:-1]
    begins[:1] = True
    return (np.cumsum(begins) - 1).astype(np.int32)


def _pairs(call: Ints, answers: Bools, spell: Ints) -> tuple[Ints, Ints, Ints]:
    """Match outputs to calls as a provider does.

    An output belongs to the last call with its id before it in the same spell. A second or later output is an
    orphan. A call that is repeated before it has an output stays pending. For a tool that the provider runs
    itself, a spell ends only with a message of the user, because its result may come after the results of the
    client's tools.
    """
    rows = np.flatnonzero(call >= 0).astype(np.int32)
    # Sorting brings calls and outputs of one id and spell together, in their order.
    rows = rows[np.lexsort((call[rows], spell[rows]))]
    output = answers[rows]
    paired = np.zeros(len(rows), bool)
    paired[1:] = (np.diff(call[rows]) == 0) & (np.diff(spell[rows]) == 0) & output[1:] & ~output[:-1]
    answered = np.roll(paired, -1)
    pairs = np.stack([rows[answered], rows[paired]], axis=1)
    return (
        pairs[np.argsort(pairs[:, 1])],
        np.sort(rows[output & ~paired]),
        np.sort(rows[~output & ~answered]),
    )
