"""Find the lines of a session that come closest to what a person asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from math import log
from string import ascii_letters
from typing import NamedTuple

import numpy as np

from ..session.blocks import Block, BlockRef
from ..session.queries import readable_text
from .block_search import search_blocks
from .indexed_text import SENTENCE, WORDS, find_run, is_same, is_subject
from .mentions import WORD
from .occurrences import refer
from .remaining import Remaining
from .terms import Term, list_figures, read_terms
from .vocabulary import NUMERALS, find_beginnings, is_alike, stem

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
    holders = _find_holders(remaining, subject)
    every = max(1, int(remaining.rows.sum()) + len(remaining.others))
    weight = {term: log(1 + every / (1 + len(holders[term]))) * _plain(term) for term in subject}
    whole = sum(weight.values())
    if not whole:
        return []
    pieces = {piece for term in subject for piece in _pieces(term.form)}
    measures = (term.form[2:] for term in subject if term.form[:2] == "n:")
    figures = set[str]().union(*map(list_figures, measures))
    scores: dict[int, float] = {}
    for term, rows in holders.items():
        for row in rows if summaries else (row for row in rows if row >= 0):
            scores[row] = scores.get(row, 0) + weight[term]
    result: list[LineMatch] = []
    for row in sorted(scores, key=lambda row: (-scores[row], row))[:_MOST_BLOCKS]:
        ref = refer(remaining.session, [row])[0] if row >= 0 else remaining.others[-1 - row].ref
        text = readable_text(remaining.session.block(ref)) if row >= 0 else remaining.others[-1 - row].text
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


def _pieces(form: str) -> list[str]:
    """Return the words of a term, as a text is split into words."""
    name = form[2:] if form[1:2] == ":" else form
    return [stem(word) for word in WORDS.findall(name.casefold())] or [name]


def _read_figure(word: str) -> str:
    """Return the figure of a word that may begin a value, as "2h" begins "2 hours"; "" without one."""
    return str(NUMERALS.get(word) or word.lstrip("$€£").rstrip(ascii_letters + "%"))


def _find_holders(remaining: Remaining, terms: Sequence[Term]) -> dict[Term, list[int]]:
    """Return for each term the blocks, and as negative numbers the other texts, that may hold it."""
    tests = {f"has {term.form}": partial(_holds, form=term.form) for term in terms}
    holding = search_blocks(remaining.session, remaining.rows, tests, _fold)
    others = [(-1 - number, other.text.casefold()) for number, other in enumerate(remaining.others)]
    return {
        term: [
            *(number for number, text in reversed(others) if _holds(text, term.form)),
            *np.flatnonzero(holding[f"has {term.form}"]).tolist(),
        ]
        for term in terms
    }


def _fold(block: Block) -> str:
    return readable_text(block).casefold()


def _holds(text: str, form: str) -> bool:
    """Whether a folded text may hold a term: a word with each stem of it, or its figure in any unit."""
    return all(
        any(fits(match[0]) for words in patterns for match in words.finditer(text))
        for patterns, fits in _list_words(form)
    )


@lru_cache(256)
def _list_words(form: str) -> list[tuple[list[re.Pattern[str]], Callable[[str], bool]]]:
    """Return for each part of a term how its words begin, and which of these words stand for it."""
    figures = list_figures(form[2:]) if form[:2] == "n:" else ()
    if any(map(WORD.fullmatch, figures)):  # "1.4.2" is in three parts
        stems = [word for word, number in NUMERALS.items() if str(number) in figures]
        beginnings = [*figures, *(beginning for word in stems for beginning in find_beginnings(word))]
        return [(_match_words(beginnings), lambda word: _read_figure(stem(word)) in figures)]
    return [(_match_words(find_beginnings(piece)), partial(_has_stem, piece)) for piece in _pieces(form)]


def _has_stem(form: str, word: str) -> bool:
    return stem(word) == form


def _match_words(beginnings: Iterable[str]) -> list[re.Pattern[str]]:
    """Return patterns of whole words by their beginnings, which a search goes to at once."""
    escaped = (re.escape(beginning) for beginning in beginnings if WORD.fullmatch(beginning))
    return [re.compile(rf"{letters}(?<!\w{letters})\w*") for letters in escaped]
