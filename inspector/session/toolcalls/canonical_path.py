"""File paths in canonical form.

The canonical form of a path inside the session's working directory is relative to it, with forward
slashes; any other path is absolute. So `/home/ann/app/src/a.py`, `./src/a.py` and `src/a.py:12` are one
fact.
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache

LONGEST = 400
"""Maximum number of characters of a fact's form."""


def names(text: str) -> frozenset[str]:
    """Return the words of a line as a set: the notation for tables of names."""
    return frozenset(text.split())


DRIVE = re.compile(r"^[A-Za-z]:[/\\]")
_HOME = re.compile(r"^(?:/(?:home|Users)/[^/]+|/root|[A-Za-z]:/Users/[^/]+)(?=/|$)")
_LINE = re.compile(r"(?::\d+){1,2}(?:-\d+)?:?$|#L?\d+(?:-L?\d+)?$")


def find_home(cwd: str | None) -> str | None:
    """Return the home directory that contains a working directory, by the usual layouts; None if unknown."""
    match = _HOME.match((cwd or "").replace("\\", "/"))
    return match.group() if match else None


def canonical_path(path: str, cwd: str | None = None, base: str | None = None) -> str:
    """Return the canonical form of a path: relative inside `cwd`, else absolute, with forward slashes.

    `base` is the directory that relative paths start from, when it is not `cwd`. A line number after the
    path is left off. `~` is opened when `cwd` lies in a home directory.

    >>> canonical_path("/home/ann/app/src/../src/a.py:12", "/home/ann/app")
    'src/a.py'
    >>> canonical_path("~/app/src/a.py", "/home/ann/app"), canonical_path("~/x", "/srv/app")
    ('src/a.py', '~/x')
    >>> canonical_path(r"c:\\app\\src\\a.py", r"C:\\app"), canonical_path("a.py", "/app", "/app/src")
    ('src/a.py', 'src/a.py')
    """
    path = path.strip()
    if path[:7] == "file://":
        path = path[7:]
    path = _LINE.sub("", path)
    if "\\" in path:
        path = re.sub(r"\\+", "/", path)
    root = _plain_directory(cwd)
    if path[:2] == "~/" or path == "~":
        home = find_home(cwd)
        path = home + path[1:] if home else path
    elif not rooted(path):
        path = posixpath.join(_plain_directory(base) or root, path)
    path = plain(path)
    if root and rooted(root):
        if path == root:
            return "."
        fold = root[1:2] == ":"
        inside = path.lower().startswith(root.lower() + "/") if fold else path.startswith(root + "/")
        if inside:
            return path[len(root) + 1 :]
    return path


def rooted(path: str) -> bool:
    return path[:1] in ("/", "~") or bool(DRIVE.match(path))


def plain(path: str | None) -> str:
    if not path:
        return ""
    if "\\" in path:
        path = re.sub(r"\\+", "/", path)
    if DRIVE.match(path):
        path = path[0].upper() + path[1:]
    path = posixpath.normpath(path)
    return path[1:] if path[:2] == "//" else path


_plain_directory = lru_cache(16)(plain)  # of a session's few directories, asked for with every path
