"""Compare the structure of a statement and a text that have the same words.

Words in common do not decide what two sentences mean: "delete tags that are not merged", "do not delete tags
that are merged". Each check looks at the function words around paired terms: what is negated, when something
holds, how many, who does it, and in which clause. It returns the first pair that differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from .force import RELATIVE, Force, find_clauses, is_negation
from .indexed_text import is_subject
from .terms import Term
from .vocabulary import stem
from .word_order import JOINS, Difference, Pairs

Terms = Sequence[Term]

_TIMES: dict[str, frozenset[str]] = {
    form: frozenset(senses)
    for words, senses in (
        ("from since", ("from",)),
        ("until till", ("until",)),
        ("before prior", ("before",)),
        ("after once", ("after",)),
        ("during while throughout", ("during",)),
        ("when if whenever", ("after", "during")),
    )
    for word in words.split()
    for form in (word, stem(word))
} | {"up to": frozenset(("until",))}
"""Words that say when something holds. Words with a sense in common can replace each other."""
_FOR = frozenset(("for",))
_DURATIONS = (" s", " min", " h", " d", " day", " week", " month", " year")
_ALL = frozenset(("all", "every", "each", "any", "both"))
_NOT_ALL = frozenset(("one", "some", "most", "many", "several", "few", "single", stem("single")))
_SINGLE = frozenset(("one", "a", "an", "the", "this", "single", stem("single"), "same"))
_BESIDE = frozenset(("with", "via", "by", "through", stem("using"), "use"))
"""Words before an instrument: "check with mypy" is "checked by mypy"."""
_PLACES = frozenset(("with", "to", "into", "from", "for", "by", "over", "onto", "than", "as", "of"))
"""Prepositions that say which role a noun has."""


def find_other_structure(pairs: Pairs, here: Force, there: Force, asides: set[int]) -> Difference | None:
    """Find two paired terms whose relation to the rest differs between a statement and a text.

    >>> from .force import read_force
    >>> from .terms import read_terms
    >>> from .word_order import pair_terms
    >>> own, other = read_terms("Do not delete merged tags."), read_terms("Delete tags that are not merged.")
    >>> find_other_structure(pair_terms(own, other), read_force(own), read_force(other), set())
    (2, 0)
    """
    own, other = here.terms, there.terms
    both = _Both(own, other, [(at, to) for at, to in pairs if is_subject(own[at])])
    # "Only after a review" is "never without a review"; "before the merge" is what the merge requires.
    is_condition = not there.sorts.isdisjoint(("limit", "condition"))
    requires = any(term.form.startswith(("requir", "need", "then")) for term in own)
    return (
        both.find_force(here, there)
        or both.find_negation(asides, is_condition)
        or both.find_time(is_condition or requires)
        or both.find_quantity()
        or both.find_role()
        or both.find_part()
    )


class Negation(NamedTuple):
    """A negation: the subject term right after it, and the terms of its own clause."""

    head: int
    scope: frozenset[int]


class _Both:
    """A statement, a text, and the terms of their subjects that mean the same."""

    def __init__(self, own: Terms, other: Terms, pairs: Pairs) -> None:
        self.own, self.other, self.pairs = own, other, pairs
        self.met = dict(pairs)
        self.items = {to: at for at, to in pairs}

    def find_force(self, here: Force, there: Force) -> Difference | None:
        """Find a duty in the place of a permission, or an "only" of something else: "only A may see B", "A
        may see only B"."""
        allows = "permission" in here.sorts and here.sorts.isdisjoint(("strict", "negation"))
        if allows and "strict" in there.sorts and "permission" not in there.sorts:
            return (self.pairs[0][0], None) if self.pairs else None
        for at in _find_only(self.own):
            nouns = _limited(self.own, at) & self.met.keys()
            limited = [_limited(self.other, to) & self.items.keys() for to in _find_only(self.other)]
            paired = {self.met[item] for item in nouns}
            if nouns and any(limited) and not any(paired & items for items in limited):
                return min(nouns), min(min(items) for items in limited if items)
        return None

    def find_negation(self, asides: set[int], is_condition: bool) -> Difference | None:
        """Find what only one side negates: "tags that are not merged"."""
        here, there = read_negations(tuple(self.own)), read_negations(tuple(self.other))
        if _negates_all(self.own) != _negates_all(self.other) and self.pairs:
            return self.pairs[0]
        covered = {at for negation in there for at in negation.scope}
        for head, _ in here if not is_condition else ():
            if head in self.met and head not in asides and self.met[head] not in covered:
                return head, self.met[head]
        covered = {at for negation in here for at in negation.scope}
        for head, _ in there:
            if head in self.items and self.items[head] not in covered:
                return self.items[head], head
        return None

    def find_time(self, may_add: bool) -> Difference | None:
        """Find what holds at another time: "after the build", "during the build"."""
        here, there = _read_times(tuple(self.own)), _read_times(tuple(self.other))
        for at, to in self.pairs:
            time, new = here.get(at), there.get(to)
            if time and new and (time.is_head or new.is_head) and time.senses.isdisjoint(new.senses):
                return at, to
        # "Stop A when B fails", "fail B when A stops".
        inside = [(at, to) for at, to in self.pairs if at in here and to not in there]
        outside = [(at, to) for at, to in self.pairs if at not in here and to in there]
        return inside[0] if inside and outside and not may_add else None

    def find_quantity(self) -> Difference | None:
        """Find "one" in the place of "each", or another noun behind an "every": "every Sunday night"."""
        negates = any(map(is_negation, (*self.own, *self.other)))
        for at, to in self.pairs:
            quantities = [_quantify(self.own, at), _quantify(self.other, to)]
            beside = to - 1
            is_other = beside >= 0 and is_subject(self.other[beside]) and beside not in self.items
            if {*quantities} == {"all", "part"} or (quantities[0] in ("all", "any") and is_other):
                return at, to
            if {*quantities} == {"all", "any"} or ({*quantities} == {"part", "any"} and not negates):
                return at, to  # "when any disk is full", "when every disk is full"
            is_one = any(term.form == "one" for term in _before(self.own, at))
            if is_one and _SINGLE.isdisjoint(term.form for term in _before(self.other, to)):
                return at, to
        return None

    def find_role(self) -> Difference | None:
        """Find nouns that changed their roles: "replace A with B", "replace B with A"; "A calls B", "A is
        called by B"."""
        for passive, active, paired in (
            (self.own, self.other, self.met),
            (self.other, self.own, self.items),
        ):
            for agent in sorted(paired):
                if _preposition(passive, agent) != "by" or passive[agent].sort == "value":
                    continue
                verb = max((at for at in paired if at < agent), default=None)
                if verb is None or _preposition(active, paired[agent]) in _BESIDE:
                    continue
                actor, act = paired[agent], paired[verb]
                clause = next((part for part in split_relative(active) if act in part), [])
                if actor > act or actor not in clause:
                    return (agent, actor) if passive is self.own else (actor, agent)
        ordered = sorted(self.pairs)
        for number, (at, to) in enumerate(ordered):
            for later, earlier in ordered[number + 1 :]:
                word = _preposition(self.own, later)
                is_crossed = (
                    earlier < to
                    and word in _PLACES
                    and word == _preposition(self.other, to)
                    and word not in (_preposition(self.own, at), _preposition(self.other, earlier))
                )
                if is_crossed:
                    return at, earlier
        return None

    def find_part(self) -> Difference | None:
        """Find terms that changed places between two clauses: "avoid A and use B", "use A and avoid B"."""
        for strong in (True, False):
            here, there = _number_parts(self.own, strong), _number_parts(self.other, strong)
            shared: dict[tuple[int, int], list[tuple[int, int]]] = {}
            for at, to in self.pairs:
                shared.setdefault((here[at], there[to]), []).append((at, to))
            # The text has terms of one clause in two clauses, and there terms of another clause too.
            for (clause, first), terms in shared.items():
                for (same, second), others in shared.items():
                    if same != clause or second == first:
                        continue
                    mixed = {to for at, to in shared if at != clause and to in (first, second)}
                    if mixed == {first, second} or (strong and mixed):
                        return min(terms, others, key=len)[0]
        return None


@lru_cache(512)
def read_negations(terms: tuple[Term, ...]) -> list[Negation]:
    """Return the negations of a sentence. One of a comparison ("not longer than 5") is a limit, and left
    out."""
    result = []
    for part in split_relative(terms):
        for place, at in enumerate(part):
            ahead = part[place + 1 :]
            is_limit = any(terms[item].sort == "over" or terms[item].form == "than" for item in ahead[:5])
            head = next((item for item in ahead if is_subject(terms[item])), -1)
            if is_negation(terms[at]) and not is_limit:
                join = max((item for item in range(place) if terms[part[item]].form in JOINS), default=-1)
                scope = part[join + 1 :] if head >= 0 else part
                result.append(Negation(head, frozenset(scope)))
    return result


def split_relative(terms: Terms) -> list[list[int]]:
    """Return the clauses of a sentence, with relative clauses apart: "files", "that are stale"."""
    result = []
    for clause in find_clauses(terms):
        part: list[int] = []
        for at in clause:
            if part and _is_relative(terms, at):
                result.append(part)
                part = []
            part.append(at)
        result.append(part)
    return result


def _negates_all(terms: Terms) -> bool:
    """Whether a negation leaves some: "not all", "not every"."""
    return any(
        is_negation(item) and other.form in ("all", "every", "each") for item, other in pairwise(terms)
    )


def _find_only(terms: Terms) -> list[int]:
    return [at for at, term in enumerate(terms) if term.form in ("only", "exclusively")]


def _limited(terms: Terms, at: int) -> set[int]:
    """Return what an "only" may limit: the noun after it, the one after "by", or the one before it at the end
    of a clause."""
    clause = next(part for part in find_clauses(terms) if at in part)
    subject = [item for item in clause if is_subject(terms[item])]
    ahead = [item for item in subject if item > at]
    if not ahead:
        return set(subject[-1:])
    agent = [item for item in ahead if _preposition(terms, item) == "by"]
    return {ahead[0], *agent}


def _is_relative(terms: Terms, at: int) -> bool:
    return terms[at].form in RELATIVE and is_subject(terms[at - 1])


class _Time(NamedTuple):
    senses: frozenset[str]
    is_head: bool


@lru_cache(512)
def _read_times(terms: tuple[Term, ...]) -> Mapping[int, _Time]:
    """Return when the subject terms of a sentence hold, by place."""
    result: dict[int, _Time] = {}
    senses, is_head = frozenset[str](), False
    for at, term in enumerate(terms):
        after_as = term.form == "of" and at > 0 and terms[at - 1].form == "as"
        if term.sort == "mark" or term.form in JOINS:
            senses = frozenset()
        elif term.form in _TIMES or after_as:
            senses, is_head = frozenset(("from",)) if after_as else _TIMES[term.form], True
        elif term.form == "for" and at + 1 < len(terms) and terms[at + 1].form.endswith(_DURATIONS):
            senses, is_head = _FOR, True
        elif is_subject(term) and senses:
            result[at] = _Time(senses, is_head)
            is_head = False
    return result


def _before(terms: Terms, at: int) -> Iterator[Term]:
    """Yield the function words right before a term, the nearest first."""
    for place in range(at - 1, -1, -1):
        if terms[place].sort == "mark" or is_subject(terms[place]):
            return
        yield terms[place]


def _quantify(terms: Terms, at: int) -> str:
    """Return "all", "any", "part" or "" for the quantifier right before a term."""
    forms = [term.form for term in _before(terms, at)]
    if "other" in forms or "but" in forms:  # "every other week", "all but the first"
        return "part"
    found = next((form for form in forms if form in _ALL | _NOT_ALL), "")
    return "any" if found == "any" else "all" if found in _ALL else found and "part"


def _preposition(terms: Terms, at: int) -> str:
    """Return the preposition right before a noun, or ""."""
    return next((term.form for term in _before(terms, at) if term.form in _PLACES | _BESIDE), "")


def _number_parts(terms: Terms, strong: bool) -> list[int]:
    """Return for each term the number of its clause: those that a mark parts (`strong`), or a join too."""
    marks = ".;–—\n" if strong else ".;–—\n,"
    ends = (
        (term.sort == "mark" and term.form in marks) or (not strong and term.form in JOINS) for term in terms
    )
    return list(accumulate(ends))
