"""What the panels do in a document of JupyterLab, where the server answers and no kernel is there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from inspector import count_tokens, make_plan, open_session, save_plan
from tests.browser.hand import choose_policy, expect_summary, open_tab
from tests.browser.lab import (
    Lab,
    find_file,
    open_lab,
    run,
    set_theme,
    settle,
    wait_for_kernel,
    wait_until_restored,
)
from tests.browser.product import LOST_PATH, open_plan
from tests.browser.screen import Watch, find_violations, screenshot, wait_until
from tests.browser.summary import TEXT, choose, look, status
from tests.loopback import Cue, Loopback


@pytest.fixture
def page(lab_page: Page) -> Iterator[Page]:
    """One tab of JupyterLab for all tests here; each starts with nothing open and in the light theme."""
    yield lab_page
    set_theme(lab_page, dark=False)


def test_axe_finds_nothing_in_a_document(page: Page, lab: Lab) -> None:
    page.set_viewport_size({"width": 1280, "height": 2000})
    open_lab(page, lab)
    lab.write_session("axe.session.jsonl")
    run(page, "docmanager:open", path="axe.session.jsonl")
    settle(page)
    found = []
    for dark in (False, True):
        set_theme(page, dark)
        found += [f"{'dark' if dark else 'light'}: {line}" for line in find_violations(page, ".ci-document")]
    assert not found, "\n" + "\n".join(found)


def test_a_document_finds_its_facts_too(page: Page, lab: Lab, watch: Watch) -> None:
    page.set_viewport_size({"width": 1280, "height": 1600})
    open_lab(page, lab)
    lab.write_session("facts.session.jsonl")
    run(page, "docmanager:open", path="facts.session.jsonl")
    settle(page)
    page.locator(".ci-document .ci").focus()
    page.keyboard.press("f")
    expect(page.get_by_test_id("facts-search")).to_be_focused()
    page.keyboard.type(LOST_PATH)
    expect(page.get_by_test_id("facts-count")).to_have_text("2 facts")
    fact = page.locator(f"[data-testid=fact][title='{LOST_PATH}']")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
        if fact.evaluate("node => node === document.activeElement"):
            break
    expect(fact).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_test_id("became").filter(has_text="by this plan").click()
    expect(page.get_by_role("region", name="Would have kept it")).to_contain_text("Keeps it")
    page.get_by_test_id("story-fix").first.get_by_role("button").click()
    expect(page.get_by_test_id("cause")).to_contain_text("It stays as it is")
    assert watch.strangers(lab) == []


def test_in_a_document_a_rule_is_added_outlives_a_reload_and_the_plan_is_saved(
    page: Page, lab: Lab, watch: Watch
) -> None:
    name = lab.write_session("added.session.jsonl")
    open_lab(page, lab)
    find_file(page, name).dblclick()
    document = settle(page)
    choose_policy(document, "flue")
    open_tab(document, "rules")
    document.get_by_test_id("offer-clear-tool-outputs").click()
    expect(document.get_by_test_id("remove-clear-tool-outputs")).to_be_visible()
    settle(page)
    recipe = document.get_by_test_id("recipe").locator("code")
    told = recipe.inner_text()
    assert "'clear-tool-outputs.enabled': True" in told
    workspaces = lab.notebooks.parent / "workspaces"
    wait_until(lambda: any("clear-tool-outputs" in path.read_text() for path in workspaces.iterdir()), page)
    page.goto(page.url.split("?")[0])
    wait_until_restored(page)
    document = settle(page)
    expect(recipe).to_have_text(told)
    expect(document.get_by_test_id("remove-clear-tool-outputs")).to_be_visible()

    document.get_by_test_id("plans").click()
    document.get_by_test_id("save-plan").click()
    expect(document.get_by_test_id("saved")).to_contain_text("Saved as added.plan.json.")
    plan = open_plan(lab.notebooks / "added.plan.json", lab.notebooks / name)
    assert plan.recipe == recipe.get_attribute("title")
    assert [rule.kind for rule in plan.policy.rules][-1] == "clear-tool-outputs"
    screenshot(page, "saved-plan-document", ".ci-document")
    assert watch.errors == []
    assert watch.strangers(lab) == []


def test_W2_24_a_double_click_on_a_plans_file_opens_its_session_with_it(page: Page, lab: Lab) -> None:
    name = lab.write_session("planned.session.jsonl")
    session = open_session(lab.notebooks / name)
    saved = lab.notebooks / "tail.plan.json"
    save_plan(make_plan(session, count_tokens(session), "keep-recent-turns", {"cut": "end"}), saved)
    before = {path: path.read_bytes() for path in (lab.notebooks / name, saved)}
    open_lab(page, lab)
    find_file(page, saved.name).dblclick()
    document = settle(page)
    expect(document.get_by_test_id("recipe")).to_contain_text("'keep-recent-turns', Edits(cut='end')")
    expect(document.locator(".ci-header > b")).to_have_text("Every high water an hour early")
    assert {path: path.read_bytes() for path in before} == before


def test_the_server_writes_for_a_document_too(page: Page, lab: Lab, provider: Loopback, watch: Watch) -> None:
    name = lab.write_session("written.session.jsonl")
    open_lab(page, lab)
    find_file(page, name).dblclick()
    document = settle(page)
    choose_policy(document, "flue")
    wait_for_kernel(page)
    expect_summary(document)
    provider.cues.extend([Cue(text=TEXT, fault="hangs", after=8)] * 2)
    choose(document, "model")
    look(document).click()
    expect(document.get_by_test_id("summary-text")).to_contain_text("## Goal")
    document.get_by_test_id("writing-cancel").click()
    expect(status(document)).to_have_text("Stopped; nothing of it was kept.")
    expect_summary(document)
    provider.cues.clear()
    provider.cues.extend([Cue(text=TEXT)] * 2)
    document.get_by_test_id("summary-write").click()
    expect(status(document)).to_contain_text("Written by claude-")
    expect_summary(document, by="claude-")
    assert lab.api("kernels") == [], "no kernel is started for it"
    assert watch.strangers(lab) == []
