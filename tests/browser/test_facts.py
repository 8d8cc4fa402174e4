"""The Facts panel: a lost path is found, told, and kept, by one click or by keys alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.bare import WidgetServer
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import focus_workbench
from tests.browser.product import LOST_PATH, Workbench, open_demo
from tests.browser.screen import Watch, wait_until_still


@pytest.fixture
def workbench(open_workbench: OpenWorkbench, page: Page) -> Workbench:
    """The whole context goes into a summary that a model writes: nothing in it names a file."""
    page.set_viewport_size({"width": 1840, "height": 1600})
    workbench = open_workbench(open_demo(), "claude-code-analysis", cut="end", tab="facts")
    page.get_by_test_id("facts-list").wait_for()
    return workbench


def type_query(page: Page, words: str) -> None:
    focus_workbench(page)
    page.keyboard.press("f")
    expect(page.get_by_test_id("facts-search")).to_be_focused()
    page.keyboard.type(words)
    # What is typed is asked for after a pause; what was found for its beginning goes then.
    wait_until_still(page, 400)


def find_lost(page: Page) -> Locator:
    type_query(page, LOST_PATH)
    expect(page.get_by_test_id("facts-count")).to_have_text("2 facts")
    # The path itself; a command names it too.
    return page.locator(f"[data-testid=fact][title='{LOST_PATH}']")


def row_of(page: Page) -> Locator:
    return page.get_by_role("row").filter(has=page.locator(f"[data-testid=fact][title='{LOST_PATH}']"))


def open_lost(page: Page) -> None:
    find_lost(page).click()
    expect(page.get_by_test_id("story-title")).to_have_text(LOST_PATH)


def test_a_lost_path_is_found_told_and_kept_by_one_click_and_undo_takes_it_back(
    page: Page, workbench: Workbench, watch: Watch, widgets: WidgetServer
) -> None:
    open_lost(page)
    expect(row_of(page)).to_contain_text("■ absent")
    expect(row_of(page)).to_contain_text("■ absent")
    became = page.get_by_test_id("became")
    expect(became.nth(0)).to_contain_text("absent in ◆1")
    expect(became.nth(0)).to_contain_text("by the file")
    became.filter(has_text="by this plan").click()
    expect(page.get_by_role("region", name="Keeps it")).to_contain_text("Keeps it")
    expect(page.get_by_test_id("cause")).to_contain_text("Absent.")

    fix = page.get_by_test_id("story-fix").first
    price = int(fix.locator(".ci-st-number").first.inner_text().replace(",", ""))
    before = workbench.plan.after
    fix.get_by_role("button").click()
    expect(fix.get_by_role("button")).to_have_text("Undo")
    assert workbench.pins
    assert price == workbench.plan.after - before, "the price is what it then costs"
    expect(page.get_by_test_id("cause")).to_contain_text("It stays as it is")
    expect(row_of(page)).to_contain_text("● kept")

    focus_workbench(page)
    page.keyboard.press("z")
    expect(row_of(page)).to_contain_text("■ absent")
    assert workbench.pins == []
    expect(page.get_by_test_id("cause")).to_contain_text("Absent.")
    assert watch.errors == []
    assert watch.strangers(widgets) == []


def test_facts_are_found_read_and_kept_by_keys_alone(page: Page, workbench: Workbench) -> None:
    type_query(page, LOST_PATH)
    expect(page.get_by_test_id("facts-count")).to_have_text("2 facts")
    titles = [row.get_attribute("title") or "" for row in page.get_by_test_id("fact").all()]
    for _ in range(1 + titles.index(LOST_PATH)):
        page.keyboard.press("ArrowDown")
    expect(page.locator(f"[data-testid=fact][title='{LOST_PATH}']")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("story-title")).to_have_text(LOST_PATH)
    assert workbench.pins == []
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.closest('[data-testid=story-fix]') !== null"):
            break
    page.keyboard.press("Enter")
    fix = page.get_by_test_id("story-fix").first.get_by_role("button")
    expect(fix).to_have_text("Undo")
    expect(fix).to_be_focused()
    assert workbench.pins
    page.keyboard.press("z")
    expect(fix).to_have_text("Pin")
    assert workbench.pins == []
