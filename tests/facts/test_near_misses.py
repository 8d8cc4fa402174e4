"""Texts that come close to a fact: another value, a part, the opposite, or only its subject."""

from __future__ import annotations

import pytest

from inspector import checkpoint_from_text, count_tokens, lint, make_plan
from inspector.facts.indexed_text import IndexedText
from inspector.facts.things import compare_thing
from tests.facts.test_outcomes_read import KEPT, called, outcome, trace, trace_turns
from tests.test_cuts import build, say, user

SAME_VALUE = [
    ("Keep the tide tables in data/tides.", "The tide tables are kept as CSV in one place."),
    ("Keep the tide tables in data/tides.", "The tide tables are kept as CSV. See data/tides/2026."),
    ("Never copy to s3://harbour-raw.", "It copies CSV files from `s3://harbour-raw/in/`."),
    ("The kiln runs at 900 degrees.", "The old kiln runs at 950 degrees. The kiln runs at 900 degrees."),
]
OTHER_VALUE = [
    ("Put the tide tables into data/tides.", "Put the tide tables into data/winds."),
    ("Send reports to https://one.example.org/in.", "Send reports to https://two.example.org/in."),
]
OTHER_AMOUNT = [
    ("Limit a crate to 25 kg.", "Crates are limited to 50 kg.", "changed"),
    ("The harbour page must stay below 250 kB.", "The harbour page is to be under 300 kB.", "changed"),
    ("412 kB is too much, the harbour page must stay below 250 kB.", "The harbour page: under 300 kB.", ""),
    ("Crate size 200.", "The ferry takes a crate of 100.", "unclear"),
    ("Limit a crate to 25 MB.", "The crate was open for 50 minutes.", "unclear"),
]
SHARED_NAME = [
    ("Always go through the HAL, no direct calls.", "Access to the pumps uses the HAL exclusively."),
    ("Keep harbour.config.js until the fair.", "harbour.config.js can be thrown away."),
    ("Gauges must not reach the radio.", "The gauge network is offline only."),
    ("Never lower the sluices.", "The small sluices may move if the tide asks for it."),
]
NO_SHARED_NAME = [
    ("Always run the gauge check before you leave.", "The tide tables were printed. Next: paint the pier."),
    ("Always go through the HAL, no direct calls.", "The pumps were checked, and a call with Ida was held."),
]
AGAINST = [
    ("Don't sail to Norderney.", "Next: load and sail the boat to Norderney."),
    ("And don't sail to Norderney, I do that myself.", "Next: load and sail the boat to Norderney."),
    ("never repaint the pier, other people need it dry", "Repaint the pier."),
    ("Log each ship with the harbour code only, not the owner.", "Each ship is logged with code and owner."),
]
NOT_AGAINST = [
    ("Don't sail to Norderney, unless the wind turns.", "Sail to Norderney when the wind turns."),
    ("Don't sail to Norderney, I do that myself.", "Never sail to Norderney; the user does that."),
    ("Don't sail to Norderney, I do that myself.", "The user sails to Norderney himself."),
    ("Log each ship with the harbour code only, not the owner.", "Ships are logged with the code only."),
    ("Log the code, not the owner.", "The owner approved the plan."),
    ("Sail in the morning, not the evening.", "The evening was spent on charts."),
    ("Don't sail there, the ice is thick.", "The user will sail there."),
    ("Don't sail to Norderney, the pilot does that.", "The pilot will sail to Norderney on Friday."),
]
ERRORS = [
    ("KeyError: no tide table for 2031-04", "`test_spring` breaks: no tide table for 2031-04", "partial"),
    ("tide_test.go:12: tide = 4.2 m, want 4.5 m", "`./pkg/sea/...`: tide = 4.2 m, want 4.5 m", "partial"),
    ("KeyError: no tide table for 2031-04", "`test_spring` breaks: no tide table for 2032-04", "changed"),
    ("KeyError: no tide table for 2031-04", "KeyError: no tide table for 2031-04", "quoted"),
]


@pytest.mark.parametrize(("said", "summary"), SAME_VALUE)
def test_a_name_of_another_kind_is_no_other_value(said: str, summary: str) -> None:
    assert outcome(said, summary) != "changed"


@pytest.mark.parametrize(("said", "summary"), OTHER_VALUE)
def test_another_value_of_the_same_kind_is_changed(said: str, summary: str) -> None:
    assert outcome(said, summary) == "changed"


@pytest.mark.parametrize(("error", "summary", "expected"), ERRORS)
def test_an_error_is_known_by_its_message(error: str, summary: str, expected: str) -> None:
    ran = called("Bash", error, True, command="make check")
    assert trace_turns(summary, "Go.", *ran, "It failed.")[error].outcome == expected


@pytest.mark.parametrize(("said", "summary", "expected"), OTHER_AMOUNT)
def test_another_amount_of_the_same_subject_is_not_absent(said: str, summary: str, expected: str) -> None:
    assert outcome(said, summary) in ([expected] if expected else ["changed", "unclear"])


@pytest.mark.parametrize(("said", "summary"), SHARED_NAME)
def test_a_rule_whose_name_is_in_the_summary_is_not_absent(said: str, summary: str) -> None:
    assert outcome(said, summary) not in ("absent", *KEPT)


@pytest.mark.parametrize(("said", "summary"), NO_SHARED_NAME)
def test_a_rule_of_which_nothing_is_named_is_absent(said: str, summary: str) -> None:
    assert outcome(said, summary) == "absent"


@pytest.mark.parametrize(("said", "summary"), AGAINST)
def test_a_reason_or_an_alternative_beside_a_rule_does_not_hide_the_opposite(said: str, summary: str) -> None:
    assert outcome(said, summary) == "contradicted"


@pytest.mark.parametrize(("said", "summary"), NOT_AGAINST)
def test_a_condition_or_the_same_refusal_is_not_the_opposite(said: str, summary: str) -> None:
    assert outcome(said, summary) != "contradicted"


def test_an_exception_that_a_summary_adds_to_a_rule_is_a_finding() -> None:
    rule = "Do not open the sluices on Sundays."
    session = build(user(rule), say(), user("Go on."), say())
    plan = make_plan(session, count_tokens(session), "claude-code", reason="manual")
    excepted = lint(session, plan.with_summary(checkpoint_from_text(f"{rule[:-1]} unless asked.")))
    assert [finding.fact.form for finding in excepted if finding.code == "CI021" and finding.fact] == [rule]
    assert "CI021" not in lint(session, plan.with_summary(checkpoint_from_text(rule))).counts


def test_a_uuid_is_changed_in_one_group_and_a_name_is_no_number() -> None:
    start, end = "0db2eb3b-5ed8-4b70-88c6-a3f7104eb25", "1"
    assert trace(f"Open {start}{end}.", f"Opened {start}2.")["id", start + end].outcome == "changed"
    assert compare_thing("symbol", "Two", IndexedText("It has 2 parts.")).outcome == "absent"
    assert compare_thing("number", "2 parts", IndexedText("It has two parts.")).outcome == "quoted"
