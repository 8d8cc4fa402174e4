"""Chance that is always the same: a linear congruential generator, so that the story never changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")
_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Chance:
    """Numbers that look random and depend on the seed's text alone (multiplier and increment: Knuth's MMIX).

    >>> Chance("tide").below(100) == Chance("tide").below(100)
    True
    """

    def __init__(self, seed: str) -> None:
        self._state = crc32(seed.encode()) + 1
        self._step()

    def _step(self) -> int:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        return self._state >> 16

    def below(self, end: int) -> int:
        """A whole number from 0 to just below `end`."""
        return self._step() % end

    def between(self, low: float, high: float) -> float:
        """A number from `low` to `high`."""
        return low + (high - low) * (self._step() / 2**48)

    def pick(self, values: Sequence[T]) -> T:
        """One of the values."""
        return values[self.below(len(values))]

    def take(self, values: Sequence[T], count: int) -> list[T]:
        """`count` different ones of the values, in a new order."""
        rest = list(values)
        return [rest.pop(self.below(len(rest))) for _ in range(min(count, len(rest)))]

    def hexes(self, length: int) -> str:
        """Hexadecimal digits."""
        return "".join(f"{self._step():012x}" for _ in range(length // 12 + 1))[:length]

    def letters(self, length: int) -> str:
        """Letters and digits, as identifiers and seals are made of."""
        made: list[str] = []
        while len(made) < length:
            value = self._step()
            for _ in range(8):
                value, at = divmod(value, 62)
                made.append(_LETTERS[at])
        return "".join(made[:length])

    def uuid(self) -> str:
        """An identifier in the shape of a UUID."""
        digits = self.hexes(32)
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
