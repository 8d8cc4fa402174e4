"""Positions of a call's arguments in its text, which is JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..json_text import stringify
from .canonical_path import LONGEST


def fold(text: str) -> str:
    """Return a text as the form of a fact: on one line, single spaces, at most 400 characters.

    >>> fold("  go  test \\n ./... ")
    'go test ./...'
    """
    return " ".join(text[: 4 * LONGEST].split())[:LONGEST].rstrip()


def find_each(text: str, word: str) -> Iterator[int]:
    """Yield the offset of each occurrence of a word in a text.

    >>> list(find_each("aaab", "aa"))
    [0]
    """
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def locate(text: str, key: str, value: str) -> int | None:
    """Return the offset of a string in the call's text, preferably under its own key; None if not found."""
    quoted = stringify(value)
    at = text.find(f'"{key}":{quoted}')
    at = at + len(key) + 3 if at >= 0 else text.find(quoted)
    return at + 1 if at >= 0 else None


def place(value: str, at: int, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans of a string as spans of a text that contains it escaped from `at` on. Linear in both."""
    marks = sorted({mark for span in spans for mark in span})
    where, last, reached = {}, 0, at
    for mark in marks:
        reached += len(stringify(value[last:mark])) - 2
        where[mark], last = reached, mark
    return [(where[start], where[end]) for start, end in spans]


# A Windows path, whose folders may begin with n, r or t, or a line break or tab as source code writes it.
_ESCAPES = re.compile(r"(?<![A-Za-z])[A-Za-z]:\\{1,2}[^\s\"'`<>|*?]*|\\{1,2}[nrt]")


def blank_escapes(text: str) -> str:
    r"""Replace escaped line breaks and tabs, as in source code and JSON, by blanks of the same length: they
    separate words, and are not part of a path.

    >>> print(blank_escapes(r"see a.go\nand C:\new\t.txt"))
    see a.go  and C:\new\t.txt
    """
    if "\\" not in text or ("\\n" not in text and "\\t" not in text and "\\r" not in text):
        return text
    return _ESCAPES.sub(lambda hit: hit[0] if hit[0][0] != "\\" else " " * len(hit[0]), text)


def unescape(text: str) -> str:
    """A call's text with its JSON escapes undone at the same length, so that places stay what they are.

    >>> unescape('Write{"content":"a\\\\nb"}')
    'Write{"content":"a \\nb"}'
    """
    if "\\" not in text:
        return text
    text = text.replace("\\\\", "\x01\x01").replace("\\n", " \n").replace("\\t", " \t")
    return text.replace("\\r", " \r").replace('\\"', ' "').replace("\x01\x01", "\\\\")


def restore(text: str) -> str:
    """A piece of `unescape`d text as the form of what its call was given."""
    return fold(text.replace(' "', '"').replace("\\\\", "\\"))
