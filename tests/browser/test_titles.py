"""Titles that can be read: none is cut to a few letters and three dots, none by a box; paths are relative."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from inspector import open_session
from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.product import TABS, Workbench
from tests.browser.screen import wait_until_still
from tests.shared import SHARED, needs_shared

CODEX = SHARED / "sessions" / "codex--agentv" / "codex-3compacted-2302l.jsonl"
"""Its first prompt is a long address, and its files stand outside the folder that it was started in."""
LEAST = 24
"""Characters that stand before three dots, at the least."""
OPENS_MORE = ("Export page…", "Write a summary…", "settings…")
"""The three dots of a button that asks something before it acts are no shortened text."""
WIDTHS = (1400, 900, 560)
PLANNED = """() => {
  const results = [...document.querySelectorAll('.ci-policy-after')].map(node => node.innerText.trim())
  return results.length > 0 && !results.includes('…')
}"""
SIZE = """width => {
  const { style } = document.querySelector('.ci').parentElement
  style.cssText = `width: ${width}px; position: absolute; left: 0; top: 0`
}"""
FIND = """least => {
  const out = []
  const root = document.querySelector('.ci')
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  const seen = new Set()
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const own = node.parentElement
    const wanted = { visibilityProperty: true, opacityProperty: true }
    if (!node.data.trim() || !own.checkVisibility(wanted)) continue
    const box = own.getBoundingClientRect()
    if (box.width < 2 || box.height < 2) continue
    if (!seen.has(own)) {
      seen.add(own)
      const text = own.innerText.trim()
      const dots = /(…|\\.\\.\\.)["”’)]?$/.test(text)
      if (dots && text.length - 1 < least) out.push(['short', text, own.className || own.tagName])
    }
    // What is seen of each line, and whether a box cuts it at its side.
    const range = document.createRange()
    range.selectNodeContents(node)
    const lines = [...range.getClientRects()]
    // Such a text always fits, but for the blanks at the end of a line.
    const { whiteSpace, overflowWrap } = getComputedStyle(own)
    if (whiteSpace === 'pre-wrap' && overflowWrap !== 'normal') continue
    for (let each = own; each !== root; each = each.parentElement) {
      const style = getComputedStyle(each)
      if (style.display === 'inline' || style.display === 'contents') continue
      if (['auto', 'scroll'].includes(style.overflowX)) break
      if (style.overflowX === 'visible') continue
      const edge = each.getBoundingClientRect()
      const cut = lines.some(line => {
        const middle = (line.top + line.bottom) / 2
        const across = line.left < edge.right && line.right > edge.left
        const beyond = line.right > edge.right + 1 || line.left < edge.left - 1
        return across && beyond && edge.top < middle && middle < edge.bottom
      })
      if (cut) out.push(['clipped', node.data.trim().slice(0, 90), each.className])
    }
  }
  return out
}"""


def resize(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate(SIZE, width - 20)


def find_cut_titles(page: Page) -> list[list[str]]:
    """Find the titles that are cut off, once the page is still at its width."""
    wait_until_still(page)
    return [title for title in page.evaluate(FIND, LEAST) if not title[1].endswith(OPENS_MORE)]


def read_titles(page: Page, workbench: Workbench) -> None:
    cwd = workbench.session.cwd
    for tab in TABS:
        resize(page, WIDTHS[0])
        workbench.tab = tab
        wait_for_python(page)
        if tab == "blocks":
            page.locator("[data-fold][aria-expanded=false]").first.click()
            expect(page.get_by_test_id("fate-row").nth(2).locator(".ci-preview")).not_to_be_empty()
        if tab == "findings":
            expect(page.get_by_test_id("finding").first).to_be_visible()
        if tab == "facts":
            expect(page.get_by_test_id("fact").first).to_be_visible()
        if tab == "rules":
            page.wait_for_function(PLANNED)
            expect(page.get_by_text("Trying every rule …")).to_have_count(0)
        titles = page.locator(
            "[data-testid=fate-row] .ci-what > b, [data-testid=fact], [data-testid=finding]"
        )
        shown = titles.all_inner_texts()
        assert cwd is not None and [title for title in shown if cwd in title] == [], tab
        assert shown or tab not in ("findings", "facts", "blocks")
        for width in WIDTHS:
            resize(page, width)
            assert find_cut_titles(page) == [], (tab, width)


def test_W2_19_titles_are_whole_and_paths_relative_on_the_bundled_session(
    page: Page, opened: Workbench
) -> None:
    read_titles(page, opened)
    opened.tab = "blocks"
    expect(page.get_by_test_id("fates")).to_contain_text("Read(src/tidepool/render/table.py)")


@needs_shared
def test_W2_19_titles_are_whole_where_paths_lie_outside_the_project(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(open_session(CODEX), policy="auto")
    read_titles(page, workbench)
