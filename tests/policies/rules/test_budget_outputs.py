"""Outputs beyond a budget, by Gemini CLI's estimate of what a text costs."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from inspector.planning.assemble import build_context
from inspector.planning.planner import make_plan
from inspector.policies.policy import read_policy
from inspector.tokens.ledger import count_tokens
from tests.telling import use
from tests.test_cuts import build, user


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
    session = build(user(), *use(1, "Read", text))
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
