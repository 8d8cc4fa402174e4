"""Colours that the system forces: the cut, its handle and the open tab can still be told from the rest."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page
from tests.browser.screen import screenshot, wait_until_still

STYLE = "(node, name) => getComputedStyle(node)[name]"


def test_the_handle_can_be_read_and_only_the_open_tab_is_underlined(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    fill_page(page, 1400, 900)
    open_workbench(policy="auto")
    page.emulate_media(forced_colors="active")
    wait_until_still(page)
    screenshot(page, "forced-colours")
    canvas, ink = page.locator(".ci").evaluate(
        "node => [getComputedStyle(node).backgroundColor, getComputedStyle(node).color]"
    )
    assert canvas != ink
    # The system paints its canvas behind every text: words in the colour of the canvas could not be read.
    pill = page.locator(".ci-pill")
    assert pill.evaluate(STYLE, "color") == ink
    assert pill.evaluate(STYLE, "outlineStyle") == "solid"
    line = page.locator(".ci-cutline-over")
    assert line.evaluate(STYLE, "backgroundColor") == ink
    tabs = page.locator("[role=tab]:visible")
    lined = [tab for tab in tabs.all() if tab.evaluate(STYLE, "borderBottomColor") != canvas]
    assert len(lined) == 1
    expect(lined[0]).to_have_attribute("aria-selected", "true")


def test_the_name_of_the_sub_agents_and_their_link_do_not_overlap(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    fill_page(page, 1400, 900)
    open_workbench(policy="auto")
    names = page.locator(".ci-sidelist li > :first-child")
    for name in names.all():
        box, lane = name.bounding_box(), page.locator(".ci-lane .ci-hue").first.bounding_box()
        assert box is not None
        assert lane is not None
        # At the left margin, as the names of the lanes are.
        assert box["x"] - lane["x"] < 24
