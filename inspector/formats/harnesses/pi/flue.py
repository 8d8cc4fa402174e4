"""Read and write Flue's persisted sessions: a JSON document with `entries`, a `leafId` and times.

Source: FLUE §1 (SessionData).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ....errors import EmptySession
from ....session.blocks import Text, Unknown
from ....session.entries import Corrupt, Entry
from ....session.json_text import dump_lossless
from ....session.session import Session
from ...exports.linearize import NEVER, BranchEntry, Json
from ...json_document import (
    FILE,
    Fields,
    document_reader,
    find_lack,
    place,
    refuse,
    tell_wordless,
)
from ...parents import warn_of_repeated
from ...summary_wording import FLUE_BRANCH, FLUE_SUMMARY
from .messages import read_boundary, read_message, read_usage, write_records

NAME = "flue"
VERSION = 3
TYPES = ("message", "compaction", "branch_summary")


def _judge(value: Any) -> str | None:
    """Return None for an object whose `entries` are linked by `parentId`, else the reason."""
    if lack := find_lack(value, entries=list):
        return lack
    entries = value["entries"]
    if not entries:
        return None if "leafId" in value else "it has no `leafId`"
    first = next((entry for entry in entries if isinstance(entry, dict) and len(entry) > 1), None)
    if first is None or "type" not in first:
        return "its `entries` have no `type`"
    if "parentId" not in first and "leafId" not in value:
        return "its `entries` have no `parentId`"
    return None


def _read(document: Any) -> Session:
    """Read the whole session. Raises `ReadError`, or `EmptySession` if it contains no messages."""
    fields = Fields(document)
    raw = fields.items("entries")
    if raw is None:
        raise refuse("it has no list `entries`")
    entries: list[Entry] = []
    corrupt: list[Corrupt] = []
    for line, item in enumerate(raw, 1):
        record = _read_entry(item, line)
        if isinstance(record, Entry):
            entries.append(record)
        else:
            corrupt.append(record)
    if all(entry.kind == "note" for entry in entries):
        raise EmptySession(FILE, [(NAME, "")], tell_wordless(len(raw), "entry", "entries"))
    version, created, updated = fields.number("version"), fields.text("createdAt"), fields.text("updatedAt")
    warnings = warn_of_repeated(len(entries) - len({entry.id for entry in entries}))
    if version != VERSION:
        warnings += (f"its version is {version}; this reader supports version {VERSION}",)
    return Session(
        format=NAME,
        model=next((e.model for e in reversed(entries) if e.role == "assistant" and e.model), None),
        created=created,
        updated=updated,
        entries=tuple(entries),
        leaf=fields.text("leafId"),
        corrupt=tuple(corrupt),
        warnings=warnings,
        extra=fields.rest,
    )


def _fault(item: Any) -> str | None:
    """Return why an element of `entries` is not an entry, or None."""
    if not isinstance(item, dict):
        return "an entry that is not an object"
    if not isinstance(item.get("type"), str):
        return "an entry without a type"
    if not isinstance(item.get("id"), str):
        return "an entry without an id"
    if item["type"] == "message" and not isinstance(item.get("message"), dict):
        return "a message entry without a message"
    return None


def _read_entry(item: Any, line: int) -> Entry | Corrupt:
    source = place(line)
    if fault := _fault(item):
        return Corrupt(line=line, offset=source.offset, reason=fault)
    fields = Fields(item)
    kind, name = fields.text("type"), fields.text("id") or ""
    parent, time = fields.text("parentId"), fields.text("timestamp")
    if kind not in TYPES:
        # Flue accepts entries of any type, but does not show unknown ones to the model (FLUE §1).
        raw = Unknown(type=kind or "", raw=fields.rest)
        return Entry(
            id=name,
            parent=parent,
            role="other",
            kind="note",
            blocks=(raw,),
            timestamp=time,
            sources=(source,),
        )
    if kind == "message":
        message = fields.object("message") or {}
        return read_message(message, fields.rest, id=name, parent=parent, source=source, timestamp=time)
    boundary, usage = None, None
    if kind == "compaction":
        boundary = read_boundary(fields, fields.text("firstKeptEntryId"), {})
        usage = read_usage(fields)
        words = FLUE_SUMMARY.shows(boundary.summary or "")
    else:
        words = FLUE_BRANCH.shows(fields.text("summary") or "")
    return Entry(
        id=name,
        parent=parent,
        kind="compaction" if kind == "compaction" else "branch_summary",
        blocks=(Text(text=words),),
        usage=usage,
        timestamp=time,
        boundary=boundary,
        sources=(source,),
        extra=fields.rest,
    )


ORIGINS = ("prompt", "skill", "shell", "task", "retry")
"""What a message entry may name as its `source` (FLUE §1)."""
READER = document_reader(NAME, "Flue session", _judge, _read)


def write(session: Session, twigs: Sequence[BranchEntry] = ()) -> tuple[bytes, Counter[str]]:
    """Return the document, and the number of losses by kind."""
    entries, losses = write_records(session, twigs, FLUE_SUMMARY, FLUE_BRANCH)
    for record in entries:
        at = session.index.get(record["id"])
        origin = None if at is None else session.entries[at].extra.get("source")
        if record["type"] == "message" and origin in ORIGINS:
            record["source"] = origin
    document: Json = {
        "version": VERSION,
        "entries": entries,
        "leafId": entries[-1]["id"] if entries else None,
        "metadata": {},
        "createdAt": session.created or NEVER,
        "updatedAt": session.updated or session.created or NEVER,
    }
    return dump_lossless(document).encode("ascii"), losses
