"""What readers of JSON documents share: a look at the beginning, and taking objects apart without loss.

Whatever a transcript holds is untrusted: a field may be missing, null or of another type. `Fields` hands
out a value only when it has the type asked for, and keeps everything else, so nothing is lost silently.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar, cast

from ..errors import EmptySession, ReadError
from ..session.blocks import Block, Document, Image, Number, Part, Text, ToolOutput, Unknown
from ..session.entries import Corrupt, Cost, Entry, Note, Source, Usage
from .json_lines import BOM, Data, decode, decode_document, iter_lines

FILE = "the file"
"""What a reader calls what it reads: only doors know names."""
HEAD = 1 << 20
NO_DOCUMENT = "not one JSON document"
SEVERAL = f"{NO_DOCUMENT}: it holds several JSON values"
_MAX = sys.float_info.max
T = TypeVar("T")
_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{]+|[\]}]+|[",]', re.DOTALL)
_CLOSERS = str.maketrans("{[", "}]")

Found = tuple[Block, dict[str, Any]]
"""A block, and what its JSON held besides."""


def place(index: int) -> Source:
    """Where an element of a JSON document stands: its 1-based place, at no known offset (-1) and size (0)."""
    return Source(index, -1, 0)


def load(data: Data) -> Any:
    """A whole JSON document. Raises `ReadError`."""
    try:
        return decode_document(data)
    except ValueError as error:
        raise ReadError(FILE, detail=_several(str(error))) from None


def tell_wordless(count: int, one: str, many: str = "", corrupt: Sequence[Corrupt] = ()) -> str:
    """What there is where nobody says anything; where lines could not be read, why not.

    >>> tell_wordless(1, "record"), tell_wordless(2_000, "entry", "entries")
    ('its only record is no message', 'none of its 2,000 entries is a message')
    >>> tell_wordless(3, "record", corrupt=[Corrupt(line=7, offset=90, reason="not UTF-8 at byte 4")])
    'line 7 cannot be read: not UTF-8 at byte 4'
    """
    many = many or f"{one}s"
    if corrupt:
        more = f", and {len(corrupt) - 1:,} more" if len(corrupt) > 1 else ""
        return f"line {corrupt[0].line:,} cannot be read: {corrupt[0].reason}{more}"
    return f"its only {one} is no message" if count == 1 else f"none of its {count:,} {many} is a message"


def sniff_document(data: Data, judge: Callable[[Any], str | None]) -> str | None:
    """Return the result of `judge` for the beginning of the document, or the reason why there is none."""
    head = cut_head(data)
    if len(head) == HEAD and b"\n" not in head and _holds_lines(data):
        return SEVERAL
    value, reason = peek_once(head, len(head) == len(memoryview(data)))
    return reason or judge(value)


def _holds_lines(data: Data) -> bool:
    """Whether the first two lines are separate objects, judged by their brackets."""
    lines = [bytes(line[:1]) + bytes(line[-2:]).rstrip()[-1:] for _, line in islice(iter_lines(data), 2)]
    return len(lines) == 2 and lines[0] == b"{}" and lines[1][:1] == b"{"


def cut_head(data: Data) -> bytes:
    """Return the first `HEAD` bytes. A small file is not copied again for each reader."""
    return data[:HEAD] if isinstance(data, bytes) else bytes(memoryview(data)[:HEAD])


def peek(head: bytes, whole: bool) -> Any:
    """A JSON document from its first bytes: what is not complete in them is left out.

    Raises `ValueError` with a short reason.

    >>> peek(b'[{"a": 1}, {"b": 2, "c": "and so o', whole=False)
    [{'a': 1}, {'b': 2}]
    """
    head = head.removeprefix(BOM)
    if not head.strip():
        raise ValueError("it is empty")
    return decode(head if whole else _close(head))


@lru_cache(maxsize=1)
def peek_once(head: bytes, whole: bool) -> tuple[Any, str]:
    """`peek`, or why not, for all who ask about one file after each other; none changes the value."""
    try:
        return peek(head, whole), ""
    except ValueError as error:
        return None, f"{NO_DOCUMENT}: {_several(str(error))}"


def _several(reason: str) -> str:
    return "it holds several JSON values" if "Extra data" in reason else reason


def _close(head: bytes) -> bytes:
    """The beginning of a document made whole: cut after the last complete element, its brackets closed."""
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
    # Strings change no brackets, so those still open are the ones that were open at the last place to end.
    return (text[:end] + "".join(reversed(closers))).encode("utf-8")


class Fields:
    """A JSON object being taken apart; what nobody took stays in `rest`.

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
        """A list of nothing but strings, else an empty tuple."""
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


def is_number(value: Any) -> bool:
    """Whether it is a finite number, and no integer beyond all floats; a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _MAX


def gather(found: Iterable[Found]) -> tuple[tuple[Block, ...], dict[str, Any]]:
    """Blocks, and what their JSON held besides under the block's index, as `{"blocks": {"0": …}}` or `{}`."""
    pairs = list(found)
    rest = {str(index): more for index, (_, more) in enumerate(pairs) if more}
    return tuple(block for block, _ in pairs), {"blocks": rest} if rest else {}


def find_blocks(content: Any, read_block: Callable[[Any], Found]) -> list[Found]:
    """The blocks of a message's content: a string is one text block, null is none."""
    if content is None:
        return []
    if isinstance(content, str):
        return [(Text(text=content), {})]
    if isinstance(content, list):
        return [read_block(item) for item in content]
    return [unknown(content, "content")]


def unknown(raw: Any, name: str = "") -> Found:
    """A block no reader knows, with its own `type` when it tells one."""
    kind = raw.get("type") if isinstance(raw, dict) else None
    return Unknown(type=kind if isinstance(kind, str) else name, raw=raw), {}


def make_parts(found: Iterable[Found]) -> tuple[tuple[Part, ...], dict[str, Any]]:
    """The blocks as parts of a tool's output, and what their JSON held besides."""
    blocks, rest = gather(found)
    return tuple(_part(block) for block in blocks), rest


def _part(block: Block) -> Part:
    if isinstance(block, Text | Image | Document | Unknown):
        return block
    return Unknown(type=block.kind, raw=block.model_dump())


def only_outputs(found: list[Found]) -> list[Found]:
    """The blocks of a tool's message: an entry of role tool holds nothing else than outputs.

    What is none becomes the output of a call without a name (`call_id` is empty).
    """
    return [
        pair
        if isinstance(pair[0], ToolOutput)
        else (ToolOutput(call_id="", parts=(_part(pair[0]),)), pair[1])
        for pair in found
    ]


def read_messages(
    messages: Iterable[Any],
    read_block: Callable[[Any], Found],
    name: str,
    roles: Sequence[str] = (),
    key: str = "",
) -> dict[str, Any]:
    """The messages of a list as fields of a session of the format `name`: one entry each, in a line.

    Only those of these `roles` are read, of any without. `key` is the field that names a message; one that
    has no name is "m" and its number. Raises `EmptySession` where nobody says anything.
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
        found = find_blocks(fields.any("content"), read_block)
        blocks, more = gather(only_outputs(found) if role == "tool" else found)
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
    """What is left of an entry and of the message in it; a name both use is told apart by `message.`.

    >>> merge({"source": "shell", "id": 1}, {"api": "x", "id": 2})
    {'source': 'shell', 'id': 1, 'api': 'x', 'message.id': 2}
    """
    return entry | {(f"message.{name}" if name in entry else name): value for name, value in message.items()}


def make_usage(fields: Fields, name: str, keys: tuple[str, str, str, str, str]) -> Usage | None:
    """Take the usage object `name`; `keys` name input, output, cache read, cache write and total.

    What it holds besides (its cost read, if there is one) stays in the fields under `name`.
    """
    raw = fields.object(name)
    if raw is None:
        return None
    inner = Fields(raw)
    given, output, read, write = (_take_tokens(inner, key) or 0 for key in keys[:4])
    total, cost = _take_tokens(inner, keys[4]), _take_cost(inner, keys)
    usage = Usage(input=given, output=output, cache_read=read, cache_write=write, total=total, cost=cost)
    if inner.rest:
        fields.rest[name] = inner.rest
    return usage


def _take_tokens(usage: Fields, key: str) -> Number | None:
    """A figure; one that is not finite too, for `clear_usage` to tell about, and it stays in the fields."""
    value = usage.number(key)
    odd: Any = usage.rest.get(key)
    return odd if isinstance(odd, int | float) and not isinstance(odd, bool) else value


def _take_cost(usage: Fields, keys: tuple[str, str, str, str, str]) -> Cost | None:
    raw = usage.object("cost")
    if raw is None:
        return None
    inner = Fields(raw)
    given, output, read, write = (inner.number(key) or 0 for key in keys[:4])
    total = inner.number("total") or 0
    cost = Cost(input=given, output=output, cache_read=read, cache_write=write, total=total)
    if inner.rest:
        usage.rest["cost"] = inner.rest
    return cost


def iso_time(milliseconds: Number | None) -> str | None:
    """Milliseconds since 1970 as ISO 8601 in UTC; None when there is no such moment.

    >>> iso_time(1750000000000)
    '2025-06-15T15:06:40.000Z'
    """
    if milliseconds is None:
        return None
    try:
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
