"""Rows of transcripts as bytes and back, and where the small session of each format is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases" / "formats"
"""A session of each format, written for the tests: the name of its reader up to the first dot."""


def dump(*rows: Any) -> bytes:
    """Return the rows as lines of JSON."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def load(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
