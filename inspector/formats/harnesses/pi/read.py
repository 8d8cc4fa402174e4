"""pi's session files, versions 1 to 3: a header line, then one entry per line.

In go the bytes, out comes a `Session`. Version 1 has no ids: its entries follow each other, and are
named here after their lines (`L00002`). What empties outputs later, and usage that no message tells, are in
`beside`. Source: FLUE §13.2; the words around summaries and shell commands are our own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import PureWindowsPath
from typing import Any

from ....errors import EmptySession
from ....session.blocks import Text
from ....session.entries import Entry, Note, Source
from ....session.json_text import dump_lossless
from ....session.session import Session
from ...copied_entries import mark_until, warn_of_copies
from ...exports.linearize import NEVER, BranchEntry, Json
from ...json_document import FILE, Fields, find_blocks, gather, merge, tell_wordless
from ...json_lines import Data, Reader, read_lines
from ...parents import Chain
from ...recording import JsonRows, first_rows
from ...summary_wording import PI_INTRODUCTION
from .beside import RecordsBeside
from .messages import SummaryWording, read_block, read_boundary, read_message, read_usage, write_records

NAME = "pi"
NOTES = ("session", "model_change", "thinking_level_change", "label", "session_info", "custom", "usage")
ENTRIES = ("message", "compaction", "branch_summary", "custom_message")
LOOK = 8

Record = tuple[Source, dict[str, Any]]


def sniff(data: Data) -> str | None:
    """None when one of the first lines is pi's header or one of its messages."""
    rows = first_rows(data, LOOK)
    for row in rows:
        if row.get("type") == "session_start":
            return "its header is a `session_start`, which is another harness's"
        if _is_pi(row):
            return None
    return "none of its first lines is pi's header or a message of pi's" if rows else "it has no JSON objects"


def _is_pi(record: Any) -> bool:
    if not isinstance(record, dict) or not isinstance(record.get("timestamp"), str):
        return False
    if record.get("type") == "session":
        return "id" in record and "entries" not in record
    message = record.get("message") if record.get("type") == "message" else None
    return isinstance(message, dict) and isinstance(message.get("role"), str)


def read(data: Data) -> Session:
    """The whole session; its leaf is its last entry. Raises `EmptySession` when nobody says anything."""
    return read_lines(Records(), data)


class Records(JsonRows):
    """The records of one file as they come, and the session they make.

    `made` holds the entries made last, with the parent and the aliases they were made for.
    """

    def __init__(self) -> None:
        super().__init__()
        self.made: dict[int, tuple[str | None, tuple[str, ...], Entry]] = {}

    def find_fault(self, row: Any) -> str | None:
        """Return why a value is no record with a type, or None."""
        if not isinstance(row, dict):
            return "not a JSON object"
        if not isinstance(row.get("type"), str):
            return "a record without a type"
        if row["type"] == "message" and not isinstance(row.get("message"), dict):
            return "a message entry without a message"
        return None

    def make_session(self) -> Session:
        """The session all records make. Raises `EmptySession` when none of them is a message."""
        records = self.rows
        names = _find_names(records)
        items = [item for _, item in records]
        beside = RecordsBeside(records, names)
        chain = Chain()
        for at, item in enumerate(items):
            is_entry = _note(item) is None or beside.is_entry(at)
            chain.add(names[at], _parent(item, names, at), is_entry=is_entry)
        aliases = chain.find_aliases()
        entries: list[Entry] = []
        notes: list[Note] = []
        for at, (source, item) in enumerate(records):
            if beside.is_entry(at):
                parent = chain.find_entry(_parent(item, names, at))
                stand = {"id": names[at], "parent": parent, "aliases": aliases.get(names[at], ())}
                entries.append(beside.make(at, stand))
                continue
            if at in beside.joined:
                continue
            if (note := _note(item)) is not None:
                notes.append(Note(type=note, known=item["type"] in (*NOTES, *ENTRIES), source=source))
                continue
            parent = chain.find_entry(_parent(item, names, at))
            entries.append(self._make(at, parent, aliases.get(names[at], ()), chain, names))
        if all(entry.kind == "note" for entry in entries):
            why = tell_wordless(len(records), "record", corrupt=self.corrupt)
            raise EmptySession(FILE, [(NAME, "")], why)
        header = Fields(_last(records, "session"), "type")
        if origin := _find_origin(header):
            entries = mark_until(entries, header.rest.get("timestamp"), origin)
        return Session(
            format=NAME,
            id=header.text("id") or "",
            title=Fields(_last(records, "session_info")).text("name"),
            model=next((model for _, item in reversed(records) if (model := _model(item))), None),
            cwd=header.text("cwd"),
            created=header.text("timestamp"),
            updated=Fields(records[-1][1]).text("timestamp"),
            entries=tuple(entries),
            leaf=chain.find_entry(names[-1]),
            notes=tuple(notes),
            corrupt=tuple(self.corrupt),
            warnings=(*chain.warnings(), *beside.warnings(), *warn_of_copies(entries)),
            extra=header.rest,
        )

    def _make(
        self, at: int, parent: str | None, aliases: tuple[str, ...], chain: Chain, names: list[str]
    ) -> Entry:
        """The entry of a record: the one made before, where the records since change nothing of it."""
        known = self.made.get(at)
        if known is not None and known[:2] == (parent, aliases):
            return known[2]
        source, item = self.rows[at]
        fields = Fields(item, "id", "parentId")
        stand = {"id": names[at], "parent": parent, "timestamp": fields.text("timestamp"), "aliases": aliases}
        if item["type"] == "compaction":
            # What it kept depends on the records around it.
            return _read_compaction(fields, source, stand, chain, names)
        entry = _read_entry(fields, source, stand)
        self.made[at] = parent, aliases, entry
        return entry


def _find_origin(header: Fields) -> str:
    """Return the id of the session that was forked, else "". pi stores the path `<time>_<id>.jsonl`."""
    parent = header.rest.get("parentSession")
    if not isinstance(parent, str):
        return ""
    return PureWindowsPath(parent).name.removesuffix(".jsonl").rpartition("_")[2]


def _last(records: list[Record], kind: str) -> dict[str, Any]:
    """The last record of a type, or an empty one."""
    return next((item for _, item in reversed(records) if item["type"] == kind), {})


def _model(item: dict[str, Any]) -> str | None:
    """The model a record says is at work."""
    if item["type"] == "message":
        return Fields(item["message"]).text("model")
    return Fields(item).text("modelId")


def _find_names(records: list[Record]) -> list[str]:
    """Return the id of each record. Records without one (the header, all in version 1) are named by line."""
    names: list[str] = []
    for source, item in records:
        name = item.get("id")
        if not isinstance(name, str) or item["type"] == "session":
            name = f"L{source.line:05d}"
            if names and names[-1].startswith(name):
                name = f"{name}.{source.offset}"  # another record of a damaged line
        names.append(name)
    return names


def _parent(item: dict[str, Any], names: list[str], at: int) -> str | None:
    """The parent an entry names; where it names none, the record before it (version 1)."""
    if "parentId" in item:
        parent = item["parentId"]
        return parent if isinstance(parent, str) else None
    return names[at - 1] if at and item["type"] != "session" else None


def _note(item: dict[str, Any]) -> str | None:
    """What to call a record the model never sees, or None. Commands written with `!!` are such."""
    if item["type"] not in ENTRIES:
        return str(item["type"])
    if item["type"] == "message" and item["message"].get("excludeFromContext") is True:
        return "message kept out of the context"
    return None


def _read_entry(fields: Fields, source: Source, stand: dict[str, Any]) -> Entry:
    kind, rest = fields.text("type"), fields.rest
    if kind == "message":
        fields = Fields(fields.object("message"))
        kind = str(fields.rest.get("role"))
        if kind not in _SPOKEN:
            return read_message(fields.rest, rest, source=source, **stand)
    words, meta = _SPOKEN[kind or ""]
    blocks, more = gather(find_blocks(words(fields), read_block))
    usage = read_usage(fields) if kind == "branch_summary" else None
    return Entry(
        **stand,
        usage=usage,
        kind="branch_summary" if kind in ("branch_summary", "branchSummary") else "message",
        blocks=blocks,
        meta=meta,
        sources=(source,),
        extra=(rest if fields.rest is rest else merge(rest, fields.rest)) | more,
    )


def _read_compaction(
    fields: Fields, source: Source, stand: dict[str, Any], chain: Chain, names: list[str]
) -> Entry:
    """A compaction. In version 1 its first kept entry is a number: records are counted, the header is 0."""
    fields.text("type")
    reference: Any = fields.any("firstKeptEntryId")
    # What keeps nothing names itself.
    kept = reference if isinstance(reference, str) and reference != stand["id"] else None
    if reference is None:
        reference = fields.any("firstKeptEntryIndex")
        if isinstance(reference, int) and not isinstance(reference, bool) and 0 <= reference < len(names):
            kept = names[reference]
    first_kept = chain.find_first_kept(kept, stand["id"])
    extra = {} if reference is None or reference == first_kept else {"firstKept": reference}
    carried = fields.flag("fromHook") is not True
    boundary = read_boundary(fields, first_kept, extra, carried=carried)
    words = _say_summary(Fields({"summary": boundary.summary}))
    return Entry(
        **stand,
        kind="compaction",
        blocks=(Text(text=words),),
        usage=read_usage(fields),
        boundary=boundary,
        sources=(source,),
        extra=fields.rest if carried else fields.rest | {"fromHook": True},
    )


def _say_command(fields: Fields) -> str:
    """A shell command of the user and its output, as the model is told."""
    output = fields.text("output") or ""
    if output.endswith("\n"):  # not shown, but weighed (FLUE §13.2)
        fields.rest["outputEnd"] = output[len(output.rstrip("\n")) :]
    lines = [f"$ {fields.rest.get('command', '')}", output.rstrip("\n")]
    if fields.rest.get("cancelled") is True:
        lines.append("(cancelled)")
    elif fields.rest.get("exitCode") not in (0, None):
        lines.append(f"(exit code {fields.rest['exitCode']})")
    if isinstance(path := fields.rest.get("fullOutputPath"), str):
        lines.append(f"(shortened; all of it is in {path})")
    return "\n".join(line for line in lines if line)


def _say_branch(fields: Fields) -> str:
    summary = fields.text("summary") or ""
    return f"A branch of this conversation was left; what happened there:\n\n<summary>\n{summary}\n</summary>"


def _say_summary(fields: Fields) -> str:
    summary = fields.text("summary") or ""
    return f"What was said before this point was summarised:\n\n<summary>\n{summary}\n</summary>"


def _say_content(fields: Fields) -> Any:
    return fields.any("content")


_SPOKEN: dict[str, tuple[Callable[[Fields], Any], bool]] = {
    "bashExecution": (_say_command, False),
    "branch_summary": (_say_branch, False),
    "branchSummary": (_say_branch, False),
    "compactionSummary": (_say_summary, True),
    "custom_message": (_say_content, True),
    "custom": (_say_content, True),
    "hookMessage": (_say_content, True),
}
"""How an entry type, or a message role, becomes words of the user; and whether the harness says them."""

READER = Reader(NAME, "pi session", sniff, read, Records)


SUMMARY = SummaryWording(f"{PI_INTRODUCTION}\n\n<summary>\n", "\n</summary>")
BRANCH = SummaryWording(
    "A branch of this conversation was left; what happened there:\n\n<summary>\n", "\n</summary>"
)
VERSION = 3


def write(session: Session, twigs: Sequence[BranchEntry] = ()) -> tuple[bytes, Counter[str]]:
    """The lines, and a count of what they do not hold."""
    records, losses = write_records(session, twigs, SUMMARY, BRANCH)
    header: Json = {
        "type": "session",
        "version": VERSION,
        "id": session.id,
        "timestamp": session.created or NEVER,
        "cwd": session.cwd or "",
    }
    stamp = {"timestamp": session.updated or session.created or NEVER}
    rows = [header, *(stamp | record for record in records)]
    return "".join(f"{dump_lossless(row)}\n" for row in rows).encode("ascii"), losses
