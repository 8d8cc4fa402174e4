"""Split files of many sessions that are whole documents, one per line or in one JSON list.

Data sets and benchmarks store conversations and trajectories in this way. A list of whole requests is
different: each request begins with the messages of the one before, and `request_log` reads them as one
session.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import dropwhile
from typing import Any

from ...session.json_text import dump_lossless
from ..containers import StoredFile
from ..harnesses import atif
from ..json_document import HEAD, Fields, cut_head, load, peek_once
from ..json_lines import BOM, Data, decode, iter_lines
from ..recording import Json, first_rows
from ..summary_wording import begins_as_summary
from .chat_messages import INSTRUCTIONS
from .data_set import judge_row

ATIF, ROWS, TALKS = "a list of ATIF trajectories", "a data set", "a list of conversations"
NAMES = (
    *("trajectory_id", "traj_id", "session_id", "conversation_id", "instance_id", "custom_id"),
    *("id", "uuid", "task_id", "title", "name"),
)
"""Fields with the name of a row."""
LONGEST = 200
"""Maximum number of characters of a name."""
BESIDE = frozenset(
    [
        *("request", "response", "response_body", "choices", "output", "completion", "usage", "input"),
        *("run_type", "trace_id", "traceId", "agent_type", "sessionId", "uuid", "role", "info", "trajectory"),
    ]
)
"""Fields that show that messages belong to one request or to a harness's file."""


def name_list(data: Data) -> str:
    """Return the kind of list that the beginning shows; "" if it is not a list of documents.

    >>> talk = b'{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]}'
    >>> name_list(talk + b"\\n" + talk.replace(b"Hi", b"Hey")), name_list(talk)
    ('a list of conversations', '')
    """
    listed, rows = _peek(data)
    if not rows or (len(rows) < 2 and not listed):
        return ""
    if all(atif.judge_trajectory(row) is None for row in rows):
        return ATIF
    if sum(judge_row(row) is None for row in rows) * 2 > len(rows):
        return ROWS  # some rows of a data set may be empty
    return TALKS if len(rows) > 1 and _are_talks(rows) else ""


def list_documents(data: Data) -> tuple[str, list[StoredFile]] | None:
    """Return the kind and the documents as stored files; None if the data is not a list of documents."""
    kind = name_list(data)
    if not kind:
        return None
    rows = list(_split(data))
    values = [value for value, _ in rows]
    if kind == TALKS and not _are_talks([value for value in values if value is not None]):
        return None  # later rows continue each other
    word = "item" if _is_list(data) else "line"
    names = [_find_name(value) for value in values]
    named = Counter(names)
    files: list[StoredFile] = []
    for number, ((_, raw), name) in enumerate(zip(rows, names, strict=True), 1):
        alone = name and named[name] == 1
        called = name if alone else f"{name} ({word} {number})" if name else f"{word} {number}"
        files.append(StoredFile(called, len(raw), partial(bytes, raw)))
    return kind, files


def _is_list(data: Data) -> bool:
    return bytes(memoryview(data)[:64]).removeprefix(BOM).lstrip()[:1] == b"["


def _peek(data: Data) -> tuple[bool, list[Any]]:
    """Return whether the data is a JSON list, and its first rows, except an incomplete one."""
    if not _is_list(data):
        return False, first_rows(data)
    whole = len(memoryview(data)) <= HEAD
    value, _ = peek_once(cut_head(data), whole)
    rows = value if isinstance(value, list) else []
    return True, (rows if whole or len(rows) < 2 else rows[:-1])[:16]


def _split(data: Data) -> Iterator[tuple[Any, bytes]]:
    """Yield each row with its bytes; None for an unreadable row."""
    if _is_list(data):
        for value in load(data):
            yield value, dump_lossless(value).encode("ascii")
        return
    for _, line in iter_lines(data):
        raw = bytes(line)
        try:
            yield decode(raw), raw
        except ValueError:
            yield None, raw


def _are_talks(rows: Sequence[Any]) -> bool:
    """Return whether rows are complete conversations that rarely continue each other.

    System messages are ignored: they may contain the time and differ in each request of a session.
    """
    before: dict[str, list[Any]] = {}
    last: list[Any] = []
    ends = grown = 0
    for row in rows:
        messages = _find_messages(row)
        if messages is None and Fields(row).rest.get("messages") == []:
            continue
        if messages is None:
            return False
        turns = list(dropwhile(lambda turn: Fields(turn).rest.get("role") in INSTRUCTIONS, messages))
        first = Fields(turns[0]).rest.get("content") if turns else ""
        key = first if isinstance(first, str) else dump_lossless(first)
        earlier = before.get(key, [])
        continues = len(turns) < len(last) and begins_as_summary(key)
        continues = continues or (bool(earlier) and turns[: len(earlier)] == earlier)
        grown += continues or _holds_end(turns, last)
        ends += isinstance(messages[-1], dict) and messages[-1].get("role") == "assistant"
        before[key] = last = turns
    # In a large data set some conversations have the same beginning or occur twice.
    return ends * 2 > len(rows) and grown * 10 <= len(rows)


def _holds_end(turns: list[Any], last: list[Any]) -> bool:
    """Return whether messages contain the last two of the row before, which a compaction kept."""
    return len(last) > 1 and any(
        turn == last[-1] and turns[index] == last[-2] for index, turn in enumerate(turns[1:])
    )


def _find_messages(row: Any) -> list[Any] | None:
    if not isinstance(row, dict) or BESIDE & set(row):
        return None
    messages = row.get("messages")
    shaped = (
        isinstance(messages, list) and messages and isinstance(messages[0], dict) and "role" in messages[0]
    )
    return messages if shaped else None


def _find_name(row: Any) -> str:
    fields: Json = row if isinstance(row, dict) else {}
    named = (fields[key] for key in NAMES if isinstance(fields.get(key), str | int) and fields[key] != "")
    return str(next(named, ""))[:LONGEST]
