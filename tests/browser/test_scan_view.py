"""The figure of a scan in a real JupyterLab: a click on a policy, then on one of its moments, opens it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import SIZE
from tests.browser.lab import Lab, ask, open_notebook, run_all, wait_for_kernel
from tests.browser.screen import Watch, wait_until_still

SCAN = """from pathlib import Path
from tempfile import mkdtemp
from inspector import scan
from inspector.demo import read_demo
from inspector.jupyter import ScanView
folder = Path(mkdtemp())
(folder / "a session.jsonl").write_bytes(read_demo())
table = scan(folder, ["flue", "langchain-clear"], workers=0)"""


def click_mark(page: Page, trace: int, mark: int = 0) -> None:
    """By the mouse, on the middle of a mark; plotly answers a click where the mouse has been first."""
    found = page.locator(".js-plotly-plot .scatterlayer .trace").nth(trace).locator(".points path").nth(mark)
    box = found.bounding_box()
    assert box is not None
    at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(at[0] - 3, at[1])
    page.mouse.move(*at, steps=3)
    wait_until_still(page)
    page.mouse.down()
    page.mouse.up()


PLANNED = "[row for row in table.by_policy() if row.evidence == 'planned']"


def test_a_click_on_a_mark_opens_that_session_under_that_policy(
    lab_page: Page, lab: Lab, watch: Watch
) -> None:
    page = lab_page
    page.set_viewport_size(SIZE)
    name = lab.write_notebook("scan view.ipynb", SCAN, "view = ScanView(table)\nview")
    open_notebook(page, lab, name)
    run_all(page)
    page.locator(".js-plotly-plot .scatterlayer .trace").first.wait_for()
    assert "'planned', 'recorded', 'sessions'" in ask(page, "print([one.name for one in view.figure.data])")
    planned = ask(page, f"print(*(row.policy for row in {PLANNED}))").split()
    chosen = page.locator(".jp-OutputArea select").first
    # What a policy's one moment is drawn on is the policy's own mark: it is above it, and the next click's.
    for mark, policy in enumerate(planned):
        if chosen.input_value() != policy:
            click_mark(page, 1, mark)
        expect(chosen.locator("option:checked")).to_have_text(policy)
    assert ask(page, "print(view.workbench)").strip() == "None"
    click_mark(page, 3)
    page.get_by_test_id("cut-handle").wait_for()
    wait_for_kernel(page)
    told = ask(page, "print(view.workbench.plan.policy.name, view.workbench.plan.before)").split()
    rows = ask(page, "print(*{(row['policy'], row['before']) for row in table})")
    assert str((told[0], int(told[1]))) in rows
    assert told[0] == planned[-1]
    where = page.locator(".widget-label").get_by_text(re.compile("a session.jsonl, compaction 1: 158,295"))
    expect(where).to_be_visible()
    assert watch.strangers(lab) == []
