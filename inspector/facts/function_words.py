"""Function words that decide what a sentence says: what compares, joins or switches.

They carry no subject, so that two texts with the same subject can differ in them alone: "longer than",
"shorter than"; "all", "some"; "compressor off, fan on". The bound of a number is one meaning in several
words: "at most 5", "not longer than 5" and "5 or less".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from .force import Force, find_clauses, has_negation, is_negation
from .indexed_text import is_same, is_subject
from .terms import Term
from .vocabulary import LIMITS, LOWER_LIMITS, SMALL, stem
from .word_order import JOINS, Difference, Pairs

_OPPOSED = sorted(
    {
        (item if item in SMALL else stem(item), other if other in SMALL else stem(other))
        for items, others in (
            ("all every each any both", "some most many several"),
            ("on", "off"),
            ("in", "out"),
            ("up", "down"),
            ("more", "less fewer"),
            ("most", "least fewest"),
        )
        for item in items.split()
        for other in others.split()
    }
)
_SENSES = frozenset((("by", "to"), ("by", "on"), ("by", "at"), ("from", "until")))
"""Words before a value that give it another sense: "raise by 5", "raise to 5"."""


def find_unlike(pairs: Pairs, here: Force, there: Force) -> Difference | None:
    """Find a word that decides what the statement `here` says, and another for it in the text `there`."""
    own, other = here.terms, there.terms
    return (
        find_opposite(own, other)
        or find_loose_join(pairs, here, there)
        or _find_other_sense(own, other, pairs)
    )


def _find_other_sense(own: Sequence[Term], other: Sequence[Term], pairs: Pairs) -> Difference | None:
    """Find "to" before a value in the place of "by"."""
    for at, to in pairs:
        if own[at].sort == "value" and at and to:
            senses = own[at - 1].form, other[to - 1].form
            if senses in _SENSES or senses[::-1] in _SENSES:
                return at - 1, to - 1
    return None


def find_opposite(own: Sequence[Term], other: Sequence[Term]) -> Difference | None:
    """Find a function word that a text has the opposite of: "all", "some"; "and", "or" if nothing negates."""
    here, there = ([term.form for term in terms] for terms in (own, other))
    joins = [] if has_negation(own) or has_negation(other) else [("and", "or")]
    for pair in (*_OPPOSED, *joins):
        for item, opposed in (pair, pair[::-1]):
            if here.count(item) > there.count(item) and there.count(opposed) > here.count(opposed):
                return here.index(item), there.index(opposed)
    return None


def find_loose_join(pairs: Pairs, here: Force, there: Force) -> Difference | None:
    """Find an "and" that may end what a text refuses, where a statement refuses each: "never A or B", "do not
    A this and B that". "Do not A and B" joins as the statement does."""
    own, other, items = here.terms, there.terms, {place: item for item, place in pairs}
    joins = [at for at, term in enumerate(own) if term.form in ("and", "or", "nor")]
    if any(own[at].form == "and" and at in here.refused for at in joins):
        return None
    forms = {term.form for term in own}
    for at in sorted(there.refused) if joins else ():
        after = next((place for place in range(at, len(other)) if is_subject(other[place])), at)
        if other[at].form == "and" and other[after].form in forms:
            join = items.get(at - 1, -1) + 1
            if join not in here.refused.intersection(joins) or items.get(after, -1) < join:
                return joins[0], at
    return None


def find_other_state(own: Sequence[Term], other: Sequence[Term], pairs: Pairs) -> Difference | None:
    """Find a thing in a list that a text gives the state of another: "compressor off, fan on", "compressor
    and fan off"."""
    met = dict(pairs)
    states = [(thing, state) for thing, state in _read_states(own) if thing in met]
    things = dict[str, list[int]]()
    for thing, state in states:
        things.setdefault(own[state].form, []).append(met[thing])
    for thing, state in states if len(things) > 1 else ():
        beside = [_next_state(other, met[thing], step, things) for step in (1, -1)]
        found = [place for place in beside if place is not None]
        if found and not any(is_same(own[state], other[place]) for place in found):
            return state, found[0]
    return None


def _read_states(terms: Sequence[Term]) -> Iterator[tuple[int, int]]:
    """Yield the last two subjects of each part of a list, as the places of a thing and of its state."""
    part: list[int] = []
    for at in range(len(terms) + 1):
        if at == len(terms) or terms[at].sort == "mark" or terms[at].form in JOINS:
            subject = [place for place in part if is_subject(terms[place])]
            if len(subject) > 1:
                yield subject[-2], subject[-1]
            part = []
        else:
            part.append(at)


def _next_state(
    terms: Sequence[Term], thing: int, step: int, things: Mapping[str, Sequence[int]]
) -> int | None:
    """Return the next state beside a thing, unless it is nearer to one that it belongs to."""
    place = thing + step
    while 0 <= place < len(terms) and terms[place].form not in (".", ";", ":"):
        if is_subject(terms[place]) and terms[place].form in things:
            owners = things[terms[place].form]
            return None if any(abs(at - place) < abs(thing - place) for at in owners) else place
        place += step
    return None


Bound = Literal["upper", "lower"]


class Bounded(NamedTuple):
    """The bound of a number, and the place of the word that sets it."""

    bound: Bound
    by: int

    @property
    def turned(self) -> Bounded:
        """The opposite bound: "not above 5"."""
        return self._replace(bound="lower" if self.bound == "upper" else "upper")


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
    >>> [bounded.bound for bounded in read_bounds(read_terms("Above 5 MB is refused.")).values()]
    ['upper']
    """
    result: dict[int, Bounded] = {}
    for clause in find_clauses(terms):
        bounded: Bounded | None = None
        since, negated = 0, False
        before: list[int] = []  # the numbers whose bound a refusal behind them turns: "above 5 is refused"
        for place, at in enumerate(clause):
            term, following = terms[at], terms[clause[place + 1]].form if place + 1 < len(clause) else ""
            negated = negated or is_negation(term)
            if is_negation(term):
                result |= {number: result[number].turned for number in before}
                before = []
            direction = _direction(term, following)
            if direction is not None and place and terms[clause[place - 1]].form == "or":
                _set_behind(result, terms, clause[:place], Bounded(direction, at))
            elif direction is not None:
                is_flipped = negated and term.form not in LIMITS | LOWER_LIMITS
                bounded, since = Bounded(direction, at), place
                bounded = bounded.turned if is_flipped else bounded
            elif term.form[:2] == "n:":
                if bounded is not None and place - since <= _FAR:
                    result[at] = bounded
                    if not negated and terms[bounded.by].form not in LIMITS | LOWER_LIMITS:
                        before.append(at)
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
    here = read_bounds(own)
    if not here:
        return False
    there, met = read_bounds(other), dict(pairs)
    return all(
        at in met and met[at] in there and there[met[at]].bound == bounded.bound
        for at, bounded in here.items()
    )


def find_limit(
    own: tuple[Term, ...], other: tuple[Term, ...], pairs: Pairs
) -> tuple[bool, Difference] | None:
    """Find a limit or a comparison that a text does not share, and whether it surely has another.

    "Up to 4 workers" is not the rule "use 4 workers", but has the amount "4 workers".
    """
    bounds_here, bounds_there = read_bounds(own), read_bounds(other)
    both = [(at, to) for at, to in pairs if at in bounds_here and to in bounds_there]
    for at, to in both:
        if bounds_here[at].bound != bounds_there[to].bound:
            return True, (bounds_here[at].by, bounds_there[to].by)
    if agrees(own, other, pairs):
        return None
    amounts = ((at, to) for at, to in pairs if own[at].form[:2] == "n:" and at and at not in bounds_here)
    if added := next(((at, bounds_there[to].by) for at, to in amounts if to in bounds_there), None):
        return False, added
    own_forms, forms = ({term.form for term in terms} for terms in (own, other))
    bounds = LIMITS | LOWER_LIMITS
    for kind, opposed in ((_EXACT, bounds), (bounds, _EXACT)):
        if own_forms & kind and forms & opposed and not own_forms & opposed and not forms & kind:
            return False, (_find(own, kind), _find(other, opposed))
    return None


def _find(terms: Sequence[Term], forms: frozenset[str]) -> int:
    return next(at for at, term in enumerate(terms) if term.form in forms)
