"""Read the bounds of numbers: "at most 5", "not longer than 5" and "5 or less" are the same upper bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from .force import find_clauses, has_negation, is_negation
from .terms import Term
from .vocabulary import LIMITS, LOWER_LIMITS, stem
from .word_order import Pairs

Bound = Literal["upper", "lower"]


class Bounded(NamedTuple):
    """The bound of a number, and the place of the word that sets it."""

    bound: Bound
    by: int


Difference = tuple[int, int | None]
"""The place of a term of a statement, and of the one that a text has instead of it, if any."""

_LESS = frozenset(map(stem, ("less", "fewer", "lower", "smaller", "shorter", "earlier", "sooner")))
_MORE = frozenset(map(stem, ("more", "greater", "larger", "bigger", "longer", "higher", "later", "above")))
_BELOW = frozenset(map(stem, ("below", "under", "beneath")))
_EXACT = frozenset(("exactly", stem("precisely")))
_FAR = 4
"""Terms between a word that compares and its number, at most."""


@lru_cache(512)
def read_bounds(terms: tuple[Term, ...]) -> Mapping[int, Bounded]:
    """Return the bounds of the numbers of a sentence, by place.

    >>> from .terms import read_terms
    >>> texts = "At most 5 s.", "Not fewer than 5 s.", "5 s or more.", "It may not drop below 5 s."
    >>> [bounded.bound for text in texts for bounded in read_bounds(read_terms(text)).values()]
    ['upper', 'lower', 'lower', 'lower']
    """
    result: dict[int, Bounded] = {}
    for clause in find_clauses(terms):
        bounded: Bounded | None = None
        since, negated = 0, False
        for place, at in enumerate(clause):
            term, following = terms[at], terms[clause[place + 1]].form if place + 1 < len(clause) else ""
            negated = negated or is_negation(term)
            direction = _direction(term, following)
            if direction is not None and place and terms[clause[place - 1]].form == "or":
                _set_behind(result, terms, clause[:place], Bounded(direction, at))
            elif direction is not None:
                is_flipped = negated and term.form not in LIMITS | LOWER_LIMITS
                opposite: Bound = "lower" if direction == "upper" else "upper"
                bounded, since = Bounded(opposite if is_flipped else direction, at), place
            elif term.form[:2] == "n:":
                if bounded is not None and place - since <= _FAR:
                    result[at] = bounded
                bounded, negated = None, False
        if bounded is not None:  # "200 rows at least"
            _set_behind(result, terms, clause[: since + 1], bounded)
    return result


def _direction(term: Term, following: str) -> Bound | None:
    """Return the bound that a word sets if nothing negates it."""
    if term.form in LOWER_LIMITS:
        return "lower"
    if term.form in LIMITS:
        return "upper"
    if term.sort == "over":
        return "lower"
    if term.form in _BELOW:
        return "upper"
    if term.form in _LESS:
        return "upper" if following in ("than", "") or following[:2] == "n:" else None
    return "lower" if term.form in _MORE and following in ("than", "") else None


def _set_behind(
    result: dict[int, Bounded], terms: Sequence[Term], before: Sequence[int], bounded: Bounded
) -> None:
    """Set the bound of the last number before a word: "5 or less"."""
    for at in before[: -_FAR - 2 : -1]:
        if terms[at].form[:2] == "n:":
            result.setdefault(at, bounded)
            return


def agrees(own: tuple[Term, ...], other: tuple[Term, ...], pairs: Pairs) -> bool:
    """Whether a text has the same bound for each number of a statement, and there is one."""
    here, there = read_bounds(own), read_bounds(other)
    met = dict(pairs)
    return bool(here) and all(
        at in met and met[at] in there and there[met[at]].bound == bounded.bound
        for at, bounded in here.items()
    )


def find_comparisons(terms: Sequence[Term]) -> dict[int, tuple[str, bool]]:
    """Return what compares in a sentence, by place: its form, and whether it is refused.

    Words that all mean "more" have one form.

    >>> from .terms import read_terms
    >>> find_comparisons(read_terms("shorter than 5 s, never above 9"))
    {0: ('short than', False), 5: ('over', True)}
    """
    result = {}
    for clause in find_clauses(terms):
        refused = False
        for place, at in enumerate(clause):
            ahead = [terms[other] for other in clause[place + 1 : place + _FAR]]
            refused = refused or (place > 0 and is_negation(terms[clause[place - 1]]))
            if terms[at].form == "than" and place and terms[at - 1].sort == "word":
                result[at - 1] = f"{terms[at - 1].form} than", refused
            elif terms[at].sort == "over" and (
                terms[at].form.endswith("than") or any(other.form[:2] == "n:" for other in ahead)
            ):
                result[at] = "over", refused
    return result


def find_limit(
    own: tuple[Term, ...], other: tuple[Term, ...], pairs: Pairs
) -> tuple[bool, Difference] | None:
    """Find a limit or a comparison that a text does not share, and whether it surely has another."""
    bounds_here, bounds_there = read_bounds(own), read_bounds(other)
    both = [(at, to) for at, to in pairs if at in bounds_here and to in bounds_there]
    for at, to in both:
        if bounds_here[at].bound != bounds_there[to].bound:
            return True, (bounds_here[at].by, bounds_there[to].by)
    if agrees(own, other, pairs):
        return None
    own_forms, forms = ({term.form for term in terms} for terms in (own, other))
    for kind, opposed in ((LIMITS, LOWER_LIMITS), (LOWER_LIMITS, LIMITS)):
        if own_forms & kind and forms & opposed and not own_forms & opposed and not forms & kind:
            return True, (_find(own, kind), _find(other, opposed))
    bounds = LIMITS | LOWER_LIMITS
    for kind, opposed in ((_EXACT, bounds), (bounds, _EXACT)):
        if own_forms & kind and forms & opposed and not own_forms & opposed and not forms & kind:
            return False, (_find(own, kind), _find(other, opposed))
    here, there = find_comparisons(own), find_comparisons(other)
    had, has = {form for form, _ in here.values()}, {form for form, _ in there.values()}
    new = [(at, refused) for at, (form, refused) in there.items() if form not in had]
    for at, (form, refused) in here.items():
        if form in has:
            continue
        if new:
            return refused == new[0][1], (at, new[0][0])
        # "Never more than 5" is "at most 5", and "5 or less".
        if not (refused or forms & bounds or has_negation(other)):
            return False, (at, None)
    for at, refused in new if not here else ():
        number = next((place for place in range(at, len(other)) if other[place].form[:2] == "n:"), -1)
        own_number = next((item for item, place in pairs if place == number), None)
        if own_number is not None and not refused and not (had or own_forms & LOWER_LIMITS):
            return bool(own_forms & LIMITS), (own_number, at)
    return None


def _find(terms: Sequence[Term], forms: frozenset[str]) -> int:
    return next(at for at, term in enumerate(terms) if term.form in forms)
