"""Find the value that a text has in the place of a statement's own, and the statement's own elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from .force import find_clauses
from .function_words import read_bounds
from .indexed_text import IndexedText, Sentence, find_held
from .outcomes import FactComparison
from .terms import Term, read_terms
from .vocabulary import is_general

_BEFORE, _BEHIND = 3, 4
"""Terms around a subject in which a value is close to it, in another clause too."""


def find_near_values(terms: Sequence[Term], near: AbstractSet[int], used: AbstractSet[int]) -> list[int]:
    """Return the places of the values of a sentence that are close to a subject, without those `used`."""
    values = [at for at, term in enumerate(terms) if term.sort == "value" and at not in used]
    if not values:
        return []
    close = set(range(min(near) - _BEFORE, max(near) + _BEHIND))
    close.update(*(clause for clause in find_clauses(terms) if not near.isdisjoint(clause)))
    return [at for at in values if at in close]


def find_frame(terms: tuple[Term, ...]) -> set[int]:
    """Return the places of the words that only hold a rule together: the verb behind "must", or the bound of
    a number.

    >>> terms = read_terms("The page must stay below 5 MB.")
    >>> [terms[at].form for at in sorted(find_frame(terms))]
    ['stay', 'below']
    """
    binding = (at for at, term in enumerate(terms) if term.sort in ("strict", "permission"))
    verbs = {at + 1 for at in binding if at + 1 < len(terms) and terms[at + 1].sort == "word"}
    return verbs | {bounded.by for bounded in read_bounds(terms).values()}


def find_other_number(
    own: Sequence[Term], other: Sequence[Term], missing: Sequence[int], near: AbstractSet[int], whole: bool
) -> tuple[int, int] | None:
    """Find a missing number of a rule, and another of the same unit close to a word of it.

    Args:
        own: The terms of the rule.
        other: The terms of a sentence.
        missing: The places of the rule's terms that the sentence does not have.
        near: The places of those that it has.
        whole: Whether all words of the rule are among them, so that a general one is enough.
    """
    named = {at for at in near if whole or not is_general(other[at].form)}
    numbers = [at for at in missing if own[at].form[:2] == "n:"]
    for to in find_near_values(other, named, near) if named and numbers else ():
        unit = other[to].form.split()[1:]
        at = next((at for at in numbers if own[at].form.split()[1:] == unit), None)
        if at is not None and other[to].form[:2] == "n:":
            return at, to
    return None


def find_same_value(own: Sequence[Term], text: IndexedText, result: FactComparison) -> FactComparison:
    """Find the value that a text seems to lack or to have changed in another sentence: `unclear` if it is
    there. A number needs as many words of the subject beside it as the first place has, a name fewer.

    Args:
        own: The terms of the statement.
        text: The text.
        result: What the first place says.
    """
    if (result.outcome, result.reason) not in (("changed", "value"), ("partial", "value missing")):
        return result
    values = [term for term in read_terms(result.said) if term.sort == "value"]
    holding = {number for term in values for number in (*text.find_holding(term), *text.find_longer(term))}
    places = [(number, text.sentences[number]) for number in sorted(holding)]
    places = [(number, place) for number, place in places if not place.start <= result.start < place.end]
    if not places:
        return result
    words = [term for term in own if term.sort == "word"]
    if values[0].form[0] in "nd":
        least = len(find_held(words, Sentence(0, 0, read_terms(result.words))))
    else:
        least = int(result.outcome == "changed")
    held = Counter(number for word in words for number in text.find_holding(word))
    for number, place in places:
        if held[number] >= least:
            return FactComparison("unclear", text.text[place.start : place.end].strip(), place.start)
    return result
