"""What a person does with a workbench and sees of it, on any page that shows one."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.screen import wait_for_frame


def shown_place(page: Page) -> int:
    """Where the cut is drawn, once it is."""
    handle = page.get_by_test_id("cut-handle")
    expect(handle).to_have_attribute("aria-valuenow", re.compile(r"^\d+$"))
    return int(handle.get_attribute("aria-valuenow") or -1)


def fill_page(page: Page, width: int, height: int) -> None:
    """Give the workbench a window of its own, as wide and as high as this."""
    page.set_viewport_size({"width": width, "height": height})
    page.add_style_tag(content=f"body {{ padding: 0 !important }} .ci {{ --ci-height: {height}px }}")


def grasp_pill(page: Page) -> tuple[float, float, float]:
    """Take the pill by the mouse: where the hand is, and how far right of the cut."""
    grip = page.get_by_test_id("cut-handle").bounding_box()
    cut = page.locator(".ci-mover").bounding_box()
    assert grip is not None
    assert cut is not None
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    return x, y, x - cut["x"]


def drag_handle(page: Page, share: float) -> None:
    """Take the pill by the mouse until the cut is at a share of the lanes' width, and let go."""
    axis = page.locator(".ci-strip").bounding_box()
    assert axis is not None
    _, y, held = grasp_pill(page)
    page.mouse.move(axis["x"] + axis["width"] * share + held, y, steps=12)
    page.mouse.up()


def open_tab(page: Page | Locator, tab: str) -> None:
    """Open a tab, behind "More" where there is no room for all of them."""
    # The tabs are drawn with the first frame and move behind "More" in the next one.
    page.locator("[role=tab]:visible").first.wait_for()
    wait_for_frame(page if isinstance(page, Page) else page.page)
    if page.get_by_test_id(f"tab-{tab}").is_visible():
        page.get_by_test_id(f"tab-{tab}").click()
    else:
        page.get_by_test_id("more-tabs").click()
        page.get_by_test_id(f"more-{tab}").click()


def choose_policy(page: Page | Locator, name: str) -> None:
    """Choose another policy in the plan's row; a variant stands behind its family."""
    page.get_by_test_id("policy-picker").click()
    picker = page.get_by_test_id("policy-list")
    picker.get_by_role("option").first.wait_for()
    chosen = picker.locator(f"[data-policy='{name}']")
    if chosen.count() == 0:
        for family in picker.locator(".ci-variants").all():
            family.click()
    chosen.click()


def focus_workbench(page: Page) -> None:
    """Its keys are heard from now on; nothing is clicked."""
    page.locator(".ci").focus()


def expect_summary(page: Page | Locator, by: str = "") -> None:
    """The plan has a summary by this writer, as its tab says, or a placeholder; the recipe tells which."""
    recipe = page.get_by_test_id("recipe")
    # Until Python has answered the recipe is that of before.
    expect(page.locator(".ci[aria-busy]")).to_have_count(0)
    if by:
        expect(recipe).to_contain_text(".with_summary(checkpoint)")
        expect(page.get_by_role("heading", name=re.compile(rf"^Planned .*by {by}"))).to_be_visible()
    else:
        expect(recipe).not_to_contain_text(".with_summary(")


def cut_line(page: Page | Locator) -> Locator:
    """The line among the fates that stands for the cut and tells its summary."""
    return page.locator(".ci-cutline .ci-fate")
