"""The sessions of the machine in JupyterLab's side bar: seen, found by a word, opened by a click."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.lab import Lab, open_lab, settle
from tests.browser.product import read_demo
from tests.browser.screen import screenshot

HOSTILE = "<img src=x onerror=alert(1)> & more"


@pytest.fixture
def page(lab_page: Page) -> Page:
    return lab_page


@pytest.fixture
def places(lab: Lab) -> Iterator[Path]:
    """Two sessions where Claude Code keeps its own, outside the server's root."""
    folder = lab.notebooks.parent / "claude" / "projects" / "-tide-pool"
    folder.mkdir(parents=True)
    row = {"type": "user", "uuid": "a", "parentUuid": None, "sessionId": "s", "cwd": "/home/ada/harbour"}
    small = json.dumps({**row, "message": {"role": "user", "content": HOSTILE}}) + "\n"
    (folder / "demo.jsonl").write_bytes(read_demo())
    (folder / "small.jsonl").write_text(small)
    yield folder
    for path in folder.iterdir():
        path.unlink()


def test_a_session_of_the_machine_opens_by_one_click_in_the_side_bar(
    page: Page, lab: Lab, places: Path
) -> None:
    open_lab(page, lab)
    page.locator('.jp-SideBar [data-id="compaction-inspector-sessions"]').click()
    panel = page.locator("#compaction-inspector-sessions")
    rows = panel.get_by_role("listitem")
    expect(rows).to_have_count(2)
    expect(panel.get_by_role("status")).to_have_text("2 sessions.")
    expect(panel).to_contain_text(HOSTILE)
    expect(panel.locator("img")).to_have_count(0)
    demo = rows.filter(has_text="Every high water")
    expect(demo).to_contain_text("Claude Code")
    expect(demo).to_contain_text("21 turns · ◆ 1")

    panel.get_by_role("searchbox").fill("harbour")
    expect(rows).to_have_count(1)
    panel.get_by_role("searchbox").fill("high water")
    expect(rows).to_have_count(1)
    screenshot(page, "sessions-panel")
    rows.get_by_role("button").click()
    document = settle(page)
    expect(document).to_contain_text("Every high water an hour early")
    # The row has the figures of the session's own screen.
    expect(document.locator(".ci-about-size")).to_contain_text("21 turns")
    expect(document.locator(".ci-about-compactions")).to_contain_text("1 compaction")
    assert lab.api("kernels") == []
    # A second click shows the one that is open.
    rows.get_by_role("button").click()
    expect(page.locator(".ci-document")).to_have_count(1)
