"""Text for people: formatting of numbers and lists in sentences, and escaping of untrusted text.

Escaped text contains no control sequences. Lone surrogates become U+FFFD, because JSON cannot carry them;
control characters become their visible pictures; characters that reorder or end a line, or that XML forbids,
are written as their code points.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from difflib import get_close_matches
from functools import wraps
from html import escape
from typing import Any
from unicodedata import category

_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\u2028\u2029\ufffe\uffff\ud800-\udfff]"
)
_DELIMITER = re.compile(r"[$\\]")
"""Characters that begin a formula: $…$, $$…$$, \\(…\\), \\[…\\], \\begin{…}."""
MOST_MARKS = 6
"""Combining marks shown on one letter, which is more than any script uses (Hebrew has five)."""
# Runs of possible combining marks. Symbols, box drawing and emoji, which many outputs repeat, are excluded.
_STACKED = re.compile(
    r"[^\w\s\x00-\u02ff\u2010-\u20cf\u2100-\u2cee\u2e00-\u3029\ud800-\udfff\U0001f000-\U0001faff]"
    rf"{{{MOST_MARKS + 1},}}"
)
_LISTS = (list, tuple)
_UUID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


def printable(text: str, limit: int | None = None) -> str:
    """Return `text`, cut to `limit` characters, with control characters escaped.

    At most `MOST_MARKS` combining marks of a letter are shown, because more would cover the lines around it.

    >>> printable("\\x1b[31mred\\u202e")
    '␛[31mred‹U+202E›'
    >>> printable("e" + "\\u0301" * 40) == "e" + "\\u0301" * 6 + "‹34 more marks›"
    True
    """
    if limit is not None and len(text) > limit:
        text = text[:limit]
    # Most texts contain only printable characters, and no printable ASCII character is escaped.
    if text.isascii() and text.isprintable():
        return text
    text = _STACKED.sub(_unstack, text)
    return text if text.isprintable() else _ACTING.sub(_spell, text.replace("\r\n", "\n"))


def printed(method: Callable[[Any], str]) -> Callable[[Any], str]:
    """Decorate a `__repr__` or `__str__` that may quote a transcript: escape its text with `printable`.

    >>> class Named:
    ...     @printed
    ...     def __repr__(self):
    ...         return "Named(\\x1b[31mred)"
    >>> Named()
    Named(␛[31mred)
    """

    @wraps(method)
    def show(self: Any) -> str:
        return printable(method(self))

    return show


def brief(name: object) -> str:
    """Shorten the name of an entry or a block for a sentence: a UUID to its first eight digits.

    >>> brief("0a69f989-3acc-48aa-a7d1-ebdbf7961d67/0"), brief("e12/3")
    ('0a69f989…/0', 'e12/3')
    """
    return _UUID.sub(r"\1…", printable(str(name)))


def printable_tree(value: Any) -> Any:
    """Apply `printable` to every text in a JSON-like value."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {key: printable_tree(item) for key, item in value.items()}
    if isinstance(value, _LISTS):
        return [printable_tree(item) for item in value]
    return value


def _unstack(match: re.Match[str]) -> str:
    """Replace the combining marks above `MOST_MARKS` on a letter by their number."""
    shown: list[str] = []
    marks = 0
    for char in [*match.group(), ""]:
        kind = category(char) if char else ""
        if kind in ("Mn", "Me", "Cf"):  # joiners between marks do not end them
            marks += kind != "Cf"
            if marks <= MOST_MARKS:
                shown.append(char)
            continue
        if marks > MOST_MARKS:
            shown.append(f"‹{plural(marks - MOST_MARKS, 'more mark')}›")
        marks = 0
        shown.append(char)
    return "".join(shown)


def _spell(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"‹U+{code:04X}›"


def has_words(text: str, wording: str) -> bool:
    """Whether a text contains a wording that neither begins nor ends inside a word or a number.

    >>> has_words("see data.py", "a.py"), has_words("see a.py.", "a.py"), has_words("my_test.go", "_test.go")
    (False, True, False)
    >>> has_words("it took 1,200 tokens", "200 tokens"), has_words("a limit of 3.5", "a limit of 3")
    (False, False)
    """
    at = text.find(wording) if wording else -1
    while at >= 0:
        if _stands_apart(text, at, at + len(wording)):
            return True
        at = text.find(wording, at + 1)
    return False


def has_words_at(text: str, wording: str, at: int) -> bool:
    """Whether the wording is at one offset of the text, as `has_words` finds it.

    >>> has_words_at("see a.py.", "a.py", 4), has_words_at("see a.py.", "a.py", 0)
    (True, False)
    """
    return at >= 0 and text.startswith(wording, at) and _stands_apart(text, at, at + len(wording))


def _stands_apart(text: str, at: int, end: int) -> bool:
    """Whether text[at:end], which is not empty, neither begins nor ends inside a word or a number."""
    before = at > 0 and _in_word(text[at]) and _in_word(text[at - 1])
    after = end < len(text) and _in_word(text[end - 1]) and _in_word(text[end])
    return not (before or after or _cuts_number(text, at) or _cuts_number(text, end))


_NUMBER = re.compile(r"(?<!\w)\d+(?:,\d{3}(?!\d))*(?:\.\d+)*")
_MARKS = (".", ",")
_WIDEST = 24  # characters examined on each side of an offset for a number


def _cuts_number(text: str, at: int) -> bool:
    """Whether an offset is inside a number, next to a separator of its digits: "1,|200", "3|.5"."""
    before, after = text[at - 1 : at], text[at : at + 1]
    if not (before.isdigit() and after in _MARKS) and not (before in _MARKS and after.isdigit()):
        return False
    near = _NUMBER.finditer(text, max(0, at - _WIDEST), at + _WIDEST)
    return any(number.start() < at < number.end() for number in near)


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def html_text(text: str) -> str:
    """Escape untrusted text as HTML that a notebook shows literally.

    Notebooks typeset formulas in HTML, and a formula may contain a link. A delimiter in its own element does
    not begin a formula; neither does a single "$", such as in a price.

    >>> print(html_text("<b> costs $5"), html_text("$x$"))
    &lt;b&gt; costs $5 <span>$</span>x<span>$</span>
    """
    escaped = escape(printable(text))
    if "\\" not in text and text.count("$") < 2:
        return escaped
    return _DELIMITER.sub(r"<span>\g<0></span>", escaped)


def text_table(rows: Sequence[Sequence[str]], numbers: Container[int] = ()) -> list[str]:
    """Format a table as lines, its columns aligned.

    Args:
        rows: The cells of each row, the headings first.
        numbers: The columns that are aligned to the right.

    >>> text_table([("", "calls"), ("input", "7")], numbers=[1])
    ['       calls', 'input      7']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at in numbers else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def html_lines(lines: Iterable[str]) -> str:
    """Format lines of text for a notebook."""
    return "".join(f"<div>{html_text(line)}</div>" for text in lines for line in printable(text).splitlines())


def html_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Iterable[int] = (),
    around: tuple[str, str] = ("", ""),
) -> str:
    """Format a table for a notebook; every cell is shown as text.

    Args:
        headings: The column headings.
        rows: The cells of each row.
        numbers: The columns that are aligned to the right.
        around: The lines above and below the table.

    >>> print(html_table(["tokens"], [["1 < 2"]], numbers=[0], around=("", "counted")))  # doctest: +ELLIPSIS
    <table>...<td style="text-align:right;padding:0 8px">1 &lt; 2</td></tr></tbody></table><div>counted</div>
    """
    right = {*numbers}

    def cell(at: int, text: str) -> str:
        side = "right" if at in right else "left"
        return f'<td style="text-align:{side};padding:0 8px">{html_text(text)}</td>'

    head = "".join(f"<th>{html_text(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(cell(at, text) for at, text in enumerate(row))}</tr>" for row in rows)
    above, below = (html_lines(lines.splitlines()) for lines in around)
    return f"{above}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def utf16_length(text: str) -> int:
    """Length in UTF-16 code units, as JavaScript counts: an astral character is 2, a lone surrogate 1.

    >>> utf16_length("a😀")
    3
    """
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_slice(text: str, first: int, end: int, whole: bool = True) -> str:
    """UTF-16 code units `first` to `end` of a text; if `whole`, without half a character at either end.

    >>> utf16_slice("a😀b😀", 2, 5), utf16_slice("a😀", 0, 2, whole=False)
    ('b', 'a\\ud83d')
    """
    if first >= end or text.isascii():
        return text[first:end]
    units = text.encode("utf-16-le", "surrogatepass")

    def splits(at: int) -> bool:
        inside = whole and 0 < 2 * at < len(units)
        return inside and 0xD8 <= units[2 * at - 1] <= 0xDB and 0xDC <= units[2 * at + 1] <= 0xDF

    return units[2 * (first + splits(first)) : 2 * (end - splits(end))].decode("utf-16-le", "surrogatepass")


def plural(number: int, singular: str, plural_form: str = "") -> str:
    """Format a number with its noun and, if needed, a verb. `many` is the plural if it is not `one` + "s".

    >>> plural(1, "turn"), plural(1_200, "turn"), plural(2, "entry has", "entries have")
    ('1 turn', '1,200 turns', '2 entries have')
    """
    return f"{number:,} {singular if number == 1 else plural_form or singular + 's'}"


def name_known(name: str, known_names: Iterable[str]) -> str:
    """Format the names that exist for an error about one that does not, after the most similar one.

    >>> name_known("abzent", ("absent", "partial"))
    "did you mean 'absent'? known: absent, partial"
    """
    names = list(known_names)
    near = "".join(f"did you mean {other!r}? " for other in get_close_matches(name, names, 1))
    return f"{near}known: {', '.join(names)}"


def join_words(words: Sequence[str], last: str = "and") -> str:
    """Join words as a list in a sentence; "" if there are none.

    >>> join_words(["a"]), join_words(["a", "b", "c"]), join_words(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    *most, end = words or [""]
    return f"{', '.join(most)} {last} {end}" if most else end


def one_line(text: str, limit: int) -> str:
    """Put a text on one line with single spaces; cut it to `limit` characters with "…" if it is longer.

    >>> one_line("so far,\\n  so good", 40), one_line("so far, so good", 8)
    ('so far, so good', 'so far,…')
    """
    line = _squeeze(text[: limit + 1])
    if len(line) <= limit and len(line) < len(text):  # removing white space may have made room for more
        line = _squeeze(text[: limit * 4])
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _squeeze(text: str) -> str:
    # The blank is the only printable white space: most lines have no other and need no splitting.
    return text.strip() if text.isprintable() and "  " not in text else " ".join(text.split())


def error_sentence(error: BaseException, file: bool = True) -> str:
    """Format an error as a sentence. An `OSError` is shown without its number, with its file if `file`.

    >>> error_sentence(FileNotFoundError(2, "No such file or directory", "run.jsonl"))
    'run.jsonl: No such file or directory'
    >>> error_sentence(FileNotFoundError(2, "No such file or directory", "run.jsonl"), file=False)
    'No such file or directory'
    """
    if not isinstance(error, OSError) or not error.strerror:
        return printable(str(error))
    return printable(f"{error.filename}: {error.strerror}" if file and error.filename else error.strerror)


def draw_bar(now: int, was: int, most: int) -> str:
    """Return a bar of at most 40 signs for the remaining and the removed part of a size.

    >>> draw_bar(10, 20, 40)
    '██████████░░░░░░░░░░'
    """
    whole = -(-40 * max(now, was) // max(most, 1))
    stays = -(-40 * now // max(most, 1))
    return "█" * stays + "░" * (whole - stays)
