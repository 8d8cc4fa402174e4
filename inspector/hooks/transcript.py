"""I/O: read the end of a session file, from its last compaction on, into a `Conversation`."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..paths import open_regular
from .conversation import Conversation
from .payload import CODEX

MOST_READ, MOST_PARSED = 256_000_000, 32_000_000
"""Bytes at the end of a file that are read, and of them those that are parsed, not only searched."""
_BOUNDARY = {
    False: re.compile(rb'"subtype": ?"compact_boundary"'),
    True: re.compile(rb'^\{[^{}]{0,80}"type": ?"compacted"', re.MULTILINE),
}
_IS_SYSTEM = re.compile(rb'"type": ?"system"')
_TYPED = {
    False: re.compile(rb'"type": ?"(?:user|queued_command)"'),
    True: re.compile(rb'"type": ?"user_message"'),
}
_OUTPUT = b'"tool_use_id"'


def find_transcript(path: str, session: str, harness: str) -> Path | None:
    """Return the file of a session: the path if it is such a file, else the newest file of that id."""
    named = Path(path) if path else None
    if named is not None and named.suffix == ".jsonl" and named.is_file():
        return named
    if harness == CODEX:
        root = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "sessions"
        pattern = f"**/rollout-*{session}.jsonl"
    else:
        root = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "projects"
        pattern = f"*/{session}.jsonl"
    files = [file for file in root.glob(pattern) if file.is_file()]
    return max(files, key=lambda file: file.stat().st_mtime, default=None)


def was_compacted(path: Path, harness: str, offset: int) -> bool:
    """Return whether a file records a compaction after an offset."""
    with open_regular(path) as file:
        file.seek(offset)
        return _find_boundary(file.read(MOST_READ), harness == CODEX) >= 0


def read_conversation(path: Path, harness: str) -> Conversation:
    """Read a session file. It is never written, and may grow or end in a torn row meanwhile.

    Raises:
        OSError: It cannot be read.
        ReadError: It is not a regular file.
    """
    with open_regular(path) as file:  # not mapped: a mapped file that is cut short ends the process
        before = max(0, os.fstat(file.fileno()).st_size - MOST_READ)
        file.seek(before)
        data = file.read(MOST_READ)
    codex = harness == CODEX
    result = Conversation(size=before + len(data))
    boundary = _find_boundary(data, codex)
    start = max(boundary, 0)
    if len(data) - start > MOST_PARSED:
        start = data.find(b"\n", len(data) - MOST_PARSED) + 1 or len(data)
    end = 0
    for match in _TYPED[codex].finditer(data, 0, start):
        if match.start() < end:
            continue
        offset, end = data.rfind(b"\n", 0, match.start()) + 1, _end_line(data, match.start())
        if data.find(_OUTPUT, offset, end) < 0:
            only_typed = Conversation()
            only_typed.take(harness, before + offset, data[offset:end])
            result.typed += only_typed.typed
    if 0 <= boundary < start:  # the last compaction precedes what is parsed
        result.take(harness, before + boundary, data[boundary : _end_line(data, boundary)])
    offset = start
    while offset < len(data):
        end = _end_line(data, offset)
        result.take(harness, before + offset, data[offset:end])
        offset = end
    result.end_turn()
    result.boundary = before + boundary if boundary >= 0 else -1
    if result.preserved and boundary > 0:
        head = re.search(rb'"uuid": ?"%b"' % re.escape(result.preserved[0].encode()), data[:boundary])
        first = before + head.start() if head else result.boundary
        retained = (item for item in result.typed if item.offset < result.boundary)
        retained = (item for item in retained if item.uuid in result.preserved or item.offset > first)
        result.retained = "\n".join(item.text for item in retained)
    return result


def _end_line(data: bytes, offset: int) -> int:
    """Return the offset after the line at an offset."""
    return data.find(b"\n", offset) + 1 or len(data)


def _find_boundary(data: bytes, codex: bool) -> int:
    """Return the offset of the last row of a compaction, -1 without one."""
    last = -1
    for match in _BOUNDARY[codex].finditer(data):
        offset = data.rfind(b"\n", 0, match.start()) + 1
        if codex or _IS_SYSTEM.search(data, offset, offset + 2000):
            last = offset
    return last
