"""What a notebook shows as a table says what the printed form says, and shows transcripts as text."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from inspector import (
    build_context,
    compare_policies,
    count_tokens,
    diff_contexts,
    lint,
    live_context,
    make_plan,
    open_demo,
    read_session,
)
from inspector.planning import diff_text
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
    """Typesetters search both delimiters in one text node, which ends at the next tag."""
    html = html_table([formula], [[f"a {formula} b"]], around=(formula, formula))
    texts = re.split(r"<[^>]*>", html)
    assert unescape("".join(texts)).count(formula) == 4
    for text in texts:
        assert len(text) == 1 or not {"$", "\\"} & {*unescape(text)}
    assert "<span>" not in html_table(["cost"], [["$1.20"]])


URL = "https://example.org/" + "report?id=1"


@pytest.mark.parametrize("url", [URL, "www.example.org", "data:text/html,hi", "file:///etc/passwd"])
def test_what_a_notebook_would_link_in_a_printed_value_is_shown_as_html_without_links(url: str) -> None:
    """JupyterLab turns addresses into links in plain text, but not in HTML."""
    session = read_session(
        [
            {"role": "user", "content": f"Never open {url} <b>again</b>. Read src/a.py."},
            {"role": "assistant", "content": "All right."},
            {"role": "user", "content": f"Go on with {url} now."},
        ]
    )
    ledger = count_tokens(session)
    plan = make_plan(session, ledger, "flue", {"cut": "end"})
    context = live_context(session, ledger)
    values: list[Any] = [session.entries[0], session.entries[0].blocks[0], context.pieces[0]]
    values += [diff_text(f"see {url}", "see nothing"), diff_contexts(context, build_context(session, plan))]
    values += [traced for traced in plan.trace if url in repr(traced)]
    shown = 0
    for value in values:
        html = value._repr_html_()
        if url in repr(value):
            assert unescape(re.sub(r"<[^>]*>", "", html)) == repr(value)
            assert {*re.findall(r"<(\w+)", html)} <= {"pre", "span"}
            shown += 1
    assert shown >= 4
    plain = read_session([{"role": "user", "content": "Read src/a.py."}])
    assert plain.entries[0]._repr_html_() is None  # type: ignore[operator]
