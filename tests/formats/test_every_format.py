"""What every reader owes, whatever it reads: asked of one small session of each format, written for this.

The sessions stand in `tests/cases/formats`; the name of a file is the name of its reader up to the first dot.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import count_tokens, export_html, export_session, make_plan, read_session, replay
from inspector.errors import ReadError
from inspector.facts import find_facts
from inspector.facts.trace import trace_plan, trace_recorded
from inspector.files import FollowedFile, open_session
from inspector.formats.incremental import IncrementalReader
from inspector.formats.json_lines import Reader
from inspector.formats.readers import READERS
from inspector.session.session import Session
from inspector.testing import check_reader
from inspector.workbench.model import WorkbenchModel
from tests.rows import CASES
from tests.strategies import JUNK, paths_of, replaced

FILES = sorted(path for path in CASES.iterdir() if path.is_file())
BY_NAME = {reader.name: reader for reader in READERS}
LINES = [path for path in FILES if path.suffix == ".jsonl"]

every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
every_log = pytest.mark.parametrize("path", LINES, ids=lambda path: path.name)


def reader_of(path: Path) -> Reader:
    return BY_NAME[path.name.partition(".")[0]]


def check_shape(session: Session) -> None:
    for entry in session.entries:
        assert entry.role != "tool" or all(block.kind == "tool_output" for block in entry.blocks)
    assert len({entry.id for entry in session.entries}) == len(session.entries)
    assert len(session.path) <= len(session.entries)


@every_file
def test_its_reader_does_what_a_reader_owes_and_nothing_in_it_is_unknown(path: Path) -> None:
    """`check_reader` asks each reader, cuts the file short, lets it grow, and writes the manifest."""
    reader = reader_of(path)
    check_reader(reader, [path])
    assert reader.sniff(memoryview(path.read_bytes())) is None
    session = open_session(path)
    assert (session.format, session.unknown, session.corrupt) == (reader.name, 0, ())


def test_a_format_of_one_document_is_not_followed_by_its_lines() -> None:
    with pytest.raises(ValueError, match="is not a format of lines"):
        IncrementalReader(BY_NAME["inspect"])


@every_log
def test_a_row_that_cannot_be_read_is_counted_and_takes_no_other_with_it(path: Path) -> None:
    data = path.read_bytes()
    whole = read_session(data)
    broken = read_session(data + b'{"half": \n[7]\n', format=whole.format)
    assert len(broken.corrupt) == 2
    assert broken.records == whole.records + 2
    assert [entry.id for entry in broken.entries] == [entry.id for entry in whole.entries]


@every_log
def test_a_row_of_a_kind_that_nobody_knows_is_counted_as_unknown(path: Path) -> None:
    data = path.read_bytes()
    whole = read_session(data)
    strange = read_session(data + b'{"type": "song.of_the_sea", "verse": 1}\n', format=whole.format)
    assert strange.unknown == whole.unknown + 1
    assert strange.records == whole.records + 1


@every_file
@given(data=st.data())
def test_no_junk_in_any_place_breaks_a_reader(path: Path, data: st.DataObject) -> None:
    content = path.read_bytes()
    log = path.suffix == ".jsonl"
    value: Any = [json.loads(row) for row in content.splitlines()] if log else json.loads(content)
    for _ in range(data.draw(st.integers(1, 3))):
        junk = data.draw(JUNK)
        ways = [way for way in paths_of(value) if way]
        value = replaced(value, data.draw(st.sampled_from(ways)), junk) if ways else value
    rows = [json.dumps(row) for row in value] if log else [json.dumps(value)]
    raw = "\n".join(rows).encode()
    for reader in READERS:
        reader.sniff(raw)
    try:
        session = read_session(raw, format=reader_of(path).name)
    except ReadError:
        return
    check_shape(session)
    if log:
        assert session.records == len(rows)


@every_file
def test_flipped_bytes_and_shuffled_rows_break_no_reader(path: Path) -> None:
    data = path.read_bytes()
    name = reader_of(path).name
    chance = Random(path.name)
    for _ in range(20):
        at = chance.randrange(len(data))
        with suppress(ReadError):
            check_shape(read_session(data[:at] + bytes([data[at] ^ 0x15]) + data[at + 1 :], format=name))
    rows = data.splitlines(keepends=True) if path.suffix == ".jsonl" else None
    document = None if rows else json.loads(data)
    lists = [way for way in paths_of(document) if isinstance(at_way(document, way), list)] if not rows else []
    for _ in range(10 if rows or lists else 0):
        if rows:
            chance.shuffle(rows)
            mixed = b"".join(row.rstrip(b"\n") + b"\n" for row in rows)
        else:
            way = chance.choice(lists)
            items = list(at_way(document, way))
            chance.shuffle(items)
            mixed = json.dumps(replaced(document, way, items)).encode()
        with suppress(ReadError):
            session = read_session(mixed, format=name)
            check_shape(session)
            if rows:
                assert session.records == len(rows)


def at_way(value: Any, way: tuple[Any, ...]) -> Any:
    for key in way:
        value = value[key]
    return value


@pytest.mark.parametrize(("path", "pack"), list(zip(FILES, cycle(("gz", "zst", "zip")), strict=False)))
def test_a_packed_file_is_the_same_session(path: Path, pack: str, tmp_path: Path) -> None:
    data = path.read_bytes()
    if pack == "gz":
        packed = gzip.compress(data)
    elif pack == "zst":
        zstandard = pytest.importorskip("zstandard", reason="nothing here packs zstd")
        half = len(data) // 2
        packed = zstandard.compress(data[:half]) + zstandard.compress(data[half:])
    else:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(path.name, data)
        packed = file.getvalue()
    try:
        expected = read_session(data)
    except ReadError:
        with pytest.raises(ReadError):
            read_session(packed)
        return
    assert read_session(packed) == expected
    place = tmp_path / f"{path.name}.{pack}"
    place.write_bytes(packed)
    assert open_session(place) == expected
    assert FollowedFile(place).poll() is None


@every_file
def test_a_file_can_be_asked_what_any_session_can(path: Path, tmp_path: Path) -> None:
    """Facts, trace, plan, replay and the workbench, once through, and of every fourth file its page."""
    session = open_session(path)
    facts = find_facts(session)
    ledger = count_tokens(session)
    for trace in trace_recorded(session, facts):
        assert len(trace) <= len(facts)
    plan = make_plan(session, ledger, "claude-code", reason="manual")
    assert plan.before > 0
    assert len(trace_plan(plan)) == len(facts)
    run = replay(session, "pi")
    assert run.turn[-1] == session.turns[-1].number
    workbench = WorkbenchModel(session, "claude-code")
    answer = workbench.answer({})
    assert answer["_scene"] and not answer["_error"] and workbench.plan.session.id == session.id
    if FILES.index(path) % 4 == 0:
        export_html(workbench, tmp_path / "page.html")
        assert b"</html>" in (tmp_path / "page.html").read_bytes()
    again = read_session(export_session(session, "pi"), format="pi")
    assert {*said_by_the_model(session)} == {*said_by_the_model(again)}


def said_by_the_model(session: Session) -> list[str]:
    """The words of the replies in the context."""
    replies = [session[name] for name in session.live_names if session[name].role == "assistant"]
    return [entry.text for entry in replies if entry.text]
