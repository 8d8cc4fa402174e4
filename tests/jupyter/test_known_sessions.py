"""The sessions of the machine at a real server: what is listed, what opens, and that nothing else does."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.demo import read_demo
from tests.jupyter.test_server import Server, start

PLACE = ".claude/projects/-tide-pool"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("machine").resolve()
    folder = home / PLACE
    folder.mkdir(parents=True)
    (folder / "a b.jsonl").write_bytes(read_demo())
    (folder / "notes.txt").write_bytes(read_demo())
    (home / "secret.jsonl").write_bytes(read_demo())
    (folder / "link.jsonl").symlink_to(home / "secret.jsonl")
    outside = home / "elsewhere"
    outside.mkdir()
    shutil.copy(home / "secret.jsonl", outside / "inner.jsonl")
    (home / ".claude/projects/-linked").symlink_to(outside, target_is_directory=True)
    return home


@pytest.fixture(scope="module")
def server(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        set_home(patch, home)
        with start(tmp_path_factory.mktemp("server")) as started:
            yield started


def set_home(patch: pytest.MonkeyPatch, home: Path) -> None:
    patch.setenv("HOME", str(home))
    patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR"):
        patch.delenv(name, raising=False)


def test_it_lists_the_sessions_of_known_places_and_opens_them(server: Server, home: Path) -> None:
    answer = server.ask("GET", "inspector/sessions").json
    (found,) = answer["sessions"]
    assert found["path"] == str(home / PLACE / "a b.jsonl")
    assert (found["harness"], found["turns"], found["compactions"]) == ("Claude Code", 21, 1)
    assert answer["sentence"] == "1 session."
    opened = server.ask("POST", "inspector/open", {"known": found["path"], "wanted": {}}).frame
    assert opened["traits"]["_scene"]["header"]["title"] == found["title"]


def test_nothing_outside_the_places_can_be_asked_for(server: Server, home: Path) -> None:
    folder = home / PLACE
    wrong = (
        *(home / "secret.jsonl", folder / "link.jsonl", folder / "notes.txt", folder),
        *(home / ".claude/projects/-linked/inner.jsonl", home / "elsewhere/inner.jsonl", "/etc/passwd"),
        *(f"{folder}/../../../secret.jsonl", f"{folder}/./a b.jsonl", f"{folder}//a b.jsonl"),
        *("a b.jsonl", f"{PLACE}/a b.jsonl", f"~/{PLACE}/a b.jsonl", f"{folder}/a b.jsonl\0", ""),
        *(None, 7, True, [str(folder / "a b.jsonl")], {"path": "x"}),
    )
    for path in wrong:
        asked = str(path) if isinstance(path, Path) else path
        answer = server.ask("POST", "inspector/open", {"known": asked, "wanted": {}})
        assert answer.status == 404, asked
        assert str(home) not in answer.json["message"]


def test_a_file_that_becomes_a_link_after_it_was_listed_is_not_opened(server: Server, home: Path) -> None:
    path = home / PLACE / "later.jsonl"
    path.write_bytes(read_demo())
    assert str(path) in {found["path"] for found in server.ask("GET", "inspector/sessions").json["sessions"]}
    path.unlink()
    path.symlink_to(home / "secret.jsonl")
    try:
        known = {"known": str(path), "wanted": {}}
        assert server.ask("POST", "inspector/open", known).status == 404
        listed = server.ask("GET", "inspector/sessions").json["sessions"]
        assert str(path) not in {found["path"] for found in listed}
    finally:
        path.unlink()


def test_the_files_are_only_read(server: Server, home: Path) -> None:
    path = home / PLACE / "a b.jsonl"
    before = (path.read_bytes(), os.stat(path).st_mtime_ns, sorted(path.parent.iterdir()))
    opened = server.ask("POST", "inspector/open", {"known": str(path), "wanted": {}}).frame
    saved = server.ask(
        "POST", f"inspector/documents/{opened['document']}/save", {"type": "save", "id": "a"}
    ).json
    assert not Path(saved["path"]).is_absolute(), "a plan is written below the server's root"
    assert before == (path.read_bytes(), os.stat(path).st_mtime_ns, sorted(path.parent.iterdir()))
