"""File paths: how one is written in its canonical form, and where a text names one.

The canonical form of a path inside the session's working directory is relative to it, with forward
slashes; any other path is absolute. So `/home/ann/app/src/a.py`, `./src/a.py` and `src/a.py:12` are one
fact. Text is searched in columns: one pass classes the characters, and only the runs of path characters
that hold a slash or end in a known suffix are looked at one by one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

LONGEST = 400
"""Characters of the longest form that is kept, of any kind of fact."""


def names(text: str) -> frozenset[str]:
    """The words of a line, as a set: how tables of names are written down."""
    return frozenset(text.split())


_SUFFIXES = names("""py pyi ipynb js jsx ts tsx mjs cjs mts json jsonl json5 md mdx rst txt toml yaml yml
ini cfg
conf go rs cc cpp hpp cxx cs java kt kts swift rb php pl sh bash zsh fish ps1 bat sql html htm css scss sass
less vue svelte astro xml svg png jpg jpeg gif webp ico pdf csv tsv parquet proto graphql gql tf tfvars nix
lua exs erl hs clj scala dart jl zig wasm whl plist gradle cmake tmpl j2 mk adoc tex sol prisma db sqlite
traj eval gemspec csproj sln patch""")
# These follow a dot in code too ("console.log", "self.map"), so they count only after a slash.
_AFTER_SLASH = names("""c h r d m mm ex log map env so dll exe zip gz tar tgz bz2 xz lock sum mod bak tmp
diff snap
dylib bin o a out golden example local work key pem crt""")
_BARE = re.compile(rf"\.(?:{'|'.join(sorted(_SUFFIXES))})(?![\w(/\\]|\.\w)")
_SUFFIX = re.compile(rf"\.(?:{'|'.join(sorted(_SUFFIXES | _AFTER_SLASH))})$", re.IGNORECASE)
_DOTFILE = re.compile(r"/\.[a-z][\w-]*(?:\.[\w-]+)*$|(?:^|/)(?:Makefile|Dockerfile|LICENSE|README)$")
_PRODUCTS = names("node.js next.js vue.js react.js three.js d3.js express.js nuxt.js ember.js")
_HOST = re.compile(r"^(?:www\.)?[\w-]+(?:\.[\w-]+)*\.(?:com|org|io|dev|net|ai|co|app|edu|gov|in|sh|me)$")
_ROOTS = names(
    "home Users usr etc tmp var opt root workspace workspaces mnt srv private proc bin lib sbin "
    "Library Applications Volumes testbed"
)
_DRIVE = re.compile(r"^[A-Za-z]:[/\\]")
_HOME = re.compile(r"^(?:/(?:home|Users)/[^/]+|/root|[A-Za-z]:/Users/[^/]+)(?=/|$)")
_LINE = re.compile(r"(?::\d+){1,2}(?:-\d+)?:?$|#L?\d+(?:-L?\d+)?$")
_IMPORT = re.compile(r"(?:\bfrom|\bimport|require\(|import\(|\bmodule|\bresolve)\s*$")
# A line of context as grep prints it: "src/a.py-12-" and the line's own words.
_CONTEXT = re.compile(r"-\d{1,6}(?:-.*)?$")
_BACKSLASHED = re.compile(r"[\w.-]+(?:\\[\w.-]+)+")
_DYNAMIC_BEFORE, _DYNAMIC_AFTER = frozenset("$}*<{"), frozenset("*{")
_QUOTED = re.compile(r"""["'`]((?:~|\.\.?|[A-Za-z]:)?[/\\][^"'`\n]{1,300})["'`]""")


def find_home(cwd: str | None) -> str | None:
    """The home directory a working directory lies in, by the usual layouts; None when it does not tell."""
    match = _HOME.match((cwd or "").replace("\\", "/"))
    return match.group() if match else None


def canonical_path(path: str, cwd: str | None = None, base: str | None = None) -> str:
    """The one way to write a path: relative inside `cwd`, else absolute, always with forward slashes.

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
    root = _plain(cwd)
    if path[:2] == "~/" or path == "~":
        home = find_home(cwd)
        path = home + path[1:] if home else path
    elif not _rooted(path):
        path = posixpath.join(_plain(base) or root, path)
    path = _plain(path)
    if root and _rooted(root):
        if path == root:
            return "."
        fold = root[1:2] == ":"
        inside = path.lower().startswith(root.lower() + "/") if fold else path.startswith(root + "/")
        if inside:
            return path[len(root) + 1 :]
    return path


def _rooted(path: str) -> bool:
    return path[:1] in ("/", "~") or bool(_DRIVE.match(path))


def _plain(path: str | None) -> str:
    if not path:
        return ""
    if "\\" in path:
        path = re.sub(r"\\+", "/", path)
    if _DRIVE.match(path):
        path = path[0].upper() + path[1:]
    path = posixpath.normpath(path)
    return path[1:] if path[:2] == "//" else path


class PathFinder:
    """Finds paths in text; knows those that tools were given, and so the directories they lie in."""

    def __init__(self, cwd: str | None) -> None:
        self.cwd = cwd
        self._known: set[str] = set()
        self._roots = set(_ROOTS)
        self._verdicts: dict[str | None, dict[str, tuple[int, int, str] | None]] = {}
        self.learn(cwd or "")

    def learn(self, path: str) -> None:
        """Take a path for known: its form and its parents count when a text names them."""
        path = _plain(path)
        if _rooted(path) and path.count("/") > 1:
            self._roots.add(path.split("/")[1])
        while path and path not in (".", "/", "~", "..") and path not in self._known:
            self._known.add(path)
            path = posixpath.dirname(path)

    def find(self, text: str, base: str | None = None) -> Iterator[tuple[int, int, str]]:
        """(start, end, canonical form) of every path that `text` names, those with spaces first.

        `base` is the directory that relative paths start from, when it is not the session's.
        """
        verdicts = self._verdicts.setdefault(base, {})
        quoted = list(self._quoted(text)) if "/" in text or "\\" in text else []
        yield from quoted
        pieces, last = [], 0
        for start, end, _ in quoted:
            pieces += [text[last:start], " " * (end - start)]
            last = end
        text = "".join([*pieces, text[last:]]) if quoted else text
        starts, ends = _runs(text)
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            if end - start > LONGEST:
                continue
            token = text[start:end]
            before, after = text[start - 1 : start], text[end : end + 1]
            if token[0] in "/\\" and before == ":":
                drive = text[start - 2 : start - 1]
                if not (drive.isascii() and drive.isalpha()) or text[start - 3 : start - 2].isalnum():
                    continue  # "https://…", "file://…"
                token, start = text[start - 2 : end], start - 2
                before = text[start - 1 : start]
            if token not in verdicts:
                verdicts[token] = self._judge(token, base)
            verdict = verdicts[token]
            if verdict is None or before in _DYNAMIC_BEFORE or after in _DYNAMIC_AFTER:
                continue
            skip, length, form = verdict
            path = token[skip : skip + length]
            if path[:2] in ("a/", "b/") and _in_diff(text, start):
                skip, length, path = skip + 2, length - 2, path[2:]
                form = canonical_path(path, self.cwd)
            elif path[0] == "." and before in ("'", '"', "`"):
                if _IMPORT.search(text, max(0, start - 12), start - 1):
                    continue  # relative to the importing file, which the text does not name
            yield start + skip, start + skip + length, form

    def _quoted(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Paths with spaces in them: whole inside quotes, and with a suffix that files have."""
        for match in _QUOTED.finditer(text):
            path = match.group(1)
            if " " in path and _SUFFIX.search(path) and not re.search(r"[,;|&<>*$(){}]| -|\s\s", path):
                if not any(part[:1] in ("/", "~") for part in path.split(" ")[1:]):
                    yield match.start(1), match.end(1), canonical_path(path, self.cwd)

    def _judge(self, token: str, base: str | None) -> tuple[int, int, str] | None:
        """(characters in front that are no part of it, length, form), or None when the token is no path."""
        skip = len(token) - len(token.lstrip("-+%#"))
        if token[skip : skip + 1] == "@" and token[skip + 1 : skip + 2] not in ("", "/"):
            skip += 1
        path = token[skip:].split("#", 1)[0].rstrip(".-")
        context = _CONTEXT.search(path)
        if context and _SUFFIX.search(path[: context.start()]):
            path = path[: context.start()]
        if len(path) < 3 or "//" in path or not any(char.isalnum() for char in path):
            return None
        slashed = path.replace("\\\\", "/")
        if "\\" in slashed and not (_DRIVE.match(path) or _BACKSLASHED.fullmatch(slashed)):
            return None
        form = canonical_path(path, self.cwd, base)
        if base and form not in self._known and (plain := canonical_path(path, self.cwd)) in self._known:
            form = plain
        found = form and self._is_path(path, slashed.replace("\\", "/"), form)
        return (skip, len(path), form) if found else None

    def _is_path(self, path: str, slashed: str, form: str) -> bool:
        if form in self._known and "/" in slashed:
            return True
        first, _, rest = slashed.lstrip("~/").partition("/")
        named = bool(_SUFFIX.search(slashed)) and not slashed.endswith(("/", "\\"))
        if _DRIVE.match(path):
            return True
        if "\\" in path:
            return named
        if slashed[0] == "/":
            return named or (first in self._roots and bool(rest)) or slashed in ("/tmp", "/etc")
        if slashed[:2] == "~/":
            return bool(first)
        if "/" not in slashed:
            return (
                bool(_BARE.search(slashed))
                and slashed.lower() not in _PRODUCTS
                and slashed[0] not in "\\%"
                and slashed[:6] != "_test."
            )
        if first == "application" or (_HOST.match(first) and not first.startswith(".")) or first == "@":
            return False
        if named and slashed.rpartition("/")[2].count(".") == 1 and "/." in slashed[-8:]:
            return False  # a suffix alone: "src/.mjs"
        if named or _DOTFILE.search(slashed):
            return True
        return slashed[0] == "." and first.startswith(".") and len(first) > 2 and rest != ""


def _in_diff(text: str, start: int) -> bool:
    """Whether a token stands in the head of a diff, where git writes `a/` and `b/` before paths."""
    if text[max(0, start - 4) : start] in ("--- ", "+++ "):
        return True
    line = text.rfind("\n", max(0, start - LONGEST), start) + 1
    return text.find("diff --git ", line, min(line + 24, start)) >= 0  # a line number may stand before it


def _classes() -> NDArray[np.bool_]:
    table = np.zeros(0x10000, bool)
    for code in range(0x80, 0x10000):
        table[code] = chr(code).isalnum()
    for char in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./\\~@+%#-":
        table[ord(char)] = True
    return table


_PATH_CHARACTERS = _classes()


def code_points(text: str) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """One number per character; those past the first plane become 0xFFFF."""
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    wide = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return np.minimum(wide, 0xFFFF).astype(np.uint16)


def _runs(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the runs of path characters start and end that hold a slash or a suffix."""
    codes = code_points(text)
    inside = _PATH_CHARACTERS[codes]
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    starts, ends = edges[::2], edges[1::2]
    if not len(starts):
        return starts, ends
    slashes = np.flatnonzero((codes == 0x2F) | (codes == 0x5C))
    suffixes = np.fromiter((match.start() for match in _BARE.finditer(text)), np.int64)
    wanted = np.zeros(len(starts), bool)
    wanted[np.searchsorted(starts, slashes, "right") - 1] = True
    wanted[np.searchsorted(starts, suffixes, "right") - 1] = True
    wanted &= ends - starts > 2
    return starts[wanted], ends[wanted]
