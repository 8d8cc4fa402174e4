"""Build a session from a harness's log: shared by the readers of such logs.

Most harnesses write rows in order, and each row holds a message or describes one. Every row ends up in an
entry, a note or a corrupt record of the `Session`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import islice
from typing import Any

from ..errors import EmptySession
from ..session.blocks import Image, Number, Text, ToolCall, ToolOutput
from ..session.entries import Boundary, Corrupt, Cost, Entry, Note, Source, Tool, Usage
from ..session.session import Session
from ..session.speakers import judge
from ..text import plural
from .json_document import (
    FILE,
    HEAD,
    SEVERAL,
    Fields,
    ParsedBlock,
    cut_head,
    find_blocks,
    gather,
    is_number,
    iso_time,
    make_parts,
    peek_once,
    sniff_document,
    tell_wordless,
)
from .json_lines import Data, Reader, decode, iter_line_values, iter_lines, lines_reader
from .sealed import ON_DEMAND, THRESHOLD, seal_block

COMPACTION = "compaction"
"""The type of the block in which Anthropic's API returns a summary."""
Json = dict[str, Any]
TIMES = ("timestamp", "created_at", "createdAt", "created", "time", "ts", "date")
LOOK = 16
"""The number of rows at the beginning that identify a format of lines."""
LOOK_BYTES, LOOK_LEAST = 1 << 22, 3
"""Rows after this number of bytes are not read, except the first few: a header and two messages."""
_remembered_rows: ContextVar[dict[tuple[int, int], tuple[Data, list[Json]]] | None] = ContextVar(
    "_remembered_rows", default=None
)


class Reading:
    """A session while its records are read. A format whose records are taken one by one has a subclass.

    Attributes:
        source: The source of the current record, until an entry, a note or a corrupt record has it.
        time: The time of the current record, which its entries have.
        times: The times of the records, if the reader adds them.
        tip: The entry that the next one follows, unless it names its parent.
        line: The entries of the path, or of the context if the format's compactions name what they keep.
        names: The name of the tool of each call.
        about: Fields of the session that stand around its records.
    """

    format = ""

    def __init__(self, format: str = "") -> None:
        self.format = format or self.format
        self.entries: list[Entry] = []
        self.notes: list[Note] = []
        self.corrupt: list[Corrupt] = []
        self.warnings: list[str] = []
        self.source: Source | None = None
        self.time: str | None = None
        self.times: list[str] = []
        self.tip: str | None = None
        self.line: list[str] = []
        self.names: dict[str, str] = {}
        self.model: str | None = None
        self.window: int | None = None
        self.system: list[Text | Image] = []
        self.tools: tuple[Tool, ...] = ()
        self.about: Json = {}
        self.where: dict[str, int] = {}
        self._numbers: dict[str, int] = {}

    def __getitem__(self, name: str) -> Entry:
        return self.entries[self.where[name]]

    @property
    def last(self) -> str | None:
        """Return the id of the entry added last."""
        return self.entries[-1].id if self.entries else None

    def name(self, preferred: str) -> str:
        """Return an unused id: the preferred one, or the preferred one with a number."""
        name, number = preferred, self._numbers.get(preferred, 1)
        while name in self.where:
            number += 1
            name = f"{preferred}.{number}"
        if number > 1:
            # If all rows have the same id, do not try the used numbers again.
            self._numbers[preferred] = number
        return name

    def add(
        self,
        name: str,
        role: str,
        parsed_blocks: Iterable[ParsedBlock],
        extra: Json | None = None,
        **more: Any,
    ) -> Entry:
        """Add a message: its blocks with the unread fields of their JSON, and the unread fields of its row.

        `more` are other fields of the entry. The first entry of a record has its `source`, unless `more` has
        one, or None.

        A user's message that the harness wrote is recognised by its tags, unless `meta` is given. A reply in
        which Anthropic's API compacted is split into several entries; the last one is returned.
        """
        if role == "assistant" and more.get("kind", "message") == "message":
            parsed_blocks = list(parsed_blocks)
            index = next(
                (
                    i
                    for i in reversed(range(len(parsed_blocks)))
                    if parsed_blocks[i][1].get("type") == COMPACTION
                ),
                -1,
            )
            if index >= 0:
                return self._add_compacted(name, parsed_blocks, index, extra, more)
        blocks, rest = gather(parsed_blocks)
        if role == "user" and blocks and all(isinstance(block, ToolOutput) for block in blocks):
            role = "tool"
        if role == "user" and "meta" not in more and more.get("kind", "message") == "message":
            speech = judge(blocks)
            more["meta"], rest = speech.meta, rest | speech.extra
        more.setdefault("parent", self.tip)
        more.setdefault("timestamp", self.time)
        source = more.pop("source") if "source" in more else self.take_source()
        sources = () if source is None else (source,)
        extra = (extra or {}) | rest
        entry = Entry(id=self.name(name), role=role, blocks=blocks, sources=sources, extra=extra, **more)
        self.where[entry.id] = len(self.entries)
        self.entries.append(entry)
        if entry.sidechain is None:
            self.line.append(entry.id)
            self.tip = entry.id
        return entry

    def take_source(self) -> Source | None:
        """Return the source of the current record, once."""
        source, self.source = self.source, None
        return source

    def cut(self, index: int) -> None:
        """Remove the entries from an index on from the path."""
        del self.line[index:]
        self.tip = self.line[-1] if self.line else None

    def _add_compacted(
        self, name: str, blocks: list[ParsedBlock], index: int, extra: Json | None, more: Json
    ) -> Entry:
        """Add the blocks before a compaction block, its summary, and the blocks after it."""
        block, rest = blocks[index]
        betas = (THRESHOLD,) if self.entries or index else (ON_DEMAND,)
        raw = {**rest, "content": block.text}
        boundary = Boundary(summary=block.text, extra=seal_block(raw, betas, more.get("model")))
        compaction: Json = {"kind": "compaction", "boundary": boundary}
        self.source = more.pop("source", self.source)
        part: Json = {key: more[key] for key in ("parent", "timestamp", "model", "provider") if key in more}
        if index:
            part["parent"] = self.add(name, "assistant", blocks[:index], **part).id
        summary: list[ParsedBlock] = [(block, {})]
        after = blocks[index + 1 :]
        if not after:
            return self.add(name, "assistant", summary, extra, **{**more, **part, **compaction})
        part["parent"] = self.add(name, "assistant", summary, **part, **compaction).id
        return self.add(name, "assistant", after, extra, **{**more, **part})

    def compact(
        self,
        name: str,
        summary: str | None,
        boundary: Json,
        parsed_blocks: list[ParsedBlock] | None = None,
        **more: Any,
    ) -> Entry:
        """Add a compaction with these fields of its boundary, and `more` of its entry.

        `summary` is the text as it is shown to the model, None or "" if it is encrypted or missing. Without
        `parsed_blocks`, it is the whole content.
        """
        if parsed_blocks is None:
            parsed_blocks = [(Text(text=summary), {})] if summary else []
        extra = more.pop("extra", {})
        kind = "micro" if boundary.get("kind") == "micro" else "compaction"
        more |= {"kind": kind, "boundary": Boundary(**boundary)}
        return self.add(name, "user", parsed_blocks, extra, **more)

    def clear(self, name: str, calls: Iterable[str], **more: Any) -> Entry:
        """Add a compaction that only cleared the outputs of these calls."""
        return self.compact(name, None, {"kind": "micro", "cleared": tuple(calls)}, **more)

    def change(self, name: str, **fields: Any) -> Entry:
        """Change fields of an entry that was added."""
        index = self.where[name]
        self.entries[index] = self.entries[index].model_copy(update=fields)
        return self.entries[index]

    def extend(self, name: str, parsed_blocks: Sequence[ParsedBlock], source: Source, **fields: Any) -> Entry:
        """Add the blocks of another record to an entry, and change other fields of it."""
        entry = self[name]
        old = entry.extra.get("blocks", {})
        new = {str(at): rest for at, (_, rest) in enumerate(parsed_blocks, len(entry.blocks)) if rest}
        return self.change(
            name,
            blocks=(*entry.blocks, *(block for block, _ in parsed_blocks)),
            sources=(*entry.sources, source),
            extra=entry.extra | ({"blocks": old | new} if new else {}),
            **fields,
        )

    def also(self, name: str, source: Source) -> None:
        """Add another record to the sources of an entry."""
        self.change(name, sources=(*self[name].sources, source))

    def note(self, kind: str, source: Source | None = None, *, is_known: bool = True) -> None:
        """Count the current record, or the one with this source, as one that is not a message."""
        if (source := source or self.take_source()) is not None:
            self.notes.append(Note(type=kind, known=is_known, source=source))

    def spoil(self, reason: str, source: Source | None = None) -> None:
        """Count the current record, or the one with this source, as one that cannot be read."""
        if (source := source or self.take_source()) is not None:
            self.corrupt.append(Corrupt(line=source.line, offset=source.offset, reason=reason))

    def warn(self, count: int, sentence: str, one: str, many: str = "") -> None:
        """Add a warning about what occurred `count` times, if it did; "{}" stands for the number."""
        if count:
            self.warnings.append(sentence.format(plural(count, one, many)))

    def make_session(self, **fields: Any) -> Session:
        """Build the session. Raises `EmptySession` if there are no messages."""
        count = sum(len(entry.sources) for entry in self.entries) + len(self.notes)
        if not any(entry.kind != "note" for entry in self.entries):
            why = tell_wordless(count, "record", corrupt=self.corrupt)
            raise EmptySession(FILE, [(self.format, "")], why)
        own: Json = {"leaf": self.tip, "model": self.model, "window": self.window, "tools": self.tools}
        if self.times:
            fields |= {"created": self.times[0], "updated": self.times[-1]}
        if fields.get("model", self.model) is None:
            models = (e.model for e in reversed(self.entries) if e.role == "assistant" and e.model)
            fields["model"] = next(models, None)
        lists = {name: tuple(getattr(self, name)) for name in ("entries", "notes", "corrupt", "warnings")}
        return Session(**{"format": self.format, "system": tuple(self.system), **own, **fields, **lists})

    def take(self, source: Source, record: Any) -> None:
        """Read the next record."""
        raise NotImplementedError

    def read(self, records: Iterable[tuple[Source, Any]]) -> Session:
        """Read all records in order. Raises `EmptySession` if there are no messages."""
        self.feed(records)
        return self.finish()

    def feed(self, records: Iterable[tuple[Source, Any]]) -> None:
        """Read some of the records."""
        for source, record in records:
            self.source, self.time = source, None
            self.take(source, record)
        self.source = self.time = None

    def finish(self) -> Session:
        """Build the session after the last record. Raises `EmptySession` if there are no messages."""
        return self.make_session(**self.about)


class JsonRows:
    """The rows of a JSON Lines file. A subclass for each format implements `make_session`."""

    def __init__(self) -> None:
        self.rows: list[tuple[Source, Json]] = []
        self.corrupt: list[Corrupt] = []
        self.goes_on = True

    def take(self, source: Source, line: memoryview) -> None:
        """Read the next line: an object, or a corrupt record."""
        try:
            row = decode(line)
            reason = self.find_fault(row)
        except ValueError as error:
            reason = "several JSON values on one line" if "Extra data" in str(error) else str(error)
        if reason is None:
            self.rows.append((source, row))
        else:
            self.corrupt.append(Corrupt(line=source.line, offset=source.offset, reason=reason))

    def find_fault(self, row: Any) -> str | None:
        """Return why a value is not a row of the format, or None."""
        return None if isinstance(row, dict) else "not a JSON object"

    def check_last(self, source: Source) -> None:
        """Do nothing: the last line is read like any other."""

    def make_session(self) -> Session:
        """Build the session from the rows. Raises `EmptySession` if none of them is a message."""
        raise NotImplementedError


class ReplayedRows(JsonRows):
    """Rows that are read from the first on each time a session is built: more may follow."""

    def __init__(self, reading: Callable[[], Reading]) -> None:
        super().__init__()
        self.reading = reading

    def make_session(self) -> Session:
        reading = self.reading()
        reading.corrupt = list(self.corrupt)
        return reading.read(self.rows)


def replayed_reader(
    name: str, title: str, sniff: Callable[[Data], str | None], begin: Callable[[], Reading], **more: Any
) -> Reader:
    """Return the reader of a format of rows; `begin` starts to read a session."""
    return lines_reader(name, title, sniff, partial(ReplayedRows, begin), **more)


def sniff_records(
    data: Data, judge: Callable[[Any], str | None], judge_rows: Callable[[list[Json]], str | None]
) -> str | None:
    """Return the result of `judge` for a document, or that of `judge_rows` for a file of lines."""
    reason = sniff_document(data, judge)
    return judge_rows(first_rows(data)) if reason is not None and SEVERAL in reason else reason


def are_lines(data: Data, judge: Callable[[Any], str | None]) -> bool:
    """Return whether a file that was recognised as records has lines, and not one document."""
    return len(first_rows(data, 2)) > 1 and sniff_document(data, judge) is not None


def first_rows(data: Data, count: int = LOOK) -> list[Json]:
    """Return the first rows of a file of lines that are objects, of any length; other lines are skipped.

    At most `count` lines are read: those that begin in the first `LOOK_BYTES`, and at least `LOOK_LEAST`.
    """
    remembered = _remembered_rows.get()
    if remembered is not None and (id(data), count) in remembered:
        return remembered[id(data), count][1]
    rows: list[Json] = []
    lines = list(islice(iter_lines(data), 2))
    if len(lines) == 1 and lines[0][0].size > HEAD:
        # Probably a document. It is not decoded completely to find its format.
        value, _ = peek_once(cut_head(data), False)
        return [value] if isinstance(value, dict) else []
    for number, values in enumerate(iter_line_values(data, []), 1):
        rows += [value for _, value in values if isinstance(value, dict)]
        far = bool(values) and values[-1][0].offset + values[-1][0].size > LOOK_BYTES
        if max(number, len(rows)) >= count or (far and number >= LOOK_LEAST):
            break
    del rows[count:]
    if remembered is not None:
        remembered[id(data), count] = data, rows
    return rows


@contextmanager
def remember_rows() -> Iterator[None]:
    """Decode the first rows only once for all readers within this block."""
    if _remembered_rows.get() is not None:
        yield
        return
    token = _remembered_rows.set({})
    try:
        yield
    finally:
        _remembered_rows.reset(token)


def make_output(
    call: str,
    content: Any,
    read_block: Callable[[Any], ParsedBlock],
    name: str | None = None,
    *,
    failed: bool = False,
) -> ParsedBlock:
    """Convert a tool's result: text, a list of blocks, or any other JSON value."""
    parts, rest = make_parts(find_blocks(content, read_block))
    return ToolOutput(call_id=call, name=name, parts=parts, is_error=failed), rest


FigureNames = str | tuple[str, ...]
"""A figure's name, `a/b` for the figure b in the object a; or its names, the first that is not 0 counts."""


def read_inclusive(
    raw: Any,
    sent: FigureNames,
    output: FigureNames,
    read: FigureNames = (),
    written: FigureNames = (),
    total: FigureNames = (),
    *,
    thoughts: FigureNames = (),
    cost: Any = None,
    inclusive: bool = True,
) -> Usage | None:
    """Return usage from figures whose input includes cached tokens; None without input and output.

    The other arguments name the figures in `raw`. `thoughts` are output that `output` does not include,
    `cost` is the cost that the file states. If not `inclusive`, the input excludes cached tokens.

    >>> read_inclusive({"in": 100, "cache": {"read": 60}, "out": 7}, "in", "out", "cache/read").cache_read
    60
    """
    prompt, replied = find_figure(raw, sent), find_figure(raw, output)
    if prompt is None and replied is None:
        return None
    cached, stored = find_figure(raw, read) or 0, find_figure(raw, written) or 0
    return Usage(
        input=max((prompt or 0) - cached - stored, 0) if inclusive else prompt or 0,
        output=(replied or 0) + (find_figure(raw, thoughts) or 0),
        cache_read=cached,
        cache_write=stored,
        total=find_figure(raw, total),
        cost=make_cost(cost),
    )


def find_figure(raw: Any, names: FigureNames) -> Number | None:
    """Return the first of these figures that is not 0; 0 if all are 0, None if there are none.

    >>> find_figure({"input": 0, "prompt": {"tokens": 9}}, ("input", "prompt/tokens"))
    9
    """
    figures: list[Number] = []
    for name in (names,) if isinstance(names, str) else names:
        *way, last = name.split("/")
        holder = raw
        for key in way:
            holder = Fields(holder).rest.get(key)
        value: Any = holder.get(last) if isinstance(holder, dict) else None
        if is_number(value):
            figures.append(value)
    return next(filter(None, figures), figures[0] if figures else None)


def make_call(names: dict[str, str], call: str, name: str, arguments: Any) -> ToolCall:
    """Return a call whose arguments may be JSON text, and note the name of its tool."""
    names[call] = name
    return ToolCall(id=call, name=name, input=parse_arguments(arguments))


def take_time(fields: Fields) -> str | None:
    """Return the time of a message, under any of its usual names. A number also stays in the fields.

    >>> take_time(Fields({"created_at": "2026-05-01T08:00:00Z"})), take_time(Fields({"ts": 1750000000}))
    ('2026-05-01T08:00:00Z', '2025-06-15T15:06:40.000Z')
    """
    for name in TIMES:
        value = fields.rest.get(name)
        if isinstance(value, str):
            return fields.text(name)
        if isinstance(value, int | float) and is_number(value) and value > 0:
            stamp = iso_time(value * 1000 if value < 1e11 else value)
            if stamp is not None:
                return stamp
    return None


def make_cost(value: Any) -> Cost | None:
    """Return the cost of a reply, if the value is a number."""
    return Cost(total=value) if is_number(value) else None


def parse_arguments(text: Any) -> Any:
    """Return the input of a call from a JSON string; text that is not JSON is returned under `input`.

    >>> parse_arguments('{"path": "a"}'), parse_arguments("*** Begin Patch")
    ({'path': 'a'}, {'input': '*** Begin Patch'})
    """
    if not isinstance(text, str):
        return text
    try:
        value = decode(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return {"input": text}
    return value if isinstance(value, dict | list) else {"input": text}
