"""Find the words of a statement in a text, in sequence, unless the words around them revoke them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice, pairwise, takewhile

from .added_words import goes_on, is_changed
from .force import RELATIVE
from .indexed_text import WORDS, IndexedText, find_whole
from .outcomes import ABSENT, FactComparison
from .terms import Term, read_terms
from .vocabulary import stem

_MOST_HITS, _AROUND = 100, 200
"""How many places with the words are read, and how many characters on both sides of each."""
_QUOTED = 2_000
"""How many characters of a message are compared on each side of a statement."""
_SIGNIFICANT = re.compile(r"\d\.\d|&&|\|\||->|=>|[<>!=]=|[<>=≤≥≠]|(?<![\w.)])[-+−](?=\d)")
"""Punctuation that changes what words say."""


def quote_statement(statement: str, text: IndexedText) -> FactComparison:
    """Find a statement in a text that only quotes: `quoted` if its words are there, else `absent`."""
    result = find_words(statement, read_terms(statement), text) or ABSENT
    return result._replace(outcome="quoted", reason="words") if result.reason == "structure" else result


def find_words(
    statement: str, terms: Sequence[Term], text: IndexedText, exact: bool = False
) -> FactComparison | None:
    """Find the words in sequence, ignoring punctuation and case, unless words around them revoke them.

    The words around an error message (`exact`) do not change it.
    """
    words, whole = WORDS.findall(statement), statement.strip()
    if not whole or (words and f" {' '.join(words).casefold()} " not in text.flat):
        return None
    if len(words) < 2:  # marks are a part of a single word: "--depth" is not "depth"
        at = find_whole(whole, text.text)
        return FactComparison("quoted", whole, at) if at >= 0 else None
    first, last = _find_ends(statement)
    result = None
    for start, end in islice(text.find_sequence(words), _MOST_HITS):
        around = text.text[max(0, start - first) : end + last]
        if _SIGNIFICANT.findall(around) != _SIGNIFICANT.findall(statement):
            continue
        far = max(0, start - _AROUND)
        begin = max(text.text.rfind("\n", far, start), text.text.rfind(". ", far, start))
        low = begin + 1 if begin >= 0 else far
        tail = _find_tail(text.text, end)
        mark = len(tail) - len(tail.lstrip(".!?"))
        behind = tail[mark:] if mark and goes_on(text.text, end + mark) else tail
        before, after = read_terms(text.text[low:start]), read_terms(behind)
        near = () if after and after[0].form in RELATIVE else after[:6]  # "those that are no longer used"
        if _is_revoked((*before[-6:], *near)) and not _is_revoked(terms):
            around = text.text[low : end + len(tail)]
            result = result or FactComparison("contradicted", around.strip(), low, reason="revoked")
            continue
        # "do not" before it or "when convenient" behind it changes what the same words say.
        beside = [
            *takewhile(lambda term: term.sort != "mark", reversed(before)),
            *takewhile(lambda term: term.sort != "mark", after),
        ]
        line = read_terms(text.text[low : end + len(tail)])
        paired = {at for at, term in enumerate(line) if start - low <= term.start < end - low}
        if paired and not exact and is_changed(text.text, start, line, paired, terms):
            result = result or FactComparison("unclear", text.text[start:end], start, reason="structure")
            continue
        if not any(term.sort in ("negation", "soft", "cancel") for term in beside[:8]):
            return FactComparison("quoted", text.text[start:end], start)
    return result


def _find_tail(text: str, end: int) -> str:
    """Return the rest of a sentence behind an offset."""
    around = text[end : end + _AROUND]
    stops = (match.start() for match in re.finditer(r"\n|\. ", around))
    stop = (at for at in stops if around[at] == "\n" or not goes_on(text, end + at + 1))
    return around[: next(stop, len(around))]


def quote_message(statement: str, message: str, text: IndexedText) -> FactComparison | None:
    """Find a statement in a longer quotation of its message, whose other words change nothing.

    >>> text = IndexedText('- "let us take 2, can you open an issue? thanks"')
    >>> quote_message("let us take 2", "let us take 2, can you open an issue? thanks", text).outcome
    'quoted'
    """
    words, at = _split(statement), message.find(statement)
    if at < 0 or not words or f" {' '.join(words)} " not in text.flat:
        return None
    end_of_it = at + len(statement)
    words_before = _split(message[max(0, at - _QUOTED) : at])[::-1]
    words_after = _split(message[end_of_it : end_of_it + _QUOTED])
    for start, end in islice(text.find_sequence(words), _MOST_HITS):
        before = list(WORDS.finditer(text.text, max(0, start - _QUOTED), start))[::-1]
        after = list(WORDS.finditer(text.text, end, end + _QUOTED))
        before_count, after_count = _count_same(before, words_before), _count_same(after, words_after)
        first = before[before_count - 1].start() if before_count else start
        last = after[after_count - 1].end() if after_count else end
        if (first, last) == (start, end):
            continue
        quoted = text.text[first:last]
        result = find_words(quoted, read_terms(quoted), text)
        if result is not None and result.outcome == "quoted":
            return result._replace(words=text.text[start:end], start=start)
    return None


def _count_same(words: Sequence[re.Match[str]], expected: Sequence[str]) -> int:
    """Count the words that are the same in both, up to the first that is not."""
    pairs = zip(words, expected, strict=False)
    different = (at for at, (word, other) in enumerate(pairs) if word[0].casefold() != other)
    return next(different, min(len(words), len(expected)))


def _split(text: str) -> list[str]:
    return WORDS.findall(text.casefold())


def _find_ends(statement: str) -> tuple[int, int]:
    """Return the characters before the first word and after the last, 0 if none of them is significant."""
    words = list(WORDS.finditer(statement))
    first, last = words[0].start(), words[-1].end()
    before = first if _SIGNIFICANT.search(statement, 0, first) else 0
    return before, len(statement) - last if _SIGNIFICANT.search(statement, last) else 0


def _is_revoked(terms: Sequence[Term]) -> bool:
    revoking = ("no longer", "lifted", "cancelled", "canceled", "revoked", "waived", "overridden")
    return any(term.form in revoking for term in terms) or any(
        item.sort == "negation" and other.form in (stem("true"), stem("apply"), stem("valid"))
        for item, other in pairwise(terms)
    )
