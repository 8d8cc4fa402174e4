"""The texts of a context, block by block, and whether a fact can still be read there.

Build a `Remaining` from a plan or from a session at a leaf: the unchanged blocks, and the texts that replace
others (summaries, pointers, shortened outputs).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Literal, NamedTuple

import numpy as np

from ..formats.summary_wording import blank_frame
from ..planning.assemble import find_remaining
from ..planning.plan import Plan
from ..session.blocks import Block, BlockRef
from ..session.queries import is_summary, readable_text
from ..session.session import Session
from ..session.tree import Bools
from .block_search import list_blocks
from .commits import find_lengths, sort_commits
from .comparing import compare_fact, index_text
from .mentions import (
    WORD,
    FactPattern,
    Mention,
    SearchText,
    find_folders,
    find_paths,
    find_through,
    read_run,
    read_words,
    sort_by_name,
)
from .occurrences import refer
from .outcomes import IN_FULL
from .path_index import PathIndex

_TOOLS = ("tool_call", "tool_output")
_DIGIT_BEFORE, _DIGIT_AFTER = re.compile(r"\d\.?$"), re.compile(r"\.?\d")
"""What makes a number a part of a longer one."""
How = Literal["head", "shortened", "summary", "notice", "pointer"]


class RemainingText(NamedTuple):
    """A text that replaces others: its reference, how it was made, and the blocks that it replaces.

    Text that is not in a file is referenced by `@summary` or `@notice` instead of an entry. A `placeholder`
    stands for a summary that is not written yet: it contains quotations only.
    """

    ref: BlockRef
    text: str
    how: How
    of: tuple[BlockRef, ...] = ()
    recorded: bool = False
    placeholder: bool = False


@dataclass(frozen=True, eq=False)
class Remaining:
    """The texts of a context. `rows` (bool per block of the file, a last False) marks the unchanged
    blocks."""

    session: Session
    rows: Bools
    others: tuple[RemainingText, ...]

    def forget(self) -> None:
        """Drop the texts and the indexes that searches made: the next search makes them again."""
        for name, value in vars(type(self)).items():
            if isinstance(value, cached_property):
                vars(self).pop(name, None)

    @cached_property
    def _blocks(self) -> dict[int, Block]:
        """The unchanged blocks by row."""
        return list_blocks(self.session, self.rows)

    @cached_property
    def unchanged(self) -> dict[int, str]:
        """The texts of the unchanged blocks by row."""
        return {row: readable_text(block) for row, block in self._blocks.items()}

    @cached_property
    def index(self) -> TextIndex:
        """The same, ready to be searched."""
        return _index(self.unchanged)

    @cached_property
    def other_index(self) -> TextIndex:
        """The other texts, by their numbers."""
        index = TextIndex()
        for number, other in enumerate(self.others):
            text = read_words(other.text)
            index.add(number, text, text.words, text.runs)
        return index

    @cached_property
    def summaries(self) -> list[int]:
        """Numbers of the other texts that are summaries."""
        return [number for number, other in enumerate(self.others) if other.how == "summary"]

    @cached_property
    def _prose(self) -> dict[int, str]:
        """The text that people and the model wrote in the unchanged blocks, by row."""
        return {row: text for row, text in self.unchanged.items() if self._blocks[row].kind not in _TOOLS}

    @cached_property
    def prose(self) -> TextIndex:
        """The same, ready to be searched."""
        return _index(self._prose)

    @property
    def written_texts(self) -> list[str]:
        """The summaries and notices, and the text that people and the model wrote in the unchanged blocks."""
        others = [other.text for other in self.others if other.how in ("summary", "notice")]
        return [*others, *self._prose.values()]

    def is_named_in_prose(self, pattern: FactPattern) -> bool:
        """Whether something that people or the model wrote names all of a fact."""
        hit = self.prose.find(pattern)
        return hit is not None and hit[1].full

    def says(self, words: str) -> bool:
        """Whether any text of the context contains the words, ignoring case.

        A number is not contained in a longer one: "3.10" does not say "3.1".
        """
        folded, text = " ".join(words.casefold().split()), self._folded
        if not (folded[:1].isdigit() or folded[-1:].isdigit()):
            return folded in text
        at = text.find(folded)
        while at >= 0:
            # A search for the words alone is much faster than one with their surroundings.
            before, after = text[max(0, at - 2) : at], text[at + len(folded) : at + len(folded) + 2]
            begins = not folded[0].isdigit() or _DIGIT_BEFORE.search(before) is None
            if begins and (not folded[-1].isdigit() or _DIGIT_AFTER.match(after) is None):
                return True
            at = text.find(folded, at + 1)
        return False

    @cached_property
    def _folded(self) -> str:
        """All texts in one line, case-folded."""
        texts = [*self.unchanged.values(), *(other.text for other in self.others)]
        return " ".join("\n".join(texts).casefold().split())

    def names(self, pattern: FactPattern) -> bool:
        """Whether any text of the context names all of a fact, marked or not."""
        return (
            any(mention.full for _, mention in self.mentions(pattern)) or self._find_unmarked(pattern) != ()
        )

    def carriers(self, pattern: FactPattern) -> tuple[tuple[RemainingText, ...], tuple[BlockRef, ...]]:
        """The replacing texts and the unchanged blocks that name all of a fact."""
        others = tuple(other for other, mention in self.mentions(pattern) if mention.full)
        return others, self._find_unmarked(pattern)

    def _find_unmarked(self, pattern: FactPattern) -> tuple[BlockRef, ...]:
        hit = self.index.find(pattern)
        return refer(self.session, hit[0]) if hit is not None and hit[1].full else ()

    def mentions(self, pattern: FactPattern) -> Iterator[tuple[RemainingText, Mention]]:
        """Find a fact in the other texts. A summary may say a statement in other words."""
        maybe = self.other_index.may_name(pattern)
        for number in sorted(maybe.union(self.summaries) if pattern.statement else maybe):
            other = self.others[number]
            mention = self.other_index.find_in(number, pattern)
            if pattern.statement and other.how == "summary" and not other.placeholder:
                mention = mention if mention and mention.full else _read(pattern.statement, other) or mention
            if mention is not None:
                yield other, mention

    def pointers(self, refs: Collection[BlockRef]) -> list[RemainingText]:
        """The pointers that stand for any of these blocks."""
        numbers = {number for ref in refs for number in self._pointed.get(ref, ())}
        return [self.others[number] for number in sorted(numbers)]

    @cached_property
    def pointed_rows(self) -> Bools:
        """bool over the blocks of the file, and a last False: a pointer stands for the block."""
        rows = np.zeros(len(self.rows), bool)
        rows[[self.session.block_row(ref) for ref in self._pointed]] = True
        return rows

    @cached_property
    def _pointed(self) -> dict[BlockRef, list[int]]:
        by_ref: dict[BlockRef, list[int]] = {}
        for number, stand in enumerate(self.others):
            for ref in stand.of if stand.how == "pointer" else ():
                by_ref.setdefault(ref, []).append(number)
        return by_ref


def _read(statement: tuple[str, str], other: RemainingText) -> Mention | None:
    """Find what a summary says in other words."""
    comparison = compare_fact(*statement, index_text(other.text), in_full=True)
    return Mention(comparison.words, True) if comparison.outcome in IN_FULL else None


def _index(texts: Mapping[int, str]) -> TextIndex:
    index = TextIndex()
    for row, text in texts.items():
        # Do not cache the words and paths of a block: few are read again.
        index.add(row, SearchText(text), set(WORD.findall(text)), sorted(find_paths(text)))
    return index


def find_mention(text: str, pattern: FactPattern) -> Mention | None:
    """Find a fact in a text; a file's full name goes before its tail."""
    index = TextIndex()
    index.add(0, search := SearchText(text), search.words, search.runs if pattern.parts else ())
    return index.find_in(0, pattern)


class TextIndex:
    """Texts by number: those that hold a word, those that hold what may be a path (by its last part, then
    whole), and those with a path through a folder. What is found is in the order in which texts were added.

    >>> index = TextIndex()
    >>> text = SearchText("see src/a.py")
    >>> index.add(7, text, text.words, text.runs)
    >>> index.words["see"], index.runs["a.py"], index.folders["src"]
    ([7], {'src/a.py': [7]}, [7])
    """

    def __init__(self) -> None:
        self.texts: dict[int, SearchText] = {}
        self.words: dict[str, list[int]] = {}
        self.runs: dict[str, dict[str, list[int]]] = {}

    def add(self, number: int, text: SearchText, words: Iterable[str], runs: Iterable[str]) -> None:
        """A text with those of its words, and of its runs, by which it is to be found; each once."""
        self.texts[number] = text
        for name in ("folders", "folder_names", "commits", "_paths", "_folder_paths"):
            self.__dict__.pop(name, None)
        for word in words:
            self.words.setdefault(word, []).append(number)
        for run in runs:
            self.runs.setdefault(run.rpartition("/")[2], {}).setdefault(run, []).append(number)

    @cached_property
    def folders(self) -> dict[str, list[int]]:
        """The texts with a path through each folder."""
        through: dict[str, set[int]] = {}
        for runs in self.runs.values():
            for run, numbers in runs.items():
                for folder in find_folders(run):
                    through.setdefault(folder, set()).update(numbers)
        return {folder: sorted(numbers) for folder, numbers in through.items()}

    @cached_property
    def folder_names(self) -> dict[str, list[str]]:
        """The folders by their last part."""
        return sort_by_name(self.folders)

    @cached_property
    def commits(self) -> dict[str, list[str]]:
        """The words that may be ids of commits, by the letters that every length of one begins with."""
        return sort_commits(self.words)

    def find_mentions(
        self, pattern: FactPattern, among: Bools | None = None
    ) -> Iterator[tuple[Mention, list[int]]]:
        """Yield how texts name a fact, or a part of it, the best first, each with the texts.

        Args:
            pattern: The fact.
            among: Marks the texts to search; all by default.
        """

        def pick(numbers: Iterable[int]) -> list[int]:
            return [n for n in numbers if among is None or among[n]]

        if pattern.parts:
            runs = [(read_run(run, pattern), numbers) for run, numbers in self._find_runs(pattern).items()]
            named = [(mention, numbers) for mention, numbers in runs if mention is not None]
            yield from ((mention, pick(numbers)) for mention, numbers in named if mention.full)
            for folder in find_through(self._folder_paths, pattern):
                yield Mention(folder + "/", True), pick(self.folders[folder])
            tails = [(mention, numbers) for mention, numbers in named if not mention.full]
            tails.sort(key=lambda pair: -len(pair[0].words))
            yield from ((mention, pick(numbers)) for mention, numbers in tails)
        elif pattern.commit:
            # The length that the fact has itself, else the longest.
            words = find_lengths(self.commits, pattern.commit)
            for word in sorted(words, key=lambda word: (word != pattern.commit, -len(word))):
                yield Mention(word, True), pick(self.words[word])
        else:
            for wording in pattern.wordings:
                yield Mention(wording, True), list(self._with(wording, among))
            if pattern.clauses:
                first, *rest = pattern.clauses
                holders = self._with(first, among)
                yield (
                    Mention(first, True),
                    [n for n in holders if all(self.texts[n].has_words(clause) for clause in rest)],
                )
            for tail in pattern.tails:
                yield Mention(tail, False), list(self._with(tail, among))

    def find(self, pattern: FactPattern, among: Bools | None = None) -> tuple[list[int], Mention] | None:
        """Find a fact, or a file's tail, in the texts that are marked in `among`; in all by default."""
        found = self.find_mentions(pattern, among)
        return next(((numbers, mention) for mention, numbers in found if numbers), None)

    def find_in(self, number: int, pattern: FactPattern) -> Mention | None:
        """Find a fact in one text."""
        hit = self.find(pattern, np.bincount([number], minlength=len(self.texts)).astype(bool))
        return None if hit is None else hit[1]

    def find_all(self, pattern: FactPattern) -> set[int]:
        """Every text that names all of a fact."""
        full = takewhile(lambda pair: pair[0].full, self.find_mentions(pattern))
        return {n for _, numbers in full for n in numbers}

    def _with(self, wording: str, among: Bools | None = None) -> Iterator[int]:
        """The texts that hold a wording; with `among` only some of them."""
        if wording.isascii() and wording.isidentifier():
            # Most wordings are one word: the index lists the texts that contain it.
            return (n for n in self.words.get(wording, ()) if among is None or among[n])
        holders: Collection[int] = self.texts
        for match in WORD.finditer(wording):
            holding = self.words.get(match[0], ())
            holders = min(holders, holding, key=len)
            if not holders:
                break
        return (n for n in holders if (among is None or among[n]) and self.texts[n].has_words(wording))

    def may_name(self, pattern: FactPattern) -> set[int]:
        """Every text with a word without which none names a fact, in full or by a file's tail."""
        if pattern.commit:
            return self.find_all(pattern)
        if not pattern.parts:
            return set().union(*map(self._holding, pattern.keys))
        folders = find_through(self._folder_paths, pattern)
        return set().union(*self._find_runs(pattern).values(), *map(self.folders.__getitem__, folders))

    def _find_runs(self, pattern: FactPattern) -> dict[str, list[int]]:
        """The runs that may name a path, with the texts that contain them."""
        named = self.runs.get(pattern.parts[-1], {})
        return {run: named[run] for run in self._paths.find(pattern.wordings, pattern.parts)}

    @cached_property
    def _paths(self) -> PathIndex:
        return PathIndex(self.runs)

    @cached_property
    def _folder_paths(self) -> PathIndex:
        return PathIndex(self.folder_names)

    def _holding(self, word: str) -> Collection[int]:
        """The texts that hold a word. A wording without words, such as a lone "🚀", is searched in every
        text."""
        return self.words.get(word, ()) if word else self.texts


def stand_live(session: Session) -> Remaining:
    """Return the texts of the context at a session's leaf."""
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
    """Return the texts of the context after a plan, including its summary or the placeholder for one.

    `written` is a summary from the file: it replaces the placeholder, and the texts that the plan's rules add
    to a summary follow it. "" stands for a summary whose text is unknown.
    """
    session, tree = plan.session, plan.session.tree
    live = session.live
    unchanged, pieces = find_remaining(plan)
    rows = np.zeros(int(tree.start[-1]) + 1, bool)
    rows[tree.start[live.entries[live.position[unchanged]]] + live.block[unchanged]] = True
    others = list(_head(session))
    block_number = 0
    for piece in pieces:
        # A new summary is of no block, even if it stands for one alone.
        ref = piece.origin[0] if len(piece.origin) == 1 and piece.message > 0 else None
        if ref is not None and not piece.stand_in:
            blocks = session[ref.entry].blocks
            original = blocks[ref.block] if ref.block < len(blocks) else None
            if piece.summary:
                others.append(_recorded(ref, piece.block))
            elif piece.block is original:
                rows[session.block_row(ref)] = True
            else:
                how: How = "pointer" if piece.fate == "pointer" else "shortened"
                others.append(RemainingText(ref, readable_text(piece.block), how, piece.origin))
            continue
        if piece.summary and written is not None:
            if not block_number:
                others += _written(plan, written, piece.origin)
                block_number = len(others)
            continue
        name = "@summary" if piece.summary else "@notice"
        how = "summary" if piece.summary else "notice"
        unwritten = piece.summary and plan.is_unwritten
        text = piece.block.text
        others.append(
            RemainingText(BlockRef(name, block_number), text, how, piece.origin, placeholder=unwritten)
        )
        block_number += 1
    return Remaining(session, rows, tuple(others))


def _written(plan: Plan, text: str, of: tuple[BlockRef, ...]) -> Iterator[RemainingText]:
    if text:
        yield RemainingText(BlockRef("@summary", 0), text, "summary", of, True)
    added = [line for appendix in plan.stand_in.appendices for line in appendix.lines(plan.place or 0)]
    if added:
        yield RemainingText(BlockRef("@summary", 1), "\n".join(added), "summary", of)


def _recorded(ref: BlockRef, block: Block) -> RemainingText:
    return RemainingText(ref, blank_frame(block.text), "summary", (), True)


def _head(session: Session) -> Iterator[RemainingText]:
    for number, block in enumerate(session.system):
        yield RemainingText(BlockRef("@system", number), block.text, "head")
    for number, provided in enumerate(session.provided):
        yield RemainingText(BlockRef("@provided", number), provided.text, "head")
