"""What a person does with a workbench and sees of it, on any page that shows one."""

from __future__ import annotations

from playwright.sync_api import Locator, Page


def shown_place(page: Page) -> int:
    """Where the cut is drawn."""
    return int(page.get_by_test_id("cut-handle").get_attribute("aria-valuenow") or -1)


def drag_handle(page: Page, share: float) -> None:
    """Take the cut's handle by the mouse to a share of the lanes' width, and let go."""
    handle, lanes = page.get_by_test_id("cut-handle"), page.get_by_test_id("lanes")
    grip, box = handle.bounding_box(), lanes.bounding_box()
    assert grip is not None
    assert box is not None
    y = grip["y"] + grip["height"] / 2
    page.mouse.move(grip["x"] + grip["width"] / 2, y)
    page.mouse.down()
    left = box["x"] + 120
    page.mouse.move(left + (box["width"] - 120) * share, y, steps=12)
    page.mouse.up()


def focus_workbench(page: Page) -> None:
    """Its keys are heard from now on; nothing is clicked."""
    page.locator(".ci").focus()


def find_sticking_out(page: Page) -> int:
    """How many pixels of the workbench are cut off at the right."""
    over: int = page.evaluate(
        "() => { const w = document.querySelector('.ci'); return w.scrollWidth - w.clientWidth }"
    )
    return over


def cut_line(page: Page | Locator) -> Locator:
    """The line among the fates that stands for the cut and tells its summary."""
    return page.locator(".ci-cutline .ci-fate")
