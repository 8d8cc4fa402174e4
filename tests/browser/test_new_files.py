"""Writing a new session from the screen: what is shown first, and what then stands on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from inspector import open_session
from inspector.demo import read_demo
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page
from tests.browser.screen import find_violations, screenshot


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a session.jsonl"
    path.write_bytes(read_demo())
    return path


def test_the_compacted_session_is_saved_by_three_clicks(
    page: Page, open_workbench: OpenWorkbench, file: Path
) -> None:
    original = file.read_bytes()
    fill_page(page, 1400, 900)
    workbench = open_workbench(file)
    page.get_by_test_id("plans").click()
    page.get_by_test_id("save-compacted").click()
    lines = page.get_by_test_id("new-file-lines")
    expect(lines).to_contain_text(f"{workbench.plan.before:,} tokens before, {workbench.plan.after:,} after")
    expect(lines).to_contain_text("a placeholder that no model wrote")
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    screenshot(page, "save-compacted")
    assert find_violations(page, "[data-testid=new-file]") == []
    page.get_by_test_id("write-file").click()
    expect(page.get_by_test_id("file-written")).to_contain_text("claude --resume")
    (new,) = [path for path in file.parent.iterdir() if path != file]
    expect(page.get_by_test_id("file-written").locator("code")).to_have_text(str(new))
    expect(page.get_by_test_id("write-file")).to_be_hidden()
    written = open_session(new)
    assert written.boundaries[-1][1].kind == "compact"
    assert len(written.live.entries) < len(workbench.plan.session.live.entries)
    assert file.read_bytes() == original
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("new-file")).to_be_hidden()
    expect(page.get_by_test_id("plans")).to_be_focused()
