"""What is chosen under a budget: in order, each kind up to its share, and nothing more would have gone in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from inspector.session.tree import Ints
from inspector.summaries.extractive.budget import Item, Layout, Slot, fit
from inspector.tokens.counter import Counter
from tests.summaries.test_extractive import WORDS

LAYOUT = Layout("Title", (Slot("one", "## One"), Slot("two", "## Two"), Slot("files", tag="files")))
"""Without an item five words: the title, and two headings of two. With whole headings each says "- none"."""


def words(kind: str, slot: str, number: int) -> Item:
    """Six words with the sign before them."""
    return Item(kind, slot, f"{kind}{number} b c d e", number)


MANY = [*(words("a", "one", number) for number in range(10)), *(words("b", "two", n) for n in range(3))]


def taken(text: str) -> dict[str, int]:
    return {kind: text.count(f"- {kind}") for kind in "ab"}


def test_a_kind_gets_its_share_before_the_rest_is_filled_in_order() -> None:
    """Of 59 words five are headings, and two the "- none" under one that is empty: that leaves eight lines of
    six, or nine under both. Of `a`, 30 % of 59 are two lines; what `b` leaves goes to four more."""
    assert taken(fit(MANY, LAYOUT, 59, WORDS, {})) == {"a": 8, "b": 0}
    assert taken(fit(MANY, LAYOUT, 59, WORDS, {"a": 0.3})) == {"a": 6, "b": 3}
    # 40 % of 35 is one line and its heading; then all of `b`, and the six words that are left are another.
    assert taken(fit(MANY, LAYOUT, 35, WORDS, {"a": 0.4})) == {"a": 2, "b": 3}


@pytest.mark.parametrize("budget", range(5, 90))
def test_nothing_more_would_have_gone_in(budget: int) -> None:
    text = fit(MANY, LAYOUT, budget, WORDS, {"a": 0.5})
    size = len(text.split())
    assert size <= budget
    left = len(MANY) - sum(taken(text).values())
    # A line is six words, and at most a heading of two is missing above it.
    assert not left or not text or size + (6 if "## Two" in text and "## One" in text else 8) > budget
    assert text or budget < 1 + 2 + 6


def test_of_a_text_too_long_as_much_goes_as_is_too_much_and_then_it_is_counted_once_more() -> None:
    """A label has no price of its own: of ten parts at a token each, with five of the label, five go."""
    counted: list[str] = []

    def count(texts: Sequence[str]) -> Ints:
        counted.extend(texts)
        return np.array([text.count("x") for text in texts], np.int32)

    items = [Item("a", "one", f"x{number}", number, "", "xxxxx") for number in range(10)]
    text = fit(items, Layout("Title", (Slot("one"),)), 10, Counter("marks", "Marks", count), {})
    assert text == "Title\n- xxxxx: x0, x1, x2, x3, x4"
    assert [one.count("x") for one in counted if one.startswith("Title\n")] == [15, 10]


def test_what_was_said_already_is_not_said_again_unless_inside_a_longer_word() -> None:
    said = Item("a", "one", "see the port in src/a.py now", 1)
    for key, again in (
        ("port", False),
        ("por", True),
        ("src/a.py", False),
        ("rc/a.py", True),
        ("sr", True),
        ("now", False),
    ):
        text = fit([said, Item("b", "two", f"KEY {key}", 2, key)], LAYOUT, 100, WORDS, {})
        assert ("KEY" in text) is again


def test_parts_of_one_label_stand_on_one_line_and_lists_between_their_tags() -> None:
    items = [
        Item("n", "two", "x1", 2, "x1", "Names"),
        Item("n", "two", "x2", 3, "x2", "Names"),
        Item("f", "files", "src/a.py", 1),
    ]
    assert fit(items, LAYOUT, 100, WORDS, {}) == (
        "Title\n## One\n- none\n## Two\n- Names: x1, x2\n\n<files>\nsrc/a.py\n</files>"
    )
