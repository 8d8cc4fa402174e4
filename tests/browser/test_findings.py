"""The debug story as a person drives it: open, read, click on a fix, undo. By mouse, and by keys alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from inspector import lint, open_demo, open_session
from inspector.demo import read_demo
from tests.browser.bare import wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.product import Workbench, make_plan, make_small_session
from tests.browser.screen import screenshot, wait_until_still

FIRST = "“Look at the almanac as much as you like"
BEFORE = "“One commit each"
PATH = "src/tidepool/calendar/offsets.py"


def wait_for_story(page: Page) -> None:
    expect(page.get_by_test_id("cause")).to_contain_text("Absent. The summary does not mention this.")


def choose_file(page: Page) -> None:
    """Choose the changed file that was lost, below the rules."""
    wait_for_story(page)
    panel = page.get_by_role("tabpanel").filter(visible=True)
    # On a narrow screen the list is behind the story.
    panel.get_by_test_id("finding").filter(has_text="offsets.py").first.dispatch_event("click")
    expect(page.get_by_test_id("story-title")).to_have_text(PATH)
    wait_for_story(page)


def test_W2_2_it_opens_on_the_first_loss_and_the_closest_words(page: Page, opened: Workbench) -> None:
    wait_for_story(page)
    assert (opened.tab, opened.look) == ("compactions", "recorded:1")
    expect(page.get_by_test_id("story-title")).to_contain_text(FIRST)
    expect(page.get_by_test_id("tab-findings")).to_have_text(f"Findings{len(lint(open_demo()))}")
    choose_file(page)
    mark = page.get_by_test_id("evidence").nth(1).locator("mark")
    expect(mark).to_have_text("offsets")
    expect(mark).to_be_in_viewport()
    screenshot(page, "findings")


def test_W2_16_the_first_fix_stands_on_the_first_screen(page: Page, open_workbench: OpenWorkbench) -> None:
    """What would have kept it, with its price, is seen without a scroll or a click, in a cell too."""
    page.add_style_tag(content="body { padding: 0 !important }")
    workbench = open_workbench(policy="auto", tab="findings", height=720)
    for width, height in ((1400, 720), (900, 720), (720, 720), (560, 900)):
        page.set_viewport_size({"width": width, "height": height})
        workbench.height = height
        choose_file(page)
        fix = page.get_by_test_id("story-fix").first
        expect(fix).to_contain_text("+1,")
        expect(fix.get_by_role("button", name="Pin")).to_be_in_viewport(ratio=1)


def test_where_nothing_was_lost_a_sentence_says_so_at_every_width(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    open_workbench(make_small_session(), policy="auto", tab="findings")
    for width in (1400, 900, 560):
        page.set_viewport_size({"width": width, "height": 900})
        wait_until_still(page)
        expect(page.get_by_test_id("findings-none")).to_be_visible()
        expect(page.get_by_test_id("findings-none")).to_contain_text("This file records no compaction.")


def test_W2_15_what_became_of_it_changes_chain_text_and_fixes(page: Page, opened: Workbench) -> None:
    choose_file(page)
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
    choose_file(page)
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


def count_findings(page: Page) -> int:
    return int(page.get_by_test_id("tab-findings").inner_text().removeprefix("Findings") or 0)


@pytest.mark.parametrize("tab", ["compactions", "findings"])
def test_after_a_fix_story_lane_counter_and_tab_are_those_of_the_plan(
    page: Page, open_workbench: OpenWorkbench, tab: str
) -> None:
    """The recorded compaction lost the fact; the plan keeps it, and no part of the screen says otherwise."""
    opened = open_workbench(policy="auto")
    page.get_by_test_id(f"tab-{tab}").click()
    choose_file(page)
    recorded = count_findings(page)
    page.get_by_test_id("story-fix").first.get_by_role("button", name="Pin").click()
    cause, lane = page.get_by_test_id("cause"), page.get_by_test_id("fact-lane")
    expect(cause).to_contain_text("Kept.")
    wait_for_python(page)
    assert opened.plan.trace[PATH].outcome == "verbatim"
    expect(page.get_by_test_id("story-title")).to_have_text(PATH)
    expect(lane).to_contain_text("after the cut")
    expect(lane).not_to_contain_text("◆1")
    left = page.get_by_test_id("finding").count()
    assert left == count_findings(page) < recorded
    expect(page.get_by_role("navigation", name="Findings")).to_contain_text(f"{left} left")
    page.get_by_test_id("said-undo").click()
    wait_for_story(page)
    expect(lane).to_contain_text("◆1")
    expect(page.get_by_role("navigation", name="Findings")).to_contain_text(f"3 of {recorded}")
    assert count_findings(page) == recorded


def test_the_tab_counts_the_findings_of_the_plan_no_matter_which_tab_is_open(
    page: Page, open_workbench: OpenWorkbench
) -> None:
    opened = open_workbench(policy="auto")
    wait_for_story(page)
    page.get_by_test_id("tab-blocks").click()
    page.get_by_test_id("cut-handle").press("PageUp")
    wait_for_python(page)
    expect(page.get_by_test_id("losses")).to_be_visible()
    assert opened.look == "plan"
    counted = count_findings(page)
    page.get_by_test_id("tab-findings").click()
    wait_for_python(page)
    navigation = page.get_by_role("tabpanel").filter(visible=True).get_by_role("navigation", name="Findings")
    expect(navigation).to_contain_text(f"1 of {counted}")
    assert count_findings(page) == counted


def test_the_debug_story_by_keys_alone(page: Page, open_workbench: OpenWorkbench) -> None:
    page.set_viewport_size({"width": 1840, "height": 900})
    opened = open_workbench(policy="auto")
    choose_file(page)
    page.locator(".ci-fd-row[aria-current]").focus()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_test_id("story-title")).to_contain_text(BEFORE)
    page.keyboard.press("ArrowDown")
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


def test_a_reader_marks_the_opening_claim_not_lost_and_takes_that_back(
    page: Page, open_workbench: OpenWorkbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By mouse, then by keys; the check, the table of compactions and a reload agree each time."""
    page.set_viewport_size({"width": 1800, "height": 900})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "demo.jsonl"
    file.write_bytes(read_demo())

    def count() -> tuple[int, int]:
        session = open_session(file)
        return len(lint(session)), session.compactions[0].harm[0]

    opened = open_workbench(file, policy="auto")
    wait_for_story(page)
    findings, harm = count()
    shown = int(page.get_by_test_id("tab-findings").inner_text().removeprefix("Findings"))
    page.get_by_test_id("judge").get_by_role("button", name="Not lost").click()
    expect(page.get_by_test_id("judge")).to_contain_text("Marked not lost by you.")
    expect(page.get_by_test_id("story-title")).to_contain_text(FIRST)
    expect(page.get_by_test_id("story")).to_have_attribute("data-tone", "")
    group = page.get_by_role("region", name="Marked not lost by you")
    expect(group.get_by_test_id("finding")).to_have_count(1)
    left = int(page.get_by_test_id("tab-findings").inner_text().removeprefix("Findings"))
    assert left < shown
    # The pager counts what the tab counts, at every width.
    pager = page.get_by_role("navigation", name="Findings")
    page.set_viewport_size({"width": 600, "height": 900})
    expect(pager).to_contain_text(f"{left} left")
    page.set_viewport_size({"width": 1800, "height": 900})
    assert count() == (findings - (shown - left), harm - 1)

    opened.close()
    open_workbench(file, policy="auto", tab="findings")
    expect(page.get_by_test_id("judge")).to_have_count(2)  # the closed one stays on the page, before it
    expect(group).to_have_count(2)
    tab, judge = page.get_by_test_id("tab-findings").last, page.get_by_test_id("judge").last
    expect(tab).to_contain_text(str(left))
    page.get_by_role("region", name="Marked not lost by you").last.get_by_test_id("finding").click()
    undo = judge.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    wait_until_still(page)  # the answer draws the button again
    undo.focus()
    expect(undo).to_be_focused()
    page.keyboard.press("Enter")
    expect(tab).to_contain_text(str(shown))
    # The focus stays with the judgement, so that the next key judges again.
    expect(judge.get_by_role("button", name="Right")).to_be_focused()
    page.keyboard.press("Enter")
    expect(judge).to_contain_text("Marked right by you.")
    assert count() == (findings, harm)
