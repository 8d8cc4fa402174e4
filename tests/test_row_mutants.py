"""The changes kept for the rows fit today's sources; trying one tells whether the row's tests notice."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.checklist import ROWS, Carriers, find_carriers, list_files, read_rows
from tests.row_mutants import BROKEN, KILLED, SURVIVED, Mutant, fits, read_mutants, try_mutant
from tests.shared import SHARED, needs_shared

ROW_LIST = read_rows(ROWS.read_text("utf-8"))
MUTANTS = read_mutants(ROW_LIST)
TRIGGER = "return tokens > threshold if self.above else tokens >= threshold"


@cache
def read_tests() -> tuple[list[Path], Carriers]:
    """Every file of tests, and which tests carry which row."""
    files = list_files()
    return files, find_carriers(files)


def test_every_change_can_be_made_in_the_sources_of_today() -> None:
    assert {str(mutant): reason for mutant in MUTANTS if (reason := fits(mutant))} == {}
    assert [str(mutant) for mutant in MUTANTS if not mutant.why or mutant.old == mutant.new] == []


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        (TRIGGER, "return tokens > threshold", KILLED),
        (TRIGGER, f"{TRIGGER}  # the same", SURVIVED),
        (TRIGGER, "return (", BROKEN),
        ("what stands nowhere", "", BROKEN),
    ],
)
def test_a_change_is_noticed_or_not(old: str, new: str, outcome: str) -> None:
    mutant = Mutant("S0-12", "inspector/policies/trigger.py", old, new, "for this test")
    files, carriers = read_tests()
    assert try_mutant(mutant, ROW_LIST["S0-12"], carriers, files).outcome == outcome


@needs_shared
def test_every_row_that_was_not_proved_has_a_change_of_its_own() -> None:
    text = (SHARED / "specs" / "PROOFS.md").read_text("utf-8")
    rows = {
        name
        for cell in re.findall(r"^\| (S\d-[^|]*)\|", text, re.MULTILINE)
        for name in re.findall(r"S\d-\d+", cell)
    }
    # A row that is the same as others is proved by their tests, and broken by their changes.
    changed = {mutant.row for mutant in MUTANTS}
    code = [row for name in sorted(rows) if (row := ROW_LIST[name]).status == "code"]
    assert [row.id for row in code if not changed.intersection((row.id, *row.same))] == []
