"""Columns of secrets in tables: CSV files, tab-separated output, Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
NEEDS = ("password", "passwd", "passphrase", "passwort", "secret", "token", "key")


def find_cells(text: str, lower: str) -> Iterator[tuple[int, int]]:
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
        # What a tool or a sentence wrote before the first heading is no heading.
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
    """The start and end of the line around a position, at most MOST_WIDTH characters each way."""
    first, last = max(0, at - MOST_WIDTH), min(len(text), at + MOST_WIDTH)
    spelt_out = text.rfind("\\n", first, at)
    start = max(text.rfind("\n", first, at) + 1, spelt_out + 2 if spelt_out >= 0 else 0)
    end = min(place for place in (text.find("\n", at, last), text.find("\\n", at, last), last) if place >= 0)
    for spelt in ("\r", "\\r"):
        end -= len(spelt) if text.endswith(spelt, at, end) else 0
    return max(start, first), end


def _is_heading(before: str, after: str, separator: str) -> bool:
    """Whether each cell of a row is a name; the first may follow other text."""
    cells = [*before.split(separator)[1:], *after.split(separator)[1:]]
    if separator in ",;" and (f"{separator} " in before + after or (after and not cells[-1].strip())):
        return False  # code, not a table
    return all(len(cell) <= 60 and _NAMES.fullmatch(cell) for cell in cells)
