"""Parse JSON documents: look at a beginning, and take objects apart without loss. Shared by the readers.

The content of a transcript is untrusted: a field may be missing, null or of another type. `Fields` returns a
value only if it has the requested type, and keeps everything else, so that nothing is lost silently.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import islice
from typing import Any, TypeVar, cast

from ..errors import EmptySession, ReadError
from ..session.blocks import Block, Document, Image, Number, Part, Text, ToolOutput, Unknown
from ..session.entries import Corrupt, Cost, Entry, Note, Source, Usage
from ..session.garbage import paused_gc
from ..session.session import Session
from .json_lines import BOM, Data, Reader, decode, decode_document, iter_lines

FILE = "the file"
"""Name of the data in errors of a reader: only its callers know file names."""
HEAD = 1 << 20
NO_DOCUMENT = "not one JSON document"
SEVERAL = f"{NO_DOCUMENT}: it holds several JSON values"
_MAX = sys.float_info.max
T = TypeVar("T")
_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{]+|[\]}]+|[",]', re.DOTALL)
_CLOSERS = str.maketrans("{[", "}]")

ParsedBlock = tuple[Block, dict[str, Any]]
"""A block, and the unread fields of its JSON."""


def refuse(why: str) -> ReadError:
    """Return the error of a reader that cannot read a file: only its callers know the file's name."""
    return ReadError(FILE, detail=why)


def place(index: int) -> Source:
    """Return the source of an element of a JSON document: its 1-based index, offset -1 (unknown), size 0."""
    return Source(index, -1, 0)


def placed(items: Iterable[Any]) -> Iterator[tuple[Source, Any]]:
    """Yield the elements of a JSON document, each with its source."""
    return ((place(number), item) for number, item in enumerate(items, 1))


def load(data: Data) -> Any:
    """Parse a whole JSON document. Raises `ReadError`."""
    try:
        return decode_document(data)
    except ValueError as error:
        raise refuse(_several(str(error))) from None


def tell_wordless(count: int, singular: str, many: str = "", corrupt: Sequence[Corrupt] = ()) -> str:
    """Explain why there are no messages: what the data contains, or why its lines could not be read.

    >>> tell_wordless(1, "record"), tell_wordless(2_000, "entry", "entries")
    ('its only record is not a message', 'none of its 2,000 entries is a message')
    >>> tell_wordless(3, "record", corrupt=[Corrupt(line=7, offset=90, reason="not UTF-8 at byte 4")])
    'line 7 cannot be read: not UTF-8 at byte 4'
    """
    many = many or f"{singular}s"
    if corrupt:
        more = f", and {len(corrupt) - 1:,} more" if len(corrupt) > 1 else ""
        return f"line {corrupt[0].line:,} cannot be read: {corrupt[0].reason}{more}"
    return (
        f"its only {singular} is not a message"
        if count == 1
        else f"none of its {count:,} {many} is a message"
    )


_KINDS: dict[type, str] = {list: "list", dict: "object"}


def find_lack(value: Any, **kinds: type) -> str:
    """Return why a value is not an object that has these lists and objects; "" if it is.

    >>> find_lack([]), find_lack({"steps": 7}, steps=list), find_lack({"steps": []}, steps=list)
    ('not a JSON object', 'it has no list `steps`', '')
    """
    if not isinstance(value, dict):
        return "not a JSON object"
    lack = next((name for name, kind in kinds.items() if not isinstance(value.get(name), kind)), None)
    return "" if lack is None else f"it has no {_KINDS[kinds[lack]]} `{lack}`"


def load_object(data: Data, **kinds: type) -> dict[str, Any]:
    """Parse a document that is an object with these lists and objects. Raises `ReadError`."""
    document = load(data)
    if reason := find_lack(document, **kinds):
        raise refuse(reason)
    return cast("dict[str, Any]", document)


def load_other(data: Data) -> Any:
    """Parse another file of a session; None if it is broken."""
    try:
        return load(data)
    except ReadError:
        return None


def sniff_document(data: Data, judge: Callable[[Any], str | None]) -> str | None:
    """Return the result of `judge` for the beginning of the document, or the reason for its absence."""
    head = cut_head(data)
    if len(head) == HEAD and b"\n" not in head and _holds_lines(data):
        return SEVERAL
    value, reason = peek_once(head, len(head) == len(memoryview(data)))
    return reason or judge(value)


def document_reader(
    name: str, title: str, judge: Callable[[Any], str | None], build: Callable[[Any], Session], **more: Any
) -> Reader:
    """Return the reader of a format of one JSON document, from which `build` makes the session.

    `judge` returns None for the beginning of a document of the format, else the reason why it is not one.
    """

    def read(data: Data) -> Session:
        with paused_gc():
            return build(load(data))

    return Reader(name, title, partial(sniff_document, judge=judge), read, **more)


def _holds_lines(data: Data) -> bool:
    """Return whether the first two lines are separate objects, judged by their brackets."""
    lines = [bytes(line[:1]) + bytes(line[-2:]).rstrip()[-1:] for _, line in islice(iter_lines(data), 2)]
    return len(lines) == 2 and lines[0] == b"{}" and lines[1][:1] == b"{"


def cut_head(data: Data) -> bytes:
    """Return the first `HEAD` bytes. A small file is not copied again for each reader."""
    return data[:HEAD] if isinstance(data, bytes) else bytes(memoryview(data)[:HEAD])


def peek(head: bytes, whole: bool) -> Any:
    """Parse a JSON document from its first bytes, without the elements that are incomplete.

    Raises `ValueError` with a short reason.

    >>> peek(b'[{"a": 1}, {"b": 2, "c": "and so o', whole=False)
    [{'a': 1}, {'b': 2}]
    """
    head = head.removeprefix(BOM)
    if not head.strip():
        raise ValueError("it is empty")
    return decode(head if whole else close_head(head))


@lru_cache(maxsize=1)
def peek_once(head: bytes, whole: bool) -> tuple[Any, str]:
    """Return the result of `peek`, or the reason of its error. Cached: all readers look at the same file."""
    try:
        return peek(head, whole), ""
    except ValueError as error:
        return None, f"{NO_DOCUMENT}: {_several(str(error))}"


def _several(reason: str) -> str:
    return "it holds several JSON values" if "Extra data" in reason else reason


def close_head(head: bytes) -> bytes:
    """Complete the beginning of a document: cut it after the last complete element and close its brackets.

    Raises `ValueError` with a short reason if it is not the beginning of one document.
    """
    text = head.decode("utf-8", "replace")
    closers: list[str] = []
    end = 0
    for mark in _MARK.finditer(text):
        signs = mark.group()
        char = signs[0]
        if char in "{[":
            closers += signs.translate(_CLOSERS)
        elif char in "}]":
            open_ones = closers[: -len(signs) - 1 : -1]
            if open_ones != list(signs[: len(open_ones)]) or not open_ones:
                raise ValueError(f"its brackets do not match at character {mark.start()}")
            del closers[-len(signs) :]
            if not closers and text[mark.start() + len(open_ones) :].strip():
                raise ValueError("it holds several JSON values")
        elif char == '"':
            if len(signs) == 1:
                break
            continue
        end = mark.start() if char == "," else mark.end()
    # Brackets inside strings are not counted, so the open ones are those at the last complete element.
    return (text[:end] + "".join(reversed(closers))).encode("utf-8")


class Fields:
    """A JSON object whose fields are taken one by one; `rest` has the fields that were not taken.

    >>> fields = Fields({"role": "user", "content": 7, "name": None})
    >>> fields.text("role"), fields.text("content"), fields.text("name"), fields.rest
    ('user', None, None, {'content': 7})
    """

    __slots__ = ("rest",)

    def __init__(self, value: Any, *without: str) -> None:
        self.rest: dict[str, Any] = dict(value) if isinstance(value, dict) else {}
        for name in without:
            self.rest.pop(name, None)

    def text(self, name: str) -> str | None:
        return self._take(name, str)

    def number(self, name: str) -> Number | None:
        value: Any = self.rest.get(name)
        if value is None or is_number(value):
            self.rest.pop(name, None)
            return cast("Number | None", value)
        return None

    def flag(self, name: str) -> bool | None:
        return self._take(name, bool)

    def items(self, name: str) -> list[Any] | None:
        return self._take(name, list)

    def object(self, name: str) -> dict[str, Any] | None:
        return self._take(name, dict)

    def strings(self, name: str) -> tuple[str, ...]:
        """Return a list that contains only strings, else an empty tuple."""
        value = self.rest.get(name)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            del self.rest[name]
            return tuple(value)
        return ()

    def any(self, name: str) -> Any:
        return self.rest.pop(name, None)

    def _take(self, name: str, kind: type[T]) -> T | None:
        value = self.rest.get(name)
        if isinstance(value, kind):
            del self.rest[name]
            return value
        if value is None:
            self.rest.pop(name, None)
        return None


def list_objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; empty if the value is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number in the range of floats, and not a boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _MAX


def gather(parsed_blocks: Iterable[ParsedBlock]) -> tuple[tuple[Block, ...], dict[str, Any]]:
    """Return the blocks, and the unread fields by block index as `{"blocks": {"0": …}}`, or `{}` if none."""
    pairs = list(parsed_blocks)
    rest = {str(index): more for index, (_, more) in enumerate(pairs) if more}
    return tuple(block for block, _ in pairs), {"blocks": rest} if rest else {}


def find_blocks(content: Any, read_block: Callable[[Any], ParsedBlock]) -> list[ParsedBlock]:
    """Convert a message's content to blocks: a string is one text block, null is not a block."""
    if content is None:
        return []
    if isinstance(content, str):
        return [(Text(text=content), {})]
    if isinstance(content, list):
        return [read_block(item) for item in content]
    return [unknown(content, "content")]


def join_texts(parsed_blocks: Iterable[ParsedBlock]) -> str:
    """Return the texts among the blocks, one per line."""
    return "\n".join(block.text for block, _ in parsed_blocks if block.kind == "text")


def unknown(raw: Any, name: str = "") -> ParsedBlock:
    """Return a block of unknown type, with the `type` of its JSON if there is one."""
    kind = raw.get("type") if isinstance(raw, dict) else None
    return Unknown(type=kind if isinstance(kind, str) else name, raw=raw), {}


def make_parts(parsed_blocks: Iterable[ParsedBlock]) -> tuple[tuple[Part, ...], dict[str, Any]]:
    """Return the blocks as parts of a tool's output, and the unread fields of their JSON."""
    blocks, rest = gather(parsed_blocks)
    return tuple(_part(block) for block in blocks), rest


def _part(block: Block) -> Part:
    if isinstance(block, Text | Image | Document | Unknown):
        return block
    return Unknown(type=block.kind, raw=block.model_dump())


def only_outputs(parsed_blocks: list[ParsedBlock]) -> list[ParsedBlock]:
    """Return the blocks of a tool's message as outputs: an entry of role `tool` contains nothing else.

    Any other block becomes the output of a call without a name (`call_id` is empty).
    """
    return [
        pair
        if isinstance(pair[0], ToolOutput)
        else (ToolOutput(call_id="", parts=(_part(pair[0]),)), pair[1])
        for pair in parsed_blocks
    ]


def read_messages(
    messages: Iterable[Any],
    read_block: Callable[[Any], ParsedBlock],
    name: str,
    roles: Sequence[str] = (),
    key: str = "",
) -> dict[str, Any]:
    """Read a list of messages of the format `name` as fields of a session: one entry each, in order.

    Messages of other roles than `roles`, if there are any, become notes. `key` is the field with a message's
    id; without one, it is "m" and the message's number. Raises `EmptySession` if there are no messages.
    """
    entries: list[Entry] = []
    notes: list[Note] = []
    corrupt: list[Corrupt] = []
    for line, raw in enumerate(messages, 1):
        if not isinstance(raw, dict):
            corrupt.append(Corrupt(line=line, offset=-1, reason="a message that is not an object"))
            continue
        fields = Fields(raw)
        role = fields.text("role")
        if role not in roles if roles else role is None:
            what = f"message of role {role}" if role else "message without a role"
            notes.append(Note(type=what, known=False, source=place(line)))
            continue
        parsed_blocks = find_blocks(fields.any("content"), read_block)
        if fields.rest.get("tool_calls"):
            # Calls in OpenAI's form, which none of these formats has.
            parsed_blocks.append(unknown(fields.any("tool_calls"), "tool_calls"))
        blocks, more = gather(only_outputs(parsed_blocks) if role == "tool" else parsed_blocks)
        entry = Entry(
            id=(fields.text(key) if key else None) or f"m{line}",
            parent=entries[-1].id if entries else None,
            role=role or "user",
            blocks=blocks,
            sources=(place(line),),
            extra=fields.rest | more,
        )
        entries.append(entry)
    if not entries:
        raise EmptySession(FILE, [(name, "")])
    return {
        "format": name,
        "entries": tuple(entries),
        "leaf": entries[-1].id,
        "notes": tuple(notes),
        "corrupt": tuple(corrupt),
    }


def merge(entry: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    """Merge the unread fields of an entry and of its message; duplicate names get the prefix `message.`.

    >>> merge({"source": "shell", "id": 1}, {"api": "x", "id": 2})
    {'source': 'shell', 'id': 1, 'api': 'x', 'message.id': 2}
    """
    return entry | {(f"message.{name}" if name in entry else name): value for name, value in message.items()}


def make_usage(fields: Fields, keys: tuple[str, str, str, str, str]) -> Usage | None:
    """Take the object `usage`; `keys` name input, output, cache read, cache write and total.

    Its other fields stay in `fields`. Its cost is read if there is one.
    """
    raw = fields.object("usage")
    if raw is None:
        return None
    inner = Fields(raw)
    prompt, output, read, write = (_take_tokens(inner, key) or 0 for key in keys[:4])
    total, cost = _take_tokens(inner, keys[4]), _take_cost(inner, keys)
    usage = Usage(input=prompt, output=output, cache_read=read, cache_write=write, total=total, cost=cost)
    if inner.rest:
        fields.rest["usage"] = inner.rest
    return usage


def _take_tokens(usage: Fields, key: str) -> Number | None:
    """Return a figure. One that is not finite is returned too, but stays in the fields for `clear_usage`."""
    value = usage.number(key)
    odd: Any = usage.rest.get(key)
    return odd if isinstance(odd, int | float) and not isinstance(odd, bool) else value


def _take_cost(usage: Fields, keys: tuple[str, str, str, str, str]) -> Cost | None:
    raw = usage.object("cost")
    if raw is None:
        return None
    inner = Fields(raw)
    prompt, output, read, write = (inner.number(key) or 0 for key in keys[:4])
    total = inner.number("total") or 0
    cost = Cost(input=prompt, output=output, cache_read=read, cache_write=write, total=total)
    if inner.rest:
        usage.rest["cost"] = inner.rest
    return cost


def iso_seconds(seconds: Number | None) -> str | None:
    """Convert seconds since 1970 as `iso_time` does."""
    return None if seconds is None else iso_time(seconds * 1000)


def iso_time(milliseconds: Number | None) -> str | None:
    """Convert milliseconds since 1970 to ISO 8601 in UTC; None if the time is out of range.

    >>> iso_time(1750000000000)
    '2025-06-15T15:06:40.000Z'
    """
    if milliseconds is None:
        return None
    try:
        time = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
