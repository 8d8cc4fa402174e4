"""Outputs beyond a budget, by Gemini CLI's estimate of what a text costs."""

from __future__ import annotations

from inspector.policies.rules.budget_outputs import estimate


def test_only_a_text_of_more_than_a_hundred_thousand_units_is_estimated_by_its_length() -> None:
    """PEERS §1: character by character up to there, a quarter of a token each beyond."""
    assert estimate("é" * 100_000) == 130_000
    assert estimate("é" * 100_001) == 25_000
    # Units, not characters: one that needs two of them counts twice.
    assert estimate("\N{GRINNING FACE}" * 50_000) == 130_000
    assert estimate("\N{GRINNING FACE}" * 50_001) == 25_000
