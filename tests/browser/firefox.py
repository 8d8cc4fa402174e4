"""Firefox, driven over WebDriver BiDi: what a person does with a mouse and with keys, and what is then shown.

It is started with a profile and a home of its own, and told of no network but this machine's. Only what the
tests of hosts need is here; everything else is tested in Chromium.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import subprocess
import threading
import time
from base64 import b64decode
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tornado.websocket import WebSocketClientConnection, websocket_connect

NAMES = ("firefox-esr", "firefox")
STARTUP = 180  # seconds
# Nothing is looked for, updated or told to anybody; no other host can be reached.
PREFERENCES = {
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.disable_beforeunload": True,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "127.0.0.1, localhost",
    "toolkit.telemetry.enabled": False,
}


T = TypeVar("T")


class Loop:
    """An event loop in a thread of its own: Playwright's runs in the one that tests run in."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="firefox", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(2 * STARTUP)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STARTUP)


def find_firefox() -> str | None:
    """The path of a Firefox, None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Firefox:
    """One tab of a running Firefox."""

    def __init__(self, loop: Loop, line: WebSocketClientConnection) -> None:
        self._loop, self._line, self._last = loop, line, 0
        self.errors: list[str] = []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self._tab = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer to a command; what the page complains of meanwhile is kept in `errors`."""
        self._last += 1
        return self._loop.run(self._ask({"id": self._last, "method": method, "params": params}))

    async def _ask(self, command: dict[str, Any]) -> dict[str, Any]:
        await self._line.write_message(json.dumps(command))
        while True:
            told = await asyncio.wait_for(self._line.read_message(), STARTUP)
            assert told is not None, "Firefox has gone"
            message: dict[str, Any] = json.loads(told)
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.errors.append(str(message["params"].get("text")))
            if message.get("id") == command["id"]:
                assert message["type"] == "success", message
                result: dict[str, Any] = message["result"]
                return result

    def open(self, url: str, width: int = 1400, height: int = 900) -> None:
        """A page, and no other's complaints: one that is left may still wait for an answer, and say so."""
        self.ask("browsingContext.navigate", context=self._tab, url="about:blank", wait="complete")
        self.errors.clear()
        self.ask(
            "browsingContext.setViewport", context=self._tab, viewport={"width": width, "height": height}
        )
        self.ask("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    def run(self, code: str) -> Any:
        """What an expression of JavaScript comes to: whatever JSON can say, awaited if it is a promise."""
        wrapped = f"(async () => JSON.stringify(await ({code})))()"
        answer = self.ask(
            "script.evaluate", expression=wrapped, target={"context": self._tab}, awaitPromise=True
        )
        assert answer["type"] == "success", answer
        return json.loads(answer["result"].get("value", "null"))

    def wait_for(self, code: str, seconds: float = STARTUP) -> Any:
        """The value of an expression, once it is neither null, false nor empty."""
        until = time.monotonic() + seconds
        while not (found := self.run(code)):
            assert time.monotonic() < until, f"still not: {code}"
            time.sleep(0.2)
        return found

    def drag(self, x: float, y: float, to: float) -> None:
        """The mouse takes what is at a point to another one at the same height, by a few steps."""
        moves = [
            {"type": "pointerMove", "x": round(x + (to - x) * part / 6), "y": round(y)} for part in range(7)
        ]
        mouse = [
            moves[0],
            {"type": "pointerDown", "button": 0},
            *moves[1:],
            {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": "mouse", "actions": mouse})

    def press(self, *keys: str) -> None:
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keys", "actions": actions})

    def _act(self, *sources: dict[str, Any]) -> None:
        self.ask("input.performActions", context=self._tab, actions=list(sources))
        self.ask("input.releaseActions", context=self._tab)

    def screenshot(self, path: Path) -> None:
        path.write_bytes(b64decode(self.ask("browsingContext.captureScreenshot", context=self._tab)["data"]))


@contextmanager
def start_firefox(executable: str, home: Path) -> Iterator[Firefox]:
    """Run Firefox without a window until the block ends; its profile is under `home`."""
    profile = home / "profile"
    profile.mkdir(parents=True)
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
    (profile / "user.js").write_text("\n".join(lines))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [executable, "--headless", "--no-remote", f"--remote-debugging-port={port}", "--profile"]
    told = (home / "firefox.log").open("wb")
    running = subprocess.Popen(
        [*command, str(profile), "about:blank"],
        stdout=told,
        stderr=told,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
    )
    loop = Loop()
    try:
        line = loop.run(_connect(f"ws://127.0.0.1:{port}/session", running))
        yield Firefox(loop, line)
        loop.run(_close(line))
    finally:
        running.terminate()
        running.wait(STARTUP)
        loop.stop()
        told.close()


async def _close(line: WebSocketClientConnection) -> None:
    """In the loop's own thread, which may be writing to the line."""
    line.close()


async def _connect(url: str, running: subprocess.Popen[bytes]) -> WebSocketClientConnection:
    until = time.monotonic() + STARTUP
    while True:
        try:
            return await websocket_connect(url, max_message_size=64 << 20)
        except OSError:
            assert running.poll() is None and time.monotonic() < until, "Firefox did not start"
            await asyncio.sleep(0.3)
