"""The built front end belongs to the sources beside it, and is small enough to send with every widget."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "inspector" / "static"
WIDGET = ("widget.js", "later.js", "dialogs.js", "widget.css")
COURSE = ("lesson.js", "lesson-page.js", "lesson.css")
LABEXTENSION = ROOT / "inspector" / "labextension"
LARGEST = 166_000
"""Bytes; the bundle is sent once for each widget, and saved with a notebook's widgets."""
LATER = 90_000
"""Bytes of the tabs that follow once the first picture stands."""
LESSON = 40_000
"""Bytes of the course's script, which each of its pages holds."""
DIALOGS = 9_000
"""Bytes of the dialogs, in a message of their own."""
AT_START = 25 * 1024  # bytes of the chunk that is loaded whether or not a session is opened


def source_hash(js: Path) -> str:
    """As js/sources.mjs says."""
    folders = ("src", "style", "schema")
    files = (path for folder in folders for path in (js / folder).rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for name in sorted(path.relative_to(js).as_posix() for path in files):
        digest.update(name.encode() + b"\0" + (js / name).read_bytes() + b"\0")
    return digest.hexdigest()


@pytest.mark.parametrize("folder", [STATIC, LABEXTENSION], ids=lambda folder: folder.name)
def test_the_bundle_is_built_from_these_sources(folder: Path) -> None:
    built = folder / "source.sha256"
    assert built.is_file(), "the front end is not built: run `make build`"
    assert built.read_text().strip() == source_hash(ROOT / "js"), (
        "the front end is older than its sources: run `make build`"
    )


def test_the_bundle_is_small() -> None:
    limits = {"widget.js": LARGEST, "later.js": LATER, "dialogs.js": DIALOGS}
    limits |= {"lesson.js": LESSON, "lesson-page.js": LESSON}
    for name, limit in limits.items():
        size = (STATIC / name).stat().st_size
        assert size <= limit, f"{name} has {size} bytes"


def test_the_bundle_asks_no_other_host() -> None:
    for path in (*(STATIC / name for name in (*WIDGET, *COURSE)), *(LABEXTENSION / "static").glob("*.js")):
        text = path.read_text("utf-8")
        assert re.findall(r"https?://(?!www\.w3\.org/)[\w.-]+", text) == [], path.name
        assert "@import" not in text


def test_the_extension_brings_no_copy_of_what_jupyterlab_has() -> None:
    sizes = {path.name: path.stat().st_size for path in (LABEXTENSION / "static").glob("*.js")}
    assert sum(sizes.values()) <= 3 * (LARGEST + LATER + DIALOGS), sizes


def test_what_every_start_of_jupyterlab_loads_is_small() -> None:
    """The workbench is a chunk of its own, loaded when a session is opened."""
    static = LABEXTENSION / "static"
    begins = [path for path in static.glob("*.js") if b"compaction-inspector:opener" in path.read_bytes()]
    assert [path.stat().st_size <= AT_START for path in begins] == [True], begins
    workbench = [path for path in static.glob("*.js") if b"cut-handle" in path.read_bytes()]
    assert workbench and workbench[0] not in begins
