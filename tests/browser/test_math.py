"""JupyterLab typesets no formula of a transcript in a notebook's outputs, so none becomes a link."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.lab import Lab, open_notebook, run_all
from tests.browser.screen import wait_until_still
from tests.claude_rows import Claude, dump

LINK = r"\href{http://127.0.0.1:9/clicked}{\text{open the report}}"
FORMULAS = (
    *(f"${LINK}$", f"$${LINK}$$", rf"\({LINK}\)", rf"\[{LINK}\]"),
    rf"\begin{{equation}}{LINK}\end{{equation}}",
)
SHOW = """import inspector as I
from inspector.jupyter.scan_view import ScanView
from IPython.display import display

session = I.open_session("math/math.jsonl")
ledger = I.count_tokens(session)
plan = I.make_plan(session, ledger, "claude-code-analysis", window=60_000)
display(I.lint(session), I.lint(session, "flue"), ledger, I.compare_policies(session, ["flue"]))
display(plan.stages, I.sessions())
"""
OPEN = 'I.Workbench("math/math.jsonl", "flue", cut="end")'
SCAN = """table = I.scan(["math"], ["flue"], workers=1)
display(table)
view = ScanView(table)
display(view)
view.open_row({**next(iter(table)), "file": r"FORMULA"})"""


def write_transcript(path: Path) -> None:
    """Write a session with formulas in its title, rules, replies and summary; a compaction loses them."""
    rows = Claude()
    for formula in FORMULAS:
        rows.say(f"Never touch {formula} in src/a.py. Always use {formula} here.")
        rows.reply(f"I use {formula}.", 0)
    begun = "This session is being continued from a previous conversation that ran out of context. "
    rows.compact(f"{begun}The conversation is summarized below:\n{FORMULAS[0]}")
    rows.say(f"go on with {FORMULAS[1]}")
    title = {"type": "custom-title", "customTitle": FORMULAS[0], "sessionId": "s"}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dump([title, *rows.rows]))


@pytest.fixture
def listed(lab: Lab) -> Iterator[Path]:
    """Return the path of a file that the list of sessions finds."""
    path = lab.notebooks.parent / "claude" / "projects" / "-w" / "math.jsonl"
    yield path
    path.unlink()


def test_no_output_typesets_what_a_transcript_says(lab_page: Page, lab: Lab, listed: Path) -> None:
    write_transcript(lab.notebooks / "math" / "math.jsonl")
    write_transcript(listed)
    control = "from IPython.display import HTML\nHTML('<p>$x^2$</p>')"
    name = lab.write_notebook(
        "math.ipynb", control, SHOW, OPEN, SCAN.replace("FORMULA", f"{FORMULAS[0]}.jsonl")
    )
    page = lab_page
    open_notebook(page, lab, name)
    run_all(page)
    page.get_by_test_id("cut-handle").first.wait_for()
    # The notebook's own formula is typeset, so JupyterLab would typeset the transcript's formulas too.
    expect(page.locator(".jp-OutputArea mjx-container")).to_have_count(1)
    outputs = page.locator(".jp-OutputArea")
    for formula in FORMULAS:
        expect(outputs.filter(has_text=formula).first).to_be_attached()
    wait_until_still(page, 1000)
    expect(page.locator(".jp-OutputArea mjx-container")).to_have_count(1)
    links = page.locator(".jp-OutputArea a[href*='clicked']")
    expect(links).to_have_count(0)
