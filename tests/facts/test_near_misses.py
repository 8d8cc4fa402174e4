"""Texts that come close to a fact: another value, a part, the opposite, or only its subject."""

from __future__ import annotations

import pytest

from inspector import checkpoint_from_text, count_tokens, make_plan, read_session
from tests.facts.test_outcomes_read import outcome

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
    call = {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "make check"}}
    output = {"type": "tool_result", "tool_use_id": "1", "content": error, "is_error": True}
    turns = [("user", "Go."), ("assistant", [call]), ("user", [output]), ("assistant", "It failed.")]
    session = read_session([{"role": role, "content": content} for role, content in turns])
    plan = make_plan(session, count_tokens(session), "claude-code", reason="manual")
    assert plan.with_summary(checkpoint_from_text(summary)).trace[error].outcome == expected
