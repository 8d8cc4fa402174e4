"""The Facts panel in JupyterLab: a lost path is found, told, and kept, by one click or by keys alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from inspector import open_demo
from inspector.story import LOST_PATH
from inspector.workbench.page.export import export_html
from tests.browser.lab import (
    WORKBENCH,
    Lab,
    Watch,
    open_lab,
    open_notebook,
    run_all,
    screenshot,
    set_theme,
)
from tests.browser.test_axe import find_violations
from tests.browser.test_workbench import ask, wait_for_python

# The whole context goes into a summary that a model writes: nothing in it names a file.
OPEN = """
import inspector, json
wb = inspector.Workbench(inspector.open_demo(), "claude-code")
wb.cut, wb.mode = "end", "debug"
wb
"""
NARROW = 560
MOST_NODES = 3000


@pytest.fixture
def notebook(page: Page, lab: Lab) -> Iterator[Page]:
    page.set_viewport_size({"width": 1440, "height": 2400})
    open_notebook(page, lab, lab.write_notebook("facts.ipynb", OPEN))
    run_all(page)
    page.get_by_test_id("cut-handle").wait_for()
    page.get_by_test_id("at-risk").get_by_text("at risk").wait_for()
    yield page
    set_theme(page, dark=False)


def held(page: Page, told: str) -> Any:
    """What Python holds."""
    return json.loads(ask(page, f"print(json.dumps({told}))"))


def type_query(page: Page, words: str) -> None:
    page.locator(".ci").focus()
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
    notebook: Page, lab: Lab, watch: Watch
) -> None:
    page = notebook
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
    ask(page, "from inspector import find_facts, trace_facts")
    why = held(page, f"trace_facts(find_facts(wb.session), wb.plan)[{LOST_PATH!r}].why()")
    expect(page.get_by_test_id("fact-why")).to_have_text(why)

    fix = page.get_by_test_id("fix").first
    price = fix.locator("xpath=following-sibling::span[1]").get_attribute("title")
    before = held(page, "wb.plan.after")
    fix.click()
    wait_for_python(page)
    pins = held(page, "list(wb.pins)")
    assert len(pins) == 1
    assert price == f"{held(page, 'wb.plan.after') - before} tokens more", "the price is what it then costs"
    expect(chain.nth(1)).to_contain_text("verbatim")
    expect(page.get_by_test_id("fix")).to_have_count(0)
    expect(find_lost(page)).to_contain_text("verbatim")
    expect(page.get_by_test_id("said")).to_contain_text("Press z to undo")

    page.locator(".ci").focus()
    page.keyboard.press("z")
    wait_for_python(page)
    assert held(page, "list(wb.pins)") == []
    expect(chain.nth(1)).to_contain_text("lost")
    expect(find_lost(page)).to_contain_text("lost")
    assert watch.errors == []
    assert watch.strangers(lab) == []


def test_the_count_at_risk_follows_the_hand_without_asking(notebook: Page) -> None:
    page = notebook
    ask(page, "wb.policy = 'flue'")
    wait_for_python(page)
    page.wait_for_timeout(400)
    places = held(page, "wb._clerk.desk.reply({'type': 'facts', 'id': '', 'place': wb.plan.place})['risk']")
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


def test_facts_are_found_read_and_kept_by_keys_alone(notebook: Page) -> None:
    page = notebook
    type_query(page, LOST_PATH)
    expect(page.get_by_test_id("facts-count")).to_have_text("2 facts")
    titles = [row.get_attribute("title") or "" for row in page.get_by_test_id("fact").all()]
    for _ in range(1 + [title.startswith(LOST_PATH) for title in titles].index(True)):
        page.keyboard.press("ArrowDown")
    active = page.get_by_test_id("facts-search").get_attribute("aria-activedescendant")
    assert (page.locator(f"[id='{active}']").get_attribute("title") or "").startswith(LOST_PATH)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("fact-form")).to_have_text(LOST_PATH)
    assert held(page, "list(wb.pins)") == []
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.dataset.testid") == "fix":
            break
    expect(page.get_by_test_id("fix").first).to_be_focused()
    page.keyboard.press("Enter")
    wait_for_python(page)
    assert len(held(page, "list(wb.pins)")) == 1
    expect(page.get_by_test_id("fact-chain").locator("li").last).to_contain_text("verbatim")
    expect(page.get_by_test_id("fact-story")).to_be_focused()
    page.keyboard.press("z")
    wait_for_python(page)
    assert held(page, "list(wb.pins)") == []


def test_kinds_and_fates_filter_and_their_counts_are_pythons(notebook: Page) -> None:
    page = notebook
    kinds = held(page, "wb._clerk.desk.reply({'type': 'facts', 'id': '', 'place': wb.plan.place})['kinds']")
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


def test_a_place_that_says_it_is_chosen_in_this_moment_and_in_another(notebook: Page) -> None:
    page = notebook
    open_lost(page)
    places = page.locator(".ci-places button")
    places.first.click()
    expect(page.get_by_test_id("block")).to_contain_text("Glob")
    first = held(page, "wb.block") if page.wait_for_timeout(400) is None else ""
    here = held(page, "wb.at")
    places.last.click()
    wait_for_python(page)
    page.wait_for_timeout(600)
    assert held(page, "wb.block") != first
    assert held(page, "wb.at") != here, "what was said after the compaction is in another moment"
    expect(page.get_by_test_id("fact-form")).to_have_text(LOST_PATH)


def test_what_was_needed_again_is_marked_and_told_in_words(notebook: Page) -> None:
    page = notebook
    marks = page.get_by_test_id("fact-marks")
    expect(marks).to_have_attribute("role", "img")
    told = held(page, "wb._clerk.desk.reply({'type': 'regret', 'id': ''})['marks']")
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
    page.get_by_test_id("mode-explore").click()
    expect(marks).to_be_hidden()


def test_the_words_for_a_summary_are_copied(notebook: Page) -> None:
    page = notebook
    open_lost(page)
    page.get_by_test_id("fact-story").get_by_role("button", name="copy").click()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    ask(page, "from inspector import find_facts, write_focus")
    assert copied == held(page, f"write_focus([find_facts(wb.session)[{LOST_PATH!r}]])")
    assert LOST_PATH in copied


def test_a_recorded_summary_shows_what_has_no_ground(notebook: Page) -> None:
    page = notebook
    ask(page, "wb.at = ''")
    wait_for_python(page)
    row = held(
        page,
        "next(i for i, e in enumerate(wb.plan.table.live.entries[wb.plan.table.live.position].tolist())"
        " if wb.moment.entries[e].kind == 'compaction')",
    )
    wanted = held(page, f"wb._clerk.desk.reply({{'type': 'grounding', 'id': '', 'row': {row}}})['marks']")
    ref = held(
        page, f"wb.plan.session.entries[wb.plan.table.live.entries[wb.plan.table.live.position[{row}]]].id"
    )
    ask(page, f"wb.block = '{ref}/0'")
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


def test_the_panel_holds_together_where_it_is_narrow(notebook: Page) -> None:
    page = notebook
    narrow(page)
    open_lost(page)
    expect(page.get_by_test_id("fix").first).to_be_visible()
    wide = page.evaluate(
        """() => [...document.querySelectorAll('.ci-tracing, .ci-tracing *')]
        .filter(node => node.scrollWidth > 562 && getComputedStyle(node).overflow === 'visible').length"""
    )
    assert wide == 0
    screenshot(page, "facts-narrow", ".ci")


def test_a_page_without_a_kernel_says_that_it_needs_one(window: BrowserContext, tmp_path: Path) -> None:
    export_html(open_demo(), tmp_path / "page.html")
    page = window.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.get_by_test_id("cut-handle").wait_for()
    page.locator(".ci").focus()
    page.keyboard.press("f")
    expect(page.get_by_test_id("facts-note")).to_contain_text("needs a kernel")
    expect(page.get_by_test_id("facts-list")).to_be_hidden()
    assert find_violations(page, "html") == []
    page.close()


def test_a_document_finds_its_facts_too(page: Page, lab: Lab, watch: Watch) -> None:
    page.set_viewport_size({"width": 1280, "height": 1600})
    open_lab(page, lab)
    lab.write_session("facts.session.jsonl")
    page.evaluate(
        "path => { window.jupyterapp.commands.execute('docmanager:open', { path }) }", "facts.session.jsonl"
    )
    page.locator(WORKBENCH).wait_for()
    page.locator(".ci-document .ci").focus()
    page.keyboard.press("f")
    expect(page.get_by_test_id("facts-search")).to_be_focused()
    page.keyboard.type(LOST_PATH)
    expect(page.get_by_test_id("facts-count")).to_have_text("2 facts")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("fact-chain")).to_contain_text("this plan")
    page.get_by_test_id("fix").first.click()
    expect(page.get_by_test_id("fact-chain").locator("li").last).to_contain_text("verbatim")
    assert watch.strangers(lab) == []


def test_pictures_of_the_facts(notebook: Page, lab: Lab, watch: Watch) -> None:
    page = notebook
    for dark in (False, True):
        set_theme(page, dark=dark)
        page.wait_for_timeout(300)
        screenshot(page, f"facts-all-{'dark' if dark else 'light'}", ".ci")
    open_lost(page)
    for dark in (False, True):
        set_theme(page, dark=dark)
        page.wait_for_timeout(300)
        screenshot(page, f"facts-{'dark' if dark else 'light'}", ".ci")
    assert watch.strangers(lab) == []
