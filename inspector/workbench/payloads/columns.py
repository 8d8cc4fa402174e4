"""Arrays as bytes, which a view sends next to its JSON.

Columns are stored one after another, little-endian, each starting at a multiple of four bytes; the JSON has
the list that describes them. `js/src/payloads/columns.ts` reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from .base_payload import Payload

Dtype = Literal["i32", "u8"]
_DTYPES: dict[Dtype, np.dtype[Any]] = {"i32": np.dtype("<i4"), "u8": np.dtype("u1")}
_LIMITS = {"i32": (-(2**31), 2**31 - 1), "u8": (0, 255)}


class PackedColumn(Payload, frozen=True):
    """A column among the bytes: `offset` in bytes, `length` in values."""

    name: str
    dtype: Dtype
    length: int
    offset: int


class ColumnPacker:
    """Collects columns; `columns` describes them and `data` is their bytes."""

    def __init__(self) -> None:
        self.columns: list[PackedColumn] = []
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, name: str, values: Any, dtype: Dtype = "i32") -> None:
        """Append a column: 32-bit signed integers ("i32") or bytes ("u8").

        What lies outside the range of its type is drawn at the end of that range.
        """
        numpy_dtype, within = _DTYPES[dtype], np.asarray(values)
        if not np.can_cast(within.dtype, numpy_dtype):
            within = np.clip(within, *_LIMITS[dtype])
        raw = np.ascontiguousarray(within, dtype=numpy_dtype).tobytes()
        length = len(raw) // numpy_dtype.itemsize
        self.columns.append(PackedColumn(name, dtype, length, self._size))
        padded = raw + b"\0" * (-len(raw) % 4)
        self._parts.append(padded)
        self._size += len(padded)

    @property
    def data(self) -> bytes:
        return b"".join(self._parts)


def unpack(columns: Sequence[PackedColumn | dict[str, Any]], data: bytes) -> dict[str, Any]:
    """The arrays back, by name; the columns as they were made, or as JSON."""
    return {
        column.name: np.frombuffer(data, _DTYPES[column.dtype], column.length, column.offset)
        for column in msgspec.convert(columns, list[PackedColumn])
    }
