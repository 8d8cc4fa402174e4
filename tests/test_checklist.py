"""The list of statements is whole, and reading it tells what is proved, open and put off."""

from __future__ import annotations

import re

from tests import checklist
from tests.checklist import ROWS, find_carriers, judge, read_rows
from tests.shared import SHARED, needs_shared


@needs_shared
def test_the_rows_are_those_of_the_acceptance_list_with_their_kinds() -> None:
    text = (SHARED / "specs" / "CHECKLIST.md").read_text("utf-8")
    published = re.findall(r"^\| (S\d-\d+) \|.*\| (rule|threshold|event|failure|UI) \|", text, re.MULTILINE)
    rows = read_rows(ROWS.read_text("utf-8"))
    assert [(row.id, row.kind) for row in rows.values()] == published
    assert len(rows) == 353


def test_no_test_carries_an_id_that_is_no_row() -> None:
    carriers = find_carriers(checklist.list_files())
    assert judge(read_rows(ROWS.read_text("utf-8")), carriers).strangers == []
    assert "S0-12" in carriers
