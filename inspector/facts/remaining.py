"""What stands in a context, block by block, and whether a fact can still be read there.

In goes a plan or a session at a leaf, out comes a `Remaining`: the blocks that stand as they were said, and
the texts that stand in others' place (summaries, pointers, shortened outputs).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ..planning.assemble import build_context
from ..planning.plan import Plan
from ..session.blocks import Block, BlockRef
from ..session.queries import is_summary
from ..session.session import Session
from ..session.tree import Bools
from .mentions import (
    WORD,
    FactPattern,
    Mention,
    SearchText,
    best_run,
    find_folders,
    find_runs,
    has_words,
    read_words,
)

How = Literal["head", "shortened", "summary", "notice", "pointer"]


class RemainingText(NamedTuple):
    """A text that stands in the place of others: where it is, how it came, and the blocks it stands for.

    Text that no file holds is pointed at by `@summary` and `@notice` in place of an entry.
    """

    ref: BlockRef
    text: str
    how: How
    of: tuple[BlockRef, ...] = ()
    recorded: bool = False


@dataclass(frozen=True, eq=False)
class Remaining:
    """`rows` (bool over the blocks of the file, and a last False): the block stands as it was said."""

    session: Session
    rows: Bools
    others: tuple[RemainingText, ...]

    @cached_property
    def texts(self) -> tuple[SearchText, ...]:
        """The other texts, ready to be searched; the same text, such as a placeholder, is read once."""
        made: dict[str, SearchText] = {}
        for stand in self.others:
            if stand.text not in made:
                made[stand.text] = read_words(stand.text)
        return tuple(made[stand.text] for stand in self.others)

    @cached_property
    def index(self) -> TextIndex:
        """The words and paths of the blocks that stand as they were said."""
        return TextIndex(self)

    @cached_property
    def _readable(self) -> dict[FactPattern, bool]:
        return {}

    def names(self, pattern: FactPattern) -> bool:
        """Whether any text that stands names all of a fact, marked or not; kept once found."""
        if pattern not in self._readable:
            found = any(mention.full for _, mention in self.mentions(pattern))
            self._readable[pattern] = found or self._find_unmarked(pattern) != ()
        return self._readable[pattern]

    def carriers(self, pattern: FactPattern) -> tuple[tuple[RemainingText, ...], tuple[BlockRef, ...]]:
        """The other texts that name all of a fact, and the blocks that stand as they were said and do."""
        stands = tuple(stand for stand, mention in self.mentions(pattern) if mention.full)
        return stands, self._find_unmarked(pattern)

    def _find_unmarked(self, pattern: FactPattern) -> tuple[BlockRef, ...]:
        found = self.index.find(pattern, self.rows)
        return found[0] if found is not None and found[1].full else ()

    def mentions(self, pattern: FactPattern) -> Iterator[tuple[RemainingText, Mention]]:
        """Where a fact is found in the other texts."""
        for number in sorted(self._may_name(pattern)):
            stand = self.others[number]
            found = self.texts[number].find(pattern, stand.how == "summary")
            if found is not None:
                yield stand, found

    def pointers(self, said: Collection[BlockRef]) -> list[RemainingText]:
        """The pointers that stand for any of these blocks."""
        numbers = {number for ref in said for number in self._pointed.get(ref, ())}
        return [self.others[number] for number in sorted(numbers)]

    def _may_name(self, pattern: FactPattern) -> set[int]:
        """Numbers of the other texts that hold a word without which none of them names a fact."""
        keys = self.keys
        if pattern.parts:
            found = set(keys.runs.get(pattern.parts[-1], ()))
            folders = () if pattern.is_file else pattern.wordings
            return found.union(*(keys.folders.get(folder, ()) for folder in folders))
        if not all(pattern.longest):
            return set(range(len(self.others)))
        found = {number for word in pattern.longest for number in keys.words.get(word, ())}
        return found.union(keys.summaries) if len(pattern.prose) > 1 else found

    @cached_property
    def keys(self) -> Keys:
        """The other texts by what they hold."""
        keys = Keys({}, {}, {}, [])
        for number, (stand, words) in enumerate(zip(self.others, self.texts, strict=True)):
            for word in words.words:
                keys.words.setdefault(word, []).append(number)
            for name in words.runs:
                keys.runs.setdefault(name, []).append(number)
            for folder in words.folders:
                keys.folders.setdefault(folder, []).append(number)
            if stand.how == "summary":
                keys.summaries.append(number)
        return keys

    @cached_property
    def _pointed(self) -> dict[BlockRef, list[int]]:
        found: dict[BlockRef, list[int]] = {}
        for number, stand in enumerate(self.others):
            for ref in stand.of if stand.how == "pointer" else ():
                found.setdefault(ref, []).append(number)
        return found


class Keys(NamedTuple):
    """Numbers of texts by their words, by the last parts of what may be a path, by folders; the summaries."""

    words: dict[str, list[int]]
    runs: dict[str, list[int]]
    folders: dict[str, list[int]]
    summaries: list[int]


class TextIndex:
    """The blocks of a standing by their words and by the last part of what may be a path in them."""

    def __init__(self, standing: Remaining) -> None:
        session = self.session = standing.session
        start = session.tree.start
        self.refs: dict[int, BlockRef] = {}
        self.flat: dict[int, str] = {}
        self.words: dict[str, list[int]] = {}
        self.runs: dict[str, dict[str, list[int]]] = {}
        self.folders: dict[str, list[int]] = {}
        rows = np.flatnonzero(standing.rows)
        owners = np.searchsorted(start, rows, side="right") - 1
        for i, row in zip(owners.tolist(), rows.tolist(), strict=True):
            entry, number = session.entries[i], row - int(start[i])
            self.refs[row] = BlockRef(entry.id, number)
            text = entry.blocks[number].text
            for word in set(WORD.findall(text)):
                self.words.setdefault(word, []).append(row)
            runs = set(find_runs(text))
            for run in runs:
                if "." in run or "/" in run:
                    self.runs.setdefault(run.rpartition("/")[2], {}).setdefault(run, []).append(row)
            for folder in {folder for run in runs if "/" in run for folder in find_folders(run)}:
                self.folders.setdefault(folder, []).append(row)

    def find(self, pattern: FactPattern, rows: Bools) -> tuple[tuple[BlockRef, ...], Mention] | None:
        """Where a fact stands in those of these rows that nobody has marked as saying it."""
        if pattern.parts:
            known = self.runs.get(pattern.parts[-1], {})
            runs = {run: mine for run, places in known.items() if (mine := [r for r in places if rows[r]])}
            found = best_run(sorted(runs), pattern)
            if found is not None and found.full:
                return tuple(self.refs[r] for r in runs[found.words]), found
            for folder in () if pattern.is_file else pattern.wordings:
                if inside := [row for row in self.folders.get(folder, ()) if rows[row]]:
                    return tuple(self.refs[row] for row in inside), Mention(folder + "/", True)
            return None if found is None else (tuple(self.refs[r] for r in runs[found.words]), found)
        for wording, longest in zip(pattern.wordings, pattern.longest, strict=True):
            # What holds no word at all, such as a lone "🚀", is looked for in every block.
            mine = [row for row in (self.words.get(longest, ()) if longest else self.refs) if rows[row]]
            refs = tuple(self.refs[row] for row in mine if has_words(self._flat(row), wording))
            if refs:
                return refs, Mention(wording, True)
        return None

    def find_all(self, pattern: FactPattern) -> set[int]:
        """Every row of the file that names all of a fact."""
        rows: set[int] = set()
        if pattern.parts:
            for run, places in self.runs.get(pattern.parts[-1], {}).items():
                found = best_run((run,), pattern)
                rows.update(places if found is not None and found.full else ())
            folders = () if pattern.is_file else pattern.wordings
            return rows.union(*(self.folders.get(folder, ()) for folder in folders))
        for wording, longest in zip(pattern.wordings, pattern.longest, strict=True):
            mine = self.words.get(longest, ()) if longest else self.refs
            rows.update(row for row in mine if row not in rows and has_words(self._flat(row), wording))
        return rows

    def find_tails(self, pattern: FactPattern) -> set[int]:
        """Every row of the file that names a file by no more than the tail of its path."""
        rows: set[int] = set()
        for run, places in self.runs.get(pattern.parts[-1], {}).items() if pattern.parts else ():
            found = best_run((run,), pattern)
            rows.update(places if found is not None and not found.full else ())
        return rows

    def saying(self, pattern: FactPattern) -> set[int]:
        """Every row whose text says all of a fact."""
        found: set[int] = set()
        if pattern.parts:
            for run, rows in self.runs.get(pattern.parts[-1], {}).items():
                best = best_run([run], pattern)
                found.update(rows if best is not None and best.full else ())
            for folder in () if pattern.is_file else pattern.wordings:
                found.update(self.folders.get(folder, ()))
            return found
        for wording, longest in zip(pattern.wordings, pattern.longest, strict=True):
            mine = self.words.get(longest, ()) if longest else self.refs
            found.update(row for row in mine if has_words(self._flat(row), wording))
        return found

    def _flat(self, row: int) -> str:
        if row not in self.flat:
            self.flat[row] = " ".join(self.session.block(self.refs[row]).text.split())
        return self.flat[row]


def stand_live(session: Session) -> Remaining:
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
    return Remaining(session, rows, tuple(others))


def stand_plan(plan: Plan, written: str | None = None) -> Remaining:
    """What stands in the context that a plan leaves, its summary or the stand-in for one included.

    `written` is a summary that the file holds: it is read in the stand-in's place, and after it what the
    plan's rules add to a summary.
    """
    session, tree = plan.session, plan.session.tree
    rows = np.zeros(int(tree.start[-1]) + 1, bool)
    others = list(_head(session))
    made = 0
    for piece in build_context(session, plan).pieces:
        # A new summary is of no block, even if it stands for one alone.
        ref = piece.origin[0] if len(piece.origin) == 1 and piece.message > 0 else None
        if ref is not None and not piece.stand_in:
            blocks = session[ref.entry].blocks
            original = blocks[ref.block] if ref.block < len(blocks) else None
            if piece.summary:
                others.append(_recorded(ref, piece.block))
            elif piece.block is original:
                rows[tree.start[tree.index[ref.entry]] + ref.block] = True
            else:
                how: How = "pointer" if piece.fate == "pointer" else "shortened"
                others.append(RemainingText(ref, piece.block.text, how, piece.origin))
            continue
        if piece.summary and written is not None:
            if not made:
                others += _written(plan, written, piece.origin)
                made = len(others)
            continue
        name = "@summary" if piece.summary else "@notice"
        how = "summary" if piece.summary else "notice"
        others.append(RemainingText(BlockRef(name, made), piece.block.text, how, piece.origin))
        made += 1
    return Remaining(session, rows, tuple(others))


def _written(plan: Plan, text: str, of: tuple[BlockRef, ...]) -> Iterator[RemainingText]:
    yield RemainingText(BlockRef("@summary", 0), text, "summary", of, True)
    added = [line for one in plan.stand_in.appendices for line in one.lines(plan.place or 0)]
    if added:
        yield RemainingText(BlockRef("@summary", 1), "\n".join(added), "summary", of)


def _recorded(ref: BlockRef, block: Block) -> RemainingText:
    return RemainingText(ref, block.text, "summary", (), True)


def _head(session: Session) -> Iterator[RemainingText]:
    for number, block in enumerate(session.system):
        yield RemainingText(BlockRef("@system", number), block.text, "head")
    for number, given in enumerate(session.provided):
        yield RemainingText(BlockRef("@provided", number), given.text, "head")
