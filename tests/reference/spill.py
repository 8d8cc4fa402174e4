"""What is shown of a tool output that is too long, and the file that holds the whole of it (TIERED §6).

Pure: nothing is written. The words of the notice are those of the published system.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from inspector.policies.shorten import Form, cut_units, take_head
from inspector.text import utf16_length

LIMIT = 120_000
"""UTF-16 units that no tool output exceeds, whatever else is set."""
"""What the published command line sets for every tool."""
ARTIFACT = re.compile(r"\d+-[A-Za-z0-9_-]+-[0-9a-f]{8}\.txt")
"""The shape of an artifact's name."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


class Spilled(NamedTuple):
    """What is shown, and whether anything is missing from it."""

    text: str
    clipped: bool


def find_limit(*limits: int | None) -> int:
    """The smallest limit that is given: the tool's own, the harness', and `LIMIT` in any case.

    >>> find_limit(None, 8192), find_limit(None, None)
    (8192, 120000)
    """
    return min([LIMIT, *(limit for limit in limits if limit is not None)])


def spill(text: str, limit: int, path: str | None = None, form: Form = "fixed") -> Spilled:
    """The first `limit` UTF-16 units and a notice; the very same text when it is not longer.

    `path` is where the whole text is kept, None when it is kept nowhere. The compat form may split a
    character in two.

    >>> spill("0123456789", 4, "a/1.txt").text
    '0123\\n[Tool output exceeded 4 chars. Full output saved to a/1.txt]'
    """
    if utf16_length(text) <= limit:
        return Spilled(text, False)
    shown = (cut_units if form == "compat" else take_head)(text, limit)
    notice = f"exceeded {limit} chars. Full output saved to {path}" if path else f"clipped at {limit} chars"
    return Spilled(f"{shown}\n[Tool output {notice}]", True)


def name_artifact(tool: str, milliseconds: int, token: str) -> str:
    """The file's name: when it was written (since 1970), the tool's name made safe, and 8 hex digits.

    >>> name_artifact("Big.Tool", 1767225600000, "0a1b2c3d")
    '1767225600000-Big_Tool-0a1b2c3d.txt'
    """
    return f"{milliseconds}-{_UNSAFE.sub('_', tool)}-{token}.txt"
