"""Kernels that talk through files instead of TCP ports, so that two started at once never meet.

jupyter_client looks for five free ports, closes them again and hands their numbers to the kernel: any process
may have taken one by then, and the kernel never answers. A socket that is a file in a folder of its own is
nobody else's. As a plugin, `-p tests.kernels`, this holds for every notebook that nbval runs.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import pytest
import zmq
from jupyter_client.manager import KernelManager

os.environ.setdefault("TQDM_DISABLE", "1")  # a bar in an output depends on the machine's speed
LONGEST = 103  # characters of a socket's path, on the strictest of systems
SOCKET = "/kernel-01234567-0123-0123-0123-0123456789ab-ipc-5"


def make_folder() -> Path:
    """A folder for connection files, with a short path: a socket's may not be long."""
    return Path(tempfile.mkdtemp(prefix="kernel-"))


def find_transport(folder: Path) -> str:
    """Files where the system has such sockets and the folder's path leaves room for their names; or ports."""
    return "ipc" if zmq.has("ipc") and len(f"{folder}{SOCKET}") <= LONGEST else "tcp"


class OwnKernelManager(KernelManager):
    """A kernel manager like any other, but for where its kernel listens."""

    def __init__(self, **settings: Any) -> None:
        folder = make_folder()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        connection = {"transport": find_transport(folder), "connection_file": str(folder / "kernel.json")}
        super().__init__(**connection, **settings)


def pytest_configure(config: pytest.Config) -> None:
    from nbval import kernel

    kernel.KernelManager = OwnKernelManager
