"""Combining marks are shown up to the number that scripts use, so that no stack covers other text."""

from __future__ import annotations

import json
import unicodedata

import pytest

import inspector
from inspector.text import printable

WORDS = [
    "नमस्ते दुनिया",
    "שָׁל֖וֹם בְּרֵאשִׁ֖ית",
    "སྐྱེས་བུ་རྒྱལ་པོ",
    "Tiếng Việt " + unicodedata.normalize("NFD", "Tiếng Việt"),
    "กี่ ที่ น้ำ",
    "اَلسَّلَامُ عَلَيْكُمْ",
    "👩‍👩‍👧‍👦❤️🏳️‍🌈 ████████ ────────── ……………… ←→↑↓⇒⇐",
    "e\u0301\u0302\u0303\u0304\u0305\u0306 six",
]


@pytest.mark.parametrize("text", WORDS)
def test_words_of_every_script_stay_as_they_are(text: str) -> None:
    assert printable(text) == text


def longest(text: str) -> int:
    """Return the length of the longest run of combining marks, not counting joiners."""
    run = most = 0
    for char in text:
        kind = unicodedata.category(char)
        run = run + 1 if kind in ("Mn", "Me") else run if kind == "Cf" else 0
        most = max(most, run)
    return most


@pytest.mark.parametrize(
    "marks", ["\u0301", "\u064b\u0651", "\u0e48", "\u20dd\u0489", "\u0f71\u200d", "\ufe20"]
)
def test_a_stack_of_marks_is_cut_and_counted_wherever_it_is_drawn(marks: str) -> None:
    text = f"Fix e{marks * 60} now"
    assert longest(text) > 50
    messages = [{"role": "user", "content": text}, {"role": "assistant", "content": text}]
    session = inspector.read_session(json.dumps(messages).encode())
    workbench = inspector.Workbench(session)
    drawn = json.dumps(workbench._scene, ensure_ascii=False, default=str)
    assert "Fix" in drawn
    for shown in (drawn, printable(text), repr(session.facts["Fix e" + marks * 60 + " now"])):
        assert longest(shown) <= 6, ascii(shown[:200])
        assert "more marks" in shown or "Fix" not in shown
