"""What stands in a context, block by block, and whether a fact can still be read there.

In goes a plan or a session at a leaf, out comes a `Standing`: the blocks that stand as they were said, and
the texts that stand in others' place (summaries, pointers, shortened outputs). Facts are looked up in the
latter as whole words, paths part by part. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from .assembly import build_context
from .blocks import Block, BlockRef
from .facts import Fact
from .live import Bools
from .plan import Plan
from .provenance import is_summary
from .session import Session

How = Literal["head", "shortened", "summary", "notice", "pointer"]
PROSE = ("constraint", "decision", "todo")
"""Kinds that are sentences: another wording of most of the same words counts as the same."""
SAME_WORDS = 0.8
"""Share of a sentence's longer words that a line must hold to say the same; a choice of ours."""
_SURFACES = 4
_RUN = re.compile(r"[^\s\"'`()\[\]{}<>,;|=*]+")
_LINE = re.compile(r"(?::\d{1,9}){1,2}$|#L\d{1,9}(?:-L?\d{1,9})?$")
_WORD = re.compile(r"\w+")


class Stand(NamedTuple):
    """A text that stands in the place of others: where it is, how it came, and the blocks it stands for.

    Text that no file holds is pointed at by `@summary` and `@notice` in place of an entry.
    """

    ref: BlockRef
    text: str
    how: How
    of: tuple[BlockRef, ...] = ()
    recorded: bool = False


class Pattern(NamedTuple):
    """How a fact is looked up: its wordings, and the parts of its path if it is a file."""

    wordings: tuple[str, ...]
    longest: tuple[str, ...]
    parts: tuple[str, ...]
    prose: frozenset[str]


class Mention(NamedTuple):
    """A fact found in a text: the words as they stand there, and whether all of it or only a file's tail."""

    words: str
    full: bool


@dataclass(frozen=True, eq=False)
class Standing:
    """`rows` (bool over the blocks of the file, and a last False): the block stands as it was said."""

    session: Session
    rows: Bools
    others: tuple[Stand, ...]

    @cached_property
    def texts(self) -> tuple[Words, ...]:
        """The other texts, ready to be searched."""
        return tuple(Words(stand.text) for stand in self.others)

    @cached_property
    def index(self) -> Index:
        """The words and paths of the blocks that stand as they were said."""
        return Index(self)

    def mentions(self, pattern: Pattern) -> Iterator[tuple[Stand, Mention]]:
        """Where a fact is found in the other texts."""
        for stand, words in zip(self.others, self.texts, strict=True):
            found = words.find(pattern, stand.how == "summary")
            if found is not None:
                yield stand, found


class Index:
    """The blocks of a standing by their words and by the last part of what may be a path in them."""

    def __init__(self, standing: Standing) -> None:
        session = self.session = standing.session
        start = session.tree.start
        self.refs: dict[int, BlockRef] = {}
        self.words: dict[str, list[int]] = {}
        self.runs: dict[str, dict[str, list[int]]] = {}
        rows = np.flatnonzero(standing.rows)
        owners = np.searchsorted(start, rows, side="right") - 1
        for i, row in zip(owners.tolist(), rows.tolist(), strict=True):
            entry, number = session.entries[i], row - int(start[i])
            self.refs[row] = BlockRef(entry.id, number)
            text = entry.blocks[number].text
            for word in set(_WORD.findall(text)):
                self.words.setdefault(word, []).append(row)
            for run in set(find_runs(text)):
                if "." in run or "/" in run:
                    self.runs.setdefault(run.rpartition("/")[2], {}).setdefault(run, []).append(row)

    def find(self, pattern: Pattern, rows: Bools) -> tuple[tuple[BlockRef, ...], Mention] | None:
        """Where a fact stands in those of these rows that nobody has marked as saying it."""
        if pattern.parts:
            known = self.runs.get(pattern.parts[-1], {})
            runs = {run: mine for run, places in known.items() if (mine := [r for r in places if rows[r]])}
            found = best_run(sorted(runs), pattern)
            return None if found is None else (tuple(self.refs[r] for r in runs[found.words]), found)
        for wording, longest in zip(pattern.wordings, pattern.longest, strict=True):
            mine = [row for row in self.words.get(longest, ()) if rows[row]]
            refs = tuple(self.refs[row] for row in mine if has_words(self._flat(row), wording))
            if refs:
                return refs, Mention(wording, True)
        return None

    def _flat(self, row: int) -> str:
        entry, number = self.refs[row]
        return " ".join(self.session.block(BlockRef(entry, number)).text.split())


class Words:
    """A text that facts are looked up in."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def flat(self) -> str:
        return " ".join(self.text.split())

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.text))

    @cached_property
    def lines(self) -> list[frozenset[str]]:
        return [long_words(line) for line in self.text.split("\n") if line.strip()]

    @cached_property
    def runs(self) -> dict[str, list[str]]:
        """Everything that may be a path, by its last part."""
        found: dict[str, list[str]] = {}
        for run in find_runs(self.text):
            found.setdefault(run.rpartition("/")[2], []).append(run)
        return found

    def find(self, pattern: Pattern, loosely: bool = False) -> Mention | None:
        """The fact in this text; a file's full name goes before its tail."""
        if pattern.parts:
            return best_run(self.runs.get(pattern.parts[-1], ()), pattern)
        for wording, longest in zip(pattern.wordings, pattern.longest, strict=True):
            if (not longest or longest in self.words) and has_words(self.flat, wording):
                return Mention(wording, True)
        if loosely and len(pattern.prose) > 1:
            need = SAME_WORDS * len(pattern.prose)
            if any(len(pattern.prose & line) >= need for line in self.lines):
                return Mention("the same in other words", True)
        return None


def has_words(text: str, wording: str) -> bool:
    """Whether a wording stands in a text and neither begins nor ends inside a word of it.

    >>> has_words("see data.py", "a.py"), has_words("see a.py.", "a.py")
    (False, True)
    """
    at = text.find(wording) if wording else -1
    while at >= 0:
        end = at + len(wording)
        before = at > 0 and wording[0].isalnum() and (text[at - 1].isalnum() or text[at - 1] == "_")
        after = end < len(text) and wording[-1].isalnum() and (text[end].isalnum() or text[end] == "_")
        if not (before or after):
            return True
        at = text.find(wording, at + 1)
    return False


def long_words(text: str) -> frozenset[str]:
    """The words of four letters and more, in lower case."""
    return frozenset(word for word in _WORD.findall(text.casefold()) if len(word) > 3)


def find_runs(text: str) -> Iterator[str]:
    """Stretches of text that may be paths, without line numbers and punctuation, parted by "/".

    >>> list(find_runs("see `./src/a.py:12`, or a.py."))
    ['see', 'src/a.py', 'or', 'a.py']
    """
    for run in _RUN.findall(text.replace("\\\\", "/").replace("\\n", "\n").replace("\\", "/")):
        bare = _LINE.sub("", run.rstrip(".:!?…")).rstrip("/")
        bare = bare.removeprefix("file://").removeprefix("./")
        if bare:
            yield bare


def best_run(runs: Iterable[str], pattern: Pattern) -> Mention | None:
    """The run that says most of a path: all of it, or its longest tail."""
    weak = ""
    name = "/".join(pattern.parts)
    for run in runs:
        if run in pattern.wordings or run == name or run.endswith("/" + name.lstrip("/")):
            return Mention(run, True)
        if name.endswith("/" + run) and len(run) > len(weak):
            weak = run
    return Mention(weak, False) if weak else None


def make_pattern(fact: Fact, session: Session) -> Pattern:
    """How a fact is looked up: its canonical form, and as it was said first and last."""
    wordings = dict.fromkeys([" ".join(fact.form.split())])
    for said in (*fact.said[:_SURFACES], *fact.said[-1:]):
        if said.ref.entry in session.index:
            words = " ".join(session.block(said.ref).text[said.start : said.end].split())
            if words:
                wordings.setdefault(words)
    parts: tuple[str, ...] = ()
    if fact.kind == "file":
        form = fact.form.replace("\\", "/").rstrip("/")
        parts = tuple(form.split("/"))
        wordings = dict.fromkeys(run for words in [form, *wordings] for run in find_runs(words))
        # A bare name said for the file is a tail of it, not all of it.
        wordings = dict.fromkeys(w for w in wordings if w == form or not form.endswith("/" + w))
    longest = tuple(max(_WORD.findall(words), key=len, default="") for words in wordings)
    prose = long_words(fact.form) if fact.kind in PROSE else frozenset()
    return Pattern(tuple(wordings), longest, parts, prose)


def stand_live(session: Session) -> Standing:
    """What stands in the context at a session's leaf."""
    live, tree = session.live, session.tree
    rows = np.zeros(int(tree.start[-1]) + 1, bool)
    rows[tree.start[live.entries[live.position]] + live.block] = ~live.cleared
    others = list(_head(session))
    for i in live.entries.tolist():
        entry = session.entries[i]
        if entry.kind != "message" and is_summary(entry):
            rows[tree.start[i] : tree.start[i + 1]] = False
            others += [_recorded(BlockRef(entry.id, n), block) for n, block in enumerate(entry.blocks)]
    return Standing(session, rows, tuple(others))


def stand_plan(plan: Plan) -> Standing:
    """What stands in the context that a plan leaves, its stand-in summary included."""
    session, tree = plan.session, plan.session.tree
    rows = np.zeros(int(tree.start[-1]) + 1, bool)
    others = list(_head(session))
    made = 0
    for piece in build_context(session, plan).pieces:
        ref = piece.origin[0] if len(piece.origin) == 1 else None
        if ref is not None and not piece.stand_in:
            blocks = session[ref.entry].blocks
            original = blocks[ref.block] if ref.block < len(blocks) else None
            if piece.summary:
                others.append(_recorded(ref, piece.block))
            elif piece.block is original:
                rows[tree.start[tree.index[ref.entry]] + ref.block] = True
            else:
                how: How = "pointer" if piece.fate == "pointer" else "shortened"
                others.append(Stand(ref, piece.block.text, how, piece.origin))
            continue
        name = "@summary" if piece.summary else "@notice"
        how = "summary" if piece.summary else "notice"
        others.append(Stand(BlockRef(name, made), piece.block.text, how, piece.origin))
        made += 1
    return Standing(session, rows, tuple(others))


def _recorded(ref: BlockRef, block: Block) -> Stand:
    return Stand(ref, block.text, "summary", (), True)


def _head(session: Session) -> Iterator[Stand]:
    for number, block in enumerate(session.system):
        yield Stand(BlockRef("@system", number), block.text, "head")
    for number, given in enumerate(session.provided):
        yield Stand(BlockRef("@provided", number), given.text, "head")
