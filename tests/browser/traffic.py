"""Everything that any page asks for, whoever opened it: no test has to remember to look."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, Request, WebSocket

ASKS_A_HOST = frozenset({"http", "https", "ws", "wss", "ftp"})
_own: set[str] = set()


def own_server(base: str) -> None:
    """From now on requests to `base`, the address of a server that a test started, are no fault."""
    _own.add(urlsplit(base).netloc)


def is_stranger(url: str) -> bool:
    """Whether a request goes to a host that no test started. What is in the page itself asks nobody."""
    parts = urlsplit(url)
    return parts.scheme in ASKS_A_HOST and parts.netloc not in _own


class Traffic:
    """The requests of every page, frame and worker of a browser, in windows that are opened later too."""

    def __init__(self, browser: Browser) -> None:
        self._asked: list[str] = []
        for window in browser.contexts:
            self._follow(window)
        browser.on("context", self._follow)

    def take_strangers(self) -> list[str]:
        """Requests to hosts of others since the last call."""
        strangers = [url for url in self._asked if is_stranger(url)]
        self._asked.clear()
        return strangers

    def _follow(self, window: BrowserContext) -> None:
        window.on("request", self._note)
        window.on("page", self._listen)
        for page in window.pages:
            self._listen(page)

    def _listen(self, page: Page) -> None:
        page.on("websocket", self._note)

    def _note(self, asked: Request | WebSocket) -> None:
        self._asked.append(asked.url)
