"""Two plans side by side: what is chosen, what is drawn, all with Python's numbers."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from inspector.workbench.words import label_of
from tests.browser.bare import WidgetServer, wait_for_python
from tests.browser.hand import choose_policy
from tests.browser.product import FATES, Workbench, find_recorded, trace_history
from tests.browser.screen import Watch, wait_until_still

WIDE, NARROW = ViewportSize(width=1440, height=2000), ViewportSize(width=780, height=3000)


@pytest.fixture(autouse=True)
def wide(page: Page) -> None:
    page.set_viewport_size(WIDE)


def choose(page: Page, value: str) -> None:
    page.get_by_test_id("plans").click()
    menu = page.get_by_test_id("plans-menu")
    menu.get_by_test_id("compare-with").click()
    own = {":hold": "[data-testid=compare-held]", ":recorded": "[data-testid=compare-recorded]"}
    chosen = menu.locator(own.get(value, f"[data-policy='{value}']"))
    if value not in own and chosen.count() == 0:
        menu.locator(".ci-variants").first.wait_for()
        for family in menu.locator(".ci-variants").all():
            family.click()
    chosen.click()
    wait_for_python(page)
    wait_until_still(page)


def edit(page: Page, policy: str) -> None:
    choose_policy(page, policy)
    wait_for_python(page)


def number(text: str | None) -> int:
    """What a cell says, as a number."""
    digits = re.sub(r"[\s,]", "", text or "").replace("\u2212", "-")
    return int(digits)


def cells(page: Page, row: int) -> list[str]:
    return page.locator(f"[data-row='{row}'] [role=gridcell]").all_text_contents()


def test_what_the_file_records_is_chosen_by_keyboard_and_is_pythons(
    page: Page, workbench: Workbench, watch: Watch, widgets: WidgetServer
) -> None:
    page.get_by_test_id("plans").focus()
    page.keyboard.press("Enter")
    page.get_by_test_id("compare-with").focus()
    page.keyboard.press("Enter")
    page.get_by_test_id("compare-recorded").focus()
    page.keyboard.press("Enter")
    wait_for_python(page)
    expect(page.get_by_test_id("gauge-other")).to_be_visible()
    assert workbench.versus == {"recorded": True}
    other = workbench.get_state("_other")["_other"]
    told = other["told"]
    assert told
    for what, tokens, source in told:
        expect(page.get_by_test_id("gauge-other")).to_have_attribute(
            "title", re.compile(re.escape(f"{what} {tokens}: {source}"))
        )
    plan, session = workbench.plan, workbench.session
    found = find_recorded(plan, trace_history(session, workbench.ledger))
    assert found.after == other["after"]["total"]
    title = page.get_by_test_id("gauge-other").get_attribute("title") or ""
    assert number(title.split(" tokens")[0]) == found.after
    differing = ((plan.fate != found.fate) | (plan.outcome.tokens != found.tokens)).sum()
    expect(page.get_by_test_id("differing")).to_contain_text(f"{differing} of")
    # The recorded summary itself, under B's cut.
    page.locator("[data-cut=b]").scroll_into_view_if_needed()
    page.locator("[data-cut=b]").click()
    expect(page.get_by_label("plan B's summary")).to_contain_text(
        session[found.entry.id].text.strip().splitlines()[0][:60]
    )
    assert watch.errors == []
    assert watch.strangers(widgets) == []


def test_rows_of_two_plans_say_what_python_says(page: Page, workbench: Workbench) -> None:
    edit(page, "stud-wiki-deterministic")
    choose(page, "flue")
    seen = 0
    for _ in range(12):
        page.get_by_role("button", name="Next difference").click()
        wait_until_still(page)
        chosen = page.locator(".ci-chosen")
        if chosen.count() == 0:
            continue
        row = int(chosen.get_attribute("data-row") or -1)
        sides = (workbench.plan.outcome, workbench.other.outcome)
        (mine, left), (theirs, right) = ((side.fate[row], side.tokens[row]) for side in sides)
        told = cells(page, row)
        assert told[2].strip() == label_of(FATES[mine])
        assert told[3].strip() == label_of(FATES[theirs])
        assert (number(told[4]), number(told[5])) == (left, right - left)
        seen += 1
    assert seen > 3
    totals = [side.after for side in (workbench.plan, workbench.other)]
    for name, total in zip(("gauge-after", "gauge-other"), totals, strict=True):
        title = page.get_by_test_id(name).get_attribute("title") or ""
        assert number(title.split(" tokens")[0]) == total
