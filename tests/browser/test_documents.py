"""What the panels do in a document of JupyterLab, where the server answers and no kernel is there."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from inspector import count_tokens, make_plan, open_session, save_plan
from tests.browser.hand import choose_policy, open_tab
from tests.browser.lab import Lab, find_file, open_lab, run, set_theme, settle, wait_until_restored
from tests.browser.product import LOST_PATH, open_plan
from tests.browser.screen import Watch, screenshot, wait_until


@pytest.fixture
def page(lab_page: Page) -> Iterator[Page]:
    """One tab of JupyterLab for all tests here; each starts with nothing open and in the light theme."""
    yield lab_page
    set_theme(lab_page, dark=False)


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
    expect(page.get_by_role("region", name="Keeps it")).to_contain_text("Keeps it")
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


TALK = ["Is the sluice shut?", "It is.", "Then open it.", "It is open."]


def write_talk(lab: Lab, name: str) -> str:
    """Write a chat as OpenAI's API takes it."""
    roles = ("user", "assistant", "user", "assistant")
    messages = [{"role": role, "content": text} for role, text in zip(roles, TALK, strict=True)]
    (lab.notebooks / name).write_text(json.dumps({"model": "gpt-4.1", "messages": messages}))
    return name


def write_package(lab: Lab) -> str:
    (lab.notebooks / "package.json").write_text('{"name": "tide-tables", "version": "1.0.0"}')
    return "package.json"


def find_tree(page: Page) -> Locator:
    return page.locator(".jp-RenderedJSON", has_text="tide-tables")


@pytest.mark.parametrize("key", [False, True], ids=["double click", "Enter"])
def test_a_file_that_the_server_recognises_opens_in_the_workbench(
    page: Page, lab: Lab, watch: Watch, key: bool
) -> None:
    names = {
        lab.write_session("recognised.jsonl"): "Every high water an hour early",
        write_talk(lab, "chat.json"): TALK[0],
    }
    for name, words in names.items():
        open_lab(page, lab)
        if key:
            find_file(page, name).click()
            page.keyboard.press("Enter")
        else:
            find_file(page, name).dblclick()
        expect(page.locator(".ci-document")).to_contain_text(words)
        expect(page.locator(".jp-RenderedJSON")).to_have_count(0)
    assert watch.errors == []


def test_a_file_that_is_no_session_opens_as_json_also_beside_one(page: Page, lab: Lab, watch: Watch) -> None:
    other, name = write_package(lab), lab.write_session("recognised.jsonl")
    open_lab(page, lab)
    find_file(page, other).dblclick()
    find_tree(page).wait_for()
    expect(page.locator(".ci-document")).to_have_count(0)
    open_lab(page, lab)
    find_file(page, name).click()
    find_file(page, other).click(modifiers=["ControlOrMeta"])
    page.keyboard.press("Enter")
    page.locator(".ci-document").wait_for(state="attached")
    find_tree(page).wait_for(state="attached")
    assert watch.errors == []


def test_a_file_opens_as_usual_if_the_server_cannot_be_asked(page: Page, lab: Lab) -> None:
    name = write_package(lab)
    asked: list[str] = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=404, content_type="text/html", body="<!doctype html>not here")

    open_lab(page, lab)
    page.route("**/inspector/format?**", refuse)
    try:
        find_file(page, name).dblclick()
        find_tree(page).wait_for()
    finally:
        page.unroute("**/inspector/format?**", refuse)
    assert len(asked) == 1


def test_a_setting_leaves_double_clicks_to_jupyterlab(page: Page, lab: Lab, watch: Watch) -> None:
    """JupyterLab reads the settings as it loads, so it is loaded again before and after."""
    name = write_talk(lab, "tide-tables.json")
    save = "async raw => window.jupyterapp.serviceManager.settings.save('compaction-inspector:opener', raw)"
    open_lab(page, lab)
    page.evaluate(save, json.dumps({"doubleClick": False}))
    try:
        page.evaluate("() => { window.isFreshLab = false }")
        open_lab(page, lab)
        watch.requests.clear()
        find_file(page, name).dblclick()
        page.locator(".jp-RenderedJSON", has_text="gpt-4.1").wait_for()
        assert [url for url in watch.requests if "/inspector/" in url] == []
    finally:
        page.evaluate(save, "{}")
        page.evaluate("() => { window.isFreshLab = false }")
