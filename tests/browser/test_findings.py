"""The debug story as a person drives it: open, read, click on a fix, undo. By mouse, and by keys alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from inspector import lint, open_demo
from tests.browser.conftest import OpenWorkbench
from tests.browser.product import Workbench, make_plan, make_small_session
from tests.browser.screen import screenshot

NEXT = "“Look at the almanac as much as you like"
PATH = "src/tidepool/calendar/offsets.py"


def wait_for_story(page: Page) -> None:
    expect(page.get_by_test_id("cause")).to_contain_text("Absent. The summary does not mention this.")


def test_W2_2_it_opens_on_the_first_loss_and_the_closest_words(page: Page, opened: Workbench) -> None:
    wait_for_story(page)
    assert opened.tab == "findings"
    assert opened.look == "recorded:1"
    expect(page.get_by_test_id("story-title")).to_have_text(PATH)
    mark = page.get_by_test_id("evidence").nth(1).locator("mark")
    expect(mark).to_have_text("offsets")
    expect(mark).to_be_in_viewport()
    # Choices and decisions are no findings; one rule is for the reader to check.
    found = [finding for finding in lint(open_demo()) if finding.code not in ("CI010", "CI014")]
    expect(page.get_by_test_id("tab-findings")).to_contain_text(str(len(found) + 1))
    screenshot(page, "findings")


@pytest.mark.parametrize(
    ("width", "height"), [(1400, 900), (900, 900), (560, 900), (1400, 720), (900, 720), (720, 720)]
)
def test_W2_16_the_first_fix_stands_on_the_first_screen(
    page: Page, open_workbench: OpenWorkbench, width: int, height: int
) -> None:
    """What would have kept it, with its price, is seen without a scroll or a click, in a cell too."""
    page.set_viewport_size({"width": width, "height": height})
    page.add_style_tag(content="body { padding: 0 !important }")
    open_workbench(policy="auto", height=height)
    wait_for_story(page)
    fix = page.get_by_test_id("story-fix").first
    expect(fix).to_contain_text("+1,")
    expect(fix.get_by_role("button", name="Pin")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("width", [1400, 900, 560])
def test_where_nothing_was_lost_a_sentence_says_so_at_every_width(
    page: Page, open_workbench: OpenWorkbench, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    open_workbench(make_small_session(), policy="auto", tab="findings")
    expect(page.get_by_test_id("findings-none")).to_be_visible()
    expect(page.get_by_test_id("findings-none")).to_contain_text("This file records no compaction.")


def test_the_list_of_findings_is_gone_through_by_arrows_where_the_story_takes_its_place(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    page.set_viewport_size({"width": 900, "height": 900})
    open_workbench(policy="auto", height=860)
    wait_for_story(page)
    page.get_by_role("button", name="‹ Findings").press("Enter")
    rows = page.get_by_test_id("finding")
    rows.first.press("ArrowDown")
    expect(rows.nth(1)).to_be_focused()
    expect(rows.nth(1)).to_contain_text("never touch")
    expect(page.get_by_test_id("cause")).to_be_hidden()
    rows.nth(1).press("Enter")
    expect(page.get_by_test_id("story-title")).to_contain_text("never touch")
    expect(rows.nth(1)).to_be_hidden()


def test_W2_15_what_became_of_it_changes_chain_text_and_fixes(page: Page, opened: Workbench) -> None:
    wait_for_story(page)
    sides, rows = page.get_by_test_id("evidence"), page.get_by_test_id("became")
    expect(sides.nth(1)).to_have_accessible_name("The summary says")
    expect(rows).to_have_count(3)
    steps = page.get_by_role("list", name="What happened to it")
    before, fixes = steps.inner_text(), page.get_by_test_id("story-fix").all_inner_texts()
    rows.filter(has_text="by this plan").click()
    expect(page.get_by_test_id("cause")).not_to_contain_text("The summary does not mention this.")
    expect(rows.filter(has_text="by this plan")).to_have_attribute("aria-pressed", "true")
    assert steps.inner_text() != before
    rows.filter(has_text="absent in ◆1").click()
    wait_for_story(page)
    expect(sides.nth(1)).to_have_accessible_name("The summary says")
    assert (steps.inner_text(), page.get_by_test_id("story-fix").all_inner_texts()) == (before, fixes)


def test_W2_16_one_click_on_a_fix_is_its_price_and_undo_takes_it_back(page: Page, opened: Workbench) -> None:
    wait_for_story(page)
    before = make_plan(opened.moment, opened.ledger, "recorded").after
    inputs = (opened.policy, opened.pins, dict(opened.settings), opened.cut, opened.at, opened.look)
    fix = page.get_by_test_id("story-fix").first
    price = int(fix.locator(".ci-st-number").first.inner_text().replace(",", ""))
    button = fix.get_by_role("button")
    button.click()  # the second gesture: opening was the first
    expect(fix.get_by_role("button")).to_have_text("Undo")
    assert opened.plan.after - before == price > 0
    assert opened.look == "plan"
    expect(fix).to_contain_text("✓ kept by pin")
    expect(fix).to_contain_text("lines re-read")
    expect(page.get_by_test_id("said")).to_contain_text(f"+{price:,} tokens")
    expect(page.get_by_test_id("story-title")).to_have_text(PATH)
    expect(fix.get_by_role("button")).to_be_focused()
    page.get_by_test_id("said-undo").click()
    expect(fix.get_by_role("button")).to_have_text("Pin")
    assert (opened.policy, opened.pins, opened.settings, opened.cut, opened.at, opened.look) == inputs


def test_a_fix_is_taken_back_by_the_button_next_to_it(page: Page, opened: Workbench) -> None:
    """The counts drop with it, and rise again; the rest of what was set stays."""
    wait_for_story(page)
    fix = page.get_by_test_id("story-fix").first
    plan_row = page.get_by_test_id("became").last
    fix.get_by_role("button", name="Pin").click()
    expect(fix).to_contain_text("✓ kept by pin")
    expect(plan_row).to_contain_text("pinned in turn")
    pinned = opened.plan
    fix.get_by_role("button", name="Undo").click()
    expect(fix.get_by_role("button")).to_have_text("Pin")
    expect(fix).not_to_contain_text("kept by pin")
    expect(plan_row).not_to_contain_text("pinned in turn")
    assert (opened.pins, opened.policy) == ([], "recorded")
    assert opened.plan.trace[PATH].outcome == "absent" and pinned.trace[PATH].outcome == "verbatim"


def test_a_fix_of_the_plan_leaves_its_story_and_the_focus_where_they_are(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    """What it keeps is off the list of what the plan loses, and on again once it is undone."""
    workbench = open_workbench(policy="flue", tab="findings")
    workbench.look = "plan"
    expect(page.get_by_test_id("cause")).to_contain_text("It is absent unless the summary names it")
    title = page.get_by_test_id("story-title").inner_text()
    tab = page.get_by_test_id("tab-findings")
    number = int(tab.inner_text().removeprefix("Findings"))
    fix = page.get_by_test_id("story-fix").first.get_by_role("button")
    fix.click()
    expect(fix).to_have_text("Undo")
    expect(fix).to_be_focused()
    expect(page.get_by_test_id("story-title")).to_have_text(title)
    expect(page.get_by_test_id("cause")).to_contain_text("It stays as it is")
    expect(tab).to_have_text(f"Findings{number - 1}")
    page.keyboard.press("Control+z")
    expect(tab).to_have_text(f"Findings{number}")
    expect(page.get_by_test_id("story-title")).to_have_text(title)
    expect(fix).to_have_text("Pin")


def test_the_debug_story_by_keys_alone(page: Page, open_workbench: OpenWorkbench) -> None:
    page.set_viewport_size({"width": 1840, "height": 900})
    opened = open_workbench(policy="auto")
    wait_for_story(page)
    page.locator(".ci-fd-row[aria-current]").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_test_id("story-title")).to_contain_text(NEXT)
    page.keyboard.press("ArrowUp")
    expect(page.get_by_test_id("story-title")).to_have_text(PATH)
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('[data-testid=story-fix]') !== null"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("story-fix").first.get_by_role("button")).to_have_text("Undo")
    page.keyboard.press("Control+z")
    expect(page.get_by_test_id("story-fix").first.get_by_role("button")).to_have_text("Pin")
    assert opened.pins == []
