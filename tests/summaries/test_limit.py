"""A summary that stays above its budget: diagnosed, asked for again with less, and cut in the end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.summaries.write import cut_text


@given(st.text(max_size=60), st.integers(0, 20))
def test_a_cut_text_is_a_beginning_within_its_budget(text: str, budget: int) -> None:
    def count(part: str) -> int:
        return len(part.split())

    short = cut_text(text, budget, count)
    assert text.startswith(short) and count(short) <= budget
    assert short.split() == text.split()[: len(short.split())]
    assert count(short) == min(count(text), budget)
