"""The tabs Context and Summary, as a person reads them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from inspector import build_context, open_session
from inspector.planning.assemble import live_context
from inspector.planning.context import Context
from inspector.text import printable
from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page
from tests.browser.screen import screenshot
from tests.shared import SHARED, needs_shared
from tests.workbench.test_recorded import chain, compaction, user
from tests.workbench.test_recorded import model as said

REAL = ["pi--pi-mono/pi-before-compaction.jsonl", "claude-code--entireio-cli/cc-3auto-compactions-893l.jsonl"]

READ = """async seconds => {
  const list = document.querySelector('[aria-label="The two requests"]')
  const deadline = performance.now() + 1000 * seconds
  const items = new Map()
  let most = 0
  list.scrollTo(0, 0)
  while (performance.now() < deadline) {
    // Rows that scroll into sight are drawn in the next frame.
    await new Promise(requestAnimationFrame)
    await new Promise(requestAnimationFrame)
    const box = list.getBoundingClientRect()
    const nodes = [...list.querySelectorAll('[data-index]')]
    const inSight = nodes.filter(node => {
      const { top, bottom } = node.getBoundingClientRect()
      return bottom > box.top && top < box.bottom
    })
    if (inSight.length === 0 || inSight.some(node => node.querySelector('.ci-ctx-cell') === null)) continue
    const first = Number(inSight[0].dataset.index)
    if (first > Math.max(-1, ...items.keys()) + 1) {
      list.scrollBy(0, -list.clientHeight * 0.4)
      continue
    }
    most = Math.max(most, list.querySelectorAll('*').length)
    for (const node of nodes) {
      if (node.querySelector('.ci-ctx-cell') === null) continue
      const cells = ['left', 'right'].map(side => {
        const cell = node.querySelector(`[data-side=${side}]`)
        if (cell === null) return null
        return {
          ref: cell.dataset.piece,
          text: cell.querySelector('pre')?.textContent ?? '',
          left: Number(cell.querySelector('[data-left]')?.dataset.left ?? 0),
          tokens: Number(cell.querySelector('.ci-ctx-tokens').textContent.replaceAll(',', '')),
        }
      })
      if (node.querySelector('.ci-ctx-folded') === null) items.set(Number(node.dataset.index), cells)
      else items.set(Number(node.dataset.index), null)
    }
    if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1)
      return [[...items.entries()].sort((one, other) => one[0] - other[0]).map(item => item[1]), most]
    list.scrollBy(0, list.clientHeight * 0.8)
  }
  return [null, most]
}"""


def read_rows(page: Page) -> list[list[dict[str, Any] | None]]:
    """Read every row, both sides, from the first to the last, with all runs unfolded.

    Of a long request only the rows in sight are in the page.
    """
    page.get_by_role("region", name="The two requests").wait_for()
    fold = page.get_by_test_id("fold")
    if fold.is_checked():
        fold.uncheck()
    rows, most = page.evaluate(READ, 600)
    # Some hundred elements, however long the request is.
    assert most < 1200
    assert rows is not None, "the end was not reached"
    return [row for row in rows if row is not None]


def check_side(rows: list[list[dict[str, Any] | None]], side: int, context: Context) -> None:
    """Compare a side with a context: every text in order, and the sum of its tokens."""
    cells = [row[side] for row in rows]
    shown = [cell for cell in cells if cell is not None and (cell["text"] or cell["ref"])]
    assert len(shown) == len(context.pieces) > 0
    for cell, piece in zip(shown, context.pieces, strict=True):
        text = piece.block.text
        assert cell["ref"] == ("" if piece.summary or not piece.origin else str(piece.origin[0]))
        assert cell["text"] == printable(text[: len(text) - cell["left"]])
        assert cell["left"] == 0 or len(cell["text"]) >= 4_000
        assert cell["tokens"] == piece.tokens
    assert sum(cell["tokens"] for cell in cells if cell is not None) == context.tokens


def check_whole(page: Page, context: Context) -> None:
    """Compare the right side with `build_context`: every text from its first character to its last."""
    expect(page.get_by_test_id("context-total")).to_have_text(f"{context.tokens:,}")
    expect(page.get_by_test_id("context").locator("[aria-busy]")).to_have_attribute("aria-busy", "false")
    check_side(read_rows(page), 1, context)


def test_W2_18_context_after_reads_as_the_next_request(page: Page, open_workbench: OpenWorkbench) -> None:
    workbench = open_workbench()
    page.get_by_test_id("tab-context").click()
    check_whole(page, workbench.context)
    screenshot(page, "context")
    # A later cut keeps less, and the tab follows.
    workbench.cut = workbench.plan.cuts.ids[-1]
    expect(page.get_by_test_id("context-total")).to_have_text(f"{workbench.plan.after:,}")
    check_whole(page, workbench.context)


def test_both_sides_add_up(page: Page, open_workbench: OpenWorkbench) -> None:
    workbench = open_workbench(policy="auto", tab="context")
    fill_page(page, 1400, 900)
    model = workbench.model
    rows = read_rows(page)
    check_side(rows, 0, live_context(workbench.moment, workbench.ledger))
    check_side(rows, 1, build_context(workbench.moment, model.shown))


def test_summaries_of_one_length_are_not_taken_for_each_other(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    texts = ["The boards are drawn.", "The tables are drawn."]
    parts = [[user("Draw it."), said("It is drawn. " * 90), compaction(text)] for text in texts]
    session = chain(*parts[0], *parts[1], user("Go on."), said("Yes."))
    workbench = open_workbench(session, policy="auto", window=20_000, tab="context")
    for number, text in enumerate(texts, 1):
        workbench.look = f"recorded:{number}"
        expect(page.locator(".ci-ctx-text")).to_contain_text(text)


def test_a_chosen_block_is_shown_out_of_its_fold(page: Page, open_workbench: OpenWorkbench) -> None:
    workbench = open_workbench(tab="context")
    expect(page.get_by_test_id("fold-run").first).to_be_visible()
    kept = [str(piece.origin[0]) for piece in workbench.context.pieces if not piece.summary]
    workbench.block = kept[len(kept) // 2]
    chosen = page.get_by_test_id("context").locator("[data-side=right][aria-current=true]")
    expect(chosen).to_have_attribute("data-piece", kept[len(kept) // 2])
    expect(chosen).to_be_in_viewport()


def test_keys_step_through_the_changes(page: Page, open_workbench: OpenWorkbench) -> None:
    open_workbench(policy="stud-wiki-deterministic", tab="context")
    words = page.get_by_test_id("changes")
    expect(words).to_have_text(re.compile(r"^[1-9]\d* changes$"))
    count = int(words.inner_text().split()[0])
    page.get_by_role("region", name="The two requests").focus()
    for key, number in (("n", 1), ("n", 2), ("N", 1)):
        if number == 2:
            page.get_by_test_id("change-next").focus()  # the keys are of the whole tab
        page.keyboard.press(key)
        expect(words).to_have_text(f"change {number} of {count}")
        current = page.locator(".ci-ctx-gutter[aria-current=true]")
        expect(current.first).to_have_text(str(number))
        expect(current.first).to_be_in_viewport()
    # A cleared output reads as its text on the left and its stub on the right.
    row = page.locator(".ci-ctx-changed").first
    expect(row.locator("[data-side=right]")).to_contain_text("cleared")
    left, right = (row.locator(f"[data-side={side}] pre").inner_text() for side in ("left", "right"))
    assert len(left) > len(right) > 0


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


def test_W2_17_the_recorded_and_the_planned_summary_stand_side_by_side(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    open_workbench()
    page.get_by_test_id("tab-summary").click()
    recorded, planned = (page.get_by_test_id("side").nth(at) for at in (0, 1))
    expect(recorded).to_contain_text("◆1 recorded")
    expect(recorded).to_contain_text("Missing: 2 rules and 2 files.")
    expect(recorded.locator("pre")).to_contain_text("the offsets helper")
    expect(planned).to_contain_text(re.compile(r"Absent unless named\. Missing: \d+ rules"))
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


def test_a_single_fact_in_both_is_said_in_the_singular(page: Page, open_workbench: OpenWorkbench) -> None:
    fill_page(page, 1400, 900)
    session = chain(user("Never push."), said("Yes."), user("Go on."))
    open_workbench(session, policy="keep-recent-turns", tab="context")
    both = page.get_by_test_id("facts-in-both")
    expect(both.get_by_role("heading")).to_have_text("In both 1 essential fact that both keep")
