"""I/O: session files. A path in, a `Session` out, and back as a session manifest.

Transcripts are never modified. A manifest is written to a temporary file in the same folder and then moved,
so a file is never incomplete.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .errors import InspectorError, PlanError, ReadError, expect
from .formats.containers import LARGEST
from .formats.databases import MAGIC
from .formats.incremental import FIRST, LARGE, LINES, IncrementalReader, find_lines_reader, read_pieces
from .formats.json_document import HEAD
from .formats.json_lines import Data, Reader
from .formats.manifest import READER, dump_manifest
from .formats.manifest import session_schema as session_schema
from .formats.parts import StoredSessions, holds_files, list_parts, list_sessions, unpack_part
from .formats.readers import (
    FOLDER_FILES,
    find_reader,
    naming,
    read_all,
    read_session,
    refuse_foreign,
    unpack_named,
)
from .formats.whole_file import mode_of as mode_of
from .formats.whole_file import write_new as write_new
from .formats.whole_file import write_whole as write_whole
from .kept_files import recall_judgements
from .paths import check_regular, find_status, is_shown, open_regular, spell_out
from .session.garbage import paused_gc
from .session.provenance import FILE_MODE, file_mode_of
from .session.session import Session

if TYPE_CHECKING:
    from .formats.exports.linearize import Loss
    from .formats.exports.writers import Format
    from .planning.plan import Plan
    from .planning.saved_plan import SavedPlan
    from .tokens.ledger import Ledger

StrPath = str | os.PathLike[str]
BEGINNING = 1 << 20
"""Bytes at the beginning of a file by which a file of another kind is refused without reading the rest."""


def open_session(path: StrPath, format: str | None = None, part: str | None = None) -> Session:
    """Read the session in a file, in the format given or in the one that is recognised.

    `part` names one session of an archive, as `open_sessions` lists them. The session has the judgements that
    its reader made on the screen. Raises `ArgumentError` for a wrong argument, `ReadError` if the file holds
    no session, `SeveralSessions` if it holds several and no `part` is given, `EmptySession` if it holds no
    message, and `OSError` if it cannot be read.

    >>> import json
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "talk.json")
    ...     _ = path.write_text(json.dumps([{"role": "user", "content": "Name a prime."}]))
    ...     open_session(path)
    Session(anthropic-messages, 1 record, 1 turn, 0 compactions, 0 unknown)
    """
    expect("open_session", format=(format, str, None), part=(part, str, None))
    place = find_place(path)
    if part is None and place.stat().st_size >= LARGE:
        return recall_judgements(FollowedFile(place, format, once=True).session, place)
    data, name = unpack_part(_read_whole(place)[1], str(place), part, format)
    reader = find_reader(data, name, format)
    with naming(name, reader):
        session = read_with_others(reader, data, place)
    return recall_judgements(session, place) if part is None else session


def read_with_others(reader: Reader, data: Data, place: Path) -> Session:
    """Read the session in `data` with this reader, and its other files from the folder of `place`."""
    beside = _read_beside(reader, data, place)
    return _keep_mode(read_all(reader, data, beside), place, *(place.parent / name for name in beside))


def _keep_mode(session: Session, *places: Path) -> Session:
    """Set the session's permissions to those that all of its files grant; return the session."""
    session.__dict__[FILE_MODE] = mode_of(*places)
    return session


def open_sessions(path: StrPath, format: str | None = None) -> StoredSessions:
    """List the sessions in a file: an archive, a log of samples, an export or a database.

    `open()` of an item reads its session. `others` lists the other files of an archive. A file is unpacked to
    at most 1 GiB and at most 200 times its size; an archive of more than 10,000 files is refused. Raises the
    errors of `open_session`.

    >>> from tempfile import TemporaryDirectory
    >>> from zipfile import ZipFile
    >>> row = '{"type": "user", "uuid": "u1", "parentUuid": null, "message": {"content": "Hello"}}'
    >>> with TemporaryDirectory() as folder:
    ...     with ZipFile(f"{folder}/both.zip", "w") as archive:
    ...         for name in ("a.jsonl", "b.jsonl"):
    ...             archive.writestr(name, row)
    ...     open_sessions(f"{folder}/both.zip")
    2 sessions
    a.jsonl  claude-code, 83 bytes
    b.jsonl  claude-code, 83 bytes
    """
    expect("open_sessions", format=(format, str, None))
    data = _read_whole(place := find_place(path))[1]
    parts = data if list_parts(data) else unpack_named(data, str(place))
    return list_sessions(parts, str(place), format, mode_of(place))


MANY, MOST_BESIDE = 64, 1 << 28
"""The number of files searched for a session, and the size in bytes of the largest of them."""


def list_matching(folder: Path, pattern: str, most: int = MANY) -> list[Path]:
    """Return the first files of a folder, by name, that match a pattern; [] if the pattern is invalid."""
    with suppress(OSError, ValueError, NotImplementedError):
        return sorted(folder.glob(pattern))[:most]
    return []


def _find_beside(patterns: Sequence[str], place: Path, most: int) -> list[Path]:
    """Find the other files of a session, in the order in which its reader names them."""
    files = (file for pattern in patterns for file in list_matching(place.parent, pattern, most))
    small = (file for file in dict.fromkeys(files) if file != place and _is_small(file, place.parent))
    return list(islice(small, most))


def list_beside(place: Path) -> list[Path]:
    """List the other files that belong to the session in a file. Raises the errors of `open_session`."""
    data = unpack_named(_read_whole(find_place(place))[1], str(place))
    reader = find_reader(data, str(place))
    return _find_beside(reader.find_beside(data, place.name), place, reader.most_beside)


def _is_small(place: Path, home: Path, most: int = MOST_BESIDE) -> bool:
    return is_shown(place, home) and place.stat().st_size <= most


def _read_beside(reader: Reader, data: Data, place: Path) -> dict[str, Data]:
    """Read the session's other files, by their paths relative to its folder."""
    patterns, read = reader.find_beside(data, place.name), dict[str, Data]()
    for path in _find_beside(patterns, place, reader.most_beside):
        with suppress(OSError, ReadError), open_regular(path) as file:
            head = file.read(MARK)
            if reader.is_foreign is None or not reader.is_foreign(data, head):
                read[path.relative_to(place.parent).as_posix()] = head + file.read()
    return read


def _read_whole(place: Path) -> tuple[FileStat, bytes]:
    """Read a file. If its beginning is not that of a session, it is refused without reading the rest."""
    # Not mapped into memory: if a mapped file is truncated meanwhile, the process is killed.
    with open_regular(place) as file:
        status = os.fstat(file.fileno())
        head = file.read(BEGINNING)
        if not head:
            raise ReadError(str(place), detail="it is empty")
        if status.st_size > LARGEST or not (holds_files(head) or _find_log(place, head)):
            refuse_foreign(head, str(place))
        file.seek(0)
        return _status(status), _settle(place, file.read())


def _find_log(place: Path, data: bytes) -> Path | None:
    """Return the write-ahead log of a database, which may hold most of its content, or None."""
    log = place.with_name(f"{place.name}-wal")
    if not data.startswith(MAGIC) or not log.is_file() or not 0 < log.stat().st_size <= MOST_BESIDE:
        return None
    return log


def _settle(place: Path, data: bytes) -> bytes:
    """Merge a database with its write-ahead log, in a copy: SQLite writes even when it only reads."""
    log = _find_log(place, data)
    if log is None:
        return data
    import sqlite3
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        copy = Path(folder, "copy.db")
        copy.write_bytes(data)
        copy.with_name("copy.db-wal").write_bytes(log.read_bytes())
        try:
            with closing(sqlite3.connect(copy)) as base:
                base.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.Error:
            return data  # the log is broken or of another database: the last committed state
        return copy.read_bytes()


def find_place(path: StrPath) -> Path:
    """Resolve a path to read; for a folder, the session in it. Raises `ReadError` if there is no session."""
    place = spell_out(path, "open_session")
    with suppress(FileNotFoundError, NotADirectoryError):
        place = next((inner for name in FOLDER_FILES if (inner := place / name).is_file()), place)
        check_regular(place, find_status(place))
    return place


def resolve_place(path: StrPath, call: str) -> Path:
    """Resolve a path to write to. Raises `ArgumentError` in the name of the function `call`."""
    return Path(os.path.realpath(spell_out(path, call)))


def save_session(session: Session, path: StrPath, *, redact: bool = False) -> None:
    """Write a session to a manifest in one step, with the permissions of its own file.

    Args:
        session: The session.
        path: Where to write it; only another manifest is written over.
        redact: Whether to replace secrets by their names. Without it nothing is lost, secrets included.

    Raises:
        FileExistsError: The path is a file that is not a session manifest. The file stays as it is.
        OSError: The file cannot be written. A file that exists stays as it is.

    >>> from tempfile import TemporaryDirectory
    >>> session = read_session([{"role": "user", "content": "Name a prime."}])
    >>> with TemporaryDirectory() as folder:
    ...     save_session(session, f"{folder}/talk.json")
    ...     open_session(f"{folder}/talk.json") == session
    True
    """
    expect("save_session", session=(session, Session))
    target = resolve_place(path, "save_session")
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder")
    if target.exists() and not _is_replaceable(target):
        raise FileExistsError(f"{target} is not a session manifest, so it is not written over")
    content = dump_manifest(_redact(session) if redact else session)
    write_whole(target, content.encode("ascii"), file_mode_of(session))


def _redact(session: Session) -> Session:
    from .redaction.clean import redact_session

    return redact_session(session)


def save_export(session: Session, path: StrPath, format: Format, *, redact: bool = False) -> tuple[Loss, ...]:
    """Write a session in another format to a new file; return what the file could not hold.

    Raises `FileExistsError` if the file exists, and the errors of `export_session`, whose arguments these
    are.
    """
    from .formats.exports.writers import export_session

    content = export_session(session, format, redact=redact)
    write_new(resolve_place(path, "save_export"), content, file_mode_of(session))
    return content.losses


def _is_replaceable(target: Path) -> bool:
    return target.is_file() and (not (content := target.read_bytes()) or READER.sniff(content) is None)


def save_plan(plan: Plan, path: StrPath) -> Path:
    """Write a plan to a new file: policy, settings, cut and pins, the session's hash, and the outcome.

    The file contains no text of the transcript. Raises `FileExistsError` if the file exists, and `OSError` if
    it cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session), "pi", {"cut": "end"})
    >>> with TemporaryDirectory() as folder:
    ...     again = open_plan(save_plan(plan, f"{folder}/mine.plan.json"), session)
    >>> again.recipe == plan.recipe, again.after == plan.after
    (True, True)
    """
    from .planning.plan import Plan
    from .planning.saved_plan import write_plan

    expect("save_plan", plan=(plan, Plan))
    target = resolve_place(path, "save_plan")
    write_new(target, write_plan(plan).encode("ascii"), file_mode_of(plan.ledger.session))
    return target


def open_plan(path: StrPath, session: Session | StrPath, *, ledger: Ledger | None = None) -> Plan:
    """Read a saved plan and make it again on its session, as the session was when the plan was saved.

    Raises `OtherSession` for another session, `PlanError` if the file holds no plan or if the plan now has
    another outcome, and `PolicyError` for an unknown rule.

    >>> from tempfile import TemporaryDirectory
    >>> from inspector import count_tokens, make_plan
    >>> session = read_session([{"role": role, "content": "…"} for role in ("user", "assistant", "user")])
    >>> plan = make_plan(session, count_tokens(session), "keep-recent-turns", {"cut": "m3"})
    >>> with TemporaryDirectory() as folder:
    ...     open_plan(save_plan(plan, f"{folder}/mine.plan.json"), session).cut.entry
    'm3'
    """
    from .planning.saved_plan import make_again, read_plan

    saved = read_plan((place := find_place(path)).read_bytes(), str(place))
    whole = session if isinstance(session, Session) else open_session(session)
    return make_again(saved, whole, str(place), ledger)


def read_plans_beside(home: str) -> dict[str, bytes]:
    """Read the plans in the folder of a session's file, by file name; {} for a session without a file."""
    if not home:
        return {}
    contents = {}
    folder = Path(home).expanduser().parent
    for place in list_matching(folder, "*.plan.json", MOST_PLANS):
        with suppress(OSError):
            if _is_small(place, folder, MOST_PLAN_BYTES):
                contents[place.name] = place.read_bytes()
    return contents


def find_planned(path: StrPath) -> tuple[Path, SavedPlan]:
    """Read a saved plan and find its session's file in the same folder; return both.

    The file that the plan is named after is tried first. Hidden files and links are skipped. Raises
    `PlanError` if the file holds no plan, and if its session is not in the folder.
    """
    from .planning.saved_plan import count_added, read_plan

    place = find_place(path)
    saved = read_plan(place.read_bytes(), str(place))
    stem = re.sub(r"(-\d+)?\.plan\.json$", "", place.name)
    shown = (file for file in sorted(place.parent.glob("*.json*")) if is_shown(file, place.parent))
    files = [file for file in shown if not file.name.endswith(".plan.json")]
    for file in sorted(files, key=lambda file: not file.name.startswith(stem)):
        try:
            count_added(saved, open_session(file), str(place))
        except (InspectorError, OSError):
            continue
        return file, saved
    raise PlanError(str(place), f"its session, {saved.session.id}, is not in the same folder")


def save_beside(plan: Plan, home: str = "") -> Path:
    """Save a plan as the first free "<session>.plan.json" in the folder of the session's file.

    Without `home` the current folder is used. A plan that was saved there already is not written twice.
    """
    from .planning.saved_plan import name_plan, write_plan

    session, content = plan.ledger.session, write_plan(plan).encode("ascii")
    return write_beside(name_plan(session, home), content, home, file_mode_of(session))


def read_beside(home: str) -> bytes | None:
    """Read and unpack the session's file `home`; None for a session without a file."""
    if not home:
        return None
    place = find_place(home)
    return bytes(unpack_part(_read_whole(place)[1], str(place))[0])


def write_beside(name: str, content: bytes, home: str = "", mode: int | None = None) -> Path:
    """Write a file to the folder of the session's file `home`, or to the current folder; return its path.

    The file has the permissions of `home`, or `mode` if there is no `home`. A name that is taken gets a
    number. A file that holds this content already is not written again.
    """
    from .planning.saved_plan import number_name

    folder, number = Path(home).expanduser().parent if home else Path(), 1
    mode = mode_of(find_place(home)) if home else mode
    while True:
        target = folder / number_name(name, number)
        try:
            write_new(target, content, mode)
            return target
        except FileExistsError:
            if target.is_file() and target.read_bytes() == content:
                return target
            number += 1


def reopen_session(path: StrPath, at: str | None = None, to: StrPath | None = None) -> Path:
    """Write the session as it was at an entry to a new file that its harness can resume; return its path.

    The copy has a new id, a title that names the entry, and the path to the entry without other branches.

    Args:
        path: The session's file.
        at: The entry's name or the beginning of it; by default the end of the session.
        to: The new file; by default "<new id>.jsonl" in the folder of the original. It has the permissions
            of the original.

    Raises the errors of `open_session`, `EditError` for a format other than Claude Code's and pi's, and
    `FileExistsError` if `to` exists.

    >>> from tempfile import TemporaryDirectory
    >>> row = '{"type": "user", "uuid": "%s", "parentUuid": %s, "message": {"content": "Hello"}}'
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "talk.jsonl")
    ...     _ = path.write_text(chr(10).join(row % pair for pair in (("a", "null"), ("b", '"a"'))))
    ...     len(open_session(path).entries), len(open_session(reopen_session(path, at="a")).entries)
    (2, 1)
    """
    from uuid import uuid4

    from .formats.exports.fork import fork_session, name_fork

    expect("reopen_session", at=(at, str, None))
    place = find_place(path)
    data = bytes(unpack_part(_read_whole(place)[1], str(place))[0])
    session = read_session(data, str(place), None)
    leaf = (session if at is None else session.at(at)).leaf or ""
    name = str(uuid4())
    content = fork_session(session, data, leaf, name, lambda: str(uuid4()), name_fork(session, leaf))
    target = place.with_name(f"{name}.jsonl") if to is None else resolve_place(to, "reopen_session")
    write_new(target, content, mode_of(place))
    return target


MOST_PLANS, MOST_PLAN_BYTES = 50, 1_000_000
"""The number of plan files read from a session's folder, and the largest size of each."""
TAIL = 1 << 16
"""Bytes at the end of a session's file that are searched for the names of its other files."""
MARK = 4096
"""Bytes at the beginning, and before the offset where reading continues, that identify the same file."""


class FileStat(NamedTuple):
    """Device, inode, size and time of the last change of a file."""

    device: int
    inode: int
    size: int
    modified: int


class FollowedFile:
    """A session file that may grow. `session` is its content at the last call of `poll`.

    After each `poll`, `session == open_session(path)`, also if the file was truncated or replaced. If a file
    of lines only grew, only its new bytes are read. A change in the middle that keeps the length is missed.

    >>> from tempfile import TemporaryDirectory
    >>> row = '{"type": "user", "uuid": "%s", "parentUuid": null, "message": {"content": "Hello"}}'
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "growing.jsonl")
    ...     _ = path.write_text(row % "a" + chr(10))
    ...     tail = FollowedFile(path)
    ...     with path.open("a") as file:
    ...         _ = file.write(row % "b" + chr(10))
    ...     len(tail.session.entries), len(tail.poll().entries), tail.poll()
    (1, 2, None)
    """

    def __init__(self, path: StrPath, format: str | None = None, *, once: bool = False) -> None:
        """Open the file. With `once`, it cannot be polled later. Raises the errors of `open_session`."""
        self.path: Path = find_place(path)
        self.format, self._once = format, once
        self.session: Session
        self._status: FileStat | None = None
        self._growth: IncrementalReader | None = None
        self._refused: tuple[FileStat, ReadError] | None = None
        self._head = self._mark = b""
        self._beside: dict[Path, FileStat] = {}
        self._search: tuple[str, ...] = ()
        self._most = MANY
        self._read_anew()
        _keep_mode(self.session, self.path, *self._beside)

    def poll(self) -> Session | None:
        """Read new content. Return the session, or None if it has not changed since the last `poll`.

        Raises `OSError` if the file is gone and `ReadError` if it holds no session; `session` then stays.
        """
        look, same = self._look(), self._look_beside() == self._beside
        if look == self._status and same:
            return None
        if self._refused is not None and look == self._refused[0]:
            # The unchanged file has been read and refused before.
            raise self._refused[1].with_traceback(None)
        grown = self._read_on() if same else None
        if grown is None:
            before = self.session
            try:
                self._read_anew()
            except ReadError as error:
                self._refused = look, error
                raise
            grown = self.session != before
        self._refused = None
        return _keep_mode(self.session, self.path, *self._beside) if grown else None

    def _look(self) -> FileStat:
        status = self.path.stat()
        check_regular(self.path, status)
        return _status(status)

    def _look_beside(self) -> dict[Path, FileStat]:
        """Return the state of the session's other files."""
        states: dict[Path, FileStat] = {}
        for path in _find_beside(self._search, self.path, self._most):
            with suppress(OSError):
                states[path] = _status(path.stat())
        return states

    def _read_on(self) -> bool | None:
        """Read what was added. Return whether there is anything, or None if the file must be read again."""
        growth, status = self._growth, self._status
        if growth is None or status is None:
            return None
        with open_regular(self.path) as file:
            now = _status(os.fstat(file.fileno()))
            # A file that changed without growing was not only appended to.
            if now[:2] != status[:2] or now.size <= status.size:
                return None
            head = file.read(len(self._head))
            file.seek(growth.offset - len(self._mark))
            mark, data = file.read(len(self._mark)), file.read()
        if (head, mark) != (self._head, self._mark) or not growth.continues(data):
            return None
        if set(growth.reader.find_beside(data, self.path.name)) - set(self._search):
            return None  # new lines name another file of it
        start = growth.offset
        # If it fails half-way, the next call reads the whole file again.
        self._growth = self._status = None
        changed = growth.feed(data)
        if changed:
            with naming(str(self.path), growth.reader):
                self.session = growth.make_session()
        self._mark = (mark + data[: growth.offset - start])[-MARK:]
        self._growth, self._status = growth, now
        return changed

    def _read_anew(self) -> None:
        self._growth = self._status = None
        if self._read_in_pieces():
            return
        status, packed = _read_whole(self.path)
        data, name = unpack_part(packed, str(self.path), None, self.format)
        reader = find_reader(data, name, self.format)
        self._search, self._most = reader.find_beside(data, self.path.name), reader.most_beside
        beside = self._look_beside()
        with naming(name, reader), paused_gc():
            self.session, growth = self._read(reader, data, several=bool(beside))
        self._beside = beside
        if data is not packed:
            growth = None  # a packed file is read again as a whole
        elif growth is not None:
            self._head, self._mark = packed[:MARK], packed[: growth.offset][-MARK:]
        self._growth, self._status = growth, status

    def _read_in_pieces(self) -> bool:
        """Read a large file of lines piece by piece. Return False if it is not one."""
        with open_regular(self.path) as file:
            status = os.fstat(file.fileno())
            if status.st_size < LARGE or not (head := file.read(FIRST)).startswith(b"{"):
                return False
            if (reader := find_lines_reader(head, str(self.path), self.format)) is None:
                return False
            file.seek(status.st_size - TAIL)
            search = dict.fromkeys(reader.find_beside(tail := file.read(), self.path.name))
            self._search, self._most = tuple(search), reader.most_beside
            beside = self._look_beside()
            growth = IncrementalReader(reader, _read_beside(reader, tail, self.path) if beside else {})
            file.seek(len(head))
            with naming(str(self.path), reader), paused_gc():
                for piece in read_pieces(file, head):
                    growth.feed_piece(piece)
                    search |= dict.fromkeys(reader.find_beside(piece, self.path.name))
                self._search = tuple(search)
                if reader.start_all is None and self._look_beside():
                    return False  # this reader needs all files at once
                self.session = growth.make_session(last=self._once)
            file.seek(start := max(growth.offset - MARK, 0))
            self._head, self._mark = head[:MARK], file.read(growth.offset - start)
        self._beside, self._growth, self._status = beside, None if self._once else growth, _status(status)
        return True

    def _read(self, reader: Reader, data: Data, *, several: bool) -> tuple[Session, IncrementalReader | None]:
        """Return the session and, for a file of lines in a certain format, the reader to continue with."""
        beside = _read_beside(reader, data, self.path) if several else {}
        if reader.start is None or (beside and reader.start_all is None):
            return read_all(reader, data, beside), None
        growth = IncrementalReader(reader, beside)
        growth.feed(bytes(data))
        session = growth.make_session()
        settled = self.format is not None or (len(data) > HEAD and session.records > LINES)
        return session, growth if settled else None


def _status(status: os.stat_result) -> FileStat:
    return FileStat(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
