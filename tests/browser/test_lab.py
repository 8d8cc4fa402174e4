"""The ground that the other browser tests stand on."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.lab import Lab, open_lab, open_notebook, run_all, set_theme
from tests.browser.screen import Watch, screenshot
from tests.browser.traffic import Traffic


@pytest.fixture
def page(lab_page: Page) -> Page:
    """One tab of JupyterLab for all tests here."""
    return lab_page


def test_a_notebook_runs_in_this_environment(page: Page, lab: Lab, watch: Watch) -> None:
    name = lab.write_notebook("ground.ipynb", "import inspector", "print(inspector.__name__, 6 * 7)")
    open_notebook(page, lab, name)
    run_all(page)
    assert page.locator(".jp-OutputArea-output").inner_text().strip() == "inspector 42"
    assert watch.errors == []
    assert watch.strangers(lab) == []


def test_the_theme_can_be_switched(page: Page, lab: Lab) -> None:
    open_lab(page, lab)
    colours = []
    for dark in (True, False):
        set_theme(page, dark)
        screenshot(page, f"theme-{'dark' if dark else 'light'}")
        colours.append(
            page.evaluate("getComputedStyle(document.body).getPropertyValue('--jp-layout-color1')")
        )
    assert colours[0] != colours[1]


def test_a_request_to_another_host_fails_and_is_seen(
    page: Page, lab: Lab, watch: Watch, traffic: Traffic
) -> None:
    open_lab(page, lab)
    page.evaluate("fetch('https://example.org/').catch(() => 0)")
    assert watch.strangers(lab) == traffic.take_strangers() == ["https://example.org/"]
