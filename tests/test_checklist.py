"""The list of statements is whole, and reading it tells what is proved, open and put off."""

from __future__ import annotations

import re
from pathlib import Path

from tests import checklist
from tests.checklist import ROWS, describe, find_carriers, find_ids, judge, name_tests, read_rows
from tests.shared import SHARED, needs_shared

FEW = read_rows("""
S0-1 = { kind = "rule", gist = "one" }
S0-2 = { kind = "event", gist = "two" }
S0-3 = { kind = "UI", gist = "three", status = "documentary" }
S0-4 = { kind = "rule", gist = "four", status = "later", why = "a model" }
S0-5 = { kind = "rule", gist = "five", same = "S0-1..2" }
S0-6 = { kind = "rule", gist = "six", same = "S0-4" }
S0-7 = { kind = "rule", gist = "seven", same = "S0-5" }
""")


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


def test_ids_are_read_from_names() -> None:
    assert find_ids("test_S0_12_S0_13_the_share") == ["S0-12", "S0-13"]
    assert find_ids("S2-40 has a mark") == ["S2-40"]
    assert find_ids("test_PS0_12_S0_1x_IS0") == []


def test_names_are_read_from_both_languages(tmp_path: Path) -> None:
    python, front = tmp_path / "test_a.py", tmp_path / "a.test.ts"
    idle = "@pytest.mark.skip\ndef test_S0_8(): ...\n"
    python.write_text(f"{idle}def S0_9(): ...\nclass T:\n    async def test_S0_1_x(self): ...\n", "utf-8")
    front.write_text("test(\"S0-2 'x'\", () => {});\nit.each([1])(`S0-3`);\ntest.skip('S0-4', f)\n", "utf-8")
    assert list(name_tests(python)) == ["test_S0_1_x"]
    assert list(name_tests(front)) == ["S0-2 'x'"]


def test_a_row_is_proved_by_its_own_test_or_by_all_those_it_is_the_same_as() -> None:
    report = judge(FEW, {"S0-1": ["a"]})
    assert [row.id for row in report.proved] == ["S0-1"]
    assert [row.id for row in report.open] == ["S0-2", "S0-5", "S0-7"]
    assert [row.id for row in report.later] == ["S0-4", "S0-6"]
    assert [row.id for row in report.documentary] == ["S0-3"]
    assert not report.passes
    both = judge(FEW, {"S0-1": ["a"], "S0-2": ["b"]})
    assert [row.id for row in both.proved] == ["S0-1", "S0-2", "S0-5", "S0-7"]
    assert both.passes


def test_the_report_names_what_is_missing_and_ends_with_the_counts() -> None:
    carriers = {"S0-1": ["a"], "S0-99": ["test_a.py: test_S0_99"]}
    report = judge(FEW, carriers)
    lines = list(describe(report, FEW, carriers))
    assert any("S0-5" in line and line.endswith(": S0-2") for line in lines)
    assert any("S0-4" in line and "a model" in line for line in lines)
    assert lines[-2] == "S0-99 is no row, but a test carries it: test_a.py: test_S0_99"
    assert lines[-1] == "7 rows: 1 proved, 3 without a test, 2 put off, 1 documentary"
    assert not report.passes
