"""Facts as an instruction to the summariser: after /compact, or as an API's `instructions`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ..errors import ArgumentError, EditError, expect
from ..redaction.cut import cut_text
from .facts import Fact
from .traced import TracedFact

MOST_CHARS = 16_384
"""Characters that the `instructions` of a compaction on demand may have (CLAUDE §5.2)."""
_LEAD = "Keep these exactly as they are written:"
_PROMPT = (
    "Summarise the conversation so far, so that the work can go on from the summary alone: what the user "
    "asked for and forbade, what was done and decided and why, files read and changed, errors and how they "
    "stand, what is still open and the next step. State nothing that the conversation does not."
)


def write_focus(
    facts: Iterable[Fact | TracedFact], form: Literal["compact", "instructions"] = "compact"
) -> str:
    """Write an instruction to name facts: words to type after /compact, or all of an API's `instructions`.

    /compact adds such words to its own prompt. An API's `instructions` replace its prompt, so that form is a
    whole prompt, of at most `MOST_CHARS`: its last line gives the number of facts left out. Empty for no
    facts.

    >>> from inspector.demo import LOST_PATH, open_demo
    >>> lost = open_demo().facts[LOST_PATH]
    >>> print(write_focus([lost]))
    Keep these exactly as they are written:
    - file: src/tidepool/calendar/offsets.py
    >>> write_focus([lost], "instructions").startswith("Summarise the conversation so far")
    True
    """
    sequence: object = facts
    if isinstance(sequence, str | bytes) or not isinstance(sequence, Iterable):
        raise ArgumentError("write_focus", "facts", sequence, "a list of facts")
    facts = list(facts)
    for fact in facts:
        expect("write_focus", facts=(fact, Fact, TracedFact))
    if form not in ("compact", "instructions"):
        raise EditError("form", str(form), "known: compact, instructions")
    lines = list(dict.fromkeys(_line(item.fact if isinstance(item, TracedFact) else item) for item in facts))
    if not lines:
        return ""
    if form == "compact":
        return "\n".join([_LEAD, *lines])
    head = f"{_PROMPT}\n\n{_LEAD}"
    room, shown = MOST_CHARS - len(head) - 40, 0
    while shown < len(lines) and (room := room - len(lines[shown]) - 1) >= 0:
        shown += 1
    more = [f"- and {len(lines) - shown:,} more"] if shown < len(lines) else []
    return "\n".join([head, *lines[:shown], *more])


def _line(fact: Fact) -> str:
    return f"- {fact.kind}: {cut_text(' '.join(fact.form.split()), 300)}"
