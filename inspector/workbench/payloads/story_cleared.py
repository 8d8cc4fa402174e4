"""What is told of a fact where the file records that outputs were cleared: no summary was written there, and
what was emptied is known output by output."""

from __future__ import annotations

from ...facts.outcomes import TRAITS
from ...facts.traced import TracedFact
from ...redaction.cut import cut_text
from ...text import plural
from ..words import label_of
from .fact_teller import Teller
from .findings import Recorded

_NAMES = {"quoted": "in an earlier summary", "absent": "cleared"}


def name_cleared(traced: TracedFact) -> str:
    """What became of it, where that is called otherwise than in a compaction; "" where it is not."""
    return _NAMES.get(traced.outcome, "") if traced.stood else label_of("gone")


def count_cleared(teller: Teller, traced: TracedFact) -> str:
    """ "3 were cleared, none stands": what the clearing did to the blocks that named it."""
    emptied = len(teller.emptied(traced))
    did = plural(emptied, "was cleared", "were cleared") if emptied else "none was cleared"
    if traced.outcome == "absent":
        return f"{did}, none stands"
    if traced.outcome == "verbatim":
        return f"{did}, {plural(len(traced.stands), 'stands', 'stand')} as before"
    return did


def tell_cleared(teller: Teller, recorded: Recorded, traced: TracedFact) -> str:
    """What became of it and why, as one would tell it."""
    sign, emptied = recorded.sign, teller.emptied(traced)
    outputs = ""
    if emptied:
        outputs = f"{teller.label(emptied[-1])} was cleared"
        if len(emptied) > 1:
            outputs = f"{len(emptied):,} outputs that had it were cleared, last {teller.label(emptied[-1])}"
    if traced.outcome == "absent":
        return f"Cleared at {sign}: {outputs}, and nothing else has it."
    if traced.outcome == "verbatim":
        ref = next((ref for ref in traced.stands if teller.turn(ref)), None)
        by = "" if ref is None else f", by {teller.label(ref)}"
        return f"Kept at {sign}{by}" + (f"; {outputs}." if outputs else ".")
    if (later := traced.replacement) is not None:
        return f"You had replaced it before: “{cut_text(later.words, 160)}”."
    left = {
        "quoted": "Only an earlier summary names it",
        "partial": f"Only “{cut_text(traced.words, 80)}” is left of it",
        "pointer": "Only a pointer to it is left",
    }.get(traced.outcome, TRAITS[traced.outcome].sentence.rstrip("."))
    return f"{left} after {sign}" + (f": {outputs}." if outputs else ".")
