"""`make bench` writes its table into the guide's page on speed, and nothing else of the page changes."""

from __future__ import annotations

from pathlib import Path

from tests.bench.speed_table import BEGIN, END, put_between, write_table

PAGE = Path(__file__).parents[1] / "notebooks" / "guide" / "speed.md"


def test_the_page_has_one_place_for_the_table() -> None:
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    assert put_between(page, "| a table |") == f"{before}{BEGIN}\n| a table |\n{END}{after}"
    assert before.startswith("# Speed")
    assert not after.strip()


def test_the_table_says_when_of_what_and_where() -> None:
    rows = [("open", "a | b", "1.0 ms"), ("open", "105 MB,\n cold", "2.00 s"), ("plan", "first", "3.0 ms")]
    assert write_table(rows, "2026-01-02", "abc123", "a machine") == (
        "Measured by `make bench` on 2026-01-02 at `abc123`: a machine.\n\n"
        "| bench | what | measured |\n|---|---|---|\n"
        "| open | a \\| b | 1.0 ms |\n"
        "|  | 105 MB, cold | 2.00 s |\n"
        "| plan | first | 3.0 ms |"
    )
