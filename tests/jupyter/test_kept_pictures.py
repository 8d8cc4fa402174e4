"""A large session that is opened as it was opened before: its first picture comes before the file is read."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.jupyter.test_server import Server, start
from tests.longer import write_long

NAME = "long.jsonl"
READING = "Reading the file"
OTHER = "pi"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with start(tmp_path) as server:
        write_long(server.root / NAME, 1200)
        assert (server.root / NAME).stat().st_size > 8_000_000
        yield server


def open_and_close(server: Server, tmp_path: Path, **inputs: Any) -> dict[str, Any]:
    """The first frame; the document is closed when its picture is kept."""
    before = [place.read_bytes() for place in list_pictures(tmp_path)]
    first = server.open(NAME, **inputs)
    end = time.monotonic() + 60
    while (kept := [place.read_bytes() for place in list_pictures(tmp_path)]) == before or not all(kept):
        assert time.monotonic() < end, "no picture is kept"
        time.sleep(0.05)
    server.ask("DELETE", f"inspector/desks/{first['desk']}")
    return first


def list_pictures(tmp_path: Path) -> list[Path]:
    return [*(tmp_path / "cache" / "compaction-inspector" / "pictures").glob("*.msgpack")]


def test_the_second_opening_shows_the_first_one_s_picture_and_then_what_the_file_holds(
    server: Server, tmp_path: Path
) -> None:
    first = open_and_close(server, tmp_path)
    assert first["_work"] == {}
    (picture,) = list_pictures(tmp_path)
    if os.name == "posix":
        assert stat.S_IMODE(picture.stat().st_mode) == 0o600

    again = server.open(NAME)
    assert again["_work"]["what"] == READING
    drawn = ("_scene", "_scene_data", "_plan", "_plan_data", "cut", "policy", "at", "tab")
    assert {name: again[name] for name in drawn} == {name: first[name] for name in drawn}

    # Whoever asks or decides meanwhile is answered from the file.
    findings = server.question(again["desk"], type="findings", id=2, place=again["_plan"]["cut"]["place"])
    assert findings["type"] == "findings" and findings["label"]
    changed = server.change(again["desk"], policy=OTHER, _seq=1)
    assert changed["_plan"]["policy"] == OTHER != first["_plan"]["policy"]
    news = server.news(again["desk"], again["rev"])
    assert news["_work"].get("what") != READING
    assert "_scene" not in news or news["_scene"]["header"] == first["_scene"]["header"]


def test_a_picture_of_another_file_other_choices_or_another_make_is_not_shown(
    server: Server, tmp_path: Path
) -> None:
    first = open_and_close(server, tmp_path)
    chosen = open_and_close(server, tmp_path, policy=OTHER)
    assert chosen["_work"] == {} and chosen["_plan"]["policy"] == OTHER != first["_plan"]["policy"]

    assert server.open(NAME, policy=OTHER)["_work"]["what"] == READING
    rows = (server.root / NAME).read_text().splitlines()
    (server.root / NAME).write_text("\n".join(rows[:-40]) + "\n")
    shorter = open_and_close(server, tmp_path, policy=OTHER)
    assert shorter["_work"] == {}
    assert shorter["_scene"]["header"] != first["_scene"]["header"]

    (picture,) = list_pictures(tmp_path)
    picture.write_bytes(picture.read_bytes()[:5000])
    broken = open_and_close(server, tmp_path, policy=OTHER)
    assert broken["_work"] == {} and broken["_scene"]["header"] == shorter["_scene"]["header"]


def test_where_the_file_is_no_session_any_more_the_picture_goes_and_the_next_opening_says_why(
    server: Server, tmp_path: Path
) -> None:
    open_and_close(server, tmp_path)
    place = server.root / NAME
    status = place.stat()
    place.write_bytes(b"\x89PNG\r\n\x1a\n".ljust(status.st_size, b"\0"))
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))

    shown = server.open(NAME)
    assert shown["_work"]["what"] == READING
    route = f"inspector/desks/{shown['desk']}"
    assert server.ask("GET", f"{route}/news?rev={shown['rev']}").status == 404
    assert server.ask("POST", route, {"wanted": {"policy": OTHER}}).status == 404
    refused = server.ask("POST", "inspector/open", {"path": NAME, "wanted": {}})
    assert refused.status == 422 and "PNG" in refused.json["message"]
    assert list_pictures(tmp_path) == []


def test_of_a_small_session_no_picture_is_kept(server: Server, tmp_path: Path) -> None:
    for _ in range(2):
        opened = server.open("story.jsonl")
        assert opened["_work"].get("what") != READING
    assert list_pictures(tmp_path) == []
