"""Numbers with a name: values of settings, counts and limits.

A pass over the characters finds the starts of numbers; only the text around a number that may have a name is
read, at most one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...session.toolcalls.canonical_path import names
from ..vocabulary import SMALL
from .code_points import WORD, Codes, character_table, code_points
from .typed import Hit

_SET = re.compile(r"(?:\": ?|: |=|= |→)(?:\\?[\"'])?-?$")
_VALUE = re.compile(
    r"(?<=[\"'])(\d[\d_,]*(?:\.\d+)?)(?=\\?[\"'])"
    r"|(?<![\"'])(\d[\d_,]*(?:\.\d+)?)( ?(?:%|ms|s|px|r?em|[kKMG]i?B|tokens|x)(?!\w))?(?!\w|[./:-]\w)"
)
_LABEL = re.compile(r"(?<![\w./-])([A-Za-z_][\w.-]{0,60}(?: [A-Za-z][\w-]{1,30})?)[\"'`*]{0,3} ?$")
_BECOMES = re.compile(r"[\"'`*_)]{0,3} ?(?:→|->|=>) ?[\"'`*_(]{0,3}")
"""An arrow from an old value to the one that holds."""
_ORDINAL = ("Task ", "Phase ", "Step ", "Item ")
_THINGS = (
    "tests?|tokens|files?|insertions|deletions|lines|words|entries|hooks|issues|matches|commits|sessions|items"
    "|rows|bytes|characters|chars|functions|modules|packages|errors?|warnings?|failures|checks|comments"
    "|threads|checkpoints|messages|requests|branches|tasks|suggestions|records|results|occurrences|components"
    "|classes|methods|endpoints|fields|columns|retries|attempts|workers|processes|pages|images"
    "|repos(?:itories)?|changes|references|assertions|suites|problems|vulnerabilities|duplicates|calls|callers"
    "|turns|prompts|rules|events|nodes|instances|replicas|iterations|samples|epochs|cases|bugs|PRs"
    "|dependencies|objects|users|agents|fixes|subtests|findings|conflicts|migrations|parameters|arguments"
    "|imports|types|interfaces|chunks|batches"
)
_COUNTED = re.compile(
    r"\d(?:[\d,]{0,10}\d)?(?:\.\d{1,3})?[kKM]?(?:-\d{1,9})?\+? "
    r"(?:(?:unit |integration |e2e )?tests? (?:pass(?:ed)?|fail(?:ed|ing)?)"
    r"|(?:(?!(?:of|in|or|and|the|to|for|more) )[a-z-]{1,13}[a-rt-z] )?"
    rf"(?:{_THINGS})|pass(?:ed|ing)?|fail(?:ed|ing|ures?)?|skipped)\b(?!/)"
)
_NOT_ALONE = WORD | character_table(".,-")
_JOINED, _UNITED = character_table(",.kKM-+"), character_table("%mskKMG-")
_WORDS_AFTER = character_table("abcdefghijklmnopqrstuvwxyzPR")
_LIMITS = "timeout|limit|window|threshold|budget|coverage|retention|delay|interval"
_LIMITED = re.compile(
    rf"(\d[\d,]{{0,11}}(?:\.\d+)? ?(?:(?:ms|s|k|[kKMG]i?B)\b|%)?[- ]?(?:[a-z]{{1,12}} )?(?:{_LIMITS}))\b"
)
_STATED = re.compile(
    r"(?<![\w./-])([A-Za-z_][\w.]{0,60})`? "
    r"(?:is|was|stays? at|equals|becomes|set to|goes to|drops to|rises to|of) `?$"
)
_MEASURED = re.compile(
    r"(?:(?<=[ \n(`])|^)(limit|timeout|port|depth|threshold|budget|maximum|minimum|default|total)"
    r"(?: (?:of|is|to|at|was))? $"
)
_ENDINGS = np.zeros(0x10000, bool)
for _pair in names("is as ls es at to of it ut rt th ld et um lt al"):
    _ENDINGS[ord(_pair[0]) * 256 + ord(_pair[1])] = True
"""bool[65536]: marks the pairs of characters that are the last letters before a number in the two above."""
_MEASURE = re.compile(
    r"(?:\d[\d_,.]*\d|\d)(?: ?(?:%|ms|s|px|[kKMG]i?B|tokens|seconds|minutes|lines|bytes))?(?!\w|[./:-]\w)"
)
_FLAG = re.compile(r"-([a-z][a-z-]{2,30})[= ](\d[\d_]*(?:ms|s|m|h)?)(?!\w|[./:-]\w)")
_ARTICLES = names("const let var the a an and or with by is are return then to at of static final int")
_CASED = re.compile(r"_|[a-z][A-Z]")
_NO_LABEL = re.compile(
    r"(?i:(?:^|[_\s.-])(?:id|line|col|column|port|row|index|position)$|^(?:l|v|version)$)"
    r"|[a-z](?:Id|Line|Col|Column|Port|Row|Index|Position)$"
)
"""Names of a place in a text or a list, of a number that only identifies, and of a version."""
_HEADER = re.compile(r"(?m)(?:^[A-Z][\w ]{2,40}(?:: | code )[^\n]{1,60}\n){2,9}Output:$")
"""The lines in which a harness tells of a call above the output of the call."""
_COUNTER = re.compile(r"\b(?:let|var|mut) $")
_SHORTEST = 3
"""Letters of the name of a bare number."""


def find_numbers(text: str) -> Iterator[Hit]:
    """Numbers that have a name: `timeout = 30`, `coverage: 87 %`, `12 passed`, a `30s timeout`."""
    if not text:
        return
    codes = code_points(text)
    digit = (codes >= 0x30) & (codes <= 0x39)
    edges = np.flatnonzero(np.diff(digit, prepend=False, append=False))
    starts, ends = edges[::2], edges[1::2]
    for header in _HEADER.finditer(text) if "\nOutput:" in text else ():
        is_told = (starts >= header.start()) & (starts < header.end())
        starts, ends = starts[~is_told], ends[~is_told]
    yield from _find_set(text, codes, starts)
    yield from _find_counted(text, codes, starts, ends)


def _find_set(text: str, codes: Codes, starts: NDArray[np.int64]) -> Iterator[Hit]:
    """Yield the values that a name is set to, or said to have."""
    at = starts - (_at(codes, starts - 1) == ord("-"))
    before, second = _at(codes, at - 1), _at(codes, at - 2)
    ticked = before == ord("`")
    space = (before == ord(" ")) | ticked
    quoted = (before == ord('"')) | (before == ord("'"))
    assigned = (second == ord(":")) | (second == ord("="))
    sure = (before == ord("=")) | (before == ord(":")) | (before == 0x2192) | (space & assigned)
    sure |= quoted & (assigned | (second == ord(" ")) | (second == ord("\\")))
    for start in starts[sure].tolist():
        set_to = _SET.search(text, max(0, start - 6), start)
        value = _VALUE.match(text, start) if set_to else None
        if value and (arrow := _BECOMES.match(text, value.end())):
            value = _VALUE.match(text, arrow.end()) or value
        if set_to is None or value is None:
            continue
        label = _LABEL.search(text[max(0, set_to.start() - 60) : set_to.start()])
        if label and not _NO_LABEL.search(label[1]):
            name, back = label[1], len(label.group())
            first, gap, last = name.partition(" ")
            if gap and (text[set_to.start()] == "=" or first in _ARTICLES or _CASED.search(last)):
                name, back = last, back - len(first) - 1
            back_at = set_to.start() - back
            if not (value[3] or _is_name(name)) or (
                value[2] == "0" and _COUNTER.search(text[max(0, back_at - 5) : back_at])
            ):
                continue
            sign, words = "-" if text[start - 1] == "-" else "", _format_value(value)
            sign = sign if value.start() == start else ""
            yield back_at, value.start() + len(words), f"{name} = {sign}{words}"
    at -= ticked
    endings = _at(codes, at - 3) * 256 + _at(codes, at - 2)
    for start in starts[space & ~sure & _ENDINGS[endings]].tolist():
        measured = _MEASURED.search(text, max(0, start - 22), start)
        measure = _MEASURE.match(text, start) if measured else None
        if measured and measure:
            yield measured.start(), measure.end(), f"{measured[1]} = {measure.group()}"
            continue
        stated = _STATED.search(text, max(0, start - 80), start)
        value = _VALUE.match(text, start) if stated else None
        if stated and value and _CASED.search(stated[1]) and not _NO_LABEL.search(stated[1]):
            words = _format_value(value)
            yield stated.start(), start + len(words), f"{stated[1]} = {words}"


def _is_name(words: str) -> bool:
    """Whether words may be looked for as the name of a number: not "i", nor "read it".

    >>> _is_name("i"), _is_name("read it"), _is_name("retries"), _is_name("max depth")
    (False, False, True, True)
    """
    return len(words) >= _SHORTEST and not any(word.lower() in SMALL for word in words.split())


def _format_value(value: re.Match[str]) -> str:
    return ((value[1] or value[2]) + (value[3] or "")).strip(", ")


def _find_counted(
    text: str, codes: Codes, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> Iterator[Hit]:
    """What is counted, and numbers that say what kind of limit they are."""
    before, after, second = _at(codes, starts - 1), _at(codes, ends), _at(codes, ends + 1)
    alone = ~_NOT_ALONE[before]
    word = _WORDS_AFTER[second]
    spaced = (after == ord(" ")) & word
    joined = _JOINED[after]
    united = _UNITED[after] | spaced
    for start in starts[alone & (spaced | joined)].tolist():
        match = _COUNTED.match(text, start)
        if match and not text.endswith(_ORDINAL, max(0, start - 6), start):
            yield start, match.end(), match.group()
    for start in starts[alone & united].tolist():
        match = _LIMITED.match(text, start)
        if match:
            yield start, match.end(), match.group()


def _at(codes: Codes, places: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Return the characters at places, 0 outside the text."""
    inside = (places >= 0) & (places < len(codes))
    out: NDArray[np.uint16] = np.where(inside, codes[np.where(inside, places, 0)], 0).astype(np.uint16)
    return out


def find_flags(text: str) -> Iterator[Hit]:
    """Numbers given to the options of a command: `-timeout 30s`, `--retries=3`."""
    for match in _FLAG.finditer(text):
        start = match.start() - (text[match.start() - 1 : match.start()] == "-")
        if text[start - 1 : start] in (" ", "\n"):
            yield start, match.end(), f"{match[1]} = {match[2]}"
