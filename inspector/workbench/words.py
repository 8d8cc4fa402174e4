"""The words of the screen: one table from the name in Python to its label.

Names in code stay as they are; whatever shows one of them to a person takes its label from here.
"""

from __future__ import annotations

import re

from ..facts.outcomes import TRAITS

_PLAIN = {
    "unexplained": "not in the file",
    "stand-in": "placeholder summary",
    "evidence": "by whose word",
    "inferred": "guessed",
    "calibrated": "fitted to the provider",
    "regret": "needed again",
    "fate": "outcome",
    "micro-compaction": "outputs cleared",
}
FORBIDDEN = tuple(_PLAIN)
"""Words that never appear on a screen."""
_LABELS = {
    **{name: traits.label for name, traits in TRAITS.items()},
    **_PLAIN,
    "truncated": "shortened",
    "gone": "gone before",
    "at_risk": "absent unless the summary names it",
}
"""By the name in Python; a name that is not listed is its own label."""
_FORBIDDEN = re.compile(rf"\b({'|'.join(FORBIDDEN)})(s?)\b")


def label_of(name: str) -> str:
    """Return the label of a name on the screen.

    >>> label_of("verbatim"), label_of("unexplained"), label_of("compaction")
    ('kept', 'not in the file', 'compaction')
    """
    return _LABELS.get(name, name)


def say_plainly(text: str) -> str:
    """A sentence of Python's with the words of the screen.

    >>> say_plainly("calibrated: o200k_base; a stand-in of 12 tokens")
    'fitted to the provider: o200k_base; a placeholder summary of 12 tokens'
    """
    return _FORBIDDEN.sub(lambda match: label_of(match[1]) + match[2], text)
