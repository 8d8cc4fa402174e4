"""DOOR: the rows of a scan in a file of JSON lines, which grows by a file's rows at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import EditError, InspectorError
from ..files import mode_of, write_new
from ..formats.whole_file import strictest
from ..text import printable_tree
from .columns import COLUMNS, Key, Row, complete_keys, read_row
from .scan_table import ScanTable, flatten_row


def open_scan(path: str | os.PathLike[str]) -> ScanTable:
    """The table that a file of JSON lines holds, as `scan` wrote it into one. Raises `OSError` and
    `InspectorError` for what is none.

    >>> from tempfile import TemporaryDirectory
    >>> from inspector.corpus import scan
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "talk.json").write_text('[{"role": "user", "content": "Ship it."}]')
    ...     _ = scan(Path(folder, "talk.json"), "flue", into=Path(folder, "rows.jsonl"), workers=0)
    ...     print([row["policy"] for row in open_scan(Path(folder, "rows.jsonl"))])
    ['flue']
    """
    store = RowStore(Path(path))
    if not store.path.exists():
        raise FileNotFoundError(2, "no such file", str(path))
    files = {row["file"] for row in store.rows()}
    return ScanTable(store.rows, len(files))


def save_scan(table: ScanTable, path: str | os.PathLike[str]) -> None:
    """Write a table into a new file: Parquet for a name that ends in .parquet (by pyarrow, the extra
    `scout`), else JSON lines. Raises `FileExistsError` where a file stands already.

    >>> from tempfile import TemporaryDirectory
    >>> from inspector.corpus.columns import fill_row
    >>> table = ScanTable(lambda: [fill_row({"file": "a.jsonl", "policy": "flue", "kept": 8})], 1)
    >>> with TemporaryDirectory() as folder:
    ...     save_scan(table, Path(folder, "rows.jsonl"))
    ...     print(list(open_scan(Path(folder, "rows.jsonl"))) == list(table))
    True
    """
    target = Path(path)
    if target.suffix != ".parquet":
        content = list(table)
        write_new(target, b"".join(map(_dump, content)), _mode_of_sources(content))
        return
    try:
        pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        reason = "Parquet is written by pyarrow (pip install 'compaction-inspector[scout]')"
        raise InspectorError(f"{target}: {reason}") from error
    mode = _mode_of_sources(table)
    rows = [flatten_row(row) for row in table]
    names = list(dict.fromkeys(name for row in rows for name in row))
    # File names may contain lone surrogates, which Parquet cannot store.
    columns = {name: [printable_tree(row.get(name)) for row in rows] for name in names}
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    write_new(target, sink.getvalue().to_pybytes(), mode)


def _mode_of_sources(rows: Iterable[Row]) -> int | None:
    """Return the permissions that all measured files grant, as far as they are known."""
    return mode_of(*dict.fromkeys(str(row["file"]) for row in rows))


BEGINS = b'{"file": '
"""What every row begins with, and so whatever a torn one has left of itself."""


class RowStore:
    """A file of JSON lines that rows are added to; a last line that was torn is dropped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mend()

    def _mend(self) -> None:
        if not self.path.parent.is_dir():
            raise FileNotFoundError(2, "no such folder", str(self.path.parent))
        if not self.path.exists():
            return
        if not self.path.is_file():
            raise EditError("into", str(self.path), "it is not a regular file")
        if not self.path.stat().st_size:
            return
        with self.path.open("rb") as file:
            begin = file.readline(len(BEGINS))
        first = next(self.rows(), None)
        if first is None and BEGINS.startswith(begin):
            first = dict.fromkeys(COLUMNS)  # its only line was torn
        if first is None or first.keys() != COLUMNS.keys():
            raise EditError("into", str(self.path), "it holds something else than the rows of a scan")
        with self.path.open("r+b") as file:
            end = file.seek(0, os.SEEK_END)
            back = min(end, 1 << 22)
            file.seek(end - back)
            tail = file.read()
            if not tail.endswith(b"\n"):
                file.truncate(end - back + tail.rfind(b"\n") + 1)

    def rows(self) -> Iterator[Row]:
        """Every row that is whole."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    return
                try:
                    row = json.loads(line)
                except ValueError:
                    raise EditError("into", str(self.path), "a line of it is no JSON") from None
                if not isinstance(row, dict):
                    raise EditError("into", str(self.path), "it holds something else than the rows of a scan")
                yield read_row(row)

    def complete(self) -> set[Key]:
        """What is there in full."""
        return complete_keys(self.rows())

    def select(self, digests: set[str], policies: set[str], method: str) -> Iterator[Row]:
        """The rows of these files, policies and method, each once."""
        seen = set[tuple[Any, ...]]()
        for row in self.rows():
            mine = row["digest"] in digests and (row["policy_hash"] or "") in policies
            name = (row["digest"], row["part"], row["policy_hash"], row["moment"])
            if mine and row["method"] == method and name not in seen:
                seen.add(name)
                yield row

    def add(self, rows: Iterable[Row]) -> None:
        """Append the rows of one measured file. The store's permissions are limited to those of that file."""
        rows = list(rows)
        mode = strictest([_mode_of_sources(rows), mode_of(self.path)])
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666 if mode is None else mode)
        with os.fdopen(handle, "ab") as file:
            if mode is not None:
                with suppress(OSError):  # the file may belong to another user
                    self.path.chmod(mode)
            file.write(b"".join(map(_dump, rows)))


def _dump(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
