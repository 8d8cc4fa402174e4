"""Determine how strictly the clauses of a sentence bind: words that refuse, allow, limit or soften."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise

from .indexed_text import is_subject
from .terms import Term, read_terms
from .vocabulary import LIMITS, split_words, stem
from .word_order import Pairs

_AFTER = frozenset(map(stem, ["after", "if", "when", "once", "with"]))
ORDER_WORDS = frozenset(map(stem, ["first", "last", "before", "after", "both", "same"]))
EXCEPTIONS = frozenset(form for word in ("unless", "except", "apart") for form in (word, stem(word)))
_UNTIL = frozenset(map(stem, ["before", "until", "unless", "till"]))
CONDITIONS = _UNTIL | _AFTER | {"without"}
"""Forms that begin a condition."""
ENDED = frozenset(
    map(stem, split_words("removed deleted erased dropped lifted gone voided retracted reverted withdrawn"))
)
_CLOSE = 30
"""Terms of a clause in which a word that belongs to another is looked for."""
_NOUN_NEGATIONS = frozenset(("without", "rather than", "instead of", "in place of"))
"""Negations of the nouns after them, up to the next verb."""
RELATIVE = frozenset(("that", "which", "who", "whom", "whose"))
"""Words that begin a relative clause, whose negation is not the main clause's."""
_MODALS = frozenset(("will", "would", "shall", "should", "could"))
_AUXILIARY = _MODALS | {"do", "must", "be", "to", "you", "we", "i", "it", "they"}
_REFUSED = frozenset(("banned", "forbidden", "prohibited", "off limits", "off-limits"))
"""Forms that refuse the words before them."""
_ASIDE = re.compile(
    r"(?i)^\W*(?:even|especially|for the rest of|from now on|as far as|when(?:ever)? you|if you"
    r"|please note)\b"
)


class Force:
    """How the clauses of a sentence bind.

    Attributes:
        refused: Indices of the terms that are refused.
        mentioned: Indices of the terms before a negation, or in a report of a change.
        without: Indices of the terms that are done without.
        sorts: The sorts of words in the clauses, and "limit" and "condition".
        soft: The forms that soften.
    """

    def __init__(self, terms: Sequence[Term], clauses: Iterable[Sequence[int]]) -> None:
        self.terms = terms
        self.refused, self.mentioned, self.without = set[int](), set[int](), set[int]()
        self.sorts, self.soft = set[str](), set[str]()
        for clause in clauses:
            self._read_clause(clause)

    def _read_clause(self, clause: Sequence[int]) -> None:
        negated = bound = aside = False
        for place, at in enumerate(clause):
            term = self.terms[at]
            join = self._find_join(clause[:place])
            joined = join is not None
            if (aside or joined) and (term.sort in ("permission", "strict") or term.form in _MODALS):
                negated = aside = False  # "stored without salt and may be printed"
            permits = term.sort == "permission"
            ahead = [self.terms[other] for other in clause[place + 1 : place + 3]]
            # "Emojis are banned from messages", "… are never allowed", "guests may not".
            last = is_negation(term) and place > 0 and not ahead and self.terms[clause[place - 1]]
            refuses = (
                term.form in _REFUSED
                or (is_negation(term) and len(ahead) == 1 and ahead[0].sort == "permission")
                or (last and (last.sort in ("permission", "strict") or last.form in _MODALS))
            )
            if refuses and place and not negated:
                self.refused.update(clause[:place])
                self.sorts.add("negation")
                continue
            if is_negation(term):
                if negated and (joined or term.form == "nor"):
                    self.refused.discard(at if join is None else join)  # "do not A and do not B"
                    continue
                if any(other.sort == "over" for other in ahead):  # "must not exceed 5" is a limit
                    self.sorts |= {"strict", "limit"}
                    continue
                if term.form in ("no", "not") and any(
                    other.sort == "strict" or other.form.startswith("restrict") for other in ahead
                ):
                    self.sorts.add("cancel")  # "no weekly limit", "not needed"
                    continue
                if term.form not in _NOUN_NEGATIONS | {"nor"}:
                    self.mentioned.update(clause[:place])
                if term.form == "without" and not negated:
                    self.without.update(clause[place + 1 :])
                if negated:
                    self.sorts.add("condition")  # "never push without a review"
                negated = not negated
                aside = negated and term.form in _NOUN_NEGATIONS
                self.sorts.add("negation")
            if term.form == "from" and self._follows(clause[place:], {"to"}):  # "changed from 3 to 5"
                self.mentioned.update(clause[place : place + 4])
            if term.sort in ("cancel", "strict", "soft", "over") or (permits and not negated):
                self.sorts.add(term.sort)
            if term.sort == "soft":
                self.soft.add(term.form)
            if term.form in LIMITS:
                self.sorts.add("limit")
            bound = bound or term.sort == "strict"
            if term.form == "only" and self._follows(clause[place:], _AFTER):
                self.sorts.add("condition")  # "only after a review"
            if bound and term.form in ENDED and "limit" in self.sorts:  # "the cap was removed"
                self.sorts.add("cancel")
            if negated:
                self.refused.add(at)
                if term.form in _UNTIL | EXCEPTIONS:  # "nothing is deployed before the review"
                    self.sorts.add("condition")

    def _find_join(self, before: Sequence[int]) -> int | None:
        """Return the "and" or "or" before a word, as in "and do not", "and you may"; None without any."""
        last = next((at for at in reversed(before) if self.terms[at].form not in _AUXILIARY), None)
        return last if last is not None and self.terms[last].form in ("and", "or") else None

    def _follows(self, places: Sequence[int], forms: AbstractSet[str]) -> bool:
        return any(self.terms[at].form in forms for at in places[:_CLOSE])


def read_force(terms: tuple[Term, ...], near: set[int] | None = None) -> Force:
    """Return how a sentence binds.

    Args:
        terms: Its terms.
        near: Indices of the terms that a statement has: a clause about something else does not bind it. All
            clauses bind by default.
    """
    subjects = _find_subjects(terms)
    binds = (near is None or not near.isdisjoint(own) or not any_subject for own, any_subject in subjects)
    return _read_force(terms, tuple(binds))


@lru_cache(512)
def _find_subjects(terms: tuple[Term, ...]) -> list[tuple[list[int], bool]]:
    """Return the clauses of a sentence, and whether each has a subject; many statements are compared with
    one sentence."""
    return [(clause, any(is_subject(terms[at]) for at in clause)) for clause in find_clauses(terms)]


@lru_cache(512)
def _read_force(terms: tuple[Term, ...], binds: tuple[bool, ...]) -> Force:
    clauses = zip(_find_subjects(terms), binds, strict=True)
    return Force(terms, [clause for (clause, _), is_bound in clauses if is_bound])


def is_negation(term: Term) -> bool:
    """Whether a term negates the words after it."""
    return term.sort == "negation" or term.form.startswith(("avoid", "discourag"))


_JOINS = frozenset(
    form
    for word in ["but", "because", "since", "although", "though", "while", "whereas", "otherwise", "so"]
    for form in (word, stem(word))
)
"""Words that begin a clause with a negation of its own."""


def find_clauses(terms: Sequence[Term]) -> list[list[int]]:
    clauses: list[list[int]] = [[]]
    for at, term in enumerate(terms):
        not_so = term.form == "so" and at > 0 and is_negation(terms[at - 1])
        if term.sort == "mark" or (term.form in _JOINS and not not_so):
            clauses.append([])
        else:
            clauses[-1].append(at)
    return [clause for clause in clauses if clause]


RULES_OUT = ("not", "rather than", "instead of")
"""Forms before an alternative that is not wanted."""


def find_asides(own: Sequence[Term], force: Force) -> set[int]:
    """Find what can be left out without a loss: "when you give measurements", or the alternative that is
    ruled out in passing, as in "use metric, not imperial"."""
    result = set[int]()
    for clause in find_clauses(own):
        opening = " ".join(own[at].form for at in clause[:4])
        first = own[clause[0]]
        by_the_way = clause[0] > 0 and first.form in RULES_OUT
        by_the_way = by_the_way and own[clause[0] - 1].form != "but"  # "but not on main" is a limit
        by_the_way = by_the_way and (
            first.form != "not" or first.end - first.start == len("not")
        )  # no "don't"
        if _ASIDE.match(opening) or (by_the_way and not force.refused.issuperset(range(clause[0]))):
            result.update(clause)
    return result


def has_negation(terms: Iterable[Term]) -> bool:
    """Whether any term negates."""
    return any(map(is_negation, terms))


def is_limited(form: str) -> bool:
    """Whether a sentence holds only under a condition or with an exception.

    >>> is_limited("Never push it, unless I ask."), is_limited("Never push it, I do that myself.")
    (True, False)
    """
    return any(
        term.form in CONDITIONS | EXCEPTIONS or term.sort in ("permission", "soft") or term.form == "only"
        for term in read_terms(form)
    )


def is_excepted(own: Iterable[Term], other: Iterable[Term]) -> bool:
    """Whether a rule has an exception and a text a condition: "never, unless it is urgent", "if urgent"."""
    forms, conditions = ({term.form for term in terms} for terms in (own, other))
    return not (EXCEPTIONS.isdisjoint(forms) or CONDITIONS.isdisjoint(conditions))


def find_opposed(pairs: Pairs, here: Force, there: Force, own: Sequence[Term]) -> tuple[list[int], bool]:
    """Find the terms that one side wants and the other refuses, and whether that surely contradicts."""
    if "limit" in here.sorts | there.sorts or "condition" in here.sorts & there.sorts:
        return [], False
    comparisons = [
        (item, other)
        for item, other in pairs
        if is_subject(own[item]) and item not in here.mentioned and other not in there.mentioned
    ]
    against = [
        (item, other) for item, other in comparisons if (item in here.refused) != (other in there.refused)
    ]
    if not against:
        return [], False
    refused = any(item in here.refused for item, _ in against)
    terms_to_pair = any(item not in here.refused for item, _ in against)
    terms_wanted = any(item not in here.refused and other not in there.refused for item, other in comparisons)
    crossed = refused and any(other in there.refused for _, other in against)
    without = any(item not in here.refused and other in there.without for item, other in against)
    strict = terms_to_pair and "strict" in here.sorts and "strict" not in there.sorts
    only = refused and terms_wanted and "only" in {term.form for term in own}  # "A only, not B", "A and B"
    only = only and not there.sorts & {"strict", "negation", "soft"}
    return [item for item, _ in against], crossed or without or strict or only


def keeps_refusals(pairs: Pairs, here: Force, there: Force) -> bool:
    """Whether a text refuses all that it has of what a statement refuses."""
    refused = {to for at, to in pairs if at in here.refused and is_subject(here.terms[at])}
    return bool(refused) and refused <= there.refused


def find_lost_negation(own: Sequence[Term], pairs: Pairs, here: Force, there: Force) -> int:
    """Find a negation of which a text has nothing that it refuses, or does not refuse a part; -1 without any.

    What only a limit or a condition says in the text counts as refused: "only after a review".
    """
    met = dict(pairs)
    for clause in find_clauses(own):
        starts = [at for at in clause if is_negation(own[at])]
        for first, last in pairwise([*starts, clause[-1] + 1]):
            subject = [at for at in range(first, last) if is_subject(own[at]) and at in here.refused]
            held = [met[at] for at in subject if at in met]
            if subject and not (held and there.refused | there.mentioned >= set(held)):
                return subject[0]
    return -1
