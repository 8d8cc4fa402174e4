"""What is chosen under a budget: in order, each kind up to its share, and nothing more would have gone in."""

from __future__ import annotations

from inspector.summaries.extractive.budget import Item, Layout, Slot, fit
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
