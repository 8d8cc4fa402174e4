"""The words that harnesses put around a summary when they show it to the model."""

from __future__ import annotations

CONTEXT_MARKER = "[Context Summary]"
"""What Flue puts before a summary in the rebuilt context, unless it starts with it (FLUE §1.2)."""


PI_INTRODUCTION = "What was said before this point was summarised:"
"""Words of ours for the sentence that pi puts before a summary (FLUE §13.2), the same as its reader's."""


def shown_summary(format: str, summary: str) -> str:
    """A written summary as the model is shown it in a session of that format."""
    if format == "pi":
        return f"{PI_INTRODUCTION}\n\n<summary>\n{summary}\n</summary>"
    if format == "flue" and not summary.startswith(CONTEXT_MARKER):
        return f"{CONTEXT_MARKER}\n\n{summary}"
    return summary
