"""The text that harnesses put around a summary for the model."""

from __future__ import annotations

import re
from typing import NamedTuple


class SummaryWording(NamedTuple):
    """The text around a summary: `shows` adds it, `bare` removes it.

    A summary that begins with `marks` is shown unchanged.
    """

    before: str
    after: str = ""
    marks: str = ""

    def shows(self, text: str) -> str:
        """Return a summary as the model is shown it."""
        return text if self.marks and text.startswith(self.marks) else f"{self.before}{text}{self.after}"

    def bare(self, shown: str) -> str | None:
        """Return the summary without the text around it; None if that is missing."""
        if self.marks and shown.startswith(self.marks):
            stripped = shown.removeprefix(self.before)
            return stripped if self.shows(stripped) == shown else shown
        long = len(shown) >= len(self.before) + len(self.after)
        if not long or not (shown.startswith(self.before) and shown.endswith(self.after)):
            return None
        text = shown[len(self.before) : len(shown) - len(self.after)]
        return text if self.shows(text) == shown else None


FLUE_SUMMARY = SummaryWording("[Context Summary]\n\n", marks="[Context Summary]")
FLUE_BRANCH = SummaryWording("[Branch Summary]\n\n")
"""Flue's marks, which it omits if the text begins with one (FLUE §1.2)."""
_SUMMARY = "<summary>\n", "\n</summary>"
PI_SUMMARY = SummaryWording(f"What was said before this point was summarised:\n\n{_SUMMARY[0]}", _SUMMARY[1])
PI_BRANCH = SummaryWording(
    f"A branch of this conversation was left; what happened there:\n\n{_SUMMARY[0]}", _SUMMARY[1]
)
"""Our replacements for the sentences that pi puts before a summary (FLUE §13.2), also used by the reader."""

_CLAUDE_ENDS = (
    "If you need specific details from before|Recent messages are preserved"
    "|(?:Please )?continue the conversation from where"
)
_FRAMES = (
    (
        r"This session is being continued from a previous conversation[^\n]*",
        rf"(?:^(?:{_CLAUDE_ENDS})[^\n]*+\s*+)+",
    ),
    (r"Another language model started to solve this problem[^\n]*", ""),  # Codex
    (re.escape(PI_SUMMARY.before.strip()), r"</summary>\s*"),
    (re.escape(FLUE_SUMMARY.marks), ""),
    # Terminus, in ATIF
    (r"You are picking up work from a previous AI agent[^\n]*", r"^Please begin by asking.*"),
)
"""How the words of each harness begin before its summary, and what they are behind it."""
_OPENING = re.compile(rf"\s*(?:{'|'.join(f'({opening})' for opening, _ in _FRAMES)})")
_CLOSINGS = [re.compile(rf"(?ims){closing}\Z") for _, closing in _FRAMES]
_KINDS = "context|conversation|session|history|previous|earlier|compacted|brief|short|running|progress"
_UP_TO_NOW = r"so far|to date|up to (?:now|here|this point)|until now"
_SUMMARY_START = re.compile(
    r"[\s#*=>\-\"\[<(]*(?:here(?: is|'s) |this is |below is |the following is )?(?:an? |the )?"
    rf"(?:(?:{_KINDS}) )*summary"
    rf"(?: of(?: (?:the|our|this|all|in|{_KINDS}|work|messages|steps|turns|[\d–-]+))*)?"
    rf"(?:(?: (?:{_UP_TO_NOW}))?\W*(?:[\]>):]|==|\n)| (?:{_UP_TO_NOW})(?:[.:]|\Z))",
    re.IGNORECASE,
)
"""How a message begins that is a summary of the conversation: a title, "of" what, and up to when."""


def begins_as_summary(text: str) -> bool:
    """Return whether a message begins as the summary of a conversation does.

    >>> begins_as_summary("[CONTEXT SUMMARY] Paths: …"), begins_as_summary("<summary>\\nPaths")
    (True, True)
    >>> begins_as_summary("Summary of the log: write one."), begins_as_summary("Write a summary: …")
    (False, False)
    >>> begins_as_summary("The summary of the session page is broken")
    False
    >>> begins_as_summary("Here is a summary of the conversation to date:\\n\\nPaths")
    True
    >>> begins_as_summary("This is a summary of our conversation so far. Paths")
    True
    """
    return bool(_SUMMARY_START.match(text) or _OPENING.match(text))


def shown_summary(format: str, summary: str) -> str:
    """Return a summary as the model is shown it in a session of this format; unchanged if it is that already.

    >>> shown = shown_summary("pi", "So far.")
    >>> shown == "So far.", shown == shown_summary("pi", shown)
    (False, True)
    """
    wording = {"pi": PI_SUMMARY, "flue": FLUE_SUMMARY}.get(format)
    if wording is None or summary.startswith(wording.marks or wording.before):
        return summary
    return wording.shows(summary)


def blank_frame(text: str) -> str:
    """Return a recorded summary with blanks for the words that a harness put around it.

    The model did not write them, so they are not evidence. Every other character stays at its place.

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
