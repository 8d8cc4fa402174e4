"""The Facts panel: a lost path is found, told, and kept, by one click or by keys alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from inspector.tokens import find_cache_rebuilds
from tests.browser.bare import WidgetServer, set_theme, wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page, focus_workbench
from tests.browser.product import (
    LOST_PATH,
    Workbench,
    find_facts,
    open_demo,
    write_focus,
)
from tests.browser.screen import Watch, find_violations, screenshot, wait_until, wait_until_still

NARROW = 560
MOST_NODES = 3000


@pytest.fixture
def workbench(open_workbench: OpenWorkbench, page: Page) -> Workbench:
    """The whole context goes into a summary that a model writes: nothing in it names a file."""
    page.set_viewport_size({"width": 1840, "height": 1600})
    workbench = open_workbench(open_demo(), "claude-code", cut="end", tab="facts")
    page.get_by_test_id("facts-list").wait_for()
    return workbench


def answer(workbench: Workbench, **asked: Any) -> Any:
    """What Python answers to a question of the page."""
    return workbench._controller.reply({"id": "", **asked})


def type_query(page: Page, words: str) -> None:
    focus_workbench(page)
    page.keyboard.press("f")
    expect(page.get_by_test_id("facts-search")).to_be_focused()
    page.keyboard.type(words)
    # What is typed is asked for after a pause; what was found for its beginning goes then.
    wait_until_still(page, 400)


def find_lost(page: Page) -> Locator:
    type_query(page, LOST_PATH)
    expect(page.get_by_test_id("facts-count")).to_have_text("2 facts")
    # The path itself; a command names it too.
    return page.locator(f"[data-testid=fact][title='{LOST_PATH}']")


def row_of(page: Page) -> Locator:
    return page.get_by_role("row").filter(has=page.locator(f"[data-testid=fact][title='{LOST_PATH}']"))


def open_lost(page: Page) -> None:
    find_lost(page).click()
    expect(page.get_by_test_id("story-title")).to_have_text(LOST_PATH)


def test_a_lost_path_is_found_told_and_kept_by_one_click_and_undo_takes_it_back(
    page: Page, workbench: Workbench, watch: Watch, widgets: WidgetServer
) -> None:
    open_lost(page)
    expect(row_of(page)).to_contain_text("□ absent")
    expect(row_of(page)).to_contain_text("○ absent")
    became = page.get_by_test_id("became")
    expect(became.nth(0)).to_contain_text("absent in ◆1")
    expect(became.nth(0)).to_contain_text("by the file")
    became.filter(has_text="by this plan").click()
    expect(page.get_by_role("region", name="Would have kept it")).to_contain_text("Keeps it")
    expect(page.get_by_test_id("cause")).to_contain_text("Absent.")

    fix = page.get_by_test_id("story-fix").first
    price = int(fix.locator(".ci-st-number").first.inner_text().replace(",", ""))
    before = workbench.plan.after
    fix.get_by_role("button").click()
    expect(fix.get_by_role("button")).to_have_text("Undo")
    assert workbench.pins
    assert price == workbench.plan.after - before, "the price is what it then costs"
    expect(page.get_by_test_id("cause")).to_contain_text("It stays as it is")
    expect(row_of(page)).to_contain_text("● kept")

    focus_workbench(page)
    page.keyboard.press("z")
    expect(row_of(page)).to_contain_text("○ absent")
    assert workbench.pins == []
    expect(page.get_by_test_id("cause")).to_contain_text("Absent.")
    assert watch.errors == []
    assert watch.strangers(widgets) == []


def test_facts_are_found_read_and_kept_by_keys_alone(page: Page, workbench: Workbench) -> None:
    type_query(page, LOST_PATH)
    expect(page.get_by_test_id("facts-count")).to_have_text("2 facts")
    titles = [row.get_attribute("title") or "" for row in page.get_by_test_id("fact").all()]
    for _ in range(1 + titles.index(LOST_PATH)):
        page.keyboard.press("ArrowDown")
    expect(page.locator(f"[data-testid=fact][title='{LOST_PATH}']")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("story-title")).to_have_text(LOST_PATH)
    assert workbench.pins == []
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.closest('[data-testid=story-fix]') !== null"):
            break
    page.keyboard.press("Enter")
    fix = page.get_by_test_id("story-fix").first.get_by_role("button")
    expect(fix).to_have_text("Undo")
    expect(fix).to_be_focused()
    assert workbench.pins
    page.keyboard.press("z")
    expect(fix).to_have_text("Pin")
    assert workbench.pins == []


def test_kinds_and_fates_filter_and_their_counts_are_pythons(page: Page, workbench: Workbench) -> None:
    kinds = answer(workbench, type="facts", place=workbench.plan.place)["kinds"]
    for kind in kinds:
        expect(page.get_by_test_id(f"facts-{kind['id']}")).to_have_text(f"{kind['label']}{kind['total']}")
    page.get_by_test_id("facts-file").click()
    lost = next(kind for kind in kinds if kind["id"] == "file")["outcomes"]["absent"]
    # Before a summary is written nothing is absent for sure.
    label = "absent unless named" if workbench.plan.is_unwritten else "absent"
    expect(page.get_by_test_id("facts-absent")).to_have_text(f"■ {label}{lost}")
    page.get_by_test_id("facts-absent").click()
    expect(page.get_by_test_id("facts-count")).to_have_text(f"{lost} facts")
    page.get_by_test_id("facts-What became of it").click()
    expect(page.get_by_test_id("facts-What became of it")).to_have_attribute("aria-pressed", "true")
    assert page.locator(".ci *").count() < MOST_NODES


def test_a_place_that_says_it_is_chosen_in_this_moment_and_in_another(
    page: Page, workbench: Workbench
) -> None:
    open_lost(page)
    places = page.get_by_test_id("named").get_by_role("button")
    places.first.click()
    # Python hears of the block looked at after a short pause.
    wait_until(lambda: workbench.block != "", page)
    first, here = workbench.block, workbench.at
    assert first == str(find_facts(workbench.session)[LOST_PATH].said[0].ref)
    page.get_by_test_id("tab-facts").click()
    places.last.click()
    page.get_by_test_id("named").get_by_role("button").nth(18).click()
    wait_until(lambda: workbench.block != first, page)
    wait_for_python(page)
    assert workbench.at != here, "what was said after the compaction is in another moment"
    page.get_by_test_id("tab-facts").click()
    expect(page.get_by_test_id("story-title")).to_have_text(LOST_PATH)


MARKS = """() => [...document.querySelectorAll(".ci-dots button")].map(dot => {
  const { x, y, width, height } = dot.getBoundingClientRect();
  return [dot.title, document.elementFromPoint(x + width / 2, y + height / 2) === dot];
})"""
END_HIDES = """() => {
  const row = document.querySelector(".ci-fact-row");
  const end = row.querySelector(".ci-end").getBoundingClientRect();
  // Where there is no room for them the row's name tells them to a hand over it.
  if ((end.width === 0) !== row.querySelector(".ci-label").hasAttribute("title")) return -1;
  const hidden = [...document.querySelectorAll(".ci-dots button")].filter(dot => {
    const { left, right } = dot.getBoundingClientRect();
    return right > end.left && left < end.right;
  });
  return hidden.length;
}"""


def count_marked(page: Page) -> int:
    """How many blocks the dots under the lanes stand for, each of which a hand can hit and an eye can see."""
    marks = page.evaluate(MARKS)
    assert all(seen for _, seen in marks), marks
    assert page.evaluate(END_HIDES) == 0, "the words at the end stand over a dot"
    counts = [re.match(r"(\d+) blocks: ", title) for title, _ in marks]
    return sum(int(count[1]) if count else 1 for count in counts)


def count_named(workbench: Workbench, kind: str, form: str) -> int:
    """How many blocks of the moment's context say a fact or hold its words, whatever a screen tells."""
    session = workbench.session
    said = {said.ref for said in find_facts(session)[kind, form].said}
    words = re.compile(rf"(?<!\w){re.escape(form)}(?!\w)")
    context = workbench.moment.live_refs()
    return sum(
        ref in said or words.search(str(session.block(ref).model_dump())) is not None for ref in context
    )


@pytest.mark.parametrize("width", [1840, 900])
def test_each_block_that_a_story_names_is_marked_under_the_lanes(
    page: Page, workbench: Workbench, width: int
) -> None:
    fill_page(page, width, 1000)
    kinds = [kind["id"] for kind in answer(workbench, type="facts", place=workbench.plan.place)["kinds"]]
    tried = 0
    for kind in kinds:
        page.get_by_test_id(f"facts-{kind}").click()
        wait_for_python(page)
        listed = answer(workbench, type="facts", place=workbench.plan.place, kind=kind)["rows"]
        for at in {0, min(3, len(listed) - 1)}:
            form = listed[at]["form"]
            row = page.get_by_test_id("fact").nth(at)
            expect(row).to_have_attribute("title", form)
            row.click()
            wait_for_python(page)
            title = answer(workbench, type="story", number=listed[at]["number"], place=workbench.plan.place)[
                "title"
            ]
            expect(page.get_by_test_id("story-title")).to_have_text(title)
            expect(page.get_by_test_id("fact-row")).to_be_visible()
            assert count_marked(page) == count_named(workbench, kind, form), (kind, form)
            tried += 1
            if width <= 1080:
                page.get_by_role("button", name="‹ Facts").click()
    assert tried >= 2 * len(kinds) - 3


def test_what_was_needed_again_is_marked_and_told_in_words(page: Page, workbench: Workbench) -> None:
    marks = page.get_by_test_id("again-marks")
    expect(marks).to_have_attribute("role", "img")
    reply = answer(workbench, type="regret")
    again, rebuilds = reply["marks"], find_cache_rebuilds(workbench.session)
    assert any(mark["form"] == LOST_PATH for mark in again)
    expect(marks).to_have_attribute(
        "aria-label", f"Needed again {len(again)} times. Cache rebuilt {len(rebuilds)} times."
    )
    expect(page.get_by_test_id("overview-key")).to_contain_text("$ cache rebuilt")
    # A hand over the place of a rebuild is told why it was and what it cost.
    (expired,) = (mark for mark in reply["rebuilds"] if "114,725 tokens" in mark["sentence"])
    box = marks.bounding_box()
    assert box is not None
    steps = workbench._scene["overview"]["steps"]
    page.mouse.move(box["x"] + (expired["step"] + 0.5) * box["width"] / steps, box["y"] + 50)
    told = "because it had expired: 114,725 tokens sent again, USD 1.09"
    expect(page.locator(".ci-hint")).to_contain_text(told)
    open_lost(page)
    again = page.get_by_test_id("became").filter(has_text="read again")
    again.click()
    expect(page.get_by_test_id("cause")).to_contain_text("It was read again in turn 15")


def test_the_words_for_a_summary_are_copied(page: Page, workbench: Workbench) -> None:
    open_lost(page)
    page.get_by_test_id("story").get_by_role("button", name="copy words").click()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == write_focus([find_facts(workbench.session)[LOST_PATH]])
    assert LOST_PATH in copied


def test_a_recorded_summary_shows_what_has_no_ground(page: Page, workbench: Workbench) -> None:
    workbench.at = ""
    wait_for_python(page)
    live, entries = workbench.plan.table.live, workbench.moment.entries
    owners = [entries[entry] for entry in live.entries[live.position]]
    row, owner = next((i, entry) for i, entry in enumerate(owners) if entry.kind == "compaction")
    wanted = answer(workbench, type="grounding", row=row)["marks"]
    workbench.block = f"{owner.id}/0"
    page.get_by_test_id("show-text").click()
    figure = page.locator(".ci-bodies figure").first
    figure.wait_for()
    wait_until_still(page)
    assert figure.locator("u").all_text_contents() == [mark["words"] for mark in wanted] or not wanted
    if not wanted:
        expect(figure).to_contain_text("Everything the summary mentions occurs in the summarised messages.")


def narrow(page: Page) -> None:
    page.evaluate(
        "width => { document.querySelector('.ci').parentElement.style.width = `${width}px` }", NARROW
    )
    wait_until_still(page)


def test_the_panel_holds_together_where_it_is_narrow(page: Page, workbench: Workbench) -> None:
    narrow(page)
    open_lost(page)
    expect(page.get_by_test_id("story-fix").first).to_be_visible()
    wide = page.evaluate(
        """() => [...document.querySelectorAll('.ci-fx, .ci-fx *')]
        .filter(node => node.scrollWidth > 562 && getComputedStyle(node).overflow === 'visible').length"""
    )
    assert wide == 0
    screenshot(page, "facts-narrow", ".ci")


def test_a_page_without_a_kernel_has_neither_the_tab_of_facts_nor_its_key(
    page: Page, exported_page: Path
) -> None:
    """Every fact of a session is Python's to look for; what such a page can tell of them is in Findings."""
    page.goto(exported_page.as_uri())
    page.get_by_test_id("cut-handle").wait_for()
    tabs = page.get_by_role("tab")
    assert not [name for name in tabs.all_text_contents() if name.startswith("Facts")]
    focus_workbench(page)
    page.keyboard.press("f")
    expect(page.get_by_test_id("facts")).to_have_count(0)
    expect(tabs.filter(has_text="Findings")).to_have_attribute("aria-selected", "true")
    assert find_violations(page, "html") == []


def test_pictures_of_the_facts(page: Page, workbench: Workbench, watch: Watch, widgets: WidgetServer) -> None:
    for dark in (False, True):
        set_theme(page, dark=dark)
        wait_until_still(page)
        screenshot(page, f"facts-all-{'dark' if dark else 'light'}", ".ci")
    open_lost(page)
    for dark in (False, True):
        set_theme(page, dark=dark)
        wait_until_still(page)
        screenshot(page, f"facts-{'dark' if dark else 'light'}", ".ci")
    assert watch.strangers(widgets) == []
