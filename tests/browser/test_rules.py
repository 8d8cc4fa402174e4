"""Rules that are added and removed, plans that are saved: in JupyterLab by hand and by keys, in Python."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from inspector import open_demo, open_plan
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.page.export import export_html
from tests.browser.lab import (
    Lab,
    Watch,
    find_file,
    open_lab,
    open_notebook,
    run_all,
    screenshot,
    set_theme,
    wait_until_restored,
)
from tests.browser.test_axe import find_violations
from tests.browser.test_labextension import settle, wait_until
from tests.browser.test_workbench import ask, wait_for_python

OPEN = """
import inspector, json
session = inspector.open_demo()
wb = inspector.Workbench(session)
wb
"""
NARROW = 560


@pytest.fixture
def notebook(page: Page, lab: Lab) -> Iterator[Page]:
    page.set_viewport_size({"width": 1440, "height": 1500})
    open_notebook(page, lab, lab.write_notebook("rules.ipynb", OPEN))
    run_all(page)
    page.get_by_test_id("cut-handle").wait_for()
    page.get_by_test_id("add-rule").scroll_into_view_if_needed()
    yield page
    set_theme(page, dark=False)


def held(page: Page, told: str) -> Any:
    """What Python holds."""
    return json.loads(ask(page, f"print(json.dumps({told}))"))


def kinds(page: Page) -> list[str]:
    held_kinds: list[str] = held(page, "[rule.kind for rule in wb.plan.policy.rules]")
    return held_kinds


def offer(page: Page, kind: str) -> Locator:
    return page.get_by_test_id(f"offer-{kind}")


def focused(page: Page) -> str:
    return str(page.evaluate("() => document.activeElement.dataset.testid ?? ''"))


def test_a_rule_is_added_by_mouse_undone_redone_and_removed(notebook: Page, lab: Lab, watch: Watch) -> None:
    page = notebook
    before, was = kinds(page), held(page, "wb.plan.after")
    cut = held(page, "wb.plan.cut.entry")
    page.get_by_test_id("add-rule").click()
    price = offer(page, "clear-tool-outputs").locator("small").get_attribute("title") or ""
    offer(page, "clear-tool-outputs").click()
    wait_for_python(page)
    assert kinds(page) == [*before, "clear-tool-outputs"]
    assert held(page, "wb.policy") == "flue"
    assert held(page, "wb.plan.cut.entry") == cut
    change = held(page, "wb.plan.after") - was
    assert price == f"{change:,} tokens".replace("-", "\u2212"), "the price is what it then costs"
    assert change < 0
    expect(page.get_by_test_id("said")).to_contain_text(
        "Clear tool outputs at the wire added. Press z to undo."
    )
    assert focused(page) == "knob-clear-tool-outputs.enabled"

    page.get_by_test_id("knob-clear-tool-outputs.keep").fill("8")
    page.get_by_test_id("knob-clear-tool-outputs.keep").press("Enter")
    wait_for_python(page)
    told = page.get_by_test_id("recipe").locator("code").inner_text()
    same = f"{told}.fate.tolist() == wb.plan.fate.tolist()"
    ask(page, "from inspector import *\nfrom inspector.policies.policy import Edits\nledger = wb.ledger")
    assert held(page, same) is True
    assert held(page, f"({told}).policy == wb.plan.policy") is True

    page.locator(".ci").focus()
    for left in ([*before, "clear-tool-outputs"], before):
        page.keyboard.press("z")
        wait_for_python(page)
        assert kinds(page) == left
    page.keyboard.press("Z")
    wait_for_python(page)
    assert kinds(page) == [*before, "clear-tool-outputs"]
    page.get_by_test_id("remove-clear-tool-outputs").click()
    wait_for_python(page)
    assert kinds(page) == before
    assert held(page, "wb.settings") == {}
    assert focused(page) == "add-rule"
    assert watch.errors == []
    assert watch.strangers(lab) == []


def test_a_rule_is_added_by_keys_alone_in_place_of_another(notebook: Page) -> None:
    page = notebook
    page.locator(".ci").focus()
    page.keyboard.press("a")
    expect(page.get_by_test_id("offers").get_by_role("button").first).to_be_focused()
    while focused(page) != "offer-keep-recent-messages":
        page.keyboard.press("ArrowDown")
    expect(offer(page, "keep-recent-messages")).to_contain_text("in place of Keep recent tokens")
    page.keyboard.press("Enter")
    wait_for_python(page)
    assert held(page, "wb.settings") == {
        "keep-recent-messages.enabled": True,
        "keep-recent-tokens.enabled": False,
    }
    expect(page.get_by_test_id("knob-keep-recent-messages.enabled")).to_be_focused()
    page.get_by_test_id("remove-keep-recent-messages").focus()
    page.keyboard.press("Enter")
    wait_for_python(page)
    assert held(page, "wb.settings") == {}
    page.keyboard.press("z")
    wait_for_python(page)
    assert len(held(page, "wb.settings")) == 2
    page.keyboard.press("z")
    wait_for_python(page)
    assert held(page, "wb.settings") == {}
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("offers")).to_be_hidden()
    assert focused(page) == "add-rule"


@pytest.mark.parametrize("dark", [False, True])
def test_how_it_looks(notebook: Page, dark: bool) -> None:
    page = notebook
    set_theme(page, dark=dark)
    page.get_by_test_id("add-rule").click()
    offer(page, "dedupe-reads").click()
    wait_for_python(page)
    page.get_by_test_id("add-rule").click()
    expect(offer(page, "keep-root")).to_be_visible()
    assert find_violations(page) == []
    name = f"rules-{'dark' if dark else 'light'}"
    screenshot(page, name, ".ci")
    page.set_viewport_size({"width": NARROW, "height": 1500})
    page.get_by_test_id("offers").scroll_into_view_if_needed()
    screenshot(page, f"{name}-{NARROW}", "[data-testid=rules]")


def test_a_saved_plan_opens_equal_in_python(page: Page, lab: Lab, watch: Watch) -> None:
    name = lab.write_session("kept/story.jsonl")
    code = f"import inspector, json\nwb = inspector.Workbench({name!r})\nwb"
    open_notebook(page, lab, lab.write_notebook("save.ipynb", code))
    run_all(page)
    page.get_by_test_id("cut-handle").wait_for()
    page.get_by_test_id("cut-handle").press("PageUp")
    wait_for_python(page)
    ask(page, "wb.settings = {'dedupe-reads.enabled': True}")
    wait_for_python(page)
    page.get_by_test_id("save-plan").click()
    told = page.get_by_test_id("saved")
    expect(told).to_have_text(
        'Saved as story.plan.json. In Python, open_plan("kept/story.plan.json", session) makes it again.'
    )
    place = lab.notebooks / "kept" / "story.plan.json"
    plan = open_plan(place, lab.notebooks / name)
    assert (plan.edits.cut, plan.after) == (held(page, "wb.cut"), held(page, "wb.plan.after"))
    assert plan.fate.tolist() == held(page, "wb.plan.fate.tolist()")
    assert plan.policy.rules[3].kind == "dedupe-reads"
    assert plan.recipe == page.get_by_test_id("recipe").locator("code").inner_text()

    page.get_by_test_id("cut-handle").press("PageUp")
    wait_for_python(page)
    expect(told).to_be_hidden()
    page.get_by_test_id("save-plan").focus()
    page.keyboard.press("Enter")
    expect(told).to_contain_text("story-2.plan.json")
    assert {path.name for path in place.parent.iterdir()} == {
        "story.jsonl",
        "story.plan.json",
        "story-2.plan.json",
    }
    told.scroll_into_view_if_needed()
    screenshot(page, "saved-plan", "[data-testid=recipe]")
    page.set_viewport_size({"width": 900, "height": 900})
    told.scroll_into_view_if_needed()
    screenshot(page, f"saved-plan-{NARROW}", "[data-testid=recipe]")
    assert find_violations(page) == []
    assert watch.errors == []
    assert watch.strangers(lab) == []


def test_in_a_document_a_rule_is_added_outlives_a_reload_and_the_plan_is_saved(
    page: Page, lab: Lab, watch: Watch
) -> None:
    name = lab.write_session("added.session.jsonl")
    open_lab(page, lab)
    find_file(page, name).dblclick()
    document = settle(page)
    document.get_by_test_id("add-rule").click()
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

    document.get_by_test_id("save-plan").click()
    expect(document.get_by_test_id("saved")).to_contain_text("Saved as added.plan.json.")
    plan = open_plan(lab.notebooks / "added.plan.json", lab.notebooks / name)
    assert plan.recipe == told
    assert [rule.kind for rule in plan.policy.rules][-1] == "clear-tool-outputs"
    document.get_by_test_id("saved").scroll_into_view_if_needed()
    screenshot(page, "saved-plan-document", ".ci-document")
    assert watch.errors == []
    assert watch.strangers(lab) == []


def test_an_exported_page_shows_an_added_rule_and_says_that_another_needs_a_kernel(
    browser: Browser, tmp_path: Path
) -> None:
    desk = WorkbenchModel(open_demo())
    desk.answer({"settings": {"clear-tool-outputs.enabled": True}})
    done = export_html(desk, tmp_path / "page.html", policies=["pi"])
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(f"file://{done.path}")
    button = page.get_by_test_id("add-rule")
    expect(button).to_be_disabled()
    expect(button).to_have_attribute("title", re.compile("no kernel"))
    expect(page.get_by_test_id("remove-clear-tool-outputs")).to_be_disabled()
    expect(page.get_by_test_id("save-plan")).to_have_count(0)
    told = page.get_by_test_id("recipe").locator("code")
    expect(told).to_contain_text("'clear-tool-outputs.enabled': True")
    before = told.inner_text()
    page.get_by_test_id("cut-handle").press("PageUp")
    expect(told).to_contain_text("cut=")
    expect(told).to_contain_text("'clear-tool-outputs.enabled': True")
    page.get_by_test_id("policy").select_option("pi")
    expect(told).to_contain_text("'pi'")
    page.get_by_test_id("policy").select_option("flue")
    expect(told).to_have_text(before)
    context.close()
