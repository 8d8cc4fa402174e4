"""How texts are cut short, over every text of few characters, beside a reference that looks at every place.

TIERED §3.2 for `snip`, PEERS §1 for the rest.
"""

from __future__ import annotations

import re
from itertools import product

import pytest

from inspector.policies.shorten import snip, take_head, take_tail

JOINER = "\N{ZERO WIDTH JOINER}"
LETTERS = (
    "a",
    "é",
    "\N{GRINNING FACE}",
    "\N{COMBINING ACUTE ACCENT}",
    JOINER,
    "\ufe0f",
    "\U0001f3fb",
    "\udc00",
)
"""Of one unit and of two, such as are drawn with the one before, and a half of a character."""
JOINED = {*LETTERS[3:7], "\ufe00", "\ufe0e", *map(chr, range(0x1F3FB, 0x1F400))}
"""What is drawn with the character before it."""
TEXTS = ["".join(letters) for size in range(4) for letters in product(LETTERS, repeat=size)]
TEXTS += [f"a\N{THUMBS UP SIGN}{mark}b" for mark in JOINED]
TEXTS += [f"ab{half}{rest}" for half in ("\ud83d", "\udc4d") for rest in ("bc", "\N{RAT}c", "b" * 40)]


def units(text: str) -> list[bytes]:
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2] for at in range(0, len(data), 2)]


def is_one(before: str, after: str) -> bool:
    """Whether two neighbours are drawn as one character."""
    return before == JOINER or after in JOINED


def list_places(text: str) -> list[int]:
    """Where a text may be cut."""
    return [0, *(at for at in range(1, len(text)) if not is_one(text[at - 1], text[at])), len(text)]


def longest_head(text: str, room: int) -> str:
    return max((text[:at] for at in list_places(text) if len(units(text[:at])) <= room), key=len)


def longest_tail(text: str, room: int) -> str:
    return max((text[at:] for at in list_places(text) if len(units(text[at:])) <= room), key=len)


def test_the_ends_of_a_text_are_the_longest_that_fit_and_part_no_character() -> None:
    for text in TEXTS:
        for room in range(len(units(text)) + 2):
            assert take_head(text, room) == longest_head(text, room), (text, room)
            assert take_tail(text, room) == longest_tail(text, room), (text, room)
    assert take_tail("abc", -1) == "" == take_tail("é", -1)
    # Its second half is the last of all second halves.
    assert take_tail("a\U000103ff", 1) == ""


def mark(left_out: int) -> str:
    return f"\n[snip: {left_out} chars omitted]\n"


@pytest.mark.parametrize("limit", [0, 99, 100, 101, 120, 121])
@pytest.mark.parametrize("letter", ["x", "\N{GRINNING FACE}"])
@pytest.mark.parametrize("before", [None, 7, 5_000])
def test_the_fixed_form_never_exceeds_its_limit_and_tells_all_that_is_missing(
    limit: int, letter: str, before: int | None
) -> None:
    least = max(limit, 100)
    for size in (1, 49, 50, 51, 60, 99, 100, 101, 119, 120, 121, 122, 250):
        old = "" if before is None else mark(before)
        for first in (size, size // 3):
            text = letter * first + old + letter * (size - first)
            made = snip(text, limit)
            if len(units(text)) <= least:
                assert made == text
                continue
            found = re.fullmatch(r"(\S*)\n\[snip: (\d+) chars omitted\]\n(\S*)", made)
            assert found is not None
            ends = [len(units(found[1])), len(units(found[3]))]
            whole = len(units(letter))
            assert int(found[2]) == size * whole - sum(ends) + (before or 0), (size, first)
            assert len(units(made)) <= least
            # Half of what the longest mark leaves at either end, the odd unit in front; less only where a
            # half of the text is shorter or a character would be parted.
            room = least - len(mark(size * whole + (before or 0)))
            halves = [first if before is not None else size, size - first if before is not None else size]
            shares = (room - room // 2, room // 2)
            wanted = [min(half * whole, share) for half, share in zip(halves, shares, strict=True)]
            assert ends == [want - want % whole for want in wanted], (size, first)
