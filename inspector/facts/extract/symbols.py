"""Names in text: what code defines and what words quote in backquotes."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...session.toolcalls.call_paths import names
from .code_points import OUTSIDE, WORD, Codes, code_points, find_letters
from .word_places import Places

Hit = tuple[int, int, str]


class Names(NamedTuple):
    """Names in their order: where each starts, where it ends (int64[n]), and how it is written."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    forms: list[str]


_LEAD = re.compile(r"[a-z]+ (?=\()")
# Each with the letters it starts with, as it is looked for only where they stand. Where a name follows these,
# there is a pattern besides that matches at each of their places, with "" for a name where none stands: one
# for any text, and one for ASCII's letters alone, which is faster.
_SYMBOLS = tuple(
    (
        re.split(r"[(\\\[]", pattern.removeprefix("("), maxsplit=1)[0],
        re.compile(pattern),
        tuple(re.compile(f"{lead[0]}(?:{pattern[lead.end() :]}|)", flag) for flag in (0, re.ASCII))
        if (lead := _LEAD.match(pattern))
        else (),
    )
    for pattern in (
        r"def ([A-Za-z_]\w{1,99})(?=\()",
        r"class ([A-Z_]\w{1,99})(?= ?[:({<]| extends| implements|$)",
        r"func ([A-Za-z_]\w{1,99})(?=[(\[])",
        r"func \([^()\n]{1,80}\) ([A-Za-z_]\w{1,99})(?=\()",
        r"function ([A-Za-z_$][\w$]{1,99})(?= ?[(<])",
        r"fn ([A-Za-z_]\w{1,99})(?=[(<])",
        r"interface ([A-Z]\w{1,99})(?= ?[{<]| extends)",
        r"struct ([A-Z]\w{1,99})(?= ?[{<(;])",
        r"enum ([A-Z]\w{1,99})(?= ?[{:])",
        r"trait ([A-Z]\w{1,99})(?= ?[{<:])",
        r"type ([A-Za-z]\w{1,99})(?= (?:struct|interface|func|=)\b| =|\[)",
        r"const ([A-Za-z_$][\w$]{1,99})(?= = (?:async )?(?:function|\([^()\n]{0,160}\)[^=\n]{0,80}=>))",
        r"private ([A-Za-z_$][\w$]{1,99})(?=\()",
        r"public ([A-Za-z_$][\w$]{1,99})(?=\()",
        r"protected ([A-Za-z_$][\w$]{1,99})(?=\()",
        r"static ([A-Za-z_$][\w$]{1,99})(?=\()",
        r"async ([A-Za-z_$][\w$]{1,99})(?=\()",
        r"(Test[A-Z0-9]\w{2,150})(?![\w/]|\.\w)",
        r"(test_\w{3,150})(?![\w.])",
    )
)
SYMBOL_WORDS = tuple(letters for letters, _, _ in _SYMBOLS)
_MANY = 2_000
"""So many places of a word that its pattern is looked for all through the text at once."""
_NO_START = WORD.copy()  # what no definition stands right after, as it is no start of a word
_NO_START[[ord(char) for char in "_$*&."]] = True
_TICKED = re.compile(r"`([A-Za-z_$][\w$]{1,80}(?:(?:\.|::|#)[A-Za-z_]\w{0,60}){0,4})(\([^`\n]{0,80}\))?`")
_SUFFIXED = re.compile(r"\.(?:py|[cm]?[jt]sx?|go|rs|md|json|toml|ya?ml|sh|txt|log|html|css)$")
_HEX = re.compile(r"[0-9a-f]{7,40}$")
_NO_NAMES = names(
    "true false null nil None True False undefined main master origin HEAD GET POST PUT DELETE PATCH git "
    "gh npm npx yarn pnpm bun node python python3 pip uv go cargo make docker curl ls cat grep rg sed awk jq "
    "bash sh json yaml toml markdown md py js ts tsx html css string int bool str float number boolean any "
    "void error default func function return if for class def async await const let var import export"
)
_CALLED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::)[\w$]+)*$")


def find_symbols(text: str, places: Places) -> Iterator[Names]:
    """Names that code defines, and tests that a runner reports; `places` are those of SYMBOL_WORDS."""
    codes = code_points(text)
    for letters, pattern, every in _SYMBOLS:
        starts = places.get(letters)
        if starts is None:
            continue
        if every and len(starts) >= _MANY:
            yield _find_many(text, codes, starts, letters, every[text.isascii()])
            continue
        spans, forms = array("q"), []
        for start in starts[_opens(text, codes, starts)].tolist():
            if (match := pattern.match(text, start)) is not None:
                spans.extend(match.span(1))
                forms.append(match[1])
        ends = np.frombuffer(spans, np.int64)
        yield Names(ends[::2], ends[1::2], forms)


def _find_many(
    text: str, codes: Codes, starts: NDArray[np.int64], letters: str, every: re.Pattern[str]
) -> Names:
    """The same where there are many: no object is made but the name itself."""
    forms = every.findall(text)
    sizes = np.fromiter(map(len, forms), np.int64, len(forms))
    named = (sizes > 0) & _opens(text, codes, starts)
    if not named.all():
        starts, sizes = starts[named], sizes[named]
        forms = list(compress(forms, named.tolist()))
    starts = starts + len(letters)
    return Names(starts, starts + sizes, forms)


def _opens(text: str, codes: Codes, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Before which places neither a letter or digit stands nor what joins words."""
    before = codes[starts - 1]
    opens: NDArray[np.bool_] = ~_NO_START[before]
    for at in np.flatnonzero(before == OUTSIDE).tolist():
        opens[at] = not text[starts[at] - 1].isalnum()
    opens |= starts == 0
    return opens


def find_calls(text: str) -> Iterator[Hit]:
    """Names called with nothing: `store.load()`."""
    for at in find_letters(code_points(text), "()").tolist():
        called = _CALLED.search(text, max(0, at - 80), at)
        if called and len(called.group()) > 2 and called.group() not in _NO_NAMES:
            yield called.start(), called.end(), called.group()


def find_ticked_symbols(text: str) -> Iterator[Hit]:
    """Names in backquotes, alone or with their arguments; no files, programs, literals or hashes."""
    for match in _TICKED.finditer(text):
        name = match[1]
        if name not in _NO_NAMES and not _SUFFIXED.search(name) and not _HEX.match(name):
            yield match.start(1), match.end(1 if match[2] in (None, "()") else 2), name
