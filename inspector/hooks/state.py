"""I/O: the memory of hooks between events: a private folder for each session, deleted after 30 days.

Folders have mode 0700 and files 0600. A file is replaced whole, so that a reader, or a process that is
killed, never sees half of one.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

STATE = "COMPACTION_INSPECTOR_STATE"
"""The environment variable that names another folder."""
MOST_DAYS, SAME_SECONDS = 30, 10.0
_LOCK_SECONDS, _MOST_LOG = 1.0, 200_000
_FILES = ("snapshot.json", "report.json", "report.md", "events.json", "lock")


def find_state_folder() -> Path:
    """Return the folder of all sessions.

    Raises:
        OSError: The user has no home.
    """
    if named := os.environ.get(STATE):
        return Path(named).absolute()
    from platformdirs import user_state_path

    folder = user_state_path("compaction-inspector")
    if not folder.is_absolute():
        raise FileNotFoundError("the user has no home")
    return folder


class HookState:
    """The files of one session below the folder of all; the id must be one that `is_session_id` accepts."""

    def __init__(self, root: Path, session: str) -> None:
        self.root = root
        self.folder = root / "sessions" / session

    def make(self) -> None:
        """Create the folder. Raises `OSError` if it cannot be, or belongs to another user."""
        for folder in (self.root, self.folder.parent, self.folder):
            folder.mkdir(0o700, parents=True, exist_ok=True)
            if hasattr(os, "getuid") and folder.lstat().st_uid != os.getuid():
                raise PermissionError("the state folder belongs to another user")
            if folder.is_symlink() and folder != self.root:
                raise PermissionError("the state folder is a link")
            folder.chmod(0o700)

    def read(self, name: str) -> dict[str, Any]:
        """Return a file's object; {} without one, or if it is not an object."""
        return read_object(self.folder / name)

    def write(self, name: str, value: dict[str, Any] | str) -> None:
        """Write an object or a text, as a whole or not at all."""
        self.make()
        replace_file(self.folder / name, value if isinstance(value, str) else json.dumps(value))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other hooks of the session waiting. Raises `TimeoutError` if another one does not end."""
        self.make()
        try:
            import fcntl
        except ImportError:  # Windows: files are replaced whole there too, and events seldom coincide
            yield
            return
        handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            until = time.monotonic() + _LOCK_SECONDS
            while True:
                with suppress(BlockingIOError):
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                if time.monotonic() > until:
                    raise TimeoutError("another hook holds the lock")
                time.sleep(0.01)
            yield
        finally:
            os.close(handle)

    def is_new_event(self, name: str) -> bool:
        """Return whether no equal event was noted in the last seconds, and note this one."""
        now = time.time()
        events = {key: at for key, at in self.read("events.json").items() if isinstance(at, float)}
        recent = {key: at for key, at in events.items() if 0 <= now - at < SAME_SECONDS}
        if name in recent:
            return False
        self.write("events.json", {**recent, name: now})
        return True


def read_object(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; {} without one, or if it is not an object."""
    with suppress(OSError, ValueError):
        value = json.loads(path.read_text("utf-8"))
        return value if isinstance(value, dict) else {}
    return {}


def replace_file(path: Path, text: str) -> None:
    """Write a private file next to a path and move it there."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def prune(root: Path) -> None:
    """Delete the sessions without an event in `MOST_DAYS` days, and what a killed process left."""
    for folder in (root / "sessions").iterdir():
        if folder.is_symlink() or not folder.is_dir():
            continue
        files = list(folder.iterdir())
        last = max((file.lstat().st_mtime for file in files), default=folder.stat().st_mtime)
        if time.time() - last < MOST_DAYS * 86_400:
            continue
        for file in files:
            if file.name in _FILES or (file.name[0] == "." and file.name[1:].startswith(_FILES)):
                file.unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()


def log_failure(event: str, problem: str) -> None:
    """Add a line to the log. It never raises and never holds words of a session."""
    with suppress(Exception):
        root = find_state_folder()
        root.mkdir(0o700, parents=True, exist_ok=True)
        path = root / "hook.log"
        if path.exists() and path.stat().st_size > _MOST_LOG:
            path.unlink()
        line = " ".join(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {event} {problem}".split())
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, f"{line[:400]}\n".encode("ascii", "replace"))
        finally:
            os.close(handle)


# Pins: words that the user wants given back after every compaction, for a project's folder.


def _pins_file(folder: str) -> Path:
    return find_state_folder() / "pins" / f"{hashlib.sha256(str(folder).encode()).hexdigest()[:24]}.json"


def read_folder_pins(folder: str) -> list[str]:
    """Return the pins of a folder."""
    with suppress(OSError, TypeError):
        return [pin for pin in read_object(_pins_file(folder)).get("pins", ()) if isinstance(pin, str)]
    return []


def read_pins(folder: str) -> list[str]:
    """Return the pins of a folder and of the folders above it, the nearest last."""
    places = (*reversed(Path(folder).parents), Path(folder)) if folder else ()
    return list(dict.fromkeys(pin for place in places for pin in read_folder_pins(str(place))))


def write_pins(folder: str, pins: list[str]) -> None:
    """Set the pins of a folder."""
    path = _pins_file(folder)
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    replace_file(path, json.dumps({"folder": folder, "pins": pins}))
