"""The text that harnesses put around a summary for the model."""

from __future__ import annotations

import re

CONTEXT_MARKER = "[Context Summary]"
"""Flue puts this before a summary in the rebuilt context, unless it starts with it (FLUE §1.2)."""


PI_INTRODUCTION = "What was said before this point was summarised:"
"""Our replacement for the sentence that pi puts before a summary (FLUE §13.2), also used by the reader."""

_CLAUDE_ENDS = (
    "If you need specific details from before|Recent messages are preserved"
    "|(?:Please )?continue the conversation from where"
)
_FRAMES = (
    (r"This session is being continued from a previous conversation", rf"(?:^(?:{_CLAUDE_ENDS})[^\n]*\s*)+"),
    (r"Another language model started to solve this problem", ""),  # Codex
    (rf"{re.escape(PI_INTRODUCTION)}\s*<summary>", r"</summary>\s*"),
    (re.escape(CONTEXT_MARKER), ""),
    (r"You are picking up work from a previous AI agent", r"^Please begin by asking.*"),  # Terminus, in ATIF
)
"""How the words of each harness begin before its summary, and what they are behind it."""
_OPENING = re.compile(rf"\s*(?:{'|'.join(f'({opening})' for opening, _ in _FRAMES)})[^\n]*")
_CLOSINGS = [re.compile(rf"(?ims){closing}\Z") for _, closing in _FRAMES]


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


def blank_frame(text: str) -> str:
    """Return a recorded summary with blanks for the words that a harness put around it.

    The model did not write them, so they are no evidence. Every other character stays at its place.

    >>> blank_frame("[Context Summary]\\n\\nSo far.").split(), len(blank_frame("[Context Summary]\\nA."))
    (['So', 'far.'], 20)
    """
    opening = _OPENING.match(text)
    if opening is None or opening.lastindex is None:
        return text
    closing = _CLOSINGS[opening.lastindex - 1].search(text, opening.end())
    end = len(text) if closing is None else closing.start()
    return _blank(text[: opening.end()]) + text[opening.end() : end] + _blank(text[end:])


def _blank(text: str) -> str:
    return re.sub(r"\S", " ", text)
