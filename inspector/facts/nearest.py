"""What comes nearest to a fact in a text that does not name it: the sentence its subject survives in.

In go a fact's form and a text, out come sentences, nearest first, each with the words that it shares and what
they are of the fact. Words are compared without case. The limits are choices of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..session.toolcalls.call_paths import names
from .explanation import NearWords
from .mentions import long_words

MOST = 3
"""Sentences that are told at most."""
_LONG = 160
_SHARED = 0.5
"""Share of a fact's longer words that a sentence holds when its subject survives there."""
_FEWEST = 3
_SHORT = 4
"""Longer words of a sentence that is short: two of them are half of it."""
_PICK = re.compile(r"\b(?:option|approach|variant|plan|step|choice|number) #?\w{1,3}\b", re.IGNORECASE)
_PATH = re.compile(r"\S*[/\\]\S*")
# "the offsets helper": the noun says that the name is meant, and is marked with it.
_NOUN = (
    r"(?:[ -](?:helper|module|file|class|function|method|script|test|component|service|package|config|hook|"
    r"handler|model|schema|table|page|route|parser|reader|writer|loader|client|server|command|rule|store)s?)?"
)
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?](?=\s)|$|(?=\n))", re.MULTILINE)
_PARTS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])|[^\W\d_]{4,}")
# Words of every project: that they stand somewhere says nothing of this file.
_COMMON = names(
    "src lib test tests main index utils util common core types type config docs packages package internal "
    "cmd app apps api server client file files code data model models base init setup helpers helper build "
    "dist node modules users home work workspace readme page component components error errors info json "
    "state session update create delete list read write run exit with from that this have been were into "
    "not found cannot failed fail undefined expected"
)


def find_nearest(kind: str, form: str, text: str, symbols: Iterable[str] = ()) -> tuple[NearWords, ...]:
    """The sentences of a text that come nearest to a fact that it does not name, at most `MOST`.

    `symbols` are names that the file defines.

    >>> find_nearest("file", "src/calendar/offsets.py", "Fixed. The offsets helper kept one.")[0][1:]
    ('offsets', 'its name without the ending,')
    """
    sentences = [" ".join(match[0].split()) for match in _SENTENCE.finditer(text) if match[0].strip()]
    out: dict[str, NearWords] = {}
    for words, how in _ways(kind, form, symbols):
        pattern = re.compile(rf"(?<![A-Za-z0-9]){re.escape(words)}s?(?![A-Za-z0-9])", re.IGNORECASE)
        for sentence in sentences:
            hit = pattern.search(sentence)
            if hit is not None and sentence not in out and _is_meant(words, hit):
                out[sentence] = NearWords(_around(sentence, *hit.span()), hit[0], how)
    if kind not in ("file", "url", "id"):
        mine = long_words(_PATH.sub(" ", form)) - _COMMON
        ranked = []
        fewest = _FEWEST if kind in ("error", "command") or len(mine) > _SHORT else _FEWEST - 1
        for at, sentence in enumerate(sentences):
            shared = mine & long_words(sentence)
            if len(shared) >= max(fewest, _SHARED * len(mine)) and sentence not in out:
                ranked.append((-len(shared), at, sentence, shared))
        for _, _, sentence, shared in sorted(ranked)[:MOST]:
            spans = [sentence.casefold().find(word) for word in shared]
            near = NearWords(
                _around(sentence, min(spans), max(spans)), ", ".join(sorted(shared)), "its words"
            )
            out.setdefault(sentence, near)
    return tuple(out.values())[:MOST]


def _is_meant(words: str, hit: re.Match[str]) -> bool:
    """Whether a name is more than a word of the sentence: "cargo build" is not of Cargo.toml, nor "their
    evaluation" of evaluation.ts, but "the offsets helper" and "`offsets`" are of offsets.py."""
    if words.isalpha() and (words.islower() or words[1:].islower() or words.isupper()):
        text, (start, end) = hit.string, hit.span()
        beside = text[start - 1 : start] + text[end : end + 1]
        marked = any(mark in beside for mark in "`/.-_(\"'")
        return (marked and hit[0].startswith(words)) or re.match(_NOUN, text[end:])[0] != ""  # type: ignore[index]
    return True


def _ways(kind: str, form: str, symbols: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What may stand for a fact, the nearest first, and what it is of it."""
    if kind == "file":
        name = form.replace("\\", "/").rstrip("/").rpartition("/")[2]
        stem = name.lstrip(".").partition(".")[0]
        if len(stem) > 3 and stem.lower() not in _COMMON:
            yield stem, "its name without the ending,"
            spaced = " ".join(part.lower() for part in _PARTS.findall(stem))
            if " " in spaced and spaced != stem:
                yield spaced, "its name in words,"
        for symbol in symbols:
            if len(symbol) > 4:
                yield symbol, "a name that stands in it,"
    elif kind == "choice":
        for pick in _PICK.finditer(form):
            yield " ".join(pick[0].split()), "what it picks,"
    elif kind == "url":
        host = re.match(r"\w+://(?:[^/@]*@)?(?:www\.)?([^/:?#]+)", form)
        if host:
            yield host[1], "its host"


class NearSpan(NamedTuple):
    """Characters `start` to `end` of a text that come near to a fact, and what they are of it (`how`)."""

    start: int
    end: int
    how: str


def find_spans(kind: str, form: str, text: str, symbols: Iterable[str] = ()) -> tuple[NearSpan, ...]:
    """Where a text names a fact or comes near to it, the nearest first: a span of a sentence, at most `MOST`.

    A file is looked for by its whole path, its name, its name without the ending, the `symbols` that it
    defines and its folder; anything else by all of its words, then by the sentences that share most of them.

    >>> find_spans("file", "src/calendar/offsets.py", "Fixed. The offsets helper kept one.")
    (NearSpan(start=11, end=25, how='its name without the ending'),)
    """
    sentences = [match.span() for match in _SENTENCE.finditer(text) if match[0].strip()]
    out: dict[tuple[int, int], NearSpan] = {}
    for words, how in _every_way(kind, form, symbols):
        pattern = _make_pattern(words)
        for span in sentences:
            hit = pattern.search(text, *span) if span not in out else None
            if hit is not None:
                out[span] = NearSpan(*hit.span(), how.rstrip(","))
    if kind not in ("file", "url", "id"):
        mine = long_words(_PATH.sub(" ", form)) - _COMMON
        # No sentence shares more words than there are.
        several = sentences if len(mine) >= _FEWEST else []
        shared = [(len(mine & long_words(text[start:end])), (start, end)) for start, end in several]
        for number, (start, end) in sorted(shared, key=lambda pair: -pair[0]):
            if number >= max(_FEWEST, _SHARED * len(mine)):
                out.setdefault((start, end), NearSpan(start, end, "its words"))
    return tuple(out.values())[:MOST]


def _every_way(kind: str, form: str, symbols: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The same as `_ways`, with what names all of the fact before, and the folder of a file behind."""
    if kind != "file":
        yield form, "all of it"
        yield from _ways(kind, form, symbols)
        return
    *folders, name = form.replace("\\", "/").rstrip("/").split("/")
    if folders:
        yield form, "the whole path"
    yield name, "its name"
    yield from _ways(kind, form, symbols)
    if folders and len(folders[-1]) > 3 and folders[-1].lower() not in _COMMON:
        yield folders[-1], "its folder"


def _make_pattern(words: str) -> re.Pattern[str]:
    noun = _NOUN if re.fullmatch(r"[\w -]+", words) else ""
    spaced = r"\s+".join(re.escape(word) for word in words.split())
    return re.compile(rf"(?<![A-Za-z0-9]){spaced}s?(?![A-Za-z0-9]){noun}", re.IGNORECASE)


def _around(sentence: str, start: int, end: int) -> str:
    """A long sentence cut to what stands around some words of it."""
    if len(sentence) <= _LONG:
        return sentence
    low = max(0, min(start - 40, len(sentence) - _LONG))
    low = sentence.find(" ", low) + 1 if low else 0
    high = sentence.rfind(" ", 0, max(low + _LONG, min(end + 20, low + 2 * _LONG)))
    cut = sentence[low : high if high > low else None]
    return ("… " if low else "") + cut + (" …" if len(cut) + low < len(sentence) else "")
