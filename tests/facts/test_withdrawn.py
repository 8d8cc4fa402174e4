"""Rules that a person takes back: they are no loss, and no hook repeats them."""

from __future__ import annotations

from itertools import product

import pytest

from inspector import lint, trace_recorded
from inspector.facts.withdrawn import find_withdrawn
from tests.facts.test_replaced import talk

RULES = (
    ("ram", "keep the ram under 20 pages"),
    ("tabs", "Never use tabs."),
    ("walrus", "no walrus operators"),
)
TAKES_BACK = (
    "forget the {} thing",
    "Never mind the {} rule.",
    "you can ignore what I said about {}",
    "ok, drop the {} rule, we have more room now",
    "The {} rule no longer applies.",
    "the {} limit is gone",
)
LEAVES = (
    "ignore the {} rule for now",
    "forget the {} thing in this file, just this once",
    "should we forget the {} rule?",
    "Don't forget the {} rule.",
    "I forgot the {} rule.",
    "forget the {} window thing",
    "Drop the {} limit and add another.",
    "Scrap the {} rule table in the docs.",
    "The {} limit is gone from the page.",
    "the {} rule is fine",
)


@pytest.mark.parametrize(("frame", "rule"), [*product(TAKES_BACK, RULES)])
def test_a_rule_that_is_taken_back_is_superseded(frame: str, rule: tuple[str, str]) -> None:
    subject, form = rule
    session = talk(form, "Never push to main.", frame.format(subject))
    (trace,) = trace_recorded(session)
    traced = next(item for item in trace.select() if item.fact.form == form)
    assert traced.outcome == "superseded" and not traced.fact.essential
    assert traced.replacement is not None and traced.replacement.how == "withdrawn"
    assert "taken it back" in traced.why() and frame.format(subject) in traced.replacement.words
    other = next(item for item in trace.select() if item.fact.form == "Never push to main.")
    assert other.outcome == "absent" and other.fact.essential
    lost = [item.fact.form for item in lint(session) if item.code == "CI002" and item.fact is not None]
    assert lost == ["Never push to main."]


def test_a_summary_that_still_has_it_is_told_so() -> None:
    session = talk("Never use tabs.", "Never mind the tabs rule.", summary="Never use tabs.")
    (finding,) = lint(session, rules="CI015")
    assert (
        finding.sentence
        == "The summary still has the rule “Never use tabs.”; in turn 2 the user took it back."
    )


@pytest.mark.parametrize(("frame", "rule"), [*product(LEAVES, RULES)])
def test_without_clear_words_the_rule_holds(frame: str, rule: tuple[str, str]) -> None:
    subject, form = rule
    (trace,) = trace_recorded(talk(form, frame.format(subject)))
    traced = next(item for item in trace.select() if item.fact.form == form)
    assert traced.outcome == "absent" and traced.fact.essential


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_is_said_again_holds_again(rule: tuple[str, str]) -> None:
    kind_and_form, back = ("constraint", rule[1]), ("statement", f"forget the {rule[0]} thing")
    assert find_withdrawn([kind_and_form, back]) == {0: 1}
    assert find_withdrawn([kind_and_form, back, kind_and_form]) == {}
    assert find_withdrawn([back, kind_and_form]) == {}


def test_a_sentence_that_two_rules_fit_or_that_holds_another_rule_takes_nothing_back() -> None:
    back = ("statement", "forget the tabs thing")
    assert find_withdrawn([("constraint", "use tabs"), ("constraint", "tabs must be 4 wide"), back]) == {}
    assert find_withdrawn([("constraint", "never use tabs, and never push to main"), back]) == {}
