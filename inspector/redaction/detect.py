"""Find the secrets in a text by the patterns of `patterns.py`.

A text is read as a person reads it: letters that look alike are the same, invisible ones are not there, and
base64 is read as what it encodes. In a table, the cells below the name of a secret are searched. Nothing is
asked of a network.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..errors import RedactionError
from .patterns import LEAST_WORD, LONG_RUN, PATTERNS, Grade
from .values import JUDGES, is_telling

_INVISIBLE = re.compile(
    "[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
_FOREIGN = re.compile(r"[^\x00-\x7f]")
LEAST_CODED = 24
LEAST_CELL = 6
_CODED = re.compile(rf"[A-Za-z0-9+/_-]{{{LEAST_CODED},}}={{0,2}}")
_COMMON = str.maketrans("-_", "+/")
_MOST_CODED = 20_000
_ALWAYS = tuple(at for at, pattern in enumerate(PATTERNS) if not pattern.needs)
_BY_NEED: dict[str, list[int]] = {}
_BY_WORD_NEED: dict[str, list[int]] = {}
for _at, _pattern in enumerate(PATTERNS):
    for _need in _pattern.needs:
        (_BY_WORD_NEED if _pattern.word else _BY_NEED).setdefault(_need, []).append(_at)
_SURE = ("plain", "key", "mixed")
"""Checks that accept a value by its form alone."""
_UNPRINTABLE = re.compile(rb"[^\t\n\r\x20-\x7e]")


class Span(NamedTuple):
    """A secret at text[start:end]. If `alone`, the same text is a secret elsewhere too."""

    start: int
    end: int
    kind: str
    grade: Grade
    alone: bool


def find_spans(text: str) -> list[Span]:
    """Find the secrets in a text, in order. Overlapping ones are merged.

    Look-alike letters are read as the letters they resemble, and invisible characters are ignored. A secret
    takes precedence over personal data that overlaps it.

    Raises `RedactionError` if the detector fails.

    >>> [(span.kind, span.grade) for span in find_spans("AKIAIOSFODNN7ABCDEFG in /home/ann-lee/x")]
    [('aws-access-key', 'secret'), ('user', 'personal')]
    """
    try:
        plain, places = _read(text)
        return _part(_all_spans(plain), places)
    except RedactionError:
        raise
    except Exception as error:
        # A text that was not searched must not count as free of secrets.
        raise RedactionError(f"the detector of secrets failed: {type(error).__name__}") from error


def _part(spans: Iterator[Span], places: Sequence[int] | None) -> list[Span]:
    ordered = sorted(spans, key=lambda span: (span.start, -span.end))
    graver = [span for span in ordered if span.grade == "secret"]
    out: list[Span] = []
    for span in ordered:
        if span.grade != "secret" and any(s.start < span.end and span.start < s.end for s in graver):
            continue
        if out and span.start < out[-1].end:
            last = out[-1]
            # Overlapping secrets are hidden together, under the name of the first.
            out[-1] = last._replace(end=max(last.end, span.end), alone=last.alone and span.end <= last.end)
        else:
            out.append(span)
    if places is None:
        return out
    return [span._replace(start=places[span.start], end=places[span.end - 1] + 1) for span in out]


def _read(text: str) -> tuple[str, Sequence[int] | None]:
    """Return the text as a person reads it, and the original index of each character if that differs."""
    if text.isascii():
        return text, None
    alike = {}
    for letter in set(_FOREIGN.findall(text)):
        plain = "i" if letter in "\u0130\u0131" else unicodedata.normalize("NFKC", letter)
        if plain != letter and len(plain) == 1:
            alike[ord(letter)] = plain
    text = text.translate(alike) if alike else text
    if not _INVISIBLE.search(text):
        return text, None
    places = [at for at, letter in enumerate(text) if not _INVISIBLE.match(letter)]
    return "".join(text[at] for at in places), places


def _all_spans(text: str, coded: bool = True) -> Iterator[Span]:
    lower = text.lower()
    if len(lower) != len(text):
        raise RedactionError("a text changes its length in lower case")
    words = " ".join({word for word in lower.split() if len(word) >= LEAST_WORD})
    longest = max(map(len, LONG_RUN.findall(words)), default=0)
    tried = {*_ALWAYS}
    tried.update(*[places for need, places in _BY_NEED.items() if need in lower])
    tried.update(*[places for need, places in _BY_WORD_NEED.items() if need in words] if words else ())
    for place in sorted(tried):
        pattern = PATTERNS[place]
        if pattern.long > longest:
            continue
        regex = pattern.regex
        for match in regex.finditer(lower if pattern.lower else text):
            group = 1 if regex.groups and match.group(1) is not None else 0
            start, end = match.span(group)
            value = text[start:end]
            if start == end or not JUDGES[pattern.judge](value):
                continue
            alone = pattern.judge in _SURE or is_telling(value)
            yield Span(start, end, pattern.kind, pattern.grade, alone)
    if any(need in lower for need in _CELL_NEEDS):
        for start, end in _find_cells(text, lower):
            value = text[start:end]
            if len(value) >= LEAST_CELL and JUDGES["mixed-word"](value):
                yield Span(start, end, "assigned-value", "secret", is_telling(value))
    if coded and len(words) >= LEAST_CODED:
        yield from _coded_spans(text)


def _coded_spans(text: str) -> Iterator[Span]:
    """Yield the spans of base64 that decode to text with a secret."""
    for match in _CODED.finditer(text):
        run = match.group().rstrip("=").translate(_COMMON)[:_MOST_CODED]
        run = run[: len(run) - (len(run) % 4 == 1)]
        if _UNPRINTABLE.search(b64decode(run[:24])):
            continue
        words = b64decode(run + "=" * (-len(run) % 4))
        decoded = _UNPRINTABLE.split(words, maxsplit=1)[0].decode("ascii")
        kinds = [span.kind for span in _all_spans(decoded, coded=False) if span.grade == "secret"]
        if kinds:
            yield Span(*match.span(), kinds[0], "secret", True)


# Columns of secrets in tables: CSV files, tab-separated output, Markdown.
_BREAK = r"(?:\r?\n|(?:\\r)?\\n)"
_HEAD = re.compile(
    r"(?:pass(?:word|wd|phrase|wort)|secret|token|api[ _-]?key|access key|private[ _-]?key)[\"'`* ]{0,40}"
    rf"(?=[|,;\t]|\\t|{_BREAK})"
)
_LINE_END = re.compile(_BREAK)
_CELL_ENDS = re.compile(r"[|,;\t]|\\t")
_NAMES = re.compile(r"[\w .\-\"'`*]*")
_RULE = re.compile(r"[|:\- ]+")
MOST_WIDTH, MOST_ROWS = 1000, 1000
_CELL_NEEDS = ("password", "passwd", "passphrase", "passwort", "secret", "token", "key")


def _find_cells(text: str, lower: str) -> Iterator[tuple[int, int]]:
    """Yield the position of each cell below a heading that names a secret.

    A row belongs to the table if it has as many cells as the row of headings.
    """
    done = 0
    for head in _HEAD.finditer(lower):
        if head.start() < done:
            continue
        start, end = _find_line(text, head.start())
        if end - start > MOST_WIDTH:
            continue
        # Text of a tool or a sentence before the first heading is not part of the heading.
        before, after = text[start : head.start()], text[head.end() : end]
        if "||" in before + after:
            continue  # an operator in code
        separator = "|" if "|" in before + after else None
        cut = _CELL_ENDS.search(after) or _CELL_ENDS.search(before)
        separator = separator or (cut.group() if cut else None)
        if separator is None or not _is_heading(before, after, separator):
            continue
        index, count = before.count(separator), (before + after).count(separator)
        for _ in range(MOST_ROWS):
            step = _LINE_END.match(text, end)
            if not step:
                break
            row = step.end()
            _, end = _find_line(text, row)
            line = text[row:end]
            if separator in ",;" and (line[:1].isspace() or f"{separator} " in line):
                break
            if _RULE.fullmatch(line):
                continue
            if len(line) > MOST_WIDTH or line.count(separator) != count:
                break
            cells = line.split(separator)
            at = row + sum(len(cell) + len(separator) for cell in cells[:index])
            value = cells[index].strip(" \"'`*\\}")
            offset = cells[index].find(value)
            yield at + offset, at + offset + len(value)
        done = end


def _find_line(text: str, at: int) -> tuple[int, int]:
    """Return the start and end of the line around a position, at most MOST_WIDTH characters each way."""
    first, last = max(0, at - MOST_WIDTH), min(len(text), at + MOST_WIDTH)
    spelt_out = text.rfind("\\n", first, at)
    start = max(text.rfind("\n", first, at) + 1, spelt_out + 2 if spelt_out >= 0 else 0)
    end = min(place for place in (text.find("\n", at, last), text.find("\\n", at, last), last) if place >= 0)
    for spelt in ("\r", "\\r"):
        end -= len(spelt) if text.endswith(spelt, at, end) else 0
    return max(start, first), end


def _is_heading(before: str, after: str, separator: str) -> bool:
    """Return whether each cell of a row is a name; the first may follow other text."""
    cells = [*before.split(separator)[1:], *after.split(separator)[1:]]
    if separator in ",;" and (f"{separator} " in before + after or (after and not cells[-1].strip())):
        return False  # code, not a table
    return all(len(cell) <= 60 and _NAMES.fullmatch(cell) for cell in cells)
