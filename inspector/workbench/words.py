"""The words of the screen: one table from the name in Python to its label and the sentence of its tooltip.

Names in code stay as they are; whatever shows one of them to a person takes its label from here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..facts.outcomes import TRAITS


class ScreenWord(NamedTuple):
    """The label of a term on the screen, and its tooltip, or ""."""

    label: str
    sentence: str = ""


WORDS: dict[str, ScreenWord] = {
    **{name: ScreenWord(traits.label, traits.sentence) for name, traits in TRAITS.items()},
    "unexplained": ScreenWord(
        "not in the file",
        "Tokens the provider counted besides the text in the file; a plan assumes they stay the same.",
    ),
    "stand_in": ScreenWord(
        "placeholder summary",
        "The summary is not written yet; this is a placeholder. A model writes a different one.",
    ),
    "fate": ScreenWord("outcome", "The effect of the plan on a block."),
    "verbatim": ScreenWord("kept", "It stays as it is."),
    "truncated": ScreenWord("shortened", "A part of its text stays."),
    "pointer": ScreenWord("pointer", "A short line names the place of the full text."),
    "summarised": ScreenWord("summarised", "Removed; a summary replaces it."),
    "dropped": ScreenWord("dropped", "Removed; nothing replaces it."),
    "cleared": ScreenWord("cleared", "Its text is removed; a note about it stays."),
    "gone": ScreenWord("gone before", "It could not be read before this compaction either."),
    "evidence": ScreenWord("by whose word"),
    "recorded": ScreenWord("by the file", "The file itself shows it."),
    "planned": ScreenWord("by this plan"),
    "inferred": ScreenWord("guessed", "The summary is encrypted or missing; guessed from what follows."),
    "at_risk": ScreenWord(
        "absent unless the summary names it",
        "The summary of this plan is not written yet, and nothing else names it.",
    ),
    "regret": ScreenWord("needed again", "A compaction removed it, and it was requested again."),
    "calibrated": ScreenWord("fitted to the provider", "Counts are scaled to what the provider reported."),
    "constraint": ScreenWord("your rule"),
    "micro": ScreenWord("outputs cleared"),
    "prefix_reset": ScreenWord("cache is rebuilt here"),
}
"""By the name in Python."""

FORBIDDEN = (
    "unexplained",
    "stand-in",
    "evidence",
    "inferred",
    "calibrated",
    "regret",
    "fate",
    "micro-compaction",
)
"""Words that never appear on a screen."""

_LABELS = {"stand-in": "stand_in", "micro-compaction": "micro"}
_FORBIDDEN = re.compile(rf"\b({'|'.join(FORBIDDEN)})(s?)\b")


def label_of(name: str) -> str:
    """Return the label of a name on the screen.

    >>> label_of("verbatim"), label_of("unexplained"), label_of("compaction")
    ('kept', 'not in the file', 'compaction')
    """
    return WORDS[name].label if name in WORDS else name


def say_plainly(text: str) -> str:
    """A sentence of Python's with the words of the screen.

    >>> say_plainly("calibrated: o200k_base; a stand-in of 12 tokens")
    'fitted to the provider: o200k_base; a placeholder summary of 12 tokens'
    """
    return _FORBIDDEN.sub(lambda match: label_of(_LABELS.get(match[1], match[1])) + match[2], text)
