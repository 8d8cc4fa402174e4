"""Tables of Inspect Scout: a transcript a row, written here by pyarrow as Scout writes them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector import open_session, open_sessions, read_session
from inspector.errors import ReadError, SeveralSessions
from inspector.formats.requests.scout import is_scout
from tests.rows import CASES

LOG = json.loads((CASES / "inspect.json").read_bytes())
SAMPLE = LOG["samples"][0]


def resolve(value: Any) -> str:
    """JSON as Scout stores it: attachments stand in their place."""
    text = json.dumps(value)
    for name, words in SAMPLE["attachments"].items():
        text = text.replace(json.dumps(f"attachment://{name}"), json.dumps(words))
    return text


def write(path: Path, *rows: dict[str, Any]) -> bytes:
    """A table with these rows; what a row does not name is empty."""
    reason = "pyarrow is not installed: compaction-inspector[scout] brings it"
    arrow = pytest.importorskip("pyarrow", reason=reason)
    parquet = pytest.importorskip("pyarrow.parquet", reason=reason)
    names = dict.fromkeys(name for row in rows for name in row)
    table = arrow.table({name: [row.get(name) for row in rows] for name in names})
    parquet.write_table(table, path, compression="zstd", row_group_size=2)
    return path.read_bytes()


def transcript(name: str, **more: Any) -> dict[str, Any]:
    """A row: the sample of the written log, its messages and events as JSON."""
    return {
        "transcript_id": name,
        "source_type": "eval_log",
        "source_id": "tides",
        "task_repeat": 1,
        "messages": resolve(SAMPLE["messages"]),
        "events": resolve(SAMPLE["events"]),
        "events_data": resolve({"messages": SAMPLE["message_pool"], "calls": []}),
        **more,
    }


def test_a_transcript_is_what_the_log_of_its_sample_is(tmp_path: Path) -> None:
    path = tmp_path / "one.parquet"
    data = write(path, transcript("t1"))
    session, log = open_session(path), read_session(json.dumps(LOG))
    assert (session.format, session.id, session.title) == ("inspect", "t1", "tides")
    assert [entry.blocks for entry in session.entries] == [entry.blocks for entry in log.entries]
    assert [entry.usage for entry in session.entries] == [entry.usage for entry in log.entries]
    assert [boundary for _, boundary in session.boundaries] == [boundary for _, boundary in log.boundaries]
    assert read_session(data) == session


def test_several_are_listed_and_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "many.parquet"
    said = json.dumps(
        [{"role": "user", "content": "Ebb or flood?"}, {"role": "assistant", "content": "Ebb."}]
    )
    words = {"messages": said, "events": None, "events_data": None}
    write(path, transcript("t1"), transcript("t2", **words), transcript("t3", messages="[", events=None))
    found = open_sessions(path)
    assert [one.name for one in found] == ["t1", "t2"] and [one.name for one in found.others] == ["t3"]
    assert found[1].size == len(said)
    assert [entry.text for entry in open_session(path, part="t2").entries] == ["Ebb or flood?", "Ebb."]
    with pytest.raises(SeveralSessions, match="an Inspect Scout database of 2 sessions: 't1', 't2'"):
        open_session(path)


def test_another_table_is_refused_as_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    write(path, {"id": 1, "text": "x"})
    with pytest.raises(ReadError, match="it is a Parquet table"):
        open_session(path)


def test_without_pyarrow_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The columns stand readable at the end of a table, so that it is known without a library."""
    footer = b"\x15\x02transcript_id\x15\x0cmessages"
    data = b"PAR1" + bytes(40) + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    assert is_scout(data) and not is_scout(data.replace(b"transcript_id", b"something_els"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "one.parquet"
    path.write_bytes(data)
    with pytest.raises(ReadError, match=r"install compaction-inspector\[scout\] to read it"):
        open_session(path)
