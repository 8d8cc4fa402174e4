"""Read SQLite databases of opencode and LangGraph: one JSON document per session.

The input is the bytes of a database without a write-ahead log (the caller has merged it). The output is what
the reader of each session expects: for opencode the format of `opencode export`, for LangGraph the states of
a thread. Sources: FORMATS §7, §12. The database is opened in memory and never written. States are decoded
without creating objects of their classes: a value of a class becomes its name and its fields, and pickles are
never loaded.

opencode's newest versions store messages in `session_message`, some of them also in `message`. That table is
read only if a session has no row in `message`. Since 2.0 the sessions are rows of `session_v2`; sessions that
exist only in `session` are listed too. The table `event` is not read.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import msgspec

from ..session.json_text import dump_lossless
from .containers import StoredFile
from .json_document import refuse
from .json_lines import Data, decode
from .recording import Json

if TYPE_CHECKING:
    import sqlite3

MAGIC = b"SQLite format 3\0"
OPENCODE = (
    {"session", "message", "part"},
    {"session", "session_message"},
    {"session_v2", "session_message"},
)
"""The tables of opencode's databases, in three versions."""
SESSIONS = ("session_v2", "session")
"""Tables of sessions. The first one that contains a session is used."""
_NEXT = frozenset({"id", "session_id", "type", "data"})
_DEEPEST = 64
STEPS, LEAST_STEPS, STEPS_PER_BYTE = 10_000, 5_000_000, 10
"""Steps of SQLite's virtual machine: the interval of checks, and the limits for reading. A row takes 20."""
LEAST_BYTES = 1 << 20
"""The number of bytes that may be read in addition to the size of the file. No row is read twice."""
FUNCTIONS = ("sum", "length", "count", "min")
COMPUTED = "it is a database whose tables are computed, not stored: a view, or a column made of others"
REFUSED = re.compile("not authorized|prohibited")
"""SQLite's words for what `_authorise` refuses."""
TOO_MUCH = (
    "it is a database that gives more than a file of its size can hold: it is broken or made to be slow"
)


def may_hold_sessions(head: Data) -> bool:
    """Whether the first bytes are a database with known tables, as far as these bytes show its tables."""
    begin = bytes(memoryview(head)[: 1 << 20])
    if not begin.startswith(MAGIC):
        return False
    if b"checkpoint_ns" in begin:
        return True
    return b"session_id" in begin and (b"message_id" in begin or b"session_message" in begin)


def list_stored(data: Data) -> tuple[str, list[StoredFile]] | None:
    """Return the kind of a database and its sessions (name, size and a function that reads it), or None.

    Raises `ReadError` if its content is computed, or if reading takes longer than its size allows.
    """
    if not may_hold_sessions(data):
        return None
    try:
        with _Database(data) as base:
            names = {str(name) for (name,) in base.select("SELECT name FROM sqlite_master")}
            if OPENCODE[0] <= names or (any(age <= names for age in OPENCODE[1:]) and _has_next(base)):
                return "a database of opencode's", _list_opencode(base, data)
            if base.list_columns("checkpoints"):
                return "a LangGraph database", _list_threads(base, data)
    except _broken():
        pass
    return None


class _Database:
    """A database in memory, of which only plain tables are read.

    A small file can define views and columns that compute endlessly, and pages with cyclic links. So computed
    values are refused, and the size of the file limits the steps and bytes of reading.
    """

    def __init__(self, data: Data) -> None:
        """Open the data. The header may require a write-ahead log, which does not exist here."""
        import sqlite3

        raw = bytearray(memoryview(data))
        if len(raw) > 19 and raw[18:20] == b"\2\2":
            raw[18:20] = b"\1\1"
        self._steps = LEAST_STEPS + len(raw) * STEPS_PER_BYTE
        self._bytes = LEAST_BYTES + len(raw)
        self._base = sqlite3.connect(":memory:")
        try:
            self._base.deserialize(bytes(raw))
            self._base.execute("PRAGMA query_only = 1")
            self._base.execute("PRAGMA trusted_schema = 0")
            self._base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LEAST_BYTES + len(raw))
            self._base.set_progress_handler(self._count, STEPS)
            self._base.set_authorizer(_authorise)
        except BaseException:
            self._base.close()
            raise
        self._base.row_factory = sqlite3.Row

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Close the database. Raise `ReadError` for an error that its limits caused."""
        import sqlite3

        self._base.close()
        if isinstance(error, MemoryError | sqlite3.DataError) or (error is not None and self._steps < 0):
            raise refuse(TOO_MUCH) from error
        if isinstance(error, sqlite3.DatabaseError) and REFUSED.search(str(error)):
            raise refuse(COMPUTED) from error

    def _count(self) -> bool:
        self._steps -= STEPS
        return self._steps < 0

    def select(self, query: str, *values: Any) -> Iterator[sqlite3.Row]:
        """Yield the rows of a query."""
        for row in self._base.execute(query, values):
            self._bytes -= sum(len(cell) for cell in row if isinstance(cell, str | bytes))
            if self._bytes < 0:
                raise MemoryError
            yield row

    def list_columns(self, table: str) -> frozenset[str]:
        """Return the columns of a table, which may not exist. Raises `ReadError` if a column is computed."""
        query = "SELECT type = 'table' AND rootpage > 0 FROM sqlite_master WHERE name = ?"
        if not all(row[0] for row in self.select(query, table)):
            raise refuse(COMPUTED)
        columns = list(self.select(f"PRAGMA table_xinfo({table})"))
        if any(column["hidden"] for column in columns):
            raise refuse(COMPUTED)
        return frozenset(str(column["name"]) for column in columns)


def _authorise(
    action: int, name: str | None, detail: str | None, base: str | None, source: str | None
) -> int:
    """Allow reading tables and the functions used by the queries below, but nothing inside a view."""
    import sqlite3

    allowed = source is None and (
        action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)
        or (action == sqlite3.SQLITE_PRAGMA and name == "table_xinfo")
        or (action == sqlite3.SQLITE_FUNCTION and str(detail).lower() in FUNCTIONS)
    )
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _broken() -> tuple[type[Exception], ...]:
    """Return the exceptions that reading a broken database raises."""
    from sqlite3 import Error

    return (Error, UnicodeError, ValueError, OverflowError)


# opencode


def _has_next(base: _Database) -> bool:
    return base.list_columns("session_message") >= _NEXT


def _list_opencode(base: _Database, data: Data) -> list[StoredFile]:
    sizes = Counter[str]()
    base.list_columns("message")
    for table in ("part", "session_message"):
        if base.list_columns(table) >= {"session_id", "data"}:
            query = f"SELECT session_id, SUM(LENGTH(data)) FROM {table} GROUP BY session_id"
            sizes.update({str(row[0]): int(row[1] or 0) for row in base.select(query)})
    names: set[str] = set()
    for table in SESSIONS:
        if "id" in base.list_columns(table):
            names |= {str(row["id"]) for row in base.select(f"SELECT id FROM {table}")}
    return [StoredFile(name, sizes[name], partial(_export_opencode, data, name)) for name in sorted(names)]


def _find_session(base: _Database, name: str) -> sqlite3.Row | None:
    """Return the row of a session."""
    for table in SESSIONS:
        if "id" in base.list_columns(table):
            for row in base.select(f"SELECT * FROM {table} WHERE id = ?", name):
                return row
    return None


def _export_opencode(data: Data, name: str) -> bytes:
    """Return a session in the format of `opencode export`."""
    document: Json = {"info": {"id": name}, "messages": []}
    try:
        with _Database(data) as base:
            row = _find_session(base, name)
            if row is not None:
                document["info"] = _make_info(dict(zip(row.keys(), row, strict=True)))
            old, later = (_count_rows(base, table, name) for table in ("message", "session_message"))
            if old and later:
                document["session_messages"] = later  # copies of the messages
            for message in _list_messages(base, name) if old else _list_next(base, name):
                document["messages"].append(message)
    except _broken():
        document["broken"] = True  # rows read before the error are kept
    return dump_lossless(_make_plain(document)).encode("ascii")


def _count_rows(base: _Database, table: str, name: str) -> int:
    """Return the number of a session's rows in a table; 0 if the table does not exist."""
    if "session_id" not in base.list_columns(table):
        return 0
    query = f"SELECT COUNT(*) FROM {table} WHERE session_id = ?"
    return sum(int(row[0]) for row in base.select(query, name))


def _list_messages(base: _Database, name: str) -> Iterator[Json]:
    """Yield the messages of a session with their parts."""
    parts: dict[str, list[Any]] = {}
    query = "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id"
    for row in base.select(query, name):
        message = str(row["message_id"])
        part = _load(row["data"]) | {"id": row["id"], "messageID": message, "sessionID": name}
        parts.setdefault(message, []).append(part)
    # opencode sends messages in the order of their times; a client may choose an id.
    order = "time_created, id" if "time_created" in base.list_columns("message") else "id"
    query = f"SELECT id, data FROM message WHERE session_id = ? ORDER BY {order}"
    for row in base.select(query, name):
        info = _load(row["data"]) | {"id": row["id"], "sessionID": name}
        yield {"info": info, "parts": parts.get(str(row["id"]), [])}


def _list_next(base: _Database, name: str) -> Iterator[Json]:
    """Yield the messages of a session in opencode's newer form, in order."""
    if _has_next(base):
        # The first versions had no column for the order, only the time.
        order = "seq" if "seq" in base.list_columns("session_message") else "time_created, id"
        query = f"SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY {order}"
        for row in base.select(query, name):
            yield _load(row["data"]) | {"id": row["id"], "type": row["type"]}


def _make_info(row: Json) -> Json:
    """Convert the row of a session, with its times and its revert as in an export."""
    times = {
        key.removeprefix("time_"): row.pop(key) for key in list(row) if key.startswith("time_") and row[key]
    }
    info = {key: value for key, value in row.items() if value is not None}
    for name in ("revert", "model"):
        if isinstance(text := info.get(name), str) and text.startswith("{"):
            info[name] = _load(text)
    return {**info, "time": times}


def _load(raw: Any) -> Json:
    """Parse a cell that holds a JSON object; {"unreadable": True} for any other."""
    try:
        value = decode(_encode(raw))
    except (ValueError, TypeError):
        return {"unreadable": True}
    return value if isinstance(value, dict) else {"unreadable": True}


def _encode(cell: Any) -> bytes:
    """Return the bytes of a cell. Raises `TypeError` for a number: bytes(n) would reserve n bytes."""
    if isinstance(cell, str):
        return cell.encode("utf-8", "surrogatepass")
    if isinstance(cell, bytes):
        return cell
    raise TypeError


# LangGraph


def _list_threads(base: _Database, data: Data) -> list[StoredFile]:
    query = (
        "SELECT thread_id, checkpoint_ns, SUM(LENGTH(checkpoint)) AS size FROM checkpoints "
        "GROUP BY thread_id, checkpoint_ns ORDER BY MIN(checkpoint_id)"
    )
    threads: list[StoredFile] = []
    for thread, space, size in base.select(query):
        name = f"{thread}/{space}" if space else str(thread)
        threads.append(StoredFile(name, int(size or 0), partial(_export_thread, data, thread, space)))
    return threads


def _export_thread(data: Data, thread: Any, space: Any) -> bytes:
    """Return the states of a thread on the path to its last state, each with its messages."""
    rows: dict[str, tuple[Any, Any, Any]] = {}
    try:
        with _Database(data) as base:
            query = (
                "SELECT checkpoint_id, parent_checkpoint_id, type, checkpoint FROM checkpoints "
                "WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY checkpoint_id"
            )
            for name, parent, kind, blob in base.select(query, thread, space):
                rows[str(name)] = (parent, kind, blob)
    except _broken():
        pass  # rows read before the error are kept
    line: list[Json] = []
    name = next(reversed(rows), None)
    visited: set[str] = set()
    while name is not None and name in rows and name not in visited:
        visited.add(name)
        parent, kind, blob = rows[name]
        line.append({"id": name, **_read_state(kind, blob)})
        name = str(parent) if parent else None
    document = {
        "langgraph": {"thread_id": str(thread), "checkpoint_ns": str(space)},
        "checkpoints": line[::-1],
        "other_checkpoints": len(rows) - len(line),
    }
    return dump_lossless(document).encode("ascii")


def _read_state(kind: Any, blob: Any) -> Json:
    """Parse the time and the messages of a state; {"unreadable": why} if that fails."""
    try:
        if kind == "msgpack":
            state = msgspec.msgpack.decode(_encode(blob), ext_hook=_keep)
        elif kind in ("json", None):
            state = decode(_encode(blob))
        else:
            return {"unreadable": f"it is stored as {kind!s:.20}, which is not loaded"}
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        return {"unreadable": "it is broken"}
    values = state.get("channel_values") if isinstance(state, dict) else None
    messages = values.get("messages") if isinstance(values, dict) else None
    state_fields: Json = (
        {"ts": state["ts"]} if isinstance(state, dict) and isinstance(state.get("ts"), str) else {}
    )
    if isinstance(messages, list):
        state_fields["messages"] = [_make_plain(message) for message in messages]
    return state_fields


def _keep(code: int, data: memoryview) -> Any:
    """Decode a value of a class: a message as its fields, any other with the name of its class."""
    try:
        content = msgspec.msgpack.decode(bytes(data), ext_hook=_keep)
    except (msgspec.MsgspecError, ValueError, TypeError):
        return {"extension": code}
    if not isinstance(content, list) or len(content) < 3:
        return {"extension": code, "value": content}
    module, name, value = content[:3]
    if str(module).startswith("langchain") and isinstance(value, dict) and "type" in value:
        return value
    return {"class": f"{module!s:.200}.{name!s:.200}", "value": value}


def _make_plain(value: Any, depth: int = 0) -> Any:
    """Convert a value to JSON: bytes in base64, keys as text, other objects as `str`."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, dict):
        return {str(key): _make_plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(item, depth + 1) for item in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return {"base64": b64encode(value).decode("ascii")}
    return str(value)
