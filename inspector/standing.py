"""What stands in a context, block by block, and whether a fact can still be read there.

In goes a plan or a session at a leaf, out comes a `Standing`: the blocks that stand as they were said, and
the texts that stand in others' place (summaries, pointers, shortened outputs).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from .assembly import build_context
from .blocks import Block, BlockRef
from .live import Bools
from .mentions import WORD, Mention, Pattern, Words, best_run, find_folders, find_runs, has_words
from .plan import Plan
from .provenance import is_summary
from .session import Session

How = Literal["head", "shortened", "summary", "notice", "pointer"]


class Stand(NamedTuple):
    """A text that stands in the place of others: where it is, how it came, and the blocks it stands for.

    Text that no file holds is pointed at by `@summary` and `@notice` in place of an entry.
    """

    ref: BlockRef
    text: str
    how: How
    of: tuple[BlockRef, ...] = ()
    recorded: bool = False


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

    @cached_property
    def _readable(self) -> dict[Pattern, bool]:
        return {}

    def names(self, pattern: Pattern) -> bool:
        """Whether one of the other texts names all of a fact; kept once found."""
        if pattern not in self._readable:
            self._readable[pattern] = any(mention.full for _, mention in self.mentions(pattern))
        return self._readable[pattern]

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

    def find(self, pattern: Pattern, rows: Bools) -> tuple[tuple[BlockRef, ...], Mention] | None:
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

    def _flat(self, row: int) -> str:
        if row not in self.flat:
            self.flat[row] = " ".join(self.session.block(self.refs[row]).text.split())
        return self.flat[row]


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
