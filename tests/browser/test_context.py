"""The tabs Context after and Summary, as a person reads them."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from inspector.policies.table import DROPPED, SUMMARISED
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page
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
    # The summary first, then every block that still stands, in the session's order, each once.
    assert workbench.context.pieces[0].summary
    refs = pieces.evaluate_all("nodes => nodes.map(node => node.dataset.piece)")
    fates = workbench.plan.outcome.fate.tolist()
    live = workbench.plan.session.live_refs()
    kept = [str(ref) for ref, fate in zip(live, fates, strict=True) if fate not in (SUMMARISED, DROPPED)]
    assert len(kept) > 50
    assert refs == ["", *kept]
    expect(page.get_by_test_id("context-total")).to_have_text(f"{workbench.plan.after:,}")
    screenshot(page, "context")
    # A later cut keeps less, and the tab follows.
    workbench.cut = workbench.plan.cuts.ids[-1]
    expect(page.get_by_test_id("context-total")).to_have_text(f"{workbench.plan.after:,}")


def test_blocks_add_up_and_make_room_for_the_one_chosen(page: Page, open_workbench: OpenWorkbench) -> None:
    workbench = open_workbench()
    page.get_by_test_id("tab-blocks").click()
    foot = page.get_by_test_id("blocks-foot")
    for width in (1400, 900, 560):
        fill_page(page, width, 900)
        expect(foot).to_be_in_viewport(ratio=1)
        assert foot.evaluate("node => node.scrollWidth <= node.clientWidth")
        expect(page.get_by_test_id("block")).to_be_hidden()
        screenshot(page, f"blocks-{width}")
    # A block's story stands beside the list once one is chosen.
    fill_page(page, 1400, 900)
    alone = page.get_by_test_id("fates").bounding_box()
    for key in ("End", "Enter", "ArrowDown"):
        page.get_by_role("treegrid").press(key)
    expect(page.get_by_test_id("block")).to_contain_text("turn 11")
    beside = page.get_by_test_id("fates").bounding_box()
    assert alone is not None
    assert beside is not None
    assert alone["width"] > 1300 > beside["width"]
    screenshot(page, "blocks-chosen")
    expect(foot).to_have_text("332 blocks 141.5k · not in the file 16.8k · total 158.3k")
    *parts, total = [int(n.replace(",", "")) for n in re.findall(r": ([\d,]+) tokens", _told(foot))]
    assert sum(parts) == total == workbench.plan.before
    assert parts[0] == int(workbench.plan.table.tokens.sum())


def _told(foot: Locator) -> str:
    """The exact figures, which whoever points at them and whoever hears them are told alike."""
    told = foot.get_attribute("title")
    assert told
    assert told == foot.get_attribute("aria-label")
    return told


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
