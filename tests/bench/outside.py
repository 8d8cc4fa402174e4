"""What benchmarks need from outside the checkout, fetched or made once and kept in a cache folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "compaction-inspector-bench"
SHARED = Path(__file__).parents[3] / "shared"
REAL = SHARED / "sessions" / "claude-code--entireio-cli" / "cc-3auto-compactions-893l.jsonl"


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


def run_command(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        why = next((line for line in said.splitlines() if "rror" in line), said.strip())
        raise Missing(f"{Path(command[0]).name}: {why}") from None
    return done.stdout
