"""Find the edits that make a statement of a sentence which is nearly a copy of it."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from .terms import Term

NEAR = 0.6
"""The share of a statement's terms, in order, that makes a sentence a near copy."""


class Edit(NamedTuple):
    """Terms `a` to `a_end` of a statement became terms `b` to `b_end` of a place; marks are not counted."""

    a: int
    a_end: int
    b: int
    b_end: int


def find_edits(own_terms: Sequence[Term], other_terms: Sequence[Term]) -> tuple[list[Edit], float] | None:
    """Find the edits from a statement to a sentence, or None if the sentence is no near copy.

    Args:
        own_terms: The terms of the statement.
        other_terms: The terms of the sentence.

    Returns:
        The edits, and the share of the statement's terms that are in the sentence in their order. Further
        words of the clause around the copy count as added.

    >>> from .terms import read_terms
    >>> find_edits(read_terms("Keep it for 5 days."), read_terms("Keep it for 7 days."))
    ([Edit(a=3, a_end=4, b=3, b_end=4)], 0.75)
    """
    own = [term.form for term in own_terms if term.sort != "mark"]
    other = [term.form for term in other_terms if term.sort != "mark"]
    if len(own) < 2 or _count_in_order(own, other) / len(own) < NEAR:
        return None
    matcher = SequenceMatcher(None, own, other, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    matched = sum(block.size for block in blocks) / len(own)
    if matched < NEAR or blocks[-1].b + blocks[-1].size - blocks[0].b > 1.6 * len(own) + 2:
        return None
    a, b = 0, _clause_around(other_terms, max(0, blocks[0].b - blocks[0].a))[0]
    edits = list[Edit]()
    for block in blocks:
        if (a, b) != (block.a, block.b):
            edits.append(Edit(a, block.a, b, block.b))
        a, b = block.a + block.size, block.b + block.size
    end = min(len(other), b + len(own) - a)
    if a < len(own):
        edits.append(Edit(a, len(own), b, end))
    high = _clause_around(other_terms, max(0, end - 1))[1]
    return ([*edits, Edit(len(own), len(own), end, high)] if high > end else edits), matched


def _count_in_order(own: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence: no list of matching blocks has more terms.

    >>> _count_in_order("a b c d".split(), "b x a c".split())
    2
    """
    places = dict.fromkeys(other, 0)
    for at, form in enumerate(own):
        if form in places:
            places[form] |= 1 << at
    unmatched = every = (1 << len(own)) - 1  # one bit for each term, as in Hyyrö's algorithm
    for form in other:
        matching = unmatched & places[form]
        unmatched = (unmatched + matching | unmatched - matching) & every
    return len(own) - unmatched.bit_count()


def _clause_around(terms: Sequence[Term], index: int) -> tuple[int, int]:
    """Return the first and last index of the clause around a term; marks are not counted."""
    low = place = 0
    for term in terms:
        if term.sort != "mark":
            place += 1
            continue
        if place > index:
            break
        low = place
    return low, place
