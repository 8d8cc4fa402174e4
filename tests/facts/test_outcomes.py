"""The table of outcomes: their names in order, what they count as, how they look, and their earlier names."""

from __future__ import annotations

from collections import Counter

import pytest

from inspector.demo import open_demo
from inspector.facts.outcomes import (
    IN_FULL,
    MISSING,
    OUTCOMES,
    RETAINED,
    UNDECIDED,
    WORST_FIRST,
    read_outcome,
)
from inspector.facts.trace import trace_recorded

EARLIER = {
    "restated": "quoted",
    "pointed to": "pointer",
    "weakened": "partial",
    "lost": "absent",
    "stale": "superseded",
}


def test_every_outcome_but_a_replaced_value_is_in_exactly_one_sum() -> None:
    assert RETAINED == ("verbatim", "quoted", "paraphrased", "pointer")
    assert MISSING == ("changed", "contradicted", "absent")
    assert UNDECIDED == ("partial", "unclear", "unknown")
    assert Counter((*RETAINED, *MISSING, *UNDECIDED, "superseded")) == Counter(OUTCOMES)
    assert sorted(WORST_FIRST) == sorted(OUTCOMES)
    assert set(IN_FULL) == set(RETAINED) - {"pointer"}


@pytest.mark.parametrize(("earlier", "now"), EARLIER.items())
def test_an_earlier_name_selects_the_same_facts(earlier: str, now: str) -> None:
    (trace,) = trace_recorded(open_demo())
    assert read_outcome(earlier) == read_outcome(now) == now
    assert trace.select(earlier) == trace.select(now)
    assert (
        len(trace.select("lost")) == trace.outcome[trace.stood].tolist().count(OUTCOMES.index("absent")) > 0
    )
