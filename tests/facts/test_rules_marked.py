"""Which sentences are a person's rules: laws over frames that any subject fits into."""

from __future__ import annotations

from itertools import product

import pytest

from inspector.facts.essential import _find_reason
from inspector.facts.extract.rule_words import LANGUAGES, count_foreign
from inspector.facts.extract.statements import find_statements, fold

THINGS = ("cables", "the invoice totals", "chapter titles", "soil samples")
DUTIES = (
    "{} should be listed first.",
    "pls dont touch {}, they are signed",
    "u must not move {}",
    "It's important to me that {} are never merged.",
    "Let's agree that {} stay unchanged.",
    "I'd rather you asked me before you move {}.",
    "I looked at it and it is fine, but {} should be in order, and thanks.",
    "loose {} are not ok, use the tray",
    "{} are kept in blue. Always.",
    "{} are kept in blue. No exceptions.",
)
NO_RULES = (
    "The inspector complains that {} must be shorter than 80.",
    "It says that {} must never be empty.",
    "The letter said that {} have to be blue.",
    "pls look at {} again",
    "We need to move {} today",
    "Do {} have to be blue?",
    "I think {} were always blue.",
    "That is not ok, {} look wrong.",
)


def list_rules(text: str) -> list[str]:
    """The rules of a message that still bind in a later turn."""
    sentences = find_statements(text)
    return [
        item.form
        for item in sentences
        if item.kind == "constraint" and _find_reason(item.kind, item.form, False)
    ]


@pytest.mark.parametrize(("frame", "thing"), [*product(DUTIES, THINGS)])
def test_a_duty_of_anything_is_a_rule(frame: str, thing: str) -> None:
    assert list_rules(frame.format(thing))


@pytest.mark.parametrize(("frame", "thing"), [*product(NO_RULES, THINGS)])
def test_a_report_or_a_request_for_now_is_none(frame: str, thing: str) -> None:
    assert list_rules(frame.format(thing)) == []


@pytest.mark.parametrize("thing", ["tabs", "snake_case", "oat milk", "blue ink"])
def test_an_order_to_use_a_kind_of_thing_is_a_rule_and_one_of_a_certain_thing_is_none(thing: str) -> None:
    assert list_rules(f"Use {thing}.") and list_rules(f"Please use {thing} in all letters.")
    assert not list_rules(f"Use the {thing} from before.") and not list_rules(f"Use {thing} for this.")


@pytest.mark.parametrize("report", ["It failed again.", "Did it work?", "I think it was blue."])
def test_always_makes_no_rule_of_a_report_or_a_question(report: str) -> None:
    assert not [form for form in list_rules(f"{report} Always.") if form == report.rstrip()]


@pytest.mark.parametrize("words", LANGUAGES)
def test_a_word_for_always_binds_in_each_language_unless_the_sentence_reports(words: tuple[str, ...]) -> None:
    always, asks, report = (words[at].split("|")[0] for at in (0, 3, 6))
    assert count_foreign(f"{asks} {always} xx yy zz") >= 2
    assert count_foreign(f"xx {report} {always} yy zz") == 0
    assert count_foreign("xx yy zz ww") == 0


def test_shorthand_is_spelled_out_where_it_is_a_word_of_its_own() -> None:
    assert fold("pls dont, u cant") == "please don't, you can't"
    assert fold("u.dont = pls_dont; /dont/u") == "u.dont = pls_dont; /dont/u"
