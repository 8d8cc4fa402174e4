"""I/O: the results of a compaction in a folder: the manifest, the earlier ones, an archive, spilled outputs.

The manifest is moved into its place last and whole, so a writer that is killed leaves the old one or the new
one. Everything else is kept under the hash of its content, or under a name that cannot leave the folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..errors import EditError, EscapeError, ReadError, WriteConflict, expect
from ..files import StrPath, find_place, open_session, resolve_place, write_whole
from ..formats.manifest import READER, dump_manifest
from ..formats.readers import read_session
from ..formats.whole_file import take_lock
from ..policies.rules.spill_outputs import Spill, SpillOutputs, find_spills
from ..redaction.clean import find_secrets, redact_session
from ..redaction.redact import Redactor, SecretFinding
from ..session.json_text import dump_lossless
from ..session.provenance import file_mode_of
from ..session.session import Session
from .compaction import CompactionResult
from .record import archive_plan, stored_part

LOCK = ".lock"


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Keep other writers out of a folder. Raises `WriteConflict` at once when one is in it."""
    handle = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        try:
            take_lock(handle)
        except OSError:
            raise WriteConflict(str(folder), "another writer is at work there") from None
        yield
    finally:
        # Closing it gives it back. The file stays: removing it would let two in at once.
        os.close(handle)


CURRENT, EARLIER, ARCHIVE = "manifest.json", "earlier", "archive"
PREVIOUS = "previous"
"""Key of a manifest's `extra` for its predecessor: a file in the folder of earlier manifests."""
HASHED = re.compile(r"[0-9a-f]{64}\.json")


class Saved(NamedTuple):
    """The files of a saved compaction; `archive` is None if no entry was removed.

    `redacted` are the secrets that were taken out of everything written.
    """

    manifest: Path
    earlier: Path
    archive: Path | None
    outputs: tuple[Path, ...]
    redacted: tuple[SecretFinding, ...] = ()


def save_compaction(transition: CompactionResult, folder: StrPath, *, keep_secrets: bool = False) -> Saved:
    """Write what a compaction left: the new manifest last, so that all it speaks of is there before it.

    The manifest before it is kept under its hash and named in the new one, what left the context is archived
    once, and each spilled output is a file of its own. Secrets are taken out of all of it unless they are to
    be kept. Raises `WriteConflict` when another writer is at work or the manifest there is not the one that
    was compacted, `EscapeError` for an output that would leave the folder, `EditError` when there is nothing
    to save, `RedactionError` and `OSError`; then the old manifest is still in place.

    >>> from tempfile import TemporaryDirectory
    >>> from inspector import Checkpoint, compact
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}])
    >>> done = compact(session, "claude-code", Checkpoint(text="So far: src/a.py."))
    >>> with TemporaryDirectory() as folder:
    ...     saved = save_compaction(done, folder)
    ...     print(saved.manifest.name, saved.archive.parent.name, open_session(saved.manifest).leaf)
    manifest.json archive compaction-1
    """
    expect("save_compaction", transition=(transition, CompactionResult))
    home = resolve_place(folder, "save_compaction")
    if transition.after.leaf == transition.session.leaf:
        raise EditError("save", transition.plan.policy.name, transition.why or "nothing was compacted")
    cleaner = None if keep_secrets else find_secrets(transition.after)

    def clean(session: Session) -> Session:
        return session if cleaner is None else redact_session(session, cleaner)

    home.mkdir(parents=True, exist_ok=True)
    mode = file_mode_of(transition.session)
    with hold(home):
        _sweep(home)
        current = home / CURRENT
        session = clean(transition.session)
        before = current.read_bytes() if current.exists() else dump_manifest(session).encode("ascii")
        stored: Session | None = None
        with suppress(ReadError):
            stored = read_session(before, CURRENT, READER.name)
        earlier_entries = () if stored is None else clean(stored).entries
        begins = session.entries[: len(earlier_entries)] == earlier_entries
        if stored is None or stored.id != session.id or not begins:
            raise WriteConflict(str(home), "the manifest there is not the session that was compacted")
        spills = [(_inside(home, spill.path), spill.text) for spill in _spills(transition)]
        if cleaner is not None:
            before = dump_manifest(clean(stored)).encode("ascii")
        earlier = _write_once(home / EARLIER, before, mode)
        record = _archive(transition, cleaner)
        archive = None if record is None else _write_once(home / ARCHIVE, record, mode)
        for place, text in spills:
            place.parent.mkdir(parents=True, exist_ok=True)
            cleaned = cleaner.clean(text) if cleaner else text
            write_whole(place, cleaned.encode("utf-8", "surrogatepass"), mode)
        after = clean(transition.after)
        after = after.model_copy(update={"extra": {**after.extra, PREVIOUS: earlier.name}})
        write_whole(current, dump_manifest(after).encode("ascii"), mode)
    redacted = [f for f in (() if cleaner is None else cleaner.findings) if f.grade == "secret"]
    return Saved(current, earlier, archive, tuple(place for place, _ in spills), tuple(redacted))


def open_earlier(path: StrPath) -> Session:
    """Open the session before the one in a manifest. Raises `ReadError` if none is named.

    >>> from tempfile import TemporaryDirectory
    >>> from inspector import Checkpoint, compact
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}])
    >>> done = compact(session, "claude-code", Checkpoint(text="So far: src/a.py."))
    >>> with TemporaryDirectory() as folder:
    ...     manifest = save_compaction(done, folder).manifest
    ...     print(open_session(manifest).leaf, open_earlier(manifest).leaf)
    compaction-1 m1
    """
    manifest = find_place(path)
    name = open_session(manifest).extra.get(PREVIOUS)
    if not isinstance(name, str) or not HASHED.fullmatch(name):
        raise ReadError(str(manifest), detail="it names no earlier manifest")
    beside = manifest.parent / name
    earlier = beside if manifest.parent.name == EARLIER else manifest.parent / EARLIER / name
    if f"{sha256(earlier.read_bytes()).hexdigest()}.json" != name:
        raise ReadError(str(earlier), detail="it was changed since it was kept")
    return open_session(earlier)


def _write_once(folder: Path, content: bytes, mode: int | None) -> Path:
    """Write a file named after the hash of its content, unless it exists."""
    folder.mkdir(exist_ok=True)
    place = folder / f"{sha256(content).hexdigest()}.json"
    if not place.exists() or place.read_bytes() != content:
        write_whole(place, content, mode)
    return place


def _archive(transition: CompactionResult, cleaner: Redactor | None) -> bytes | None:
    if not transition.done:
        return None
    plan = stored_part(transition.plan)
    path = plan.session.path
    moment = (plan.session.entries[path[-1]].timestamp if path else None) or ""
    record = archive_plan(plan, moment)
    if record is not None and cleaner is not None:
        record = cleaner.clean_tree(record)
        cleaner.check(record)
    return None if record is None else dump_lossless(record).encode("ascii")


def _spills(transition: CompactionResult) -> list[Spill]:
    plan = stored_part(transition.plan)
    rules = (rule for rule in plan.policy.rules if isinstance(rule, SpillOutputs) and rule.enabled)
    return [spill for rule in rules for spill in find_spills(rule, plan.table)] if transition.done else []


def _inside(home: Path, path: str) -> Path:
    """Resolve a path in the folder of the manifest. Raises `EscapeError` if it leaves the folder."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    place = home.joinpath(*parts) if parts else home
    real = Path(os.path.realpath(place))
    is_reserved = not parts or parts[0].casefold() in (CURRENT, EARLIER, ARCHIVE, LOCK)
    is_odd = ".." in parts or "\0" in path or ":" in path
    if is_reserved or is_odd or not real.is_relative_to(home) or real != place:
        raise EscapeError(path, str(home))
    return place


def _sweep(home: Path) -> None:
    """Remove the temporary files of killed writers. The caller holds the lock on the folder."""
    for folder in (home, home / EARLIER, home / ARCHIVE):
        for file in folder.glob(".*.tmp"):
            with suppress(OSError):
                file.unlink()
