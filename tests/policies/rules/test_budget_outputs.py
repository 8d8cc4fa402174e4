"""Outputs beyond a budget, by Gemini CLI's estimate of what a text costs."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.planning.assemble import build_context
from inspector.planning.planner import make_plan
from inspector.policies.policy import read_policy
from inspector.policies.rules.budget_outputs import BudgetOutputs, estimate
from inspector.session.blocks import Text, ToolCall, ToolOutput
from inspector.session.entries import Entry
from inspector.tokens.ledger import count_tokens
from tests.fixed_sessions import fixed_ledger, fixed_session
from tests.test_cuts import build, user


def test_only_a_text_of_more_than_a_hundred_thousand_units_is_estimated_by_its_length() -> None:
    """PEERS §1: character by character up to there, a quarter of a token each beyond."""
    assert estimate("é" * 100_000) == 130_000
    assert estimate("é" * 100_001) == 25_000
    # Units, not characters: one that needs two of them counts twice.
    assert estimate("\N{GRINNING FACE}" * 50_000) == 130_000
    assert estimate("\N{GRINNING FACE}" * 50_001) == 25_000


def units(text: str) -> list[bytes]:
    """The UTF-16 units of a text."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2] for at in range(0, len(data), 2)]


TEXTS = st.text("ab\N{GREEK SMALL LETTER ALPHA}\ue000\N{GRINNING FACE}\U000f0000\udc00", max_size=30)
"""With characters of two units from both ends of their range, and a second half that stands alone."""


@given(TEXTS, TEXTS, st.integers(0, 40))
def test_an_output_beyond_the_budget_shows_both_its_ends_and_says_what_is_left_out(
    beginning: str, end: str, shown: int
) -> None:
    """PEERS §1: a fifth of what is shown is the beginning. A character of two units is shown whole or not."""
    # So long that what stands in its place is shorter.
    text = f"{beginning}{' middle' * 500}{end}"
    call = ToolCall(id="c", name="Read", input={})
    output = ToolOutput(call_id="c", name="Read", parts=(Text(text=text),))
    session = build(
        user(), Entry(id="", role="assistant", blocks=(call,)), Entry(id="", role="tool", blocks=(output,))
    )
    rule = {"kind": "budget-outputs", "tokens": 0, "characters": shown}
    policy = read_policy({"name": "mine", "rules": [rule]})
    plan = make_plan(session, count_tokens(session), policy, reason="manual")
    (given_back,) = (
        piece.block.text for piece in build_context(session, plan).pieces if piece.block.kind == "tool_output"
    )
    size = len(units(text))
    first, last = shown // 5, shown - shown // 5
    told, _, rest = given_back.partition("]\n")
    assert f"Output of {size:,} characters; the first {first} and the last {last} are shown" in told
    match = re.fullmatch(r"(.*)\n\n\[([\d,]+) characters left out\]\n\n(.*)", rest, re.DOTALL)
    assert match is not None
    assert match[2] == f"{size - shown:,}"
    begun, ended = units(match[1]), units(match[3])
    assert text.startswith(match[1]) and text.endswith(match[3])
    # Less than asked only where a character would be cut in two.
    assert len(begun) == first or (len(begun) == first - 1 and 0xD8 <= units(text)[first - 1][1] <= 0xDB)
    assert len(ended) == last or (len(ended) == last - 1 and 0xDC <= units(text)[size - last][1] <= 0xDF)


@pytest.mark.parametrize(("length", "whole"), [(3_999, True), (4_000, True), (4_001, False)])
def test_an_output_of_as_many_characters_as_are_shown_is_shown_whole(length: int, whole: bool) -> None:
    text = "x" * length
    call = ToolCall(id="c", name="Read", input={})
    output = ToolOutput(call_id="c", name="Read", parts=(Text(text=text),))
    session = build(
        user(), Entry(id="", role="assistant", blocks=(call,)), Entry(id="", role="tool", blocks=(output,))
    )
    rule = {"kind": "budget-outputs", "tokens": 0, "characters": 4_000}
    plan = make_plan(session, count_tokens(session), {"name": "mine", "rules": [rule]}, reason="manual")
    (shown,) = (
        piece.block.text for piece in build_context(session, plan).pieces if piece.block.kind == "tool_output"
    )
    assert (shown == text) == whole


def estimate_slowly(text: str) -> int:
    ascii_units = sum(character < "\x80" for character in text)
    return int(ascii_units * 0.25 + (len(units(text)) - ascii_units) * 1.3)


def show_slowly(output: ToolOutput, characters: int) -> str | None:
    """What stands in an output's place, unit by unit; None where it is short enough."""
    every = units(output.text)
    size = len(every)
    if size <= characters:
        return None
    high, low = (range(first, first + 4) for first in (0xD8, 0xDC))
    first, last = characters // 5, characters - characters // 5
    parted = [at for at in range(1, size) if every[at - 1][1] in high and every[at][1] in low]
    head = every[: first - (first in parted)]
    tail = every[size - last + (size - last in parted) :]
    begun, ended = (b"".join(part).decode("utf-16-le", "surrogatepass") for part in (head, tail))
    where = output.artifact or f"tool-outputs/{output.call_id}.txt"
    return (
        f"[Output of {size:,} characters; the first {first:,} and the last {last:,} are shown. "
        f"All of it: {where}]\n{begun}\n\n[{size - characters:,} characters left out]\n\n{ended}"
    )


@pytest.mark.parametrize("seed", range(60))
def test_outputs_are_added_up_from_the_newest_back(seed: int) -> None:
    """What became of an output counts, too, and one that is short enough is left whole but counts."""
    for budget, characters in ((0, 0), (0, 3), (2, 1), (9, 6), (40, 11), (200, 100)):
        rule = {"kind": "budget-outputs", "tokens": budget, "characters": characters}
        plan = make_plan(fixed_session(seed), fixed_ledger(seed), {"name": "mine", "rules": [rule]})
        used, wanted = 0, {}
        for row in reversed(range(len(plan.table.tokens))):
            block = plan.table.block(row)
            if not isinstance(block, ToolOutput):
                continue
            size = estimate_slowly(block.text)
            if used + size > budget and (shown := show_slowly(block, characters)) is not None:
                wanted[row], size = shown, estimate_slowly(shown)
            used += size
        (own,) = plan.policy.rules
        assert isinstance(own, BudgetOutputs)
        made = own.shorten(plan.table)
        assert {row: block.text for row, block in made.items()} == wanted
        stands = {row: block.text for row, block in plan.outcome.blocks.items() if block is not None}
        lone = {*plan.session.live.orphans.tolist()}
        assert stands == {row: text for row, text in wanted.items() if row not in lone}


def test_every_place_where_a_character_may_be_parted_is_looked_at() -> None:
    for letters in product("aα\N{GRINNING FACE}\udc00", repeat=4):
        text = "".join(letters) + " middle of it " + "".join(reversed(letters))
        output = ToolOutput(call_id="c", name="Read", parts=(Text(text=text),), artifact="kept.txt")
        call = ToolCall(id="c", name="Read", input={})
        asked = Entry(id="", role="assistant", blocks=(call,))
        session = build(user(), asked, Entry(id="", role="tool", blocks=(output,)))
        table = make_plan(session, count_tokens(session), "flue").table
        for characters in (0, 1, 4, 5, 9, 10, 11, 16):
            made = BudgetOutputs(tokens=0, characters=characters).shorten(table)
            assert [block.text for block in made.values()] == [show_slowly(output, characters)]


@pytest.mark.parametrize("character", ["\x7f", "\x80"])
def test_the_last_character_of_ascii_is_cheap_and_the_next_is_not(character: str) -> None:
    assert estimate("é" + character * 40) == (11 if character == "\x7f" else 53)
