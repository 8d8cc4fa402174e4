"""The other handle of the timeline: what is compacted begins there, by mouse, by key and from a selection."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from inspector import check_context
from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import drag_handle, fill_page, focus_workbench, shown_place
from tests.browser.product import Workbench
from tests.browser.screen import find_violations, screenshot
from tests.browser.test_selection import drag_lanes


@pytest.fixture
def workbench(open_workbench: OpenWorkbench, page: Page) -> Workbench:
    """The bundled session before its recorded compaction, under a policy that summarises."""
    fill_page(page, 1400, 900)
    return open_workbench(policy="flue")


def start(page: Page) -> Locator:
    return page.get_by_test_id("start-handle")


def shown_start(page: Page) -> int:
    return int(start(page).get_attribute("aria-valuenow") or -1)


def agree(page: Page, workbench: Workbench) -> None:
    """Both handles are where the plan has its ends, and the plan is one that a provider takes."""
    wait_for_python(page)
    plan = workbench.plan
    assert (shown_start(page), shown_place(page)) == (plan.table.since, plan.place)
    assert check_context(workbench.context, awaits_user=True) == ()


def test_by_mouse_the_beginning_is_dragged_and_the_cut_stays(page: Page, workbench: Workbench) -> None:
    cut = shown_place(page)
    assert shown_start(page) == 0
    axis, grip = page.locator(".ci-strip").bounding_box(), start(page).bounding_box()
    assert axis is not None
    assert grip is not None
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + axis["width"] * 0.4, y, steps=12)
    page.mouse.up()
    agree(page, workbench)
    assert shown_place(page) == cut
    assert workbench.plan.side == "range"
    turn = int(workbench.plan.table.live.turn[shown_start(page)]) + 1
    expect(start(page)).to_have_text(f"from turn {turn}")
    expect(page.get_by_test_id("sentence")).to_contain_text(f"From turn {turn} to the cut: ")
    expect(page.get_by_test_id("recipe")).to_contain_text("since=")
    # The cut stays behind it, however far it is dragged back.
    drag_handle(page, 0.05)
    agree(page, workbench)
    assert shown_place(page) > shown_start(page)
    screenshot(page, "sides")
    assert find_violations(page) == []
    page.get_by_text("Reset to the policy's cut").click()
    agree(page, workbench)
    assert (shown_start(page), shown_place(page)) == (0, cut)


def test_by_key_the_beginning_is_taken_moved_and_put_back(page: Page, workbench: Workbench) -> None:
    focus_workbench(page)
    page.keyboard.press("C")
    expect(start(page)).to_be_focused()
    page.keyboard.press("PageDown")
    agree(page, workbench)
    first = shown_start(page)
    assert first > 0
    assert workbench.plan.table.live.opens[first]
    page.keyboard.press("ArrowRight")
    agree(page, workbench)
    assert shown_start(page) > first
    page.keyboard.press("ArrowLeft")
    agree(page, workbench)
    assert shown_start(page) == first
    page.keyboard.press("Delete")
    agree(page, workbench)
    assert (shown_start(page), workbench.plan.side) == (0, "prefix")
    page.keyboard.press("z")
    agree(page, workbench)
    assert shown_start(page) > 0


def test_a_selection_is_summarised_from_there_up_to_there_or_alone(page: Page, workbench: Workbench) -> None:
    drag_lanes(page, 0.3, 0.5)
    says = page.locator(".ci-says")
    for words, side in (("this range", "range"), ("Summarise from here", "suffix"), ("up to here", "prefix")):
        says.get_by_role("button", name=words, exact=True).click()
        agree(page, workbench)
        assert workbench.plan.side == side, words
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("sentence")).to_contain_text(re.compile("^Left of the cut"))
