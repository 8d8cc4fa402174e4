"""The guide's table of speeds: what a run of all benches measured, between two comments of the page."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
BUSY = 0.5
"""More waiting processes than this for each core, and the figures would be those of a busy machine."""

Row = tuple[str, str, str]
"""A bench, what it measured, and how much that is."""


def find_commit(root: Path) -> str:
    """The commit that is measured, and whether its files were changed since; "no commit" outside of git."""
    ask = ("git", "describe", "--always", "--dirty=, with changes", "--abbrev=10", "--exclude=*")
    done = subprocess.run(ask, cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "no commit"


def write_table(rows: Iterable[Row], date: str, commit: str, machine: str) -> str:
    """The table as Markdown, under a line that says when, of what and where it was measured."""
    lines = [f"Measured by `make bench` on {date} at `{commit}`: {machine}.", ""]
    lines += ["| bench | what | measured |", "|---|---|---|"]
    before = ""
    for bench, what, measured in rows:
        lines.append(f"| {'' if bench == before else bench} | {_cell(what)} | {_cell(measured)} |")
        before = bench
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def put_between(page: str, table: str) -> str:
    """The page with the table between its two comments. Raises `ValueError` where it has not one of each."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise ValueError(f"the page has no place for the table: one {BEGIN} and, after it, one {END}")
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}"
