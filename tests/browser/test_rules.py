"""Rules that are added and removed, plans that are saved: by hand and by keys, and in Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.bare import WidgetServer, wait_for_python
from tests.browser.conftest import OpenWorkbench
from tests.browser.hand import fill_page, focus_workbench, open_tab
from tests.browser.product import FATES, Workbench, make_again, open_plan, read_demo
from tests.browser.screen import Watch, find_violations, screenshot

NARROW = 560


@pytest.fixture(autouse=True)
def tall(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 1500})


def kinds(workbench: Workbench) -> list[str]:
    return [rule.kind for rule in workbench.plan.policy.rules]


@pytest.fixture
def workbench(open_workbench: OpenWorkbench) -> Workbench:
    """The bundled session with its rules open."""
    return open_workbench(tab="rules")


def offer(page: Page, kind: str) -> Locator:
    return page.get_by_test_id(f"offer-{kind}")


def focused(page: Page) -> str:
    return str(page.evaluate("() => document.activeElement.dataset.testid ?? ''"))


def test_a_rule_is_added_by_mouse_undone_redone_and_removed(
    page: Page, workbench: Workbench, watch: Watch, widgets: WidgetServer
) -> None:
    before, was = kinds(workbench), workbench.plan.after
    cut = workbench.plan.cut.entry
    price = offer(page, "clear-tool-outputs").locator("small").get_attribute("title") or ""
    offer(page, "clear-tool-outputs").click()
    wait_for_python(page)
    assert kinds(workbench) == [*before, "clear-tool-outputs"]
    assert workbench.policy == "flue"
    assert workbench.plan.cut.entry == cut
    change = workbench.plan.after - was
    assert price == f"{change:,} tokens".replace("-", "\u2212"), "the price is what it then costs"
    assert change < 0
    expect(page.get_by_test_id("said")).to_contain_text(
        "Clear tool outputs in the request added. Press z to undo."
    )
    assert focused(page) == "remove-clear-tool-outputs"

    page.get_by_test_id("all-settings").click()
    page.get_by_test_id("settings-search").fill("keep")
    page.get_by_test_id("set-clear-tool-outputs.keep").fill("8")
    page.get_by_test_id("set-clear-tool-outputs.keep").press("Enter")
    page.keyboard.press("Escape")
    page.get_by_test_id("settings").wait_for(state="hidden")
    wait_for_python(page)
    told = page.get_by_test_id("recipe").locator("code").inner_text()
    again = make_again(told, workbench)
    assert again.fate.tolist() == workbench.plan.fate.tolist()
    assert again.policy == workbench.plan.policy

    focus_workbench(page)
    for left in ([*before, "clear-tool-outputs"], before):
        page.keyboard.press("z")
        wait_for_python(page)
        assert kinds(workbench) == left
    page.keyboard.press("Z")
    wait_for_python(page)
    assert kinds(workbench) == [*before, "clear-tool-outputs"]
    page.get_by_test_id("remove-clear-tool-outputs").click()
    wait_for_python(page)
    assert kinds(workbench) == before
    assert workbench.settings == {}
    assert focused(page).startswith("offer-")
    assert watch.errors == []
    assert watch.strangers(widgets) == []


def test_a_saved_plan_opens_equal_in_python(
    page: Page,
    open_workbench: OpenWorkbench,
    watch: Watch,
    widgets: WidgetServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    session = Path("kept", "story.jsonl")
    session.parent.mkdir()
    session.write_bytes(read_demo())
    workbench = open_workbench(str(session))
    page.get_by_test_id("cut-handle").press("PageUp")
    wait_for_python(page)
    workbench.settings = {"dedupe-reads.enabled": True}
    wait_for_python(page)
    page.get_by_test_id("plans").click()
    page.get_by_test_id("save-plan").click()
    told = page.get_by_test_id("saved")
    expect(told).to_have_text(
        'Saved as story.plan.json. In Python, open_plan("kept/story.plan.json", session) opens it.'
    )
    place = session.with_name("story.plan.json")
    plan = open_plan(place, session)
    assert (plan.edits.cut, plan.after) == (workbench.cut, workbench.plan.after)
    assert plan.fate.tolist() == workbench.plan.fate.tolist()
    assert plan.policy.rules[3].kind == "dedupe-reads"
    assert plan.recipe == page.get_by_test_id("recipe").locator("code").get_attribute("title")

    page.get_by_test_id("cut-handle").press("PageUp")
    wait_for_python(page)
    page.keyboard.press("Escape")
    page.get_by_test_id("plans").click()
    expect(told).to_be_hidden()
    page.get_by_test_id("save-plan").focus()
    page.keyboard.press("Enter")
    expect(told).to_contain_text("story-2.plan.json")
    assert {path.name for path in place.parent.iterdir()} == {
        "story.jsonl",
        "story.plan.json",
        "story-2.plan.json",
    }
    screenshot(page, "saved-plan", ".ci")
    page.set_viewport_size({"width": 900, "height": 900})
    screenshot(page, f"saved-plan-{NARROW}", ".ci")
    assert find_violations(page) == []
    assert watch.errors == []
    assert watch.strangers(widgets) == []


def test_a_rule_has_one_name_in_rules_blocks_and_story(page: Page, open_workbench: OpenWorkbench) -> None:
    fill_page(page, 1400, 1000)
    workbench = open_workbench(policy="flue", tab="rules")
    title = "Summarise older"
    (kind,) = [rule.kind for rule in workbench.plan.policy.rules if rule.title == title]
    row = page.locator(f".ci-waterfall [data-kind={kind}]")
    expect(row.locator("b").first).to_have_text(f"{title}:")
    number = row.locator(".ci-nth").inner_text()
    # The list of blocks, of a block that it takes.
    taken = [at for at, code in enumerate(workbench.plan.fate) if FATES[code] == "summarised"]
    workbench.block = str(workbench.plan.session.live_refs()[taken[0]])
    open_tab(page, "blocks")
    expect(page.locator(".ci-block")).to_contain_text(f"rule {number}, {title}")
    # The story of a fact that it takes.
    open_tab(page, "findings")
    story = page.locator("[data-panel=findings]")
    expect(story).to_contain_text(f"decided by the rule “{title}”")
    expect(story).not_to_contain_text(kind)
