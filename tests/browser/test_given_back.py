"""The words that hooks give back after a compaction, in the tab of summaries: read, edited and copied."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.bare import set_theme
from tests.browser.conftest import OpenOffline, OpenWorkbench
from tests.browser.hand import drag_handle, fill_page, focus_workbench, open_tab
from tests.browser.product import make_small_session
from tests.browser.screen import COLOURS, find_violations, screenshot
from tests.hooks.harness import FakeHarness, before_compaction

CLIPBOARD = "navigator.clipboard.readText()"


@pytest.fixture
def words(tmp_path: Path) -> str:
    """What the installed hook prints at the compaction of the bundled session."""
    harness = FakeHarness(tmp_path, before_compaction())
    harness.send("PreCompact", trigger="auto")
    return harness.send("SessionStart", source="compact").context


def given_back(page: Page) -> Locator:
    return page.get_by_test_id("given-back")


def field(page: Page) -> Locator:
    return given_back(page).get_by_role("textbox", name="What the hook would give back")


def test_by_mouse_the_words_of_the_hook_are_edited_and_copied(
    page: Page, open_workbench: OpenWorkbench, words: str
) -> None:
    fill_page(page, 1400, 900)
    workbench = open_workbench(policy="auto")
    open_tab(page, "summary")
    expect(field(page)).to_have_value(words)
    tokens = int(workbench.plan.ledger.count_texts([words])[0])
    expect(given_back(page)).to_contain_text(f"{tokens} tokens")
    copy = given_back(page).get_by_role("button")
    copy.click()
    expect(copy).to_have_text("Copied")
    assert page.evaluate(CLIPBOARD) == words

    field(page).click(click_count=3)
    page.keyboard.type("<b>Mine</b> ")
    edited = field(page).input_value()
    assert edited != words
    assert "<b>Mine</b>" in edited
    expect(given_back(page)).to_contain_text("edited")
    copy.click()
    expect(copy).to_have_text("Copied")
    assert page.evaluate(CLIPBOARD) == edited
    # Another cut of the same context has the same words: the edit stays.
    drag_handle(page, 0.3)
    expect(page.locator(".ci[aria-busy]")).to_have_count(0)
    expect(field(page)).to_have_value(edited)


def test_by_keys_alone(page: Page, workbench: object, words: str) -> None:
    open_tab(page, "summary")
    expect(field(page)).to_have_value(words)
    focus_workbench(page)
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('[data-testid=given-back] textarea')"):
            break
    expect(field(page)).to_be_focused()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type("\n- pinned: q u ? 1")
    expect(field(page)).to_have_value(f"{words}\n- pinned: q u ? 1")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(given_back(page).get_by_role("button")).to_have_text("Copied")
    assert page.evaluate(CLIPBOARD) == f"{words}\n- pinned: q u ? 1"


def test_nothing_to_give_back_is_a_sentence(page: Page, open_workbench: OpenWorkbench) -> None:
    open_workbench(make_small_session())
    open_tab(page, "summary")
    expect(given_back(page)).to_contain_text("Nothing: no clear rule was typed before this point")
    expect(field(page)).to_have_count(0)
    expect(given_back(page).get_by_role("button")).to_have_count(0)


def test_it_is_readable(page: Page, open_workbench: OpenWorkbench) -> None:
    open_workbench(policy="auto")
    open_tab(page, "summary")
    for width in (1400, 560):
        fill_page(page, width, 900)
        expect(field(page)).to_be_visible()
        for dark in (False, True):
            set_theme(page, dark)
            assert find_violations(page, rules=COLOURS if dark else ()) == []
            field(page).scroll_into_view_if_needed()
            screenshot(page, f"given-back-{width}-{'dark' if dark else 'light'}")
        box, pane = field(page).bounding_box(), page.locator(".ci").bounding_box()
        assert box is not None
        assert pane is not None
        assert box["width"] > 0.8 * pane["width"]


def test_an_exported_page_has_them_too(exported_page: Path, show: OpenOffline, words: str) -> None:
    page, told = show(exported_page)
    page.get_by_test_id("tab-summary").click()
    expect(field(page)).to_have_value(words)
    assert told == []
