"""Long work shows a bar in a terminal, and nothing anywhere else."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")
fcntl, struct, termios = (pytest.importorskip(name) for name in ("fcntl", "struct", "termios"))

REPLAY = """
import inspector, inspector.progress
inspector.progress.DELAY = 0
print(len(inspector.replay(inspector.open_demo().at("turn 3"), "flue").compactions))
"""


def run(stderr: int) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "TQDM_DISABLE"}
    command = [sys.executable, "-c", REPLAY]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment, timeout=120, check=True
    )
    return done.stdout


def test_a_terminal_shows_a_bar_with_the_name_of_the_work() -> None:
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    try:
        assert run(writer) == "0\n"
        shown = os.read(reader, 1 << 16).decode("utf-8", "replace")
    finally:
        os.close(reader)
        os.close(writer)
    assert "replay" in shown and "%" in shown


def test_a_pipe_shows_none() -> None:
    reader, writer = os.pipe()
    try:
        assert run(writer) == "0\n"
    finally:
        os.close(writer)
    with os.fdopen(reader, "rb") as told:
        assert told.read() == b""
