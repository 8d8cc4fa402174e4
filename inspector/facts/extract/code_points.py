"""Characters as numbers: what every search over columns of a text starts from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def code_points(text: str) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """One number per character; those past the first plane become 0xFFFF."""
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    wide = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return np.minimum(wide, 0xFFFF).astype(np.uint16)


def _word_characters() -> NDArray[np.bool_]:
    table = np.zeros(0x10000, bool)
    for code in range(0x80, 0x10000):
        table[code] = chr(code).isalnum()
    for char in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_":
        table[ord(char)] = True
    return table


WORD = _word_characters()
"""bool[65536]: which characters of the first plane are letters, digits or `_`."""
