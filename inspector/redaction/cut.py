"""Texts of a transcript cut to a length, secrets taken out first: half a secret looks like none.

Every shortened text is made here, so that no caller can cut first and redact afterwards.
"""

from __future__ import annotations

from ..text import one_line, printable
from .detect import find_spans
from .redact import name_secret, write_placeholder

_LOOKED_AT = 20_000
"""Characters behind the cut that are looked at too: more than any secret has, but a file full of keys."""


def redact_text(text: str) -> str:
    """The text without the secrets in it; names of people and addresses stay.

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
    """The text as it is if it has at most `limit` characters, else its beginning without secrets."""
    return text if len(text) <= limit else redact_text(text[: limit + _LOOKED_AT])


def cut_text(text: str, limit: int) -> str:
    """The first `limit` characters of a text, without secrets if it is longer, safe to show (`printable`).

    >>> cut_text("token ghp_abcdefghijklmnopqrstuvwxyz0123456789", 20)
    'token [redacted gith'
    """
    return printable(redact_long(text, limit), limit)


def cut_line(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text on one line, ending with "…" if it is longer.

    >>> cut_line("so far,\\n  so good", 40), cut_line("so far, so good", 8)
    ('so far, so good', 'so far,…')
    """
    return one_line(redact_long(text, limit), limit)
