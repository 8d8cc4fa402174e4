"""Pair the terms of two texts, and find terms that changed places or were replaced."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from .indexed_text import is_same, is_subject
from .terms import Term
from .vocabulary import split_words, stem

Pairs = Sequence[tuple[int, int]]
"""Index of a term of a statement and of the term of a place that means the same, in the former's order."""
Difference = tuple[int, int | None]
"""The place of a term of a statement, and of the one that a text has instead of it, if any."""


def pair_terms(own: Sequence[Term], other: Sequence[Term]) -> list[tuple[int, int]]:
    """Pair each term of a statement with one of a place that means the same. Equal forms are paired first."""
    places: dict[str, list[int]] = {}  # where each form is, the first place last
    for at in range(len(other) - 1, -1, -1):
        if other[at].sort not in ("mark", "small"):
            places.setdefault(other[at].form, []).append(at)
    pairs: dict[int, int] = {}
    terms_to_pair = [(at, term) for at, term in enumerate(own) if term.sort not in ("mark", "small")]
    for at, term in terms_to_pair:
        if places.get(term.form):
            pairs[at] = places[term.form].pop()
    remaining = {form: other[rows[-1]] for form, rows in places.items() if rows}
    unlike = set[tuple[str, str]]()
    for at, term in terms_to_pair:
        if at in pairs or term[:2] in unlike:
            continue
        if form := next((form for form, item in remaining.items() if is_same(term, item)), ""):
            pairs[at] = places[form].pop()
            if not places[form]:
                del remaining[form]
        else:
            unlike.add(term[:2])
    return sorted(pairs.items())


JOINS = frozenset(("and", "or", "but", "then"))
"""Words between the parts of a list, besides its marks."""
RELATIONS = frozenset(
    (
        *map(stem, split_words("before after to into then because since therefore cause")),
        *("so", "over", "instead of", "rather than"),
    )
)
"""Forms of words that say different things if what stands before and after them is exchanged."""


def find_exchange(pairs: Pairs, own: Sequence[Term], other: Sequence[Term]) -> tuple[int, int] | None:
    """Find two phrases that changed places around others that did not: "tabs in the Makefile, spaces
    elsewhere", "spaces in the Makefile, tabs elsewhere"; or across the mark between two clauses."""
    subjects = [(at, to) for at, to in pairs if is_subject(own[at])]
    order = sorted(range(len(subjects)), key=lambda number: subjects[number][1])
    moved = [number for number, rank in enumerate(order) if number != rank]
    if not moved:
        return None
    first, last = moved[0], moved[-1] + 1
    for size in (1, 2, 3):
        for other_size in (1, 2, 3):
            left, right = range(first, first + size), range(last - other_size, last)
            middle = range(left.stop, right.start)
            if left.stop > right.start or order[first:last] != [*right, *middle, *left]:
                continue
            between = own[subjects[left[-1]][0] : subjects[right[0]][0]]
            parted = bool(middle) or any(term.sort == "mark" and term.form in ".;" for term in between)
            if parted and _is_same_around(
                [subjects[number] for number in (*left, *right)], subjects, own, other
            ):
                return subjects[first]
    return None


def _is_same_around(
    moved: Sequence[tuple[int, int]],
    pairs: Pairs,
    own: Sequence[Term],
    other: Sequence[Term],
) -> bool:
    """Whether the words around some terms are the same, small words included, so that only these moved."""
    low, high = min(to for _, to in pairs), max(to for _, to in pairs) + 1
    here, there = {at for at, _ in moved}, {to for _, to in moved}
    rest = [term.form for at, term in enumerate(own) if at not in here and term.sort != "mark"]
    around = [other[to].form for to in range(low, high) if to not in there and other[to].sort != "mark"]
    return SequenceMatcher(None, rest, around, autojunk=False).ratio() >= 0.7


def find_reversed(pairs: Pairs, own: Sequence[Term], other: Sequence[Term]) -> tuple[int, int] | None:
    """Find two things that changed sides: "tests before code", "code before tests"."""
    sides = {to: at for at, to in pairs if is_subject(own[at])}
    parts = list(accumulate(term.sort == "mark" and term.form != "," for term in other))
    for at, term in enumerate(own):
        if term.form not in RELATIONS:
            continue
        for place in (place for place, item in enumerate(other) if item.form == term.form):
            beside = [(to, item) for to, item in sides.items() if parts[to] == parts[place]]
            before_place = [item for to, item in beside if place - 5 <= to < place]
            right = [item for to, item in beside if place < to <= place + 5]
            crossed = [item for item in right if item < at]
            if crossed and any(item > at for item in before_place):
                return crossed[0], next(to for to, item in sides.items() if item == crossed[0])
    return None


def is_same_kind(item: Term, other: Term) -> bool:
    """Whether one value can replace another: a path only one that shares a folder, a name or an ending.

    >>> from .terms import read_terms
    >>> path, other, name = read_terms("src/a.ts lib/a.ts JSON")
    >>> is_same_kind(path, other), is_same_kind(path, name)
    (True, False)
    """
    kinds = {item.form[0], other.form[0]}
    if kinds != {"p"}:
        return len(kinds) == 1 or kinds == {"n", "i"}
    here, there = (set(filter(None, term.form[2:].split("/"))) for term in (item, other))
    endings = {term.form.rpartition(".")[2] for term in (item, other)}
    return bool(here & there) or (len(here) == len(there) == len(endings) == 1)


def find_value_swap(gone: Sequence[Term], new: Sequence[Term]) -> tuple[Term, Term] | None:
    """Find a value that another replaces: two that are spelled alike, else the first two of a kind."""
    values = [(item, two) for item in gone for two in new if item.sort == two.sort == "value"]
    values = [pair for pair in values if is_same_kind(*pair)]
    return next((pair for pair in values if is_alike_name(*pair)), values[0] if values else None)


def is_alike_name(item: Term, other: Term) -> bool:
    """Whether two values are spelled alike."""
    return similarity(item.form, other.form) >= 0.5


_MISSPELT = 0.75
"""The least similarity of two words of which one may be a typing error."""


def is_misspelt(term: Term, other: Term) -> bool:
    """Whether two words differ so little that one may be a typing error: "pallete", "palette"."""
    alike = term.form[:1] == other.form[:1] and len(term.form) > 3
    return alike and term.sort == other.sort == "word" and similarity(term.form, other.form) >= _MISSPELT


def similarity(item: str, other: str) -> float:
    return SequenceMatcher(None, item, other).ratio()
