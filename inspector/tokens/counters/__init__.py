"""Text -> tokens, one counter per file.

`COUNTERS` lists those every session can be counted with; `find_counter` also knows OpenAI's other encodings
by their name. Another package's counter is any `Counter` value handed to `count_tokens`.
"""

from __future__ import annotations

from ...errors import CounterError
from ..counter import Counter
from . import calibrated, chars4_utf16, measures, openai, tiered

_EXACT = openai.encoding("o200k_base")

COUNTERS: tuple[Counter, ...] = (
    _EXACT,
    calibrated.over(_EXACT),
    chars4_utf16.CHARS4_UTF16,
    tiered.TIERED,
)
"""Every built-in counter: the exact one, its calibration, and two published estimates."""

ESTIMATE: Counter = calibrated.over(chars4_utf16.CHARS4_UTF16)
"""The counter used until exact counts exist: characters / 4, fitted to the reported usage."""


def find_counter(name: str) -> Counter:
    """Find a counter by its name. Raises `CounterError` for an unknown name or without its ranks.

    >>> find_counter("cl100k_base").count(["hello world"]).tolist()
    [2]
    """
    for counter in (*COUNTERS, *measures.MEASURES):
        if counter.name == name:
            return counter
    try:
        return openai.encoding(name)
    except CounterError as error:
        names = dict.fromkeys([*(counter.name for counter in COUNTERS), *error.known_names])
        raise CounterError(name, error.reason, names) from None
