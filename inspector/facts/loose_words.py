"""A wording in other marks and other letters' case: what people write for the same words.

In go words, out comes a pattern that finds them between backticks, asterisks or other quotation marks.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS = re.compile(r"\w+")
_PIECES = re.compile(r"\d+|[^\W\d]+")
# What stands between two words, read in one way: with several, a near miss of many words takes for ever.
_BETWEEN = r"(?:[^\w\n]{1,12}|[^\w\n]{0,6}\n[^\w\n]{0,6})"


@lru_cache(256)
def find_loose_words(text: str) -> re.Pattern[str] | None:
    """The words of a text in any case, with other marks between them, or without the blank before a unit;
    None where it has no words.

    >>> find_loose_words('the "tree view" is bugged').search("The *Tree view* is bugged.")[0]
    'The *Tree view* is bugged'
    """
    words = [_PIECES.findall(word) for word in _WORDS.findall(text)]
    if not words:
        return None
    joined = _BETWEEN.join(r"[ \u00a0-]?".join(map(re.escape, each)) for each in words)
    return re.compile(rf"(?<!\w){joined}(?!\w)", re.IGNORECASE)
