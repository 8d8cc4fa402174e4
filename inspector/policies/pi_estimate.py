"""Estimate messages as pi does, as far as pi differs from Flue (FLUE §13.2-3).

pi counts a summary without the text around it, and a shell command with its output. Since 1.5.2 it also
counts the user's pictures and system messages. Flue's estimate is in `counters/chars4_utf16.py`; the common
part is called there.
"""

from __future__ import annotations

from typing import Any, Literal

from ..session.entries import Entry
from ..session.json_text import stringify
from ..text import utf16_length
from ..tokens.counters.chars4_utf16 import CHARS4_UTF16, IMAGE_CHARS

Estimate = Literal["flue", "pi-0.73.1", "pi-1.5.2"]
"""The system whose estimate of a message is used. pi 0.58.3 and 0.73.1 have the same."""

_BRANCH = "[Branch Summary]\n\n"
_FOREIGN: dict[str, tuple[str, ...]] = {
    "bashExecution": ("command", "output"),
    "branchSummary": ("summary",),
    "compactionSummary": ("summary",),
    "custom": (),
}


def is_message(entry: Entry) -> bool:
    """Whether the entry is a message, not a summary and not words that the harness put between messages."""
    return entry.kind == "message" and not (entry.meta and "role" not in entry.extra)


def is_spoken(entry: Entry) -> bool:
    """Whether the user or the model said it: no summary, no shell command, no words of the harness."""
    return is_message(entry) and not entry.meta and "command" not in entry.extra


def weigh_message(entry: Entry, estimate: Estimate) -> int:
    """Tokens of one entry of the context, each message rounded up by itself.

    A shell command counts its text and its output.
    """
    assert CHARS4_UTF16.weigh is not None
    if estimate == "flue":
        return CHARS4_UTF16.weigh(entry)
    if entry.kind in ("compaction", "branch_summary") or entry.extra.get("role") == "compactionSummary":
        return _quarter(utf16_length(_bare_summary(entry)))
    if entry.role == "user" and isinstance(command := entry.extra.get("command"), str):
        return _quarter(utf16_length(command) + utf16_length(_bare_output(entry, command)))
    if entry.role in _FOREIGN:
        return _quarter(_foreign_chars(entry))
    late = estimate == "pi-1.5.2"
    if entry.role == "system":
        return _quarter(_system_chars(entry)) if late else 0
    tokens = CHARS4_UTF16.weigh(entry)
    if entry.role == "user" and (late or entry.meta):
        tokens += sum(block.kind == "image" for block in entry.blocks) * (IMAGE_CHARS // 4)
    return tokens


def weigh_in_walk(entry: Entry, estimate: Estimate) -> int:
    """The same for the walk back from the end; before 1.5.2 only messages count there (FLUE §13.2)."""
    return weigh_message(entry, estimate) if estimate != "pi-0.73.1" or is_message(entry) else 0


def _quarter(chars: int) -> int:
    return -(-chars // 4)


def _bare_summary(entry: Entry) -> str:
    """A summary without the words that the session's format shows it in."""
    if entry.boundary is not None:
        return entry.boundary.summary or ""
    text = entry.text
    if text.startswith(_BRANCH):
        return text[len(_BRANCH) :]
    _, opened, rest = text.partition("<summary>\n")
    return rest.removesuffix("\n</summary>") if opened else text


def _bare_output(entry: Entry, command: str) -> str:
    lines = entry.text.removeprefix(f"$ {command}").split("\n")[1:]
    if lines and isinstance(entry.extra.get("fullOutputPath"), str):
        lines.pop()
    if lines and (entry.extra.get("cancelled") is True or entry.extra.get("exitCode") not in (0, None)):
        lines.pop()
    end = entry.extra.get("outputEnd")
    return "\n".join(lines) + (end if isinstance(end, str) else "")


def _foreign_chars(entry: Entry) -> int:
    """A role of pi's in a file of another format, if its reader left it unchanged."""
    raw = next((block.raw for block in entry.blocks if block.kind == "unknown"), None)
    texts = [raw.get(name) for name in _FOREIGN[entry.role]] if isinstance(raw, dict) else []
    chars = sum(utf16_length(text) for text in texts if isinstance(text, str))
    if entry.role == "custom":
        chars += sum(utf16_length(block.text) for block in entry.blocks if block.kind == "text")
        chars += IMAGE_CHARS * sum(block.kind == "image" for block in entry.blocks)
    return chars


def _system_chars(entry: Entry) -> int:
    chars = utf16_length("".join(block.text for block in entry.blocks if block.kind == "text"))
    sections: Any = entry.extra.get("sections")
    if isinstance(sections, dict):
        chars += sum(utf16_length(text) for text in sections.values() if isinstance(text, str))
    added = entry.extra.get("toolsAdded")
    return chars + (utf16_length(stringify(added)) if added else 0)
