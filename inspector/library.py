"""DOOR: the sessions on this machine, newest first, from the folders where harnesses store them.

Session files are only read. An index in the user's cache folder stores the data of each file by path, size
and time of change, so that a second listing reads only changed files. A broken index is replaced.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple, TypedDict, overload

import msgspec

from .errors import InspectorError, UnreadFormat, expect
from .files import list_beside, list_matching, open_session
from .formats.containers import ZSTD, unpack
from .formats.json_document import HEAD
from .formats.places import find_places
from .formats.readers import list_holder_hooks
from .mixins import Framed
from .paths import open_regular, spell_out
from .redaction.cut import cut_text, redact_text
from .session.session import Session
from .session.speakers import typed_words
from .text import html_table, html_text, plural, printable, printed
from .tokens.cost import price_session

WORDS = 120
"""Characters of a title or a prompt that are stored."""
SCHEMA = 2
PATIENCE = 10.0


class FoundSession(NamedTuple):
    """A session file in a known folder, and what was read from it.

    harness      the harness that owns the folder
    path         the file
    modified     seconds since 1970
    size         bytes
    title        the session's own, else its first prompt
    project      the working directory, "" if the file does not name it
    prompt       the last prompt of the user
    turns, compactions   counts of the whole file
    cost         dollars by its own usage, as far as prices are known; None, shown as "?", if none is known
    problem      why it could not be read, "" if it was; "not read yet" if there was no time
    """

    harness: str
    path: Path
    modified: float
    size: int
    title: str = ""
    project: str = ""
    prompt: str = ""
    turns: int = 0
    compactions: int = 0
    cost: float | None = None
    problem: str = ""

    def open(self) -> Session:
        """The session. Raises what `open_session` raises."""
        return open_session(self.path)


class FoundSessions(Framed, Sequence[FoundSession]):
    """Sessions of this machine, newest first; shown as a table."""

    def __init__(self, found: Iterable[FoundSession]) -> None:
        self._found = tuple(found)

    @overload
    def __getitem__(self, at: int) -> FoundSession: ...
    @overload
    def __getitem__(self, at: slice) -> FoundSessions: ...
    def __getitem__(self, at: int | slice) -> FoundSession | FoundSessions:
        return FoundSessions(self._found[at]) if isinstance(at, slice) else self._found[at]

    def __len__(self) -> int:
        return len(self._found)

    def to_columns(self) -> dict[str, list[Any]]:
        """Return a row per session, with the fields of `FoundSession` as columns."""
        return {name: [getattr(session, name) for session in self] for name in FoundSession._fields}

    def rows(self) -> list[tuple[str, ...]]:
        """Return the rows of the table. `HEADINGS` are its columns, the first is the row's number."""
        return [(str(number), *_describe(session)) for number, session in enumerate(self._found)]

    @printed
    def __repr__(self) -> str:
        if not self._found:
            return NONE_FOUND
        rows = [HEADINGS, *self.rows()]
        widths = [max(len(row[at]) for row in rows) for at in range(len(HEADINGS))]
        lines = [
            "  ".join(
                cell.rjust(width) if at in NUMBERS else cell.ljust(width)
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the table as HTML for a notebook. Transcript text is escaped."""
        if not self._found:
            return f"<p>{html_text(NONE_FOUND)}</p>"
        return html_table(HEADINGS, self.rows(), numbers=NUMBERS)


HEADINGS = ("", "when", "harness", "project", "title", "turns", "compactions", "size", "cost")
NUMBERS = frozenset({0, 5, 6, 7, 8})
NONE_FOUND = "No session was found in the places where harnesses keep them."
UNREAD = "not read yet"


def sessions(
    newest: int | None = None,
    *,
    seconds: float = PATIENCE,
    home: str | os.PathLike[str] | None = None,
    index: str | os.PathLike[str] | None = None,
) -> FoundSessions:
    """List the sessions of this machine, newest first.

    Args:
        newest: The maximum number of sessions; None for all.
        seconds: Time limit for reading files that are not in the index, newest first. The remaining ones are
            listed as "not read yet", and the next call continues with them.
        home: A folder to search instead of the user's home. Without a home, only the folders that environment
            variables name are searched.
        index: The index file to use instead of the one in the user's cache folder.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as empty:
    ...     sessions(home=empty, index=f"{empty}/index")
    No session was found in the places where harnesses keep them.
    """
    expect("sessions", newest=(newest, int, None), seconds=(seconds, int, float))
    home = None if home is None else spell_out(home, "sessions", "home")
    index = None if index is None else spell_out(index, "sessions", "index")
    files = sorted(_list_files(home), key=lambda file: file.modified, reverse=True)
    until = time.monotonic() + seconds
    folder = find_cache_folder() if index is None else None
    stored = _Index(index or (folder and folder / "sessions.sqlite"))
    rows = _read(files, stored, lambda: time.monotonic() < until)
    listed = FoundSessions(islice(rows, None if newest is None else min(max(newest, 0), len(files))))
    stored.save()
    return listed


def find_files(home: str | os.PathLike[str] | None = None) -> frozenset[Path]:
    """Return the session files in this machine's known folders. No file is opened."""
    return frozenset(file.path for file in _list_files(home))


def _list_files(home: str | os.PathLike[str] | None) -> Iterator[FoundSession]:
    """Yield every session file once. If a file exists both plain and packed, only the plain one."""
    environment = os.environ if home is None else {}
    base = None if home is None else os.fspath(home)
    if home is None:
        with suppress(RuntimeError):  # a user without an account, as in containers
            base = str(Path.home())
    yielded = set[str]()
    for place, folder in find_places(environment, base):
        for entry in _walk(os.path.realpath(folder), place.pattern.split("/")):
            plain = entry.path.removesuffix(".zst")
            with suppress(OSError):
                if plain in yielded:
                    continue
                status = entry.stat(follow_symlinks=False)
                yielded.add(plain)
                yield FoundSession(place.harness, Path(entry.path), status.st_mtime, status.st_size)


def _walk(folder: str, pattern: Sequence[str]) -> Iterator[os.DirEntry[str]]:
    """The files below a folder whose way matches, a name of the pattern for each step.

    What a link leads to may lie anywhere, so none is followed.
    """
    try:
        with os.scandir(folder) as inside:
            entries = sorted(inside, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if not fnmatchcase(entry.name, pattern[0]):
            continue
        with suppress(OSError):
            if len(pattern) == 1:
                if entry.is_file(follow_symlinks=False):
                    yield entry
            elif entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path, pattern[1:])


class HolderSearch:
    """Which sessions read other files as their own, as those of sub-agents; each session's file is read once.

    Such a file is no session of its own: what it tells is told, and charged, in the one that holds it.
    """

    def __init__(self) -> None:
        self._beside: dict[Path, frozenset[Path]] = {}
        self._hooks = list_holder_hooks()

    def name_places(self, path: Path) -> list[str]:
        """Patterns of where the session may lie that reads this file as its own; [] for any other file."""
        with suppress(OSError, InspectorError):
            if path.is_file():
                with open_regular(path) as file:
                    head = file.read(HEAD)
                if head.startswith(ZSTD):
                    head = bytes(memoryview(unpack(path.read_bytes()))[:HEAD])
                named = (name for hook in self._hooks for name in hook(path.name, head))
                return list(dict.fromkeys(named))
        return []

    def find(self, path: Path, patterns: Sequence[str] | None = None) -> Path | None:
        """The session that reads this file as its own, of those in such places; None where there is none."""
        sought = self.name_places(path) if patterns is None else patterns
        here = path.resolve() if sought else path
        for place in map(Path.resolve, _find_places(path, sought)):
            if place != here and here in self._list_beside(place):
                return place
        return None

    def _list_beside(self, place: Path) -> frozenset[Path]:
        if place not in self._beside:
            beside = frozenset[Path]()
            with suppress(OSError, InspectorError):  # what is no session holds nothing
                beside = frozenset(map(Path.resolve, list_beside(place)))
            self._beside[place] = beside
        return self._beside[place]


def _find_places(path: Path, patterns: Iterable[str]) -> Iterator[Path]:
    """The files in such places; none that a link leads to."""
    for pattern in patterns:
        for place in list_matching(path.parent, pattern):
            if place.is_file() and not place.is_symlink():
                yield place


def _look(path: Path, patterns: Iterable[str]) -> list[list[Any]]:
    """Return path, size and time of change of each matching file."""
    states = []
    for place in _find_places(path, patterns):
        with suppress(OSError):
            status = place.stat()
            states.append([str(place), status.st_size, status.st_mtime])
    return states


def _read(
    files: Sequence[FoundSession], stored: _Index, in_time: Callable[[], bool]
) -> Iterator[FoundSession]:
    """Yield the sessions with their data: from the index, or from the file while there is time."""
    search = HolderSearch()
    for file in files:
        facts = stored.find(file)
        if facts is not None and not _is_current(file.path, facts):
            facts = None
        if facts is None and in_time():
            patterns = search.name_places(file.path)
            # Before the file is read: a change during reading makes the row out of date.
            states = _look(file.path, patterns)
            holder = search.find(file.path, patterns)
            facts = _read_facts(file.path) if holder is None else {WITHIN: str(holder)}
            if patterns and holder is None:
                facts[SOUGHT] = [patterns, states]
            stored.add(file, facts)
        if facts is not None and WITHIN in facts:
            continue
        fields: dict[str, Any] = {"problem": UNREAD} if facts is None else facts
        yield file._replace(**{name: value for name, value in fields.items() if name != SOUGHT})


def _is_current(path: Path, facts: dict[str, Any]) -> bool:
    """Whether the index still names the right session for a file that may belong to one."""
    if WITHIN in facts:
        return Path(str(facts[WITHIN])).is_file()
    match facts.get(SOUGHT, [[], []]):
        case [[*patterns], [*states]] if all(isinstance(pattern, str) for pattern in patterns):
            return _look(path, patterns) == states
    return False


def _read_facts(path: Path) -> dict[str, Any]:
    """Read a session file and return the fields of its row."""
    try:
        session = open_session(path)
        opening = [session.entries[session.path[turn.first]] for turn in session.turns]
        prompts = [typed_words(entry) or entry.text for entry in opening]
        kinds = [boundary.kind for _, boundary in session.boundaries]
        cost = price_session(session).cost
    except (InspectorError, OSError) as error:
        # The sentence names the kind of file, or the way to open it, after its first dash.
        pieces = str(error).removeprefix(f"{printable(str(path))} ").split(" — ")
        piece = pieces[0 if isinstance(error, UnreadFormat) else min(1, len(pieces) - 1)]
        return {"problem": cut_text(piece, WORDS)}
    except Exception as error:  # one bad file must not end the listing
        return {"problem": cut_text(f"it could not be read: {type(error).__name__}: {error}", 2 * WORDS)}
    first, last = (_brief(words) for words in (prompts[0], prompts[-1])) if prompts else ("", "")
    return {
        "title": _brief(session.title or "") or first or cut_text(session.id, WORDS),
        "project": cut_text(session.cwd or "", 4 * WORDS),
        "prompt": last,
        "turns": len(prompts),
        "compactions": kinds.count("compact"),
        "cost": None if cost is None else cost.total,
    }


def _brief(words: str) -> str:
    return cut_text(redact_text(" ".join(words.split())), WORDS)


def _describe(session: FoundSession) -> tuple[str, ...]:
    when = datetime.fromtimestamp(session.modified, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    project = session.project.replace("\\", "/").rstrip("/").rpartition("/")[2]
    size = f"{session.size / 1e6:,.1f} MB"
    if session.problem:
        return (when, session.harness, project, session.problem, "", "", size, "")
    cost = "?" if session.cost is None else f"${session.cost:,.2f}"
    title = shorten(session.title, 60, placeholder="…")
    return (
        when,
        session.harness,
        project,
        title,
        f"{session.turns:,}",
        f"{session.compactions:,}",
        size,
        cost,
    )


WITHIN = "within"
"""Index field of a file that belongs to another session: that session's path."""
SOUGHT = "sought"
"""Index field of a sub-agent's file without a session: the patterns searched, and the files that matched."""


class _Facts(TypedDict, total=False):
    """The index fields of a file: fields of `FoundSession`, `WITHIN` and `SOUGHT`."""

    title: str
    project: str
    prompt: str
    turns: int
    compactions: int
    cost: float | None
    problem: str
    within: str
    sought: list[Any]


class _Index:
    """Cache of the rows of session files, by path, size, time of change, and this package's version.

    If another program has locked it, the listing works without it. A database that is broken or has another
    schema is replaced. It is locked only while rows are read or written, not while session files are read.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._version = version("compaction-inspector")
        self._rows: dict[bytes, tuple[int, float, str]] = {}
        self._new: list[tuple[bytes, int, float, str, str]] = []
        # One query for all rows: a query per file would take longer than the rest of a listing.
        with self._open() as data:
            if data is not None:
                query = "select path, size, modified, facts from files where version = ?"
                self._rows = {name: tuple(row) for name, *row in data.execute(query, (self._version,))}

    def find(self, file: FoundSession) -> dict[str, Any] | None:
        """Return the stored fields of a file; None if there are none, or if they are outdated or damaged."""
        size, modified, text = self._rows.get(os.fsencode(file.path), (None, None, ""))
        if (size, modified) != (file.size, file.modified):
            return None
        with suppress(msgspec.MsgspecError, ValueError, TypeError, RecursionError):
            return dict(msgspec.json.decode(text, type=_Facts)) or None
        return None

    def add(self, file: FoundSession, facts: dict[str, Any]) -> None:
        """Add the fields of a file, to be stored by `save`. Paths are bytes: a file name need not be text."""
        row = (os.fsencode(file.path), file.size, file.modified, self._version, json.dumps(facts))
        self._new.append(row)

    def save(self) -> None:
        """Store the added rows, if the index can be written now."""
        if self._new:
            with self._open() as data:
                if data is not None:
                    data.execute("begin immediate")
                    data.executemany("insert or replace into files values (?, ?, ?, ?, ?)", self._new)
                    data.execute("commit")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection | None]:
        """Open and close the database. An error of SQLite ends the block without an exception."""
        data = None if self._path is None else _connect(self._path)
        try:
            with suppress(sqlite3.Error):
                yield data
        finally:
            if data is not None:
                data.close()


def find_cache_folder() -> Path | None:
    """Return this package's folder in the user's cache folder, or None if the user has no home."""
    from platformdirs import user_cache_path

    with suppress(RuntimeError):
        folder = user_cache_path("compaction-inspector")
        return folder if folder.is_absolute() else None
    return None


def _connect(path: Path) -> sqlite3.Connection | None:
    """Open the index, and create it if it is missing or broken. None if it cannot be used now."""
    for _ in range(2):
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            # It quotes prompts, so only the user may read it.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        try:
            data = sqlite3.connect(path, timeout=1, isolation_level=None)
        except sqlite3.Error:
            return None
        try:
            _check_schema(data)
            return data
        except sqlite3.Error as error:
            data.close()
            if getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                return None  # another program has locked it and may be writing
        with suppress(OSError):
            path.unlink(missing_ok=True)
    return None


def _check_schema(data: sqlite3.Connection) -> None:
    """Create the table in an empty database. Raises `sqlite3.Error` if the database has other tables."""
    if _read_schema(data) == (0, frozenset()):
        data.execute("begin immediate")
        if _read_schema(data) == (0, frozenset()):  # not created by another listing meanwhile
            data.execute(
                "create table files "
                "(path blob primary key, size integer, modified real, version text, facts text)"
            )
            data.execute(f"pragma user_version = {SCHEMA}")
        data.execute("commit")
    if _read_schema(data) != (SCHEMA, frozenset({"files"})):
        raise sqlite3.DatabaseError("another schema")
    data.execute("select path, size, modified, version, facts from files limit 1").fetchone()


def _read_schema(data: sqlite3.Connection) -> tuple[int, frozenset[str]]:
    (kind,) = data.execute("pragma user_version").fetchone()
    rows = data.execute("select name from sqlite_master where type = 'table'")
    return kind, frozenset(name for (name,) in rows)


def dump_found(session: FoundSession) -> str:
    """Format a session as one line of JSON. Unknown values are null."""
    return json.dumps({**session._asdict(), "path": str(session.path)})


def summarise_found(found: FoundSessions) -> str:
    """How many there are, in a sentence.

    >>> summarise_found(FoundSessions([]))
    'No session was found in the places where harnesses keep them.'
    """
    if not found:
        return NONE_FOUND
    unread = sum(one.problem == UNREAD for one in found)
    failed = sum(bool(one.problem) for one in found) - unread
    parts = [plural(len(found), "session")]
    parts += [f"{unread:,} not read yet"] if unread else []
    parts += [f"{failed:,} that cannot be opened"] if failed else []
    return f"{', '.join(parts)}."
