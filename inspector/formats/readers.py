"""Read a `Session` from bytes of any format.

The first reader that recognises the content reads it. Readers are tried in the order of `READERS`, then those
that other packages register under the entry point group `inspector.readers`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from ..errors import RECOGNISED, ArgumentError, ClaimedTwice, ReadError, UnreadFormat, expect
from ..mixins import ask
from ..session.blocks import BlockRef, fields_of
from ..session.entries import MOST_TOKENS, Usage, is_tokens
from ..session.json_text import dump_lossless
from ..session.session import Session
from ..text import plural
from . import manifest
from .containers import GZIP, ZIP, ZSTD, unpack
from .exports import hub_rows
from .file_kind import describe_text, name_foreign, recognise
from .harnesses import atif, copilot, deepseek, kimi, stud, swe_agent, vscode_chat
from .harnesses import mini_claude_code as mini
from .harnesses.claude_code import agents as claude_code
from .harnesses.claude_code import stream_json
from .harnesses.cline import read as cline
from .harnesses.codex import read as codex
from .harnesses.gemini import qwen
from .harnesses.gemini import read as gemini
from .harnesses.opencode import read as opencode
from .harnesses.openhands import read as openhands
from .harnesses.openhands import trajectory as openhands_trajectory
from .harnesses.pi import flue
from .harnesses.pi import read as pi
from .json_document import HEAD, cut_head, load, peek_once
from .json_lines import BOM, Data, Reader, spread_list
from .recording import LOOK, remember_rows
from .requests import (
    ai_sdk,
    anthropic_messages,
    chat_exports,
    data_set,
    inspect_log,
    langgraph,
    message_lines,
    pydantic_ai,
    request_log,
    traces,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

DEPTH, NAMES = 2, 32
"""Maximum number of objects around a list of rows, and of fields examined in each."""
_PATH = re.compile(r"[^\n{\[]{1,4096}")
"""One line of text that is not JSON: more likely a file name than content."""
_FIGURES = ("input", "output", "cache_read", "cache_write", "cache_write_1h", "total")


def _spread_rows(data: Data) -> Data:
    """Convert rows to lines if one of `ROWS` reads the lines and none of `READERS` the data itself."""
    head = cut_head(data)
    begin = head.removeprefix(BOM).lstrip()[:1]
    if begin == b"{":
        return _unwrap(data, head)
    if begin != b"[" or any(reader.sniff(data) is None for reader in READERS if reader not in ROWS):
        return data
    beginning = spread_list(head)
    return spread_list(data) if any(reader.sniff(beginning) is None for reader in ROWS) else data


def _unwrap(data: Data, head: bytes) -> Data:
    value, _ = peek_once(head, len(memoryview(data)) <= HEAD)
    way = _find_rows(value, DEPTH)
    if not way or any(reader.sniff(data) is None for reader in READERS):
        return data
    around = load(data)
    *outer, name = way
    holder = around
    for key in outer:
        holder = holder[key]
    rows = holder.pop(name)
    return _dump([*rows, *([] if around in ({}, {way[0]: {}}) else [around])])


def _find_rows(value: Any, depth: int) -> tuple[str, ...]:
    """Return the path of field names to a list of rows, or ()."""
    for name, item in islice(value.items(), NAMES) if isinstance(value, dict) else ():
        if isinstance(item, list) and item and isinstance(item[0], dict):
            beginning = _dump(item[:LOOK])
            if any(reader.sniff(beginning) is None for reader in ROWS):
                return (name,)
        elif isinstance(item, dict) and depth > 1 and (below := _find_rows(item, depth - 1)):
            return (name, *below)
    return ()


def _dump(rows: Sequence[Any]) -> bytes:
    return b"\n".join(dump_lossless(row).encode("ascii") for row in rows)


def clear_usage(session: Session) -> Session:
    """Set invalid figures of usage to 0 and add one warning; a session without them is returned unchanged.

    >>> from inspector.session.entries import Entry
    >>> odd = Session(format="demo", entries=(Entry(id="a", usage=Usage(input=-1, output=2)),))
    >>> clear_usage(odd).entries[0].usage.input, clear_usage(odd).warnings
    (0, ('1 reported token figure is negative, not finite or far too large; it counts as 0',))
    """
    odd = {
        index: names
        for index, entry in enumerate(session.entries)
        if (usage := fields_of(entry)["usage"]) is not None and (names := _find_odd(usage))
    }
    if not odd:
        return session
    entries = list(session.entries)
    for index, names in odd.items():
        entry = entries[index]
        if entry.usage is not None:
            usage = entry.usage.model_copy(update=dict.fromkeys(names, 0))
            entries[index] = entry.model_copy(update={"usage": usage})
    warning = _warn_of_odd_usage(sum(map(len, odd.values())))
    return session.model_copy(update={"entries": tuple(entries), "warnings": (*session.warnings, warning)})


def read_all(reader: Reader, data: Data, other_files: Mapping[str, Data]) -> Session:
    """Read the session in `data`, together with the contents of its other files by name."""
    together = reader.read_all
    return clear_usage(together(data, other_files) if together and other_files else reader.read(data))


def _find_odd(usage: Usage) -> list[str]:
    figures = fields_of(usage)
    if (
        0 <= figures["input"] <= MOST_TOKENS
        and 0 <= figures["output"] <= MOST_TOKENS
        and 0 <= figures["cache_read"] <= MOST_TOKENS
        and 0 <= figures["cache_write"] <= MOST_TOKENS
        and figures["cache_write_1h"] is figures["total"] is None
    ):
        return []  # the usual case; checking each figure takes three times as long
    return [name for name in _FIGURES if (value := figures[name]) is not None and not is_tokens(value)]


def _warn_of_odd_usage(count: int) -> str:
    figures = plural(count, "reported token figure is", "reported token figures are")
    they = "it counts" if count == 1 else "each counts"
    return f"{figures} negative, not finite or far too large; {they} as 0"


GROUP = "inspector.readers"
READERS: tuple[Reader, ...] = (
    manifest.READER,
    claude_code.READER,
    codex.READER,
    stream_json.READER,
    gemini.READER,
    qwen.READER,
    copilot.READER,
    kimi.READER,
    deepseek.READER,
    hub_rows.STS_READER,
    pi.READER,
    flue.READER,
    stud.READER,
    cline.READER,
    inspect_log.READER,
    opencode.READER,
    openhands.READER,
    openhands_trajectory.READER,
    atif.READER,
    swe_agent.READER,
    swe_agent.MINI_READER,
    vscode_chat.READER,
    pydantic_ai.READER,
    ai_sdk.READER,
    chat_exports.CLAUDE_READER,
    chat_exports.CHATGPT_READER,
    langgraph.READER,
    hub_rows.DATACLAW_READER,
    data_set.READER,
    anthropic_messages.READER,
    mini.READER,
    request_log.READER,
    message_lines.READER,
    traces.READER,
)
"""The readers of this package, in the order in which they are tried: the most specific first."""


ROWS = tuple(module.READER for module in (claude_code, codex, stream_json, gemini, qwen, copilot, kimi, pi))
"""Readers of rows that also occur in one JSON list, for example in exports and data sets."""

GENERAL = (anthropic_messages.READER, mini.READER, request_log.READER, message_lines.READER, traces.READER)
"""Readers of files without marks of a harness: several of them may recognise the same file."""


Content = Data | bytearray | str | Mapping[str, Any] | Sequence[Any]
"""The bytes or the text of a file, a parsed document, or a list of messages."""


def read_session(
    data: Content, name: str = "data", format: str | None = None, part: str | None = None
) -> Session:
    """Read the session in `data`.

    Args:
        data: The bytes or the text of a file, one parsed JSON document, or the list of its messages.
        name: Name of the data in errors.
        format: The reader. Without it, the first reader that recognises the data.
        part: Name of one session of an archive or a database with several sessions, or of a session of a
            log or an export other than the first.

    Raises:
        ReadError: No reader recognises the data; the error says what it is.
        ClaimedTwice: Several readers recognise the data.
        SeveralSessions: There are several sessions, and `part` is None.
        EmptySession: The data is a transcript without messages.
        ArgumentError: `data` has another type, for example a path (`open_session` reads files).

    >>> row = b'{"type": "user", "uuid": "u1", "parentUuid": null, "message": {"content": "Hello"}}'
    >>> read_session(row).entries[0].text
    'Hello'
    >>> read_session([{"role": "user", "content": "Hello"}]).entries[0].text
    'Hello'
    """
    expect("read_session", name=(name, str), format=(format, str, None), part=(part, str, None))
    content: Data
    content, name = ask("part", _take_bytes(data), name, part, format, is_file=False)
    reader = find_reader(content, name, format)
    with naming(name, reader):
        return clear_usage(reader.read(content))


def _take_bytes(data: Content) -> Data:
    if isinstance(data, Data | bytearray):
        return bytes(data) if isinstance(data, bytearray) else data
    if isinstance(data, str) and not _PATH.fullmatch(data):
        return data.encode("utf-8", "surrogatepass")
    if isinstance(data, Mapping | list | tuple) and not isinstance(data, BlockRef):
        try:
            return dump_lossless(data).encode("ascii")
        except (TypeError, ValueError):
            raise ArgumentError("read_session", "data", data, "JSON data") from None
    if isinstance(data, Session):
        raise ArgumentError(
            "read_session", "data", data, "bytes, a string or messages (it is a session already)"
        )
    remedy = "bytes, text, a dict or a list of messages (open_session reads a file by its path)"
    raise ArgumentError("read_session", "data", data, remedy)


def unpack_named(data: Data, name: str) -> Data:
    """Unpack gzip, zstd or a zip of one file, and convert rows in a JSON list to lines.

    Other data is returned unchanged. Raises `ReadError` with the name.
    """
    with naming(name):
        return _spread_rows(inspect_log.repack(unpack(data)))


@remember_rows()
def find_reader(data: Data, name: str = "data", format: str | None = None) -> Reader:
    """Return the reader with the name `format`, or the first that recognises the data. Raises `ReadError`.

    Data that is certainly of another kind is offered only to readers of other packages. Raises `ClaimedTwice`
    if two readers of `GENERAL`, or two of other packages, recognise the data.
    """
    kind = name_foreign(data)
    if format is not None:
        return _find_named(format, name, kind)
    tried = [(reader.name, f"it is {kind}") for reader in READERS] if kind else []
    certain = [[reader] for reader in READERS if reader not in GENERAL]
    groups: Iterator[Iterable[Reader]] = chain([] if kind else [*certain, GENERAL], [_load_others(tried)])
    for group in groups:
        claimed: list[Reader] = []
        for reader in group:
            if (reason := reader.sniff(data)) is None:
                claimed.append(reader)
            else:
                tried.append((reader.name, reason))
        if len(claimed) > 1:
            raise ClaimedTwice(name, [reader.name for reader in claimed])
        if claimed:
            return claimed[0]
    if kind:
        raise ReadError(name, tried, f"it is {kind}")
    if known_kind := recognise(data):
        raise UnreadFormat(name, str(known_kind), known_kind.advice, tried)
    description = describe_text(data)
    if description.startswith(("a JSON object with", "a JSON list of objects", "JSON Lines")):
        description += WAY_OUT
    raise ReadError(name, tried, f"it is {description}" if description else "")


WAY_OUT = (
    '. Messages of another form open with read_session([{"role": "user", "content": …}, …]); '
    "format= names one of inspector.formats.READERS"
)
"""Advice for a file of one's own format."""
FOLDER_FILES = tuple(reader.folder_file for reader in READERS if reader.folder_file)
"""The files by which folders with a session are opened."""


HolderHook = Callable[[str, bytes], tuple[str, ...]]


def list_holder_hooks() -> tuple[HolderHook, ...]:
    """Return the functions of all readers that find the parent session of a sub-agent's file."""
    hooks = (reader.name_holders for reader in chain(READERS, _load_others([])))
    return tuple(hook for hook in hooks if hook is not None)


def _find_named(format: str, name: str, kind: str) -> Reader:
    """Return the reader with this name. Raises `ReadError` if the data is certainly of another kind."""
    failed: list[tuple[str, str]] = []
    names: list[str] = []
    for reader in chain(READERS, _load_others(failed)):
        if reader.name == format:
            if kind and reader in READERS:
                raise ReadError(name, [(format, f"it is {kind}")], f"it is {kind}")
            return reader
        names.append(reader.name)
    reason = next((reason for reader, reason in failed if reader == format), "")
    if reason:
        raise ReadError(name, [(format, reason)])
    raise ReadError(name, detail=f"no reader is called {format!r}; known: {', '.join(dict.fromkeys(names))}")


def refuse_foreign(head: bytes, name: str = "data") -> None:
    """Raise `ReadError` if the first bytes of a file show that no installed reader can read it."""
    if head.startswith((GZIP, ZSTD, ZIP)):
        return  # the kind depends on the packed content
    if (kind := name_foreign(head)) and not _list_points():
        raise ReadError(name, detail=f"it is {kind}")


@contextmanager
def naming(name: str, reader: Reader | None = None) -> Iterator[None]:
    """Add the name of the data, and the reader, to errors: readers do not know file names."""
    try:
        yield
    except ReadError as error:
        error.name = name
        if reader is not None:
            error.tried = error.tried or ((reader.name, RECOGNISED),)
        raise


def _list_points() -> list[EntryPoint]:
    """Return the entry points of other packages' readers. Imported late, as few files need them."""
    from importlib.metadata import distributions

    return _read_points(tuple(str(getattr(package, "_path", package)) for package in distributions()))


@lru_cache(1)
def _read_points(packages: tuple[str, ...]) -> list[EntryPoint]:
    """Return the entry points of the installed packages. Cached, because it reads a file of each package."""
    from importlib.metadata import entry_points

    return sorted(entry_points(group=GROUP), key=lambda point: point.name)


def _load_others(tried: list[tuple[str, str]]) -> Iterator[Reader]:
    """Yield the readers of other packages. They are only loaded if no reader of this package fits."""
    for point in _list_points():
        try:
            reader: Any = point.load()
        except Exception as error:
            # A broken package must not disable the readers of other packages.
            tried.append((point.name, f"cannot be loaded: {error}"))
            continue
        if isinstance(reader, Reader):
            yield reader
        else:
            tried.append((point.name, "is not a Reader"))
