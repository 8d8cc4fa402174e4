"""What a plan loses, in the words that end its sentence: changed files, rules, open tasks, errors.

While the summary is not written yet, what only it could still name is lost unless it does; what a summary
that is there does not name, or what is dropped, is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

from ...facts.lint.check import check_trace
from ...text import join_words, plural
from ..model import WorkbenchModel
from .base_payload import Payload
from .fact_list import find_listing
from .findings import find_recorded

MOST = 2
"""Kinds of loss that are named."""
_KINDS = {
    "file": ("a changed file", "changed files"),
    "constraint": ("a rule of yours", "rules of yours"),
    "todo": ("an open task", "open tasks"),
    "error": ("an error", "errors"),
}
"""In the order in which they are named."""
_CODES = {"CI001": "file", "CI006": "file", "CI002": "constraint", "CI003": "todo", "CI004": "error"}
_NONE = "No changed file and no rule of yours"
GUESSED = ", as far as one can tell"
"""Of a summary that nobody can read, what is lost is guessed from what follows."""


class LossesReply(Payload, frozen=True):
    """The end of the sentence, and how it is meant. `kinds` are the kinds of fact that it names."""

    sentence: str
    tone: Literal["bad", "", "good"]
    kinds: list[str]


def describe_losses(model: WorkbenchModel, query: Mapping[str, Any]) -> LossesReply:
    """What the plan looked at loses with its cut at `place`; of a recorded compaction that no plan tells,
    what the findings tell: guessed, where nobody can read its summary."""
    side = model.looked_at
    if side is not None and side.plan is None:
        listing = find_listing(model, int(query["place"]), planned=True)
        found = check_trace(find_recorded(model, listing, model.session[side.mark.entry]).trace)
        limit = GUESSED if side.sealed else ""
        return _tell_lost(Counter(_CODES[f.code] for f in found if f.code in _CODES), True, limit)
    listing = find_listing(model, int(query["place"]))
    plan = listing.plan
    if not plan.outcome.changed.any():
        return LossesReply("", "good", [])
    found = check_trace(listing.trace, plan)
    counts = Counter(_CODES[finding.code] for finding in found if finding.code in _CODES)
    if plan.is_unwritten:
        return _tell_unwritten(counts)
    return _tell_lost(counts, side is not None and plan is side.plan)


def _tell_unwritten(counts: Counter[str]) -> LossesReply:
    """What would be lost if a summary that is not written yet did not name it."""
    named, words = _name(counts)
    if not named:
        return LossesReply(f"{words} would be lost, whatever it says.", "good", [])
    one = len(named) == 1 and counts[named[0]] == 1
    return LossesReply(f"{words} would be lost unless it names {'it' if one else 'them'}.", "", named)


def _tell_lost(counts: Counter[str], happened: bool, limit: str = "") -> LossesReply:
    """What was, or would be, lost; `limit` says how far that can be told."""
    named, words = _name(counts)
    many = len(named) > 1 or any(counts[kind] > 1 for kind in named)
    verb = ("were" if many else "was") if happened else "would be"
    return LossesReply(f"{words} {verb} lost{limit}.", "bad" if named else "good", named)


def _name(counts: Counter[str]) -> tuple[list[str], str]:
    """The kinds that are named, and the words for how many of each: those that begin a sentence."""
    named = [kind for kind in _KINDS if counts[kind]][:MOST]
    if not named:
        return [], _NONE
    words = join_words([_count_words(kind, counts[kind]) for kind in named])
    return named, words[:1].upper() + words[1:]


def _count_words(kind: str, count: int) -> str:
    one, many = _KINDS[kind]
    return one if count == 1 else plural(count, one, many)
