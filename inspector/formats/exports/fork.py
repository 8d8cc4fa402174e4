"""Copy a session up to an entry as a new session of the same harness, which can be continued.

The records of the path are copied with all their fields. Only the ids of the session and of its records are
new, so that the copy can be stored next to the original. Other branches are not copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...errors import EditError
from ...session.session import Session
from ...text import brief
from ..json_lines import iter_values
from ..readers import read_session
from .linearize import Json, dump_rows
from .writers import compare_contexts

TEXT_FIELDS = ("message", "toolUseResult")
"""Fields of a Claude Code row that contain text; an id in them is part of the text and not replaced."""
LINKS = ("parentUuid", "logicalParentUuid")
"""Fields of a Claude Code row with the id of the previous row; the second continues across a compaction."""


def fork_session(
    session: Session, data: bytes, at: str, name: str, make_id: Callable[[], str], title: str
) -> bytes:
    """Return the lines of a new session `name`: the path to the entry `at` of the file with the bytes `data`.

    `make_id` returns a new id for each record. Raises `EditError` for formats whose harness cannot continue
    such a file, and if the copy would not be read back to the same context.
    """
    if session.format not in FORKS:
        raise EditError("reopen", session.format, f"only {' and '.join(FORKS)} sessions can be reopened")
    moment = session.at(at)
    content = FORKS[session.format](moment, data, name, make_id, title)
    again = read_session(content, "the copy", session.format)
    changed = compare_contexts(moment, again)
    if changed:
        what = ", ".join(f"{count} {kind}" for kind, count in sorted(changed.items()))
        raise EditError("reopen", at, f"the copy would not hold the same context: {what}")
    return content


def _fork_claude_code(
    moment: Session, data: bytes, name: str, make_id: Callable[[], str], title: str
) -> bytes:
    """Write the rows of the path and those between them, each with `forkedFrom`, and a title."""
    offsets = {source.offset for index in moment.path for source in moment.entries[index].sources}
    others = {source.offset for entry in moment.entries for source in entry.sources} - offsets
    rows = dict(_read_rows(data))
    lines = {row["uuid"]: number for number, row in rows.items() if isinstance(row.get("uuid"), str)}

    def find_above(row: Json, link: str) -> int | None:
        """Return the row above a row, skipping rows that are not part of the copy."""
        number = lines.get(row.get(link))
        while number in others:
            number = lines.get(rows[number].get("parentUuid"))
        return number

    waiting = sorted(offsets)
    while waiting:
        row = rows[waiting.pop()]
        for above in (find_above(row, link) for link in LINKS):
            if above is not None and above not in offsets:
                offsets.add(above)
                waiting.append(above)
    # A queued prompt has two records, one for queueing and one for sending.
    last = max(offsets, default=0)
    queue = {n for n, row in rows.items() if row.get("type") == "queue-operation" and n <= last}
    offsets |= queue - others
    names = {rows[number]["uuid"]: make_id() for number in sorted(offsets) if "uuid" in rows[number]}
    links = {
        (number, link): rows[above]["uuid"]
        for number in offsets
        for link in LINKS
        if (above := find_above(rows[number], link)) is not None
    }
    out: list[Json] = []
    for number in sorted(offsets):
        row = rows[number]
        words = {key: row[key] for key in TEXT_FIELDS if key in row}
        row = row | {link: links[number, link] for link in LINKS if (number, link) in links}
        copy = _rename({key: value for key, value in row.items() if key not in words}, names)
        copy = {key: words.get(key, copy.get(key)) for key in row}
        copy["sessionId"] = name
        if "uuid" in row:
            copy["forkedFrom"] = {"sessionId": row.get("sessionId", moment.id), "messageUuid": row["uuid"]}
        out.append(copy)
    out.append({"type": "custom-title", "customTitle": title, "sessionId": name})
    return dump_rows(out)


def _fork_pi(moment: Session, data: bytes, name: str, make_id: Callable[[], str], title: str) -> bytes:
    """Write the records of the path after a new header. Their ids are local to the file and do not change."""
    offsets = {source.offset for position in moment.path for source in moment.entries[position].sources}
    rows = dict(_read_rows(data))
    lines = {row["id"]: number for number, row in rows.items() if isinstance(row.get("id"), str)}
    if lines.keys() <= {row.get("id") for row in rows.values() if row.get("type") == "session"}:
        # In the first version records have no ids. Each follows the previous one; its line identifies it.
        offsets = {number for number in rows if number <= max(offsets, default=0)}
    waiting = sorted(offsets)
    while waiting:
        number = lines.get(rows[waiting.pop()].get("parentId"))
        if number is not None and number not in offsets:
            offsets.add(number)
            waiting.append(number)
    header = next((row for row in rows.values() if row.get("type") == "session"), {})
    heads = {number for number, row in rows.items() if row.get("type") == "session"}
    leaf = max(offsets - heads, default=0)
    above = rows.get(leaf, {})
    first = {**header, "type": "session", "id": name, "parentSession": header.get("id", moment.id)}
    if "timestamp" in above:
        first["timestamp"] = above["timestamp"]  # records up to the header's time are copies
    info = {"type": "session_info", "timestamp": above.get("timestamp"), "name": title}
    if "id" in above:
        info |= {"id": make_id()[:8], "parentId": above["id"]}
    return dump_rows([first, *(rows[number] for number in sorted(offsets - heads)), info])


FORKS = {"claude-code": _fork_claude_code, "pi": _fork_pi}


def _read_rows(data: bytes) -> Iterable[tuple[int, Json]]:
    """Return each row that is a JSON object with its offset, those in damaged lines too."""
    for source, row in iter_values(data, []):
        if isinstance(row, dict):
            yield source.offset, row


def _rename(value: Any, names: dict[str, str]) -> Any:
    """Replace every string that is an id in a value."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [_rename(item, names) for item in value]
    if isinstance(value, dict):
        return {key: _rename(item, names) for key, item in value.items()}
    return value


def name_fork(session: Session, at: str) -> str:
    """Return the title of a copy: the session's title, and the turn at which it was reopened.

    >>> from inspector import open_demo
    >>> session = open_demo()
    >>> name_fork(session, session.entries[session.path[3]].id)
    'Every high water an hour early, reopened in turn 1'
    """
    turn = len(session.at(at).turns)
    return f"{session.title or brief(session.id)}, reopened in turn {turn}"
