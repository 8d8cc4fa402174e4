"""The Facts panel: a lost path is found, told, and kept, by one click or by keys alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.bare import WidgetServer, set_theme, wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import focus_workbench
from tests.browser.product import (
    LOST_PATH,
    Workbench,
    find_facts,
    open_demo,
    trace_facts,
    write_focus,
)
from tests.browser.screen import Watch, find_violations, screenshot, wait_until

NARROW = 560
MOST_NODES = 3000


@pytest.fixture
def workbench(open_workbench: OpenWorkbench, page: Page) -> Workbench:
    """The whole context goes into a summary that a model writes: nothing in it names a file."""
    page.set_viewport_size({"width": 1440, "height": 2400})
    workbench = open_workbench(open_demo(), "claude-code", cut="end", tab="facts")
    page.get_by_test_id("at-risk").get_by_text("at risk").wait_for()
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
    page.wait_for_timeout(400)


def find_lost(page: Page) -> Locator:
    type_query(page, LOST_PATH)
    expect(page.get_by_test_id("facts-count")).to_have_text("2 facts")
    # The path itself; a command names it too.
    return page.locator(f"[data-testid=fact][title^='{LOST_PATH}']")


def open_lost(page: Page) -> None:
    find_lost(page).click()
    expect(page.get_by_test_id("fact-form")).to_have_text(LOST_PATH)


def at_risk(page: Page) -> str:
    return page.get_by_test_id("at-risk").inner_text()


def test_a_lost_path_is_found_told_and_kept_by_one_click_and_undo_takes_it_back(
    page: Page, workbench: Workbench, watch: Watch, widgets: WidgetServer
) -> None:
    expect(find_lost(page)).to_contain_text("lost")
    expect(find_lost(page)).to_contain_text("planned")
    open_lost(page)
    chain = page.get_by_test_id("fact-chain").locator("li")
    expect(chain).to_have_count(2)
    expect(chain.nth(0)).to_contain_text("compaction at 158k")
    expect(chain.nth(0)).to_contain_text("lost")
    expect(chain.nth(0)).to_contain_text("recorded")
    expect(chain.nth(1)).to_contain_text("this plan")
    expect(chain.nth(1)).to_contain_text("planned")
    why = trace_facts(find_facts(workbench.session), workbench.plan)[LOST_PATH].why()
    expect(page.get_by_test_id("fact-why")).to_have_text(why)

    fix = page.get_by_test_id("fix").first
    price = fix.locator("xpath=following-sibling::span[1]").get_attribute("title")
    before = workbench.plan.after
    fix.click()
    wait_for_python(page)
    assert len(workbench.pins) == 1
    assert price == f"{workbench.plan.after - before} tokens more", "the price is what it then costs"
    expect(chain.nth(1)).to_contain_text("verbatim")
    expect(page.get_by_test_id("fix")).to_have_count(0)
    expect(find_lost(page)).to_contain_text("verbatim")
    expect(page.get_by_test_id("said")).to_contain_text("Press z to undo")

    focus_workbench(page)
    page.keyboard.press("z")
    wait_for_python(page)
    assert workbench.pins == []
    expect(chain.nth(1)).to_contain_text("lost")
    expect(find_lost(page)).to_contain_text("lost")
    assert watch.errors == []
    assert watch.strangers(widgets) == []


def test_the_count_at_risk_follows_the_hand_without_asking(page: Page, workbench: Workbench) -> None:
    shown = at_risk(page)
    workbench.policy = "flue"
    wait_for_python(page)
    wait_until(lambda: at_risk(page) != shown, page)
    places = answer(workbench, type="facts", place=workbench.plan.place)["risk"]
    handle, lanes = page.get_by_test_id("cut-handle"), page.get_by_test_id("lanes")
    handle.scroll_into_view_if_needed()
    grip, box = handle.bounding_box(), lanes.bounding_box()
    assert grip is not None
    assert box is not None
    y = grip["y"] + grip["height"] / 2
    page.mouse.move(grip["x"] + grip["width"] / 2, y)
    page.mouse.down()
    seen = []
    for share in (0.9, 0.7, 0.5, 0.3):
        page.mouse.move(box["x"] + 100 + (box["width"] - 100) * share, y, steps=4)
        page.wait_for_timeout(60)
        place = int(handle.get_attribute("aria-valuenow") or -1)
        seen.append((at_risk(page), f"{places['places'][place]} of {places['total']} at risk"))
    page.mouse.up()
    wait_for_python(page)
    assert [told for told, _ in seen] == [wanted for _, wanted in seen]
    assert len({told for told, _ in seen}) == len(seen)


def test_facts_are_found_read_and_kept_by_keys_alone(page: Page, workbench: Workbench) -> None:
    type_query(page, LOST_PATH)
    expect(page.get_by_test_id("facts-count")).to_have_text("2 facts")
    titles = [row.get_attribute("title") or "" for row in page.get_by_test_id("fact").all()]
    for _ in range(1 + [title.startswith(LOST_PATH) for title in titles].index(True)):
        page.keyboard.press("ArrowDown")
    active = page.get_by_test_id("facts-search").get_attribute("aria-activedescendant")
    assert (page.locator(f"[id='{active}']").get_attribute("title") or "").startswith(LOST_PATH)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("fact-form")).to_have_text(LOST_PATH)
    assert workbench.pins == []
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.dataset.testid") == "fix":
            break
    expect(page.get_by_test_id("fix").first).to_be_focused()
    page.keyboard.press("Enter")
    wait_for_python(page)
    assert len(workbench.pins) == 1
    expect(page.get_by_test_id("fact-chain").locator("li").last).to_contain_text("verbatim")
    expect(page.get_by_test_id("fact-story")).to_be_focused()
    page.keyboard.press("z")
    wait_for_python(page)
    assert workbench.pins == []


def test_kinds_and_fates_filter_and_their_counts_are_pythons(page: Page, workbench: Workbench) -> None:
    kinds = answer(workbench, type="facts", place=workbench.plan.place)["kinds"]
    for kind in kinds:
        expect(page.get_by_test_id(f"facts-{kind['id']}")).to_have_text(f"{kind['label']}{kind['total']}")
    page.get_by_test_id("facts-file").click()
    lost = next(kind for kind in kinds if kind["id"] == "file")["fates"]["lost"]
    expect(page.get_by_test_id("facts-lost")).to_have_text(f"lost{lost}")
    page.get_by_test_id("facts-lost").click()
    expect(page.get_by_test_id("facts-count")).to_have_text(f"{lost} facts")
    expect(page.get_by_test_id("fact").first).to_have_attribute("aria-setsize", str(lost))
    page.get_by_test_id("facts-lost").press("ArrowLeft")
    expect(page.get_by_test_id("facts-Fate")).to_be_focused()
    expect(page.get_by_test_id("facts-Fate")).to_have_attribute("aria-checked", "true")
    assert page.locator(".ci *").count() < MOST_NODES


def test_a_place_that_says_it_is_chosen_in_this_moment_and_in_another(
    page: Page, workbench: Workbench
) -> None:
    open_lost(page)
    places = page.locator(".ci-places button")
    places.first.click()
    expect(page.get_by_test_id("block")).to_contain_text("Glob")
    # Python hears of the block looked at after a short pause.
    wait_until(lambda: workbench.block != "", page)
    first, here = workbench.block, workbench.at
    places.last.click()
    wait_until(lambda: workbench.block != first, page)
    wait_for_python(page)
    assert workbench.at != here, "what was said after the compaction is in another moment"
    expect(page.get_by_test_id("fact-form")).to_have_text(LOST_PATH)


def test_what_was_needed_again_is_marked_and_told_in_words(page: Page, workbench: Workbench) -> None:
    marks = page.get_by_test_id("fact-marks")
    expect(marks).to_have_attribute("role", "img")
    told = answer(workbench, type="regret")["marks"]
    assert any(mark["form"] == LOST_PATH for mark in told)
    expect(marks).to_have_attribute(
        "aria-label", f"Something was needed again after a compaction {len(told)} times."
    )
    open_lost(page)
    label = marks.get_attribute("aria-label") or ""
    assert label.startswith(
        f"{LOST_PATH} is said in turns 1–20; compaction at 158k: lost, recorded; this plan: lost"
    )
    summary = page.get_by_test_id("regrets").locator("summary")
    expect(summary).to_contain_text(f"{len(told)} times")
    summary.click()
    expect(page.get_by_test_id("regrets").locator("li")).to_have_count(len(told))
    page.get_by_test_id("tab-blocks").click()
    expect(marks).to_be_hidden()


def test_the_words_for_a_summary_are_copied(page: Page, workbench: Workbench) -> None:
    open_lost(page)
    page.get_by_test_id("fact-story").get_by_role("button", name="copy").click()
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
    page.wait_for_timeout(500)
    assert figure.locator("u").all_text_contents() == [mark["words"] for mark in wanted] or not wanted
    if not wanted:
        expect(figure).to_contain_text("What it names is all named by what it summarises.")


def narrow(page: Page) -> None:
    page.evaluate(
        "width => { document.querySelector('.ci').parentElement.style.width = `${width}px` }", NARROW
    )
    page.wait_for_timeout(300)


def test_the_panel_holds_together_where_it_is_narrow(page: Page, workbench: Workbench) -> None:
    narrow(page)
    open_lost(page)
    expect(page.get_by_test_id("fix").first).to_be_visible()
    wide = page.evaluate(
        """() => [...document.querySelectorAll('.ci-tracing, .ci-tracing *')]
        .filter(node => node.scrollWidth > 562 && getComputedStyle(node).overflow === 'visible').length"""
    )
    assert wide == 0
    screenshot(page, "facts-narrow", ".ci")


def test_a_page_without_a_kernel_says_that_it_needs_one(page: Page, exported_page: Path) -> None:
    page.goto(exported_page.as_uri())
    page.get_by_test_id("cut-handle").wait_for()
    focus_workbench(page)
    page.keyboard.press("f")
    expect(page.get_by_test_id("facts-note")).to_contain_text("needs a kernel")
    expect(page.get_by_test_id("facts-list")).to_be_hidden()
    assert find_violations(page, "html") == []


def test_pictures_of_the_facts(page: Page, workbench: Workbench, watch: Watch, widgets: WidgetServer) -> None:
    for dark in (False, True):
        set_theme(page, dark=dark)
        page.wait_for_timeout(300)
        screenshot(page, f"facts-all-{'dark' if dark else 'light'}", ".ci")
    open_lost(page)
    for dark in (False, True):
        set_theme(page, dark=dark)
        page.wait_for_timeout(300)
        screenshot(page, f"facts-{'dark' if dark else 'light'}", ".ci")
    assert watch.strangers(widgets) == []
