"""The bill on the screen: the lines of `price_session`, and nothing where nothing is reported."""

from __future__ import annotations

from pathlib import Path

from inspector import count_tokens, open_session, price_session
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.payloads.base_payload import to_json
from inspector.workbench.payloads.bill import describe_bill

CASES = Path(__file__).parents[1] / "cases" / "money"


def test_every_line_of_the_bill_is_a_row_and_unknown_ones_have_no_figure() -> None:
    session = open_session(CASES / "sub-agents.jsonl")
    bill, ledger = price_session(session), count_tokens(session)
    shown = to_json(describe_bill(ledger))
    assert [tuple(row.values()) for row in shown["rows"]] == [tuple(line) for line in bill.lines]
    assert shown["rows"][-1] == {"name": "unknown: sub-agents", "calls": 2, "tokens": None, "money": None}
    assert bill.cost is not None
    assert (shown["currency"], shown["total"], shown["whole"]) == ("USD", bill.cost.total, False)
    assert shown["notes"] == list(bill.notes)
    assert describe_bill(ledger).whole is False


def test_what_is_known_of_all_is_told_as_whole() -> None:
    shown = describe_bill(count_tokens(open_session(CASES / "iterations.jsonl")))
    assert (shown.whole, [row.name for row in shown.rows][-1]) == (True, "compaction")


def test_a_session_that_reports_no_usage_has_no_bill() -> None:
    session = Session(format="demo", entries=(Entry(id="u"),), leaf="u")
    shown = describe_bill(count_tokens(session))
    assert (shown.rows, shown.notes, shown.total) == ([], [], 0)


def test_the_screen_is_sent_the_bill_of_the_whole_file_at_every_moment() -> None:
    session = open_session(CASES / "unknown.jsonl")
    model = WorkbenchModel(session, "flue", counter="o200k_base")
    whole = model.answer({})["_scene"]["bill"]
    earlier = model.answer({"at": session.entries[1].id})["_scene"]
    assert earlier["bill"] == whole
    assert [row["name"] for row in whole["rows"]][-2:] == ["unknown: no price", "unknown: compactions"]
