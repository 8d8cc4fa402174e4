"""What a notebook shows as a table says what the printed form says, and shows transcripts as text."""

from __future__ import annotations

import re
from html import unescape

import pytest

from inspector import count_tokens, open_demo, read_session
from inspector.text import html_table

CELLS = re.compile(r"<t[dh][^>]*>(.*?)</t[dh]>")


def read_table(value: object) -> list[str]:
    html = value._repr_html_()  # type: ignore[attr-defined]
    return [unescape(cell) for cell in CELLS.findall(html)]


@pytest.mark.parametrize("counter", ["o200k_base", "calibrated"])
def test_the_table_of_a_ledger_holds_every_number_that_is_printed(counter: str) -> None:
    ledger = count_tokens(open_demo(), counter)
    cells = read_table(ledger)
    for name, tokens in ledger.by_section().items():
        assert (name in cells) == bool(tokens)
        if tokens:
            assert cells[cells.index(name) + 1] == f"{tokens:,}"
    html = ledger._repr_html_()
    printed = set(re.findall(r"\d[\d,]+\d", repr(ledger)))
    assert printed - set(re.findall(r"\d[\d,]+\d", html)) == set()
    assert ledger.source in unescape(html)


def test_what_a_transcript_says_is_text_in_a_table() -> None:
    path = "src/<img src=x onerror=alert(1)>.py"
    assert "<img" not in html_table(["a"], [[path]], around=(path, path))
    row = '{"type":"user","uuid":"u","parentUuid":null,"message":{"content":"<script>"}}'
    assert "<script>" not in count_tokens(read_session(row.encode(), "x"))._repr_html_()


LINK = r"\href{http://127.0.0.1:9/clicked}{\text{report}}"


FORMULAS = (
    *(f"${LINK}$", f"$${LINK}$$", rf"\({LINK}\)", rf"\[{LINK}\]"),
    rf"\begin{{equation}}{LINK}\end{{equation}}",
)


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_text_of_a_table_holds_both_ends_of_a_formula(formula: str) -> None:
    """Typesetters search both delimiters in one text node, which ends at the next tag."""
    html = html_table([formula], [[f"a {formula} b"]], around=(formula, formula))
    texts = re.split(r"<[^>]*>", html)
    assert unescape("".join(texts)).count(formula) == 4
    for text in texts:
        assert len(text) == 1 or not {"$", "\\"} & {*unescape(text)}
    assert "<span>" not in html_table(["cost"], [["$1.20"]])
