"""Read Inspect Scout's databases of transcripts, which are Parquet tables: one Inspect log per row.

The output is the input of the reader of Inspect logs. Source: FORMATS §10. A table is recognised by the names
of its columns, which are readable at its end, so that other tables are refused without a library. Reading one
requires pyarrow, an optional dependency.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from ...session.json_text import dump_lossless
from ..containers import FREE, LARGEST, RATIO, StoredFile
from ..json_document import refuse
from ..json_lines import Data, decode

MAGIC = b"PAR1"
KIND = "an Inspect Scout database"
ID, CONTENT_COLUMNS = "transcript_id", ("messages", "events", "events_data")
ABOUT = ("source_type", "source_id", "source_uri", "date", "agent", "model", "task_set", "task_id")
_MOST_FOOTER = 1 << 24
_BROKEN = (ValueError, OSError, KeyError, IndexError, TypeError, NotImplementedError)


def is_scout(data: Data) -> bool:
    """Return whether a table has the columns of transcripts. For a beginning alone: whether it may be one."""
    view = memoryview(data)
    if len(view) < 12 or bytes(view[:4]) != MAGIC:
        return False
    if bytes(view[-4:]) != MAGIC:
        return True
    size = int.from_bytes(view[-8:-4], "little")
    footer = bytes(view[-8 - min(size, _MOST_FOOTER, len(view) - 8) : -8])
    return ID.encode() in footer and any(name.encode() in footer for name in CONTENT_COLUMNS[:2])


def list_transcripts(data: Data) -> list[StoredFile]:
    """Return the transcripts of a table as stored files; empty for other data.

    Raises `ReadError` if it is too large or broken, or if pyarrow is not installed.
    """
    if not is_scout(data):
        return []
    try:
        table = _open(data)
        columns = table.schema_arrow.names
        columns_held = [name for name in CONTENT_COLUMNS if name in columns]
        rows = table.read([ID, *columns_held]).to_pydict()
    except _BROKEN as error:
        raise refuse(f"it is {KIND} that cannot be read: {error}"[:200]) from None
    sizes = [
        sum(len(cell) for name in columns_held if isinstance(cell := rows[name][index], str | bytes))
        for index in range(len(rows[ID]))
    ]
    return [
        StoredFile(str(name), size, partial(_read, data, index))
        for index, (name, size) in enumerate(zip(rows[ID], sizes, strict=True))
    ]


def _open(data: Data) -> Any:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        detail = f"it is {KIND}: install compaction-inspector[scout] to read it"
        raise refuse(detail) from None
    view = memoryview(data)
    table = parquet.ParquetFile(arrow.BufferReader(arrow.py_buffer(view)))
    groups = (table.metadata.row_group(index) for index in range(table.metadata.num_row_groups))
    size = sum(group.total_byte_size for group in groups)
    if size > LARGEST or (size > FREE and size > RATIO * len(view)):
        limit = f"{LARGEST >> 20:,} MiB" if size > LARGEST else f"{RATIO} times its size"
        raise refuse(f"it is {KIND} that is larger than {limit} unpacked")
    return table


def _read(data: Data, index: int) -> Data:
    """Return the transcript of a row as a log of one sample."""
    try:
        table = _open(data)
        needed = {ID, "task_repeat", *CONTENT_COLUMNS, *ABOUT}
        columns = [name for name in table.schema_arrow.names if name in needed]
        row = table.read(columns).slice(index, 1).to_pylist()[0]
        cells = {name: _decode(row.get(name)) for name in CONTENT_COLUMNS}
    except _BROKEN as error:
        raise refuse(f"a row of it cannot be read: {error}"[:200]) from None
    about = {name: str(row[name]) for name in ABOUT if row.get(name) is not None}
    sample = {"id": about.get("task_id") or str(row[ID]), "epoch": row.get("task_repeat") or 1}
    sample |= {"uuid": str(row[ID])} | {name: value for name, value in cells.items() if value is not None}
    title = about.get("task_set") or about.get("source_id")
    log = {"version": 2, "eval": about | ({"task": title} if title else {}), "samples": [sample]}
    return dump_lossless(log).encode("ascii")


def _decode(value: Any) -> Any:
    """Decode a cell with JSON text. Raises `ValueError` if the text is not JSON."""
    if not isinstance(value, str):
        return value
    return decode(value.encode("utf-8", "surrogatepass")) if value else None
