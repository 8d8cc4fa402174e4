"""Function words that decide what a sentence says: what compares, joins or switches.

They carry no subject, so that two texts with the same subject can differ in them alone: "longer than",
"shorter than"; "all", "some"; "compressor off, fan on".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .force import Force, find_clauses, find_crossed, has_negation
from .indexed_text import is_same, is_subject
from .terms import Term
from .vocabulary import SMALL, split_words, stem
from .word_order import JOINS, Pairs

Difference = tuple[int, int | None]
"""The place of a term of a statement, and of the one that a text has instead of it, if any."""
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


def find_unlike(pairs: Pairs, here: Force, there: Force, asks: bool) -> Difference | None:
    """Find a word that decides what the statement `here` says, and another for it in the text `there`."""
    own, other = here.terms, there.terms
    return (
        find_opposite(own, other)
        or (find_other_predicate(own, other, pairs) if asks else None)
        or find_loose_join(pairs, here, there)
        or find_crossed(pairs, here, there)
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


_DONE = frozenset(
    map(
        stem,
        split_words("""add create introduce build implement complete finish use employ apply keep retain
        preserve put set store configure enable agree confirm decide choose pick select"""),
    )
)
"""Stems that tell that a request was done or stands."""


def find_other_predicate(own: Sequence[Term], other: Sequence[Term], pairs: Pairs) -> Difference | None:
    """Find what a text says was done with the object of a request, without the request's verb: "keep the
    endpoint", "the endpoint was deleted".

    >>> from .terms import read_terms
    >>> own, other = read_terms("keep the endpoint"), read_terms("the endpoint was deleted")
    >>> find_other_predicate(own, other, [(2, 1)])
    (0, 3)
    """
    verb = next((at for at, term in enumerate(own) if is_subject(term)), -1)
    met, paired = dict(pairs), {to for _, to in pairs}
    clauses = find_clauses(other)
    for clause, following in zip(clauses, [*clauses[1:], []], strict=True):
        if paired.isdisjoint(clause) or met.get(verb) in clause:
            continue
        for at in [*clause, *(following if len(following) == 1 else [])]:  # "the endpoint: deleted"
            term = other[at]
            is_past = term.sort == "word" and term.end - term.start > len(term.form) + 1
            if (
                is_past
                and at not in paired
                and term.form not in _DONE
                and not any(is_same(term, item) for item in own)
            ):
                return verb, at
    return None
