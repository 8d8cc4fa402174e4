"""A range of the timeline: selected by mouse and keyboard, shown in every part of the screen, and left."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page, open_tab, shown_place
from tests.browser.product import Workbench
from tests.browser.screen import find_violations, screenshot, wait_until_still

COUNT = re.compile(r"selected: ([\d,]+) blocks?, (\d+) steps?")


@pytest.fixture
def workbench(open_workbench: OpenWorkbench, page: Page) -> Workbench:
    """The bundled session at its recorded compaction."""
    fill_page(page, 1400, 900)
    return open_workbench(policy="auto")


def drag_lanes(page: Page, first: float, end: float) -> None:
    """Drag over the lanes between two shares of their width."""
    box = page.get_by_test_id("bars").bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + first * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], y, steps=8)
    page.mouse.up()


def selected_blocks(page: Page) -> int:
    """Return the number of selected blocks, as the gauge says."""
    words = page.locator("[data-row=selection] .ci-bar-words")
    expect(words).to_have_text(COUNT)
    match = COUNT.match(words.inner_text())
    assert match is not None
    return int(match.group(1).replace(",", ""))


def frame(page: Page) -> Locator:
    return page.get_by_test_id("selection")


def test_a_drag_over_the_lanes_shows_that_range_everywhere(page: Page, workbench: Workbench) -> None:
    cut, tokens = shown_place(page), workbench.plan.table.tokens
    drag_lanes(page, 0.3, 0.5)
    expect(frame(page)).to_be_visible()
    blocks = selected_blocks(page)
    assert 0 < blocks < len(tokens)
    wait_for_python(page)
    # Selecting never moves the cut, and the plan's row gives its place to the range.
    assert shown_place(page) == cut
    expect(page.locator("[data-row=after]")).to_be_hidden()
    sentence = page.get_by_test_id("sentence")
    expect(sentence).to_contain_text(re.compile(r"^Selected turns \d+–\d+: [\d.]+k tokens, \$"))
    expect(page.get_by_test_id("tab-blocks")).to_have_text(f"Blocks{blocks}")
    # Head line, tab and list agree about what is missing.
    said = re.search(r"(\d+) facts? of this range", sentence.inner_text())
    missing = int(said.group(1)) if said else 0
    expect(page.get_by_test_id("tab-findings")).to_have_text(f"Findings{missing}")
    open_tab(page, "findings")
    expect(page.locator("[data-panel=findings]").get_by_test_id("finding")).to_have_count(missing)
    open_tab(page, "facts")
    counted = page.get_by_test_id("tab-facts").locator(".ci-count").inner_text()
    expect(page.get_by_test_id("facts-count")).to_have_text(re.compile(rf"^{counted} facts"))
    open_tab(page, "blocks")
    details = page.get_by_test_id("selection-details")
    expect(details).to_contain_text("as reported")
    expect(details.get_by_text(re.compile(r"^\d+ requests?$"))).to_be_visible()
    assert find_violations(page) == []
    screenshot(page, "selection")
    page.keyboard.press("Escape")
    expect(frame(page)).to_be_hidden()
    expect(page.locator("[data-row=after]")).to_be_visible()
    expect(page.get_by_test_id("tab-blocks")).to_have_text(f"Blocks{len(tokens)}")


def test_the_edges_and_the_keys_move_the_range(page: Page, workbench: Workbench) -> None:
    drag_lanes(page, 0.3, 0.5)
    before = selected_blocks(page)
    edge = page.get_by_test_id("selection-end").bounding_box()
    assert edge is not None
    page.mouse.move(edge["x"] + edge["width"] / 2, edge["y"] + 40)
    page.mouse.down()
    page.mouse.move(edge["x"] + 200, edge["y"] + 40, steps=6)
    page.mouse.up()
    wait_until_still(page)
    wider = selected_blocks(page)
    assert wider > before
    frame(page).focus()
    text = frame(page).get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    expect(frame(page)).not_to_have_attribute("aria-valuetext", text or "")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    wait_until_still(page)
    assert selected_blocks(page) != wider
    page.keyboard.press("Escape")
    expect(frame(page)).to_be_hidden()
    expect(page.locator(".ci-grid")).to_be_focused()


def test_the_keyboard_alone_selects_zooms_and_goes_back(page: Page, workbench: Workbench) -> None:
    grid, brush = page.locator(".ci-grid"), page.get_by_test_id("brush")
    grid.focus()
    page.keyboard.press("ArrowRight")
    for _ in range(6):
        page.keyboard.press("Shift+ArrowRight")
    expect(frame(page)).to_have_attribute("aria-valuetext", re.compile("steps 1 to 7$"))
    page.keyboard.press("Shift+ArrowLeft")
    expect(frame(page)).to_have_attribute("aria-valuetext", re.compile("steps 1 to 6$"))
    whole = brush.get_attribute("aria-valuetext") or ""
    page.keyboard.press("e")
    expect(brush).to_have_attribute("aria-valuetext", re.compile(r"^steps 1–6 of "))
    expect(page.get_by_role("button", name="Zoom back")).to_be_visible()
    page.keyboard.press("e")
    expect(brush).to_have_attribute("aria-valuetext", whole)
    # Nearer at the pointer, along, and everything again.
    page.keyboard.press("w")
    wait_until_still(page)
    nearer = brush.get_attribute("aria-valuetext") or ""
    assert nearer.startswith("steps ")
    page.keyboard.press("a")
    page.keyboard.press("a")
    wait_until_still(page)
    assert brush.get_attribute("aria-valuetext") != nearer
    page.keyboard.press("d")
    page.keyboard.press("s")
    page.keyboard.press("0")
    expect(brush).to_have_attribute("aria-valuetext", whole)


def test_a_range_is_pinned_as_one_step_and_cut_off(page: Page, workbench: Workbench) -> None:
    drag_lanes(page, 0.2, 0.3)
    blocks = selected_blocks(page)
    page.get_by_role("button", name="Pin it").click()
    wait_for_python(page)
    assert len(workbench.pins) == blocks
    page.get_by_role("button", name="Plan", exact=True).click()
    wait_for_python(page)
    expect(page.get_by_test_id("sentence")).to_contain_text("Under this plan all of it is kept.")
    page.get_by_role("button", name="Undo", exact=False).first.click()
    wait_for_python(page)
    assert workbench.pins == []
    page.get_by_role("button", name="Cut after it").click()
    wait_for_python(page)
    assert workbench.look == "plan"
    expect(page.get_by_test_id("sentence")).not_to_contain_text("is kept")


def test_the_wheel_zooms_where_nothing_scrolls(page: Page, workbench: Workbench) -> None:
    brush = page.get_by_test_id("brush")
    box = page.get_by_test_id("bars").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 20)
    page.mouse.wheel(0, -400)
    expect(brush).to_have_attribute("aria-valuetext", re.compile("^steps "))
    first = int(brush.get_attribute("aria-valuenow") or 0)
    assert first > 10  # The point under the pointer stays.


def test_a_range_is_shown_in_a_narrow_frame(page: Page, open_workbench: OpenWorkbench) -> None:
    open_workbench(policy="auto")
    for width in (900, 560, 390):
        fill_page(page, width, 900)
        wait_until_still(page)
        drag_lanes(page, 0.3, 0.6)
        expect(frame(page)).to_be_visible()
        wait_for_python(page)
        open_tab(page, "blocks")
        screenshot(page, f"selection-{width}")
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        if width == 390:
            assert find_violations(page) == []
        page.get_by_test_id("clear-selection").click()
        expect(frame(page)).to_be_hidden()
