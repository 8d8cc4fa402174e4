"""What the blocks of a moment name, worked out once, so that the fates of all facts in a plan are columns.

In go facts as columns and what stands at the moment; out comes, for the texts that a plan leaves, a fate for
every fact that stood and that none of the texts in others' place may name. Only those few are then looked up.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .mentions import SAME_WORDS, Pattern
from .occurrences import Occurrences
from .outcomes import find_known, find_stood
from .session.tree import Bools
from .standing import Standing
from .traced import FATES, Codes

VERBATIM, POINTED, WEAKENED, LOST = (FATES.index(f) for f in ("verbatim", "pointed to", "weakened", "lost"))


class Readings:
    """The facts said so far at a moment. `known` were said, `stood` can be read (bool per fact).

    A fact that a block names without being known to say it is a pair of fact and block: in full, or by a tail
    of a file's name.
    """

    def __init__(self, found: Occurrences, before: Standing) -> None:
        session = before.session
        self.found, self.before = found, before
        self.said, self.known = find_known(found, session)
        self.stood = find_stood(found, self.known, before)
        self.patterns = {at: found.pattern(at, session) for at in np.flatnonzero(self.stood).tolist()}
        self.full = _pair(self.patterns, before.index.find_all)
        self.tail = _pair(self.patterns, before.index.find_tails)
        self._sort()
        head = [
            words for stand, words in zip(before.others, before.texts, strict=True) if stand.how == "head"
        ]
        self.safe = np.zeros(len(found.facts), bool)
        for at, pattern in self.patterns.items() if head else ():
            mentions = (words.find(pattern) for words in head)
            self.safe[at] = any(mention is not None and mention.full for mention in mentions)

    def _sort(self) -> None:
        """Facts by what a text that names them holds: a word, the last part of a path, a folder."""
        self._words: dict[str, list[int]] = {}
        self._runs: dict[str, list[int]] = {}
        self._folders: dict[str, list[int]] = {}
        self._always: list[int] = []
        self._prose: list[tuple[int, frozenset[str]]] = []
        for at, pattern in self.patterns.items():
            if pattern.parts:
                self._runs.setdefault(pattern.parts[-1], []).append(at)
                for folder in () if pattern.is_file else pattern.wordings:
                    self._folders.setdefault(folder, []).append(at)
                continue
            for word in dict.fromkeys(pattern.longest):
                (self._words.setdefault(word, []) if word else self._always).append(at)
            if len(pattern.prose) > 1:
                self._prose.append((at, pattern.prose))

    def judge(self, after: Standing) -> tuple[Codes, Bools]:
        """A fate for every fact that stood (int8, -1 for others), and which of them must be looked up."""
        found, rows = self.found, after.rows
        whole = self.safe | found.any(rows & self.said)
        whole[self._standing(self.full, after)] = True
        code = np.full(len(found.facts), -1, np.int8)
        code[self.stood] = LOST
        tails = np.zeros(len(code), bool)
        tails[self._standing(self.tail, after)] = True
        code[self.stood & tails] = WEAKENED
        code[self.stood & found.any(self._pointed(after))] = POINTED
        code[self.stood & whole] = VERBATIM
        maybe = np.zeros(len(code), bool)
        maybe[self._may_name(after)] = True
        return code, self.stood & ~whole & maybe

    def _standing(self, pairs: Codes, after: Standing) -> Codes:
        """The facts of the pairs whose block stands."""
        mine: Codes = pairs[after.rows[pairs[:, 1]], 0]
        return mine

    def _pointed(self, after: Standing) -> Bools:
        """The blocks on the path that a pointer stands for."""
        tree = after.session.tree
        out = np.zeros(len(after.rows), bool)
        for stand in after.others:
            for ref in stand.of if stand.how == "pointer" else ():
                out[tree.start[tree.index[ref.entry]] + ref.block] = True
        return out & self.said

    def _may_name(self, after: Standing) -> list[int]:
        """The facts that one of the texts in others' place may name, in full or in part."""
        keys, out = after.keys, list(self._always)
        for mine, theirs in (
            (self._words, keys.words),
            (self._runs, keys.runs),
            (self._folders, keys.folders),
        ):
            few, many = (mine, theirs) if len(mine) < len(theirs) else (theirs, mine)
            for key in few:
                if key in many:
                    out += mine[key]
        lines = [line for number in keys.summaries for line in after.texts[number].lines]
        vocabulary = frozenset[str]().union(*lines)
        out += [at for at, prose in self._prose if len(prose & vocabulary) >= SAME_WORDS * len(prose)]
        return out


def _pair(patterns: dict[int, Pattern], find: Callable[[Pattern], set[int]]) -> Codes:
    """int64[k,2]: a fact and a row where it is found."""
    pairs = [(at, row) for at, pattern in patterns.items() for row in sorted(find(pattern))]
    return np.array(pairs, np.int64).reshape(-1, 2)
