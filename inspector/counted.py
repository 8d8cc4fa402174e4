"""Rows of a session with what each of them counts, by a counter that is not fitted to anything yet.

In go a session and a counter, out come columns. Where the same session was counted when it was shorter,
only what came since is looked at. `ledger` makes them into what people see.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .counter import Counter
from .models import model_of
from .rows import Bytes, gather_rows
from .session.blocks import Block
from .session.session import Entry, Session
from .session.tree import Ints

Tell = Callable[[float], None]
N = TypeVar("N", np.int32, np.uint8)

BATCH, MOST_BATCHES = 2**21, 100
"""Characters counted between two words about progress, at least, and how many such words there are at most.
Fewer characters at once would keep the counter from using every core."""


@dataclass(frozen=True, eq=False)
class Counted:
    """Columns over the r rows of a session with n entries, as in `Ledger`; `words` and `pictures` int32[r].

    `uncounted` are rows that cost more than is counted, and why.
    """

    counter: Counter
    model: str | None
    entries: tuple[Entry, ...]
    entry: Ints
    block: Ints
    kind: Bytes
    section: Bytes
    start: Ints
    head: int
    words: Ints
    pictures: Ints
    uncounted: tuple[tuple[int, str], ...]

    @cached_property
    def uncounted_rows(self) -> Ints:
        """int32: the rows that cost more than is counted, each once."""
        return np.unique(np.array([row for row, _ in self.uncounted], np.int32))


def count_rows(session: Session, counter: Counter, tell: Tell | None, known: Counted | None) -> Counted:
    """Count every row, those that stand in `known` as they were counted there."""
    model = model_of(session)
    if known is None or known.counter is not counter or known.model != model:
        return _count(session, 0, counter, model, tell)
    shared = _find_shared(known.entries, session.entries)
    fresh = _count(session, shared, counter, model, tell)
    first, end = int(known.start[0]), int(known.start[shared])
    moved = fresh.head - first

    def join(old: NDArray[N], new: NDArray[N]) -> NDArray[N]:
        return np.concatenate((new[: fresh.head], old[first:end], new[fresh.head :]))

    uncounted = [(row, why) for row, why in fresh.uncounted if row < fresh.head]
    uncounted += [(row + moved, why) for row, why in known.uncounted if first <= row < end]
    uncounted += [(row + end - first, why) for row, why in fresh.uncounted if row >= fresh.head]
    return Counted(
        counter=counter,
        model=model,
        entries=session.entries,
        entry=join(known.entry, fresh.entry),
        block=join(known.block, fresh.block),
        kind=join(known.kind, fresh.kind),
        section=join(known.section, fresh.section),
        start=np.concatenate((known.start[:shared] + moved, fresh.start + end - first)),
        head=fresh.head,
        words=join(known.words, fresh.words),
        pictures=join(known.pictures, fresh.pictures),
        uncounted=tuple(uncounted),
    )


def _find_shared(old: tuple[Entry, ...], new: tuple[Entry, ...]) -> int:
    """How many entries at the beginning have the same rows in both."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (a, b) in pairs if not _has_same_rows(a, b)), min(len(old), len(new)))


def _has_same_rows(a: Entry, b: Entry) -> bool:
    if a is b:
        return True
    if (a.role, a.kind, len(a.blocks)) != (b.role, b.kind, len(b.blocks)):
        return False
    return all(map(_is_same, a.blocks, b.blocks))


def _is_same(a: Block, b: Block) -> bool:
    # Equal JSON is not always equal text: 1 and true are the same to Python.
    return a is b or (a.kind == "text" and b.kind == "text" and a.text == b.text)


def _count(session: Session, first: int, counter: Counter, model: str | None, tell: Tell | None) -> Counted:
    """Count the head and the entries from `first` on."""
    part = session
    if first:
        fields = {name: getattr(session, name) for name in ("format", "system", "tools", "provided")}
        part = Session.model_construct(**fields, entries=session.entries[first:])
    rows = gather_rows(part, model, counter.image)
    texts = [*rows.texts, *(text for _, text in rows.more)]
    counts = counter.count(texts) if tell is None else _count_in_batches(counter, texts, tell)
    words = np.array(counts[: len(rows.texts)], np.int32)
    np.add.at(words, [row for row, _ in rows.more], counts[len(rows.texts) :])
    pictures = np.zeros(len(words), np.int32)
    np.add.at(pictures, [row for row, _ in rows.pictures], [tokens for _, tokens in rows.pictures])
    return Counted(
        counter=counter,
        model=model,
        entries=session.entries,
        entry=np.where(rows.entry < 0, rows.entry, rows.entry + np.int32(first)),
        block=rows.block,
        kind=rows.kind,
        section=rows.section,
        start=rows.start,
        head=rows.head,
        words=words,
        pictures=pictures,
        uncounted=tuple(rows.uncounted),
    )


def _count_in_batches(counter: Counter, texts: list[str], tell: Tell) -> Ints:
    """int32: tokens of each text, a batch at a time."""
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    total = int(ends[-1]) if texts else 0
    batch = max(BATCH, -(-total // MOST_BATCHES))
    places = np.searchsorted(ends, np.arange(batch, total, batch)) + 1
    out, first = np.zeros(len(texts), np.int32), 0
    for end in np.unique(np.append(places, len(texts))).tolist():
        out[first:end] = counter.count(texts[first:end])
        first = end
        tell(float(ends[end - 1] / total) if total else 1.0)
    return out
