"""A bare page with real widgets on it: the one half in Chromium, the other in this process.

The widget, its bundle, its Python and the messages between them are the real ones. What stands in is only
what is around them: `bare.js` for JupyterLab's widget manager, `WidgetServer` for the kernel's comms. A page
is there in a fraction of a second, where JupyterLab and a kernel take eight.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import comm
from comm.base_comm import BaseComm
from playwright.sync_api import Page
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from tests.browser.traffic import own_server

HERE = Path(__file__).parent
THEMES = Path(sys.prefix) / "share" / "jupyter" / "lab" / "themes" / "@jupyterlab"
FILES = {
    "/": (HERE / "bare.html", "text/html"),
    "/bare.js": (HERE / "bare.js", "text/javascript"),
    "/light.css": (THEMES / "theme-light-extension" / "index.css", "text/css"),
    "/dark.css": (THEMES / "theme-dark-extension" / "index.css", "text/css"),
}
STARTUP = 120  # seconds


class WidgetServer:
    """Serves the bare page, and carries the messages of all widgets of this process to it and back.

    Messages of the page are handled one after the other in the server's own thread, as a kernel does in its
    own. While a test runs, one page is connected: the one that was loaded last.
    """

    def __init__(self) -> None:
        self.base = ""
        self.complaints: list[str] = []
        self._page: WebSocketHandler | None = None
        self._parent: int | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="widget server", daemon=True)
        self._is_up = threading.Event()

    def start(self) -> None:
        self._thread.start()
        assert self._is_up.wait(STARTUP), "the server of the bare page did not start"
        own_server(self.base)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STARTUP)

    def create_comm(self, **given: Any) -> BaseComm:
        """What a widget is given for its messages, in place of a kernel's comm."""
        return PageComm(self, **given)

    def publish(self, kind: str, comm_id: str, data: Any, buffers: list[Any]) -> None:
        """Send a message to the page; from any thread."""
        parent = self._parent if threading.current_thread() is self._thread else None
        header = {"type": kind, "comm": comm_id, "data": data, "parent": parent, "buffers": len(buffers)}
        self._send(json.dumps(header), [bytes(buffer) for buffer in buffers])

    def connect(self, page: WebSocketHandler) -> None:
        self._page = page

    def handle(self, text: str) -> None:
        """A message of the page, in the server's thread."""
        message = json.loads(text)
        self._parent = message["id"]
        try:
            found = comm.get_comm_manager().comms.get(message.get("comm"))
            if found is not None:
                found.handle_msg({"content": {"data": message["data"]}, "buffers": []})
        finally:
            self._parent = None
            self._send(json.dumps({"type": "idle", "id": message["id"], "buffers": 0}), [])

    def _send(self, header: str, buffers: list[bytes]) -> None:
        def write() -> None:
            if self._page is None:
                return
            try:
                for part in (header, *buffers):
                    self._page.write_message(part, binary=isinstance(part, bytes))
            except WebSocketClosedError:
                self._page = None  # the tab is gone, and nobody is left to be told

        self._loop.call_soon_threadsafe(write)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        routes = [(route, File, {"file": file, "kind": kind}) for route, (file, kind) in FILES.items()]
        application = Application([*routes, ("/comm", Socket, {"server": self})])
        (socket,) = bind_sockets(0, "127.0.0.1")
        HTTPServer(application).add_socket(socket)
        self.base = f"http://127.0.0.1:{socket.getsockname()[1]}"
        self._is_up.set()
        self._loop.run_forever()


class PageComm(BaseComm):
    """A widget's line to the page."""

    def __init__(self, server: WidgetServer, **given: Any) -> None:
        self._server = server
        super().__init__(**given)

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
    ) -> None:
        self._server.publish(msg_type, self.comm_id, data, buffers or [])


class File(RequestHandler):
    """One file."""

    def initialize(self, file: Path, kind: str) -> None:
        self.file, self.kind = file, kind

    def get(self) -> None:
        self.set_header("Content-Type", f"{self.kind}; charset=utf-8")
        self.finish(self.file.read_bytes())


class Socket(WebSocketHandler):
    """The page's end of all comms."""

    def initialize(self, server: WidgetServer) -> None:
        self.server = server

    def open(self) -> None:
        self.server.connect(self)

    def on_message(self, message: str | bytes) -> None:
        self.server.handle(str(message))


class Complaints(logging.Handler):
    """Keeps what ipywidgets logs: it catches what a widget raises at a message, and goes on."""

    def __init__(self, told: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._told = told

    def emit(self, record: logging.LogRecord) -> None:
        self._told.append(self.format(record))


@contextmanager
def serve_widgets() -> Iterator[WidgetServer]:
    """Every widget that is made in this block can be shown on the bare page."""
    server = WidgetServer()
    server.start()
    complaints, loggers = Complaints(server.complaints), [logging.getLogger(n) for n in ("traitlets", "Comm")]
    for logger in loggers:
        logger.addHandler(complaints)
    before, comm.create_comm = comm.create_comm, server.create_comm
    try:
        yield server
    finally:
        comm.create_comm = before
        for logger in loggers:
            logger.removeHandler(complaints)
        server.stop()


def open_bare_page(page: Page, server: WidgetServer) -> None:
    """Load the page with nothing on it."""
    page.goto(server.base)
    page.evaluate("() => window.bare.connected")


def show_widget(page: Page, comm_id: str) -> None:
    """Draw a widget below those that are there."""
    page.evaluate("comm => window.bare.show(comm)", comm_id)


def wait_for_python(page: Page) -> None:
    """Until Python has handled all that was done on the page, and the page has drawn what Python answered."""
    page.evaluate("() => window.bare.settle()")


def set_theme(page: Page, dark: bool) -> None:
    """Switch to JupyterLab's dark or light theme, and wait until it is on."""
    page.evaluate("dark => window.bare.setTheme(dark)", dark)
