"""Names in text: definitions in code and names in backquotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import repeat

from ...session.toolcalls.canonical_path import names
from .code_points import code_points, find_letters
from .typed import Hit
from .word_places import Places


def _compile(pattern: str) -> tuple[str, re.Pattern[str]]:
    """Return a pattern at the start of a word, after its first letters: only their places are searched."""
    letters = re.split(r"[(\\\[]", pattern.removeprefix("("), maxsplit=1)[0]
    return letters, re.compile(rf"(?<![\w$*&.]){pattern}")


_SYMBOLS = tuple(
    _compile(pattern)
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
SYMBOL_WORDS = tuple(letters for letters, _ in _SYMBOLS)
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


def find_symbols(text: str, places: Places) -> Iterator[Hit]:
    """Names that code defines, and tests that a runner reports; `places` are those of SYMBOL_WORDS."""
    for letters, pattern in _SYMBOLS:
        starts = places[letters].tolist() if letters in places else ()
        for match in filter(None, map(pattern.match, repeat(text), starts)):
            yield *match.span(1), match[1]


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
