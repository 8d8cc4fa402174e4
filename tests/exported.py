"""Reading an exported page back, as the browser does."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b85decode
from typing import Any


def unpack_code(html: str) -> str:
    """The script that a page runs once it has unpacked it."""
    (packed,) = re.findall(r'<script type="application/octet-stream" id="code">([^<]*)</script>', html)
    return gzip.decompress(b85decode(packed.replace(",", "<"))).decode()


def unpack_page(html: str) -> tuple[dict[str, Any], bytes]:
    """The JSON that a page holds, and its buffers."""
    (packed,) = re.findall(r'<script type="application/octet-stream" id="data">([^<]*)</script>', html)
    frame = gzip.decompress(b85decode(packed.replace(",", "<")))
    end = 4 + int.from_bytes(frame[:4], "little")
    held = json.loads(frame[4:end])
    for field, columns in held["differs"].items():
        for policy, column in columns.items():
            held["plans"][policy]["at"].setdefault("differs", {})[field] = column
    for row, body in zip(held["rows"], held["bodies"], strict=False):
        if isinstance(row[1], int):
            begins = " ".join(re.split(r"[ \t\n\r\f\v]+", body[0]))
            row[1] = begins[: abs(row[1])] + "…" * (row[1] < 0)
    return held, frame[end:]


def read_at(plan: dict[str, Any], index: int) -> dict[str, Any]:
    """The plan at one of the places that the page holds it at."""
    differs = {name: column[index] for name, column in plan["at"].get("differs", {}).items()}
    whole = {**plan["hand"], **{name: value for name, value in differs.items() if value != "@same@"}}
    return {**whole, "sentence": {"notes": whole["notes"], **whole["sentence"]}}


def all_texts(value: Any) -> list[str]:
    """Every text in a JSON value, keys too."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in all_texts(part)]
    return [text for item in value for text in all_texts(item)] if isinstance(value, list) else []
