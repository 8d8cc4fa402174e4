"""Two texts -> their pieces: common, removed and added text. Used to show a shortened block."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import groupby

from .lines import LineKind, align_lines, count_common

Piece = tuple[LineKind, str]

MOST_CHARS = 100_000
"""Longer texts are not compared; the pieces of the longest take about as much room as the text."""
MOST_WORK = 60_000
"""Pairs of words that are compared within changed lines, some hundredths of a second."""
ALIKE = 0.3
"""Lines with less in common (share of the words' length) are removed and added as a whole."""

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


def find_pieces(before: str, after: str) -> list[Piece] | None:
    r"""Return the pieces of two texts in their order; None if either is longer than MOST_CHARS.

    The pieces that are not new give `before`, those that are not gone give `after`, exactly.

    >>> find_pieces("one\ntwo words\nthree", "one\ntwo things")
    [('same', 'one\ntwo '), ('gone', 'words\nthree'), ('new', 'things')]
    """
    if max(len(before), len(after)) > MOST_CHARS:
        return None
    return _merge(_refine(list(_line_pieces(before, after))))


def _line_pieces(before: str, after: str) -> Iterator[Piece]:
    """Line by line; a line's end belongs to it, so that the last line of a text has none."""
    rows = list(align_lines(before, after))
    old = sum(kind != "new" for kind, _ in rows)
    new = sum(kind != "gone" for kind, _ in rows)
    for kind, text in rows:
        old -= kind != "new"
        new -= kind != "gone"
        ends, its = "\n" if old else "", "\n" if new else ""
        if kind != "same":
            yield kind, text + (ends if kind == "gone" else its)
        else:
            yield kind, text + (ends if ends == its else "")
            if ends != its:
                yield ("gone", ends) if ends else ("new", its)


def _refine(pieces: list[Piece]) -> Iterator[Piece]:
    """Between what is the same: the words that changed lines still share."""
    for same, group in groupby(pieces, key=lambda piece: piece[0] == "same"):
        run = list(group)
        if same:
            yield from run
            continue
        gone = "".join(text for kind, text in run if kind == "gone")
        new = "".join(text for kind, text in run if kind == "new")
        yield from _word_pieces(gone, new) if gone and new else run


def _word_pieces(gone: str, new: str) -> Iterator[Piece]:
    old, its = _WORDS.findall(gone), _WORDS.findall(new)
    head = count_common(old, its)
    tail = count_common(old[head:][::-1], its[head:][::-1])
    inner, other = old[head : len(old) - tail], its[head : len(its) - tail]
    middle = list(_match(inner, other))
    shared = sum(map(len, old[:head])) + sum(map(len, old[len(old) - tail :]))
    shared += sum(len(text) for kind, text in middle if kind == "same" and not text.isspace())
    if shared < ALIKE * min(len(gone), len(new)):
        yield from (("gone", gone), ("new", new))
        return
    yield "same", "".join(old[:head])
    yield from middle
    yield "same", "".join(old[len(old) - tail :])


def _match(old: list[str], new: list[str]) -> Iterator[Piece]:
    if not old or not new or len(old) * len(new) > MOST_WORK:
        yield from (("gone", "".join(old)), ("new", "".join(new)))
        return
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "same", "".join(old[a:b])
        else:
            yield from (("gone", "".join(old[a:b])), ("new", "".join(new[c:d])))


def _merge(pieces: Iterable[Piece]) -> list[Piece]:
    """Between two that are the same, all that is gone and then all that is new."""
    merged: list[Piece] = []
    with_text = (piece for piece in pieces if piece[1])
    for same, group in groupby(with_text, key=lambda piece: piece[0] == "same"):
        run = list(group)
        kinds: tuple[LineKind, ...] = ("same",) if same else ("gone", "new")
        texts = ((kind, "".join(text for its, text in run if its == kind)) for kind in kinds)
        merged += [piece for piece in texts if piece[1]]
    return merged
