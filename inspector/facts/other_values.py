"""Find the value that a text has in the place of a statement's own, and the statement's own elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from .force import find_clauses
from .function_words import read_bounds
from .indexed_text import IndexedText, Sentence, find_held, is_same
from .outcomes import FactComparison
from .terms import Term, read_terms
from .vocabulary import is_general
from .word_order import is_part

_BEFORE, _BEHIND = 3, 4
"""Terms around a subject in which a value is close to it, in another clause too."""


def find_near_values(terms: Sequence[Term], near: AbstractSet[int], used: AbstractSet[int]) -> list[int]:
    """Return the places of the values of a sentence that are close to a subject, without those `used`."""
    close = set(range(min(near) - _BEFORE, max(near) + _BEHIND))
    close.update(*(clause for clause in find_clauses(terms) if not near.isdisjoint(clause)))
    return [at for at, term in enumerate(terms) if term.sort == "value" and at in close - used]


def is_frame(terms: Sequence[Term], at: int) -> bool:
    """Whether a word only holds a rule together: the verb behind "must", or the bound of a number.

    >>> terms = read_terms("The page must stay below 5 MB.")
    >>> [term.form for at, term in enumerate(terms) if is_frame(terms, at)]
    ['stay', 'below']
    """
    is_verb = at > 0 and terms[at].sort == "word" and terms[at - 1].sort in ("strict", "permission")
    return is_verb or any(bounded.by == at for bounded in read_bounds(tuple(terms)).values())


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
    if not values:
        return result
    words = [term for term in own if term.sort == "word"]
    if values[0].form[0] in "nd":
        least = len(find_held(words, Sentence(0, 0, read_terms(result.words))))
    else:
        least = int(result.outcome == "changed")
    held = Counter(number for word in words for number in text.find_holding(word))
    for number, sentence in enumerate(text.sentences):
        if sentence.start <= result.start < sentence.end or held[number] < least:
            continue
        if any(is_same(term, other) or is_part(other, term) for term in values for other in sentence.terms):
            found = text.text[sentence.start : sentence.end].strip()
            return FactComparison("unclear", found, sentence.start)
    return result
