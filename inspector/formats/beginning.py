"""Recognise a session file by its first bytes, before it is opened."""

from __future__ import annotations

from typing import BinaryIO

from ..errors import InspectorError
from .json_document import HEAD, close_head
from .parts import unpack_part
from .readers import find_reader


def recognise_beginning(file: BinaryIO) -> str:
    """Return the name of the reader that reads the session in a file; "" if the file is no single session.

    At most 1 MiB is read. No reader looks further to recognise a file.

    >>> from io import BytesIO
    >>> recognise_beginning(BytesIO(b'[{"role": "user", "content": "Hello"}]'))
    'anthropic-messages'
    >>> recognise_beginning(BytesIO(b'{"name": "tide", "version": "1.0.0"}'))
    ''
    """
    head = file.read(HEAD + 1)
    try:
        return find_reader(unpack_part(_complete(head) if len(head) > HEAD else head, "data")[0]).name
    except InspectorError:
        return ""


def _complete(head: bytes) -> bytes:
    """Return the beginning of a file without its last line or element, which is incomplete."""
    try:
        return close_head(head)
    except ValueError:
        return head[: head.rfind(b"\n") + 1]  # lines, or no JSON
