"""What a plan loses, in the words that end its sentence: changed files, rules, open tasks, errors.

What no rule keeps and a model's summary may or may not name is at risk; what a summary that is there does not
name, or what is dropped, is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

from ...facts.lint.check import CHANGED, known, lint
from ...facts.traced import TracedFact
from ...planning.plan import Plan
from ...text import join_words, plural
from ..model import WorkbenchModel
from .base_payload import Payload
from .fact_list import plan_at

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


class LossesReply(Payload, frozen=True):
    """The end of the sentence, and how it is meant. `kinds` are the kinds of fact that it names."""

    sentence: str
    tone: Literal["bad", "", "good"]
    kinds: list[str]


def describe_losses(model: WorkbenchModel, query: Mapping[str, Any]) -> LossesReply:
    """What the plan looked at loses with its cut at `place`."""
    plan = plan_at(model, int(query["place"]))
    recorded = model.recorded is not None and plan is model.recorded.plan and plan is model.shown
    return tell_losses(plan, happened=recorded and model.inputs["look"] != "plan")


def tell_losses(plan: Plan, *, happened: bool = False) -> LossesReply:
    """The same of a plan; `happened` says that it is what the file records.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session), "keep-recent-turns", {"cut": "end"})
    >>> tell_losses(plan).tone
    ''
    """
    if not plan.outcome.changed.any():
        return LossesReply("", "good", [])
    placeholder = plan.summarises and plan.checkpoint is None
    counts = _count_risks(plan) if placeholder else _count_lost(plan)
    named = [kind for kind in _KINDS if counts[kind]][:MOST]
    if not named:
        end = "would stand only in it" if placeholder else f"{'was' if happened else 'would be'} lost"
        return LossesReply(f"{_NONE} {end}.", "good", [])
    words = join_words([_count_words(kind, counts[kind]) for kind in named])
    words = words[:1].upper() + words[1:]
    if placeholder:
        return LossesReply(f"{words} would stand only in it.", "", named)
    many = len(named) > 1 or counts[named[0]] > 1
    verb = ("were" if many else "was") if happened else "would be"
    return LossesReply(f"{words} {verb} lost.", "bad", named)


def _count_words(kind: str, count: int) -> str:
    one, many = _KINDS[kind]
    return one if count == 1 else plural(count, one, many)


def _count_lost(plan: Plan) -> Counter[str]:
    found = lint(plan.session, plan, list(_CODES), ledger=plan.ledger)
    return Counter(_CODES[finding.code] for finding in found)


def _count_risks(plan: Plan) -> Counter[str]:
    """Facts that a block names no longer: only the words of a summary that is yet to be written could."""
    return Counter(
        traced.fact.kind
        for traced in plan.trace
        if traced.stood and traced.fate not in ("verbatim", "pointed to") and _matters(traced)
    )


def _matters(traced: TracedFact) -> bool:
    if traced.fact.kind == "file":
        return any(said.operation in CHANGED for said in known(traced))
    return traced.fact.kind == "constraint" and any(said.by == "user" for said in known(traced))
