"""The tabs Context after and Summary, as a person reads them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from inspector import build_context, open_session
from inspector.planning.context import Context
from inspector.policies.table import DROPPED, SUMMARISED
from inspector.text import printable
from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page
from tests.browser.screen import screenshot
from tests.shared import SHARED, needs_shared

REAL = ["pi--pi-mono/pi-before-compaction.jsonl", "claude-code--entireio-cli/cc-3auto-compactions-893l.jsonl"]


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


def read_whole(page: Page) -> list[dict[str, Any]]:
    """Every piece on the screen: its block, its text, and how many characters are told and not shown."""
    pieces: list[dict[str, Any]] = page.locator("[data-piece]").evaluate_all(
        """nodes => nodes.map(node => {
          const notes = [...node.querySelectorAll('.ci-quiet')].map(each => each.textContent)
          const cut = notes.find(words => words.endsWith('more characters'))
          const more = cut === undefined ? 0 : Number(cut.replace(/\\D/g, ''))
          return { ref: node.dataset.piece, text: node.querySelector('pre').textContent, more }
        })"""
    )
    return pieces


def check_whole(page: Page, context: Context) -> None:
    """The tab against `build_context`: every text from its first character to its last, in order."""
    expect(page.get_by_test_id("context-total")).to_have_text(f"{context.tokens:,}")
    while (more := page.get_by_test_id("context").get_by_role("button", name="more")).count():
        known = page.locator("[data-piece]").count()
        more.last.click()
        expect(page.locator("[data-piece]")).not_to_have_count(known)
    shown = read_whole(page)
    assert len(shown) == len(context.pieces) > 0
    for one, piece in zip(shown, context.pieces, strict=True):
        text = piece.block.text
        assert one["ref"] == ("" if piece.summary or not piece.origin else str(piece.origin[0]))
        assert one["text"] == printable(text[: len(text) - one["more"]])
        # What is cut off is told, and stands whole one click away.
        assert one["more"] == 0 or len(one["text"]) >= 4_000
    assert context.pieces[0].summary or not any(piece.summary for piece in context.pieces)


@needs_shared
@pytest.mark.parametrize("name", REAL)
def test_W2_18_every_text_of_the_next_request_is_shown_on_real_sessions(
    page: Page, open_workbench: OpenWorkbench, name: str
) -> None:
    """As it was recorded, and as a plan leaves it."""
    workbench = open_workbench(open_session(SHARED / "sessions" / name), policy="auto", tab="context")
    assert workbench.look.startswith("recorded:")
    check_whole(page, build_context(workbench.moment, workbench.model.shown))
    workbench.policy = "keep-recent-turns"
    workbench.look = "plan"
    wait_for_python(page)
    assert workbench.plan.policy.name == "keep-recent-turns"
    check_whole(page, build_context(workbench.moment, workbench.plan))


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
