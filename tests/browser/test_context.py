"""The tabs Context after and Summary, as a person reads them."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenWorkbench
from tests.browser.screen import screenshot


def test_W2_18_context_after_reads_as_the_next_request(page: Page, open_workbench: OpenWorkbench) -> None:
    workbench = open_workbench()
    page.get_by_test_id("tab-context").click()
    context = page.get_by_test_id("context")
    pieces = context.locator("[data-piece]")
    expect(pieces).to_have_count(60)
    context.get_by_role("button", name="more").last.click()
    expect(pieces).to_have_count(len(workbench.context.pieces))
    shown = context.locator("[data-piece] pre").all_text_contents()
    for text, piece in zip(shown, workbench.context.pieces, strict=True):
        assert text[:200] == piece.block.text[:200] or "\x1b" in piece.block.text[:200]
    expect(page.get_by_test_id("context-total")).to_have_text(f"{workbench.plan.after:,}")
    screenshot(page, "context")
    # A later cut keeps less, and the tab follows.
    workbench.cut = workbench.plan.cuts.ids[-1]
    expect(page.get_by_test_id("context-total")).to_have_text(f"{workbench.plan.after:,}")


def test_W2_17_the_recorded_and_the_planned_summary_stand_side_by_side(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    open_workbench()
    page.get_by_test_id("tab-summary").click()
    recorded, planned = (page.get_by_test_id("side").nth(at) for at in (0, 1))
    expect(recorded).to_contain_text("◆1 recorded")
    expect(recorded).to_contain_text("names 10 of 12 changed files")
    expect(recorded.locator("pre")).to_contain_text("the offsets helper")
    expect(planned).to_contain_text("names 12 of 12 changed files")
    expect(planned).to_contain_text("A model writes another one each time.")
    boxes = [side.bounding_box() for side in (recorded, planned)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert abs(boxes[0]["y"] - boxes[1]["y"]) < 2
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] + 1
    screenshot(page, "summaries")
    page.get_by_test_id("summarise").click()
    expect(page.get_by_test_id("writer-extractive")).to_be_focused()
    page.get_by_test_id("summarise").click()
    expect(page.get_by_test_id("writer-extractive")).to_be_hidden()
    expect(recorded).to_be_visible()
