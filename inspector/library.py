"""I/O: the sessions on this machine, newest first, from the folders where harnesses store them.

Session files are only read. An index in the user's cache folder stores the data of each file by path, size
and time of change, so that a second listing reads only changed files. A broken index is replaced.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
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
from .formats.whole_file import write_whole
from .mixins import Framed
from .paths import find_cache_folder, open_regular, spell_out
from .redaction.cut import cut_text, redact_text
from .session.session import Session
from .session.speakers import typed_words
from .text import html_table, html_text, plural, printable, printed, text_table
from .tokens.cost import price_session

WORDS = 120
"""Characters of a title or a prompt that are stored."""
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

    def __init__(self, sessions: Iterable[FoundSession]) -> None:
        self._sessions = tuple(sessions)

    @overload
    def __getitem__(self, at: int) -> FoundSession: ...
    @overload
    def __getitem__(self, at: slice) -> FoundSessions: ...
    def __getitem__(self, at: int | slice) -> FoundSession | FoundSessions:
        return FoundSessions(self._sessions[at]) if isinstance(at, slice) else self._sessions[at]

    def __len__(self) -> int:
        return len(self._sessions)

    def to_columns(self) -> dict[str, list[Any]]:
        """Return a row per session, with the fields of `FoundSession` as columns."""
        return {name: [getattr(session, name) for session in self] for name in FoundSession._fields}

    def rows(self) -> list[tuple[str, ...]]:
        """Return the rows of the table. `HEADINGS` are its columns, the first is the row's number."""
        return [(str(number), *_describe(session)) for number, session in enumerate(self._sessions)]

    @printed
    def __repr__(self) -> str:
        if not self._sessions:
            return NONE_FOUND
        return "\n".join(text_table([HEADINGS, *self.rows()], NUMBERS))

    def _repr_html_(self) -> str:
        """Return the table as HTML for a notebook. Transcript text is escaped."""
        if not self._sessions:
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
    path = index or (folder and folder / "sessions.msgpack")
    new: Rows = {}
    rows = _read(files, _load_index(path), new, lambda: time.monotonic() < until)
    listed = FoundSessions(islice(rows, None if newest is None else min(max(newest, 0), len(files))))
    _save_index(path, new)
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
    """Yield the files below a folder that match a pattern with one name per level.

    Links are not followed, because they may lead out of the folder.
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
    """Find files that belong to another session, such as a sub-agent's. Reads each session's file once.

    Such a file is not a session of its own: its entries and costs are part of the session that includes it.
    """

    def __init__(self) -> None:
        self._beside: dict[Path, frozenset[Path]] = {}
        self._hooks = list_holder_hooks()

    def name_places(self, path: Path) -> list[str]:
        """Return patterns of the paths of the session that includes this file; [] for any other file."""
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
        """Return the session among these paths that includes this file, or None."""
        sought = self.name_places(path) if patterns is None else patterns
        here = path.resolve() if sought else path
        for place in map(Path.resolve, _find_places(path, sought)):
            if place != here and here in self._list_beside(place):
                return place
        return None

    def _list_beside(self, place: Path) -> frozenset[Path]:
        if place not in self._beside:
            beside = frozenset[Path]()
            with suppress(OSError, InspectorError):  # not a session: it holds no other file
                beside = frozenset(map(Path.resolve, list_beside(place)))
            self._beside[place] = beside
        return self._beside[place]


def _find_places(path: Path, patterns: Iterable[str]) -> Iterator[Path]:
    """Yield the files that match the patterns. Links are not followed."""
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
    files: Sequence[FoundSession], stored: Rows, new: Rows, in_time: Callable[[], bool]
) -> Iterator[FoundSession]:
    """Yield the sessions with their data: from the index, or from the file while there is time.

    What was read from files is added to `new`."""
    search = HolderSearch()
    for file in files:
        facts = _find_stored(stored, file)
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
            new[os.fsencode(file.path)] = file.size, file.modified, json.dumps(facts)
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


Rows = dict[bytes, tuple[int, float, str]]
"""The index: size, time of change and fields (JSON) of each file, by its path, which need not be text."""


def _load_index(path: Path | None) -> Rows:
    """Return the stored rows; none if the index is missing, broken, or by another version of this package."""
    with suppress(OSError, msgspec.MsgspecError):
        if path is not None:
            named, rows = msgspec.msgpack.decode(path.read_bytes(), type=tuple[str, Rows])
            return rows if named == version("compaction-inspector") else {}
    return {}


def _save_index(path: Path | None, new: Rows) -> None:
    """Add rows to the index, if it can be written. It quotes prompts, so only the user may read it."""
    if path is not None and new:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            rows = (version("compaction-inspector"), _load_index(path) | new)
            write_whole(path, msgspec.msgpack.encode(rows), 0o600)


def _find_stored(rows: Rows, file: FoundSession) -> dict[str, Any] | None:
    """Return the stored fields of a file; None if there are none, or if they are outdated or damaged."""
    size, modified, text = rows.get(os.fsencode(file.path), (None, None, ""))
    if (size, modified) != (file.size, file.modified):
        return None
    with suppress(msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        return dict(msgspec.json.decode(text, type=_Facts)) or None
    return None


def dump_found(session: FoundSession) -> str:
    """Format a session as one line of JSON. Unknown values are null."""
    return json.dumps({**session._asdict(), "path": str(session.path)})


def summarise_found(sessions: FoundSessions) -> str:
    """Return a sentence with the number of sessions.

    >>> summarise_found(FoundSessions([]))
    'No session was found in the places where harnesses keep them.'
    """
    if not sessions:
        return NONE_FOUND
    unread = sum(session.problem == UNREAD for session in sessions)
    failed = sum(bool(session.problem) for session in sessions) - unread
    parts = [plural(len(sessions), "session")]
    parts += [f"{unread:,} not read yet"] if unread else []
    parts += [f"{failed:,} that cannot be opened"] if failed else []
    return f"{', '.join(parts)}."
