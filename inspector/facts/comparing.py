"""Compare a fact with a text that a compaction left: the reader for its kind, and what the two share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .force import find_clauses, has_negation, is_limited
from .indexed_text import (
    NOTHING_SAID,
    WORDS,
    IndexedText,
    SaidBefore,
    Sentence,
    find_held,
    is_same,
    is_subject,
)
from .language import is_other_language
from .outcomes import ABSENT, IN_FULL, FactComparison
from .questions import MOST, combine, compare_question, compare_share, find_name, split_sentences
from .quoted_words import quote_statement
from .statements import TOPIC, compare_statement
from .terms import LETTER, Term, read_terms
from .things import compare_thing
from .vocabulary import MEMBERS, SMALL, find_groups, is_general, split_words, stem

STATEMENTS = ("constraint", "choice", "decision", "todo", "statement", "error")
"""Kinds whose form is a sentence."""
_ASKING = ("constraint", "choice", "statement")
"""Kinds that may ask for something, so that another wording can soften or contradict them."""
_LEAST = 0.25
"""The least share of a statement's words that a text must have to be compared with it."""

_JOINTS = re.compile(r"[;,]\s+(?:(?:and|but|then)\s+)?|\s+(?:and|but|then|&|->|→)\s+")
"""The joints of a list, between its parts."""
_NOT = re.compile(r"\b[a-z]{1,6}n['’]t\b")
_ERROR_CODE = re.compile(r"\b[A-Z]{1,8}\d{2,6}\b")
_NAMED = ("p:", "u:", "i:", "w:")
"""What the forms of names begin with."""
_NAMES = 3
"""The weight of a name in code, in which other words have 1."""
_FEW = 2
"""Sentences of a text at most that have a rare word."""
_NEAR = 3
"""Terms from one to another that are side by side, but for small words: "an indicator plus the median"."""
_FEWEST = 12
"""Characters that a part of an error has at least."""
_BINDING = frozenset(
    map(
        stem,
        split_words("""must always only require mandatory need strictly exclusively exactly not no never
        neither nor nobody none nothing nowhere without cannot except forbidden prohibited banned ensure"""),
    )
)
"""Stems that only bind: a text without them can have all of a statement's subject."""
_MOST_THERE = 0.75
"""The share of the parts of a list that a text must have."""
_MOST_PARTS, _LONGEST = 8, 600
"""Parts of a list at most, and the characters in which all of them are shown."""
_ANSWER = re.compile(r"(?i)^(?:no|nope|yes|yeah|ok|okay),\s+(?=\w)")
"""An answer in front of a sentence: the "no" of "no, the ledger is the plot" negates something else."""


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
    in_full: bool = False,
) -> FactComparison:
    """Compare a fact with a text.

    Args:
        kind: Its kind, one of KINDS, or "text" for words that someone asks for.
        form: Its form, as in `Fact.form`.
        text: The text, such as a summary.
        is_said: Whether the session said some words before.
        latest: Whether a number is the one that was said last of its name or unit.
        in_full: Whether it is enough to know if the text says all of a statement.

    >>> text = IndexedText("Never push to master without a review.")
    >>> compare_fact("constraint", "Never push to main without a review.", text)[:2]
    ('changed', 'push to master without a review')
    """
    if kind == "text":
        return compare_question(form, text, is_said)
    if kind in STATEMENTS:
        result = _compare_kind(kind, _ANSWER.sub("", form), text, is_said, in_full)
        if result.outcome == "absent" and kind != "error" and is_other_language(form, text.text):
            return FactComparison("unclear", reason="other language")
        return result
    return compare_thing(kind, form, text, is_said, latest)


def _compare_kind(
    kind: str, form: str, text: IndexedText, is_said: SaidBefore, in_full: bool
) -> FactComparison:
    """Compare a statement of one of STATEMENTS with a text."""
    is_near = _is_near(form, text)
    result = _compare_sentences(kind, form, text, is_said, in_full) if is_near else ABSENT
    if in_full:
        return result
    if kind == "error" and result.outcome not in (*IN_FULL, "changed"):
        result = _find_told(form, text, is_near) or result
    if is_near and result.outcome == "absent" and result.reason != "said of another" and kind != "error":
        result = _compare_parts(form, text, is_said)
    if kind in ("todo", "decision") and result.outcome == "absent" and is_near:
        result = compare_share(form, text, MOST)
    if result.outcome != "absent" or kind in ("constraint", "choice"):
        is_other = result.outcome != "absent" or result.reason == "said of another"
        return result if is_other else _find_subject(form, text)
    return find_name(form, text, paths=kind != "error")


def _compare_sentences(
    kind: str, form: str, text: IndexedText, is_said: SaidBefore, in_full: bool
) -> FactComparison:
    """Compare a statement with a text that has enough of its words."""
    if kind not in _ASKING:
        return compare_statement(form, text, is_said, asks=False, exact=kind == "error")
    first = whole = compare_statement(form, text, is_said)
    parts = split_sentences(form) if whole.outcome not in IN_FULL else []
    if len(parts) > 1:
        whole = combine([compare_statement(part, text, is_said) for part in parts])
    if in_full:
        return whole
    if whole.outcome in ("partial", "unclear", "absent"):  # "Keep it for 90 days, accounting needs that."
        for clause in form.split(", "):
            if _has_value(clause):
                value = first if clause == form else compare_statement(clause, text, is_said)
                if value.outcome == "changed" and value.reason == "value" and _has_value(value.said):
                    return value
        if (refusal := _find_refusal(form, text, is_said)) is not None:
            return refusal
    return whole if whole.outcome != "absent" else compare_share(form, text)


def _has_value(words: str) -> bool:
    return any(term.sort == "value" for term in read_terms(words))


def _find_refusal(form: str, text: IndexedText, is_said: SaidBefore) -> FactComparison | None:
    """Find what contradicts a refusal before a reason, or one with "never": "Don't push it there, I do that."

    A sentence in which the user, or someone whom the reason names, does it contradicts nothing."""
    clauses = form.split(", ") if not is_limited(form) else []
    for at, clause in enumerate(clauses if len(clauses) > 1 else ()):
        terms = read_terms(clause)
        refuses = has_negation(terms) and sum(map(is_subject, terms)) >= _FEW
        if not refuses or (at > 0 and re.search(r"\bnever\b", clause, re.IGNORECASE) is None):
            continue
        refusal = compare_statement(clause, text, is_said)
        if refusal.outcome != "contradicted":
            continue
        reason = " ".join(part for part in clauses if part != clause)
        doers = [*(filter(is_subject, read_terms(reason)) if at == 0 else ()), *read_terms("user")]
        around = (part for part in text.sentences if part.start <= refusal.start < part.end)
        if not any(find_held(doers, part) for part in around):
            return refusal
    return None


def _compare_parts(form: str, text: IndexedText, is_said: SaidBefore) -> FactComparison:
    """Decide by the parts of a list whether a text may still say a statement: `unclear` if it has most parts,
    else `absent`.

    >>> text = IndexedText("Executed make gen-log. To do: make gen-docs.")
    >>> _compare_parts("Run make gen-log and make gen-docs", text, NOTHING_SAID)[:2]
    ('unclear', 'Executed make gen-log. To do: make gen-docs')
    """
    for part in _JOINTS.split(form):  # "never commit, I do that myself": what binds comes close
        if any(term.sort in ("strict", "negation") for term in read_terms(part)):
            bound = compare_statement(part, text, is_said)
            if bound.outcome != "absent":
                return bound._replace(outcome="unclear", reason="words missing")
    if (found := _find_bound(form, text)) is not None:
        return found
    parts = [part for part in _JOINTS.split(form) if any(map(is_subject, read_terms(part)))]
    if len(parts) < 2 or len(parts) > _MOST_PARTS:
        return ABSENT
    compared = [_find_part(part, text, is_said) for part in parts]
    there = [part for part in compared if part.outcome != "absent" and part.start >= 0]
    if len(there) < max(2, _MOST_THERE * len(compared)):
        whole = (
            result._replace(outcome="unclear", reason="parts")
            for part, result in zip(parts, compared, strict=True)
            if result.outcome in IN_FULL and not _is_general(part)
        )
        return next(whole, ABSENT)
    compared = there
    first, last = min(part.start for part in compared), max(part.start + len(part.words) for part in compared)
    if last - first > _LONGEST:
        return compared[0]._replace(outcome="unclear", reason="parts")
    return FactComparison("unclear", text.text[first:last], first, reason="parts")


def _find_bound(form: str, text: IndexedText) -> FactComparison | None:
    """Find a sentence that binds and has a rare word of a statement: it may be the rule in other words.

    >>> _find_bound("Leave vendored code alone.", IndexedText("Vendored files must not be edited."))[:2]
    ('unclear', 'Vendored files must not be edited.')
    """
    subject = {term.form: term for term in read_terms(form) if is_subject(term)}.values()
    rare = [term for term in subject if not is_general(term.form) and len(text.find_holding(term)) <= _FEW]
    least = _LEAST * sum(map(text.weigh, subject))
    for sentence in text.binding:
        held = find_held(rare, sentence)
        if held and sum(map(text.weigh, held)) >= least:
            words = text.text[sentence.start : sentence.end].strip()
            return FactComparison("unclear", words, sentence.start, reason="words missing")
    return None


def _find_subject(form: str, text: IndexedText) -> FactComparison:
    """Find a rare sentence about the subject of a rule: `unclear` if there is one.

    It has a name of the rule, or half of what the rule binds and a word of it that is not general; or it
    binds what the rule binds, as the first word of both tells.

    >>> _find_subject("Never touch the ORM.", IndexedText("Access goes through the ORM."))[:2]
    ('unclear', 'Access goes through the ORM.')
    >>> _find_subject("Tests must not use the net.", IndexedText("The test suite only runs offline.")).outcome
    'unclear'
    """
    terms = read_terms(form)
    for clause in find_clauses(terms):
        subject = [terms[at] for at in clause if is_subject(terms[at])]
        bound = next((at for at in clause if terms[at].sort in ("strict", "negation")), -1)
        for term in subject:
            is_name = term.form[:2] in _NAMED
            if is_name or (bound >= 0 and len(subject) <= 2 and not is_general(term.form)):
                holding = [text.sentences[number] for number in text.find_holding(term)]
            elif bound >= 0 and term is subject[0] and term.start < terms[bound].start:
                holding = [part for part in text.binding if _is_first(term, part)]
            else:
                continue
            if is_name and not holding:  # a file of a folder, a page of a site
                holding = [text.sentences[number] for number in text.find_longer(term)]
            if 0 < len(holding) <= _FEW:
                return _quote_unclear(holding[0], text)
    return _find_rare(form, terms, text)


def _find_rare(form: str, terms: Sequence[Term], text: IndexedText) -> FactComparison:
    """Find a sentence with three rare words of a rule, or with two of which one is a value or a name or that
    are side by side in the rule: `unclear` if there is one.

    >>> text = IndexedText("Salmon was chosen over STAR. The threshold is 0.22.")
    >>> rule = "Use Salmon rather than STAR, it is ten times faster."
    >>> _find_rare(rule, read_terms(rule), text)[:2]
    ('unclear', 'Salmon was chosen over STAR.')
    """
    held: dict[int, dict[str, int]] = {}
    for at, term in enumerate(terms):
        if is_subject(term) and not is_general(term.form):
            numbers = {*text.find_holding(term), *text.joined.get(term.form, ())}
            for number in numbers if len(numbers) <= _FEW else ():
                held.setdefault(number, {}).setdefault(term.form, at)
    for number in sorted(held, key=lambda number: -len(held[number])):
        places = sorted(held[number].values())
        are_near = any(to - at <= _NEAR for at, to in pairwise(places))
        is_named = any(
            terms[at].sort == "value" or (at > 0 and form[terms[at].start].isupper()) for at in places
        )
        if len(places) > 2 or (len(places) == 2 and (are_near or is_named)):
            return _quote_unclear(text.sentences[number], text)
    return ABSENT


def _quote_unclear(sentence: Sentence, text: IndexedText) -> FactComparison:
    words = text.text[sentence.start : sentence.end].strip()
    return FactComparison("unclear", words, sentence.start, reason="words missing")


def _is_first(term: Term, sentence: Sentence) -> bool:
    """Whether a term is the first of a sentence's subject."""
    first = next(filter(is_subject, sentence.terms), None)
    return first is not None and is_same(term, first)


def find_codes(error: str) -> list[str]:
    """Return the codes by which an error is known.

    >>> find_codes("a.ts(4,2): error TS2322: Type 'number' is not assignable")
    ['TS2322']
    """
    return _ERROR_CODE.findall(error)


def _find_told(error: str, text: IndexedText, is_near: bool) -> FactComparison | None:
    """Find an error by its message, which goes from a colon to the end, by its code, or by one of the parts
    between its colons: `partial` if it is there.

    >>> _find_told("a.go:4:2: G115: integer overflow (gosec)", IndexedText("The linter has G115."), False)[:2]
    ('partial', 'G115')
    """
    messages = [error[colon.end() :] for colon in re.finditer(r":\s+", error)] if is_near else []
    parts = error.split(": ") if is_near else []
    for part in (*messages, *find_codes(error), *map(str.strip, parts)):
        if part not in find_codes(error) and (
            len(part) < _FEWEST or sum(map(is_subject, read_terms(part))) < 2
        ):
            continue
        result = quote_statement(part, text)
        if result.outcome == "quoted":
            return result._replace(outcome="partial", reason="part")
    return None


def _find_part(part: str, text: IndexedText, is_said: SaidBefore) -> FactComparison:
    """Find a part of a statement in one sentence: two of its words or more, and half of their weight.

    General words, such as "run" and "tests", must be quoted.
    """
    result = compare_statement(part, text, is_said, asks=False)
    terms = read_terms(part)
    subject = list({term.form: term for term in terms if is_subject(term)}.values())
    if result.outcome in IN_FULL:
        return result
    if _is_general(part):
        return ABSENT
    if result.outcome != "absent":
        return result
    weight, place = text.find_closest(subject, terms)
    if place is None or len(find_held(subject, place)) < 2 or weight < TOPIC * sum(map(text.weigh, subject)):
        return ABSENT
    words = text.text[place.start : place.end]
    return FactComparison("unclear", words, place.start, reason="words missing")


def _is_general(part: str) -> bool:
    return all(is_general(term.form) for term in read_terms(part) if is_subject(term))


def _is_near(form: str, text: IndexedText) -> bool:
    """Whether a text has enough words of a statement to be compared with it; see `StatementIndex`."""
    stems = find_stems(form)
    shared, every = stems & _expand_stems(text), sum(map(_weigh, stems))
    told = sum(map(_weigh, shared))
    return not stems or (
        bool(told or (shared and not every)) and told + len(shared & _BINDING) >= _LEAST * every
    )


def _weigh(form: str) -> int:
    """Return the weight of a stem: a name in code, such as "round_half_up", identifies what is said."""
    return _NAMES if "_" in form.strip("_") else int(form not in _BINDING)


@lru_cache(32)
def _expand_stems(text: IndexedText) -> frozenset[str]:
    """Return the stems of a text and those of like words."""
    return frozenset(_expand(find_stems(text.text)))


def find_stems(text: str) -> set[str]:
    """Return the stems of the words of a text, without small words."""
    words = WORDS.findall(_NOT.sub("not", text.casefold()))
    return {stem(word) for word in words if word not in SMALL}.union(LETTER.findall(text))


class StatementIndex:
    """The stems of many statements, to find those that a text may say.

    >>> index = StatementIndex({4: "Never push to main.", 7: "Use tabs."})
    >>> index.find_near(IndexedText("Pushing to main is fine."))
    [4]
    """

    def __init__(self, forms: dict[int, str]) -> None:
        self.numbers = np.array(list(forms), np.int64)
        self._numbers: dict[str, int] = {}
        numbers = self._numbers
        rows = [
            [numbers.setdefault(form, len(numbers)) for form in find_stems(text)] for text in forms.values()
        ]
        self._stems: NDArray[np.int64] = np.array([item for row in rows for item in row], np.int64)
        self._offset = np.cumsum([0, *map(len, rows)])
        self._weights: NDArray[np.int64] = np.array([*map(_weigh, numbers)], np.int64)

    def _add(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of the weights of the stems of each statement."""
        sums = np.concatenate(([0], np.cumsum(weights[self._stems])))
        result: NDArray[np.int64] = np.diff(sums[self._offset])
        return result

    def find_near(self, text: IndexedText) -> list[int]:
        """Return the numbers of the statements of which a text has enough words, in order."""
        if not len(self.numbers):
            return []
        matching, binding = (np.zeros(len(self._weights), np.int64) for _ in range(2))
        rows = [self._numbers[form] for form in _expand_stems(text) if form in self._numbers]
        matching[rows], binding[rows] = self._weights[rows], self._weights[rows] == 0
        told, bound, every = (self._add(weights) for weights in (matching, binding, self._weights))
        is_near = ((told > 0) | ((every == 0) & (bound > 0))) & (told + bound >= _LEAST * every)
        is_near |= told >= _FEW  # two rare words: `_find_rare`
        near: list[int] = self.numbers[is_near].tolist()
        return near


def _expand(stems: Iterable[str]) -> set[str]:
    """Return stems and those of like words."""
    result = set(stems)
    for form in list(result):
        for group in find_groups(form):
            result.update(MEMBERS.get(group, ()))
    return result
