"""Reading an exported page back, as the browser does."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from typing import Any


def unpack_page(html: str) -> tuple[dict[str, Any], bytes]:
    """The JSON that a page holds, and its buffers."""
    (packed,) = re.findall(r'<script type="application/octet-stream" id="data">([^<]*)</script>', html)
    frame = gzip.decompress(b64decode(packed))
    end = 4 + int.from_bytes(frame[:4], "little")
    return json.loads(frame[4:end]), frame[end:]


def all_texts(value: Any) -> list[str]:
    """Every text in a JSON value, keys too."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in all_texts(part)]
    return [text for item in value for text in all_texts(item)] if isinstance(value, list) else []
