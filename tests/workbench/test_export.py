"""An exported page is written whole or not at all, and over nothing that is not ours."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from inspector.demo import open_demo, read_demo
from inspector.errors import RedactionError
from inspector.files import open_session
from inspector.formats.readers import read_session
from inspector.jupyter.widget import Workbench
from inspector.redaction import detect as detector
from inspector.session.session import Session
from inspector.workbench.model import WorkbenchModel
from inspector.workbench.page.export import ExportedPage, export_html
from tests.exported import unpack_page


@pytest.fixture(scope="module")
def session() -> Session:
    """A short one: a page of it is made at once."""
    whole = open_demo()
    return whole.at(whole.entries[30].id)


def export(session: Session, path: Path, **options: object) -> ExportedPage:
    return export_html(WorkbenchModel(session), path, **options)  # type: ignore[arg-type]


def test_our_own_page_is_written_over_and_no_other_file_is(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    first = export(session, path)
    export(session, path, keep=[first.redacted[0].name])
    for other in ("<!doctype html><title>notes</title>", '{"type": "user"}'):
        path.write_text(other)
        with pytest.raises(FileExistsError, match="not an exported page"):
            export(session, path)
        assert path.read_text() == other
    export(session, path, replace=True)
    assert unpack_page(path.read_text())
    with pytest.raises(IsADirectoryError):
        export(session, tmp_path, replace=True)


def test_nothing_is_written_when_secrets_cannot_be_looked_for(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.html"
    export(session, path)
    before = path.read_bytes()
    monkeypatch.setattr(detector, "PATTERNS", (None,))
    with pytest.raises(RedactionError, match="Nothing was written, because the content may hold secrets"):
        export(session, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_a_session_a_desk_and_a_workbench_can_be_exported(tmp_path: Path) -> None:
    source = tmp_path / "story.jsonl"
    source.write_bytes(b"".join(read_demo().splitlines(keepends=True)[:40]))
    target = tmp_path / "page.html"
    workbench = Workbench(source, "keep-recent-turns")
    for what in (source, open_session(source), workbench.model):
        done = export_html(what, target)
        held, _ = unpack_page(target.read_text())
        assert done.size < 1_500_000
    done = workbench.export_html(target)
    held, _ = unpack_page(target.read_text())
    assert held["wanted"]["policy"] == "keep-recent-turns"
    with pytest.raises(TypeError, match="belong to a session"):
        export_html(workbench, target, window=1000)


def test_a_page_is_of_one_state_while_the_session_grows(tmp_path: Path) -> None:
    lines = read_demo().splitlines(keepends=True)
    stories = [read_session(b"".join(lines[:end]), "story", "claude-code") for end in (60, 90)]
    workbench = Workbench(stories[0])
    done = Event()

    def grow() -> None:
        while not done.is_set():
            for story in (stories[1], stories[0]):
                workbench._controller.grow(story)

    with ThreadPoolExecutor(1) as pool:
        growing = pool.submit(grow)
        try:
            for _ in range(3):
                workbench.export_html(tmp_path / "page.html")
                held, _ = unpack_page((tmp_path / "page.html").read_text())
                assert len(held["rows"]) == held["scene"]["columns"][0]["length"]
        finally:
            done.set()
        growing.result(120)
    workbench.close()
