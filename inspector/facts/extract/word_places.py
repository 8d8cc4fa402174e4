"""Where words stand in a text, any number of words in one pass over it.

A text is read as pairs of characters, two at a time: a word of three characters or more holds two pairs one
after the other, whether it starts with a pair or within one. Two tables tell which pairs may be those of a
word, and only where both agree are its letters compared. Looking for each word by itself takes as long for
two words as this does for fifty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from .code_points import latin_bytes

Places = Mapping[str, NDArray[np.int64]]
"""Words that a text holds, and where each starts, in rising order: int64[n]."""
_GROUPS = 8  # bits of a table's cell: words of one group share one
_ANY = range(0x100)


class WordTable:
    """Words to look for: three characters or more, all of Latin-1 without "?"."""

    def __init__(self, words: Iterable[str]) -> None:
        self._first, self._second = np.zeros((2, 0x10000), np.uint8)
        self._by_pair: dict[int, list[tuple[bytes, str, int]]] = {}
        for number, word in enumerate(dict.fromkeys(words)):
            letters = word.encode("latin-1")
            bit = 1 << number % _GROUPS
            second = _ANY if len(letters) < 4 else letters[3:4]
            self._add(letters, word, 0, letters[:1], letters[1:2], letters[2:3], second, bit)
            if len(letters) < 4:
                self._add(letters, word, -1, _ANY, letters[:1], letters[1:2], letters[2:3], bit)
            else:
                second = _ANY if len(letters) < 5 else letters[4:5]
                self._add(letters, word, 1, letters[1:2], letters[2:3], letters[3:4], second, bit)

    def _add(
        self,
        letters: bytes,
        word: str,
        ahead: int,
        one: Iterable[int],
        two: Iterable[int],
        three: Iterable[int],
        four: Iterable[int],
        bit: int,
    ) -> None:
        """A word whose first whole pair stands `ahead` characters after its start."""
        for pair in (low | high << 8 for low in one for high in two):
            self._first[pair] |= bit
            self._by_pair.setdefault(pair, []).append((letters, word, ahead))
        for pair in (low | high << 8 for low in three for high in four):
            self._second[pair] |= bit

    def find(self, text: str) -> Places:
        """The words that a text holds.

        >>> found = WordTable(["def ", "TODO", "fn "]).find("def a; fn b; undef TODO def c")
        >>> {word: places.tolist() for word, places in found.items()}
        {'TODO': [19], 'def ': [0, 15, 24], 'fn ': [7]}
        """
        codes = np.frombuffer(b"\0\0" + latin_bytes(text) + bytes(8 - len(text) % 2), np.uint8)
        pairs = codes.view("<u2")
        maybe = np.flatnonzero(self._first.take(pairs[:-1]) & self._second.take(pairs[1:]))
        mine = pairs[maybe]
        found: dict[str, list[NDArray[np.int64]]] = {}
        for pair in np.flatnonzero(np.bincount(mine)).tolist():
            at = 2 * maybe[mine == pair]
            for letters, word, ahead in self._by_pair[pair]:
                starts = at - ahead
                starts = starts[starts >= 2]
                for place, letter in enumerate(letters):
                    starts = starts[codes[starts + place] == letter] if len(starts) else starts
                if len(starts):
                    found.setdefault(word, []).append(starts - 2)
        return {word: np.sort(np.concatenate(places)) for word, places in found.items()}
