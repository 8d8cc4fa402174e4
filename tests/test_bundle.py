"""The built front end belongs to the sources beside it, and is small enough to send with every widget."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "inspector" / "static"
LARGEST = 100 * 1024  # bytes; the bundle is sent once for each widget, and saved with a notebook's widgets


def source_hash(js: Path) -> str:
    """As js/build.mjs writes it."""
    files = (path for folder in ("src", "style") for path in (js / folder).rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for name in sorted(path.relative_to(js).as_posix() for path in files):
        digest.update(name.encode() + b"\0" + (js / name).read_bytes() + b"\0")
    return digest.hexdigest()


def test_the_bundle_is_built_from_these_sources() -> None:
    built = STATIC / "source.sha256"
    assert built.is_file(), "the front end is not built: run `make build`"
    assert built.read_text().strip() == source_hash(ROOT / "js"), (
        "the front end is older than its sources: run `make build`"
    )


def test_the_bundle_is_small() -> None:
    size = (STATIC / "widget.js").stat().st_size
    assert size <= LARGEST, f"widget.js has {size} bytes"


def test_the_bundle_asks_no_other_host() -> None:
    for name in ("widget.js", "widget.css"):
        text = (STATIC / name).read_text("utf-8")
        assert re.findall(r"https?://(?!www\.w3\.org/)[\w.-]+", text) == []
        assert "@import" not in text
