"""Facts as an instruction to the summariser, to type after /compact."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import ArgumentError, expect
from ..redaction.cut import cut_text
from .facts import Fact
from .traced import TracedFact

_LEAD = "Keep these exactly as they are written:"


def write_focus(facts: Iterable[Fact | TracedFact]) -> str:
    """Write an instruction to name facts: words to type after /compact. Empty for no facts.

    >>> from inspector.demo import LOST_PATH, open_demo
    >>> lost = open_demo().facts[LOST_PATH]
    >>> print(write_focus([lost]))
    Keep these exactly as they are written:
    - file: src/tidepool/calendar/offsets.py
    """
    sequence: object = facts
    if isinstance(sequence, str | bytes) or not isinstance(sequence, Iterable):
        raise ArgumentError("write_focus", "facts", sequence, "a list of facts")
    facts = list(facts)
    for fact in facts:
        expect("write_focus", facts=(fact, Fact, TracedFact))
    lines = list(dict.fromkeys(_line(item.fact if isinstance(item, TracedFact) else item) for item in facts))
    return "\n".join([_LEAD, *lines]) if lines else ""


def _line(fact: Fact) -> str:
    return f"- {fact.kind}: {cut_text(' '.join(fact.form.split()), 300)}"
