"""What a notebook shows as a table says what the printed form says, and shows transcripts as text."""

from __future__ import annotations

import re
from html import unescape

import pytest

from inspector import compare_policies, count_tokens, lint, make_plan, open_demo, read_session
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


def test_the_table_of_a_comparison_has_a_row_for_each_policy() -> None:
    found = compare_policies(open_demo(), ["flue", "pi"], window=100_000)
    cells = read_table(found)
    for row in found.table():
        assert cells[cells.index(row["policy"]) + 1] == str(row["compactions"])
        assert f"{row['sent']:,}" in cells
    assert found.note in unescape(found._repr_html_())


def test_the_table_of_findings_has_every_sentence() -> None:
    found = lint(open_demo())
    cells = read_table(found)
    assert cells[4::4] == [one.code for one in found]
    assert cells[7::4] == [one.sentence for one in found]
    assert read_table(found.select("CI010"))[4:] == []


def test_the_table_of_stages_tells_which_ran() -> None:
    session = open_demo()
    plan = make_plan(session, count_tokens(session), "claude-code", window=60_000)
    assert plan.stages
    cells = read_table(plan.stages)
    assert cells[5::5] == [one.name for one in plan.stages]
    assert [cell == "yes" for cell in cells[6::5]] == [one.ran for one in plan.stages]


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
    """Typesetters look for both in one text, which ends where an element begins or ends."""
    html = html_table([formula], [[f"a {formula} b"]], around=(formula, formula))
    texts = re.split(r"<[^>]*>", html)
    assert unescape("".join(texts)).count(formula) == 4
    for text in texts:
        assert len(text) == 1 or not {"$", "\\"} & {*unescape(text)}
    assert "<span>" not in html_table(["cost"], [["$1.20"]])
