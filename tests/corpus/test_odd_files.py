"""Scans of pipes, sockets and files whose names are not UTF-8 end, and name the kind of file."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector import scan
from inspector.corpus import open_scan

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders")
TALK = json.dumps([{"role": "user", "content": "Ship it."}])
HANGS = 120
"""Seconds until a command that hangs is stopped; far longer than it needs."""


def run(*arguments: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "inspector.cli", *map(os.fsencode, map(str, arguments))]
    return subprocess.run(command, capture_output=True, timeout=HANGS, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a session, a pipe and a socket named like sessions, and a link to the pipe."""
    folder = tmp_path / "talks"
    folder.mkdir()
    (folder / "a.json").write_text(TALK)
    os.mkfifo(folder / "p.jsonl")
    (folder / "link.jsonl").symlink_to(folder / "p.jsonl")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "s.jsonl"))
    return folder


@pytest.mark.parametrize("workers", [0, 1])
def test_pipes_and_sockets_in_a_folder_cost_a_row_each(folder: Path, workers: int) -> None:
    done = run("scan", folder, "--policy", "flue", "--workers", workers, "--seconds", 60, "--json")
    assert done.returncode == 0, done.stderr
    errors = {Path(row["file"]).name: row["error"] for row in map(json.loads, done.stdout.splitlines())}
    assert errors["a.json"] is None
    assert "a named pipe" in errors["p.jsonl"]
    assert "a socket" in errors["s.jsonl"]
    assert "link.jsonl" not in errors


@pytest.mark.parametrize("command", ["show", "lint"])
def test_a_pipe_is_refused_by_every_command(folder: Path, command: str) -> None:
    done = run(command, folder / "p.jsonl")
    assert done.returncode == (2 if command == "lint" else 1)
    assert b"it is a named pipe" in done.stderr


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems hold names of text alone")
def test_a_file_whose_name_is_no_text_is_measured_and_its_row_kept(tmp_path: Path) -> None:
    place = os.fsencode(tmp_path) + b"/caf\xe9.json"
    with open(place, "w") as file:
        file.write(TALK)
    rows = tmp_path / "rows.jsonl"
    table = scan(os.fsdecode(place), "flue", into=rows, workers=0)
    assert [os.fsencode(row["file"]) for row in table] == [place]
    assert [os.fsencode(row["file"]) for row in open_scan(rows)] == [place]
    done = run("scan", os.fsdecode(place), "--policy", "flue", "--workers", 1)
    assert (done.returncode, done.stderr) == (0, b"")
