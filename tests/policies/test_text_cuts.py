"""How texts are cut short, over every text of few characters, beside a reference that looks at every place.

TIERED §3.2 for `snip`, PEERS §1 for the rest.
"""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

from inspector.planning.planner import make_plan
from inspector.policies.rules.shorten_user_words import cut_middle
from inspector.policies.shorten import (
    cut_units,
    from_tools,
    output_lengths,
    replace_text,
    snip,
    take_head,
    take_tail,
    text_lengths,
    tool_of,
)
from inspector.session.blocks import Image, Text, ToolOutput
from tests.fixed_sessions import fixed_ledger, fixed_session

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
TEXTS = ["".join(letters) for size in range(4) for letters in product(LETTERS, repeat=size)]


def units(text: str) -> list[bytes]:
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2] for at in range(0, len(data), 2)]


def text_of(some: list[bytes]) -> str:
    return b"".join(some).decode("utf-16-le", "surrogatepass")


def is_one(before: str, after: str) -> bool:
    """Whether two neighbours are drawn as one character."""
    return before == JOINER or after in LETTERS[3:7]


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


def test_units_are_counted_from_the_front_whatever_they_part() -> None:
    for text in TEXTS[:700]:
        for room in range(len(units(text)) + 2):
            assert cut_units(text, room) == text_of(units(text)[:room]), (text, room)


def mark(left_out: int) -> str:
    return f"\n[snip: {left_out} chars omitted]\n"


@pytest.mark.parametrize("letters", ["abcdefghij", "\N{GRINNING FACE}" * 5, "a\N{GRINNING FACE}" * 3])
@pytest.mark.parametrize("limit", range(12))
def test_the_published_form_keeps_half_of_the_limit_at_either_end(letters: str, limit: int) -> None:
    """Its defects too: what it leaves out is told less than it is, and "the last 0" units are all of them."""
    size = len(units(letters))
    half = limit // 2
    last = units(letters)[size - half :] if half else units(letters)
    cut = text_of(units(letters)[:half]) + mark(size - limit) + text_of(last)
    assert snip(letters, limit, "compat") == (letters if size <= limit else cut)


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


@pytest.mark.parametrize("tokens", range(6))
def test_the_two_ends_by_bytes_are_the_longest_of_whole_characters(tokens: int) -> None:
    for letters in product("aé€\N{GRINNING FACE}", repeat=5):
        text = "".join(letters)
        size, budget = len(text.encode()), 4 * tokens
        if size <= budget:
            assert cut_middle(text, tokens) == text
            continue
        head = max((text[:at] for at in range(6) if len(text[:at].encode()) <= budget // 2), key=len)
        tail = max((text[at:] for at in range(6) if len(text[at:].encode()) <= budget - budget // 2), key=len)
        assert cut_middle(text, tokens) == f"{head}…{(size - budget + 3) // 4} tokens truncated…{tail}"


def test_a_text_stands_where_the_first_one_stood_and_pictures_stay() -> None:
    picture, other = Image(url="https://example.org/a.png"), Image(url="https://example.org/b.png")
    one, two, new = Text(text="one"), Text(text="two"), Text(text="new")
    for parts, left in (
        ((picture, one, other, two), (picture, new, other)),
        ((one, picture), (new, picture)),
        ((picture, other), (new, picture, other)),
        ((picture, other, one), (picture, other, new)),
        ((), (new,)),
    ):
        output = ToolOutput(call_id="c", parts=parts)
        assert replace_text(output, "new").parts == left


@pytest.mark.parametrize("seed", range(40))
def test_columns_of_lengths_and_tools_tell_what_each_block_tells(seed: int) -> None:
    plan = make_plan(fixed_session(seed), fixed_ledger(seed), "flue")
    table = plan.table
    blocks = [table.block(row) for row in range(len(table.tokens))]
    outputs = [block.kind == "tool_output" for block in blocks]
    texts = [block.text if block.kind in ("text", "tool_output") else "" for block in blocks]
    assert text_lengths(table).tolist() == [len(units(text)) for text in texts]
    assert output_lengths(table).tolist() == [
        len(text) if is_output else 0 for text, is_output in zip(texts, outputs, strict=True)
    ]
    callers = {int(output): int(call) for call, output in plan.session.live.pairs}
    tools = []
    for row, block in enumerate(blocks):
        if row in callers:
            tools.append(blocks[callers[row]].name)
        else:
            tools.append((block.name or "") if block.kind in ("tool_call", "tool_output") else "")
    assert [tool_of(table, row) for row in range(len(blocks))] == tools
    every = np.ones(len(blocks), bool)
    for names in ((), ("read",), ("bash", "edit")):
        assert from_tools(table, every, names).tolist() == [tool in names and tool != "" for tool in tools]
