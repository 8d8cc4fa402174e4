"""Databases of opencode and LangGraph: one session of several, the log beside them, no class ever built."""

from __future__ import annotations

import json
import pickle
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from inspector import open_session, open_sessions, read_session
from inspector.errors import EditError, InspectorError, ReadError, SeveralSessions
from inspector.session.blocks import ToolCall
from tests.rows import CASES

OPENCODE = """
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,
  version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
"""
LANGGRAPH = """
CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, parent_checkpoint_id TEXT,
  type TEXT, checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
CREATE TABLE writes (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, task_id TEXT, idx INTEGER);
"""
FIELDS = ("project_id", "parent_id", "directory", "title", "version", "revert")


def fill_opencode(base: sqlite3.Connection, document: dict[str, Any], name: str) -> None:
    """The rows of an export, under the id `name`."""
    info = document["info"]
    cells = [json.dumps(v) if isinstance(v := info.get(key), dict) else v for key in FIELDS]
    times = info.get("time", {})
    base.execute(
        "INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?)",
        (name, *cells, times.get("created"), times.get("updated")),
    )
    for message in document["messages"]:
        # Messages name each other, so those of the first session keep their ids.
        number = message["info"]["id"] if name == "ses_a" else name + message["info"]["id"]
        data = json.dumps({key: value for key, value in message["info"].items() if key != "id"})
        base.execute("INSERT INTO message VALUES (?,?,?,?)", (number, name, 0, data))
        for at, part in enumerate(message["parts"]):
            row = (f"{number}-{at:03}", number, name, json.dumps(part))
            base.execute("INSERT INTO part VALUES (?,?,?,?)", row)


def make_opencode(place: Path, *names: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((CASES / "opencode.json").read_text("utf-8"))
    with closing(sqlite3.connect(place)) as base:
        base.executescript(OPENCODE)
        for name in names:
            fill_opencode(base, document, name)
        base.commit()
    return document


def make_thread(place: Path, states: list[Any], thread: str = "t", kind: str = "") -> None:
    serde = JsonPlusSerializer()
    with closing(sqlite3.connect(place)) as base:
        base.executescript(LANGGRAPH.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
        for at, messages in enumerate(states):
            state = {"v": 4, "ts": f"2026-01-01T10:00:0{at}Z", "channel_values": {"messages": messages}}
            told, blob = serde.dumps_typed(state)
            row = (thread, "", f"c{at}", f"c{at - 1}" if at else None, kind or told, blob, b"")
            base.execute("INSERT INTO checkpoints VALUES (?,?,?,?,?,?,?)", row)
        base.commit()


def test_opencodes_database_holds_what_its_export_does(tmp_path: Path) -> None:
    make_opencode(tmp_path / "opencode.db", "ses_a")
    stored, export = open_session(tmp_path / "opencode.db"), open_session(CASES / "opencode.json")
    assert (stored.format, stored.id, stored.title) == ("opencode", "ses_a", export.title)
    assert (stored.cwd, stored.created) == (export.cwd, export.created)
    assert [entry.role for entry in stored.entries] == [entry.role for entry in export.entries]
    assert [entry.blocks for entry in stored.entries] == [entry.blocks for entry in export.entries]
    assert [entry.usage for entry in stored.entries] == [entry.usage for entry in export.entries]


def test_messages_of_a_database_follow_their_times_and_not_their_ids(tmp_path: Path) -> None:
    place = tmp_path / "opencode.db"
    rows = (
        ("msg_z", 1, "user", "Ask"),
        ("msg_a", 2, "assistant", "Reply"),
        ("msg_b", 2, "assistant", "More"),
    )
    with closing(sqlite3.connect(place)) as base:
        base.executescript(OPENCODE)
        base.execute("INSERT INTO session (id) VALUES ('ses_1')")
        for name, time, role, words in rows:
            row = (name, "ses_1", time, json.dumps({"role": role}))
            base.execute("INSERT INTO message VALUES (?,?,?,?)", row)
            part = json.dumps({"type": "text", "text": words})
            base.execute("INSERT INTO part VALUES (?,?,?,?)", (f"prt_{name}", name, "ses_1", part))
        base.commit()
    assert [entry.text for entry in open_session(place).entries] == ["Ask", "Reply", "More"]


def test_several_sessions_of_a_database_are_listed_and_one_is_named(tmp_path: Path) -> None:
    place = tmp_path / "opencode.db"
    make_opencode(place, "ses_a", "ses_b")
    assert [one.name for one in open_sessions(place)] == ["ses_a", "ses_b"]
    with pytest.raises(SeveralSessions, match="ses_b"):
        open_session(place)
    assert open_session(place, part="ses_b").id == "ses_b"
    # Its bytes alone, as a server or a download gives them, are the same.
    data = place.read_bytes()
    assert read_session(data, part="ses_b") == open_session(place, part="ses_b")
    with pytest.raises(SeveralSessions, match="'ses_a', 'ses_b'"):
        read_session(data)
    with pytest.raises(EditError, match="ses_c"):
        read_session(data, part="ses_c")


def test_the_bytes_of_a_database_with_one_session_are_that_session(tmp_path: Path) -> None:
    make_opencode(tmp_path / "opencode.db", "ses_a")
    make_thread(tmp_path / "checkpoints.sqlite", thread())
    for place in tmp_path.iterdir():
        assert read_session(place.read_bytes()) == open_session(place)
        assert read_session(memoryview(place.read_bytes())) == open_session(place)


def test_what_stands_only_in_the_log_beside_a_database_is_read_and_nothing_is_written(tmp_path: Path) -> None:
    place = tmp_path / "opencode.db"
    document: dict[str, Any] = json.loads((CASES / "opencode.json").read_text("utf-8"))
    with closing(sqlite3.connect(place)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.executescript(OPENCODE)
        fill_opencode(base, document, "ses_live")
        base.commit()
        before = {each.name: each.read_bytes() for each in tmp_path.iterdir() if each.suffix != ".db-shm"}
        assert before["opencode.db-wal"]
        assert open_session(place).id == "ses_live"
        after = {each.name: each.read_bytes() for each in tmp_path.iterdir() if each.suffix != ".db-shm"}
        assert after == before


def thread() -> list[Any]:
    call = {"id": "c1", "name": "look", "args": {"at": "bay"}, "type": "tool_call"}
    used = {
        "input_tokens": 50,
        "output_tokens": 6,
        "total_tokens": 56,
        "input_token_details": {"cache_read": 20},
    }
    told = [
        HumanMessage("Count the buoys.", id="1"),
        AIMessage("I look.", id="2", tool_calls=[call], usage_metadata=used),
        ToolMessage("red, green, red", id="3", tool_call_id="c1"),
        AIMessage("Three.", id="4", response_metadata={"model_name": "demo-1"}),
    ]
    short = [HumanMessage("In short: three buoys, two of them red.", id="9"), told[3]]
    return [[], told[:1], told[:2], told[:3], told, [*short, HumanMessage("And the green one?", id="5")]]


def test_a_thread_of_langgraph_is_a_session_and_a_rewritten_list_of_messages_a_compaction(
    tmp_path: Path,
) -> None:
    make_thread(tmp_path / "checkpoints.sqlite", thread())
    session = open_session(tmp_path / "checkpoints.sqlite")
    assert (session.format, session.id, session.model) == ("langgraph", "t", "demo-1")
    calls = [block for entry in session.entries for block in entry.blocks if isinstance(block, ToolCall)]
    assert [(call.name, call.input) for call in calls] == [("look", {"at": "bay"})]
    (usage,) = [entry.usage for entry in session.entries if entry.usage is not None]
    assert (usage.input, usage.cache_read, usage.output) == (30, 20, 6)
    ((name, _),) = session.boundaries
    assert session[name].text == "In short: three buoys, two of them red."
    assert [session[live].text for live in session.live_names][1:] == ["Three.", "And the green one?"]


class Trap:
    """A class that says when it was built."""

    built = 0

    def __init__(self, *given: object) -> None:
        Trap.built += 1

    def __reduce__(self) -> tuple[Any, ...]:
        return Trap, ("a",)


def test_no_class_of_a_checkpoint_is_ever_built(tmp_path: Path) -> None:
    """Neither by a name in msgpack nor by a pickle."""
    place = tmp_path / "checkpoints.sqlite"
    make_thread(place, thread()[1:3])
    inner = msgspec.msgpack.encode([__name__, "Trap", ["a"]])
    trap = msgspec.msgpack.Ext(1, inner)
    state = {"channel_values": {"messages": [{"type": "human", "content": "Hi", "id": "1"}], "trap": trap}}
    pickled = pickle.dumps({"channel_values": {"messages": [Trap()]}})
    Trap.built = 0
    with closing(sqlite3.connect(place)) as base:
        query = "UPDATE checkpoints SET type = ?, checkpoint = ? WHERE checkpoint_id = ?"
        base.execute(query, ("msgpack", msgspec.msgpack.encode(state), "c0"))
        base.execute(query, ("pickle", pickled, "c1"))
        base.commit()
    session = open_session(place)
    assert Trap.built == 0
    assert [entry.text for entry in session.entries] == ["Hi"]
    assert [each.reason for each in session.corrupt] == ["it is stored as pickle, which is not loaded"]


@pytest.mark.parametrize(
    "make", [lambda place: make_opencode(place, "ses_a"), lambda place: make_thread(place, thread())]
)
def test_a_database_that_is_cut_or_flipped_opens_or_is_refused(make: Any, tmp_path: Path) -> None:
    place = tmp_path / "whole.db"
    make(place)
    data = place.read_bytes()
    broken = tmp_path / "broken.db"
    for end in range(1, len(data), max(1, len(data) // 25)):
        for content in (data[:end], data[:end] + bytes([data[end] ^ 0x55]) + data[end + 1 :]):
            broken.write_bytes(content)
            with suppress(InspectorError):
                session = open_session(broken)
                assert len({entry.id for entry in session.entries}) == len(session.entries)


def test_a_database_of_anything_else_is_refused_as_before(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as base:
        base.execute("CREATE TABLE birds (name TEXT)")
        base.commit()
    with pytest.raises(ReadError, match="it is an SQLite database"):
        open_session(tmp_path / "other.db")


HI = '{"type": "text", "text": "Hi"}'


def make_base(path: Path, *statements: str) -> Path:
    """Create a database with opencode's tables and one session, then run the statements."""
    with closing(sqlite3.connect(path)) as base:
        base.executescript(OPENCODE)
        base.execute("INSERT INTO session (id, title) VALUES ('ses_1', 'A talk')")
        base.execute("""INSERT INTO message VALUES ('msg_1', 'ses_1', 1, '{"role": "user"}')""")
        base.execute("INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', ?)", (HI,))
        for statement in statements:
            base.execute(statement)
        base.commit()
    return path


ENDLESS = "WITH RECURSIVE r(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM r) SELECT id"
COMPUTED = {
    "a view that never ends": [f"CREATE VIEW session_v2 AS {ENDLESS} FROM r WHERE id < 0"],
    "a view of endless rows": [f"CREATE VIEW session_v2 AS {ENDLESS} FROM r"],
    "a view in place of a table": [
        "DROP TABLE part",
        f"CREATE VIEW part AS {ENDLESS}, 1 AS message_id, 1 AS session_id, 1 AS data FROM r",
    ],
    "a plain view": ["ALTER TABLE session RENAME TO old", "CREATE VIEW session AS SELECT * FROM old"],
    "a column that is computed": [
        "DROP TABLE message",
        "CREATE TABLE message (id, session_id, data GENERATED ALWAYS AS (hex(zeroblob(400000000))))",
        "INSERT INTO message (id, session_id) VALUES ('msg_1', 'ses_1')",
    ],
    "a computed column of a session": [
        "ALTER TABLE session ADD COLUMN more TEXT GENERATED ALWAYS AS (hex(zeroblob(400000000)))"
    ],
    "a virtual table": [
        "DROP TABLE part",
        "CREATE VIRTUAL TABLE part USING fts5(id, message_id, session_id, data)",
    ],
}


@pytest.mark.parametrize("kind", COMPUTED)
def test_what_a_database_computes_is_refused(kind: str, tmp_path: Path) -> None:
    """Reading most of these would not end, or would take gigabytes of memory."""
    assert open_session(make_base(tmp_path / "plain.db")).entries[0].text == "Hi"
    path = make_base(tmp_path / "opencode.db", *COMPUTED[kind])
    with pytest.raises(ReadError, match="tables are computed, not stored"):
        open_session(path)
    with pytest.raises(ReadError, match="tables are computed, not stored"):
        open_sessions(path)


def test_pages_that_lead_to_the_same_rows_again_and_again_are_refused(tmp_path: Path) -> None:
    """All inner pages of a tree name one child, so a file of 3 MB lists five million rows."""
    path = make_base(tmp_path / "opencode.db")
    with closing(sqlite3.connect(path)) as base:
        rows = [(f"prt_{n:06}", "msg_1", "ses_1", HI) for n in range(2, 40_000)]
        base.executemany("INSERT INTO part VALUES (?, ?, ?, ?)", rows)
        base.commit()
        size = base.execute("PRAGMA page_size").fetchone()[0]
        root = base.execute("SELECT rootpage FROM sqlite_master WHERE name = 'part'").fetchone()[0]
    assert len(open_session(path).entries[0].blocks) == 39_999
    data = bytearray(path.read_bytes())

    def find_links(page: int) -> list[slice]:
        """Return the slices at which an inner page of a table's tree names its children."""
        start = (page - 1) * size
        assert data[start] == 5
        count = int.from_bytes(data[start + 3 : start + 5], "big")
        cells = [int.from_bytes(data[start + 12 + 2 * n : start + 14 + 2 * n], "big") for n in range(count)]
        return [slice(place, place + 4) for place in (start + 8, *(start + cell for cell in cells))]

    first, second = (int.from_bytes(data[link], "big") for link in find_links(root)[:2])
    leaf = bytes(data[find_links(first)[0]])
    for page, child in ((root, second), (second, first)):
        for link in find_links(page):
            data[link] = child.to_bytes(4, "big")
    for link in find_links(first):
        data[link] = leaf
    path.write_bytes(data)
    with pytest.raises(ReadError, match=r"more than a file of its size can hold|none of them is a session"):
        open_session(path)
