"""Files of many sessions that are whole documents, one a line or in one JSON list -> each of them alone.

So data sets and benchmarks keep conversations and trajectories. Whole requests in a row are another thing:
one of them begins with what was said up to the one before, and `request_log` makes one session of them all.
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
from .chat_messages import INSTRUCTIONS
from .data_set import judge_row

ATIF, ROWS, TALKS = "a list of ATIF trajectories", "a data set", "a list of conversations"
NAMES = (
    *("trajectory_id", "traj_id", "session_id", "conversation_id", "instance_id", "custom_id"),
    *("id", "uuid", "task_id", "title", "name"),
)
"""What a row is called by."""
LONGEST = 200
"""So many characters of that are its name."""
BESIDE = frozenset(
    [
        *("request", "response", "response_body", "choices", "output", "completion", "usage", "input"),
        *("run_type", "trace_id", "traceId", "agent_type", "sessionId", "uuid", "role", "info", "trajectory"),
    ]
)
"""Fields that say that messages are those of one request, or of a harness's file."""


def name_list(data: Data) -> str:
    """What kind of list its beginning shows; "" for what is none.

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
    """The kind, and each document: its name, its size, what gives it; None for data that is no list."""
    kind = name_list(data)
    if not kind:
        return None
    rows = list(_split(data))
    values = [value for value, _ in rows]
    if kind == TALKS and not _are_talks([value for value in values if value is not None]):
        return None  # further down they go on from each other
    word = "item" if _is_list(data) else "line"
    names = [_find_name(value) for value in values]
    named = Counter(names)
    found: list[StoredFile] = []
    for number, ((_, raw), name) in enumerate(zip(rows, names, strict=True), 1):
        alone = name and named[name] == 1
        called = name if alone else f"{name} ({word} {number})" if name else f"{word} {number}"
        found.append(StoredFile(called, len(raw), partial(bytes, raw)))
    return kind, found


def _is_list(data: Data) -> bool:
    return bytes(memoryview(data)[:64]).removeprefix(BOM).lstrip()[:1] == b"["


def _peek(data: Data) -> tuple[bool, list[Any]]:
    """Whether it is a JSON list, and the first of its rows; the last may be cut short in a long list."""
    if not _is_list(data):
        return False, first_rows(data)
    whole = len(memoryview(data)) <= HEAD
    value, _ = peek_once(cut_head(data), whole)
    rows = value if isinstance(value, list) else []
    return True, (rows if whole or len(rows) < 2 else rows[:-1])[:16]


def _split(data: Data) -> Iterator[tuple[Any, bytes]]:
    """Each row with its bytes; one that cannot be read is None."""
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
    """Whether these are conversations, each to its end, of which hardly one goes on from another.

    What the system said does not tell: it may hold the time, and be another in each request of one session.
    """
    before: dict[str, list[Any]] = {}
    ends = grown = 0
    for row in rows:
        messages = _find_messages(row)
        if messages is None and Fields(row).rest.get("messages") == []:
            continue
        if messages is None:
            return False
        said = list(dropwhile(lambda each: Fields(each).rest.get("role") in INSTRUCTIONS, messages))
        first = Fields(said[0]).rest.get("content") if said else ""
        key = first if isinstance(first, str) else dump_lossless(first)
        earlier = before.get(key, [])
        grown += bool(earlier) and said[: len(earlier)] == earlier
        ends += isinstance(messages[-1], dict) and messages[-1].get("role") == "assistant"
        before[key] = said
    # In a large data set some begin as another does, or stand there twice.
    return ends * 2 > len(rows) and grown * 10 <= len(rows)


def _find_messages(row: Any) -> list[Any] | None:
    if not isinstance(row, dict) or BESIDE & set(row):
        return None
    messages = row.get("messages")
    shaped = (
        isinstance(messages, list) and messages and isinstance(messages[0], dict) and "role" in messages[0]
    )
    return messages if shaped else None


def _find_name(row: Any) -> str:
    held: Json = row if isinstance(row, dict) else {}
    named = (held[key] for key in NAMES if isinstance(held.get(key), str | int) and held[key] != "")
    return str(next(named, ""))[:LONGEST]
