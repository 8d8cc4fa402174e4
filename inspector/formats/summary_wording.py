"""The text that harnesses put around a summary for the model."""

from __future__ import annotations

CONTEXT_MARKER = "[Context Summary]"
"""Flue puts this before a summary in the rebuilt context, unless it starts with it (FLUE §1.2)."""


PI_INTRODUCTION = "What was said before this point was summarised:"
"""Our replacement for the sentence that pi puts before a summary (FLUE §13.2), also used by the reader."""


def shown_summary(format: str, summary: str) -> str:
    """Return a summary as the model is shown it in a session of this format; unchanged if it is that already.

    >>> shown = shown_summary("pi", "So far.")
    >>> shown == "So far.", shown == shown_summary("pi", shown)
    (False, True)
    """
    if format == "pi" and not summary.startswith(f"{PI_INTRODUCTION}\n\n<summary>\n"):
        return f"{PI_INTRODUCTION}\n\n<summary>\n{summary}\n</summary>"
    if format == "flue" and not summary.startswith(CONTEXT_MARKER):
        return f"{CONTEXT_MARKER}\n\n{summary}"
    return summary
