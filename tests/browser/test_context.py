"""The tabs Context after and Summary, as a person reads them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from inspector import build_context, open_session
from inspector.planning.context import Context
from inspector.text import printable
from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page, grasp_pill
from tests.browser.screen import screenshot
from tests.shared import SHARED, needs_shared

REAL = ["pi--pi-mono/pi-before-compaction.jsonl", "claude-code--entireio-cli/cc-3auto-compactions-893l.jsonl"]


READ = """async seconds => {
  const list = document.querySelector('[aria-label="The next request"]')
  const deadline = performance.now() + 1000 * seconds
  const pieces = new Map()
  let most = 0
  list.scrollTo(0, 0)
  while (performance.now() < deadline) {
    // What is scrolled to is drawn in the next frame.
    await new Promise(requestAnimationFrame)
    await new Promise(requestAnimationFrame)
    const box = list.getBoundingClientRect()
    const nodes = [...list.querySelectorAll('[data-piece]')]
    const inSight = nodes.filter(node => {
      const { top, bottom } = node.getBoundingClientRect()
      return bottom > box.top && top < box.bottom
    })
    if (inSight.length === 0 || inSight.some(node => node.querySelector('pre') === null)) continue
    // A step never goes past what was drawn: what was in sight last meets what is now.
    const first = Number(inSight[0].dataset.index)
    if (first > Math.max(-1, ...pieces.keys()) + 1) {
      list.scrollBy(0, -list.clientHeight * 0.4)
      continue
    }
    most = Math.max(most, list.querySelectorAll('*').length)
    for (const node of nodes) {
      const text = node.querySelector('pre')
      if (text === null) continue
      pieces.set(Number(node.dataset.index), {
        index: Number(node.dataset.index),
        ref: node.dataset.piece,
        text: text.textContent,
        left: Number(node.querySelector('[data-left]')?.dataset.left ?? 0),
      })
    }
    if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1)
      return [[...pieces.values()].sort((one, other) => one.index - other.index), most]
    list.scrollBy(0, list.clientHeight * 0.8)
  }
  return [null, most]
}"""


def read_whole(page: Page) -> list[dict[str, Any]]:
    """Every piece, scrolling from the first to the last: its block, its text, and the characters not shown.

    Of a long request only what is in sight exists in the page.
    """
    pieces: list[dict[str, Any]] | None
    pieces, most = page.evaluate(READ, 600)
    # Some hundred elements, however long the request is.
    assert most < 700
    assert pieces is not None, "the end was not reached"
    return pieces


def check_whole(page: Page, context: Context) -> None:
    """The tab against `build_context`: every text from its first character to its last, in order."""
    expect(page.get_by_test_id("context-total")).to_have_text(f"{context.tokens:,}")
    expect(page.get_by_test_id("context")).to_have_attribute("aria-busy", "false")
    shown = read_whole(page)
    assert len(shown) == len(context.pieces) > 0
    for number, (one, piece) in enumerate(zip(shown, context.pieces, strict=True)):
        text = piece.block.text
        assert one["index"] == number
        assert one["ref"] == ("" if piece.summary or not piece.origin else str(piece.origin[0]))
        assert one["text"] == printable(text[: len(text) - one["left"]])
        # What is cut off is told, and stands whole one click away.
        assert one["left"] == 0 or len(one["text"]) >= 4_000
    assert context.pieces[0].summary or not any(piece.summary for piece in context.pieces)


def test_W2_18_context_after_reads_as_the_next_request(page: Page, open_workbench: OpenWorkbench) -> None:
    workbench = open_workbench()
    page.get_by_test_id("tab-context").click()
    check_whole(page, workbench.context)
    screenshot(page, "context")
    # A later cut keeps less, and the tab follows.
    workbench.cut = workbench.plan.cuts.ids[-1]
    expect(page.get_by_test_id("context-total")).to_have_text(f"{workbench.plan.after:,}")
    check_whole(page, workbench.context)


def test_the_outline_leads_to_any_turn_and_a_chosen_block_is_found(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(tab="context")
    context = page.get_by_test_id("context")
    expect(context).to_have_attribute("aria-busy", "false")
    last = context.get_by_role("list").last.get_by_role("button").last
    turn = last.inner_text()
    last.click()
    piece = context.locator("[data-piece]").filter(has=page.get_by_text(turn, exact=True)).first
    expect(piece).to_be_in_viewport()
    expect(piece.locator("pre")).to_be_visible()
    kept = [str(piece.origin[0]) for piece in workbench.context.pieces if not piece.summary]
    workbench.block = kept[len(kept) // 2]
    wait_for_python(page)
    chosen = context.locator("[aria-current=true]")
    expect(chosen).to_have_attribute("data-piece", kept[len(kept) // 2])
    expect(chosen).to_be_in_viewport()
    # Who reads further down stays there when the cut moves to where that still stands.
    first = workbench.plan.place
    assert first is not None
    workbench.cut = workbench.plan.cuts.ids[
        next(p for p in range(first + 1, 999) if workbench.plan.cuts[p].legal)
    ]
    wait_for_python(page)
    expect(chosen).to_be_in_viewport()


def test_who_drags_away_and_lets_go_where_it_was_reads_the_same_again(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(tab="context")
    check_whole(page, workbench.context)
    for key in ("", "Escape"):
        x, y, _ = grasp_pill(page)
        page.mouse.move(x - 300, y, steps=6)
        if key:
            page.keyboard.press(key)
        else:
            page.mouse.move(x, y, steps=6)
        page.mouse.up()
        wait_for_python(page)
        check_whole(page, workbench.context)


def test_a_place_that_the_provider_refuses_is_told_where_one_reads(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(tab="context")
    plan = workbench.plan
    refused = page.locator(".ci-ctx-refused")
    expect(refused).to_be_hidden()
    axis = page.locator(".ci-strip").bounding_box()
    assert axis is not None
    _, y, held = grasp_pill(page)
    told = set()
    for step in range(40):
        page.mouse.move(axis["x"] + axis["width"] * (0.4 + step / 400) + held, y)
        words = refused.inner_text() if refused.is_visible() else ""
        told.add(words.removeprefix("A provider would refuse it: ").lower())
    page.mouse.up()
    expect(refused).to_be_hidden()
    sentences = {cut.sentence.lower() for cut in plan.cuts if not cut.legal}
    assert len(told - {""}) >= 1
    assert told - {""} <= sentences


@needs_shared
def test_a_long_summary_is_read_to_its_end(page: Page, open_workbench: OpenWorkbench) -> None:
    workbench = open_workbench(open_session(SHARED / "sessions" / REAL[1]), policy="auto", tab="context")
    context = build_context(workbench.moment, workbench.model.shown)
    whole = context.pieces[0].block.text
    assert context.pieces[0].summary
    assert len(whole) > 5_000
    piece = page.locator("[data-index='0']")
    expect(piece.locator("pre")).not_to_be_empty()
    assert len(piece.locator("pre").inner_text()) < 4_100
    piece.get_by_role("button", name="show all of it").press("Enter")
    expect(piece.get_by_text("more characters")).to_be_hidden()
    assert piece.locator("pre").text_content() == printable(whole)


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
    expect(planned).to_contain_text("absent unless named: 9 of 12 changed files")
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
