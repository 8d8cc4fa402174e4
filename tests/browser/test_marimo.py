"""The plain widget in a real marimo app: the hand moves the cut in Python, and nobody else is asked."""

from __future__ import annotations

import os
import re
import sys
import urllib.request
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.hand import shown_place
from tests.browser.screen import ROOT, screenshot
from tests.browser.servers import start_server
from tests.browser.traffic import Traffic

pytest.importorskip("marimo")

APP = """
import marimo

app = marimo.App(width="full")


@app.cell
def _():
    import inspector
    import marimo as mo
    return inspector, mo


@app.cell
def _(inspector, mo):
    wb = inspector.Workbench(inspector.open_demo())
    view = mo.ui.anywidget(wb)
    view
    return view, wb


@app.cell
def _(mo, view, wb):
    view.value
    mo.md(f"place {wb.plan.place}, {wb.plan.after} after, policy {wb.plan.policy.name}.")
    return
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A marimo server that runs the app, with no trace of the user's own settings."""
    home = tmp_path_factory.mktemp("marimo")
    (home / "app.py").write_text(APP)
    environment = {**os.environ, "HOME": str(home), "MARIMO_SKIP_UPDATE_CHECK": "1"}
    environment |= {name: str(home) for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")}
    environment["PYTHONPATH"] = str(ROOT)

    def command(port: int) -> list[str]:
        return [sys.executable, "-m", "marimo", "run", "app.py", "--headless", "--no-token", f"--port={port}"]

    def answers(base: str) -> None:
        urllib.request.urlopen(f"{base}/health", timeout=60).close()

    with start_server(command, answers, home / "log", cwd=home, env=environment) as base:
        yield base


@pytest.fixture(scope="module")
def app(window: BrowserContext, server: str) -> Iterator[Page]:
    """The app in one tab for all tests; each begins where the last one left the hand."""
    page = window.new_page()
    page.goto(server)
    page.get_by_test_id("cut-handle").wait_for()
    yield page
    page.close()


def told(page: Page) -> tuple[int, int, str]:
    """What Python holds, in the words of the cell below the widget."""
    said = page.get_by_text(re.compile(r"place \d+, \d+ after")).inner_text()
    place, after, policy = re.findall(r"place (\d+), (\d+) after, policy (\S+)\.", said)[0]
    return int(place), int(after), policy


def test_the_workbench_appears_in_marimo_and_asks_nobody_else(app: Page, traffic: Traffic) -> None:
    expect(app.get_by_test_id("gauge-before")).to_contain_text("k")
    expect(app.get_by_test_id("recipe")).to_contain_text("make_plan(")
    place = shown_place(app)
    assert told(app)[0] == place
    screenshot(app, "marimo")
    assert traffic.take_strangers() == []


def test_dragging_the_handle_moves_the_cut_in_python_too(app: Page) -> None:
    first = told(app)
    handle, lanes = app.get_by_test_id("cut-handle"), app.get_by_test_id("lanes")
    handle.scroll_into_view_if_needed()
    grip, box = handle.bounding_box(), lanes.bounding_box()
    assert grip is not None
    assert box is not None
    y = grip["y"] + grip["height"] / 2
    app.mouse.move(grip["x"] + grip["width"] / 2, y)
    app.mouse.down()
    app.mouse.move(box["x"] + 120 + (box["width"] - 120) * 0.3, y, steps=10)
    app.mouse.up()
    shown = shown_place(app)
    assert shown != first[0]
    expect(app.get_by_text(re.compile(rf"place {shown}, \d+ after"))).to_be_visible()
    assert told(app)[1] != first[1]
