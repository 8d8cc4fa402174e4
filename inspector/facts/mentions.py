"""Facts looked up in a text: as whole words, and paths part by part.

A search takes a fact's `FactPattern` and a text and returns a `Mention` or None. It is linear in the text,
and no pattern backtracks. `comparing.py` finds the facts that a summary says in other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

from ..session.blocks import Block
from ..session.session import Session
from ..session.toolcalls.core_command import drop_options, name_command, split_core
from ..session.toolcalls.positions import blank_escapes, restore, unescape
from ..text import has_words, has_words_at
from .commits import SHORTEST, is_commit
from .comparing import STATEMENTS
from .extract.collect import OPERATIONS
from .extract.errors import shorten_error
from .facts import Fact
from .path_index import PathIndex

_SURFACES = 4
_DEEPEST = 64
"""Folders that a path may go through: a text can be one run with a million slashes."""
_RUN = re.compile(r"[^\s\"'`()\[\]{}<>,;|=*]+")
_ONE_RUN = re.compile(r"[\w/~][\w./-]*[\w-]")
"""A path that is one run as it is written."""
_WHOLE = re.compile(rf"(?:{_RUN.pattern})(?<![.:!?…])")
# Suffixes that are not part of a file's name: a line, a range of lines, a name in the file ("::test_b").
_AFTER = re.compile(r"(?<=\w):(?:\d|:?[A-Za-z_]).*|#L?\d{1,9}(?:-L?\d{1,9})?$", re.DOTALL)
_CUT = re.compile(r"^(?:\.{3}|…)/")
"""The beginning of a path without its first folders, as in Git's statistics."""
WORD = re.compile(r"\w+")
LONG = 100_000
"""Characters from which a text stores the places of its words: 5 bytes for each place if words recur, 15 in a
log full of names."""


_TRIES = 16
"""Places at which a wording is looked for before the places of its words are stored."""
_MOST_READ = 64
"""How many times over a long text is searched for wordings from its start."""


class FactPattern(NamedTuple):
    """How a fact is looked up: its wordings, and the parts of its path if it is a file.

    `bare` is a file that was only ever called by its last part, or listed so: wherever it lies. `clauses` are
    the commands of a chain: a text that names each names it. `tails` are what is less than all of it, where
    that is words too: of a path that no run of text holds whole (it has a space or a bracket in it) its last
    part, of a command its first clause, what is left without the options at its end, and its program with the
    subcommand, of an error its first clause, of an address what comes behind its scheme, of a test its name,
    of a UUID its first digits. `commit` is a commit's id: Git and people shorten it as they like, so another
    length of it names it as well. `statement` is the kind and the form of a fact that a summary may say in
    other words.
    """

    wordings: tuple[str, ...]
    longest: tuple[str, ...]
    parts: tuple[str, ...]
    bare: bool = False
    clauses: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    commit: str = ""
    statement: tuple[str, str] | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """Words of which at least one occurs in every text that names the fact or a part of it.

        The parts of a file's path are not included. For a commit's id, the letters that every length of it
        begins with."""
        if self.commit:
            return (self.commit[:SHORTEST],)
        worded = [*self.clauses[:1], *self.tails]
        return tuple(dict.fromkeys([*self.longest, *map(longest_word, worded)]))

    @property
    def is_file(self) -> bool:
        """Whether the path's last part has an ending, as few folders have."""
        return "." in self.parts[-1].lstrip(".")


class Mention(NamedTuple):
    """A fact found in a text: the words in the text, and whether they are all of it or only a file's tail."""

    words: str
    full: bool


class SearchText:
    """A text that facts are looked up in, by a `TextIndex`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._read = 0  # characters that searches have read

    @cached_property
    def flat(self) -> str:
        """The text on one line. A blank that is escaped for the shell counts as a blank."""
        return " ".join((self.text.replace("\\ ", " ") if "\\ " in self.text else self.text).split())

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(WORD.findall(self.text))

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where each word begins in the flat text."""
        places: dict[str, list[int]] = {}
        for word in WORD.finditer(self.flat):
            places.setdefault(word.group(), []).append(word.start())
        return places

    def has_words(self, wording: str) -> bool:
        """Whether the text contains a wording with its words whole.

        A long text is searched from its start until that has read it many times over. Then only the places of
        the wording's rarest word are read: a full search for each of its facts would take quadratic time.
        """
        if len(self.flat) < LONG or not wording:
            return has_words(self.flat, wording)
        at = -1
        for _ in range(_TRIES if self._read < _MOST_READ * len(self.flat) else 0):
            last, at = at, self.flat.find(wording, at + 1)
            self._read += (at if at >= 0 else len(self.flat)) - last
            if at < 0 or has_words_at(self.flat, wording, at):
                return at >= 0
        words = [(self._places.get(word.group(), ()), word.start()) for word in WORD.finditer(wording)]
        if not words:
            return has_words(self.flat, wording)
        places, offset = min(words, key=lambda word: len(word[0]))
        return any(has_words_at(self.flat, wording, place - offset) for place in places)

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """Everything that may be a path, or a part of one, once each."""
        return tuple(dict.fromkeys(find_runs(self.text, both=True)))


@lru_cache(64)
def read_words(text: str) -> SearchText:
    """Return a text prepared for searches; the last few are kept, because every plan has the same head."""
    return SearchText(text)


def longest_word(words: str) -> str:
    """The longest word of a wording: no text without it holds the wording. "" if it has no words."""
    if words.isascii() and words.isidentifier():
        return words  # most are symbols
    return max(WORD.findall(words), key=len, default="")


# A path of Windows that names no drive: its folders may begin with n, r or t as an escape does.
_BACKSLASHED = re.compile(r"(?<![\w.\\/-])(?:[\w.-]+\\{1,2})+[\w-][\w.-]*\.[A-Za-z]\w{0,7}\b")


def find_runs(text: str, *, both: bool = False) -> Iterator[str]:
    r"""Stretches of text that may be paths, without line numbers and punctuation, parted by "/".

    The backslash of "one\two.py" may separate folders or begin an escape. `both` yields both readings, for a
    search for a known path.

    >>> list(find_runs("see `./src/a.py:12-40`, src/b.py::test_c or a.py."))
    ['see', 'src/a.py', 'src/b.py', 'or', 'a.py']
    >>> list(find_runs(r"src\new.ts")), list(find_runs(r"src\new.ts", both=True))
    (['src', 'ew.ts'], ['src', 'ew.ts', 'src/new.ts'])
    """
    if _ONE_RUN.fullmatch(text):
        yield text
        return
    plain = blank_escapes(text)
    yield from _part_runs(plain)
    if both and plain is not text:
        for match in _BACKSLASHED.finditer(text):
            yield from _part_runs(match[0])


def _part_runs(text: str) -> Iterator[str]:
    return filter(None, map(_bare, _find_plain(text)))


def _find_plain(text: str) -> list[str]:
    return _RUN.findall(text.replace("\\\\", "/").replace("\\", "/"))


def _bare(run: str) -> str:
    bare = run.rstrip(".:!?…")
    if ":" in bare or "#" in bare:
        folder, slash, name = bare.rpartition("/")
        bare = folder + slash + _AFTER.sub("", name)
    return _CUT.sub("", bare.rstrip("/").removeprefix("file://")).removeprefix("./")


def find_paths(text: str) -> set[str]:
    r"""The runs, either reading, that have a folder or an ending: a word alone is no path here.

    A long text says the same ones often, and most of its runs are words: each is parted once, and no word is.

    >>> sorted(find_paths("see src/a.py:12, src/a.py or Makefile")), sorted(find_paths(r"src\new.ts"))
    (['src/a.py'], ['ew.ts', 'src/new.ts'])
    """
    plain = blank_escapes(text)
    runs = set(_find_plain(plain))
    if plain is not text:
        for match in _BACKSLASHED.finditer(text):
            runs.update(_find_plain(match[0]))
    paths = map(_bare, (run for run in runs if "." in run or "/" in run))
    return {path for path in paths if "." in path or "/" in path}


def read_run(run: str, pattern: FactPattern) -> Mention | None:
    """How much a run says of a path: all of it, its tail, or nothing."""
    name = "/".join(pattern.parts)
    # Users point a model at a file by "@src/a.py".
    whole = run in pattern.wordings or run.removeprefix("@") in pattern.wordings
    longer = run.endswith("/" + name.lstrip("/"))
    # The name of a file in the working directory ends many a path; two parts are taken for the same file.
    if (whole and _may_be_file(run)) or (longer and (pattern.bare or len(pattern.parts) > 1)):
        return Mention(run, True)
    tail = longer or (name.endswith("/" + run.removeprefix("@")) and _may_be_file(run))
    return Mention(run, False) if tail else None


def _may_be_file(run: str) -> bool:
    """Whether a word may be a path or its tail: "rules" and "go" are words of every text, LICENSE is not."""
    return "/" in run or "." in run or run[:1].isupper()


def is_rooted(path: str) -> bool:
    """Whether a path begins at a root, a home or a drive."""
    return path.startswith(("/", "~")) or path[1:3] == ":/"


def sort_by_name(folders: Iterable[str]) -> dict[str, list[str]]:
    """Folders by their last part, each list in alphabetical order."""
    named: dict[str, list[str]] = {}
    for folder in sorted(folders):
        named.setdefault(folder.rpartition("/")[2], []).append(folder)
    return named


def find_through(folders: PathIndex, pattern: FactPattern) -> list[str]:
    """The folders, in their order, that are a path's: under its name, or of two parts and more under a longer
    one, as with files."""
    if pattern.is_file:
        return []
    longer = "/" + "/".join(pattern.parts).lstrip("/") if len(pattern.parts) > 1 else None
    matches = folders.find(pattern.wordings, pattern.parts)
    return [run for run in matches if run in pattern.wordings or (longer and run.endswith(longer))]


def find_folders(run: str) -> Iterator[str]:
    """The folders that a path goes through, the outermost first; no more than `_DEEPEST`.

    >>> list(find_folders("src/deep/a.py"))
    ['src', 'src/deep']
    """
    at = 0
    for _ in range(_DEEPEST):
        at = run.find("/", at + 1)
        if at < 0:
            return
        yield run[:at]


def make_pattern(fact: Fact, session: Session) -> FactPattern:
    """How a fact is looked up: its canonical form, and as it was said first and last."""
    wordings = dict.fromkeys([" ".join(fact.form.split())])
    start, end = fact.facts.offset[fact.number : fact.number + 2].tolist()
    # A symbol is always written in the same way.
    for block, words in _find_surfaces(fact, session) if fact.kind != "symbol" else ():
        if words != fact.form or "\\" in words or '"' in words:
            words = restore(unescape(words)) if block.kind == "tool_call" else " ".join(words.split())
            if words:
                wordings.setdefault(words)
    parts: tuple[str, ...] = ()
    bare = False
    clauses: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    if fact.kind == "command":
        pieces = split_core(fact.form)
        clauses = pieces if len(pieces) > 1 else ()
        less = [*clauses[:1], *map(drop_options, pieces), *map(name_command, pieces)]
        tails = tuple(dict.fromkeys(filter(None, less)))
    elif fact.kind == "error":
        tails = tuple(shorten_error(fact.form))
    elif fact.kind == "url":
        wordings.setdefault(fact.form.rstrip("/"))
        tails = (fact.form.partition("://")[2].rstrip("/") or fact.form,)
    elif fact.kind == "id" and _UUID.fullmatch(fact.form):
        tails = (fact.form[:8],)
    if fact.kind == "file":
        # The working directory's own form, ".", is not how anyone writes it.
        form = (session.cwd if fact.form == "." and session.cwd else fact.form).replace("\\", "/").rstrip("/")
        parts = tuple(form.split("/"))
        whole = [form] if is_rooted(form) or not session.cwd else [form, f"{session.cwd}/{form}"]
        runs = dict.fromkeys(run for words in [*whole, *wordings] for run in find_runs(words, both=True))
        named = len(parts) == 1 and not any("/" in words for words in wordings)
        bare = named and set(fact.facts.operation[start:end].tolist()) <= {-1, OPERATIONS.index("listed")}
        # A bare name said for the file is a tail of it, not all of it.
        wordings = dict.fromkeys(w for w in runs if w == form or w.endswith("/" + form.lstrip("/")))
        wordings.setdefault(form)
        if not _WHOLE.fullmatch(form):
            whole = [" ".join(words.split()) for words in whole]
            wordings, parts = dict.fromkeys([*whole, *wordings]), ()
            tails = (whole[0].rpartition("/")[2],)
    if fact.kind == "text" and (case := _CASE.fullmatch(fact.form)) is not None:
        tails = (case[1],)
    longest = tuple(map(longest_word, wordings))
    commit = fact.form if fact.kind in ("id", "symbol") and is_commit(fact.form) else ""
    statement = (fact.kind, fact.form) if fact.kind in (*STATEMENTS, "text") else None
    return FactPattern(tuple(wordings), longest, parts, bare, clauses, tails, commit, statement)


_CASE = re.compile(r"[\w./-]+\.\w+::(?:\w+::)*(\w{4,})(?:\[.*\])?")  # a test by its file, as runners print it
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _find_surfaces(fact: Fact, session: Session) -> Iterator[tuple[Block, str]]:
    """The blocks that say a fact first and last, and how it is written there."""
    facts = fact.facts
    start, end = facts.offset[fact.number : fact.number + 2].tolist()
    entries, index = facts.session.entries, session.index
    for at in dict.fromkeys([*range(start, min(start + _SURFACES, end)), *range(max(end - 1, start), end)]):
        entry = entries[facts.entry[at]]
        if entry.id in index:
            block = session.entries[index[entry.id]].blocks[facts.block[at]]
            yield block, block.text[facts.start[at] : facts.end[at]]
