"""A real JupyterLab, a real Chromium, a page of its own for each test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.lab import Lab, Watch, start_lab
from tests.browser.traffic import Traffic

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    # Nothing else can be reached, whatever a page asks for; the asking is still recorded.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def find_chromium() -> str:
    found = os.environ.get("CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.fail(
            "no Chromium: apt-get install chromium, or name one by CHROMIUM=/path/to/chrome", pytrace=False
        )
    return found


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab server with a copy of notebooks/, and no trace of the user's own settings."""
    with start_lab(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def all_traffic(browser: Browser) -> Traffic:
    return Traffic(browser)


@pytest.fixture(autouse=True)
def traffic(all_traffic: Traffic) -> Iterator[Traffic]:
    """No test may ask another host for anything; one that means to takes what it asked out of here."""
    yield all_traffic
    strangers = all_traffic.take_strangers()
    assert strangers == [], "a page asked a host that is none of the test's own servers"


@pytest.fixture(scope="session")
def window(browser: Browser) -> BrowserContext:
    """One browser window for all tests: what Lab itself consists of is loaded once."""
    window = browser.new_context(
        viewport={"width": 1280, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
    window.set_default_timeout(20_000)
    return window


@pytest.fixture
def page(window: BrowserContext, lab: Lab) -> Iterator[Page]:
    """A fresh tab. Afterwards its kernels are gone."""
    page = window.new_page()
    yield page
    page.close()
    lab.shut_down_kernels()


@pytest.fixture
def watch(page: Page) -> Watch:
    """What the page complains about, and every request it makes."""
    return Watch(page)
