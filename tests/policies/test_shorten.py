"""Texts are cut between characters as they are drawn, not between code points."""

from __future__ import annotations

import pytest

from inspector.policies.shorten import take_head, take_tail

THUMB = "\N{THUMBS UP SIGN}"
TONES = [
    "\N{EMOJI MODIFIER FITZPATRICK TYPE-1-2}",
    "\N{EMOJI MODIFIER FITZPATRICK TYPE-3}",
    "\N{EMOJI MODIFIER FITZPATRICK TYPE-4}",
    "\N{EMOJI MODIFIER FITZPATRICK TYPE-5}",
    "\N{EMOJI MODIFIER FITZPATRICK TYPE-6}",
]
JOINED = [
    *TONES,
    "\N{VARIATION SELECTOR-1}",
    "\N{VARIATION SELECTOR-15}",
    "\N{VARIATION SELECTOR-16}",
    "\N{COMBINING ACUTE ACCENT}",
]


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize("mark", JOINED, ids=ascii)
def test_what_is_drawn_with_the_character_before_it_is_not_taken_from_it(mark: str) -> None:
    text = f"a{THUMB}{mark}b"
    assert take_head(text, 1 + units(THUMB)) == "a"
    assert take_head(text, 1 + units(THUMB + mark)) == f"a{THUMB}{mark}"
    assert take_tail(text, 1 + units(mark)) == "b"
    assert take_tail(text, 1 + units(THUMB + mark)) == f"{THUMB}{mark}b"


@pytest.mark.parametrize("rest", ["bc", "\N{RAT}c", "b" * 40])
def test_half_a_character_is_left_out_and_one_that_the_text_holds_stays(rest: str) -> None:
    """A pair that is cut in two gives up its half; a surrogate that stands alone in the text is its own."""
    assert take_head(f"ab{THUMB}{rest}", 3) == "ab" and take_head(f"ab{THUMB}{rest}", 4) == f"ab{THUMB}"
    assert take_tail(f"{rest}{THUMB}ab", 3) == "ab" and take_tail(f"{rest}{THUMB}ab", 4) == f"{THUMB}ab"
    assert take_head(f"ab\ud83d{rest}", 3) == "ab\ud83d" and take_tail(f"{rest}\udc4dab", 3) == "\udc4dab"
    assert take_head(THUMB, 1) == "" == take_tail(THUMB, 1)
