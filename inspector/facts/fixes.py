"""What would have kept a fact: the smallest legal edits of a plan, each planned and priced.

A pin, another cut, a knob, a rule that carries files: each is tried by planning again and kept only if the
fact then stands better than before. The price is the difference of the two plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import EditError, InspectorError
from ..planning.plan import Plan
from ..policies.base_rule import Rule
from ..policies.builtin.recorded import RECORDED
from ..policies.rules.carry_file_operations import CarryFileOperations
from ..session.blocks import BlockRef
from ..text import printable
from .outcomes import CODE, Outcome
from .trace import trace_one
from .traced import Fix, Means, TracedFact

PINS = 4
"""Pins tried, the cheapest by tokens of block and other half."""
TIMES = 64
"""How many times a knob is raised at most."""


def find_fixes(plan: Plan, traced: TracedFact) -> tuple[Fix, ...]:
    """Edits of the plan after which the fact stands better, the cheapest first. Empty for one that stands.

    `traced` is the fact in this very plan, or in the recorded compaction that came next: then its summary is
    read in place of the stand-in, as one that was written for the plan is. Every fix is a plan of its own:
    legal, its pairs whole. Raises `EditError` for a plan of another moment.

    >>> from inspector.demo import LOST_PATH, open_demo
    >>> from inspector.facts.facts import find_facts
    >>> from inspector.tokens.ledger import count_tokens
    >>> from inspector.facts.trace import trace_facts
    >>> from inspector.planning.plan import make_plan
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> traced = trace_facts(find_facts(session), plan)[LOST_PATH]
    >>> all(fix.price == fix.plan.after - plan.after for fix in find_fixes(plan, traced))
    True
    """
    if plan.session.leaf != traced.scene.session.leaf:
        raise EditError("plan at", str(plan.session.leaf), "the fact was traced at another moment")
    if traced.outcome in ("verbatim", "superseded") or not traced.stood:
        return ()
    entry, written = traced.scene.entry, plan.checkpoint
    text = entry.text if entry is not None else None if written is None else written.text
    # A summary is written for one plan: all are compared with a stand-in in its place. What the file records
    # stands in each of its plans.
    plan = plan if plan.policy.name == RECORDED.name else plan.with_summary(None)
    judge = _Judge(traced, text, plan)
    if judge.base == "verbatim":
        # This plan keeps it as it is.
        return ()
    found: dict[tuple[str, str], Fix] = {}
    for means, sentence, other, changes in _candidates(plan, judge):
        if judge.helps(other):
            fix = Fix(means, sentence, other, other.after - plan.after, judge.outcome(other), changes)
            found.setdefault((means, sentence), fix)
    return tuple(sorted(found.values(), key=lambda fix: (fix.price, CODE[fix.outcome])))


class _Judge:
    """What becomes of the fact in other plans; `written` is the summary of a recorded compaction.

    `base` is what becomes of it in the plan that is to be mended.
    """

    def __init__(self, traced: TracedFact, written: str | None, plan: Plan) -> None:
        self.traced, self.written = traced, written
        self._outcomes: dict[int, tuple[Plan, Outcome]] = {}
        self.base = self.outcome(plan)

    def outcome(self, plan: Plan) -> Outcome:
        if id(plan) not in self._outcomes:
            self._outcomes[id(plan)] = plan, trace_one(self.traced, plan, self.written).outcome
        return self._outcomes[id(plan)][1]

    def helps(self, plan: Plan) -> bool:
        return CODE[self.outcome(plan)] < CODE[self.base]


Candidate = tuple[Means, str, Plan, dict[str, Any]]


def _candidates(plan: Plan, judge: _Judge) -> Iterator[Candidate]:
    refs = plan.session.live_refs()
    rows = _find_rows(refs, judge.traced.said) or _find_rows(refs, judge.traced.named)
    yield from _pins(plan, rows, refs)
    if rows:
        yield from _cuts(plan, int(plan.table.live.position[max(rows)]))
    yield from _knobs(plan, judge)
    if judge.traced.fact.kind == "file":
        yield from _lists(plan, judge)


def _find_rows(refs: list[BlockRef], wanted: Iterable[BlockRef]) -> list[int]:
    mine = set(wanted)
    return [row for row, ref in enumerate(refs) if ref in mine]


def _lists(plan: Plan, judge: _Judge) -> Iterator[Candidate]:
    """A list of files in the summary: as published where that holds this one, else of every tool's files."""
    given = next((rule for rule in plan.policy.rules if isinstance(rule, CarryFileOperations)), None)
    kind = CarryFileOperations.model_fields["kind"].default
    settings: dict[str, Any] = {}
    if given is None or not given.enabled:
        # A policy that has no such rule is given one by this (`Policy.configured`).
        settings = {f"{kind}.enabled": True}
        if (other := _turned(plan, settings)) is not None and judge.helps(other):
            yield "carry", "Carry file operations.", other, {"settings": settings}
            return
    if given is None or not given.every_tool:
        settings |= {f"{kind}.every_tool": True}
        if (other := _turned(plan, settings)) is not None:
            sentence = "Carry the file operations of every tool and shell command."
            yield "carry", sentence, other, {"settings": settings}


def replan(plan: Plan, **changes: Any) -> Plan | None:
    """The same plan with some edits changed; None where that is not legal."""
    edits = plan.edits.model_copy(update=changes)
    try:
        # The settings are in the policy already; they are named again for who reads the edits.
        return plan.with_edits(edits)
    except InspectorError:
        return None


def _pins(plan: Plan, rows: list[int], refs: list[BlockRef]) -> Iterator[Candidate]:
    """The cheapest blocks that say it, each with the other half of its call."""
    tokens = plan.table.tokens.astype(np.int64)
    weight = tokens.copy()
    calls, outputs = plan.table.live.pairs[:, 0], plan.table.live.pairs[:, 1]
    weight[calls] += tokens[outputs]
    weight[outputs] += tokens[calls]
    for row in sorted(rows, key=lambda row: (int(weight[row]), row))[:PINS]:
        name = str(refs[row])
        if name not in plan.edits.pins:
            other = replan(plan, pins=(*plan.edits.pins, name))
            if other is not None:
                yield "pin", f"Pin {printable(name)}.", other, {"pins": [name]}


def _cuts(plan: Plan, last: int) -> Iterator[Candidate]:
    """The latest legal cut that keeps the last block that says it."""
    legal = np.flatnonzero(plan.cuts.legal[: last + 1])
    if plan.place is None or not len(legal) or legal[-1] == 0:
        return
    name = plan.cuts[int(legal[-1])].entry
    other = replan(plan, cut=name)
    if other is not None:
        yield "cut", f"Cut at {printable(name)}.", other, {"cut": name}


def _knobs(plan: Plan, judge: _Judge) -> Iterator[Candidate]:
    """Each number of a rule at the smallest value that helps, up to `TIMES` its own."""
    for rule in plan.policy.rules:
        for knob, value in _numbers(rule):
            key = f"{rule.kind}.{knob}"
            low, high = value, value * TIMES
            best = _turned(plan, {key: high})
            if best is None or not judge.helps(best):
                continue
            at = high
            # A log search is enough: an eighth of the value is as fine as anyone sets it.
            while high - low > max(value // 8, 1):
                middle = (low + high) // 2
                other = _turned(plan, {key: middle})
                if other is not None and judge.helps(other):
                    high, best, at = middle, other, middle
                else:
                    low = middle
            yield "knob", f"Set {key} to {at:,}.", best, {"settings": {key: at}}


def _numbers(rule: Rule) -> Iterator[tuple[str, int]]:
    for name in type(rule).model_fields if rule.enabled else ():
        value = getattr(rule, name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            yield name, value


def _turned(plan: Plan, settings: Mapping[str, Any]) -> Plan | None:
    return replan(plan, settings={**plan.edits.settings, **settings})
