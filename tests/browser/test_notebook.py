"""Notebook 01 in a real JupyterLab: what a cell, a kernel and a download add to the workbench."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import SIZE, OpenOffline
from tests.browser.hand import focus_workbench, shown_place
from tests.browser.lab import READY, Lab, ask, open_notebook, run_all, set_theme, wait_for_kernel
from tests.browser.screen import Watch, screenshot, wait_for_frame, wait_until_still

FIRST = "01-open-a-session.ipynb"


@pytest.fixture(scope="module")
def notebook(lab_tab: Page, lab: Lab) -> Page:
    """The notebook with its kernel, for all tests here."""
    open_notebook(lab_tab, lab, FIRST)
    return lab_tab


@pytest.fixture
def page(notebook: Page) -> Iterator[Page]:
    """Every cell is run anew, so each test has a workbench of its own."""
    notebook.set_viewport_size(SIZE)
    run_all(notebook)
    notebook.get_by_test_id("cut-handle").wait_for()
    notebook.get_by_test_id("cut-handle").scroll_into_view_if_needed()
    yield notebook
    notebook.evaluate("() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    notebook.locator(".ci").wait_for(state="detached")


def keys(page: Page, *names: str) -> None:
    """Press keys wherever the focus is in the workbench; nothing is clicked."""
    for name in names:
        page.keyboard.press(name)
        wait_for_frame(page)
    wait_for_kernel(page)


def test_the_notebook_opens_the_workbench(page: Page, lab: Lab, watch: Watch) -> None:
    page.set_viewport_size({"width": 1440, "height": 1600})
    expect(page.get_by_test_id("gauge-before")).to_contain_text("k")
    expect(page.get_by_test_id("recipe")).to_contain_text("make_plan(session.at(")
    set_theme(page, dark=False)
    page.get_by_test_id("cut-handle").scroll_into_view_if_needed()
    screenshot(page, "workbench-light", ".ci")
    set_theme(page, dark=True)
    screenshot(page, "workbench-dark", ".ci")
    set_theme(page, dark=False)
    assert watch.strangers(lab) == []


def test_python_moves_the_handle(page: Page) -> None:
    name = ask(page, "legal = [p for p in wb.plan.cuts if p.legal]; wb.cut = legal[5].entry; print(wb.cut)")
    expect(page.get_by_test_id("recipe")).to_contain_text(name)
    assert str(shown_place(page)) == ask(page, "print(wb.plan.place)")
    assert ask(page, "wb.cut = 'nowhere'").startswith("EditError")
    expect(page.get_by_test_id("error")).to_contain_text("no such entry")


def test_the_button_shows_what_is_taken_out_and_hands_the_page_to_the_browser(
    page: Page, lab: Lab, watch: Watch, show: OpenOffline, tmp_path: Path
) -> None:
    page.get_by_test_id("export").click()
    dialog = page.get_by_test_id("exporter")
    expect(dialog.get_by_test_id("export-told")).to_contain_text("found")
    rows = dialog.locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text(re.compile(r"user [0-9a-f]{8}"))
    expect(dialog).not_to_contain_text("marit")
    screenshot(page, "exporter", "[data-testid=exporter]")
    with page.expect_download(timeout=120_000) as waiting:
        dialog.get_by_role("button", name="Save page").click()
    target = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(target)
    assert target.suffix == ".html"
    expect(dialog.get_by_test_id("export-told")).to_contain_text("Saved as")
    expect(dialog.get_by_role("button", name="Save page")).to_be_focused()
    assert watch.strangers(lab) == []
    saved, told = show(target)
    saved.get_by_test_id("cut-handle").wait_for()
    assert "marit" not in saved.locator(".ci").inner_text()
    assert saved.get_by_test_id("export").count() == 0
    assert told == []


def test_after_a_restart_of_the_kernel_and_a_reload_the_cell_works_again(page: Page, lab: Lab) -> None:
    restart = "async () => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    page.evaluate(restart)
    wait_until_still(page)
    focus_workbench(page)
    page.keyboard.press("c")
    page.keyboard.press("ArrowLeft")
    waiting = page.locator(".ci-waiting")
    expect(waiting).to_contain_text("run the cell again")
    run_all(page)
    page.wait_for_function("() => !document.querySelector('.ci-waiting')?.textContent")
    page.get_by_test_id("cut-handle").wait_for()
    focus_workbench(page)
    keys(page, "c", "ArrowLeft")
    assert ask(page, "print(bool(wb.cut))") == "True"
    page.reload()
    page.wait_for_selector(".jp-NotebookPanel .jp-Notebook")
    page.evaluate(READY)
    run_all(page)
    page.get_by_test_id("cut-handle").wait_for()
    focus_workbench(page)
    keys(page, "9")
    assert ask(page, "print(wb.tab)") == "lesson"
