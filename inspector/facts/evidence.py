"""The evidence for an outcome: the words that were said, and the words of what is left that come closest.

In goes a `TracedFact`, out comes an `Evidence`: two passages with the spans that match and the spans that
differ. All spans are offsets in the passage's own text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..session.blocks import BlockRef
from ..session.queries import readable_text
from ..session.speakers import who_speaks
from ..text import plural
from .comparing import STATEMENTS, index_text
from .explanation import Evidence, Passage, WordSpan
from .indexed_text import Sentence, find_held, is_subject
from .kind_words import NOUNS
from .outcomes import FactComparison
from .questions import ENDS
from .remaining import RemainingText
from .terms import Term, read_terms
from .traced import TracedFact
from .word_order import pair_terms

AROUND, LONGEST = 160, 700
"""Characters of the surroundings on each side, and of the words themselves, that a passage shows at most."""
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_]+")
_SENTENCES = (*STATEMENTS, "text", "command", "number")
"""Kinds whose forms are read word by word; the others are names, read part by part."""
_JOINTS = ("", " ", "/", ".", "_", "-")


def find_evidence(traced: TracedFact) -> Evidence:
    """Return the words that were said and the words of what is left that come closest to them.

    >>> from inspector import Checkpoint, count_tokens, make_plan, read_session
    >>> session = read_session([{"role": "user", "content": "Spend at most $500 per run."}])
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> trace = plan.with_summary(Checkpoint(text="Spend at most $600 per run.")).trace
    >>> evidence = find_evidence(trace["constraint", "Spend at most $500 per run."])
    >>> [side.cut(side.differs) for side in (evidence.said, evidence.found)]
    [['$500'], ['$600']]
    """
    comparison, outcome = traced.comparison, traced.outcome
    statement = _find_said(traced)
    closest, searched, counts = None, "", (0, 0)
    if outcome == "superseded" and traced.replacement is not None:
        closest = _find_replacement(traced)
    elif outcome in ("absent", "unknown"):
        texts = [other for other in traced.scene.after.others if other.how == "summary" and other.text]
        if outcome == "absent" and texts and not texts[0].placeholder:
            closest, counts = _find_closest(traced, texts)
            searched = _describe_search(traced, texts)
    else:
        closest = _find_left(traced, comparison)
    if statement is not None and closest is not None:
        statement, closest = _mark(statement, closest, traced)
    return Evidence(statement, closest, comparison.reason, *counts, searched)


def _find_said(traced: TracedFact) -> Passage | None:
    """Return the passage that says a fact: the first one a person typed, else the last operation on it."""
    session, refs = traced.scene.session, set(traced.said)
    sayings = [
        mention for mention in traced.sayings if mention.ref in refs and mention.ref.entry in session.index
    ]
    if not sayings:
        return None
    typed = [chosen for chosen in sayings if chosen.by == "user"]
    done = [chosen for chosen in sayings if chosen.operation in ("created", "edited", "deleted", "ran")]
    best = (typed if traced.fact.kind in STATEMENTS else done or typed) or sayings
    chosen = best[-1]
    passage = _cut_passage(
        traced, chosen.ref, session.block(chosen.ref).text, chosen.start, chosen.end, chosen.by
    )
    return passage._replace(operation=chosen.operation or "")


def _find_replacement(traced: TracedFact) -> Passage | None:
    """Return the passage that took the place of a fact."""
    session, later = traced.scene.session, traced.replacement
    if later is None or later.ref.entry not in session.index:
        return None
    text = session.block(later.ref).text
    start = text.find(later.words)
    speaker = "user" if later.how in ("said", "withdrawn") else who_speaks(session[later.ref.entry]).speaker
    return _cut_passage(traced, later.ref, text, max(start, 0), max(start, 0) + len(later.words), speaker)


def _find_left(traced: TracedFact, comparison: FactComparison) -> Passage | None:
    """Return the passage of what is left that decided the outcome."""
    scene = traced.scene
    for ref in traced.stands:
        for other in scene.after.others:
            if other.ref == ref:
                start, end = _find_words(other.text, comparison)
                if end and traced.fact.kind in (*STATEMENTS, "text"):
                    start, end = _widen(other.text, start, end)
                if end or traced.outcome == "pointer":
                    return _cut_passage(traced, ref, other.text, start, end, other.how)
        if ref.entry not in scene.session.index:
            continue
        block = scene.session.block(ref)
        mention = next((saying for saying in traced.sayings if saying.ref == ref), None)
        if mention is not None and traced.outcome == "verbatim":
            return _cut_passage(traced, ref, block.text, mention.start, mention.end, mention.by)
        start, end = _find_words(readable_text(block), comparison)
        if not end and comparison.words and ref != traced.stands[-1]:
            continue  # the words are of another of the texts that say as much
        return _cut_passage(
            traced, ref, readable_text(block), start, end, who_speaks(scene.session[ref.entry]).speaker
        )
    return None


def _find_words(text: str, comparison: FactComparison) -> tuple[int, int]:
    """Return the span of a comparison's words in a text; an empty one if they are not there."""
    words, start = comparison.words, comparison.start
    if not words:
        return 0, 0
    if text[max(start, 0) : max(start, 0) + len(words)] != words or start < 0:
        start = text.find(words)
    if start < 0:
        pattern = r"\s+".join(map(re.escape, words.split()))
        hit = re.search(pattern, text, re.IGNORECASE)
        return (0, 0) if hit is None else hit.span()
    return start, start + len(words)


def _widen(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of the sentences that hold some words of a text."""
    holding = [
        sentence for sentence in index_text(text).sentences if sentence.start < end and start < sentence.end
    ]
    low, high = (holding[0].start, holding[-1].end) if holding else (start, end)
    blank = len(text[low:high]) - len(text[low:high].lstrip())
    return min(low + blank, start), max(high, end)


def _find_closest(
    traced: TracedFact, texts: Sequence[RemainingText]
) -> tuple[Passage | None, tuple[int, int]]:
    """Return the sentence that has most words of a fact, the number of these words, and the number of all."""
    kind, form = traced.fact.kind, traced.fact.form
    terms = () if kind == "id" else _name_terms(kind, form)
    subject = {term.form: term for term in terms if is_subject(term)}.values()
    # A file is found by its name; the words of its folders count too.
    whole = _name_terms("", form) if kind == "file" else terms
    subjects = {term.form: term for term in whole if is_subject(term)}.values()
    best: tuple[float, Sentence, RemainingText] | None = None
    for other in texts:
        weight, sentence = index_text(other.text).find_closest(subject, terms)
        if sentence is not None and (best is None or weight > best[0]):
            best = weight, sentence, other
    if best is None:
        return None, (0, len(subjects))
    _, closest, other = best
    passage = _cut_passage(traced, other.ref, other.text, closest.start, closest.end, other.how)
    return passage, (len(find_held(subjects, closest)), len(subjects))


@lru_cache(256)
def _name_terms(kind: str, form: str) -> tuple[Term, ...]:
    """Return the terms by which a sentence about a fact is found: of a file, those of its name."""
    if kind in _SENTENCES:
        return read_terms(form)
    if kind == "file":
        form = form.replace("\\", "/").rstrip("/").rpartition("/")[2].lstrip(".").partition(".")[0]
    return read_terms(" ".join(part.lower() for part in _PARTS.findall(form.rpartition(".")[0] or form)))


def _describe_search(traced: TracedFact, texts: Sequence[RemainingText]) -> str:
    """Return what was searched, and for what."""
    fact = traced.fact
    sentences = sum(len(index_text(other.text).sentences) for other in texts)
    if fact.kind == "file":
        parts = [part for part in fact.form.replace("\\", "/").split("/") if part not in ("", ".", "~")]
        sought = plural(max(1, len(parts) - 1), "form of the path", "forms of the path")
        sought += " and the file name" if len(parts) > 1 else ""
    elif fact.kind in STATEMENTS or fact.kind == "text":
        subject = {term.form for term in read_terms(fact.form) if is_subject(term)}
        sought = f"{plural(len(subject), 'word')} in any order"
    else:
        sought = f"the {NOUNS[fact.kind]} in other spellings"
    return f"Searched {plural(sentences, 'sentence')} for {sought}."


def _cut_passage(traced: TracedFact, ref: BlockRef, text: str, start: int, end: int, speaker: str) -> Passage:
    """Return some words of a text with the sentences around them."""
    low = _snap(text, start, end)[0]
    end = min(max(end, start), start + LONGEST)
    high = _snap(text, start, end)[1]
    turn = traced.scene.session.turn_of.get(ref.entry, 0)
    return Passage(ref, turn, speaker, text[low:high], WordSpan(start - low, end - low))


def _snap(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the bounds of the surroundings: at a sentence boundary, else between two words."""
    first, last = max(0, start - AROUND), min(len(text), end + AROUND)
    above, below = text.rfind("\n\n", first, start), text.find("\n\n", end, last)
    first = above + 2 if above >= 0 else first
    last = below if below >= 0 else last
    low, high = first, last
    if first and text[first - 1] != "\n":
        breaks = [hit.end() for hit in ENDS.finditer(text, first, start)]
        spaces = [hit.end() for hit in re.finditer(r"\s+", text[first:start])]
        low = breaks[0] if breaks else first + spaces[0] if spaces else start
    if last < len(text) and text[last] != "\n":
        breaks = [hit.start() for hit in ENDS.finditer(text, end, last)]
        spaces = [hit.start() for hit in re.finditer(r"\s+", text[end:last])]
        high = breaks[-1] if breaks else end + spaces[-1] if spaces else last
    return low, high


def _mark(statement: Passage, closest: Passage, traced: TracedFact) -> tuple[Passage, Passage]:
    """Return both passages with the words marked that they share, and the value that differs."""
    comparison, kind = traced.comparison, traced.fact.kind
    here, there = _read_core(statement, kind), _read_core(closest, kind)
    pairs = pair_terms(here, there)
    subject = [(at, to) for at, to in pairs if here[at].sort != "mark" and there[to].sort != "mark"]
    differs = _find_value(statement, comparison.said), _find_value(closest, comparison.instead)
    same = (
        _merge(statement.text, [_span(here[at]) for at, _ in subject], differs[0]),
        _merge(closest.text, [_span(there[to]) for _, to in subject], differs[1]),
    )
    if (
        not any(same)
        and not any(differs)
        and comparison.words
        and traced.outcome not in ("absent", "unclear")
    ):
        same = _find_value(statement, comparison.words), _find_value(closest, comparison.words)
    return (
        statement._replace(same=same[0], differs=differs[0]),
        closest._replace(same=same[1], differs=differs[1]),
    )


def _read_core(passage: Passage, kind: str) -> list[Term]:
    """Return the terms of a passage's own words, with offsets in its text: of names, the parts too."""
    start, end = passage.core
    text = passage.text[start:end]
    terms = list(read_terms(text))
    if kind not in _SENTENCES:
        terms = [
            Term(read_terms(part[0].lower())[0].form, "word", part.start(), part.end())
            for part in _PARTS.finditer(text)
            if len(part[0]) > 1 and read_terms(part[0].lower())
        ]
    return [term._replace(start=term.start + start, end=term.end + start) for term in terms]


def _span(term: Term) -> WordSpan:
    return WordSpan(term.start, term.end)


def _find_value(passage: Passage, words: str) -> tuple[WordSpan, ...]:
    """Return the spans of some words in a passage: in its own words first, else in their surroundings."""
    if not words:
        return ()
    start, end = passage.core
    at = passage.text.find(words, start, end)
    at = at if at >= 0 else passage.text.casefold().find(words.casefold())
    inside = at >= 0 and passage.text[at : at + len(words)].casefold() == words.casefold()
    return (WordSpan(at, at + len(words)),) if inside else ()


def _merge(text: str, spans: Iterable[WordSpan], without: Sequence[WordSpan]) -> tuple[WordSpan, ...]:
    """Return spans in order, those with only a blank between them as one, without those that differ."""
    merged: list[WordSpan] = []
    for span in sorted(set(spans)):
        if any(span.start < other.end and other.start < span.end for other in without):
            continue
        apart = any(merged and merged[-1].end <= other.start <= span.start for other in without)
        if merged and not apart and text[merged[-1].end : span.start] in _JOINTS:
            merged[-1] = WordSpan(merged[-1].start, max(span.end, merged[-1].end))
        else:
            merged.append(span)
    return tuple(merged)
