"""A real Chromium, a tab that is emptied after each test, and what is shown in it.

Most tests show a widget on a bare page: `open_workbench(session, "flue", cut="end")` draws it on `page` and
returns the Python object behind it. What JupyterLab adds is tested in JupyterLab: `lab` is its server.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright
from xdist.scheduler import LoadScopeScheduling

from tests.browser.bare import WidgetServer, open_bare_page, serve_widgets, show_widget
from tests.browser.lab import Lab, start_lab
from tests.browser.product import Workbench, export_html, open_demo
from tests.browser.screen import ROOT, Watch, wait_for_frame
from tests.browser.traffic import Traffic
from tests.loopback import KEY, Loopback
from tests.work import PATIENCE

# The same engine without a browser's own windows, which take as much of the processor as the pages do.
SHELL = "chromium-headless-shell"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", SHELL)
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
# What puts the picture together is a thread of the browser's own. As a process it takes a little more in all:
# 21.2 s of the processor to 21.0 s in three pairs of runs of 26 tests, 40.7 s to 38.5 s in two pairs of 45.
TOGETHER = "--in-process-gpu"
SIZE = ViewportSize(width=1280, height=900)
BUTTONS: tuple[Literal["left", "middle", "right"], ...] = ("left", "middle", "right")
MODIFIERS = ("Shift", "Control", "Alt", "Meta")
# Only an event that never happens takes this long, so a busy machine changes no result.
expect.set_options(timeout=1000 * PATIENCE)
# What takes longest comes first, so that no worker is left with it at the end.
SLOW = (
    *("test_labextension", "test_lessons", "test_export", "test_context", "test_axe", "test_screen_rules"),
    "test_versions",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ranks = {name: rank for rank, name in enumerate(SLOW)}
    items.sort(key=lambda item: ranks.get(item.path.stem, len(SLOW)))


class ByServer(LoadScopeScheduling):  # type: ignore[misc]
    """A file stays with one worker, and all files that need JupyterLab with one, so that it starts once.

    xdist's own groups have no effect under pytest 9.2, which keeps a test's name elsewhere.
    """

    def _split_scope(self, nodeid: str) -> str:
        return find_server(nodeid.partition("::")[0])


@cache
def find_server(file: str) -> str:
    text = (ROOT / file).read_text("utf-8")
    return "JupyterLab" if re.search(r"\blab(_page)?: (Lab|Page)\b", text) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByServer:
    return ByServer(config, log)


def find_chromium(*preferred: str) -> str:
    """The browser that CHROMIUM names, or the first that is installed, those preferred before others."""
    names = (*preferred, *NAMES)
    found = os.environ.get("CHROMIUM") or next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.fail(
            "no Chromium: apt-get install chromium-headless-shell, or name one by CHROMIUM=/path/to/chrome",
            pytrace=False,
        )
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(SHELL), args=[*FLAGS, TOGETHER])
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
    """One browser window for all tests: what a page consists of is loaded once."""
    window = browser.new_context(viewport=SIZE, permissions=["clipboard-read", "clipboard-write"])
    window.set_default_timeout(1000 * PATIENCE)
    return window


@pytest.fixture(scope="session")
def tabs(window: BrowserContext) -> list[Page]:
    """The one tab that tests follow each other in: a new one is a new process, and takes a page's time."""
    return [window.new_page()]


@pytest.fixture
def page(tabs: list[Page], window: BrowserContext) -> Iterator[Page]:
    """A tab of the usual size with nothing in it; what a test does to it beside its page is undone."""
    if tabs[0].is_closed():
        tabs[0] = window.new_page()
    page = tabs[0]
    page.set_viewport_size(SIZE)
    page.bring_to_front()
    yield page
    if page.is_closed():
        return
    page.unroute_all()
    page.emulate_media(
        media="null", color_scheme="light", forced_colors="none", reduced_motion="no-preference"
    )
    page.mouse.move(0, 0)
    page.goto("about:blank")
    # What a test that failed half-way was holding would be held in the next one.
    for button in BUTTONS:
        page.mouse.up(button=button)
    for key in MODIFIERS:
        page.keyboard.up(key)


@pytest.fixture
def watch(page: Page) -> Iterator[Watch]:
    """What the page complains about during a test, and every request it makes."""
    watch = Watch(page)
    yield watch
    watch.stop()


@pytest.fixture(scope="session")
def widgets() -> Iterator[WidgetServer]:
    """Serves the bare page, and carries messages between it and the widgets of this process."""
    with serve_widgets() as server:
        yield server


class OpenWorkbench(Protocol):
    """Draws one more workbench on the page and returns the Python object behind it; the
    arguments are `Workbench`'s own, and without any it shows the bundled session.

    Where no policy is given it is Flue; `policy="auto"` opens as a person finds it."""

    def __call__(self, *given: Any, **settings: Any) -> Workbench: ...


@pytest.fixture
def open_workbench(page: Page, widgets: WidgetServer) -> Iterator[OpenWorkbench]:
    """Opens workbenches on the bare page. All are closed after the test, and none may have raised."""
    opened: list[Workbench] = []
    open_bare_page(page, widgets)

    def open_one(*given: Any, **settings: Any) -> Workbench:
        if len(given) < 2:
            # A plan is shown as it was made, whatever policy is named.
            settings.setdefault("policy", "flue")
        opened.append(Workbench(*(given or (open_demo(),)), **settings))
        show_widget(page, opened[-1].model_id)
        page.get_by_test_id("cut-handle").nth(len(opened) - 1).wait_for()
        wait_for_frame(page)  # the handle is visible before its place is drawn
        return opened[-1]

    yield open_one
    for workbench in opened:
        workbench.close()
    complaints, widgets.complaints[:] = list(widgets.complaints), []
    assert complaints == []


@pytest.fixture
def workbench(open_workbench: OpenWorkbench) -> Workbench:
    """The bundled session on the bare page."""
    return open_workbench()


@pytest.fixture
def opened(open_workbench: OpenWorkbench) -> Workbench:
    """The same as a person finds it who has chosen nothing."""
    return open_workbench(policy="auto")


@pytest.fixture(scope="session")
def exported_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled session as a page of its own, with neither kernel nor network. Of the processes that share
    the tests out, the first that needs it makes it for all."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "exported"
    folder.mkdir(exist_ok=True)
    path = folder / "page.html"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            export_html(open_demo(), path)
    return path


OpenOffline = Callable[..., tuple[Page, list[str]]]


@pytest.fixture
def show(browser: Browser) -> Iterator[OpenOffline]:
    """Opens a file in a browser that is offline; what the page asked for and complained of comes with it."""
    contexts = []

    def show(path: Path, hash: str = "", **options: object) -> tuple[Page, list[str]]:
        given = {"viewport": {"width": 1280, "height": 900}, "offline": True, "accept_downloads": True}
        context = browser.new_context(**{**given, **options})  # type: ignore[arg-type]
        context.set_default_timeout(1000 * PATIENCE)
        contexts.append(context)
        page, told = context.new_page(), []
        page.on("console", lambda message: told.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: told.append(f"error: {error}"))
        page.on("request", lambda request: told.append(f"request: {request.url}"))
        page.goto(f"file://{path}{hash}")
        asked = told.index(f"request: file://{path}")
        del told[asked]
        return page, told

    yield show
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def provider() -> Iterator[Loopback]:
    """A provider of models on 127.0.0.1, which JupyterLab's environment names; nothing is asked of it unless
    a test has a model write."""
    with Loopback() as provider:
        yield provider


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory, provider: Loopback) -> Iterator[Lab]:
    """A JupyterLab server with a copy of notebooks/, and no trace of the user's own settings."""
    home = tmp_path_factory.mktemp("lab")
    with start_lab(home, ANTHROPIC_BASE_URL=provider.url, ANTHROPIC_API_KEY=KEY) as lab:
        yield lab


@pytest.fixture(scope="module")
def lab_tab(window: BrowserContext, lab: Lab) -> Iterator[Page]:
    """A tab for all tests of a file that need JupyterLab. A file uses it by a fixture `page` of its own."""
    tab = window.new_page()
    yield tab
    tab.close()
    lab.shut_down_kernels()


@pytest.fixture
def lab_page(lab_tab: Page, lab: Lab) -> Iterator[Page]:
    """That tab. After the test its kernels are gone, and every request goes to the server again."""
    lab_tab.set_viewport_size(SIZE)
    yield lab_tab
    lab_tab.unroute_all()
    lab.shut_down_kernels()
