"""Compare a fact with a text that a compaction left: the reader for its kind, and what the two share."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .indexed_text import NOTHING_SAID, WORDS, IndexedText, SaidBefore
from .outcomes import IN_FULL
from .questions import combine, compare_question, compare_share, find_name, split_sentences
from .statements import ABSENT, FactComparison, compare_statement
from .things import compare_thing
from .vocabulary import MEMBERS, SMALL, find_groups, stem

STATEMENTS = ("constraint", "choice", "decision", "todo", "statement", "error")
"""Kinds whose form is a sentence."""
_ASKING = ("constraint", "choice", "statement")
"""Kinds that may ask for something, so that another wording can soften or contradict them."""
_LEAST = 0.25
"""The least share of a statement's words that a text must have to be compared with it."""


@lru_cache(32)
def index_text(text: str) -> IndexedText:
    """Return a text ready to be compared; the last few are kept."""
    return IndexedText(text)


def compare_fact(
    kind: str,
    form: str,
    text: IndexedText,
    is_said: SaidBefore = NOTHING_SAID,
    latest: bool = True,
) -> FactComparison:
    """Compare a fact with a text.

    Args:
        kind: Its kind, one of KINDS, or "text" for words that someone asks for.
        form: Its form, as in `Fact.form`.
        text: The text, such as a summary.
        is_said: Whether the session said some words before.
        latest: Whether a number is the one that was said last of its name or unit.

    >>> text = IndexedText("Never push to master without a review.")
    >>> compare_fact("constraint", "Never push to main without a review.", text)[:2]
    ('changed', 'push to master without a review')
    """
    if kind == "text":
        return compare_question(form, text, is_said)
    if kind in STATEMENTS:
        result = _compare_sentences(kind, form, text, is_said) if _is_near(form, text) else ABSENT
        # That a text has a name of a rule or a choice says nothing of what is wanted of it.
        if result.outcome != "absent" or kind in ("constraint", "choice"):
            return result
        return find_name(form, text, paths=kind != "error")
    return compare_thing(kind, form, text, is_said, latest)


def _compare_sentences(kind: str, form: str, text: IndexedText, is_said: SaidBefore) -> FactComparison:
    """Compare a statement with a text that has enough of its words."""
    if kind not in _ASKING:
        return compare_statement(form, text, is_said, asks=False, exact=kind == "error")
    whole = compare_statement(form, text, is_said)
    parts = split_sentences(form) if whole.outcome not in IN_FULL else []
    if len(parts) > 1:
        whole = combine([compare_statement(part, text, is_said) for part in parts])
    return whole if whole.outcome != "absent" else compare_share(form, text)


def _is_near(form: str, text: IndexedText) -> bool:
    """Whether a text has enough words of a statement to be compared with it; see `StatementIndex`."""
    stems, held = find_stems(form), _expand_stems(text)
    shared = len(stems & held)
    return not stems or (shared > 0 and shared >= _LEAST * len(stems))


@lru_cache(32)
def _expand_stems(text: IndexedText) -> frozenset[str]:
    """Return the stems of a text and those of like words."""
    return frozenset(_expand(find_stems(text.text)))


def find_stems(text: str) -> set[str]:
    """Return the stems of the words of a text, without small words."""
    return {stem(word) for word in WORDS.findall(text.casefold()) if word not in SMALL}


class StatementIndex:
    """The stems of many statements, to find those that a text may say.

    >>> index = StatementIndex({4: "Never push to main.", 7: "Use tabs."})
    >>> index.find_near(IndexedText("Pushing to main is fine."))
    [4]
    """

    def __init__(self, forms: dict[int, str]) -> None:
        self.numbers = np.array(list(forms), np.int64)
        self._known: dict[str, int] = {}
        known = self._known
        rows = [[known.setdefault(form, len(known)) for form in find_stems(text)] for text in forms.values()]
        self._stems: NDArray[np.int64] = np.array([item for row in rows for item in row], np.int64)
        self._offset = np.cumsum([0, *map(len, rows)])

    def find_near(self, text: IndexedText) -> list[int]:
        """Return the numbers of the statements of which a text has enough words, in order."""
        if not len(self.numbers):
            return []
        matching = np.zeros(len(self._known) + 1, bool)
        matching[[self._known[form] for form in _expand_stems(text) if form in self._known]] = True
        sums = np.concatenate(([0], np.cumsum(matching[self._stems])))
        shared, every = np.diff(sums[self._offset]), np.diff(self._offset)
        near: list[int] = self.numbers[(shared >= _LEAST * every) & (shared > 0)].tolist()
        return near


def _expand(stems: Iterable[str]) -> set[str]:
    """Return stems and those of like words."""
    result = set(stems)
    for form in list(result):
        for group in find_groups(form):
            result.update(MEMBERS.get(group, ()))
    return result
