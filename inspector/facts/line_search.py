"""Find the lines of a session that come closest to what a person asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from math import log
from string import ascii_letters
from typing import NamedTuple
from weakref import WeakKeyDictionary

from ..session.blocks import BlockRef
from .indexed_text import SENTENCE, WORDS, find_run, is_same, is_subject
from .mentions import WORD
from .occurrences import refer
from .remaining import Remaining
from .terms import Term, list_figures, read_terms
from .vocabulary import NUMERALS, is_alike, stem

_MOST_BLOCKS, _MOST_CHARACTERS, _LONGEST = 8, 200_000, 400
"""How many blocks are read for a question, how much of each, and how much of a line is shown."""


class LineMatch(NamedTuple):
    """A line of a session that has words of a question.

    Attributes:
        ref: The block, or the summary or system prompt.
        start, end: The span in the block's text.
        text: The line, of at most 400 characters.
        share: The share of the question's weight that it has, from 0 to 1.
        words: How many of the question's terms it has, and how many there are.
    """

    ref: BlockRef
    start: int
    end: int
    text: str
    share: float
    words: tuple[int, int]


Holders = dict[str, list[int]]
_HOLDERS: WeakKeyDictionary[Remaining, tuple[Holders, Holders]] = WeakKeyDictionary()


def find_lines(
    remaining: Remaining, question: str, most: int = 3, *, summaries: bool = True
) -> list[LineMatch]:
    """Find the lines in a context that come closest to a question, the closest first.

    Args:
        remaining: The texts of the context.
        question: Words of a person.
        most: How many lines to return.
        summaries: Whether summaries and the system prompt are searched too.
    """
    asked = read_terms(question)
    subject = list({term.form: term for term in asked if is_subject(term)}.values())
    subject = subject or [term for term in asked if term.sort == "value"]
    holders = {term: _find_holders(remaining, term) for term in subject}
    every = max(1, len(remaining.unchanged) + len(remaining.others))
    weight = {term: log(1 + every / (1 + len(holders[term]))) * _plain(term) for term in subject}
    whole = sum(weight.values())
    if not whole:
        return []
    pieces = {piece for term in subject for piece in _pieces(term)}
    figures = {figure for term in subject for figure in _list_figures(term)}
    scores: dict[int, float] = {}
    for term, rows in holders.items():
        for row in rows if summaries else (row for row in rows if row >= 0):
            scores[row] = scores.get(row, 0) + weight[term]
    result: list[LineMatch] = []
    for row in sorted(scores, key=lambda row: (-scores[row], row))[:_MOST_BLOCKS]:
        text = remaining.unchanged[row] if row >= 0 else remaining.others[-1 - row].text
        ref = refer(remaining.session, [row])[0] if row >= 0 else remaining.others[-1 - row].ref
        stems = {word: stem(word) for word in set(WORDS.findall(text[:_MOST_CHARACTERS].casefold()))}
        terms_to_pair = [
            word
            for word, form in stems.items()
            if _read_figure(form) in figures or any(is_alike(piece, form) for piece in pieces)
        ]
        if not terms_to_pair:
            continue
        cue = re.compile(
            "|".join(map(re.escape, sorted(terms_to_pair, key=len, reverse=True))), re.IGNORECASE
        )
        for line in SENTENCE.finditer(text, 0, _MOST_CHARACTERS):
            cues = {hit.casefold() for hit in cue.findall(line[1])}
            # A line that cannot beat what was found is not read.
            if len(result) >= most and len(cues) < result[most - 1].words[0]:
                continue
            if not cues:
                continue
            terms = read_terms(line[1][: 4 * _LONGEST])
            matching = [term for term in subject if any(is_same(term, other) for other in terms)]
            share = sum(weight[term] for term in matching) / whole
            if matching and (len(result) < most or share > result[most - 1].share):
                words = len(matching), len(subject)
                result.append(LineMatch(ref, *line.span(1), line[1].strip()[:_LONGEST], share, words))
                result.sort(key=lambda item: -item.share)
                result = _without_copies(result)[:most]
    return result


def find_spelling(question: str, line: str) -> str:
    """Return how a line writes the words of a question, in other marks, case or units; "" if it has others.

    >>> find_spelling("Use **pnpm**, not npm", "please use `pnpm`, not npm; 30 s")
    'use `pnpm`, not npm'
    >>> find_spelling("30s", "wait for 30 s"), find_spelling("use npm", "use `pnpm`, not npm")
    ('30 s', '')
    """
    own = [term for term in read_terms(question) if is_subject(term)]
    terms = [term for term in read_terms(line) if is_subject(term)]
    first = find_run(own, terms)
    return line[terms[first].start : terms[first + len(own) - 1].end] if first >= 0 else ""


def _without_copies(result: list[LineMatch]) -> list[LineMatch]:
    """Keep the first of lines with the same words."""
    return list({" ".join(item.text.casefold().split()): item for item in reversed(result)}.values())[::-1]


def _plain(term: Term) -> float:
    return 2 if term.sort == "value" else 1


def _pieces(term: Term) -> list[str]:
    """Return the words of a term, as a text is split into words."""
    name = term.form[2:] if term.form[1:2] == ":" else term.form
    return [stem(word) for word in WORDS.findall(name.casefold())] or [name]


def _list_figures(term: Term) -> Iterable[str]:
    """Return the figures that a value may have, however it is spelled; none for another term."""
    return list_figures(term.form[2:]) if term.form[:2] == "n:" else ()


def _read_figure(word: str) -> str:
    """Return the figure of a word that may begin a value, as "2h" begins "2 hours"; "" without one."""
    return str(NUMERALS.get(word) or word.lstrip("$€£").rstrip(ascii_letters + "%"))


def _find_holders(remaining: Remaining, term: Term) -> list[int]:
    """Return the blocks, and as negative numbers the other texts, that may hold a term."""
    if remaining not in _HOLDERS:
        by_word, by_stem, by_figure = Holders(), Holders(), Holders()
        others = ((-1 - number, other.text) for number, other in enumerate(remaining.others))
        for row, text in chain(remaining.unchanged.items(), others):
            for word in set(WORD.findall(text)):
                by_word.setdefault(word, []).append(row)
        for word, rows in by_word.items():
            for form in map(stem, WORDS.findall(word.casefold())):
                by_stem.setdefault(form, []).extend(rows)
                if figure := _read_figure(form):
                    by_figure.setdefault(figure, []).extend(rows)
        _HOLDERS[remaining] = by_stem, by_figure
    by_stem, by_figure = _HOLDERS[remaining]
    rows_of_figure = {row for figure in _list_figures(term) for row in by_figure.get(figure, ())}
    if rows_of_figure:
        return sorted(rows_of_figure)
    holding = [set(by_stem.get(piece, ())) for piece in _pieces(term)]
    return sorted(set.intersection(*holding))
