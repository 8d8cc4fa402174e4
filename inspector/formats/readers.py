"""Bytes -> `Session`, whatever the format.

In goes the content of a file, out comes a `Session`, read by the first reader that recognises it: first
the ones in `READERS`, then those other packages bring under the entry point group `inspector.readers`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
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
from .file_kind import describe_text, name_foreign
from .harnesses import atif, copilot, kimi, stud, swe_agent, vscode_chat
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
from .json_lines import Data, Reader
from .known_kinds import recognise
from .recording import remember_rows
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
from .row_lists import spread_rows

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_PATH = re.compile(r"[^\n{\[]{1,4096}")
"""A text that is no JSON and has one line: it is rather the name of a file."""
_FIGURES = ("input", "output", "cache_read", "cache_write", "cache_write_1h", "total")


def clear_usage(session: Session) -> Session:
    """The session itself, or where figures of its usage are odd a copy without them and with one warning.

    >>> from inspector.session.entries import Entry
    >>> odd = Session(format="demo", entries=(Entry(id="a", usage=Usage(input=-1, output=2)),))
    >>> clear_usage(odd).entries[0].usage.input, clear_usage(odd).warnings
    (0, ('1 reported token figure is negative, not finite or far too large; it counts as 0',))
    """
    odd = {
        at: names
        for at, entry in enumerate(session.entries)
        if (usage := fields_of(entry)["usage"]) is not None and (names := _find_odd(usage))
    }
    if not odd:
        return session
    entries = list(session.entries)
    for at, names in odd.items():
        entry = entries[at]
        if entry.usage is not None:
            usage = entry.usage.model_copy(update=dict.fromkeys(names, 0))
            entries[at] = entry.model_copy(update={"usage": usage})
    warning = _say(sum(map(len, odd.values())))
    return session.model_copy(update={"entries": tuple(entries), "warnings": (*session.warnings, warning)})


def read_all(reader: Reader, data: Data, beside: Mapping[str, Data]) -> Session:
    """The session in `data` by this reader, with the contents of its other files by their names."""
    together = reader.read_all
    return clear_usage(together(data, beside) if together and beside else reader.read(data))


def _find_odd(usage: Usage) -> list[str]:
    told = fields_of(usage)
    if (
        0 <= told["input"] <= MOST_TOKENS
        and 0 <= told["output"] <= MOST_TOKENS
        and 0 <= told["cache_read"] <= MOST_TOKENS
        and 0 <= told["cache_write"] <= MOST_TOKENS
        and told["cache_write_1h"] is told["total"] is None
    ):
        return []  # as nearly all; asked one by one that takes three times as long
    return [name for name in _FIGURES if (value := told[name]) is not None and not is_tokens(value)]


def _say(count: int) -> str:
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
    data_set.READER,
    anthropic_messages.READER,
    mini.READER,
    request_log.READER,
    message_lines.READER,
    traces.READER,
)
"""The readers of this package, in the order they are asked: the most specific first."""


ROWS = tuple(module.READER for module in (claude_code, codex, stream_json, gemini, qwen, copilot, kimi, pi))
"""Those whose rows are found as one JSON list too, as exports and data sets hold them."""

GENERAL = (anthropic_messages.READER, mini.READER, request_log.READER, message_lines.READER, traces.READER)
"""Those whose files carry no mark of a harness: what one of them takes may be another's too."""


Content = Data | bytearray | str | Mapping[str, Any] | Sequence[Any]
"""A file's bytes or its text, a document that is parsed already, or a list of messages."""


def read_session(
    data: Content, name: str = "data", format: str | None = None, part: str | None = None
) -> Session:
    """The session in `data`, by the reader called `format` or by the first that recognises it.

    `data` are the bytes or the text of a file, one JSON document that is parsed already, or the list of its
    messages. `name` is what errors call the data. Of an archive or a database with several sessions `part`
    names one, of a log or an export another than the first. Raises `ReadError`, which says what it is, when
    none recognises it, `ClaimedTwice` when several do, `SeveralSessions` when it holds more than one and
    `part` names none, `EmptySession` when it is a transcript in which nobody says anything, and
    `ArgumentError` for what is none of these, as a path: `open_session` reads a file.

    >>> row = b'{"type": "user", "uuid": "u1", "parentUuid": null, "message": {"content": "Hello"}}'
    >>> read_session(row).entries[0].text
    'Hello'
    >>> read_session([{"role": "user", "content": "Hello"}]).entries[0].text
    'Hello'
    """
    expect("read_session", name=(name, str), format=(format, str, None), part=(part, str, None))
    content: Data
    content, name = ask("part", _take_bytes(data), name, part, format)
    reader = find_reader(content, name, format)
    with named(reader, name):
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
            raise ArgumentError("read_session", "data", data, "of what JSON can hold") from None
    if isinstance(data, Session):
        raise ArgumentError("read_session", "data", data, "bytes, text or messages (it is a session already)")
    remedy = "bytes, text, a dict or a list of messages (open_session reads a file by its path)"
    raise ArgumentError("read_session", "data", data, remedy)


def unpack_named(data: Data, name: str) -> Data:
    """What is in gzip, zstd or a zip of one file, else the data itself; rows in a JSON list become lines.

    Raises `ReadError` with the name.
    """
    try:
        return spread_rows(inspect_log.repack(unpack(data)), READERS, ROWS)
    except ReadError as error:
        error.name = name
        raise


def find_reader(data: Data, name: str = "data", format: str | None = None) -> Reader:
    """The reader called `format`, or the first that recognises the data. Raises `ReadError` as above.

    What is certainly a file of another kind is offered to readers of other packages only. Where two readers
    of `GENERAL`, or two of other packages, take it for theirs, neither is chosen.
    """
    with remember_rows():
        return _find_reader(data, name, format)


def _find_reader(data: Data, name: str, format: str | None) -> Reader:
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
    if known := recognise(data):
        raise UnreadFormat(name, str(known), known.advice, tried)
    told = describe_text(data)
    raise ReadError(name, tried, f"it is {told}" if told else "")


FOLDER_FILES = tuple(reader.folder_file for reader in READERS if reader.folder_file)
"""What the file is called by which a folder is opened that holds a session."""


HolderHook = Callable[[str, bytes], tuple[str, ...]]


def list_holder_hooks() -> tuple[HolderHook, ...]:
    """What readers, ours and others', tell by a file's name and beginning: in which session it is read."""
    hooks = (reader.name_holders for reader in chain(READERS, _load_others([])))
    return tuple(hook for hook in hooks if hook is not None)


def _find_named(format: str, name: str, kind: str) -> Reader:
    """The reader of this name; what is of another kind for certain is refused for one of ours."""
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
    """Raise `ReadError` where the first bytes of a file tell that no reader there is takes it."""
    if head.startswith((GZIP, ZSTD, ZIP)):
        return  # what is in it tells
    if (kind := name_foreign(head)) and not _list_points():
        raise ReadError(name, detail=f"it is {kind}")


@contextmanager
def named(reader: Reader, name: str) -> Iterator[None]:
    """Errors from within tell the name of the data and the reader: readers know no names of files."""
    try:
        yield
    except ReadError as error:
        error.name, error.tried = name, error.tried or ((reader.name, RECOGNISED),)
        raise


def _list_points() -> list[EntryPoint]:
    """Where other packages say that they bring a reader. Most files need none, nor the module that looks."""
    from importlib.metadata import distributions

    return _read_points(tuple(str(getattr(one, "_path", one)) for one in distributions()))


@lru_cache(1)
def _read_points(packages: tuple[str, ...]) -> list[EntryPoint]:
    """The same of the packages in these places: a file of each is read, which is too much for every call."""
    from importlib.metadata import entry_points

    return sorted(entry_points(group=GROUP), key=lambda point: point.name)


def _load_others(tried: list[tuple[str, str]]) -> Iterator[Reader]:
    """The readers of other packages, which are only looked up once ours are through."""
    for point in _list_points():
        try:
            reader: Any = point.load()
        except Exception as error:
            # One broken package must not keep the others from being asked.
            tried.append((point.name, f"cannot be loaded: {error}"))
            continue
        if isinstance(reader, Reader):
            yield reader
        else:
            tried.append((point.name, "is not a Reader"))
