"""What is on a page, whoever shows it: pictures of it, what it complains of and asks, what axe finds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Page, Request, WebSocket

from tests.work import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
SHOTS = Path(__file__).parent / "shots"
AXE = ROOT / "js" / "node_modules" / "axe-core" / "axe.min.js"
# JupyterLab's body has no height and hides what flows over it, so axe would take everything for hidden.
JUDGE = """async ([scope, rules]) => {
  document.body.style.height = "100vh";
  const runOnly = rules.length === 0 ? {} : { runOnly: { type: "rule", values: rules } };
  const { violations } = await axe.run(scope, { resultTypes: ["violations"], ...runOnly });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html, any, all, none }) => {
      const why = [...any, ...all, ...none].map(check => check.message).join("; ");
      return `${id}: ${target.join(" ")} ${html.slice(0, 160)} (${why.slice(0, 200)})`;
    }));
}"""
COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe that look at colours: what another theme changes."""


FRAME = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
STILL = """async ([least, most]) => {
  const frame = () => new Promise(requestAnimationFrame);
  const ends = ({ effect, playState }) =>
    playState === "running" && effect?.getComputedTiming().endTime !== Infinity;
  const isBusy = node => node.getAttribute("aria-busy") === "true" && node.checkVisibility();
  const end = performance.now() + most;
  // To write the whole page as text is a frame's work: only where something was touched.
  let touched = true, now = "";
  const watch = new MutationObserver(() => { touched = true });
  watch.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
  for (let frames = 0, since = performance.now(), before = ""; ; frames++) {
    if (touched) [touched, now] = [false, document.documentElement.outerHTML];
    const waiting = ".ci[aria-busy], .ci-fd [aria-busy], .ci-says [aria-busy]";
    const busy = [...document.querySelectorAll(waiting)].some(isBusy);
    const waits = busy || document.getAnimations().some(ends);
    if (waits || now !== before) {
      [frames, since, before] = [0, performance.now(), now];
      await window.bare?.settle();
    }
    if (frames >= 4 && performance.now() - since >= least) return watch.disconnect();
    if (performance.now() > end) throw new Error("the page keeps changing");
    await frame();
  }
}"""


class Server(Protocol):
    """Whoever serves a page: `base` is its address."""

    @property
    def base(self) -> str: ...


class Watch:
    """What a page says and asks from now on, until `stop`."""

    def __init__(self, page: Page) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._page = page
        self._listeners = {
            "console": self._console,
            "pageerror": lambda error: self.errors.append(str(error)),
            "request": self._request,
            "websocket": self._websocket,
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)  # type: ignore[call-overload]

    def stop(self) -> None:
        for event, listener in self._listeners.items():
            self._page.remove_listener(event, listener)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)

    def _websocket(self, socket: WebSocket) -> None:
        self.requests.append(socket.url)

    def strangers(self, server: Server) -> list[str]:
        """Requests to any other host. Each one is a fault."""
        home = urlsplit(server.base).netloc
        return [
            url
            for url in self.requests
            if urlsplit(url).scheme in ("http", "https", "ws", "wss") and urlsplit(url).netloc != home
        ]


def screenshot(page: Page, name: str, selector: str = "") -> None:
    """Keep a picture of the page, or of one element, in tests/browser/shots, if SHOTS=1 asks for pictures."""
    if "SHOTS" in os.environ:
        SHOTS.mkdir(exist_ok=True)
        (page.locator(selector).first if selector else page).screenshot(path=SHOTS / f"{name}.png")


def wait_until(fulfilled: Callable[[], bool], page: Page) -> None:
    """Wait for a condition outside the page; the page continues to run."""
    end = time.monotonic() + PATIENCE
    while not fulfilled():
        assert time.monotonic() < end, "it did not happen"
        page.wait_for_timeout(50)


def wait_for_frame(page: Page) -> None:
    """Wait for two animation frames, so that the page has drawn its current state."""
    page.evaluate(FRAME)


def wait_until_still(page: Page, least: int = 100) -> None:
    """Wait until nothing is pending, no animation runs and the page does not change for a few frames.

    Args:
        page: A workbench, or a page that contains workbenches.
        least: Milliseconds without a change; longer than any delay before the page's next change.
    """
    page.evaluate(STILL, [least, 1000 * PATIENCE])


@cache
def axe_source() -> str:
    assert AXE.is_file(), "axe-core is not installed: run `make build`"
    return AXE.read_text("utf-8")


def find_violations(page: Page, scope: str = ".ci", rules: Sequence[str] = ()) -> list[str]:
    """Return axe's violations for an element and its descendants, one a line, once the page is still.

    All of axe's rules are run, or those named. The element must be on the screen: axe cannot judge the
    contrast of an element that is scrolled away or still fading in.
    """
    wait_until_still(page)
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(axe_source())
    found: list[str] = page.evaluate(JUDGE, [scope, list(rules)])
    return found
