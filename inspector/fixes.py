"""What would have kept a fact: the smallest legal edits of a plan, each planned and priced.

A pin, another cut, a knob, a rule that carries files: each is tried by planning again and kept only if the
fact then stands better than before. The price is the difference of the two plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .blocks import BlockRef
from .errors import InspectorError
from .facts import Fact
from .plan import Plan, make_plan
from .policy import Edits, Policy, Rule
from .printable import printable
from .rules.carry_file_operations import CarryFileOperations
from .trace import FATES, Traced, trace_one

Means = Literal["pin", "cut", "knob", "carry"]
PINS = 4
"""Pins tried, the cheapest by tokens of block and other half."""
TIMES = 64
"""How many times a knob is raised at most."""


@dataclass(frozen=True, eq=False, repr=False)
class Fix:
    """A way to keep a fact. `plan` is the plan with it, `price` the tokens (int) its context is longer by.

    `fate` is the fact's in that plan, `sentence` what to do.
    """

    means: Means
    sentence: str
    plan: Plan
    price: int
    fate: str

    @property
    def edits(self) -> Edits:
        """What a hand has to change, beyond a changed policy."""
        return self.plan.edits

    @property
    def policy(self) -> Policy:
        """The policy to plan with."""
        return self.plan.policy

    def __repr__(self) -> str:
        return f"Fix({self.sentence} {self.price:+,} tokens, then {self.fate})"


def find_fixes(plan: Plan, traced: Traced) -> tuple[Fix, ...]:
    """Edits of the plan after which the fact stands better, the cheapest first. Empty for one that stands.

    `traced` is the fact in this very plan. Every fix is a plan of its own: legal, its pairs whole.

    >>> from inspector.bundled import LOST_PATH, open_bundled
    >>> from inspector.facts import find_facts
    >>> from inspector.ledger import count_tokens
    >>> from inspector.trace import trace_facts
    >>> session = open_bundled()
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> traced = trace_facts(find_facts(session), plan)[LOST_PATH]
    >>> all(fix.price == fix.plan.after - plan.after for fix in find_fixes(plan, traced))
    True
    """
    if traced.fate == "verbatim" or not traced.stood:
        return ()
    found: dict[tuple[str, str], Fix] = {}
    for means, sentence, other in _candidates(plan, traced):
        fate = trace_one(traced, other).fate
        if FATES.index(fate) < FATES.index(traced.fate):
            fix = Fix(means, sentence, other, other.after - plan.after, fate)
            found.setdefault((means, sentence), fix)
    return tuple(sorted(found.values(), key=lambda fix: (fix.price, FATES.index(fix.fate))))


Candidate = tuple[Means, str, Plan]


def _candidates(plan: Plan, traced: Traced) -> Iterator[Candidate]:
    live = plan.table.live
    names = [plan.session.entries[i].id for i in live.entries.tolist()]
    refs = [
        BlockRef(names[at], block)
        for at, block in zip(live.position.tolist(), live.block.tolist(), strict=True)
    ]
    said = set(traced.said)
    rows = [row for row, ref in enumerate(refs) if ref in said]
    yield from _pins(plan, rows, refs)
    if rows:
        yield from _cuts(plan, int(live.position[max(rows)]))
    yield from _knobs(plan, traced)
    if traced.fact.kind == "file" and plan.table.sibling("carry-file-operations") is None:
        rules = tuple(rule for rule in plan.policy.rules if rule.kind != "carry-file-operations")
        policy = plan.policy.model_copy(update={"rules": (*rules, CarryFileOperations())})
        if (other := _again(plan, policy=policy)) is not None:
            yield "carry", "Carry file operations.", other


def _again(plan: Plan, policy: Policy | None = None, **changes: Any) -> Plan | None:
    """The plan with some edits changed, None where that is not legal."""
    edits = plan.edits.model_copy(update=changes)
    given = plan.table.given_window
    try:
        # The settings are in the policy already; they are named again for who reads the edits.
        return make_plan(
            plan.session, plan.ledger, policy or plan.policy, edits, window=given, reason=plan.reason
        )
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
            other = _again(plan, pins=(*plan.edits.pins, name))
            if other is not None:
                yield "pin", f"Pin {printable(name)}.", other


def _cuts(plan: Plan, last: int) -> Iterator[Candidate]:
    """The latest legal cut that keeps the last block that says it."""
    legal = np.flatnonzero(plan.cuts.legal[: last + 1])
    if plan.place is None or not len(legal) or legal[-1] == 0:
        return
    name = plan.cuts[int(legal[-1])].entry
    other = _again(plan, cut=name)
    if other is not None:
        yield "cut", f"Cut at {printable(name)}.", other


def _knobs(plan: Plan, traced: Traced) -> Iterator[Candidate]:
    """Each number of a rule at the smallest value that helps, up to `TIMES` its own."""
    for rule in plan.policy.rules:
        for knob, value in _numbers(rule):
            key = f"{rule.kind}.{knob}"
            low, high = value, value * TIMES
            best = _turned(plan, key, high)
            if best is None or not _helps(traced, best):
                continue
            at = high
            # A log search is enough: an eighth of the value is as fine as anyone sets it.
            while high - low > max(value // 8, 1):
                middle = (low + high) // 2
                other = _turned(plan, key, middle)
                if other is not None and _helps(traced, other):
                    high, best, at = middle, other, middle
                else:
                    low = middle
            yield "knob", f"Set {key} to {at:,}.", best


def _numbers(rule: Rule) -> Iterator[tuple[str, int]]:
    for name in type(rule).model_fields if rule.enabled else ():
        value = getattr(rule, name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            yield name, value


def _turned(plan: Plan, key: str, value: int) -> Plan | None:
    return _again(plan, settings={**plan.edits.settings, key: value})


def _helps(traced: Traced, plan: Plan) -> bool:
    return FATES.index(trace_one(traced, plan).fate) < FATES.index(traced.fate)


def write_focus(facts: Iterable[Fact | Traced]) -> str:
    """Words for /compact, or the `instructions` of an API that compacts: what the summary must name.

    >>> from inspector.bundled import LOST_PATH, open_bundled
    >>> from inspector.facts import find_facts
    >>> print(write_focus([find_facts(open_bundled())[LOST_PATH]]))
    Keep these exactly as they are written:
    - file: src/tidepool/calendar/offsets.py
    """
    lines = []
    for item in facts:
        fact = item.fact if isinstance(item, Traced) else item
        lines.append(f"- {fact.kind}: {printable(' '.join(fact.form.split()), 300)}")
    return "\n".join(["Keep these exactly as they are written:", *dict.fromkeys(lines)]) if lines else ""
