"""Find file paths in a text.

Text is searched in columns: one pass classes the characters, and only the runs of path characters that hold
a slash or end in a known suffix are looked at one by one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...session.toolcalls.canonical_path import DRIVE, LONGEST, canonical_path, plain, rooted
from ...session.toolcalls.looks_like_path import (
    BARE,
    ROOTS,
    SUFFIX,
    WELL_KNOWN,
    cut_token,
    is_told,
    looks_like_path,
)
from ...session.toolcalls.positions import find_each
from .code_points import WORD, code_points
from .word_places import Places

_IMPORT = re.compile(r"(?:\bfrom|\bimport|require\(|import\(|\bmodule|\bresolve)\s*$")
_DYNAMIC_BEFORE, _DYNAMIC_AFTER = frozenset("$}*<{"), frozenset("*{")
_QUOTED = re.compile(r"""["'`]((?:~|\.\.?|[A-Za-z]:)?[/\\][^"'`\n]{1,300})["'`]""")
# As a terminal writes a path that is dropped into it, Claude Code the source of a picture, macOS a picture.
_DROPPED = re.compile(r"(?<![\w\\/.~])(?:~|\.{0,2})/(?:[^\s\\\"'`<>|]|\\ |\u202f){1,300}")
_PICTURE_WORD = "[Image: source: "
_IMAGE = re.compile(r"\[Image: source: ([^\]\n]{1,400})\]")
_SHOT_WORDS = ("Screenshot", "Screen Shot", "Screen Recording", "CleanShot")
PATH_WORDS = (*WELL_KNOWN, *_SHOT_WORDS, _PICTURE_WORD)
_SHOT = re.compile(
    rf"(?:(?:~|\.{{0,2}})/(?:[\w.@+%~-]{{1,80}}/){{0,20}})?(?:{'|'.join(_SHOT_WORDS)})"
    r"[ \u202f]\d{4}-\d\d-\d\d[ \u202f]at[ \u202f]\d{1,2}\.\d\d\.\d\d(?:[ \u202f][AP]M)?"
    r"(?: \(?\d{1,3}\)?)?(?:@2x)?\.[A-Za-z]\w{1,3}"
)
_RUNS = re.compile(r"(?:[A-Za-z]:)?[\w./\\~@+%#-]+")

_PATH_CHARACTERS = WORD.copy()
_PATH_CHARACTERS[[ord(char) for char in "./\\~@+%#-"]] = True


class PathFinder:
    """Finds paths in text; knows those that tools were given, and so the directories they lie in.

    `programs` are the names of those that tools ran, `windows` whether paths have backslashes here.
    """

    def __init__(self, cwd: str | None) -> None:
        self.cwd = cwd
        self.windows = bool(DRIVE.match(cwd or ""))
        self.programs: set[str] = set()
        self._known_paths: set[str] = set()
        self._odd: list[str] = []
        self._roots = set(ROOTS)
        self._verdicts: dict[str | None, dict[str, tuple[int, int, str] | None]] = {}
        self.learn(cwd or "")

    def learn(self, path: str) -> None:
        """Take a path for known: its form and its parents count when a text names them."""
        if path in self._known_paths:
            return
        path = plain(path)
        if SUFFIX.search(path) and path not in self._known_paths and not _RUNS.fullmatch(path):
            self._odd.append(path)
        if rooted(path) and path.count("/") > 1:
            self._roots.add(path.split("/")[1])
        while path and path not in (".", "/", "~", "..") and path not in self._known_paths:
            self._known_paths.add(path)
            path = posixpath.dirname(path)

    def find(self, text: str, base: str | None, places: Places) -> Iterator[tuple[int, int, str]]:
        """(start, end, canonical form) of every path that `text` names, those with spaces first.

        `base` is the directory that relative paths start from, when it is not the session's; `places` are
        those of PATH_WORDS.
        """
        verdicts = self._verdicts.setdefault(base, {})
        quoted = list(self._spaced(text, places))
        yield from quoted
        pieces, last = [], 0
        for start, end, _ in quoted:
            pieces += [text[last:start], " " * (end - start)]
            last = end
        text = "".join([*pieces, text[last:]]) if quoted else text
        starts, ends = _runs(text, places)
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
            if verdict is None:
                if after and is_told(text, start, end):
                    yield start, end, canonical_path(token, self.cwd, base)
                continue
            skip, length, form = verdict
            path = token[skip : skip + length]
            if before in _DYNAMIC_BEFORE or after in _DYNAMIC_AFTER:
                bold = "**" in (text[start - 2 : start], text[end : end + 2])
                if not bold or path[0] in "/." or path[-1] == "/":
                    continue
            if path[0] == "/" and before and self._is_rest(text, start, path):
                continue
            if path[:2] in ("a/", "b/") and _in_diff(text, start):
                skip, length, path = skip + 2, length - 2, path[2:]
                form = canonical_path(path, self.cwd)
            elif path[0] == "." and before in ("'", '"', "`"):
                if _IMPORT.search(text, max(0, start - 12), start - 1):
                    continue  # relative to the importing file, which the text does not name
            yield start + skip, start + skip + length, form

    def _spaced(self, text: str, places: Places) -> Iterator[tuple[int, int, str]]:
        """Paths with spaces or brackets in them, in order: those passed to tools anywhere, quoted ones with a
        suffix of files, and as a terminal or macOS writes them."""
        hits = [
            (at, at + len(path), path)
            for odd in self._odd
            for whole in dict.fromkeys((odd, posixpath.join(plain(self.cwd), odd)))
            for path in dict.fromkeys((whole, whole.replace(" ", "\\ ")))
            for at in find_each(text, path)
        ]
        for match in _QUOTED.finditer(text) if "/" in text or "\\" in text else ():
            path = match.group(1)
            if " " in path and SUFFIX.search(path) and not re.search(r"[,;|&<>*$(){}]| -|\s\s", path):
                if not any(part[:1] in ("/", "~") for part in path.split(" ")[1:]):
                    hits.append((match.start(1), match.end(1), path))
        if "\\" in text and "\\ " in text:
            dropped = (match for match in _DROPPED.finditer(text) if "\\ " in match[0])
            hits += [(*match.span(), match[0]) for match in dropped if SUFFIX.search(match[0])]
        if _PICTURE_WORD in places:
            hits += [(*match.span(1), match[1]) for match in _IMAGE.finditer(text) if " " in match[1]]
        if any(word in places for word in _SHOT_WORDS):
            hits += [(*match.span(), match[0]) for match in _SHOT.finditer(text)]
        until = 0
        for start, end, path in sorted(hits, key=lambda hit: (hit[0], -hit[1])):
            if start >= until and not (start and (text[start - 1].isalnum() or text[start - 1] in "/~\\")):
                yield start, end, canonical_path(path.replace("\\ ", " "), self.cwd)
                until = end

    def _judge(self, token: str, base: str | None) -> tuple[int, int, str] | None:
        """(characters in front that are no part of it, length, form), or None when the token is no path."""
        skip, path = cut_token(token)
        if not path:
            return None
        form = canonical_path(path, self.cwd, base)
        if (
            base
            and form not in self._known_paths
            and (plain := canonical_path(path, self.cwd)) in self._known_paths
        ):
            form = plain
        is_known = form in self._known_paths and ("/" in path or "\\" in path)
        return (skip, len(path), form) if form and (is_known or looks_like_path(path, self._roots)) else None

    def _is_rest(self, text: str, start: int, path: str) -> bool:
        """Whether a path from no known root is the rest of another: `<id>/a.json`, `dir + "/a.json"`."""
        if path.split("/", 2)[1] in self._roots:
            return False
        before = text[max(0, start - 4) : start]
        return before[-1] in ">)]" or bool(re.search(r"\+ ?\\?[\"'`]$", before))


def _in_diff(text: str, start: int) -> bool:
    """Whether a token is in the head of a diff, in which git writes `a/` and `b/` before paths."""
    if text[max(0, start - 4) : start] in ("--- ", "+++ "):
        return True
    line = text.rfind("\n", max(0, start - LONGEST), start) + 1
    return text.find("diff --git ", line, min(line + 24, start)) >= 0  # after an optional line number


def _runs(text: str, places: Places) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the starts and ends of runs of path characters with a slash, a suffix or a well-known name."""
    codes = code_points(text)
    slashes = np.flatnonzero((codes == 0x2F) | (codes == 0x5C))
    suffixes = np.fromiter((match.start() for match in BARE.finditer(text)), np.int64)
    telling = [slashes, suffixes, *(places[name] for name in WELL_KNOWN if name in places)]
    if not any(map(len, telling)):
        return slashes, slashes
    inside = _PATH_CHARACTERS.take(codes)
    telling = [at[inside[at]] for at in telling]  # a name may be in a path that has been blanked
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    starts, ends = edges[::2], edges[1::2]
    chosen = np.zeros(len(starts), bool)
    for offsets in telling:
        chosen[np.searchsorted(starts, offsets, "right") - 1] = True
    chosen &= ends - starts > 2
    return starts[chosen], ends[chosen]
