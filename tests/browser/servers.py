"""Servers in processes of their own, each on a port that was free."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.browser.traffic import own_server

STARTUP = 180  # seconds
ATTEMPTS = 3
# A port is closed again before the server opens it, and anyone on the machine may come between.
TAKEN = re.compile(r"already in use|is not available", re.I)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def start_server(
    command: Callable[[int], Sequence[str]], answers: Callable[[str], object], log: Path, **options: Any
) -> Iterator[str]:
    """Run what `command` makes of a port, until the block ends; yields the address once it `answers`.

    `answers` raises an OSError as long as it does not. A server whose port was taken meanwhile gets another.
    """
    for left in reversed(range(ATTEMPTS)):
        port = free_port()
        base = f"http://127.0.0.1:{port}"
        own_server(base)
        with log.open("w") as output:
            server = subprocess.Popen(command(port), stdout=output, stderr=subprocess.STDOUT, **options)
            try:
                if not wait_until_up(server, lambda at=base: answers(at)):
                    if left and TAKEN.search(log.read_text()):
                        continue
                    raise RuntimeError(f"{command(port)[2]} did not start:\n{log.read_text()}")
                yield base
                return
            finally:
                server.terminate()
                try:
                    server.wait(60)
                except subprocess.TimeoutExpired:
                    server.kill()
                    server.wait()


def wait_until_up(server: subprocess.Popen[bytes], answers: Callable[[], object]) -> bool:
    """Whether it answers before it ends, or before its time is over."""
    end = time.monotonic() + STARTUP
    while server.poll() is None and time.monotonic() < end:
        try:
            answers()
            return True
        except OSError:
            time.sleep(0.1)
    return False
