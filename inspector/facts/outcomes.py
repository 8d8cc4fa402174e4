"""The outcomes of a fact in a compaction: their names, labels and colours.

Whole sentences, as `why()` and lint write them, are in `wording.py`.

Python reads the table from here; the front end's copy in `js/src/payloads/types.ts` is generated from it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Outcome = Literal[
    "verbatim",
    "quoted",
    "paraphrased",
    "pointer",
    "partial",
    "changed",
    "contradicted",
    "unclear",
    "absent",
    "superseded",
    "unknown",
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""In the order of the table; codes in columns are indexes into this tuple."""
Group = Literal["kept", "missing", "undecided", "superseded"]
Colour = Literal["green", "red", "amber", "grey"]


class OutcomeTraits(NamedTuple):
    """What is shown and counted for one outcome.

    Attributes:
        name: The name in Python and in data.
        label: The name on screen.
        sentence: Its meaning, in a sentence.
        words: How the fact is named after the compaction, as in "after ◆1: by the summary".
        summary: The summary's treatment of the fact, as in "3 blocks named it; the summary does not".
        group: The sum in which it is counted.
        colour: Its colour on screen.
        sign: Its sign on screen, so that the colour is not the only difference.
    """

    name: Outcome
    label: str
    sentence: str
    words: str
    summary: str
    group: Group
    colour: Colour
    sign: str


# fmt: off
_ROWS = (
    OutcomeTraits("verbatim", "kept", "It stays as it is.",
        "as it was", "a block stays", "kept", "green", "●"),
    OutcomeTraits("quoted", "in the summary", "The summary has the same words or the same value.",
        "by the summary", "the summary does too", "kept", "green", "“"),
    OutcomeTraits("paraphrased", "in other words", "The summary says the same in other words.",
        "by the summary, in other words", "the summary says it in other words", "kept", "green", "≈"),
    OutcomeTraits("pointer", "pointer", "A short line says where it was put.",
        "by a pointer", "a pointer stays", "kept", "green", "→"),
    OutcomeTraits("partial", "only in part", "The summary has only a part of it.",
        "only a part of it", "the summary has only a part of it", "undecided", "amber", "◐"),
    OutcomeTraits("changed", "changed", "The summary gives another value.",
        "with another value", "the summary gives another value", "missing", "red", "≠"),
    OutcomeTraits("contradicted", "contradicted", "The summary says the opposite.",
        "contradicted by the summary", "the summary says the opposite", "missing", "red", "✕"),
    OutcomeTraits("unclear", "unclear",
        "The summary mentions the subject; whether it says the same cannot be decided.",
        "unclear", "whether the summary does is unclear", "undecided", "amber", "?"),
    OutcomeTraits("absent", "absent", "The summary does not mention this.",
        "not mentioned", "the summary does not", "missing", "red", "■"),
    OutcomeTraits("superseded", "replaced before",
        "Another value had taken its place before; nothing is missing.",
        "replaced before", "it had been replaced before", "superseded", "grey", "⇄"),
    OutcomeTraits("unknown", "unknown", "The summary is encrypted or missing.",
        "unknown", "the summary is encrypted or missing", "undecided", "grey", "◇"),
)
# fmt: on
TRAITS: dict[Outcome, OutcomeTraits] = {traits.name: traits for traits in _ROWS}
"""The table, by name."""

CODE: dict[Outcome, int] = {name: code for code, name in enumerate(OUTCOMES)}
"""The code of each outcome in columns."""
RETAINED, MISSING, UNDECIDED = (
    tuple(name for name in OUTCOMES if TRAITS[name].group == group)
    for group in ("kept", "missing", "undecided")
)
IN_FULL: tuple[Outcome, ...] = ("verbatim", "quoted", "paraphrased")
"""Outcomes that leave the whole fact in the context."""
WORST_FIRST: tuple[Outcome, ...] = (*MISSING[::-1], *UNDECIDED[::-1], *RETAINED[::-1], "superseded")
"""The order of a list whose first rows need attention."""

_BEST: tuple[Outcome, ...] = (
    *("absent", "unknown", "unclear", "partial", "changed", "contradicted", "pointer", "paraphrased"),
    *("quoted", "verbatim", "superseded"),
)
RANK: dict[Outcome, int] = {outcome: rank for rank, outcome in enumerate(_BEST)}
"""The rank of each outcome, the least first. Of several places and texts the highest decides: a summary that
quotes a rule and then retells it loosely has kept it."""

_RENAMED: dict[str, Outcome] = {
    "restated": "quoted",
    "pointed to": "pointer",
    "weakened": "partial",
    "lost": "absent",
    "stale": "superseded",
}


def read_outcome(name: str) -> str:
    """Return the present name of an outcome that an older version may have written.

    Args:
        name: A name from a saved file or an older script. A name that never was one is returned as it is.

    >>> read_outcome("lost"), read_outcome("quoted")
    ('absent', 'quoted')
    """
    return _RENAMED.get(name, name)


class FactComparison(NamedTuple):
    """The result of comparing a fact with a text.

    `words` are the closest words of the text, `start` their offset (-1 without any). If one value or word
    differs, `said` is the fact's and `instead` the text's. `reason` says what decided.
    """

    outcome: Outcome
    words: str = ""
    start: int = -1
    said: str = ""
    instead: str = ""
    reason: str = ""


ABSENT = FactComparison("absent")
