"""Pixels of a picture, read from the first bytes of its base64 text.

Only the four formats the Anthropic API takes (CLAUDE §11): PNG, JPEG, GIF and WebP. The bytes are
untrusted, so nothing but a few fixed positions is looked at. Sources: the four formats' specifications.

Not the library imagesize (2.0.1): it reads a GIF's sizes as signed numbers and a lossy WebP's with its
scaling bits, searches a JPEG's frame byte by byte through the preceding data, and also parses XML.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable

Size = tuple[int, int]
_FIRST = 4096
"""Characters of base64 that hold the size of nearly every picture; a JPEG may need all of them."""


def measure(data: str) -> Size | None:
    """Return width and height in pixels, or None if the bytes do not contain them.

    >>> measure("R0lGODlhAwACAPAAAP8AAAAAACwAAAAAAwACAAACAoRRADs=")
    (3, 2)
    """
    for text in (data[:_FIRST], data) if len(data) > _FIRST else (data,):
        try:
            head = binascii.a2b_base64(text[: len(text) // 4 * 4])
        except ValueError:
            return None
        for signature, parse in _FORMATS:
            if head.startswith(signature):
                size = parse(head)
                if size is not None:
                    return size if all(size) else None
    return None


def _png(head: bytes) -> Size | None:
    if len(head) < 24 or head[12:16] != b"IHDR":
        return None
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def _gif(head: bytes) -> Size | None:
    if len(head) < 10:
        return None
    return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")


def _jpeg(head: bytes) -> Size | None:
    """Walk the segments to the start of frame, which is the first that holds the size."""
    offset = 2
    while offset + 9 <= len(head) and head[offset] == 0xFF:
        marker = head[offset + 1]
        if marker == 0xFF:
            offset += 1
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:
            offset += 2
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(head[offset + 7 : offset + 9], "big"), int.from_bytes(
                head[offset + 5 : offset + 7], "big"
            )
        else:
            offset += 2 + max(int.from_bytes(head[offset + 2 : offset + 4], "big"), 2)
    return None


def _webp(head: bytes) -> Size | None:
    kind = head[12:16]
    if head[8:12] != b"WEBP" or len(head) < 30:
        return None
    if kind == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if kind == b"VP8L" and head[20] == 0x2F:
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        return int.from_bytes(head[26:28], "little") & 0x3FFF, int.from_bytes(head[28:30], "little") & 0x3FFF
    return None


_FORMATS: tuple[tuple[bytes, Callable[[bytes], Size | None]], ...] = (
    (b"\x89PNG\r\n\x1a\n", _png),
    (b"\xff\xd8", _jpeg),
    (b"GIF87a", _gif),
    (b"GIF89a", _gif),
    (b"RIFF", _webp),
)
