"""The built front end belongs to the sources beside it, and is small enough to send with every widget."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "inspector" / "static"
WIDGET = ("widget.js", "later.js", "widget.css")
LABEXTENSION = ROOT / "inspector" / "labextension"
LARGEST = 170_000
"""Bytes; the bundle is sent once for each widget, and saved with a notebook's widgets. It only falls."""
LATER = 75_500
"""Bytes of the tabs that follow once the first picture stands."""
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
    for name, limit in {"widget.js": LARGEST, "later.js": LATER}.items():
        size = (STATIC / name).stat().st_size
        assert size <= limit, f"{name} has {size} bytes"


def test_the_bundle_asks_no_other_host() -> None:
    for path in (*(STATIC / name for name in WIDGET), *(LABEXTENSION / "static").glob("*.js")):
        text = path.read_text("utf-8")
        assert re.findall(r"https?://(?!www\.w3\.org/)[\w.-]+", text) == [], path.name
        assert "@import" not in text


def test_the_extension_brings_no_copy_of_what_jupyterlab_has() -> None:
    sizes = {path.name: path.stat().st_size for path in (LABEXTENSION / "static").glob("*.js")}
    assert sum(sizes.values()) <= 3 * (LARGEST + LATER), sizes


def test_what_every_start_of_jupyterlab_loads_is_small() -> None:
    """The workbench is a chunk of its own, loaded when a session is opened."""
    static = LABEXTENSION / "static"
    begins = [path for path in static.glob("*.js") if b"compaction-inspector:opener" in path.read_bytes()]
    assert [path.stat().st_size <= AT_START for path in begins] == [True], begins
    workbench = [path for path in static.glob("*.js") if b"cut-handle" in path.read_bytes()]
    assert workbench and workbench[0] not in begins


def test_the_extension_tells_jupyterlab_where_it_begins() -> None:
    told = json.loads((LABEXTENSION / "package.json").read_text("utf-8"))
    build = told["jupyterlab"]["_build"]
    assert (LABEXTENSION / build["load"]).is_file()
    assert {"load", "extension", "style"} <= build.keys()
    schemas = LABEXTENSION / "schemas" / told["name"]
    assert {path.name for path in schemas.glob("*.json")} == {
        path.name for path in (ROOT / "js" / "schema").glob("*.json")
    }


def test_the_lock_file_names_no_place_to_load_from() -> None:
    """Whoever builds loads from the registry of their own choice."""
    lock = json.loads((ROOT / "js" / "package-lock.json").read_text("utf-8"))
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
    # Newer ones have no binding for every system, and npm then writes a lock that works on this one only.
    assert lock["packages"]["node_modules/@rspack/core"]["version"] == "2.2.9"
