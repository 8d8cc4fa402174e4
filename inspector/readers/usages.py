"""Reported tokens that cannot be a number of tokens: below zero, not finite, or too large for any column.

In goes a session as a reader made it, out comes the same session with such figures taken as 0, and told.
"""

from __future__ import annotations

from ..session.session import Session, Usage
from ..tokens.reported import is_tokens

_FIGURES = ("input", "output", "cache_read", "cache_write", "total")


def clear_usage(session: Session) -> Session:
    """The session itself, or where figures of its usage are odd a copy without them and with one warning.

    >>> from inspector.session.session import Entry
    >>> odd = Session(format="demo", entries=(Entry(id="a", usage=Usage(input=-1, output=2)),))
    >>> clear_usage(odd).entries[0].usage.input, clear_usage(odd).warnings
    (0, ('1 reported token figure is negative, not finite or far too large; it counts as 0',))
    """
    odd = {
        at: names
        for at, entry in enumerate(session.entries)
        if entry.usage is not None and (names := _find_odd(entry.usage))
    }
    if not odd:
        return session
    entries = list(session.entries)
    for at, names in odd.items():
        entry = entries[at]
        if entry.usage is not None:
            usage = entry.usage.model_copy(update=dict.fromkeys(names, 0))
            entries[at] = entry.model_copy(update={"usage": usage})
    warning = _say(sum(map(len, odd.values())))
    return session.model_copy(update={"entries": tuple(entries), "warnings": (*session.warnings, warning)})


def _find_odd(usage: Usage) -> list[str]:
    return [name for name in _FIGURES if (value := getattr(usage, name)) is not None and not is_tokens(value)]


def _say(count: int) -> str:
    what, they = ("figure is", "it counts") if count == 1 else ("figures are", "each counts")
    return f"{count} reported token {what} negative, not finite or far too large; {they} as 0"
