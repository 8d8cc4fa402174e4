"""Read and write pi's session files, versions 1 to 3: a header line, then one entry per line.

Source: FLUE §13.2; the text around summaries and shell commands is our own. Entries of version 1 have no ids:
each one follows the previous one, and they are named by line (`L00002`). Records that clear outputs later,
and usage outside of messages, are entries of their own.

`context_edit` names an earlier record as its target, and the content that replaces it in later requests:
other content, or nothing (null). The target counts unchanged at every point in time before the edit. An
edited tool output is read as cleared, whatever its new content is; consecutive edits become one entry. Edits
of other messages, such as a prompt that is left out, are ignored with a warning.

`usage` is the usage of a request without a message, for example one that keeps the cache warm: it is charged
but not part of the context. A record with a contribution id counts once. Source: pi's documentation of its
session format, read in November 2026.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import PureWindowsPath
from typing import Any

from ....errors import EmptySession
from ....session.blocks import Text
from ....session.entries import Boundary, Entry, Note, Source
from ....session.session import Session
from ....text import plural
from ...exports.linearize import NEVER, BranchEntry, Json, dump_rows
from ...json_document import FILE, Fields, find_blocks, gather, merge, tell_wordless
from ...json_lines import Data, lines_reader
from ...other_sessions import mark_until, warn_of_copies
from ...parents import Chain
from ...recording import JsonRows, first_rows
from ...summary_wording import PI_BRANCH, PI_SUMMARY, shown_summary
from .messages import read_block, read_boundary, read_message, read_usage, write_records

EDIT = "context_edit"
NAME = "pi"
NOTES = ("session", "model_change", "thinking_level_change", "label", "session_info", "custom", "usage")
# Notes of Oh My Pi and its forks.
NOTES_OF_FORKS = ("service_tier_change", "mode_change", "ttsr_injection", "mcp_tool_selection")
ENTRIES = ("message", "compaction", "branch_summary", "custom_message")
LOOK = 8

Record = tuple[Source, dict[str, Any]]


class SideRecords:
    """These records of a file, by index.

    Attributes:
        runs: Consecutive edits, by the index of the first.
        joined: The indices of the other edits of a run.
        spent: The indices of usage records.
    """

    def __init__(self, records: Sequence[tuple[Source, Json]], names: Sequence[str]) -> None:
        self.records = records
        self.called = _read_calls(records, names)
        self.runs = _find_runs(records, names, self.called)
        self.joined = {position for first, run in self.runs.items() for position in run if position != first}
        self.spent = _find_spent(records)

    def is_entry(self, position: int) -> bool:
        """Return whether the record is a separate entry."""
        return position in self.runs or position in self.spent

    def make(self, position: int, identity: Json) -> Entry:
        """Build the entry of a record; `identity` contains its id, its parent and its aliases."""
        source, item = self.records[position]
        fields = Fields(item, "type", "id", "parentId")
        if position in self.spent:
            details = {name: fields.text(name) for name in ("model", "provider", "timestamp")}
            usage = read_usage(fields)
            rest = fields.rest
            return Entry(
                **identity, **details, role="system", kind="note", usage=usage, sources=(source,), extra=rest
            )
        run = [self.records[index] for index in self.runs[position]]
        cleared = dict.fromkeys(self.called[edit["targetId"]] for _, edit in run)
        return Entry(
            **identity,
            role="system",
            kind="micro",
            boundary=Boundary(kind="micro", cleared=tuple(cleared)),
            timestamp=fields.text("timestamp"),
            sources=tuple(index for index, _ in run),
            extra={"edits": [edit.get("replacement") for _, edit in run]},
        )

    def warnings(self) -> tuple[str, ...]:
        """Return a warning if edits are ignored."""
        edits = sum(item["type"] == EDIT for _, item in self.records)
        ignored = edits - len(self.runs) - len(self.joined)
        if not ignored:
            return ()
        verb = "is" if ignored == 1 else "are"
        return (f"{plural(ignored, 'later edit')} of messages {verb} ignored: the original text counts",)


def _read_calls(records: Sequence[tuple[Source, Json]], names: Sequence[str]) -> dict[str, str]:
    """Return the call of each output, by the output's id; empty if the file contains no edit."""
    if all(item["type"] != EDIT for _, item in records):
        return {}
    outputs = (
        (name, item["message"].get("toolCallId"))
        for name, (_, item) in zip(names, records, strict=True)
        if item["type"] == "message" and item["message"].get("role") == "toolResult"
    )
    return {name: call for name, call in outputs if isinstance(call, str)}


def _find_runs(
    records: Sequence[tuple[Source, Json]], names: Sequence[str], called: dict[str, str]
) -> dict[int, list[int]]:
    """Return the edits of outputs. Each joins the edit directly before it if that is its parent."""
    runs: dict[int, list[int]] = {}
    run: list[int] = []
    for position, (_, item) in enumerate(records):
        target = item.get("targetId")
        if item["type"] != EDIT or not isinstance(target, str) or target not in called:
            run = []
        elif run and item.get("parentId") == names[position - 1]:
            run.append(position)
        else:
            run = runs[position] = [position]
    return runs


def _find_spent(records: Sequence[tuple[Source, Json]]) -> set[int]:
    indices: set[int] = set()
    named: set[str] = set()
    for position, (_, item) in enumerate(records):
        if item["type"] != "usage" or not isinstance(item.get("usage"), dict):
            continue
        name = item.get("contributionId")
        if isinstance(name, str):
            if name in named:
                continue
            named.add(name)
        indices.add(position)
    return indices


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
            fields = Fields(item, "id", "parentId")
            identity = {
                "id": names[index],
                "parent": parent,
                "timestamp": fields.text("timestamp"),
                "aliases": aliases.get(names[index], ()),
            }
            if item["type"] == "compaction":
                entries.append(_read_compaction(fields, source, identity, chain, names))
            else:
                entries.append(_read_entry(fields, source, identity))
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
    return dump_rows(rows), losses
