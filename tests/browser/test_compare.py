"""Two plans side by side in a real JupyterLab: what is chosen, what is drawn, all with Python's numbers."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.lab import Lab, Watch, open_notebook, run_all, screenshot, set_theme
from tests.browser.test_axe import find_violations
from tests.browser.test_workbench import ask, wait_for_python

OPEN = "import inspector, json; session = inspector.open_demo(); wb = inspector.Workbench(session); wb"
WIDE, NARROW = ViewportSize(width=1440, height=2000), ViewportSize(width=780, height=3000)
# What each of two plans leaves of a block.
SIDES = "[[int(side.fate[row]), int(side.tokens[row])] for side in (wb.plan.outcome, wb.other.outcome)]"


@pytest.fixture
def notebook(page: Page, lab: Lab) -> Page:
    page.set_viewport_size(WIDE)
    open_notebook(page, lab, lab.write_notebook("compare.ipynb", OPEN))
    run_all(page)
    page.get_by_test_id("cut-handle").wait_for()
    page.get_by_test_id("cut-handle").scroll_into_view_if_needed()
    return page


def held(page: Page, told: str) -> Any:
    """What Python holds."""
    return json.loads(ask(page, f"print(json.dumps({told}))"))


def choose(page: Page, value: str) -> None:
    page.get_by_test_id("versus").first.select_option(value)
    wait_for_python(page)
    page.wait_for_timeout(200)


def edit(page: Page, policy: str) -> None:
    page.get_by_test_id("policy").select_option(policy)
    wait_for_python(page)


def number(text: str | None) -> int:
    """What a cell says, as a number."""
    digits = re.sub(r"[\s,]", "", text or "").replace("\u2212", "-")
    return int(digits)


def cells(page: Page, row: int) -> list[str]:
    return page.locator(f"[data-row='{row}'] [role=gridcell]").all_text_contents()


def test_what_the_file_records_is_chosen_by_keyboard_and_is_pythons(
    notebook: Page, lab: Lab, watch: Watch
) -> None:
    page = notebook
    page.get_by_test_id("versus").first.focus()
    page.keyboard.type("rec")
    page.keyboard.press("Enter")
    wait_for_python(page)
    expect(page.get_by_test_id("gauge-other")).to_be_visible()
    assert held(page, "wb.versus") == {"recorded": True}
    told = held(page, "wb._other['told']")
    assert told
    for what, tokens, source in told:
        expect(page.get_by_test_id("told")).to_contain_text(f"{what}{tokens} {source}")
    ask(page, "from inspector.workbench.payloads.recorded import find_recorded")
    ask(page, "found = find_recorded(wb.plan, inspector.tokens.history.trace_history(session, wb.ledger))")
    after = held(page, "found.after")
    assert after == held(page, "wb._other['after']['total']")
    title = page.get_by_test_id("gauge-other").get_attribute("title") or ""
    assert number(title.split(" tokens")[0]) == after
    differing = held(
        page, "int(((wb.plan.fate != found.fate) | (wb.plan.outcome.tokens != found.tokens)).sum())"
    )
    expect(page.get_by_test_id("differing")).to_contain_text(f"{differing} of")
    # The recorded summary itself, under B's cut.
    page.locator("[data-cut=b]").scroll_into_view_if_needed()
    page.locator("[data-cut=b]").click()
    expect(page.get_by_label("plan B's summary")).to_contain_text(
        held(page, "session[found.entry.id].text.strip().splitlines()[0]")[:60]
    )
    assert watch.errors == []
    assert watch.strangers(lab) == []


def test_where_nothing_is_recorded_a_sentence_says_so(notebook: Page) -> None:
    page = notebook
    ask(page, "wb.at = session.leaf")
    wait_for_python(page)
    option = page.get_by_test_id("versus").first.locator("option", has_text="recorded")
    expect(option).to_have_attribute("disabled", "")
    expect(option).to_have_text("recorded: none after this moment")


def test_rows_of_two_plans_say_what_python_says(notebook: Page) -> None:
    page = notebook
    edit(page, "stud-wiki-deterministic")
    choose(page, "flue")
    fates = held(page, "list(inspector.policies.table.FATES)")
    seen = 0
    for _ in range(12):
        page.get_by_role("button", name="Next difference").click()
        page.wait_for_timeout(80)
        chosen = page.locator(".ci-chosen")
        if chosen.count() == 0:
            continue
        row = int(chosen.get_attribute("data-row") or -1)
        (mine, left), (theirs, right) = held(page, SIDES.replace("row", str(row)))
        told = cells(page, row)
        assert told[2].strip() == fates[mine]
        assert told[3].strip() == fates[theirs]
        assert (number(told[4]), number(told[5])) == (left, right - left)
        seen += 1
    assert seen > 3
    totals = held(page, "[wb.plan.after + wb.plan.hidden, wb.other.after + wb.other.hidden]")
    for name, total in zip(("gauge-after", "gauge-other"), totals, strict=True):
        title = page.get_by_test_id(name).get_attribute("title") or ""
        assert number(title.split(" tokens")[0]) == total


def test_a_plan_is_held_as_b_and_the_two_change_places(notebook: Page) -> None:
    page = notebook
    choose(page, ":hold")
    first = held(page, "wb.plan.cuts.ids[wb.plan.place]")
    assert held(page, "wb.versus") == {"policy": "flue", "settings": {}, "pins": [], "cut": first}
    expect(page.get_by_test_id("gauge-other")).to_contain_text("the same as A")
    expect(page.get_by_test_id("differing")).to_contain_text("0 of")
    edit(page, "codex")
    expect(page.get_by_test_id("gauge-other")).to_contain_text("against A")
    before = held(page, "[wb.plan.after, wb.other.after]")
    page.get_by_test_id("swap").first.click()
    wait_for_python(page)
    assert held(page, "[wb.policy, wb.versus['policy'], wb.cut]") == ["flue", "codex", first]
    assert held(page, "[wb.plan.after, wb.other.after]") == before[::-1]
    page.locator(".ci").focus()
    page.keyboard.press("z")
    wait_for_python(page)
    assert held(page, "[wb.policy, wb.versus['policy']]") == ["codex", "flue"], "one step back undoes all"


def test_keys_step_through_the_differences_and_agreement_is_folded(notebook: Page) -> None:
    page = notebook
    edit(page, "stud-wiki-deterministic")
    choose(page, "langchain-trim")
    grid = page.get_by_role("treegrid")
    grid.focus()
    page.keyboard.press("End")
    expect(grid.locator(".ci-run.ci-same").last).to_contain_text("the same")
    page.keyboard.press("Home")
    marks = []
    for key in ("n", "n", "N"):
        page.keyboard.press(key)
        page.wait_for_timeout(80)
        marks.append(grid.get_attribute("aria-activedescendant"))
    assert marks[0] == marks[2] != marks[1]
    active = page.locator(f"[id='{marks[2]}']")
    assert "ci-same" not in (active.get_attribute("class") or "")


def test_a_shortened_block_shows_what_is_gone_and_what_is_new(notebook: Page, lab: Lab) -> None:
    page = notebook
    edit(page, "stud-wiki-deterministic")
    row = held(page, "next(iter(wb.plan.outcome.blocks))")
    page.locator(f"[data-row='{row}']").click()
    page.get_by_test_id("show-text").click()
    text = page.get_by_test_id("textdiff")
    text.wait_for()
    pieces = held(page, f"inspector.workbench.payloads.block.describe_body(wb.plan, {row})['diff']")
    gone, new = (
        [words for kind, words in pieces if kind == "gone"],
        [words for kind, words in pieces if kind == "new"],
    )
    assert text.locator("ins").all_text_contents() == new
    assert gone[0][:40] in text.locator("del").first.inner_text()
    page.get_by_role("button", name="copy before").click()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == held(
        page, f"inspector.workbench.payloads.block.describe_body(wb.plan, {row})['before']['text']"
    )
    styles = text.evaluate(
        "node => ['del', 'ins'].map(tag => getComputedStyle(node.querySelector(tag)).textDecorationLine)"
    )
    assert styles == ["line-through", "underline"], "readable without colour"
    screenshot(page, "compare-diff", ".ci-fates")


def test_the_flow_adds_up_and_reads_as_the_gauge_does(notebook: Page) -> None:
    page = notebook
    choose(page, "codex")
    for name, gauge in (("flow-a", "gauge-after"), ("flow-b", "gauge-other")):
        band = page.get_by_test_id(name)
        expect(band).to_be_visible()
        assert "ci-wrong" not in (band.get_attribute("class") or "")
        parts = page.get_by_test_id(f"{name}-parts").locator("> span")
        told = [part.get_attribute("title") or "" for part in parts.all()]
        arrows = [re.findall(r": ([\d\s,]+) → ([\d\s,]+) tokens", title) for title in told]
        pairs = [(number(a), number(b)) for found in arrows for a, b in found]
        totals = [number(title.split(": ")[1].removesuffix(" tokens")) for title in (told[0], told[-1])]
        assert [sum(a for a, _ in pairs), sum(b for _, b in pairs)] == totals
        title = page.get_by_test_id(gauge).get_attribute("title") or ""
        assert number(title.split(" tokens")[0]) == totals[1]


def test_axe_finds_nothing_in_a_comparison(notebook: Page) -> None:
    page = notebook
    edit(page, "stud-wiki-deterministic")
    row = held(page, "next(iter(wb.plan.outcome.blocks))")
    choose(page, ":recorded")
    page.locator(f"[data-row='{row}']").click()
    page.get_by_test_id("show-text").click()
    page.get_by_test_id("textdiff").wait_for()
    for dark in (False, True):
        set_theme(page, dark=dark)
        assert find_violations(page) == []
    set_theme(page, dark=False)


def test_pictures_of_the_comparison(notebook: Page, lab: Lab, watch: Watch) -> None:
    page = notebook
    choose(page, ":recorded")
    page.get_by_role("button", name="Next difference").click()
    for dark in (False, True):
        set_theme(page, dark=dark)
        page.wait_for_timeout(300)
        screenshot(page, f"compare-{'dark' if dark else 'light'}", ".ci")
    set_theme(page, dark=False)
    page.set_viewport_size(NARROW)
    page.wait_for_timeout(400)
    screenshot(page, "compare-narrow", ".ci")
    assert watch.errors == []
    assert watch.strangers(lab) == []
