"""Sentences around a cue: what people and models settle in words, cut out of a text.

A cue is looked for first, and what stands around it is read at most 400 characters far, so nothing backtracks
without bound. An automaton over all literals at once (Aho-Corasick) was not taken: the literals are few, each
search runs at memory speed, and most of the time goes into the hits, not into the search.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import accumulate

import numpy as np

from ...session.toolcalls.call_paths import LONGEST, names
from ...session.toolcalls.positions import find_each
from .code_points import code_points, find_letters, latin_bytes
from .word_places import WordTable

Hit = tuple[int, int, str]

ORDERS = names("""
add adjust align allow answer apply ask assume assign avoid base be begin bring build call capture change
check choose clean close collect combine commit compare consider contain continue convert copy create cut
define delete describe do document drop enable ensure exclude extract fetch filter fix focus follow format
generate give group handle ignore implement import include inherit insert install integrate just keep leave
let limit link list load log look maintain make mark match merge mention mock move name note only open output
pass pick place plan point prefer preserve print produce provide publish pull push put quote re-fetch re-run
read rebase refactor refer refetch reject release remove rename render reopen replace reply report request
require rerun reset resolve respect respond restrict retain retry return reuse revert review round run save
scope scoped send separate set share ship show simplify skip sort specify split squash start stay stick stop
store strip submit suggest support swap tag take tell test touch treat trim try turn type undo update upload
use validate verify wait wrap write""")
"""Verbs that a sentence opens with which tells someone to do something."""
_OPENING = re.compile(
    r"(?i)\W*(?:(?:please|then|also|and|but|so|now|just|always|first|finally|instead|ok(?:ay)?|yes|no|well"
    r"|i would|i['’]d|[\w -]{1,30}:)[,\s*]*){0,4}([a-z][a-z-]*)"
)
_STOP = re.compile(r"[。！？；]|[.!?](?=[\s)*<]|[\"'](?!\s[a-z])|$)|\n| \| |</?[a-z][\w-]{2,40}>")
_LEAD = " \t\r\n-*>•#0123456789.|"
_TRIES = 6  # cues of one sentence that are looked at
_SHORT = 8
_SHORT_WIDE = 4  # characters of scripts that write a word in one or two
_LONG = 4_000  # characters from which on many cues are faster found in one pass than one after the other


def make_overlap(spans: Iterable[tuple[int, int]]) -> Callable[[int, int], bool]:
    """Whether a stretch of a text, from start to end, shares a character with any of these.

    >>> overlaps = make_overlap([(9, 12), (0, 4)])
    >>> overlaps(3, 9), overlaps(4, 9), overlaps(11, 20)
    (True, False, True)
    """
    ordered = sorted(spans)
    reached = list(accumulate((end for _, end in ordered), max))

    def overlaps(start: int, end: int) -> bool:
        before = bisect_left(ordered, (end, 0))  # so many begin before it ends
        return before > 0 and reached[before - 1] > start

    return overlaps


def find_sentences(
    text: str,
    pattern: re.Pattern[str],
    cues: tuple[str, ...],
    accept: Callable[[re.Match[str], int, str], bool],
    clause: Callable[[re.Match[str], int], int] = lambda match, start: start,
) -> Iterator[Hit]:
    """(start, end, form) of every sentence with a cue that is accepted; one in brackets stands by itself.

    `accept` is asked with the cue, where the sentence starts, and its words; `clause` says where what the cue
    is about starts, if not with the sentence.
    """
    until = tried_until = tries = -1
    for match in _matches(text, pattern, cues):
        tries = tries + 1 if match.start() < tried_until else 0
        if match.start() < until or tries >= _TRIES:
            continue
        start = max(0, match.start() - LONGEST // 2, until)
        if start and text[start - 1].isalnum():  # cut where it is too long, not within a word
            start = max(text.find(" ", start, match.start()), start)
        for stop in _STOP.finditer(text, start, match.start()):
            start = stop.end()
        stop_after = _STOP.search(text, match.end(), start + LONGEST)
        end = beyond = stop_after.end() if stop_after else min(len(text), start + LONGEST)
        if stop_after and stop_after[0][0] == "<":  # a tag ends the sentence, and is no word of it
            end = stop_after.start()
        opened = text.rfind("(", start, match.start())
        if opened >= 0 and text.find(")", opened, match.start()) < 0:
            closed = text.find(")", match.end(), end + 1)
            start, end = opened + 1, closed if closed >= 0 else end
            beyond = end + 1
        start = clause(match, start)
        sentence = text[start:end]
        start += len(sentence) - len(sentence.lstrip(_LEAD))
        end = start + len(text[start:end].rstrip(" \t\r\n|:"))
        form = " ".join(text[start:end].split())
        if len(form) > (_SHORT if form.isascii() else _SHORT_WIDE) and accept(match, start, form):
            until = beyond
            yield start, end, form
        elif not tries:
            tried_until = beyond


def _matches(text: str, pattern: re.Pattern[str], cues: tuple[str, ...]) -> Iterator[re.Match[str]]:
    """The pattern's matches, looked for only in lines that hold a cue."""
    low = text.lower()
    if len(text) > _LONG and len(low) == len(text):
        for start, end in _find_lines(low, cues):
            yield from pattern.finditer(text, start, end)
        return
    at = 0
    for line in text.split("\n"):
        low = line.lower() if len(line) > _SHORT_WIDE else ""
        if low and holds_any(low, cues):
            yield from pattern.finditer(text, at, at + len(line))
        at += len(line) + 1


def _find_lines(low: str, cues: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where the lines of a long text stand that hold a cue: all cues are looked for at once."""
    table, others = _table(cues)
    places = [*table.find(low).values()]
    places += [np.fromiter(find_each(low, cue), np.int64) for cue in others if not low.isascii()]
    if not places:
        return
    after = np.append(find_letters(code_points(low), "\n"), len(low))  # where lines end
    holds = np.zeros(len(after), bool)
    holds[np.searchsorted(after, np.concatenate(places))] = True
    for line in np.flatnonzero(holds).tolist():
        start, end = int(after[line - 1]) + 1 if line else 0, int(after[line])
        if end - start > _SHORT_WIDE:
            yield start, end


@cache
def _table(cues: tuple[str, ...]) -> tuple[WordTable, tuple[str, ...]]:
    """The cues that a table of words can take, and the others, which are not of Latin letters alone."""
    latin = [cue for cue in cues if latin_bytes(cue).decode("latin-1") == cue]
    return WordTable(latin), tuple(cue for cue in cues if cue not in latin)


def may_hold(text: str, cues: tuple[str, ...]) -> bool:
    """Whether a text may hold one of these in whatever case, `cues` being in lower case: a quick look before
    a pattern that holds one of them wherever it matches. Of a text with other letters than ASCII's it may:
    a pattern takes some of those for another case of a cue's letters.

    >>> may_hold("Maybe not", ("maybe", "perhaps")), may_hold("Surely", ("maybe", "perhaps"))
    (True, False)
    """
    return holds_any(text.lower(), cues) or not text.isascii()


def holds_any(text: str, words: Iterable[str]) -> bool:
    """Whether a text holds one of these words."""
    return any(map(text.__contains__, words))


def opens_with(form: str) -> str:
    """The first word of a sentence but for those of courtesy: of "ok, then please run it", "run"."""
    opening = _OPENING.match(form)
    return "" if opening is None else opening[1].lower()
