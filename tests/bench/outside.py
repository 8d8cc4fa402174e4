"""What benchmarks need from outside the checkout, fetched or made once and kept in a cache folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "compaction-inspector-bench"
SHARED = Path(__file__).parents[3] / "shared"
REAL = SHARED / "sessions" / "claude-code--entireio-cli" / "cc-3auto-compactions-893l.jsonl"
PI = "@mariozechner/pi-coding-agent@0.73.1"
PI_SCRIPT = Path(__file__).with_name("time_pi.mjs")


class Missing(Exception):
    """Something that cannot be had here; the message says why."""


def claude_session(megabytes: int) -> Path:
    """A synthetic Claude Code session of that size. Raises `Missing` where its maker is not."""
    tool = SHARED / "tools" / "make_claude_session.py"
    if not tool.exists():
        raise Missing("make_claude_session.py is not beside this checkout")
    path = CACHE / f"claude-{megabytes}mb.jsonl"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".tmp")
        run_command([sys.executable, str(tool), str(unfinished), str(megabytes)])
        unfinished.replace(path)
    return path


def time_pi(entries: Iterable[dict[str, Any]], keep: int, rounds: int) -> dict[str, Any]:
    """pi's own planning of these entries, timed by node. Raises `Missing` with the reason when it cannot be.

    `seconds` are those of `findCutPoint` and of `prepareCompaction`, per round; `first_kept` is a position.
    """
    module = _install_pi() / "dist" / "core" / "compaction" / "compaction.js"
    file = CACHE / "pi-session.jsonl"
    with file.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(entry) + "\n" for entry in entries)
    try:
        told = run_command(["node", str(PI_SCRIPT), str(module), str(file), str(keep), str(rounds)])
    finally:
        file.unlink()
    timed: dict[str, Any] = json.loads(told)
    return timed


def _install_pi() -> Path:
    """pi's published package, without running any of its install scripts."""
    home = CACHE / "pi"
    package = home / "node_modules" / PI.rpartition("@")[0]
    if not package.exists():
        if shutil.which("npm") is None:
            raise Missing("npm is not installed")
        unfinished = home.with_suffix(".tmp")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        run_command(["npm", "install", "--prefix", str(unfinished), "--ignore-scripts", *quiet, PI])
        unfinished.replace(home)
    return package


def run_command(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        why = next((line for line in said.splitlines() if "rror" in line), said.strip())
        raise Missing(f"{Path(command[0]).name}: {why}") from None
    return done.stdout
