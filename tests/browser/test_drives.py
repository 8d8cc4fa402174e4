"""A document on another drive of JupyterLab does not open the server's file of the same name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.lab import READY, Lab, may_start_over, open_lab, run, settle
from tests.browser.screen import Watch

ADD_DRIVES = """() => {
  const { contents } = window.jupyterapp.serviceManager;
  const server = contents._defaultDrive;
  for (const name of ["S3", "minio", "RTC"]) {
    const get = (target, key) => {
      if (key === "name") return name;
      const value = target[key];
      return typeof value === "function" ? value.bind(target) : value;
    };
    if (!contents._additionalDrives.has(name)) contents.addDrive(new Proxy(server, { get }));
  }
}"""
"""The drives have the server's file names. "RTC" is the collaboration drive, so it is the server itself."""
OPEN = "async path => { await window.jupyterapp.commands.execute('docmanager:open', { path }) }"
FACTORY = "Compaction Inspector"


@pytest.fixture
def page(lab_page: Page, lab: Lab) -> Page:
    (lab.notebooks / "drives").mkdir(exist_ok=True)
    lab.write_session("drives/data.jsonl")
    lab.write_session("data.jsonl")
    open_lab(lab_page, lab)
    lab_page.evaluate(ADD_DRIVES)
    return lab_page


def watch_opens(page: Page) -> list[Any]:
    opened: list[Any] = []

    def note(request: Request) -> None:
        if "/inspector/open" in request.url:
            opened.append(json.loads(request.post_data or "{}").get("path"))

    page.on("request", note)
    return opened


@pytest.mark.parametrize("path", ["S3:data.jsonl", "minio:data.jsonl", "S3:drives/data.jsonl"])
def test_a_file_of_another_drive_is_not_taken_for_the_server_s_of_that_name(
    page: Page, lab: Lab, watch: Watch, path: str
) -> None:
    opened = watch_opens(page)
    run(page, "docmanager:open", path=path, factory=FACTORY)
    failure = page.get_by_test_id("failure")
    name = path.rpartition("/")[2]
    expect(failure).to_have_text(
        f"{name} is on the drive {path.partition(':')[0]}. "
        "Only files of the Jupyter server itself can be opened: copy it there first."
    )
    expect(page.get_by_role("button", name="Open as text")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    assert opened == [] and not list(lab.notebooks.rglob("data*.plan.json"))
    assert watch.errors == []
    may_start_over(page)


@pytest.mark.parametrize("path", ["RTC:drives/data.jsonl", "drives/data.jsonl"])
def test_a_file_of_the_server_opens_by_either_name(page: Page, lab: Lab, watch: Watch, path: str) -> None:
    opened = watch_opens(page)
    run(page, "docmanager:open", path=path, factory=FACTORY)
    expect(settle(page)).to_contain_text("Every high water an hour early")
    assert opened == ["drives/data.jsonl"]
    assert watch.errors == []
    may_start_over(page)


def choose_session(page: Page) -> None:
    page.locator("[data-jp-item-name='inspect-compaction']").get_by_role("button").click()
    dialog = page.locator(".jp-Dialog")
    dialog.locator(".jp-BreadCrumbs-home").click()
    dialog.locator(".jp-DirListing-item[title^='Name: data.jsonl']").click()
    dialog.get_by_role("button", name="Select").or_(dialog.get_by_role("button", name="Open")).last.click()


@pytest.mark.parametrize(
    ("drive", "inserted"), [("RTC:", True), ("", True), ("S3:", False)], ids=["RTC", "server", "S3"]
)
def test_a_cell_opens_a_file_only_where_its_kernel_finds_it(
    page: Page, lab: Lab, watch: Watch, drive: str, inserted: bool
) -> None:
    name = lab.write_notebook(f"drives/cell{len(drive)}.ipynb", "1 + 1")
    page.evaluate(OPEN, f"{drive}{name}")
    page.wait_for_selector(".jp-NotebookPanel .jp-Notebook")
    page.evaluate(READY)
    choose_session(page)
    if inserted:
        page.wait_for_function("() => window.jupyterapp.shell.currentWidget.content.widgets.length === 2")
        source = page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.content.widgets[1].model.sharedModel.getSource()"
        )
        assert source.endswith('Workbench("../data.jsonl")')
    else:
        dialog = page.locator(".jp-Dialog").last
        expect(dialog).to_contain_text("is on the drive S3")
        dialog.get_by_role("button").last.click()
        count = page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets.length")
        assert count == 1
    assert watch.errors == []
    may_start_over(page)
