"""Search the blocks of a file: a question is asked of many contexts, and each block is read once for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from weakref import WeakKeyDictionary

import numpy as np

from ..session.blocks import Block
from ..session.session import Session
from ..session.tree import Bools, Tree

_SEARCHED: WeakKeyDictionary[Tree, dict[str, Bools]] = WeakKeyDictionary()
"""By the name of a test bool[2, blocks]: those that were read for it, and those that passed."""
_MOST = 100
"""Tests of which a file keeps the results, a question or two."""


def search_blocks(
    session: Session, rows: Bools, tests: Mapping[str, Callable[[str], bool]], read: Callable[[Block], str]
) -> dict[str, Bools]:
    """Return the marks of the blocks that pass each test (bool per block, a last False).

    Args:
        session: A session of the file.
        rows: Marks the blocks to search.
        tests: The tests of a text by their names; a name is of one test only.
        read: Returns the text of a block that the tests are given.
    """
    cached = _SEARCHED.setdefault(session.tree, {})
    if len(cached) > _MOST:
        cached = _SEARCHED[session.tree] = {}
    searched = {name: cached.setdefault(name, np.zeros((2, len(rows)), bool)) for name in tests}
    unread = rows & ~np.logical_and.reduce([was_read for was_read, _ in searched.values()])
    for row, block in list_blocks(session, unread).items():
        text = read(block)
        for name, test in tests.items():
            searched[name][1, row] = test(text)
    for was_read, _ in searched.values():
        was_read[rows] = True
    return {name: passed & rows for name, (_, passed) in searched.items()}


def list_blocks(session: Session, rows: Bools) -> dict[int, Block]:
    """Return the marked blocks of a file by row."""
    entries, start = session.entries, session.tree.start
    places = np.flatnonzero(rows)
    owners = np.searchsorted(start, places, side="right") - 1
    pairs = zip(owners.tolist(), places.tolist(), strict=True)
    return {row: entries[i].blocks[row - int(start[i])] for i, row in pairs}
