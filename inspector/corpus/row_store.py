"""I/O: store the rows of a scan in a file of JSON lines, which grows by the rows of a file at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import EditError
from ..files import mode_of
from ..formats.whole_file import strictest
from .columns import COLUMNS, Key, Row
from .scan_table import ScanTable


def open_scan(path: str | os.PathLike[str]) -> ScanTable:
    """Read the table in a file of JSON lines that `scan` wrote. Raises `OSError`, or `InspectorError` for
    other files.

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


BEGINS = b'{"file": '
"""Prefix of every row, and of what is left of an incomplete one."""


class RowStore:
    """A file of JSON lines to which rows are added. An incomplete last line is removed."""

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
            first = dict.fromkeys(COLUMNS)  # its only line is incomplete
        if first is None or first.keys() != COLUMNS.keys():
            raise EditError("into", str(self.path), "its content is not the rows of a scan")
        with self.path.open("r+b") as file:
            end = file.seek(0, os.SEEK_END)
            back = min(end, 1 << 22)
            file.seek(end - back)
            tail = file.read()
            if not tail.endswith(b"\n"):
                file.truncate(end - back + tail.rfind(b"\n") + 1)

    def rows(self) -> Iterator[Row]:
        """Yield every complete row."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    return
                try:
                    row = json.loads(line)
                except ValueError:
                    raise EditError("into", str(self.path), "one of its lines is not JSON") from None
                if not isinstance(row, dict):
                    raise EditError("into", str(self.path), "its content is not the rows of a scan")
                yield row

    def complete(self) -> set[Key]:
        """Return (digest, method, policy hash) of policies that have all rows. The policy of a file that
        failed as a whole is ""."""
        there: dict[Key, set[tuple[Any, Any]]] = {}
        many: dict[Key, int] = {}
        for row in self.rows():
            key = (row["digest"] or "", row["method"] or "", row["policy_hash"] or "")
            there.setdefault(key, set()).add((row["part"], row["moment"]))
            many[key] = row["rows"] or 1
        return {key for key, places in there.items() if len(places) >= many[key]}

    def select(self, digests: set[str], policies: set[str], method: str) -> Iterator[Row]:
        """Yield the rows of these files, policies and method, without duplicates."""
        read_names = set[tuple[Any, ...]]()
        for row in self.rows():
            is_wanted = row["digest"] in digests and (row["policy_hash"] or "") in policies
            name = (row["digest"], row["part"], row["policy_hash"], row["moment"])
            if is_wanted and row["method"] == method and name not in read_names:
                read_names.add(name)
                yield row

    def add(self, rows: Iterable[Row]) -> None:
        """Append the rows of one measured file. The store's permissions are limited to those of that file."""
        rows = list(rows)
        mode = strictest([mode_of(*dict.fromkeys(str(row["file"]) for row in rows)), mode_of(self.path)])
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666 if mode is None else mode)
        with os.fdopen(handle, "ab") as file:
            if mode is not None:
                with suppress(OSError):  # the file may belong to another user
                    self.path.chmod(mode)
            lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
            file.write(lines.encode("utf-8", "surrogatepass"))
