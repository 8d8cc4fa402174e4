"""Reading an exported page back, as the browser does."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b85decode
from typing import Any

import numpy as np


def unpack_code(html: str, name: str = "code") -> str:
    """The script that a page runs once it has unpacked it; "look" is its style."""
    (packed,) = re.findall(rf'<script type="application/octet-stream" id="{name}">([^<]*)</script>', html)
    return gzip.decompress(b85decode(packed.replace(",", "<"))).decode()


def unpack_page(html: str) -> tuple[dict[str, Any], bytes]:
    """The JSON that a page holds, and its buffers."""
    (packed,) = re.findall(r'<script type="application/octet-stream" id="data">([^<]*)</script>', html)
    frame = gzip.decompress(b85decode(packed.replace(",", "<")))
    end = 4 + int.from_bytes(frame[:4], "little")
    held = json.loads(frame[4:end])
    for row, body in zip(held["rows"], held["bodies"], strict=False):
        if isinstance(row[1], int):
            begins = " ".join(re.split(r"[ \t\n\r\f\v]+", body[0]))
            row[1] = begins[: abs(row[1])] + "…" * (row[1] < 0)
    return held, np.frombuffer(frame[end:], np.uint8).reshape(4, -1).T.tobytes()


def read_at(column: Any, index: int) -> Any:
    """The value of a column: of a plan, 0 for its own cut, then those at the places that the page holds."""
    if isinstance(column, dict):
        values = {field: read_at(part, index) for field, part in column.items()}
        return {field: value for field, value in values.items() if value != "@missing@"}
    kind, *values = column
    if kind == "[":
        items = [read_at(part, index) for part in values]
        return [item for item in items if item != "@missing@"]
    return values[0 if kind == "=" else index]


def all_texts(value: Any) -> list[str]:
    """Every text in a JSON value, keys too."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in all_texts(part)]
    return [text for item in value for text in all_texts(item)] if isinstance(value, list) else []
