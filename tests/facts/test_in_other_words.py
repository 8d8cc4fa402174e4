"""Statements of several kinds and domains in other words, and with another value, order or condition."""

from __future__ import annotations

import pytest

from tests.facts.test_outcomes_read import KEPT, called, outcome, trace_turns

REWORDED = [
    ("Only the night shift may open the valve.", "Nobody but the night shift is allowed to open the valve."),
    ("Passwords need at least twelve characters.", "Minimum password length: 12 characters."),
    ("Round prices to two decimals.", "Prices are rounded to 2 decimals."),
    ("The board meets on 3 March 2026.", "Board meeting: 2026-03-03"),
    ("Retry twice, then stop.", "Stop after two retries."),
    ("No, the ledger must stay in the plot.", "The ledger must stay in the plot."),
    ("Set `TIMEOUT = 30.0` in config.py", "`TIMEOUT` is set to 30 in config.py"),
]
ALTERED = [
    ("Fifteen minutes is the longest a job may run.", "Jobs may run for at most 50 minutes."),
    ("TIMEOUT = 30.0", "`TIMEOUT` is set to 3.0 in config.py"),
    ("Go back to release 3.0.", "Go back to release 3."),
    ("Retry twice, then stop.", "Stop after three retries."),
    ("Retry twice, then stop.", "Stop, then retry twice."),
    ("Start the pump before opening the valve.", "Open the valve before starting the pump."),
    ("Don't deploy on Fridays.", "Don't deploy on Fridays unless the tests pass."),
    ("Don't deploy on Fridays unless I approve.", "Don't deploy on Fridays."),
    ("Do not restart it unless the queue is empty.", "Do not restart it if the queue is empty."),
    ("Only the night shift may open the valve.", "Everyone but the night shift may open the valve."),
    ("Passwords need at least twelve characters.", "Passwords have at most 12 characters."),
    ("No new dependencies without asking me.", "New dependencies may be added freely."),
    ("The invoices go to accounting, not to sales.", "Send invoices to sales rather than accounting."),
    ("Leave the vendored code alone.", "Reformatted the vendored code as asked."),
    ("The board meets on 3 March 2026.", "The board meets on 13 March 2026."),
    ("Translate annex B before annex A.", "Translate annex A before annex B."),
    ("Test with key A and sign with key B.", "Test with key B and sign with key A."),
    ("Raise the price by 5 percent.", "Raise the price to 5 percent."),
    ("Finish it by Friday.", "Finish it on Friday."),
    ("Write the minutes in English, not in French.", "Write the minutes in French, not in English."),
    ("Every chapter must have a summary.", "Most chapters must have a summary."),
    ("Every admin has to use a key.", "Almost every admin has to use a key."),
    ("No more than three people may enter.", "No fewer than three people may enter."),
]
REPLACED = [
    ("Deadline 12 June.", "The deadline is 14 June."),
    ("Use release 3.10 only.", "Use release 3.1 only."),
]
FOUND = [
    ("Leave the vendored code alone.", "Vendored files must not be edited."),
    ("Keep the legacy parser as it is.", "The legacy parser must not be changed."),
    ("No new dependencies without asking me.", "Ask the user before adding a dependency."),
    ("Answer in French.", "Replies are in German."),
]
NOT_SAID = [
    ("Do not feed the fish on Sundays.", "The fish tank was cleaned; the filter is new."),
    ("Give patients their results within 2 days.", "Patients get discharge papers after surgery."),
    ("can we add test coverage for the importer?", "Fixed bugs. All 12 tests pass."),
]


@pytest.mark.parametrize(("said", "summary"), REWORDED)
def test_the_same_in_other_words_is_kept(said: str, summary: str) -> None:
    assert outcome(said, summary) in KEPT


@pytest.mark.parametrize(("said", "summary"), ALTERED)
def test_another_value_order_or_condition_is_never_kept(said: str, summary: str) -> None:
    assert outcome(said, summary) not in KEPT


@pytest.mark.parametrize(("said", "summary"), REPLACED)
def test_a_value_in_the_place_of_another_is_changed(said: str, summary: str) -> None:
    assert outcome(said, summary) == "changed"


@pytest.mark.parametrize(("said", "summary"), FOUND)
def test_what_a_reader_would_find_is_not_absent(said: str, summary: str) -> None:
    assert outcome(said, summary) != "absent"


@pytest.mark.parametrize(("said", "summary"), NOT_SAID)
def test_what_shares_only_general_words_is_absent(said: str, summary: str) -> None:
    assert outcome(said, summary) == "absent"


@pytest.mark.parametrize(
    ("question", "summary"),
    [
        ("dropped table_a and index_c from db_b", "Created table_a and index_c in db_b."),
        (
            "revert the tariff change in billing for France",
            "Announced the tariff change in billing for France.",
        ),
    ],
)
def test_a_question_with_another_verb_is_not_kept(question: str, summary: str) -> None:
    assert trace_turns(summary, "Go on.", question)[question].outcome not in KEPT


ERROR = "ValueError: could not convert string to float: 'n/a'"


@pytest.mark.parametrize(
    "summary",
    [
        "Added the test `test_convert_string_to_float`.",
        "Parsing failed: the string 'n/a' could not be converted to a float (ValueError).",
    ],
)
def test_an_error_in_another_order_or_in_a_name_is_not_changed(summary: str) -> None:
    ran = called("Bash", ERROR, True, command="make check")
    assert trace_turns(summary, "Run the checks.", *ran, "It failed.")[ERROR].outcome != "changed"


@pytest.mark.parametrize(
    ("summary", "kept"),
    [
        ("Next: backoff for the first packet.", True),
        ("The first packet got lost; a random backoff was added.", False),
    ],
)
def test_a_report_about_the_words_of_a_todo_is_not_the_todo(summary: str, kept: bool) -> None:
    todos = [{"content": "Backoff for the first packet", "status": "pending", "activeForm": "Adding backoff"}]
    trace = trace_turns(summary, "Plan it.", *called("TodoWrite", "ok", todos=todos), "Planned.")
    (todo,) = [traced for traced in trace if traced.fact.kind == "todo"]
    assert (todo.outcome in KEPT) is kept
