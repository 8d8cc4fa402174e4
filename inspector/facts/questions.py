"""Compare what a person asks for, in their own words, with a text.

A question is read as a statement first. If the statement reader cannot decide, the share of its words in one
sentence of the text decides: some is `unclear`, little is `absent`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .force import find_clauses
from .indexed_text import (
    NOTHING_SAID,
    IndexedText,
    SaidBefore,
    Sentence,
    find_held,
    find_run,
    find_whole,
    is_subject,
)
from .outcomes import ABSENT, RANK, FactComparison, Outcome
from .results import find_result
from .statements import compare_statement
from .terms import Term, read_terms
from .things import compare_thing
from .vocabulary import NO_END, is_general

ENDS = re.compile(rf"(?<=[.!?]){NO_END}\s+|\n+")
_ASIDE = re.compile(r"\s*\([^()]*\)")
_SOURCE = re.compile(r"^\S+?[:(]\d+(?:[:,]\d+)?\)?:?\s+")
"""What comes before an error's message: its place in a file."""
_KINDS = {"p": "file", "u": "url", "i": "id", "w": "symbol"}
_QUOTED: tuple[Outcome, ...] = ("quoted", "paraphrased")
_FEW = 3
_COMPOUND = re.compile(r"[a-z]{2}[A-Z][a-z]|[A-Z]{2}[a-z]{2}|\w{2}[_.]\w{2}")
"""An identifier of several parts."""
SOME, MUCH, MOST = 0.2, 0.3, 0.6
"""Shares of the weight in one sentence from which on a question, a statement, and a to-do are not absent."""


def compare_question(question: str, text: IndexedText, is_said: SaidBefore = NOTHING_SAID) -> FactComparison:
    """Compare a question with a text.

    >>> text = IndexedText("Fixed `src/a.ts`: lint error, `baseCommit.Tree()` not checked.")
    >>> compare_question("src/a.ts", text).outcome, compare_question("b.ts", text).outcome
    ('quoted', 'absent')
    """
    parts = split_sentences(question)
    if len(parts) > 1:
        result = combine([_compare_part(part, text, is_said) for part in parts])
    else:
        result = _compare_part(question.strip(), text, is_said)
    if result.outcome == "absent":
        result = find_name(_find_core(question), text)
    return result if result.outcome != "absent" else _find_result(question, text)


def _find_core(question: str) -> str:
    """Return a question without what only explains it: the place of an error, or words in brackets.

    >>> _find_core("src/a.ts:205:2 parse error (eslint)"), _find_core("branch fix/tides (PR 4)")
    ('parse error (eslint)', 'branch fix/tides')
    """
    core = _SOURCE.sub("", question) if _SOURCE.match(question) else _ASIDE.sub("", question)
    return core if any(map(is_subject, read_terms(core))) else question


def _find_result(question: str, text: IndexedText) -> FactComparison:
    """Check whether a text has the result of the check that a question is about: `unclear` if so."""
    words = find_result(question, text.text)
    if not words:
        return ABSENT
    return FactComparison("unclear", words, text.text.find(words), reason="result")


def split_sentences(words: str) -> list[str]:
    """Split words into sentences, without those that have no subject.

    >>> split_sentences("Keep it small. And so? Use tabs.")
    ['Keep it small.', 'Use tabs.']
    """
    return [part for part in ENDS.split(words.strip()) if any(map(is_subject, read_terms(part)))]


def combine(result: list[FactComparison]) -> FactComparison:
    """Return the outcome of several sentences: the worst, or partial if the text lacks some of them."""
    best = max(result, key=lambda item: RANK[item.outcome])
    worst = min(result, key=lambda item: RANK[item.outcome])
    if worst.outcome in _QUOTED or worst.outcome == best.outcome:
        return worst
    for outcome in ("contradicted", "changed"):
        for item in result:
            if item.outcome == outcome:
                return item
    return best._replace(
        outcome="partial" if best.outcome in _QUOTED else best.outcome, reason="words missing"
    )


def _compare_part(part: str, text: IndexedText, is_said: SaidBefore) -> FactComparison:
    terms = read_terms(part)
    values = [term for term in terms if term.sort == "value"]
    if len(values) == 1 and values[0].form[0] in _KINDS and values[0].end - values[0].start >= len(part) - 2:
        result = compare_thing(_KINDS[values[0].form[0]], part, text, is_said)
        if result.outcome != "absent" or find_whole(part.casefold(), text.folded) < 0:
            return result
        hit = re.search(re.escape(part), text.text, re.IGNORECASE)
        # Another case of a name may be another name.
        return result if hit is None else FactComparison("unclear", hit[0], hit.start())
    if len(terms) == 1 and values and (same := text.find_value(values[0].form)) is not None:
        return FactComparison("quoted", text.text[slice(*same)], same[0])
    result = compare_statement(part, text, is_said)
    # Words in brackets only explain the rest.
    bare = _ASIDE.sub("", part)
    if bare != part and result.outcome not in _QUOTED and sum(map(is_subject, read_terms(bare))) > 1:
        plain = compare_statement(bare, text, is_said)
        if plain.outcome in _QUOTED:
            return plain
    if result.outcome == "changed" and is_said(result.instead):
        result = result._replace(outcome="unclear")  # the other value belongs to another fact
    if result.outcome in _QUOTED and sum(map(is_subject, terms)) < _FEW and not _has_run(terms, text):
        # "tide view", "tide viewer"; "user Mary" where a user maps the town of Mary
        return result._replace(outcome="unclear", reason="")
    if result.outcome not in ("absent", "unclear") or result.reason == "said of another":
        return result
    result = _compare_share(_SOURCE.sub("", part), text, SOME)
    return result if _is_about(part, result.words) else ABSENT


def _has_run(terms: Sequence[Term], text: IndexedText) -> bool:
    """Whether a text has the words of a question next to each other."""
    own = list(filter(is_subject, terms))
    runs = (find_run(own, list(filter(is_subject, part.terms))) for part in text.sentences)
    return not own or any(at >= 0 for at in runs)


def find_name(words: str, text: IndexedText, paths: bool = True) -> FactComparison:
    """Check whether a text contains a name that occurs in some words: `unclear` if so, else `absent`.

    A name is a path, an address, an id, an identifier of several parts, or a command in backquotes.

    Args:
        words: The words.
        text: The text to search.
        paths: Whether a path is enough. The path of an error is only its place, and needs the line as well.

    >>> text = IndexedText("Moved the tools to core/tools.")
    >>> find_name("tools -> core/tools, themes -> core/themes", text)[:2]
    ('unclear', 'core/tools')
    """
    for form in read_names(words):
        names = [other for other in text.find_same(form) if is_name(other)]
        if form[0] == "u":  # an address of which the text has a page
            names += [other for other in text.values if other.startswith(f"{form}/")]
        if names and (paths or form[0] != "p" or _has_line(form, words, text)):
            name = max(names, key=len)[2:]
            place = re.search(re.escape(name), text.text, re.IGNORECASE)
            return FactComparison("unclear", name, place.start() if place else -1, reason="name")
    return ABSENT


def _has_line(form: str, words: str, text: IndexedText) -> bool:
    """Whether a text has the line number that follows a path in some words."""
    line = re.search(rf"{re.escape(form.rpartition('/')[2].removeprefix('p:'))}\W{{1,2}}(\d+)", words)
    return line is not None and f"n:{line[1]}" in text.values


def read_names(words: str) -> list[str]:
    """Return the normal forms of the names in some words."""
    values = [term.form for term in read_terms(words) if term.sort == "value"]
    values += ["w:" + form.rpartition(".")[2] for form in values if form[:2] == "w:" and "." in form]
    return [form for form in dict.fromkeys(values) if is_name(form)]


def is_name(form: str) -> bool:
    """Whether a normal form names one thing: no number, no option, no single word.

    >>> is_name("w:CheckpointsCount"), is_name("w:PR"), is_name("p:a.py"), is_name("n:5")
    (True, False, True, False)
    """
    return form[:2] in ("p:", "u:", "i:") or (form[:2] == "w:" and _COMPOUND.search(form[2:]) is not None)


def compare_share(statement: str, text: IndexedText, least: float = MUCH) -> FactComparison:
    """Decide by its words whether a text may still say a statement: `unclear` if so, else `absent`.

    Its best sentence decides, whatever the others say.
    """
    terms = read_terms(statement)
    for share, place in text.rank_shares(terms):
        if share < least:
            break
        words = text.text[place.start : place.end].strip()
        if _has_bound(terms, words):
            return FactComparison("unclear", words, place.start, reason="words missing")
    result = _compare_share(statement, text, least)
    return result if _has_bound(terms, result.words) else ABSENT


def _has_bound(terms: tuple[Term, ...], words: str) -> bool:
    """Whether some words have more of a rule than general words: two words of what it binds, or a subject.

    >>> terms = read_terms("Write a test, always use pytest and never nose.")
    >>> _has_bound(terms, "tests were written"), _has_bound(terms, "tests use pytest")
    (False, True)
    """
    bound = {
        at
        for clause in find_clauses(terms)
        if any(terms[at].sort in ("strict", "negation") for at in clause)
        for at in clause
    }
    place = Sentence(0, len(words), read_terms(words))
    shared = find_held(filter(is_subject, terms), place)
    forms = {term.form for term in shared if terms.index(term) in bound}
    return not bound or len(forms) > 1 or not all(is_general(term.form) for term in shared)


def _compare_share(words: str, text: IndexedText, least: float) -> FactComparison:
    """Decide by how much of some words the text has in one sentence: `unclear` if enough, else `absent`."""
    terms = read_terms(words)
    subject = list({term.form: term for term in terms if is_subject(term)}.values())
    weight, place = text.find_closest(subject, terms)
    if place is None or weight < least * sum(map(text.weigh, subject)):
        return ABSENT
    found = text.text[place.start : place.end].strip()
    return FactComparison("unclear", found, place.start, reason="words missing")


def _is_about(question: str, words: str) -> bool:
    """Whether some words have more of a question than general words and what only explains it."""
    core = filter(is_subject, read_terms(_find_core(question)))
    return not all(is_general(term.form) for term in find_held(core, Sentence(0, 0, read_terms(words))))
