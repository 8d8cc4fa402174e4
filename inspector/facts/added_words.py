"""Find what the sentence around a statement adds to it: whose rule it is, for what, or what became of it.

A sentence says a statement only if all of it is understood. A summary introduces a rule with words of few
kinds (FRAME); any other word beside it may limit, reject or attribute it: "the old guide says to …", "… in
the test build", "… was turned down".
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from .force import EXCEPTIONS
from .indexed_text import is_same, is_subject
from .terms import Term
from .vocabulary import LIGHT, is_general, split_words, stem

FRAME = LIGHT | frozenset(
    map(
        stem,
        split_words(
            """
            user person human assistant agent model claude rule constraint requirement note important
            preference instruction instruct explicit explicitly request ask remain stand standing emphasize
            emphasise stress insist remind policy convention decision decide agree key critical must ensure
            mandatory required needed remember guideline specify state follow apply using ever before prior
            after until once since because off length size number count rest session conversation task
            relevant more less fewer long large big high low
            """
        ),
    )
)
"""Stems of words with which a summary introduces or restates a rule."""
_ENDS = ".!?\n"
_PARTS = _ENDS + ";:–—()"
"""Marks between the parts of a sentence, and at its end."""
_ASKS = frozenset(("whether", stem("whether")))


def adds_words(terms: Sequence[Term], paired: AbstractSet[int], own: Sequence[Term]) -> bool:
    """Whether a sentence adds something to a statement that may change it.

    Args:
        terms: The terms of the sentence.
        paired: Indices of those that are the statement's.
        own: The terms of the statement.

    >>> from .terms import read_terms
    >>> own, other = read_terms("Use tabs."), read_terms("The plan to use tabs was turned down.")
    >>> adds_words(other, {3, 4}, own), adds_words(read_terms("The user asked to use tabs."), {4, 5}, own)
    (True, False)
    """
    low, high = min(paired), max(paired)
    start = next((at + 1 for at in range(low - 1, -1, -1) if _is_mark(terms[at], _PARTS)), 0)
    end = next((at for at in range(high + 1, len(terms)) if _is_mark(terms[at], _PARTS)), len(terms))
    forms = {term.form for term in own}
    added = [terms[at] for at in range(start, end) if at not in paired and terms[at].form not in forms]
    if any(term.form in _ASKS for term in added):
        return True
    new = [term for term in added if is_subject(term) and term.form not in FRAME]
    new = [term for term in new if not any(is_same(term, item) for item in own)]
    # "Ask me first", "ask the team first": a general word may name another person.
    most = 0 if forms & {"i", "me"} else 1
    if len(new) > most or any(not is_general(term.form) for term in new):
        return True
    # "…; afterwards it is allowed", "…, which the user does not want".
    rest = next((at for at in range(end, len(terms)) if _is_mark(terms[at], _ENDS)), len(terms))
    sorts = {term.sort for term in own}
    behind = next((at for at in range(high + 1, rest) if terms[at].sort == "mark"), rest)
    if any(term.sort == "negation" for term in terms[behind:rest]):
        return True
    return any(
        (term.sort in ("permission", "cancel") and term.sort not in sorts)
        or (term.form in EXCEPTIONS and term.form not in forms)
        for term in terms[end:rest]
    )


def _is_mark(term: Term, marks: str) -> bool:
    return term.sort == "mark" and term.form in marks
