"""A large session that is opened as it was opened before: its first picture comes before the file is read."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.demo import read_demo
from tests.jupyter.test_server import Server, start
from tests.work import wait_until

NAME = "long.jsonl"
READING = "Reading the file"
OTHER = "pi"
PADDING = json.dumps({"type": "file-history-snapshot", "messageId": "m", "snapshot": {"": "." * 100_000}})
"""A row that nobody looks into."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pictures")


@pytest.fixture(scope="module")
def running(home: Path) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CACHE_HOME", str(home / "cache"))
        with start(home, "--CompactionInspector.list_sessions=False") as server:
            yield server


@pytest.fixture
def server(running: Server, home: Path) -> Server:
    """With a large file in its folder, and no picture of it."""
    for picture in list_pictures(home):
        picture.unlink()
    (running.root / NAME).write_bytes(read_demo() + f"{PADDING}\n".encode() * 85)
    return running


def open_and_close(server: Server, home: Path, **inputs: Any) -> dict[str, Any]:
    """The first frame; the document is closed when its picture is kept."""
    before = look(home)
    first = server.open(NAME, **inputs)
    wait_until(lambda: (stored := look(home)) != before and all(size for _, size in stored))
    server.ask("DELETE", f"inspector/documents/{first['document']}")
    return first


def look(home: Path) -> list[tuple[int, int]]:
    """When each picture was kept, and its size."""
    return [(status.st_mtime_ns, status.st_size) for status in map(Path.stat, list_pictures(home))]


def list_pictures(home: Path) -> list[Path]:
    return [*(home / "cache" / "compaction-inspector" / "pictures").glob("*.msgpack")]


def test_the_second_opening_shows_the_first_one_s_picture_and_then_what_the_file_holds(
    server: Server, home: Path
) -> None:
    first = open_and_close(server, home)
    assert first["_work"] == {}
    (picture,) = list_pictures(home)
    if os.name == "posix":
        assert stat.S_IMODE(picture.stat().st_mode) == 0o600

    again = server.open(NAME)
    assert again["_work"]["what"] == READING
    drawn = ("_scene", "_scene_data", "_plan", "_plan_data", "cut", "policy", "at", "tab")
    assert {name: again[name] for name in drawn} == {name: first[name] for name in drawn}

    # Whoever asks or decides meanwhile is answered from the file.
    findings = server.question(again["document"], type="findings", id=2, place=again["_plan"]["cut"]["place"])
    assert findings["type"] == "findings" and findings["label"]
    changed = server.change(again["document"], policy=OTHER, _seq=1)
    assert changed["_plan"]["policy"] == OTHER != first["_plan"]["policy"]
    news = server.news(again["document"], again["rev"])
    assert news["_work"].get("what") != READING
    assert "_scene" not in news or news["_scene"]["header"] == first["_scene"]["header"]


def test_where_the_file_is_no_session_any_more_the_picture_goes_and_the_next_opening_says_why(
    server: Server, home: Path
) -> None:
    open_and_close(server, home)
    place = server.root / NAME
    status = place.stat()
    place.write_bytes(b"\x89PNG\r\n\x1a\n".ljust(status.st_size, b"\0"))
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))

    shown = server.open(NAME)
    assert shown["_work"]["what"] == READING
    route = f"inspector/documents/{shown['document']}"
    assert server.ask("GET", f"{route}/news?rev={shown['rev']}").status == 404
    assert server.ask("POST", route, {"wanted": {"policy": OTHER}}).status == 404
    refused = server.ask("POST", "inspector/open", {"path": NAME, "wanted": {}})
    assert refused.status == 422 and "PNG" in refused.json["message"]
    assert list_pictures(home) == []


def test_a_server_that_lists_no_sessions_opens_none_of_them(running: Server) -> None:
    refused = running.ask("GET", "inspector/sessions")
    told = "This server does not list the sessions of its machine."
    assert (refused.status, refused.json["message"]) == (403, told)
    known = {"known": str(running.root / NAME), "wanted": {}}
    assert running.ask("POST", "inspector/open", known).status == 403
