"""The facts at a point in time: those said, those that can be read, and those that the context's blocks
name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from ..errors import check_stopped
from ..session.garbage import paused_gc
from ..session.session import Session
from ..session.tree import Bools, Ints
from .comparing import STATEMENTS, compare_fact, index_text
from .fact_keys import FactKeys
from .mentions import FactPattern
from .occurrences import Occurrences
from .outcomes import CODE, IN_FULL
from .remaining import Remaining
from .replaced import Replacement, find_replacements

_MAY_BE_UNCLEAR = ("constraint", "choice", "todo")


class PointInTime:
    """The facts said up to a point in time, ready to be traced through a compaction or many plans.

    `on_path` (bool per block of the file, a last False) are the blocks on the path, `mentioned` (bool per
    fact) the facts said there. Of a file or a commit with two names, only the longer name is a fact.

    Args:
        occurrences: The facts.
        session: The session at that point.
        before: The texts of the context there.
        keys: The facts by the words of the texts that name them; without it each fact is searched.
    """

    def __init__(
        self, occurrences: Occurrences, session: Session, before: Remaining, keys: FactKeys | None = None
    ) -> None:
        self.occurrences, self.session, self.before, self.keys = occurrences, session, before, keys
        self.on_path: Bools = np.append(
            np.repeat(session.path_index >= 0, np.diff(session.tree.start)), False
        )
        self.mentioned = occurrences.any(self.on_path)
        aliases = occurrences.aliases(self.mentioned)
        self.mentioned[list(aliases)] = False
        self.shorter: dict[int, list[int]] = {}
        """The shorter names of every fact that has some."""
        for short, whole in aliases.items():
            self.shorter.setdefault(whole, []).append(short)

    @cached_property
    def readable(self) -> Bools:
        """bool per fact: it can be read, in a block that says it or in a text that stands for blocks."""
        readable: Bools = self.occurrences.any(self.before.rows) & self.mentioned
        sought = self.mentioned & ~readable
        if self.keys is not None:
            candidates = np.zeros(len(sought), bool)
            candidates[list(self.keys.find_readable(self.before))] = True
            sought &= candidates
        for number in np.flatnonzero(sought).tolist():
            check_stopped()
            readable[number] = self._is_read(number)
        return readable

    def _is_read(self, number: int) -> bool:
        """Whether a text that stands for blocks has all of a fact, or prose that is not known to say it.

        A rule, choice or to-do can be read even if it is unclear whether a summary says all of it: the
        compaction that leaves nothing of it is the one that lost it.
        """
        fact, pattern = self.occurrences.facts[number], self.occurrences.pattern(number, self.session)
        if self.before.other_index.find_all(pattern):
            return True
        for stand in self.before.others:
            # Of plain sentences, of which there can be thousands, only the words count here.
            if stand.how == "summary" and fact.kind in STATEMENTS and fact.kind != "statement":
                enough = (*IN_FULL, "partial", "unclear") if fact.kind in _MAY_BE_UNCLEAR else IN_FULL
                in_full = enough is IN_FULL
                compared = compare_fact(fact.kind, fact.form, index_text(stand.text), in_full=in_full)
                if compared.outcome in enough:
                    return True
        return self.before.is_named_in_prose(pattern)

    @cached_property
    def replaced(self) -> Mapping[int, Replacement]:
        """The facts that the user replaced, by their places in the columns."""
        return self.occurrences.by_place(lambda facts: find_replacements(facts, self.on_path))

    def find_named(self, after: Remaining) -> Ints:
        """Return for each fact the code of "verbatim" or "partial" if a block that stays names it without
        being known to say it: in full, or by the tail of a file's name; else -1.

        What the system prompt names stays in any case, and no text is searched for a value that was replaced.
        """
        codes = np.full(len(self.mentioned), -1, np.int32)
        for code, pairs in zip((CODE["partial"], CODE["verbatim"]), self._named, strict=True):
            codes[pairs[after.rows[pairs[:, 1]], 0]] = code
        codes[self._safe] = CODE["verbatim"]
        return codes

    @cached_property
    def _patterns(self) -> dict[int, FactPattern]:
        numbers = np.flatnonzero(self.readable).tolist()
        return {number: self.occurrences.pattern(number, self.session) for number in numbers}

    @cached_property
    def _named(self) -> tuple[Ints, Ints]:
        """int32[k,2] each: a fact and a row of a block that names only a part of it, or all of it."""
        pairs: tuple[list[tuple[int, int]], list[tuple[int, int]]] = [], []
        with paused_gc():  # a pattern for each fact, and no garbage
            for number, pattern in self._patterns.items():
                check_stopped()
                for mention, rows in self.before.index.find_mentions(pattern):
                    pairs[mention.full].extend((number, row) for row in rows)
        partial, full = (np.array(found, np.int32).reshape(-1, 2) for found in pairs)
        return partial, full

    @cached_property
    def _safe(self) -> list[int]:
        """The facts that no compaction can remove: those in the system prompt, and replaced ones."""
        index, others = self.before.other_index, enumerate(self.before.others)
        heads = {number for number, other in others if other.how == "head"}
        candidates = set() if self.keys is None else self.keys.held_by(index)
        readable = (number for number in candidates if self.readable[number])
        named = [number for number in readable if heads & index.find_all(self._patterns[number])]
        return [*(number for number, later in self.replaced.items() if not later.rest), *named]
