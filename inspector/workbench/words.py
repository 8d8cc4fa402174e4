"""The words of the screen: one table from the name in Python to its label and the sentence of its tooltip.

Names in code stay as they are; whatever shows one of them to a person takes its label from here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..facts.outcomes import TRAITS


class ScreenWord(NamedTuple):
    """How a thing is called on a screen, and what is said of it to who asks, "" for nothing."""

    label: str
    sentence: str = ""


WORDS: dict[str, ScreenWord] = {
    **{name: ScreenWord(traits.label, traits.sentence) for name, traits in TRAITS.items()},
    "unexplained": ScreenWord(
        "not in the file",
        "What the provider counted beside the text in the file; a plan is shown as if this stayed the same.",
    ),
    "stand_in": ScreenWord(
        "placeholder summary",
        "The summary is not written yet; this holds its place. A model writes another one.",
    ),
    "fate": ScreenWord("becomes", "What the plan makes of a block."),
    "verbatim": ScreenWord("kept", "It stays as it is."),
    "truncated": ScreenWord("shortened", "A part of its text stays."),
    "pointer": ScreenWord("pointer", "A short line says where it was put."),
    "summarised": ScreenWord("summarised", "It goes, and a summary stands in its place."),
    "dropped": ScreenWord("dropped", "It goes, and nothing stands in its place."),
    "cleared": ScreenWord("cleared", "Its text goes; that it was there stays."),
    "gone": ScreenWord("gone before", "It could not be read before this compaction either."),
    "evidence": ScreenWord("by whose word"),
    "recorded": ScreenWord("by the file", "The file itself shows it."),
    "planned": ScreenWord("by this plan"),
    "inferred": ScreenWord("guessed", "The summary cannot be read; guessed from what follows."),
    "at_risk": ScreenWord(
        "absent unless the summary names it",
        "The summary of this plan is not written yet, and nothing else names it.",
    ),
    "regret": ScreenWord("needed again", "It was taken by a compaction and asked for afterwards."),
    "calibrated": ScreenWord("fitted to the provider", "Counts are scaled to what the provider reported."),
    "constraint": ScreenWord("your rule"),
    "micro": ScreenWord("outputs cleared"),
    "prefix_reset": ScreenWord("cache starts anew here"),
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
"""None of these is on any screen."""

_SAID = {"stand-in": "stand_in", "micro-compaction": "micro"}
_FORBIDDEN = re.compile(rf"\b({'|'.join(FORBIDDEN)})(s?)\b")


def label_of(name: str) -> str:
    """What a person reads for a name.

    >>> label_of("verbatim"), label_of("unexplained"), label_of("compaction")
    ('kept', 'not in the file', 'compaction')
    """
    return WORDS[name].label if name in WORDS else name


def say_plainly(text: str) -> str:
    """A sentence of Python's with the words of the screen.

    >>> say_plainly("calibrated: o200k_base; a stand-in of 12 tokens")
    'fitted to the provider: o200k_base; a placeholder summary of 12 tokens'
    """
    return _FORBIDDEN.sub(lambda found: label_of(_SAID.get(found[1], found[1])) + found[2], text)
