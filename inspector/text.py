"""Text for people: numbers and lists of words as a sentence has them, and untrusted text made safe to show.

Made safe it stays text, and nothing in it acts.
Lone surrogates become U+FFFD (no JSON channel carries them), control characters become their visible
pictures, and marks that reorder or end the line they stand in, or that XML forbids, are spelt out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from html import escape
from typing import Any
from unicodedata import category

_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\u2028\u2029\ufffe\uffff\ud800-\udfff]"
)
_DELIMITER = re.compile(r"[$\\]")
"""What begins and ends a formula: $…$, $$…$$, \\(…\\), \\[…\\], \\begin{…}."""
MOST_MARKS = 6
"""Combining marks on one letter that are shown: more than any script writes (Hebrew has five)."""
# Runs of what may be marks: no letters, no symbols, frames or emoji, which many outputs repeat.
_STACKED = re.compile(
    r"[^\w\s\x00-\u02ff\u2010-\u20cf\u2100-\u2cee\u2e00-\u3029\ud800-\udfff\U0001f000-\U0001faff]"
    rf"{{{MOST_MARKS + 1},}}"
)
_LISTS = (list, tuple)
_UUID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


def printable(text: str, limit: int | None = None) -> str:
    """Return `text`, cut to `limit` characters, with nothing in it that could act on a screen.

    Of combining marks, which are drawn above one another and over the lines around, a few are left.

    >>> printable("\\x1b[31mred\\u202e")
    '␛[31mred‹U+202E›'
    >>> printable("e" + "\\u0301" * 40) == "e" + "\\u0301" * 6 + "‹34 more marks›"
    True
    """
    if limit is not None and len(text) > limit:
        text = text[:limit]
    # Whatever acts is no printable character, and most texts hold none.
    if text.isascii() and text.isprintable():
        return text
    text = _STACKED.sub(_unstack, text)
    return text if text.isprintable() else _ACTING.sub(_spell, text.replace("\r\n", "\n"))


def printed(method: Callable[[Any], str]) -> Callable[[Any], str]:
    """Decorate a `__repr__` or `__str__` whose text may hold words of a transcript: nothing in it acts.

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
    """The name of an entry or a block as prose has room for it: of a UUID its first eight digits.

    >>> brief("0a69f989-3acc-48aa-a7d1-ebdbf7961d67/0"), brief("e12/3")
    ('0a69f989…/0', 'e12/3')
    """
    return _UUID.sub(r"\1…", printable(str(name)))


def printable_tree(value: Any) -> Any:
    """The same for every text in a JSON-like value."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {key: printable_tree(item) for key, item in value.items()}
    if isinstance(value, _LISTS):
        return [printable_tree(item) for item in value]
    return value


def _unstack(match: re.Match[str]) -> str:
    """Signs without the marks that are too many for one letter, and their number."""
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
    """Whether a wording stands in a text and neither begins nor ends inside a word or a number of it.

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
    """The same at one place alone.

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
_WIDEST = 24  # characters of a number that are looked at on each side of a place


def _cuts_number(text: str, at: int) -> bool:
    """Whether a place is inside a number, beside a mark that parts its digits: "1,|200", "3|.5"."""
    left, right = text[at - 1 : at], text[at : at + 1]
    if not (left.isdigit() and right in _MARKS) and not (left in _MARKS and right.isdigit()):
        return False
    near = _NUMBER.finditer(text, max(0, at - _WIDEST), at + _WIDEST)
    return any(number.start() < at < number.end() for number in near)


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def html_text(text: str) -> str:
    """Untrusted text as HTML that a notebook shows as it is.

    Notebooks typeset what they take for formulas in HTML, and a formula may hold a link. A delimiter in an
    element of its own begins none; nor does a single "$", as of a price.

    >>> print(html_text("<b> costs $5"), html_text("$x$"))
    &lt;b&gt; costs $5 <span>$</span>x<span>$</span>
    """
    escaped = escape(printable(text))
    if "\\" not in text and text.count("$") < 2:
        return escaped
    return _DELIMITER.sub(r"<span>\g<0></span>", escaped)


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
    above, below = (
        "".join(f"<div>{html_text(line)}</div>" for line in printable(lines).splitlines()) for lines in around
    )
    return f"{above}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def utf16_length(text: str) -> int:
    """Length in UTF-16 code units, as JavaScript counts: an astral character is 2, a lone surrogate 1.

    >>> utf16_length("a😀")
    3
    """
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def plural(number: int, one: str, many: str = "") -> str:
    """A number and its noun, which may bring a verb along: `many` where an "s" does not make the plural.

    >>> plural(1, "turn"), plural(1_200, "turn"), plural(2, "entry has", "entries have")
    ('1 turn', '1,200 turns', '2 entries have')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def join_words(words: Sequence[str], last: str = "and") -> str:
    """Words as a sentence lists them; "" for none.

    >>> join_words(["a"]), join_words(["a", "b", "c"]), join_words(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    *most, end = words or [""]
    return f"{', '.join(most)} {last} {end}" if most else end


def one_line(text: str, limit: int) -> str:
    """The text with single spaces between its words; of more than `limit` characters the first, and "…".

    >>> one_line("so far,\\n  so good", 40), one_line("so far, so good", 8)
    ('so far, so good', 'so far,…')
    """
    line = _squeeze(text[: limit + 1])
    if len(line) <= limit and len(line) < len(text):  # white space went, so more words may find room
        line = _squeeze(text[: limit * 4])
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _squeeze(text: str) -> str:
    # Of all white space only the blank is printable: most lines have no other, and need no splitting.
    return text.strip() if text.isprintable() and "  " not in text else " ".join(text.split())


def error_sentence(error: BaseException, file: bool = True) -> str:
    """An error's own words; what the system refused without Python's number for it, and of which `file`.

    >>> error_sentence(FileNotFoundError(2, "No such file or directory", "run.jsonl"))
    'run.jsonl: No such file or directory'
    >>> error_sentence(FileNotFoundError(2, "No such file or directory", "run.jsonl"), file=False)
    'No such file or directory'
    """
    if not isinstance(error, OSError) or not error.strerror:
        return printable(str(error))
    return printable(f"{error.filename}: {error.strerror}" if file and error.filename else error.strerror)
