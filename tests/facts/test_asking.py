"""Questions in a person's own words, through `session.find_facts`, `session.why` and `trace[…]`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import Session, read_session
from inspector.facts.traced import Trace
from tests.facts.test_outcomes_read import trace_turns

RULE = "Never deploy to the Lisbon cluster on a Friday."
TALK = [
    ("user", f"We ship the billing service. {RULE} Thanks!"),
    ("assistant", "Understood. I edited src/billing/invoice_total.py and ran the checks."),
    ("user", "The retry limit is 7 attempts.\nKeep the old endpoint until March."),
    ("assistant", "Done so far."),
]


def talk() -> Session:
    return read_session([{"role": role, "content": text} for role, text in TALK])


def trace_after(summary: str) -> Trace:
    return trace_turns(summary, *(text for _, text in TALK))


def test_a_line_of_a_reminder_is_the_harness_s_and_the_words_beside_it_are_the_user_s() -> None:
    reminder = "<system-reminder>The harbour lights stay green</system-reminder>"
    session = read_session([{"role": "user", "content": f"Please paint the pier.\n{reminder}"}])
    assert session.find_facts("green harbour lights")[0].by == "harness"
    assert session.find_facts("paint pier")[0].by == "user"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("invoice_total.py", "src/billing/invoice_total.py"),
        ("never deploy on friday to lisbon", "Lisbon"),
        ("deploying to the Lisbon cluster", "Lisbon"),
        ("retry limit of 7", "7 attempts"),
        ("RETRY LIMIT IS 7 ATTEMPTS", "7 attempts"),
    ],
)
def test_a_question_finds_what_is_meant(question: str, words: str) -> None:
    found = talk().find_facts(question)
    assert found.said
    assert words in found[0].text
    assert words in repr(found)


def test_a_match_says_where_and_by_whom_it_was_said() -> None:
    session = talk()
    match = session.find_facts("retry limit of 7")[0]
    assert (match.turn, match.by) == (2, "user")
    assert "7 attempts" in session.block(match.ref).text
    assert session.find_facts("invoice_total.py")[0].by == "model"


def test_what_nobody_said_is_an_answer_with_the_nearest_lines() -> None:
    found = talk().find_facts("paint the Lisbon bridge purple at dawn")
    assert not found.said
    assert 1 <= len(found) <= 3
    assert "not said in this session" in repr(found)
    assert not talk().find_facts("quokka xylophone").said


def test_words_nobody_said_have_an_outcome_and_no_place() -> None:
    trace = trace_after("The billing service was worked on.")
    traced = trace["quokka xylophone"]
    assert traced.said == ()
    assert traced.outcome == "absent"
    assert "quokka xylophone" not in trace


@pytest.mark.parametrize(
    ("summary", "outcome"),
    [
        (f"The user said: {RULE}", "quoted"),
        ("Deploys to the Lisbon cluster are never done on a Friday.", "quoted"),
        ("Never deploy to the Porto cluster on a Friday.", "changed"),
        ("Deploying to the Lisbon cluster on a Friday is fine.", "contradicted"),
        ("Tests were written.", "absent"),
    ],
)
def test_a_rule_asked_for_in_its_own_words(summary: str, outcome: str) -> None:
    traced = trace_after(summary)[RULE]
    assert traced.outcome in (outcome, "paraphrased" if outcome == "quoted" else outcome)


@given(st.text(max_size=200))
def test_any_question_has_an_answer(question: str) -> None:
    found = talk().find_facts(question)
    assert all(0 <= match.share <= 1 for match in found)
    assert len(found) <= 5
    repr(found)


@pytest.mark.parametrize(
    "question", ["<b>x</b> retry limit", "a(b[c{*+?", "retry " * 5000, "🚀" * 50, "\n\t "]
)
def test_odd_questions_have_answers_too(question: str) -> None:
    session = talk()
    assert isinstance(session.why(question), str)
    assert session.find_facts(question).question == question


TESTS = """Write the report for module 4 again and tell me.
Write the report for module 9 again and tell me.
def test_invoice_rounding_up(): ...
func TestSend_RetryBudget(t *testing.T) {}
"""


def ask_after(question: str, summary: str) -> str:
    return trace_turns(summary, TESTS, "Done.")[question].outcome


def test_a_request_about_another_thing_is_not_the_one_that_is_asked_for() -> None:
    other = "The user asked: write the report for module 9 again and tell me."
    assert ask_after("Step 4: write the report for module 4 again and tell me", other) == "absent"
    assert ask_after("Step 9: write the report for module 9 again and tell me", other) != "absent"


@pytest.mark.parametrize(
    ("test", "summary"),
    [
        ("TestSend_RetryBudget", "Added a test for `RetryBudget`."),
        ("test_invoice_rounding_up", "Wrote tests of invoice_rounding."),
    ],
)
def test_a_test_that_a_summary_describes_is_not_absent(test: str, summary: str) -> None:
    assert ask_after(test, summary) == "unclear"
    assert ask_after(test, summary.replace("test", "page")) == "absent"
