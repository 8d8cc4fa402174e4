"""Complete records in a damaged line are read, and the damage is counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from inspector import Session, read_session
from inspector.formats.incremental import IncrementalReader
from inspector.formats.readers import READERS
from tests.codex_rows import META, codex_message

Row = dict[str, Any]
TIME = "2026-09-01T10:00:0{}.000Z"
BOM = b"\xef\xbb\xbf"


def claude(number: int, role: str, text: str) -> Row:
    usage = {"usage": {"input_tokens": number, "output_tokens": 1}} if role == "assistant" else {}
    message = {"id": f"m{number}", "role": role, "model": "claude-sonnet-4-5", "content": text, **usage}
    links = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": "s"}
    return {**links, "timestamp": TIME.format(number), "type": role, "message": message}


def codex(number: int, role: str, text: str) -> Row:
    return codex_message(role, text)


def copilot(number: int, role: str, text: str) -> Row:
    links = {"id": f"e{number}", "parentId": f"e{number - 1}", "timestamp": TIME.format(number)}
    return {"type": f"{role}.message", "data": {"content": text}, **links}


def pi_row(number: int, role: str, text: str) -> Row:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    links = {"id": f"e{number}", "parentId": f"e{number - 1}", "timestamp": TIME.format(number)}
    return {"type": "message", **links, "message": message}


def stream(number: int, role: str, text: str) -> Row:
    message = {"id": f"m{number}", "role": role, "content": [{"type": "text", "text": text}]}
    return {
        "type": role,
        "message": message,
        "session_id": "s",
        "parent_tool_use_id": None,
        "uuid": f"u{number}",
    }


def gemini(number: int, role: str, text: str) -> Row:
    kind = "gemini" if role == "assistant" else "user"
    return {"id": f"g{number}", "timestamp": TIME.format(number), "type": kind, "content": text}


def qwen(number: int, role: str, text: str) -> Row:
    message = {"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]}
    links = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": "s"}
    return {
        **links,
        "timestamp": TIME.format(number),
        "type": role,
        "cwd": "/w",
        "version": "0.1",
        "message": message,
    }


def message(number: int, role: str, text: str) -> Row:
    return {"role": role, "content": text}


START = {
    "type": "session.start",
    "id": "e",
    "data": {"sessionId": "s", "copilotVersion": "1", "producer": "copilot"},
}
FORMATS: dict[str, tuple[Callable[[int, str, str], Row], list[Row]]] = {
    "claude-code": (claude, []),
    "codex": (codex, [META]),
    "copilot-cli": (copilot, [START]),
    "pi": (pi_row, [{"type": "session", "id": "s", "timestamp": TIME.format(0), "cwd": "/w"}]),
    "claude-stream-json": (stream, []),
    "gemini-cli": (gemini, [{"sessionId": "s", "projectHash": "h"}]),
    "qwen": (qwen, []),
    "message-lines": (message, []),
}
TEXTS = ("First", "Answer one", "Second", "Answer two", "Third", "Answer three")


def write(format: str, texts: tuple[str, ...] = TEXTS) -> tuple[list[bytes], list[bytes]]:
    """Return the lines of a header, and a line for each text."""
    make, header = FORMATS[format]
    rows = [make(n, ("user", "assistant")[n % 2], text) for n, text in enumerate(texts)]
    return [dump(row) for row in header], [dump(row) for row in rows]


def dump(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode()


def list_texts(session: Session) -> list[str]:
    return [entry.text for entry in session.entries]


def cut(row: bytes, text: str) -> bytes:
    """Return the row up to the middle of a text in it."""
    return row[: row.index(text.encode()) + len(text) // 2]


DAMAGES: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "glued": lambda r: [*r[:2], r[2] + r[3], *r[4:]],
    "three glued": lambda r: [*r[:1], r[1] + r[2] + b" " + r[3], *r[4:]],
    "zero bytes before": lambda r: [*r[:2], b"\0" * 40 + r[2], *r[3:]],
    "zero bytes behind": lambda r: [*r[:2], r[2] + b"\0" * 40, *r[3:]],
    "zero bytes behind the last": lambda r: [*r[:5], r[5] + b"\0" * 40],
    "zero bytes between": lambda r: [*r[:2], r[2] + b"\0\0" + r[3], *r[4:]],
    "a byte order mark": lambda r: [*r[:2], BOM + r[2], *r[3:]],
    "a byte order mark between": lambda r: [*r[:2], r[2] + BOM + r[3], *r[4:]],
    "a record separator": lambda r: [*r[:2], b"\x1e" + r[2], *r[3:]],
    "torn and whole": lambda r: [*r[:2], cut(r[2], TEXTS[2]) + r[2], *r[3:]],
    "torn in a key and whole": lambda r: [*r[:2], r[2][:4] + r[2], *r[3:]],
    "torn at an escape and whole": lambda r: [*r[:2], cut(r[2], TEXTS[2]) + b"\\" + r[2], *r[3:]],
    "torn in an escape and whole": lambda r: [*r[:2], cut(r[2], TEXTS[2]) + b"\\u00" + r[2], *r[3:]],
    "torn in a character and whole": lambda r: [*r[:2], cut(r[2], TEXTS[2]) + b"\xc3" + r[2], *r[3:]],
    "torn twice": lambda r: [*r[:2], cut(r[2], TEXTS[2]) + cut(r[2], TEXTS[2]) + r[2], *r[3:]],
    "whole, torn, whole": lambda r: [*r[:2], r[2] + cut(r[2], TEXTS[2]) + r[3], *r[4:]],
    "written in between": lambda r: [*r[:2], (a := cut(r[4], TEXTS[4])) + r[2] + r[4][len(a) :], *r[3:]],
    "the first line": lambda r: [r[0] + r[1], *r[2:]],
}  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_whole_in_a_damaged_line_is_read_and_the_damage_counted(damage: str, format: str) -> None:
    header, rows = write(format)
    whole = read_session(b"\n".join([*header, *rows]))
    assert (whole.format, list_texts(whole), whole.corrupt) == (format, list(TEXTS), ())
    for end in (b"", b"\n"):
        session = read_session(b"\n".join([*header, *DAMAGES[damage](rows)]) + end)
        assert (session.format, list_texts(session)) == (format, list(TEXTS))
        assert len(session.corrupt) == 1
        assert [entry.usage for entry in session.entries] == [entry.usage for entry in whole.entries]


@pytest.mark.parametrize("format", ["claude-code", "codex", "pi"])
@pytest.mark.parametrize("damage", [*DAMAGES, "line breaks"])
def test_a_growing_file_with_damaged_lines_is_at_any_time_what_reading_it_anew_gives(
    damage: str, format: str
) -> None:
    header, rows = write(format)
    rows = (
        DAMAGES[damage](rows)
        if damage in DAMAGES
        else [*rows[:2], rows[2].replace(b"Sec", b"S\ne\nc"), *rows[3:]]
    )
    data = b"\n".join([*header, *rows]) + b"\n"
    reader = next(reader for reader in READERS if reader.name == format)
    growth = IncrementalReader(reader)
    ends = sorted({*range(0, len(data), 29), len(data)})
    for end in ends:
        if not growth.continues(data[growth.offset : end]):
            growth = IncrementalReader(reader)
        growth.feed(data[growth.offset : end])
        try:
            grown: Session | None = growth.make_session()
        except Exception as error:
            grown = None
            with pytest.raises(type(error)):
                reader.read(data[:end])
        else:
            assert grown == reader.read(data[:end])
