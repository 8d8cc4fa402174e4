"""Cut texts of a transcript to a length, after redaction: half of a secret is not recognised.

All shortened texts are built by these functions, so that no caller cuts first and redacts afterwards.
"""

from __future__ import annotations

from functools import lru_cache

from ..text import one_line, printable
from .detect import find_spans
from .redact import name_secret, write_placeholder

_LOOKED_AT = 20_000
"""Characters searched behind the cut, which is more than a single secret has."""


def redact_text(text: str) -> str:
    """Replace the secrets in a text by placeholders. Personal names and addresses stay.

    >>> redact_text("use ghp_abcdefghijklmnopqrstuvwxyz0123456789 now")
    'use [redacted github-token 03aafb02] now'
    """
    out, at = [], 0
    for span in find_spans(text):
        if span.grade == "secret":
            name = name_secret(span.kind, text[span.start : span.end])
            out += [text[at : span.start], write_placeholder(name)]
            at = span.end
    return "".join([*out, text[at:]]) if out else text


def redact_long(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters unchanged; of a longer one, a redacted beginning."""
    return text if len(text) <= limit else _redact_beginning(text[: limit + _LOOKED_AT])


@lru_cache(2048)
def _redact_beginning(text: str) -> str:
    """`redact_text`, cached: a replay cuts the same texts at each of its plans. At most 40 MB of texts."""
    return redact_text(text)


def cut_text(text: str, limit: int) -> str:
    """Cut a text to `limit` characters, redacted if it is longer, and escape it (`printable`).

    >>> cut_text("token ghp_abcdefghijklmnopqrstuvwxyz0123456789", 20)
    'token [redacted gith'
    """
    return printable(redact_long(text, limit), limit)


def cut_line(text: str, limit: int) -> str:
    """Cut a text to one line of at most `limit` characters, with "…" if it is longer.

    >>> cut_line("so far,\\n  so good", 40), cut_line("so far, so good", 8)
    ('so far, so good', 'so far,…')
    """
    return one_line(redact_long(text, limit), limit)
