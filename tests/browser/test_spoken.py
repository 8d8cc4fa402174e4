"""What a screen reader is told, on a page whose clock the test moves."""

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
  window.told = [];
  new MutationObserver(() => window.told.push(spoken.textContent)).observe(
    spoken, { childList: true, characterData: true, subtree: true });
}"""
LONG = 10_000
"""Milliseconds on the page's clock, longer than anything that is to be said waits."""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a window of its own: once installed, a clock stays with the window's later pages.

    It is there before the workbench is, so that no time of the workbench comes from another clock.
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
    # What opening it and its tabs had to say is said.
    page.clock.run_for(LONG)
    wait_for_python(page)
    page.evaluate(LISTEN)
    page.get_by_test_id("cut-handle").press("ArrowLeft")
    wait_for_python(page)
    # However long one waits, nothing more is said.
    page.clock.run_for(LONG)
    wait_for_python(page)
    (told,) = page.evaluate("() => window.told")
    assert "Left of the cut" in told
