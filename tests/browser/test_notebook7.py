"""The same in Notebook 7, which runs the same extension on pages of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.hand import choose_policy, open_tab
from tests.browser.lab import READY, RUN_ALL, WORKBENCH, Lab, find_file, wait_until_restored
from tests.browser.screen import Watch, screenshot

# Notebook 7.6 says these on its own: a plugin's settings, and an entry of the File menu that its pages lack.
ITS_OWN = (
    "Cannot read properties of undefined (reading 'schema')",
    "Command 'filebrowser:open-path' not registered",
)


@pytest.fixture(autouse=True)
def no_kernel_stays(lab: Lab) -> Iterator[None]:
    yield
    lab.shut_down_kernels()


def errors(watch: Watch) -> list[str]:
    return [error for error in watch.errors if not any(own in error for own in ITS_OWN)]


def test_the_tree_opens_a_document_by_a_double_click_or_its_menu(page: Page, lab: Lab, watch: Watch) -> None:
    name, plain = lab.write_session("seven.session.jsonl"), lab.write_session("seven.jsonl")
    page.goto(f"{lab.base}/tree?token={lab.token}")
    page.wait_for_selector(".jp-DirListing-item")
    wait_until_restored(page)
    with page.context.expect_page() as opened:
        find_file(page, name).dblclick()
    tab = opened.value
    seen = Watch(tab)
    try:
        tab.wait_for_selector(WORKBENCH)
        expect(tab.locator(".ci-document")).to_contain_text("Every high water an hour early")
        choose_policy(tab, "keep-recent-turns")
        expect(tab.get_by_test_id("recipe")).to_contain_text("keep-recent-turns")
        open_tab(tab, "blocks")
        lanes = tab.get_by_role("grid").first
        lanes.press("ArrowRight")
        expect(tab.get_by_test_id("pin")).to_be_visible()
        tab.keyboard.press("y")
        tab.wait_for_function("navigator.clipboard.readText().then(text => text.includes('#ci='))")
        link = tab.evaluate("navigator.clipboard.readText()")
        assert link.split("#")[0].split("?")[0] == tab.url.split("#")[0].split("?")[0]
        assert "token" not in link
        screenshot(tab, "document-notebook7")
        assert lab.api("kernels") == []
        assert errors(seen) == []
        assert seen.strangers(lab) == []
    finally:
        tab.close()
    # Of a plain file, the context menu does.
    find_file(page, plain).click(button="right")
    with page.context.expect_page() as opened:
        page.get_by_role("menuitem", name="Inspect compaction").click()
    opened.value.wait_for_selector(WORKBENCH)
    opened.value.close()
    assert errors(watch) == []
    assert watch.strangers(lab) == []


def test_the_workbench_runs_in_a_notebook(page: Page, lab: Lab, watch: Watch) -> None:
    name = lab.write_notebook(
        "seven.ipynb", "from inspector import Workbench, open_demo\nWorkbench(open_demo())"
    )
    page.goto(f"{lab.base}/notebooks/{name}?token={lab.token}")
    page.wait_for_selector(".jp-Notebook")
    wait_until_restored(page)
    page.evaluate(READY)
    page.evaluate(RUN_ALL)
    handle = page.locator(".jp-OutputArea").get_by_test_id("cut-handle")
    handle.wait_for()
    before = handle.get_attribute("aria-valuenow")
    handle.press("PageUp")
    expect(handle).not_to_have_attribute("aria-valuenow", before or "")
    expect(page.locator("[data-jp-item-name='inspect-compaction']")).to_be_visible()
    assert watch.strangers(lab) == []
    assert errors(watch) == []
