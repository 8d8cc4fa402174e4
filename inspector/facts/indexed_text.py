"""A text that facts are compared with: its sentences, and which of them hold a term.

A text is split once; each comparison then looks only at the sentences that share most with the fact.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from math import log2
from typing import NamedTuple
from weakref import WeakKeyDictionary

from .commits import is_commit
from .terms import Term, read_terms
from .vocabulary import LIGHT, NO_END, find_groups, is_alike, stem

LIST_MARKER = r"^[ \t>*+#-]*\d{1,3}[.)]\**[ \t]+(?=\S)"
"""The number of an item of a list at the beginning of a line, which is no value."""
SENTENCE = re.compile(
    rf"(?:{LIST_MARKER})?([^\n]+?(?:[.!?]{NO_END}(?=\s)(?![ \t]*[(→–—-])|$|(?=\n)))", re.MULTILINE
)
"""A sentence, as the first group, with what is in brackets or behind a dash after its full stop."""
WORDS = re.compile(r"[\w$€£%]+")
_GOES_ON = re.compile(r"[:/.-]\w")


class SaidBefore:
    """The words of a session before a compaction; a value said there is not a change of another value.

    Args:
        holds: Whether the session said some words.
    """

    def __init__(self, holds: Callable[[str], bool]) -> None:
        self._holds = holds
        self._unsaid: WeakKeyDictionary[IndexedText, list[str]] = WeakKeyDictionary()

    def __call__(self, words: str) -> bool:
        return self._holds(words)

    def find_unsaid(self, text: IndexedText) -> list[str]:
        """Return the values of a text, numbers excluded, that the session did not say."""
        if text not in self._unsaid:
            named = (form for form in sorted(text.values) if form[:2] not in ("n:", "o:"))
            self._unsaid[text] = [form for form in named if not self(form[2:])]
        return self._unsaid[text]


NOTHING_SAID, ALL_SAID = SaidBefore(lambda words: False), SaidBefore(lambda words: True)


class Sentence(NamedTuple):
    """A stretch of a text with its terms. The terms' spans are relative to its start."""

    start: int
    end: int
    terms: tuple[Term, ...]


class IndexedText:
    """A text, its sentences and its terms.

    >>> text = IndexedText("Cap spend at $500. Files: src/a.py")
    >>> len(text.sentences), sorted(text.values)
    (2, ['n:500 usd', 'p:src/a.py'])
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = text.casefold()
        self.flat = f" {' '.join(WORDS.findall(text)).casefold()} "
        self.sentences = [
            part
            for match in SENTENCE.finditer(text)
            if match[1].strip()
            for part in _split_long(Sentence(*match.span(1), read_terms(match[1])))
        ]
        self._holders: dict[str, list[int]] = {}
        self._pairs: dict[tuple[str, str], list[int]] = {}
        for number, sentence in enumerate(self.sentences):
            for form in {term.form for term in sentence.terms if term.sort not in ("mark", "small")}:
                self._holders.setdefault(form, []).append(number)
            for pair in set(neighbours(sentence.terms)):
                self._pairs.setdefault(pair, []).append(number)
        self._similar: dict[str, list[str]] = {}
        for form in self._holders:
            for key in similar_keys(form):
                self._similar.setdefault(key, []).append(form)
        self._holding: dict[str, list[int]] = {}

    @cached_property
    def values(self) -> frozenset[str]:
        """The normal forms of all values in the text."""
        return frozenset(form for form in self._holders if form[1:2] == ":")

    @cached_property
    def _words(self) -> tuple[list[int], list[tuple[int, int]]]:
        """The offsets of the words in `flat`, and their spans in the text."""
        words = list(WORDS.finditer(self.text))
        sizes = (len(word[0].casefold()) + 1 for word in words)
        return list(accumulate(sizes, initial=0)), [word.span() for word in words]

    def find_sequence(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield the spans of the text, none in another, with these words in sequence, ignoring case and what
        is between them. A longer name that the last word begins, such as "a.py" for "a", is another word."""
        sought, last = f" {' '.join(words).casefold()} ", 0
        at = self.flat.find(sought)
        while at >= 0:
            offsets, spans = self._words
            first = bisect_left(offsets, at)
            start, end = spans[first][0], spans[first + len(words) - 1][1]
            if start >= last and _GOES_ON.match(self.text, end) is None:
                yield start, end
                last = end
            at = self.flat.find(sought, at + 1)

    def find_same(self, form: str) -> list[str]:
        """Return the forms in the text that mean the same as a form."""
        term = _as_term(form)
        return [other for other in self.find_similar(form) if is_same(term, _as_term(other))]

    def find_value(self, form: str) -> tuple[int, int] | None:
        """Return the span of the first value that means the same as a form, or None."""
        same = {*self.find_same(form), form}
        spans = (
            (sentence.start + term.start, sentence.start + term.end)
            for number in self._holders.get(next(iter(same & self.values), ""), ())
            for sentence in [self.sentences[number]]
            for term in sentence.terms
            if term.form in same
        )
        return next(spans, None)

    def find_similar(self, form: str) -> list[str]:
        """Return the forms in the text that may mean the same, such as paths with the same last part."""
        result = (other for key in similar_keys(form) for other in self._similar.get(key, ()))
        return list(dict.fromkeys(result))

    def find_holding(self, term: Term) -> list[int]:
        """Return the numbers of the sentences that hold a term or one that means the same."""
        if term.form not in self._holding:
            forms = {*self.find_same(term.form), term.form}
            self._holding[term.form] = sorted({n for form in forms for n in self._holders.get(form, ())})
        return self._holding[term.form]

    def find_longer(self, term: Term) -> list[int]:
        """Return the numbers of the sentences with a path or an address of which a term is a part."""
        longer = (form for form in self.values if is_part(_as_term(form), term))
        return sorted({n for form in longer for n in self._holders[form]})

    @cached_property
    def joined(self) -> dict[str, list[int]]:
        """The sentences by the stems of words that a slash joins, which look like a path: "tabs/spaces"."""
        result: dict[str, list[int]] = {}
        for number, sentence in enumerate(self.sentences):
            for term in sentence.terms:
                if term.form[:2] == "p:" and all(map(str.isalpha, parts := term.form[2:].split("/"))):
                    for part in parts:
                        result.setdefault(stem(part.casefold()), []).append(number)
        return result

    @cached_property
    def binding(self) -> list[Sentence]:
        """The sentences that bind."""
        sorts = ("strict", "negation")
        return [part for part in self.sentences if any(term.sort in sorts for term in part.terms)]

    def rank_shares(self, terms: Iterable[Term]) -> list[tuple[float, Sentence]]:
        """Return the sentences with two terms of a subject or more, each with the share of its weight that
        it has, the largest first: no other sentence of the text changes a share."""
        subject = {term.form: term for term in terms if is_subject(term)}.values()
        whole, held = sum(map(_weigh_alone, subject)), dict[int, list[float]]()
        for term in subject:
            for number in self.find_holding(term):
                held.setdefault(number, []).append(_weigh_alone(term))
        shares = [(sum(own) / whole, number) for number, own in held.items() if len(own) > 1]
        shares.sort(key=lambda pair: (-pair[0], pair[1]))
        return [(share, self.sentences[number]) for share, number in shares]

    def weigh(self, term: Term) -> float:
        """Return how much a term identifies: values more than words, words of many sentences little."""
        return _weigh_alone(term) / (1 + log2(max(1, len(self.find_holding(term)))) / 2)

    def find_closest(self, subject: Iterable[Term], terms: Sequence[Term]) -> tuple[float, Sentence | None]:
        """Return the sentence with most weight of a subject, and that weight.

        Args:
            subject: The terms that count.
            terms: The terms by which candidates are found.
        """
        best, closest = 0.0, None
        for sentence in self.find_candidates(terms):
            weight = sum(map(self.weigh, find_held(subject, sentence)))
            if weight > best:
                best, closest = weight, sentence
        return best, closest

    def find_candidates(self, terms: Sequence[Term], most: int = 6) -> list[Sentence]:
        """Return the sentences, and runs of two or three, that share most weight with the terms of a fact."""
        scores: dict[int, float] = {}
        subject = {term.form: term for term in terms if is_subject(term)}.values()
        least = sum(map(self.weigh, subject)) / 4
        for term in subject:
            weight = self.weigh(term)
            for number in self.find_holding(term):
                scores[number] = scores.get(number, 0) + weight
        for pair in set(neighbours(terms)):
            holding = self._pairs.get(pair, ())
            for number in holding:
                scores[number] = scores.get(number, 0) + 0.5 / (1 + log2(len(holding)) / 2)
        ends = sum(
            item.sort == "mark" and item.form in ".!?;" and two.start > item.end
            for item, two in pairwise(terms)
        )
        run = min(3, 1 + ends)
        best = sorted(scores, key=lambda number: (-scores[number], number))[:most]
        result = list[Sentence]()
        for number in best:
            if scores[number] * run < least:
                continue
            result.append(self.sentences[number])
            if run > 1:
                result += [
                    join(self.sentences[first : first + run])
                    for first in range(max(0, number - run + 1), number + 1)
                ]
        return result


def _weigh_alone(term: Term) -> float:
    """Return how much a term identifies whatever text it is in."""
    return 2 if term.sort == "value" else 0.5 if term.form in LIGHT else 1


def find_held(terms: Iterable[Term], sentence: Sentence) -> list[Term]:
    """Return the terms that a sentence has."""
    return [term for term in terms if any(is_same(term, other) for other in sentence.terms)]


def find_whole(words: str, text: str) -> int:
    """Return the offset at which a text holds words that are not a part of longer ones; -1 without any.

    >>> find_whole("a.go", "file%a.go"), find_whole("a.go", "see a.go.")
    (-1, 4)
    """
    at = text.find(words)
    while at >= 0:
        before, after = text[max(0, at - 1) : at], text[at + len(words) : at + len(words) + 2]
        if not (re.match(r"[\w-]|[.:/]\w", after) or re.match(r"[\w/.%-]", before)):
            return at
        at = text.find(words, at + 1)
    return -1


_MOST, _SHARED = 120, 40
"""Terms of a sentence at most, and how many two parts of a longer one share."""


def _split_long(sentence: Sentence) -> Iterator[Sentence]:
    """Split a sentence with very many terms, such as a line of code, so that comparing it stays fast."""
    terms = sentence.terms
    if len(terms) <= _MOST:
        yield sentence
        return
    for first in range(0, len(terms) - _SHARED, _MOST - _SHARED):
        part = terms[first : first + _MOST]
        offset = part[0].start
        moved = tuple(term._replace(start=term.start - offset, end=term.end - offset) for term in part)
        yield Sentence(sentence.start + offset, sentence.start + part[-1].end, moved)


def join(sentences: Sequence[Sentence]) -> Sentence:
    """Return several consecutive sentences as one."""
    start = sentences[0].start
    terms = (
        term._replace(start=term.start + item.start - start, end=term.end + item.start - start)
        for item in sentences
        for term in item.terms
    )
    return Sentence(start, sentences[-1].end, tuple(terms))


def neighbours(terms: Iterable[Term]) -> list[tuple[str, str]]:
    """Return the pairs of adjacent forms."""
    forms = [term.form for term in terms if term.sort != "mark"]
    return list(pairwise(forms))


def is_subject(term: Term) -> bool:
    """Whether a term carries the subject of a sentence: a value, or a word that is not small."""
    return term.sort in ("word", "value")


def is_same(item: Term, other: Term) -> bool:
    """Whether two terms mean the same thing."""
    if item.sort == other.sort:
        return (is_same_value if item.sort == "value" else is_alike)(item.form, other.form)
    word, term = (item, other) if item.sort == "word" else (other, item)
    if word.sort == "word" and term.sort == "value":  # "API" and "api"
        return term.form[:2] == "w:" and term.form[2:].isalpha() and stem(term.form[2:]) == word.form
    return word.sort == "word" and term.sort == "strict" and word.form[:4] == term.form[:4]


def is_part(item: Term, other: Term) -> bool:
    """Whether a path stands for a longer one by its end, or a path or an address by its beginning."""
    if item.form[:2] != other.form[:2] or item.form[:2] not in ("p:", "u:"):
        return False
    is_end = item.form[:2] == "p:" and item.form.endswith("/" + other.form[2:])
    return is_end or item.form.startswith(other.form + "/")


def find_run(own: Sequence[Term], terms: Sequence[Term]) -> int:
    """Return the place of some terms next to each other, with the same forms of words; -1 without any."""
    for first in range(len(terms) - len(own) + 1 if own else 0):
        if all(
            term.form == other.form or (term.sort == other.sort == "value" and is_same(term, other))
            for term, other in zip(own, terms[first : first + len(own)], strict=True)
        ):
            return first
    return -1


def is_same_value(form: str, other: str) -> bool:
    """Whether two normal forms mean the same value: a path by its end of two parts or more, a commit by its
    first seven digits or more, an identifier in another case or with other joints.

    >>> is_same_value("p:src/a.py", "p:app/src/a.py"), is_same_value("p:a.py", "p:src/a.py")
    (True, False)
    """
    if form == other:
        return True
    if form[:2] != other[:2]:
        return False
    item, two = sorted((form[2:], other[2:]), key=len)
    if form[0] == "p":
        return "/" in item.strip("/~") and two.endswith("/" + item.lstrip("/~"))
    if form[0] == "i":
        return is_commit(item) and two.startswith(item)
    if form[0] == "d":  # a date without its year
        return len(item) == 5 and two.endswith("-" + item)
    return form[0] == "w" and fold(item) == fold(two)


def is_hex(text: str) -> bool:
    """Whether a text is a commit's id or a UUID, or its beginning."""
    return re.fullmatch(r"[0-9a-f-]{7,}", text) is not None


def fold(name: str) -> str:
    """Return an identifier without case and joints."""
    return name.casefold().replace("_", "").replace("-", "")


def _as_term(form: str) -> Term:
    return Term(form, "value" if form[1:2] == ":" else "word", 0, 0)


def similar_keys(form: str) -> set[str]:
    """Return keys of which two forms share one if they may mean the same."""
    sort, colon, name = form.partition(":")
    if not colon:
        return {*find_groups(form), form[:5]}
    if sort == "w" and name.isalpha():
        return {"w" + fold(name), *similar_keys(stem(name))}
    if sort == "p":
        return {"p" + name.rpartition("/")[2]}
    if sort == "d":
        return {"d" + name[-5:]}
    return {sort + (name[:7] if sort == "i" and name[0] != "#" else fold(name))}
