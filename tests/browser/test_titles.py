"""Titles that can be read: none is cut to a few letters and three dots, none by a box; paths are relative."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from inspector import open_session
from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.product import FATES, TABS, VERBATIM, Workbench, format_tokens, label_of, open_demo
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
    wait_until_still(page)


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


SEEN = """() => {
  const title = document.querySelector('.ci-header > b')
  const box = title.getBoundingClientRect()
  let seen = ''
  const range = document.createRange()
  const walker = document.createTreeWalker(title, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    for (let at = 0; at < node.length; at++) {
      range.setStart(node, at)
      range.setEnd(node, at + 1)
      const { left, right, bottom } = range.getBoundingClientRect()
      if (left >= box.left - 1 && right <= box.right + 1 && bottom <= box.bottom + 2) seen += node.data[at]
    }
  return seen
}"""


@needs_shared
def test_a_session_s_title_goes_on_behind_the_slashes_of_an_address(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    open_workbench(open_session(CODEX), policy="auto")
    title = page.locator(".ci-header > b")
    expect(title).to_contain_text("https://")
    wait_until_still(page)
    whole = title.inner_text()
    assert "https://" in whole and len(whole) > LEAST
    for width in WIDTHS:
        resize(page, width)
        seen = page.evaluate(SEEN)
        assert whole.startswith(seen) and len(seen) >= LEAST, (width, seen)


FACTS = """() => [...document.querySelectorAll('[data-testid=fact]')].map(fact => {
  const range = document.createRange()
  range.selectNodeContents(fact)
  const words = range.getBoundingClientRect(), row = fact.closest('tr').getBoundingClientRect()
  return words.bottom <= row.bottom + 1 && words.top >= row.top - 1 && words.right <= row.right
})"""


@needs_shared
def test_the_end_of_a_long_path_is_seen_in_the_list_of_facts(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    open_workbench(open_session(CODEX), policy="auto", tab="facts")
    page.get_by_test_id("fact").first.wait_for()
    for width in WIDTHS:
        resize(page, width)
        rows = page.evaluate(FACTS)
        assert len(rows) > 20 and all(rows), width


ROWS = """() => [...document.querySelectorAll('[data-testid=fate-row]')].map(row => {
  const box = row.getBoundingClientRect()
  const title = row.querySelector('.ci-what > b, .ci-preview')
  const range = document.createRange()
  range.selectNodeContents(title ?? row)
  const seen = [...range.getClientRects()].some(
    line => line.width > 20 && line.top > box.top - 1 && line.bottom < box.bottom + 1)
  const list = row.closest('.ci-scroll').getBoundingClientRect()
  const inside = box.top > list.top && box.bottom < list.bottom + 1
  return { title: title?.textContent ?? '', seen, inside, chosen: row.ariaSelected === 'true' }
})"""


def test_titles_of_blocks_are_seen_beside_and_above_the_one_that_is_chosen(
    page: Page, opened: Workbench
) -> None:
    resize(page, WIDTHS[0])
    opened.tab = "blocks"
    wait_for_python(page)
    page.locator("[data-fold][aria-expanded=false]").nth(2).click()
    expect(page.get_by_test_id("fate-row").nth(6).locator(".ci-what > b")).not_to_be_empty()
    story, back = page.get_by_test_id("block"), page.get_by_role("button", name="‹ Blocks")
    for width in (1400, 1000, 900, 760, 730, 560):
        resize(page, width)
        if back.is_visible():
            back.click()
        page.get_by_test_id("fate-row").nth(6).click()
        expect(story).to_be_visible()
        if 720 < width - 20 <= 1080:
            # The story stands in the list's place, and the list in the story's.
            expect(page.get_by_test_id("fate-row").nth(6)).to_be_hidden()
            expect(back).to_be_focused()
            back.press("Enter")
            expect(story).to_be_hidden()
        expect(back).to_be_hidden()
        wait_until_still(page)
        rows = page.evaluate(ROWS)
        assert sum(row["seen"] and row["title"].count("(") for row in rows) >= 3, "calls are named"
        assert [row["title"] for row in rows if row["title"] and not row["seen"]] == [], width
        assert [row["inside"] for row in rows if row["chosen"]] == [True], width
        page.evaluate("document.querySelector('[data-testid=fates]').focus()")


UNFOLD = """async list => {
  for (let at = 0; at <= list.scrollHeight; at += 100) {
    list.scrollTop = at
    await new Promise(requestAnimationFrame)
    for (const fold of list.querySelectorAll('[data-fold][aria-expanded=false]')) fold.click()
  }
}"""
BECOMES = """() => [...document.querySelectorAll('[data-testid=fate-row]')].map(row => {
  const box = row.getBoundingClientRect()
  const told = [...row.querySelectorAll('.ci-fate, .ci-number')].filter(cell => cell.checkVisibility())
  const cut = told.some(cell => {
    const range = document.createRange()
    range.selectNodeContents(cell)
    const words = range.getBoundingClientRect(), own = cell.getBoundingClientRect()
    const beside = words.left < own.left - 1 || words.right > own.right + 1
    return cell.innerText !== '' && (beside || words.bottom > box.bottom + 1)
  })
  return { row: Number(row.dataset.row), told: told.map(cell => cell.innerText), cut }
})"""


def test_what_becomes_of_a_block_and_what_is_left_of_it_stand_in_its_row_at_every_width(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    workbench = open_workbench(open_demo(), policy="mini-claude-code", tab="blocks")
    wait_for_python(page)
    resize(page, WIDTHS[0])
    page.get_by_role("treegrid").evaluate(UNFOLD)
    plan = workbench.plan
    left, before = plan.outcome.tokens.tolist(), plan.table.tokens.tolist()
    part = next(row for row, tokens in enumerate(left) if 0 < tokens < before[row])
    for width in (1400, 1000, 900, 730, 560, 440):
        resize(page, width)
        seen: set[int] = set()
        for share in (0, part / len(left), 1):
            page.get_by_role("treegrid").evaluate(
                "(node, share) => { node.scrollTop = share * (node.scrollHeight - node.clientHeight) }", share
            )
            wait_for_python(page)
            for row in page.evaluate(BECOMES):
                at, word = row["row"], label_of(FATES[plan.fate[row["row"]]])
                # What stays as it is has its tokens once.
                numbers = [f"{before[at]:,}", "" if plan.fate[at] == VERBATIM else f"{left[at]:,}"]
                if width - 20 <= 720:
                    # Of all and of nothing the word tells; of a part what is left stands beside it.
                    partly = 0 < left[at] < before[at]
                    word, numbers = f"{word}{format_tokens(left[at])}" if partly else word, numbers[:1]
                assert row["told"] == [word, *numbers], (width, row)
                assert not row["cut"], (width, row)
                seen.add(at)
        assert part in seen and len(seen) > 20, width
        assert find_cut_titles(page) == [], width


def test_blocks_are_master_and_detail_by_keys_where_there_is_no_room_for_both(
    page: Page, opened: Workbench
) -> None:
    """WORKBENCH2, section 3: a story replaces the list, with a way back and on, by the keyboard too."""
    resize(page, 900)
    opened.tab = "blocks"
    wait_for_python(page)
    page.locator("[data-fold][aria-expanded=false]").nth(2).click()
    page.get_by_test_id("fate-row").nth(6).click()
    story, back = page.get_by_test_id("block"), page.get_by_role("button", name="‹ Blocks")
    expect(back).to_be_focused()
    first = story.inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Next difference (n)")).to_be_focused()
    page.keyboard.press("Enter")
    expect(story).not_to_have_text(first, use_inner_text=True)
    second = story.inner_text()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("treegrid")).to_be_focused()
    expect(story).to_be_hidden()
    # Arrows go through the list, which stays; Enter tells the story of the row they stand on.
    page.keyboard.press("ArrowDown")
    expect(page.get_by_test_id("fate-row").first).to_be_visible()
    expect(story).to_be_hidden()
    page.keyboard.press("Enter")
    expect(story).to_be_visible()
    expect(back).to_be_focused()
    wait_for_python(page)
    expect(story).not_to_have_text(second, use_inner_text=True)
    # The text of a block opens in the list.
    page.get_by_test_id("show-text").click()
    expect(story).to_be_hidden()
    expect(page.locator(".ci-bodies")).to_be_visible()
    resize(page, 1400)
    expect(story).to_be_visible()
    expect(page.get_by_test_id("fate-row").first).to_be_visible()


def test_every_sign_of_the_session_is_explained_beside_it(page: Page, opened: Workbench) -> None:
    key = page.get_by_test_id("overview-key")
    expect(key).to_contain_text("cache rebuilt")
    for width in WIDTHS:
        resize(page, width)
        signs = key.locator("span")
        assert [text[0] for text in signs.all_inner_texts()] == ["◆", "◇", "↺", "$", "┄"]
        edge = page.get_by_test_id("overview").bounding_box()
        assert edge is not None
        for sign in signs.all():
            box = sign.bounding_box()
            assert box is not None and box["y"] + box["height"] <= edge["y"] + edge["height"] + 1, width


def test_the_row_of_the_chosen_thing_is_called_by_its_name_at_every_width_that_has_it(
    page: Page, opened: Workbench
) -> None:
    fact_row = page.get_by_test_id("fact-row")
    for width in (1400, 900):
        resize(page, width)
        expect(fact_row.get_by_text("offsets.py")).to_be_visible()


def test_the_name_of_the_plan_s_policy_is_whole_at_every_width(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    open_workbench(policy="mini-claude-code")
    name = page.get_by_test_id("policy-picker").locator("> :first-child")
    for width in WIDTHS:
        resize(page, width)
        expect(name).to_have_text("mini-claude-code")
        assert name.evaluate("node => node.scrollHeight <= node.clientHeight"), width


def test_nothing_is_drawn_over_the_words_of_a_summary(page: Page, opened: Workbench) -> None:
    opened.tab = "summary"
    for width in (*WIDTHS, 760):
        resize(page, width)
        expect(page.get_by_test_id("side").last).to_contain_text("Planned")
        button = page.get_by_role("button", name="Write a summary…").bounding_box()
        words = page.get_by_test_id("sides").evaluate(
            "node => { const r = document.createRange(); r.selectNodeContents(node);"
            " return [...r.getClientRects()].filter(b => b.height < 24).map(b => [b.right, b.top]) }"
        )
        assert button is not None and len(words) > 6
        low = button["y"] + button["height"]
        assert all(right <= button["x"] or top >= low for right, top in words), (width, words, button)


def test_the_three_dots_of_a_title_that_is_too_short_are_noticed(page: Page, opened: Workbench) -> None:
    """What reads all titles notices a box that cuts one, and one that was cut to a few letters."""
    title = page.locator(".ci-header > b")
    title.evaluate("node => { node.textContent = 'Every high…' }")
    assert [each[0] for each in page.evaluate(FIND, LEAST) if "Every" in each[1]] == ["short"]
    title.evaluate("node => { node.textContent = 'x'.repeat(400); node.style.whiteSpace = 'nowrap' }")
    assert "clipped" in [each[0] for each in page.evaluate(FIND, LEAST) if "xxx" in each[1]]
