"""The table of outcomes: their names in order, what they count as, how they look, and their earlier names."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import pytest

from inspector import Checkpoint, count_tokens, keep_facts, make_plan, read_session
from inspector.demo import LOST_PATH, open_demo
from inspector.facts.outcomes import (
    IN_FULL,
    KEPT,
    MISSING,
    OUTCOMES,
    TRAITS,
    UNDECIDED,
    WORST_FIRST,
    Outcome,
    read_outcome,
)
from inspector.facts.trace import trace_recorded
from inspector.workbench.words import label_of

EARLIER = {
    "restated": "quoted",
    "pointed to": "pointer",
    "weakened": "partial",
    "lost": "absent",
    "stale": "superseded",
}


def test_there_are_eleven_outcomes_from_what_stands_to_what_nobody_can_tell() -> None:
    names = (
        "verbatim quoted paraphrased pointer partial changed contradicted unclear absent superseded unknown"
    )
    assert " ".join(OUTCOMES) == names
    assert get_args(Outcome) == OUTCOMES == tuple(TRAITS)


def test_every_outcome_but_a_replaced_value_is_in_exactly_one_sum() -> None:
    assert KEPT == ("verbatim", "quoted", "paraphrased", "pointer")
    assert MISSING == ("changed", "contradicted", "absent")
    assert UNDECIDED == ("partial", "unclear", "unknown")
    assert Counter((*KEPT, *MISSING, *UNDECIDED, "superseded")) == Counter(OUTCOMES)
    assert sorted(WORST_FIRST) == sorted(OUTCOMES)
    assert set(IN_FULL) == set(KEPT) - {"pointer"}


def test_red_is_only_what_is_missing_or_false_and_every_outcome_has_a_sign_and_a_label_of_its_own() -> None:
    colours: dict[str, set[str]] = {}
    for name, traits in TRAITS.items():
        colours.setdefault(traits.colour, set()).add(name)
    assert colours == {
        "green": set(KEPT),
        "red": set(MISSING),
        "amber": {"partial", "unclear"},
        "grey": {"unknown", "superseded"},
    }
    for column in ("sign", "label", "sentence"):
        assert len({getattr(traits, column) for traits in TRAITS.values()}) == len(OUTCOMES), column
    assert (TRAITS["absent"].label, TRAITS["absent"].sentence) == (
        "absent",
        "The summary does not mention this.",
    )
    assert [label_of(name) for name in OUTCOMES] == [traits.label for traits in TRAITS.values()]


@pytest.mark.parametrize(("earlier", "now"), EARLIER.items())
def test_an_earlier_name_selects_the_same_facts(earlier: str, now: str) -> None:
    (trace,) = trace_recorded(open_demo())
    assert read_outcome(earlier) == read_outcome(now) == now
    assert trace.select(earlier) == trace.select(now)
    assert (
        len(trace.select("lost")) == trace.outcome[trace.stood].tolist().count(OUTCOMES.index("absent")) > 0
    )


def test_scripts_of_before_can_ask_a_fact_for_its_fate_and_keep_what_is_restated() -> None:
    session = read_session([{"role": "user", "content": "Read src/a.py."}])
    plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    assert plan.with_summary(Checkpoint(text="See a.py.")).trace["src/a.py"].fate == "partial"
    assert trace_recorded(open_demo())[0][LOST_PATH].fate == "absent"
    now = keep_facts(plan, ["src/a.py"], least="quoted")
    before = keep_facts(plan, ["src/a.py"], least="restated")  # type: ignore[arg-type]
    assert now.price == before.price and repr(now) == repr(before)
