"""Announcements to screen readers, on a page whose clock the test controls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.bare import wait_for_python
from tests.browser.conftest import SIZE
from tests.browser.product import TABS, Workbench
from tests.browser.test_screen_rules import show_tab
from tests.work import PATIENCE

LISTEN = """() => {
  const spoken = document.querySelector('[data-testid=spoken]');
  window.announced = [];
  new MutationObserver(() => window.announced.push(spoken.textContent)).observe(
    spoken, { childList: true, characterData: true, subtree: true });
}"""
LONG = 10_000
"""Milliseconds on the page's clock; longer than any announcement is delayed."""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Open a page in a browser context of its own: an installed clock stays with a context's later pages.

    The clock is installed before the workbench opens, so that the workbench uses no other clock.
    """
    window = browser.new_context(viewport=SIZE)
    window.set_default_timeout(1000 * PATIENCE)
    window.clock.install()
    yield window.new_page()
    window.close()


def test_W2_27_one_region_speaks_and_an_arrow_on_the_cut_at_most_once(
    page: Page, workbench: Workbench
) -> None:
    live = page.locator(".ci :is([aria-live]:not([aria-live=off]), [role=status], [role=log])")
    for tab in TABS:
        show_tab(page, workbench, tab)
        assert live.count() == 1, tab
    # Announcements about opening the workbench and its tabs are over.
    page.clock.run_for(LONG)
    wait_for_python(page)
    page.evaluate(LISTEN)
    page.get_by_test_id("cut-handle").press("ArrowLeft")
    wait_for_python(page)
    # Nothing more is announced, however long the wait.
    page.clock.run_for(LONG)
    wait_for_python(page)
    (sentence,) = page.evaluate("() => window.announced")
    assert "Left of the cut" in sentence
