"""Read and write pi's session files, versions 1 to 3: a header line, then one entry per line.

Source: FLUE §13.2; the text around summaries and shell commands is our own. Entries of version 1 have no ids:
each one follows the previous one, and they are named by line (`L00002`). Records that clear outputs later,
and usage outside of messages, are read in `side_records`.
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
from ...exports.linearize import NEVER, BranchEntry, Json
from ...json_document import FILE, Fields, find_blocks, gather, merge, tell_wordless
from ...json_lines import Data, lines_reader
from ...other_sessions import mark_until, warn_of_copies
from ...parents import Chain
from ...recording import JsonRows, first_rows
from ...summary_wording import PI_BRANCH, PI_SUMMARY, shown_summary
from .messages import read_block, read_boundary, read_message, read_usage, write_records
from .side_records import SideRecords

NAME = "pi"
NOTES = ("session", "model_change", "thinking_level_change", "label", "session_info", "custom", "usage")
# Notes of Oh My Pi and its forks.
NOTES_OF_FORKS = ("service_tier_change", "mode_change", "ttsr_injection", "mcp_tool_selection")
ENTRIES = ("message", "compaction", "branch_summary", "custom_message")
LOOK = 8

Record = tuple[Source, dict[str, Any]]


def sniff(data: Data) -> str | None:
    """Return None if one of the first lines is pi's header or one of its messages, else the reason."""
    rows = first_rows(data, LOOK)
    for row in rows:
        if row.get("type") == "session_start":
            return "its header is a `session_start`, which is another harness's"
        if _is_pi(row):
            return None
    return "none of its first lines is pi's header or message" if rows else "it has no JSON objects"


def _is_pi(record: Any) -> bool:
    if not isinstance(record, dict) or not isinstance(record.get("timestamp"), str):
        return False
    if record.get("type") == "session":
        return "id" in record and "entries" not in record
    message = record.get("message") if record.get("type") == "message" else None
    return isinstance(message, dict) and isinstance(message.get("role"), str)


class Records(JsonRows):
    """The records of a file, from which a session is built."""

    def __init__(self) -> None:
        super().__init__()
        # The entries built last, by index, with the parents and aliases they were built for.
        self.cache: dict[int, tuple[str | None, tuple[str, ...], Entry]] = {}

    def find_fault(self, row: Any) -> str | None:
        """Return why a value is not a record with a type, or None."""
        if not isinstance(row, dict):
            return "not a JSON object"
        if not isinstance(row.get("type"), str):
            return "a record without a type"
        if row["type"] == "message" and not isinstance(row.get("message"), dict):
            return "a message entry without a message"
        return None

    def make_session(self) -> Session:
        """Build the session from all records. Raises `EmptySession` if none of them is a message."""
        records = self.rows
        names = _find_names(records)
        items = [item for _, item in records]
        side_records = SideRecords(records, names)
        chain = Chain()
        for index, item in enumerate(items):
            is_entry = _note(item) is None or side_records.is_entry(index)
            chain.add(names[index], _parent(item, names, index), is_entry=is_entry)
        aliases = chain.find_aliases()
        entries: list[Entry] = []
        notes: list[Note] = []
        for index, (source, item) in enumerate(records):
            if side_records.is_entry(index):
                parent = chain.find_entry(_parent(item, names, index))
                identity = {"id": names[index], "parent": parent, "aliases": aliases.get(names[index], ())}
                entries.append(side_records.make(index, identity))
                continue
            if index in side_records.joined:
                continue
            if (note := _note(item)) is not None:
                notes.append(
                    Note(type=note, known=item["type"] in (*NOTES, *NOTES_OF_FORKS, *ENTRIES), source=source)
                )
                continue
            parent = chain.find_entry(_parent(item, names, index))
            entries.append(self._make(index, parent, aliases.get(names[index], ()), chain, names))
        if all(entry.kind == "note" for entry in entries):
            why = tell_wordless(len(records), "record", corrupt=self.corrupt)
            raise EmptySession(FILE, [(NAME, "")], why)
        header = Fields(_last(records, "session"), "type")
        if origin := _find_origin(header):
            entries = mark_until(entries, header.rest.get("timestamp"), origin)
        return Session(
            format=NAME,
            id=header.text("id") or "",
            title=Fields(_last(records, "session_info")).text("name") or header.text("title"),
            model=next((model for _, item in reversed(records) if (model := _model(item))), None),
            cwd=header.text("cwd"),
            created=header.text("timestamp"),
            updated=Fields(records[-1][1]).text("timestamp"),
            entries=tuple(entries),
            leaf=chain.find_entry(names[-1]),
            notes=tuple(notes),
            corrupt=tuple(self.corrupt),
            warnings=(*chain.warnings(), *side_records.warnings(), *warn_of_copies(entries)),
            extra=header.rest,
        )

    def _make(
        self, index: int, parent: str | None, aliases: tuple[str, ...], chain: Chain, names: list[str]
    ) -> Entry:
        """Build the entry of a record, or reuse the one built last if its parent and aliases are the same."""
        cached = self.cache.get(index)
        if cached is not None and cached[:2] == (parent, aliases):
            return cached[2]
        source, item = self.rows[index]
        fields = Fields(item, "id", "parentId")
        identity = {
            "id": names[index],
            "parent": parent,
            "timestamp": fields.text("timestamp"),
            "aliases": aliases,
        }
        if item["type"] == "compaction":
            # The kept entries depend on later records.
            return _read_compaction(fields, source, identity, chain, names)
        entry = _read_entry(fields, source, identity)
        self.cache[index] = parent, aliases, entry
        return entry


def _find_origin(header: Fields) -> str:
    """Return the id of the session that was forked, else "". pi stores the path `<time>_<id>.jsonl`."""
    parent = header.rest.get("parentSession")
    if not isinstance(parent, str):
        return ""
    return PureWindowsPath(parent).name.removesuffix(".jsonl").rpartition("_")[2]


def _last(records: list[Record], kind: str) -> dict[str, Any]:
    """Return the last record of a type, or an empty one."""
    return next((item for _, item in reversed(records) if item["type"] == kind), {})


def _model(item: dict[str, Any]) -> str | None:
    """Return the model that a record names. Oh My Pi writes `provider/model`, and one for each role."""
    if item["type"] == "message":
        return Fields(item["message"]).text("model")
    fields = Fields(item)
    model = fields.text("modelId")
    if model is None and item["type"] == "model_change" and fields.text("role") in (None, "default"):
        model = (fields.text("model") or "").partition("/")[2] or None
    return model


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


def _parent(item: dict[str, Any], names: list[str], index: int) -> str | None:
    """Return the parent that an entry names; in version 1, the record before it."""
    if "parentId" in item:
        parent = item["parentId"]
        return parent if isinstance(parent, str) else None
    return names[index - 1] if index and item["type"] != "session" else None


def _note(item: dict[str, Any]) -> str | None:
    """Return the name of a record that is never shown to the model, such as a command with `!!`, or None."""
    if item["type"] not in ENTRIES:
        return str(item["type"])
    if item["type"] == "message" and item["message"].get("excludeFromContext") is True:
        return "message kept out of the context"
    return None


def _read_entry(fields: Fields, source: Source, identity: dict[str, Any]) -> Entry:
    kind, rest = fields.text("type"), fields.rest
    if kind == "message":
        fields = Fields(fields.object("message"))
        kind = str(fields.rest.get("role"))
        if kind not in _CONVERTERS:
            return read_message(fields.rest, rest, source=source, **identity)
    words, meta = _CONVERTERS[kind or ""]
    blocks, more = gather(find_blocks(words(fields), read_block))
    usage = read_usage(fields) if kind == "branch_summary" else None
    return Entry(
        **identity,
        usage=usage,
        kind="branch_summary" if kind in ("branch_summary", "branchSummary") else "message",
        blocks=blocks,
        meta=meta,
        sources=(source,),
        extra=(rest if fields.rest is rest else merge(rest, fields.rest)) | more,
    )


def _read_compaction(
    fields: Fields, source: Source, identity: dict[str, Any], chain: Chain, names: list[str]
) -> Entry:
    """Read a compaction. In version 1 its first kept entry is the index of a record; the header is 0."""
    fields.text("type")
    reference: Any = fields.any("firstKeptEntryId")
    # A compaction that keeps nothing names itself.
    kept_name = reference if isinstance(reference, str) and reference != identity["id"] else None
    if reference is None:
        reference = fields.any("firstKeptEntryIndex")
        if isinstance(reference, int) and not isinstance(reference, bool) and 0 <= reference < len(names):
            kept_name = names[reference]
    first_kept = chain.find_first_kept(kept_name, identity["id"])
    extra = {} if reference is None or reference == first_kept else {"firstKept": reference}
    carried = fields.flag("fromHook") is not True
    boundary = read_boundary(fields, first_kept, extra, carried=carried)
    words = _format_summary(Fields({"summary": boundary.summary}))
    return Entry(
        **identity,
        kind="compaction",
        blocks=(Text(text=words),),
        usage=read_usage(fields),
        boundary=boundary,
        sources=(source,),
        extra=fields.rest if carried else fields.rest | {"fromHook": True},
    )


def _format_command(fields: Fields) -> str:
    """Format a shell command of the user and its output as the model is shown it."""
    output = fields.text("output") or ""
    if output.endswith("\n"):  # not shown, but counted (FLUE §13.2)
        fields.rest["outputEnd"] = output[len(output.rstrip("\n")) :]
    lines = [f"$ {fields.rest.get('command', '')}", output.rstrip("\n")]
    if fields.rest.get("cancelled") is True:
        lines.append("(cancelled)")
    elif fields.rest.get("exitCode") not in (0, None):
        lines.append(f"(exit code {fields.rest['exitCode']})")
    if isinstance(path := fields.rest.get("fullOutputPath"), str):
        lines.append(f"(shortened; all of it is in {path})")
    return "\n".join(line for line in lines if line)


def _format_branch(fields: Fields) -> str:
    return PI_BRANCH.shows(fields.text("summary") or "")


def _format_summary(fields: Fields) -> str:
    return shown_summary(NAME, fields.text("summary") or "")


def _take_content(fields: Fields) -> Any:
    return fields.any("content")


_CONVERTERS: dict[str, tuple[Callable[[Fields], Any], bool]] = {
    "bashExecution": (_format_command, False),
    "branch_summary": (_format_branch, False),
    "branchSummary": (_format_branch, False),
    "compactionSummary": (_format_summary, True),
    "custom_message": (_take_content, True),
    "custom": (_take_content, True),
    "hookMessage": (_take_content, True),
}
"""Functions that convert an entry type or a message role to a user message; True if the harness wrote it."""

READER = lines_reader(NAME, "pi session", sniff, Records)


VERSION = 3


def write(session: Session, twigs: Sequence[BranchEntry] = ()) -> tuple[bytes, Counter[str]]:
    """Return the lines, and the number of losses by kind."""
    records, losses = write_records(session, twigs, PI_SUMMARY, PI_BRANCH)
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
