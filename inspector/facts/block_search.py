"""Search the blocks of a file: each is read once for what is asked of many contexts.

In go a session, the blocks to search and tests of their texts, out come the blocks that pass. A question is
asked of the context of every compaction, and most blocks are in several of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..session.blocks import Block
from ..session.session import Session
from ..session.tree import Bools, Tree

Test = Callable[[str], bool]
_MOST = 100
"""Tests of which a file keeps the results: those of the last questions."""


class _Searched(NamedTuple):
    """The blocks of a file that were read for a test, and those of them that passed it: bool per block."""

    read: Bools
    passed: Bools


_SEARCHED: WeakKeyDictionary[Tree, dict[str, _Searched]] = WeakKeyDictionary()


def search_blocks(
    session: Session, rows: Bools, tests: Mapping[str, Test], read: Callable[[Block], str]
) -> dict[str, Bools]:
    """Return the marks of the blocks that pass each test (bool per block, a last False).

    Args:
        session: A session of the file.
        rows: Marks the blocks to search.
        tests: The tests of a text, by names that tell one from another.
        read: Returns the text of a block that the tests are given.
    """
    cached = _SEARCHED.setdefault(session.tree, {})
    if len(cached) > _MOST:
        cached = _SEARCHED[session.tree] = {}
    searched = {name: cached.setdefault(name, _Searched(*np.zeros((2, len(rows)), bool))) for name in tests}
    unread = rows & ~np.logical_and.reduce([item.read for item in searched.values()])
    for row, block in list_blocks(session, unread).items():
        text = read(block)
        for name, test in tests.items():
            searched[name].passed[row] = test(text)
    for item in searched.values():
        item.read[rows] = True
    return {name: item.passed & rows for name, item in searched.items()}


def list_blocks(session: Session, rows: Bools) -> dict[int, Block]:
    """Return the marked blocks of a file by row."""
    entries, start = session.entries, session.tree.start
    places = np.flatnonzero(rows)
    owners = np.searchsorted(start, places, side="right") - 1
    return {
        row: entries[i].blocks[row - int(start[i])]
        for i, row in zip(owners.tolist(), places.tolist(), strict=True)
    }
