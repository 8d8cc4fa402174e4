"""A session reopened where it stood, held against the original's raw rows and against the moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector import Session, open_session, reopen_session, save_session
from inspector.cli import main
from inspector.errors import EditError
from tests.rows import load
from tests.shared import SHARED, needs_shared

Row = dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    return load(path)


def before_the_compaction(session: Session) -> str:
    (name, _) = session.boundaries[0]
    parent = session[name].parent
    assert parent is not None
    return parent


def shown(session: Session) -> list[tuple[str, str]]:
    """Who says what in the context, in order."""
    live = session.live
    return [
        (session.entries[live.entries[at]].role, session.entries[live.entries[at]].blocks[number].text)
        for at, number in zip(live.position.tolist(), live.block.tolist(), strict=True)
    ]


def test_the_session_before_a_compaction_is_a_session_of_its_own(file: Path) -> None:
    original, session = file.read_bytes(), open_session(file)
    at = before_the_compaction(session)
    copy = reopen_session(file, at)
    again = open_session(copy)

    assert file.read_bytes() == original, "a file the user gave is only read"
    assert copy.parent == file.parent and copy.stem == again.id != session.id
    assert shown(again) == shown(session.at(at))
    assert len(again.turns) == len(session.at(at).turns) == 15
    assert (again.boundaries, again.model, again.cwd) == ((), session.model, session.cwd)
    assert again.title == f"{session.title}, reopened in turn 15"


def test_its_rows_are_those_of_the_path_under_new_names(file: Path) -> None:
    session = open_session(file)
    old = {row["uuid"]: row for row in read_rows(file) if "uuid" in row}
    rows = read_rows(reopen_session(file, before_the_compaction(session)))
    named = [row for row in rows if "uuid" in row]

    ids = [row["uuid"] for row in named]
    assert len(set(ids)) == len(ids) and not {*ids} & {*old}, "it may lie beside the original"
    assert {row["sessionId"] for row in rows} == {rows[0]["sessionId"]}
    for row in named:
        source = old[row["forkedFrom"]["messageUuid"]]
        assert row["forkedFrom"]["sessionId"] == source["sessionId"] == session.id
        assert row["parentUuid"] is None or row["parentUuid"] in ids
        kept = ("type", "message", "timestamp", "version", "gitBranch", "cwd", "isMeta", "toolUseResult")
        assert [row.get(name) for name in kept] == [source.get(name) for name in kept]
    # Each hangs off the copy of what its original hangs off.
    origin = {row["uuid"]: row["forkedFrom"]["messageUuid"] for row in named}
    for row in named:
        if row["parentUuid"] is not None:
            assert origin[row["parentUuid"]] == old[origin[row["uuid"]]]["parentUuid"]


def test_nothing_is_written_over(file: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("mine")
    with pytest.raises(FileExistsError, match=r"there\.jsonl"):
        reopen_session(file, to=there)
    assert there.read_text() == "mine"
    assert reopen_session(file) != reopen_session(file)


def test_a_format_that_no_harness_goes_on_from_is_refused_by_name(tmp_path: Path, file: Path) -> None:
    manifest = tmp_path / "m.json"
    save_session(open_session(file).model_copy(update={"format": "demo"}), manifest)
    with pytest.raises(EditError, match="only claude-code and pi sessions can be reopened"):
        reopen_session(manifest)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a session.jsonl", "m.json"]


def test_the_command_tells_where_it_is(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = before_the_compaction(open_session(file))
    assert main(["reopen", str(file), "--at", at]) == 0
    (place,) = capsys.readouterr().out.splitlines()
    assert len(open_session(place).turns) == 15
    assert main(["reopen", str(file), "--at", "nowhere"]) == 2
    assert "no such entry" in capsys.readouterr().err


def real_sessions() -> list[Any]:
    folders = (path for path in (SHARED / "sessions").glob("*/*.jsonl") if SHARED.exists())
    return [
        pytest.param(path, id=path.stem)
        for path in sorted(folders)
        # Other tools shorten transcripts for their own use, and such a file is refused.
        if path.name.startswith(("cc-", "pi-")) and "sweep--" not in str(path)
        if path.name.startswith("pi-") or path.stat().st_size < 1_000_000
    ]


@needs_shared
@pytest.mark.parametrize("path", real_sessions())
def test_at_every_turn_and_before_every_compaction_of_real_sessions(path: Path, tmp_path: Path) -> None:
    session, file = open_session(path), tmp_path / path.name
    file.write_bytes(path.read_bytes())
    moments = {
        session.entries[session.path[turn.last]].id
        for turn in session.turns[:: max(len(session.turns) // 4, 1)]
    }
    moments |= {parent for name, _ in session.boundaries if (parent := session[name].parent) is not None}
    for at in moments:
        again, moment = open_session(reopen_session(file, at)), session.at(at)
        assert shown(again) == shown(moment)
        assert len(again.turns) == len(moment.turns)
        assert not {entry.id for entry in again.entries} & set(session.index) or session.format == "pi"
