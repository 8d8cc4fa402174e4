"""Find the sessions in a file with several: an archive, a log of samples, an export or a database.

Nothing is written to disk, so file names in an archive need no check. Packed data is unpacked up to the
limits of `containers.py`: size, ratio and number of files. Archives inside archives are not opened; links and
devices in a tar archive are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import BinaryIO, NamedTuple, overload

from ..errors import EditError, InspectorError, ReadError, SeveralSessions
from ..mixins import Printable
from ..session.provenance import FILE_MODE
from ..session.session import Session
from ..text import plural, printable, printed
from . import databases
from .containers import ENTRIES, LARGEST, StoredFile, open_zip, read_entry, unpack
from .file_kind import UNPACK, name_foreign
from .json_document import HEAD, close_head, refuse
from .json_lines import Data
from .readers import find_reader, naming, read_session, unpack_named
from .requests import chat_exports, document_lists, inspect_log, scout

_EXPORT = re.compile(r"(?:^|/)conversations[^/]*\.json$")
"""Name of the file with the conversations in exports of Claude.ai and ChatGPT."""
WORDS = 200
"""Maximum number of characters of a reason."""


def list_parts(data: Data) -> tuple[str, list[StoredFile]] | None:
    """Return the kind of a container and its files in order; None if the data is not a container.

    Raises `ReadError` if it is broken or contains too many files.
    """
    samples = inspect_log.list_samples(data)
    if samples:
        return "an Inspect log", samples
    chats = chat_exports.list_conversations(data)
    if chats:
        return "an export", chats
    documents = document_lists.list_documents(data)
    if documents is not None:
        return documents
    transcripts = scout.list_transcripts(data)
    if transcripts:
        return scout.KIND, transcripts
    stored = databases.list_stored(data)
    if stored is not None:
        return stored
    kind = name_foreign(data).removesuffix(UNPACK)
    if kind not in ("a zip archive", "a tar archive"):
        return None
    files = _list_zip(data) if kind == "a zip archive" else _list_tar(data)
    return kind, [part for file in files for part in _open_export(file)]


def _open_export(file: StoredFile) -> list[StoredFile]:
    """Return the conversations if a file of an archive is an export, else the file itself."""
    if not _EXPORT.search(file.name):
        return [file]
    try:
        chats = chat_exports.list_conversations(file.read())
    except ReadError:
        chats = []  # the error is reported when the file itself is read
    return chats or [file]


def holds_files(data: Data) -> bool:
    """Return whether the data is an archive, a database with sessions, or an export of several conversations.

    Archives that are documents or programs do not count.
    """
    if scout.is_scout(data):
        return True
    if name_foreign(data) in (f"a zip archive{UNPACK}", f"a tar archive{UNPACK}"):
        return True
    if databases.may_hold_sessions(data) or document_lists.name_list(data):
        return True
    return bool(chat_exports.list_conversations(data))


def _list_zip(data: Data) -> Iterator[StoredFile]:
    archive = open_zip(data)
    if archive is None:
        raise refuse("it is a zip archive that is empty or broken")
    for item in archive.infolist():
        if not item.is_dir():
            yield StoredFile(item.filename, item.file_size, lambda item=item: read_entry(archive, item, data))  # type: ignore[misc]


def _list_tar(data: Data) -> Iterator[StoredFile]:
    import tarfile

    view = memoryview(data)
    try:
        with tarfile.open(fileobj=BytesIO(view), mode="r:") as archive:
            for number, item in enumerate(archive):
                if number == ENTRIES:
                    raise refuse(f"it holds more than {ENTRIES:,} files")
                # The header of a sparse file may claim a size that is far larger than its data.
                if item.isreg() and not item.issparse():
                    piece = view[item.offset_data : item.offset_data + item.size]
                    yield StoredFile(item.name, len(piece), lambda piece=piece: bytes(piece))  # type: ignore[misc]
    except (tarfile.TarError, EOFError, ValueError):
        raise refuse("its archive is broken") from None


class StoredSession(NamedTuple):
    """A session in a file that contains several.

    `size` is unpacked bytes, `format` the name of the reader, `mode` the permissions of the whole file, if
    known. Of another file `format` is "", and `problem` says why it is not a session.
    """

    name: str
    size: int
    format: str
    problem: str
    part: StoredFile
    mode: int | None = None

    def open(self) -> Session:
        """Read the session. Raises what `read_session` raises."""
        session = read_session(self.part.read(), self.name, self.format or None)
        session.__dict__[FILE_MODE] = self.mode
        return session


class StoredSessions(Printable, Sequence[StoredSession]):
    """The sessions of a file, in order. `others` lists the files that are not sessions, with the reason."""

    def __init__(self, sessions: Sequence[StoredSession]) -> None:
        self._sessions = tuple(session for session in sessions if not session.problem)
        self.others = tuple(session for session in sessions if session.problem)

    @overload
    def __getitem__(self, key: int | str) -> StoredSession: ...
    @overload
    def __getitem__(self, key: slice) -> StoredSessions: ...
    def __getitem__(self, key: int | str | slice) -> StoredSession | StoredSessions:
        """Return a session by index or name. Raises `EditError` if there is no session with this name."""
        if isinstance(key, slice):
            return StoredSessions(self._sessions[key])
        if isinstance(key, str):
            match = next((session for session in self._sessions if session.name == key), None)
            if match is None:
                raise EditError("part", key, f"no session has this name; there are {name_some(self)}")
            return match
        return self._sessions[key]

    def __len__(self) -> int:
        return len(self._sessions)

    @printed
    def __repr__(self) -> str:
        lines = [
            f"{printable(session.name, WORDS)}  {session.format}, {session.size:,} bytes" for session in self
        ]
        unread = sum(session.problem.startswith(NOT_READ) for session in self.others)
        other = len(self.others) - unread
        more = [f"{plural(other, 'other file')}, no session"] if other else []
        more += [f"{plural(unread, 'file')} {TOO_MANY}"] if unread else []
        return "\n".join([plural(len(self), "session"), *lines, *more])


NOT_READ = "not looked at"
TOO_MANY = f"{NOT_READ}: together they are larger than {LARGEST >> 20:,} MiB"


def name_some(sessions: Sequence[StoredSession]) -> str:
    """Format the first names as the user has to write them."""
    names = [repr(printable(session.name, WORDS)) for session in sessions[:3]]
    return ", ".join([*names, "…"] if len(sessions) > 3 else names) or "none"


def list_sessions(
    data: Data, name: str, format: str | None = None, mode: int | None = None
) -> StoredSessions:
    """List the sessions in a file. `mode` is the permissions of the file, None if they are unknown.

    Raises `ReadError` if the file is neither a session nor an archive.
    """
    with naming(name):
        listed = list_parts(data)
    if listed is None:
        reader = find_reader(data, name, format)
        whole = StoredFile(name, len(memoryview(data)), lambda: data)
        return StoredSessions([StoredSession(name, whole.size, reader.name, "", whole, mode)])
    return StoredSessions([session._replace(mode=mode) for session in _look(listed[1], format)])


def _look(parts: Sequence[StoredFile], format: str | None) -> list[StoredSession]:
    """Find the reader of each part. All parts together may not unpack to more than one file may."""
    sessions, unpacked = [], 0
    for part in parts:
        reader = problem = ""
        if unpacked + part.size > LARGEST:
            problem = TOO_MANY
        else:
            try:
                data = unpack_named(unpack(part.read()), part.name)
                unpacked += len(memoryview(data))
                reader = find_reader(data, part.name, format).name
            except InspectorError as error:
                problem = printable(str(error).removeprefix(f"{part.name} "), WORDS)
        sessions.append(StoredSession(part.name, part.size, reader, problem, part))
    return sessions


def choose_part(data: Data, name: str, part: str | None, format: str | None = None) -> tuple[Data, str]:
    """Return the bytes of one session and its name in errors. Without an archive this is the whole data.

    Without `part`, it is the only session of an archive or the first of a log. Raises `SeveralSessions` if
    there are several and `part` names none, `EditError` if no session has this name, and `ReadError` if no
    file is a session, or the named one could not be read.
    """
    if part is None and inspect_log.list_samples(data):
        return data, name
    with naming(name):
        listed = list_parts(data)
    if listed is None:
        if part is not None:
            raise EditError("part", part, f"{name} holds one session, and no parts")
        return data, name
    # The named file of a large archive is read, even if all files together exceed the limit.
    named = [file for file in listed[1] if file.name == part]
    sessions = StoredSessions(_look(named or listed[1], format))
    if named and not sessions and sessions.others[0].problem.startswith(NOT_READ):
        raise ReadError(f"{name}: {part}", detail=sessions.others[0].problem)
    if part is None:
        if len(sessions) > 1:
            raise SeveralSessions(name, listed[0], [session.name for session in sessions])
        if not sessions:
            count = plural(len(listed[1]), "file")
            unread = sum(session.problem.startswith(NOT_READ) for session in sessions.others)
            more = f"; {plural(unread, 'file')} {TOO_MANY}" if unread else ""
            which = "of those looked at" if unread else "of them"
            raise ReadError(name, detail=f"it is {listed[0]} of {count}, and none {which} is a session{more}")
    session = sessions[0] if part is None else sessions[part]
    return unpack_named(session.part.read(), session.name), f"{name}: {session.name}"


def unpack_part(
    data: Data, name: str, part: str | None = None, format: str | None = None, *, is_file: bool = True
) -> tuple[Data, str]:
    """Unpack data or one part of a container. Returns the content, and its name in errors.

    An export that is not a file is returned whole: its reader takes the first conversation with messages and
    warns about the others. Raises the same errors as `choose_part`.
    """
    if part is not None:
        return choose_part(data if list_parts(data) else unpack_named(data, name), name, part, format)
    content = unpack_named(data, name)
    if holds_files(content) and (is_file or not chat_exports.list_conversations(content)):
        return choose_part(content, name, None, format)
    return content, name


def recognise_beginning(file: BinaryIO) -> str:
    """Return the name of the reader that reads the session in a file; "" if the file is not a single session.

    At most 1 MiB is read. No reader looks further to recognise a file.

    >>> from io import BytesIO
    >>> recognise_beginning(BytesIO(b'[{"role": "user", "content": "Hello"}]'))
    'anthropic-messages'
    >>> recognise_beginning(BytesIO(b'{"name": "tide", "version": "1.0.0"}'))
    ''
    """
    head = file.read(HEAD + 1)
    try:
        return find_reader(unpack_part(_complete(head) if len(head) > HEAD else head, "data")[0]).name
    except InspectorError:
        return ""


def _complete(head: bytes) -> bytes:
    """Return the beginning of a file without its last line or element, which is incomplete."""
    try:
        return close_head(head)
    except ValueError:
        return head[: head.rfind(b"\n") + 1]  # lines, or no JSON
