"""The benchmark's page, leaderboard and README tell the same."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tests.bench.benchmark import ACCURACY

ROOT = Path(__file__).parents[2]
BOARD = json.loads((ROOT / "notebooks/leaderboard.json").read_text("utf-8"))


def test_the_page_and_the_readme_tell_what_the_leaderboard_holds() -> None:
    page = (ROOT / "notebooks/benchmark.md").read_text("utf-8")
    for row in BOARD["policies"]:
        kept, left = row["kept"], row["left"]
        told = f"{left[0]:.0%} ({left[1]:.0%}–{left[2]:.0%}) | {kept[0]:.0%} "
        assert f"| {row['policy']} | {row['evidence']} | {told}" in page
    recorded = BOARD["policies"][0]
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    told = (
        f"In real sessions, {BOARD['compactions'] - BOARD['sealed']} recorded compactions with a readable "
        f"summary keep {100 * recorded['kept'][0]:.0f} % of the facts that were in the context before, and "
        f"{100 * recorded['user'][0]:.0f} % of those that the user was the first to state"
    )
    assert told in readme
    assert f"{BOARD['date']}, {BOARD['commit']}" in readme


def test_the_page_tells_accuracy_as_the_table_holds_it() -> None:
    page = (ROOT / "notebooks/benchmark.md").read_text("utf-8")
    rows = csv.DictReader(ACCURACY.read_text("utf-8").splitlines(), delimiter="\t")
    scored = {
        row["kind"]: row for row in rows if row["labels"] in ("held", "clean") and row["kind"] != "rule"
    }
    for kind, row in scored.items():
        matched = int(row["matched"])
        told = (
            f"{matched / int(row['found']):.2f} / {matched / int(row['labelled']):.2f} of {row['labelled']}"
        )
        assert f"| {kind} | {told} |" in page
